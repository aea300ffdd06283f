package routing

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"
)

// sessionsOf counts where n sessions stay. Their ids differ as little as ids
// do, half of them at the end: that shows a hash that mixes badly.
func sessionsOf(s Strategy, options []Option, n int) []int {
	counts := make([]int, len(options))
	for i := range n {
		session := fmt.Sprintf("session-%d", i/2)
		if i%2 > 0 {
			session = fmt.Sprintf("%d-session", i/2)
		}
		m, _, ok := keep(s.Affinity(), options, session, Pin{})
		if !ok {
			panic("the strategy keeps no session")
		}
		counts[m]++
	}
	return counts
}

func TestRT_STRAT_RR_WEIGHTED_LOAD_keep(t *testing.T) {
	for _, row := range []struct {
		name     string
		affinity Affinity
		options  []Option
		session  string
		pin      Pin
		want     int // -1 for nothing to keep
		why      string
	}{
		{"no affinity", AffinityNone, optionsOf(1, 1), "s", Pin{Start: "b"}, -1, ""},
		{"no session, equal", AffinityEqual, optionsOf(1, 1), "", Pin{}, -1, ""},
		{"no session, by weight", AffinityWeighted, optionsOf(1, 1), "", Pin{}, -1, ""},
		{"no session, remembered", AffinityRemembered, optionsOf(1, 1), "", Pin{Start: "b"}, -1, ""},
		{"remembered", AffinityRemembered, optionsOf(1, 1), "s", Pin{Start: "b"}, 1, "the session started here"},
		{"nothing is remembered yet", AffinityRemembered, optionsOf(1, 1), "s", Pin{}, -1, ""},
		{"what is remembered left", AffinityRemembered, optionsOf(1, 1), "s", Pin{Start: "c"}, -1, ""},
		{"the only one with weight", AffinityWeighted, optionsOf(0, 0, 1), "s", Pin{}, 2, "the session's hash"},
		{"no weight at all", AffinityWeighted, optionsOf(0, 0, 0), "s", Pin{}, 0, "first in order: all weights are 0"},
		{"one member, weights ignored", AffinityEqual, optionsOf(0), "s", Pin{}, 0, "the session's hash"},
		{"a pin is of no interest to a hash", AffinityWeighted, optionsOf(1, 0), "s", Pin{Start: "b"}, 0, "the session's hash"},
	} {
		t.Run(row.name, func(t *testing.T) {
			i, why, ok := keep(row.affinity, row.options, row.session, row.pin)
			if ok != (row.want >= 0) || ok && i != row.want || why != row.why {
				t.Errorf("got %d (%s) %v", i, why, ok)
			}
		})
	}
}

// Sessions must find their member again after an update too, so what the hash
// says is fixed: 12 sessions, equal weights and 3:1:1.
func TestRT_STRAT_RR_WEIGHTED_hash_is_fixed(t *testing.T) {
	options := optionsOf(3, 1, 1)
	equal, byWeight := "", ""
	for s := range 12 {
		session := fmt.Sprintf("session-%d", s)
		i, _, _ := keep(AffinityEqual, options, session, Pin{})
		j, _, _ := keep(AffinityWeighted, options, session, Pin{})
		equal += string(options[i].Provider.ID)
		byWeight += string(options[j].Provider.ID)

		// The plainest way to say it.
		want, high := 0, 0.0
		for k, o := range options {
			u := float64(xxhash.Sum64String(session+"\x00"+string(o.Provider.ID))>>11) / (1 << 53)
			if score := -float64(o.Weight) / math.Log(u); score > high {
				want, high = k, score
			}
		}
		if j != want {
			t.Errorf("%s: %d, not %d", session, j, want)
		}
	}
	if equal != "babacbababba" || byWeight != "aabaaaaaabba" {
		t.Errorf("%q and %q: all sessions would move", equal, byWeight)
	}
}

