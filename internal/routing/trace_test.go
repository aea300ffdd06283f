package routing

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// replay decides again on what a trace recorded, as the dry run and the replay
// do: from its JSON, with nothing of the run-time state at hand.
func replay(s *Snapshot, facts []byte, q *Query) (*Plan, error) {
	t, err := ParseTrace(facts)
	if err != nil {
		return nil, err
	}
	in := &Input{Query: Query{Endpoint: q.Endpoint, Model: q.Model, Caller: Caller{Virtual: q.Caller.Virtual, Ceilings: q.Caller.Ceilings}}}
	t.Apply(in)
	return Decide(s, in), nil
}

// fields are the exported part of a trace.
func fields(a, b *Trace) string {
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(Trace{}), cmpopts.EquateEmpty())
}

// A dry run can not drift: the recorded facts give the recorded plan, and to
// record changes nothing. See check for how to run a million cases.
func TestDecide_BY_2_recorded_facts_give_the_recorded_plan(t *testing.T) {
	met := tally{}
	var reused Trace // as the gateway does
	check(t, 3, func(t *rapid.T, c Config, q *question) {
		s := Build(c)
		plain := Decide(s, q.ask())
		in := q.ask()
		reused.Start(in)
		recorded := Decide(s, in)
		if diff := samePlan(plain, recorded); diff != "" {
			t.Fatalf("%s: recording changed the plan\n%s", q, diff)
		}
		facts := reused.AppendJSON(nil)
		again, err := replay(s, facts, &q.in.Query)
		if err != nil {
			t.Fatalf("%s: %v", facts, err)
		}
		if diff := samePlan(recorded, again); diff != "" {
			t.Fatalf("%s with %s gives another plan\n%s%s", q, facts, recorded.Explain(), again.Explain())
		}
		soundFacts(t, &reused, facts)
		switch {
		case len(facts) == 0:
			met["nothing to note"]++
		case bytes.Contains(facts, []byte(`"now"`)):
			met["state"]++
		default:
			met["short"]++
		}
		for name, n := range map[string]int{
			"healths": len(reused.Healths), "coolings": len(reused.Coolings), "latencies": len(reused.Latencies), "loads": len(reused.Loads),
			"draws": len(reused.Draws), "turns": len(reused.Turns), "pins": len(reused.Pins), "tokens": reused.Tokens, "session": len(reused.Session),
		} {
			if n > 0 {
				met[name]++
			}
		}
		met.note(recorded, q)
	})
	met.expect(t, "nothing to note", "short", "state", "healths", "coolings", "latencies", "loads", "draws", "turns", "pins", "tokens", "session",
		"NO_ROUTE", "no_eligible_provider", "fallback", "kept start", "why the better of two draws", "why turn  of ", "state parked")
}

