package routing

import (
	"math"
	"slices"
	"testing"
	"time"
)

const (
	ms      = time.Millisecond
	explore = math.MaxUint64 // a draw that explores, if anything does
)

func TestRT_STRAT_LATENCY_starts_on_the_quickest(t *testing.T) {
	for _, row := range []struct {
		name    string
		samples []sampled
		draw    uint64
		turn    uint64
		want    int
		why     string
	}{
		{"the lowest P95", []sampled{{0, 900 * ms, 50}, {0, 420 * ms, 31}, {0, 500 * ms, 99}}, 0, 0, 1, "P95 420ms of 31 requests"},
		{"ties keep the order", []sampled{{0, 9 * ms, 50}, {0, 7 * ms, 20}, {0, 7 * ms, 90}}, 0, 0, 1, "P95 7ms of 20 requests"},
		{"few requests rank after measured ones", []sampled{{0, 1 * ms, 19}, {0, 900 * ms, 20}}, 0, 0, 1, "P95 900ms of 20 requests"},
		{"none at all as well", []sampled{{}, {0, 900 * ms, 20}}, 0, 0, 1, "P95 900ms of 20 requests"},
		{"all under: member order", []sampled{{0, 9 * ms, 19}, {0, 1 * ms, 19}}, 0, 0, 0, "first in order: none is measured"},
		{"all under: nothing to explore", []sampled{{0, 9 * ms, 19}, {}}, explore, 1, 0, "first in order: none is measured"},
		{"explores one that is not measured", []sampled{{0, 9 * ms, 50}, {0, 1 * ms, 3}}, explore, 0, 1, "explores: 3 of 20 requests measured"},
		{"in turn", []sampled{{}, {0, 9 * ms, 50}, {0, 1 * ms, 3}}, explore, 0, 0, "explores: 0 of 20 requests measured"},
		{"in turn, the next", []sampled{{}, {0, 9 * ms, 50}, {0, 1 * ms, 3}}, explore, 1, 2, "explores: 3 of 20 requests measured"},
		{"in turn, round again", []sampled{{}, {0, 9 * ms, 50}, {0, 1 * ms, 3}}, explore, 2, 0, "explores: 0 of 20 requests measured"},
		{"nothing to explore", []sampled{{0, 9 * ms, 50}, {0, 1 * ms, 30}}, explore, 0, 1, "P95 1ms of 30 requests"},
		{"R22: counters without samples are no measurement", []sampled{{0, 0, 1000}, {0, 9 * ms, 50}}, 0, 0, 1, "P95 9ms of 50 requests"},
		{"R22: a whole group of them", []sampled{{0, 0, 1000}, {0, -1, 1000}}, 0, 0, 0, "first in order: none is measured"},
		{"samples without counters", []sampled{{0, 1 * ms, 0}, {0, 1 * ms, -5}, {0, 9 * ms, 50}}, 0, 0, 2, "P95 9ms of 50 requests"},
		{"explores what has counters without samples", []sampled{{0, 0, 1000}, {0, 9 * ms, 50}}, explore, 0, 0, "explores: 0 of 20 requests measured"},
		{"explores what has fewer than no requests", []sampled{{0, 1 * ms, -5}, {0, 9 * ms, 50}}, explore, 0, 0, "explores: 0 of 20 requests measured"},
		{"microseconds", []sampled{{0, 317 * time.Microsecond, 50}}, 0, 0, 0, "P95 317µs of 50 requests"},
		{"no more digits than anybody reads", []sampled{{0, 1234567890, 50}}, 0, 0, 0, "P95 1.235s of 50 requests"},
	} {
		t.Run(row.name, func(t *testing.T) {
			weights := make([]int, len(row.samples)) // of no interest
			options := optionsOf(weights...)
			s := &samples{latency: map[string]sampled{}}
			for i, v := range row.samples {
				s.latency[string(options[i].Provider.ID)+"/m"] = v
			}
			dice := &script{draws: []uint64{row.draw}, turn: row.turn}
			i, why := lowestLatency{DefaultStrategyOptions()}.Start(options, choiceOf(s, dice))
			if i != row.want || why != row.why {
				t.Errorf("got %d (%s), want %d (%s)", i, why, row.want, row.why)
			}
		})
	}
}

