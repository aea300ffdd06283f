package routing

import (
	"math"
	"testing"
	"time"
)

func TestRT_STRAT_LOAD_draws_two_by_weight(t *testing.T) {
	for _, row := range []struct {
		name    string
		weights []int
		draws   []uint64
		busy    string // the provider that is
		want    int
		why     string
	}{
		{"the first draw, if they are equal", []int{1, 1, 1}, []uint64{2, 0}, "", 2, "the better of two draws"},
		{"the second, if the first is busier", []int{1, 1, 1}, []uint64{2, 0}, "c", 0, "the better of two draws"},
		{"the first, if the second is busier", []int{1, 1, 1}, []uint64{2, 0}, "a", 2, "the better of two draws"},
		{"draws are by weight", []int{3, 1}, []uint64{2, 0}, "", 0, "the better of two draws"},
		{"draws are by weight, beyond", []int{3, 1}, []uint64{3, 0}, "", 1, "the better of two draws"},
		{"draws start over", []int{3, 1}, []uint64{4, 0}, "", 0, "the better of two draws"},
		{"two different ones", []int{5, 5}, []uint64{0, 0}, "a", 1, "the better of two draws"},
		{"the first is left out of the second", []int{1, 5, 5}, []uint64{0, 5}, "a", 2, "the better of two draws"},
		{"0 is never drawn", []int{0, 1, 0, 1}, []uint64{0, 0}, "b", 3, "the better of two draws"},
		{"one with weight", []int{0, 1, 0}, []uint64{9, 9}, "b", 1, "the only one to draw"},
		{"no weight at all", []int{0, 0}, []uint64{9, 9}, "a", 0, "first in order: all weights are 0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &samples{load: map[string]Load{row.busy + "/m": {InFlight: 5}}}
			i, why := leastLoaded{}.Start(optionsOf(row.weights...), choiceOf(s, &script{draws: row.draws}))
			if i != row.want || why != row.why {
				t.Errorf("got %d (%s), want %d (%s)", i, why, row.want, row.why)
			}
		})
	}
}

func TestRT_STRAT_LOAD_scores(t *testing.T) {
	for _, row := range []struct {
		name string
		a, b Load // a is drawn first, so it serves unless it is busier
		busy bool
	}{
		{"nothing is known", Load{}, Load{}, false},
		{"the same", Load{2, 100 * ms, 1}, Load{2, 100 * ms, 1}, false},
		{"in flight", Load{2, 100 * ms, 1}, Load{1, 100 * ms, 1}, true},
		{"latency", Load{1, 200 * ms, 1}, Load{1, 100 * ms, 1}, true},
		{"success", Load{1, 100 * ms, 0.5}, Load{1, 100 * ms, 1}, true},
		{"quick but crowded", Load{9, 10 * ms, 1}, Load{0, 90 * ms, 1}, true},
		{"quick and not so crowded", Load{7, 10 * ms, 1}, Load{0, 90 * ms, 1}, false},
		{"slow and sound beats quick and broken", Load{0, 100 * ms, 0.1}, Load{0, 900 * ms, 1}, true},

		// What is unknown is as good as the other, so that load decides.
		{"unknown and idle", Load{}, Load{1, 100 * ms, 1}, false},
		{"unknown and as busy", Load{InFlight: 1}, Load{1, 100 * ms, 1}, false},
		{"unknown and busier", Load{InFlight: 2}, Load{1, 100 * ms, 1}, true},
		{"against unknown and idle", Load{1, 100 * ms, 1}, Load{}, true},
		{"against unknown and as busy", Load{1, 100 * ms, 1}, Load{InFlight: 1}, false},
		{"against unknown, with failures", Load{1, 100 * ms, 0.9}, Load{InFlight: 1}, true},
		{"unknown latency, known failures", Load{0, 0, 0.5}, Load{0, 100 * ms, 1}, true},

		// Bad numbers.
		{"no success is not forever", Load{0, 100 * ms, 0}, Load{200, 100 * ms, 1}, false},
		{"no success is bad", Load{0, 100 * ms, 0}, Load{50, 100 * ms, 1}, true},
		{"a success over 1 is 1", Load{1, 100 * ms, 50}, Load{0, 100 * ms, 1}, true},
		{"NaN is unknown", Load{1, 100 * ms, math.NaN()}, Load{0, 100 * ms, 1}, true},
		{"NaN is unknown, and not bad", Load{0, 100 * ms, math.NaN()}, Load{1, 100 * ms, 1}, false},
		{"infinite is unknown", Load{1, 100 * ms, math.Inf(1)}, Load{0, 100 * ms, 1}, true},
		{"negative success is unknown", Load{0, 100 * ms, -1}, Load{1, 100 * ms, 1}, false},
		{"negative latency is unknown", Load{1, -time.Hour, 1}, Load{0, 100 * ms, 1}, true},
		{"negative in flight is none", Load{-5, 100 * ms, 1}, Load{0, 100 * ms, 1}, false},
		{"very negative in flight is none", Load{0, 100 * ms, 1}, Load{math.MinInt, 100 * ms, 1}, false},
		{"very many in flight", Load{math.MaxInt, math.MaxInt64, 0}, Load{0, math.MaxInt64, 1}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &samples{load: map[string]Load{"a/m": row.a, "b/m": row.b}}
			want := 0
			if row.busy {
				want = 1
			}
			if i, _ := (leastLoaded{}).Start(optionsOf(1, 1), choiceOf(s, &script{})); i != want {
				t.Errorf("got %d, want %d", i, want)
			}
		})
	}
}