// soundFacts compares what was written, by hand or not, with what encoding/json
// reads.
func soundFacts(t *rapid.T, want *Trace, facts []byte) {
	got, err := ParseTrace(facts)
	if err != nil {
		t.Fatal(err)
	}
	expect := *want
	expect.view, expect.dice = nil, nil
	if !bytes.Contains(facts, []byte(`"now"`)) {
		expect.Now = time.Time{} // with nothing that ends, the time says nothing
	}
	if diff := fields(&expect, got); diff != "" {
		t.Fatalf("%s (-noted +read)\n%s", facts, diff)
	}
	if len(facts) == 0 {
		return
	}
	var strict map[string]json.RawMessage
	if err := json.Unmarshal(facts, &strict); err != nil {
		t.Fatalf("%s: %v", facts, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, facts); err != nil || compact.Len() != len(facts) {
		t.Fatalf("%s: %v, %d bytes too many", facts, err, len(facts)-compact.Len())
	}
}

func TestTrace_BY_2_is_short_where_nothing_happened(t *testing.T) {
	for _, row := range []struct {
		name string
		in   *Input
		want string
	}{
		{"nothing to note", asked("m"), ``},
		{"a session", asked("m", session("5e55")), `{"session":"5e55"}`},
		{"an estimate", asked("m", tokens(4200)), `{"tokens":4200}`},
		{"the caller's own credential", asked("m", own), `{"own":true}`},
		{"no fallback", asked("m", func(in *Input) { in.Query.NoFallback = true }), `{"noFallback":true}`},
		{"all of them, and a turn", asked("rr", session(""), tokens(1), func(in *Input) { in.Query.NoFallback = true }, turn(math.MaxUint64)), `{"tokens":1,"noFallback":true,"turns":[18446744073709551615]}`},
		{"draws", asked("ll", func(in *Input) { in.Dice = &dice{draws: []uint64{3, 1 << 63}} }), `{"draws":[3,9223372036854775808]}`},
		{"a state that is over", asked("m", sees(world{health: map[ProviderID]Health{"a": {OpenUntil: noon, ParkedUntil: noon.Add(-1), Limit: 3, Running: 2}}, cooling: map[string]time.Time{"a/" + known("m"): noon}})), ``},
		{"a state that is not", asked("m", sees(world{health: map[ProviderID]Health{"a": {ParkedUntil: noon.Add(1)}}})), `{"now":"2026-11-30T12:00:00Z","health":[{"provider":"a","parkedUntil":"2026-11-30T12:00:00.000000001Z"}]}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := build(t, route(t, "r", "m", provider("a"), provider("b", noKey)),
				with(route(t, "s", "rr", provider("a"), provider("b")), strategyOf("round-robin")), with(route(t, "u", "ll", provider("a"), provider("b"), provider("c")), strategyOf("least-loaded")))
			var tr Trace
			tr.Start(row.in)
			p := Decide(s, row.in)
			got := tr.AppendJSON([]byte("x"))
			if string(got) != "x"+row.want {
				t.Errorf("%s, want x%s", got, row.want)
			}
			again, err := replay(s, got[1:], &row.in.Query)
			if err != nil || samePlan(p, again) != "" {
				t.Errorf("%v %s", err, samePlan(p, again))
			}
		})
	}
}

// restless answers differently each time, as a live state may; half of the time
// it knows nothing.
type restless struct {
	calm
	*rand.PCG
}

func (r restless) Latency(ProviderID, string, bool, time.Duration) (time.Duration, int) {
	if r.Uint64()%2 == 0 {
		return 0, 0
	}
	return time.Duration(r.Uint64() % 3), 40
}

func (r restless) Load(ProviderID, string) Load {
	if r.Uint64()%2 == 0 {
		return Load{}
	}
	return Load{InFlight: int(r.Uint64() % 5), Latency: time.Duration(r.Uint64() % 3), Success: 1}
}

// The state may change while a decision looks, which looks twice under global
// passthrough.
func TestTrace_BY_2_holds_while_the_state_changes(t *testing.T) {
	for _, strategy := range []string{"lowest-latency", "least-loaded"} {
		s := build(t, with(route(t, "r", "m", provider("a"), provider("p", noKey), provider("q", noKey), provider("b")), strategyOf(strategy)), globalPassthrough)
		for seed := range uint64(500) {
			in := asked("m", own)
			in.View, in.Dice = restless{PCG: rand.NewPCG(seed, 0)}, &dice{draws: []uint64{seed, seed * 3, seed * 7, seed * 11}}
			q := in.Query
			var tr Trace
			tr.Start(in)
			p := Decide(s, in)
			facts := tr.AppendJSON(nil)
			again, err := replay(s, facts, &q)
			if err != nil || samePlan(p, again) != "" {
				t.Fatalf("%s with %s: %v %s", strategy, facts, err, samePlan(p, again))
			}
		}
	}
}

// A decision must not see more of a time than its record holds: the reading of
// the monotonic clock, which moves apart from the wall clock when that is set.
func TestTrace_BY_2_decides_by_the_wall_clock(t *testing.T) {
	now := time.Now() // with a monotonic reading, like a live one
	until := now.Add(time.Minute)
	var tr Trace
	tr.Start(&Input{Facts: Facts{Now: now}, View: &world{health: map[ProviderID]Health{"a": {OpenUntil: until, ParkedUntil: until}}, cooling: map[string]time.Time{"a/" + known("m"): until}}})
	h, cooling := tr.Health("a"), tr.CoolingUntil("a", "m")
	for name, got := range map[string]time.Time{"open": h.OpenUntil, "parked": h.ParkedUntil, "cooling": cooling} {
		if got != until.Round(0).UTC() { // not Equal: the representation is what matters
			t.Errorf("%s until %v has more than %v", name, got, until.Round(0).UTC())
		}
	}
	if tr.Now != now.Round(0).UTC() {
		t.Errorf("now is %v", tr.Now)
	}
}

func TestParseTrace_refuses_what_is_no_trace(t *testing.T) {
	for _, bad := range []string{"{", "[]", `{"draws":[-1]}`, `{"draws":[1e99]}`, `{"now":"noon"}`, `{"health":{}}`} {
		if tr, err := ParseTrace([]byte(bad)); err == nil || tr != nil {
			t.Errorf("%s: %+v", bad, tr)
		}
	}
	for _, good := range []string{"", "{}", "null", `{"later":1}`} {
		if _, err := ParseTrace([]byte(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

// What is read can be decided on, and written again.
func FuzzParseTrace(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"session":"5e55","tokens":12,"own":true,"noFallback":true,"draws":[1,2],"turns":[3]}`,
		`{"now":"2026-11-30T12:00:00Z","pins":{"r":{"start":"b"}},"health":[{"provider":"a","openUntil":"2026-11-30T12:01:00Z","probing":true,"limit":1,"running":1}],` +
			`"cooling":[{"provider":"b","wireModel":"m","until":"2026-11-30T12:01:00Z"}],"latency":[{"provider":"a","wireModel":"m","p95Ns":1000000,"n":40}],` +
			`"load":[{"provider":"a","wireModel":"m","inFlight":3,"latencyNs":7,"success":0.5}],"draws":[18446744073709551615]}`,
		`{"now":"9999-12-31T23:59:59-12:00"}`, `{"tokens":-1}`, `{"load":[{"success":1e308,"inFlight":-9223372036854775808}]}`,
	} {
		f.Add([]byte(seed))
	}
	var routes []any
	for _, k := range Strategies() {
		routes = append(routes, with(route(f, "r-"+k.ID, k.ID, provider("a"), provider("b"), provider("c", noKey)), strategyOf(k.ID), orgKeyFallback))
	}
	s := build(f, append(routes, globalPassthrough)...)
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := ParseTrace(b)
		if err != nil {
			return
		}
		for _, c := range tr.Session {
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return // Start gets a hash
			}
		}
		for _, k := range Strategies() {
			var plans []*Plan
			for range 2 {
				in := asked(k.ID)
				tr.Apply(in)
				plans = append(plans, Decide(s, in))
			}
			if diff := samePlan(plans[0], plans[1]); diff != "" {
				t.Fatal(diff)
			}
		}
		again, err := ParseTrace(tr.AppendJSON(nil))
		if err != nil {
			t.Fatal(err)
		}
		state := len(tr.Healths)+len(tr.Coolings)+len(tr.Latencies)+len(tr.Loads)+len(tr.Pins) > 0
		if !state {
			tr.Now = time.Time{}
		}
		if diff := fields(tr, again); diff != "" {
			t.Fatalf("%s (-read +written and read)\n%s", b, diff)
		}
	})
}
