package yamldoc

import "strings"

// Suggest gives the known word that is closest to a misspelt one, or "" if
// none is close.
func Suggest(word string, known []string) string {
	best, bestDistance := "", 1+max(1, len([]rune(word))*2/5)
	lower := []rune(strings.ToLower(word))
	for _, k := range known {
		if d := distance(lower, []rune(strings.ToLower(k))); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, replace or swap with their
// neighbour that turn a into b.
func distance(a, b []rune) int {
	if abs(len(a)-len(b)) > len(a) {
		return abs(len(a) - len(b)) // not close; don't compute
	}
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	var beforeThat []int
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		beforeThat, before, row = before, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, before[j]+1, before[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], beforeThat[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

func abs(n int) int { return max(n, -n) }