// The extremes of a hash are no reason to lose or win for ever.
func TestRT_STRAT_WEIGHTED_unit_is_inside(t *testing.T) {
	for _, bits := range oddBits {
		if u := unit(bits); u <= 0 || u >= 1 || math.IsInf(1/math.Log(u), 0) {
			t.Errorf("%x: %v", bits, u)
		}
	}
}

func genMembers(t *rapid.T, least int) []Option {
	return optionsOf(rapid.SliceOfN(rapid.SampledFrom([]int{1, 1, 2, 3, 10, 1_000_000}), least, 9).Draw(t, "weights")...)
}

// eachSession compares where sessions stay before and after a change.
func eachSession(before, after []Option, compare func(session string, was, is *Option)) {
	for _, a := range []Affinity{AffinityEqual, AffinityWeighted} {
		for s := range 60 {
			session := fmt.Sprintf("session-%d", s)
			i, _, _ := keep(a, before, session, Pin{})
			j, _, _ := keep(a, after, session, Pin{})
			compare(session, &before[i], &after[j])
		}
	}
}

func TestRT_STRAT_RR_WEIGHTED_only_sessions_of_a_leaving_member_move(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := genMembers(t, 2)
		gone := rapid.IntRange(0, len(all)-1).Draw(t, "leaves")
		rest := slices.Delete(slices.Clone(all), gone, gone+1)
		eachSession(all, rest, func(session string, was, is *Option) {
			if was.Index != gone && is.Index != was.Index {
				t.Fatalf("%s moved from %d to %d when %d left", session, was.Index, is.Index, gone)
			}
		})
		// And back: only to the one that joins.
		eachSession(rest, all, func(session string, was, is *Option) {
			if is.Index != was.Index && is.Index != gone {
				t.Fatalf("%s moved from %d to %d when %d joined", session, was.Index, is.Index, gone)
			}
		})
	})
}

func TestRT_STRAT_WEIGHTED_more_weight_takes_sessions_and_moves_no_others(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := genMembers(t, 2)
		grown := rapid.IntRange(0, len(before)-1).Draw(t, "grows")
		after := slices.Clone(before)
		after[grown].Weight = min(after[grown].Weight*3, maxWeight)
		eachSession(before, after, func(session string, was, is *Option) {
			if is.Index != was.Index && is.Index != grown {
				t.Fatalf("%s moved from %d to %d when %d grew", session, was.Index, is.Index, grown)
			}
		})
	})
}

// Replicas may know members in another order, and members may change in all
// but their name and weight.
func TestRT_STRAT_RR_WEIGHTED_only_names_and_weights_count(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := genMembers(t, 1)
		after := rapid.Permutation(before).Draw(t, "order")
		for i := range after {
			p := *after[i].Provider
			p.Vendor, p.Residency = "other", "elsewhere"
			after[i].Provider, after[i].WireModel, after[i].Priority = &p, "another", 9
		}
		eachSession(before, after, func(session string, was, is *Option) {
			if is.Provider.ID != was.Provider.ID {
				t.Fatalf("%s moved from %s to %s", session, was.Provider.ID, is.Provider.ID)
			}
		})
	})
}

// A session and a name are not to be taken for another pair with the same
// letters.
func TestRT_STRAT_RR_WEIGHTED_session_and_name_are_apart(t *testing.T) {
	one, two := optionsOf(1, 1, 1, 1, 1, 1), optionsOf(1, 1, 1, 1, 1, 1)
	same := 0
	for i := range one {
		one[i].Provider.ID = ProviderID(fmt.Sprintf("x%d", i))
		two[i].Provider.ID = ProviderID(fmt.Sprintf("%d", i))
	}
	for s := range 100 {
		i, _, _ := keep(AffinityEqual, one, fmt.Sprint(s), Pin{})
		j, _, _ := keep(AffinityEqual, two, fmt.Sprint(s)+"x", Pin{})
		if i == j {
			same++
		}
	}
	if same > 50 {
		t.Errorf("%d of 100 sessions are taken for others", same)
	}
}