// The load is that of the deployment: provider and wire model.
func TestRT_STRAT_LOAD_of_the_deployment(t *testing.T) {
	options := optionsOf(1, 1)
	options[0].WireModel = "m1"
	s := &samples{load: map[string]Load{"a/m": {InFlight: 9}, "b/m": {InFlight: 5}}}
	if i, _ := (leastLoaded{}).Start(options, choiceOf(s, &script{draws: []uint64{1, 0}})); i != 0 {
		t.Errorf("got %d: its other model is busy, not this one", i)
	}
}

// With equal load, starts follow weights; the worst of three is never taken.
func TestRT_STRAT_LOAD_spreads(t *testing.T) {
	const n = 20_000
	for _, weights := range [][]int{{3, 1}, {1, 1, 1, 1}, {0, 2, 5}, {1_000_000, 500_000, 1}} {
		if err := fits(startsOf(leastLoaded{}, optionsOf(weights...), &samples{}, newChance(), n), weights...); err != nil {
			t.Error(err)
		}
	}
	s := &samples{load: map[string]Load{"a/m": {1, 100 * ms, 1}, "b/m": {3, 100 * ms, 1}, "c/m": {2, 100 * ms, 1}}}
	counts := startsOf(leastLoaded{}, optionsOf(1, 1, 1), s, newChance(), n)
	if counts[1] > 0 {
		t.Errorf("the worst was taken: %v", counts)
	}
	if err := fits(counts, 2, 0, 1); err != nil { // the best is in two of three pairs
		t.Error(err)
	}
}

// A member that joins without samples, or only fails, gets neither everything
// nor nothing while requests pile up.
func TestRT_STRAT_LOAD_neither_starves_nor_floods(t *testing.T) {
	for _, row := range []struct {
		name      string
		load      Load // of the third
		low, high int  // of 3000
	}{
		{"unknown", Load{}, 900, 1100},
		{"unknown success", Load{Latency: 100 * ms, Success: math.NaN()}, 900, 1100},
		{"unknown latency", Load{Success: 1}, 900, 1100},
		{"always fails", Load{Latency: 100 * ms}, 5, 100},
		{"ten times as quick", Load{Latency: 10 * ms, Success: 1}, 1500, 2750},
	} {
		s := &samples{load: map[string]Load{"a/m": {0, 100 * ms, 1}, "b/m": {0, 100 * ms, 1}, "c/m": row.load}}
		options, dice, got := optionsOf(1, 1, 1), newChance(), 0
		for range 3000 {
			i, _ := leastLoaded{}.Start(options, choiceOf(s, dice))
			key := string(options[i].Provider.ID) + "/m"
			l := s.load[key]
			l.InFlight++
			s.load[key] = l
			if i == 2 {
				got++
			}
		}
		if got < row.low || got > row.high {
			t.Errorf("%s: %d of 3000, not %d to %d", row.name, got, row.low, row.high)
		}
	}
}

func TestRT_STRAT_LOAD_sessions_follow_weights(t *testing.T) {
	for _, n := range []int{80, 20_000} {
		if err := fits(sessionsOf(leastLoaded{}, optionsOf(3, 1, 0), n), 3, 1, 0); err != nil {
			t.Errorf("%d sessions: %v", n, err)
		}
	}
	// A session is not moved by load.
	if i, _, ok := keep(leastLoaded{}.Affinity(), optionsOf(1, 0), "s", Pin{}); !ok || i != 0 {
		t.Errorf("got %d %v", i, ok)
	}
}
