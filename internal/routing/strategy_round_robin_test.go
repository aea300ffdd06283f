package routing

import (
	"math"
	"slices"
	"testing"
)

func TestRT_STRAT_RR_takes_turns(t *testing.T) {
	for _, row := range []struct {
		name    string
		options []Option
		turn    uint64
		want    int
		why     string
	}{
		{"the first turn", optionsOf(1, 1, 1), 0, 0, "turn 1 of 3"},
		{"the last of a round", optionsOf(1, 1, 1), 2, 2, "turn 3 of 3"},
		{"the next round", optionsOf(1, 1, 1), 3, 0, "turn 1 of 3"},
		{"weights are ignored", optionsOf(9, 0, 1), 4, 1, "turn 2 of 3"},
		{"no weight at all", optionsOf(0, 0), 1, 1, "turn 2 of 2"},
		{"one member", optionsOf(1), 7, 0, "turn 1 of 1"},
		{"a very long life", optionsOf(1, 1), math.MaxUint64, 1, "turn 2 of 2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			i, why := roundRobin{}.Start(row.options, choiceOf(&samples{}, &script{turn: row.turn}))
			if i != row.want || why != row.why {
				t.Errorf("got %d (%s), want %d (%s)", i, why, row.want, row.why)
			}
		})
	}
}

func TestRT_STRAT_RR_is_even(t *testing.T) {
	options := optionsOf(5, 0, 1, 100)
	if got, want := startsOf(roundRobin{}, options, &samples{}, &script{}, 400), []int{100, 100, 100, 100}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRT_STRAT_RR_sessions_are_spread_evenly(t *testing.T) {
	options := optionsOf(9, 0, 1) // weights are ignored
	for _, n := range []int{80, 20_000} {
		counts := sessionsOf(roundRobin{}, options, n)
		if err := fits(counts, 1, 1, 1); err != nil {
			t.Error(err)
		}
	}
}
