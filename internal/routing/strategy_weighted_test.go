package routing

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRT_STRAT_WEIGHTED_turns(t *testing.T) {
	for _, row := range []struct {
		name    string
		weights []int
		want    string // the members of two rounds
	}{
		{"3:1", []int{3, 1}, "aaba aaba"},
		{"1:3", []int{1, 3}, "babb babb"},
		{"equal ones in order", []int{1, 1, 1}, "abc abc"},
		{"lowest terms", []int{500_000, 500_000}, "ab ab"},
		{"5:1:1 is not bunched", []int{5, 1, 1}, "aaabcaa aaabcaa"},
		{"0 is never first", []int{0, 2, 0, 1}, "bdb bdb"},
		{"the only one with weight", []int{0, 7}, "b b"},
		{"too large a weight counts as the largest", []int{math.MaxInt, 1_000_000}, "ab ab"},
		{"less than nothing is nothing", []int{-5, 1}, "b b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			options := optionsOf(row.weights...)
			want := strings.ReplaceAll(row.want, " ", "")
			dice := &script{}
			var got strings.Builder
			for range len(want) {
				i, _ := weighted{}.Start(options, choiceOf(&samples{}, dice))
				got.WriteString(string(options[i].Provider.ID))
			}
			if got.String() != want {
				t.Errorf("got %s, want %s", got.String(), want)
			}
		})
	}
}

func TestRT_STRAT_WEIGHTED_says_why(t *testing.T) {
	for _, row := range []struct {
		weights []int
		turn    uint64
		want    string
	}{
		{[]int{3, 1}, 6, "turn 3 of 4 by weight"},
		{[]int{300, 100}, 6, "turn 3 of 4 by weight"},
		{[]int{0, 5}, 6, "turn 1 of 1 by weight"},
		{[]int{0, 0}, 6, "first in order: all weights are 0"},
	} {
		if i, why := (weighted{}).Start(optionsOf(row.weights...), choiceOf(&samples{}, &script{turn: row.turn})); why != row.want {
			t.Errorf("%v: %d (%s), want %s", row.weights, i, why, row.want)
		}
	}
}

// In a round each member has exactly its turns. Between two turns of a member
// the others have theirs in proportion, also across the end of a round.
func TestRT_STRAT_WEIGHTED_is_exact_and_smooth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 20).Draw(t, "weights")
		options := optionsOf(weights...)
		shares, round := sharesOf(nil, options)
		if round == 0 {
			t.Skip("no weight")
		}
		dice := &script{turn: round * uint64(rapid.IntRange(0, 1000).Draw(t, "round"))}
		var turns []int
		for range 2 * round {
			i, _ := weighted{}.Start(options, choiceOf(&samples{}, dice))
			turns = append(turns, i)
		}
		if !slices.Equal(turns[:round], turns[round:]) {
			t.Fatalf("two rounds differ: %v", turns)
		}
		for _, s := range shares {
			var at []int
			for n, i := range turns {
				if i == s.index {
					at = append(at, n)
				}
			}
			if len(at) != 2*int(s.weight) {
				t.Fatalf("%d has %d turns, not 2·%d, of %v", s.index, len(at), s.weight, turns)
			}
			low, high := 0, 0 // turns of others from one pick to the next
			for _, o := range shares {
				if o.index != s.index {
					low += int(o.weight / s.weight)
					high += int((o.weight + s.weight - 1) / s.weight)
				}
			}
			for k := range len(at) - 1 {
				if others := at[k+1] - at[k] - 1; others < low || others > high {
					t.Fatalf("%d waits for %d turns, not %d to %d, in %v", s.index, others, low, high, turns)
				}
			}
		}
	})
}

// Long rounds can't be counted out, so a pick is checked by the picks that come
// before it: for the n-th turn there are n.
func TestRT_STRAT_WEIGHTED_is_exact_in_long_rounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := optionsOf(rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 1_000_000), rapid.SampledFrom([]int{1, 999_983, 1_000_000})), 1, 60).Draw(t, "weights")...)
		shares, round := sharesOf(nil, options)
		if round == 0 {
			t.Skip("no weight")
		}
		n := rapid.Uint64Range(0, round-1).Draw(t, "turn")
		i := smooth(slices.Clone(shares), round, n)
		at := slices.IndexFunc(shares, func(s share) bool { return s.index == i })
		if at < 0 {
			t.Fatalf("turn %d of %d is for %d, which has no weight", n, round, i)
		}
		// The number of picks before grows with k.
		lo, hi := uint64(1), shares[at].weight
		for lo < hi {
			if k := (lo + hi) / 2; picksBefore(shares, at, k) < n {
				lo = k + 1
			} else {
				hi = k
			}
		}
		if before := picksBefore(shares, at, lo); before != n {
			t.Fatalf("turn %d of %d is for %d, of whose picks none has %d before it (the %d-th has %d)", n, round, i, n, lo, before)
		}
	})
}

// picksBefore counts the picks of all before the k-th pick of one: those at
// earlier times, and at the same time of earlier members.
func picksBefore(shares []share, of int, k uint64) uint64 {
	sum := uint64(0)
	for j, s := range shares {
		// The c-th pick is at (2c-1)/2w: c counts if (2c-1)·w[of] is less than
		// (2k-1)·w[j], or equal for an earlier member.
		limit := (2*k - 1) * s.weight
		if j >= of {
			limit--
		}
		sum += (limit/shares[of].weight + 1) / 2 // the odd numbers up to limit/w[of]
	}
	return sum
}

func TestRT_STRAT_WEIGHTED_sessions_follow_weights(t *testing.T) {
	for _, weights := range [][]int{{3, 1}, {1, 1, 1}, {1, 2, 3, 4}, {1_000_000, 500_000}, {0, 5, 5}, {90, 9, 1}} {
		for _, n := range []int{80, 20_000} {
			if n == 80 && slices.Contains(weights, 90) {
				continue // too few for the smallest
			}
			if err := fits(sessionsOf(weighted{}, optionsOf(weights...), n), weights...); err != nil {
				t.Errorf("%d sessions: %v", n, err)
			}
		}
	}
}

// Plain FNV-1a put 80 sessions at 3:1 as 80:0.
func TestRT_STRAT_WEIGHTED_spreads_80_sessions_at_3_to_1(t *testing.T) {
	counts := sessionsOf(weighted{}, optionsOf(3, 1), 80)
	if counts[0] < 45 || counts[0] > 75 { // 60, and four standard deviations of 3.9
		t.Errorf("%v", counts)
	}
}