// Streams and the rest are kept apart, by deployment, in the route's window.
func TestRT_STRAT_LATENCY_asks_for_what_it_serves(t *testing.T) {
	options := optionsOf(1, 1)
	options[1].WireModel = "m2"
	s := &samples{latency: map[string]sampled{
		"a/m": {p95: 1 * ms, n: 2}, "b/m2": {p95: 2 * ms, n: 2}, "a/m/stream": {p95: 4 * ms, n: 2}, "b/m2/stream": {p95: 3 * ms, n: 2}, "b/m": {p95: 0, n: 9},
	}}
	strategy := lowestLatency{StrategyOptions{Window: 42 * time.Minute, MinRequests: 2}}
	for stream, want := range map[bool]int{false: 0, true: 1} {
		c := choiceOf(s, &script{})
		c.Query.Stream = stream
		if i, why := strategy.Start(options, c); i != want {
			t.Errorf("stream %v: got %d (%s)", stream, i, why)
		}
		if s.window != 42*time.Minute {
			t.Errorf("asked for a window of %v", s.window)
		}
	}
}

func TestRT_STRAT_LATENCY_explores_its_share(t *testing.T) {
	options := optionsOf(1, 1, 1, 1)
	s := &samples{latency: map[string]sampled{"a/m": {p95: 9 * ms, n: 50}, "c/m": {p95: 7 * ms, n: 50}}}
	const n = 20_000
	for _, share := range []float64{0, 0.05, 0.5} {
		o := DefaultStrategyOptions()
		o.Exploration = share
		counts := startsOf(lowestLatency{o}, options, s, newChance(), n)
		explored, want := float64(counts[1]+counts[3]), n*share
		if math.Abs(explored-want) > 4*math.Sqrt(n*share*(1-share)) || counts[0] > 0 {
			t.Errorf("a share of %v: %v", share, counts)
		}
		if math.Abs(float64(counts[1]-counts[3])) > 1 {
			t.Errorf("a share of %v is not explored in turn: %v", share, counts)
		}
	}
}

// Only what explores takes a turn, else the turns of those would skip members.
func TestRT_STRAT_LATENCY_takes_no_turn_in_vain(t *testing.T) {
	options := optionsOf(1, 1)
	s := &samples{latency: map[string]sampled{"a/m": {p95: 9 * ms, n: 50}}}
	dice := &script{draws: []uint64{0, explore}}
	for _, want := range []int{0, 1} {
		i, why := lowestLatency{DefaultStrategyOptions()}.Start(options, choiceOf(s, dice))
		if i != want || dice.took != want {
			t.Errorf("got %d (%s) after %d turns, want %d", i, why, dice.took, want)
		}
	}
}

// A session stays where it started, even if another is quicker now; one whose
// start left starts again.
func TestRT_STRAT_LATENCY_a_session_stays(t *testing.T) {
	a, b, c := provider("a"), provider("b"), provider("c")
	s := &samples{latency: map[string]sampled{"a/m": {p95: 9 * ms, n: 50}, "b/m": {p95: 7 * ms, n: 50}, "c/m": {p95: 1 * ms, n: 50}}}
	r := route(t, "r", "*", a, b, c)
	r.Strategy = lowestLatency{DefaultStrategyOptions()}
	for _, row := range []struct {
		name, session string
		pin           ProviderID
		want          string
	}{
		{"a new session", "5e55", "", "r: c a b"},
		{"a session that started", "5e55", "b", "r: b a c"},
		{"its start left", "5e55", "z", "r: c a b"},
		{"each request without a session is new", "", "b", "r: c a b"},
	} {
		p := Decide(build(t, r), &Input{
			Query: Query{Endpoint: messages, Model: "m", Session: row.session},
			Facts: Facts{Pins: map[RouteID]Pin{"r": {Start: row.pin}, "other": {Start: "a"}}},
			View:  s,
		})
		if got := short(p); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
		if p.KeepStart != (row.session != "") {
			t.Errorf("%s: the start is remembered: %v", row.name, p.KeepStart)
		}
	}
	if whys := []string{"the session started here", "next in order", "next in order"}; !slices.Equal(whysOf(Decide(build(t, r), &Input{
		Query: Query{Endpoint: messages, Model: "m", Session: "5e55"}, Facts: Facts{Pins: map[RouteID]Pin{"r": {Start: "b"}}}, View: s,
	})), whys) {
		t.Errorf("the plan does not say %q", whys)
	}
}

func whysOf(p *Plan) []string {
	var out []string
	for _, c := range p.Candidates {
		out = append(out, c.Why)
	}
	return out
}
