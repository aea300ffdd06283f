package routing

import (
	"testing"

	"pgregory.net/rapid"
)

// plainDistance is the textbook's table.
func plainDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j-1]+cost, rows[i-1][j]+1, rows[i][j-1]+1)
		}
	}
	return rows[len(a)][len(b)]
}

func TestDistance_is_the_edit_distance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"claude-", "claud-", 1}, {"ab", "ba", 2},
	} {
		if got := newDistance(c.a).to(c.b); got != c.want {
			t.Errorf("%q to %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
	name := rapid.StringOfN(rapid.RuneFrom([]rune("abc-é")), 0, 64, maxCompared)
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		if got, want := newDistance(a).to(b), plainDistance(a, b); got != want {
			t.Fatalf("%q to %q is %d, want %d", a, b, got, want)
		}
	})
}
