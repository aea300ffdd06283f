package dataplane

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
)

// spread asks n times and counts who served; headers makes those of the i-th.
func (r *rig) spread(t *testing.T, n, wide int, headers func(i int) []string) map[string]int {
	t.Helper()
	var mu sync.Mutex
	out := map[string]int{}
	concurrently(n, wide, func(i int) {
		got := r.ask(t, headers(i)...)
		mu.Lock()
		defer mu.Unlock()
		if got.Status != 200 {
			out[fmt.Sprint(got.Status)]++
			return
		}
		out[got.Header.Get("X-Interlock-Provider")]++
	})
	return out
}

// nothing adds no header.
func nothing(int) []string { return nil }

// sessions gives each request a session of its own.
func sessions(i int) []string { return []string{fmt.Sprintf("X-Interlock-Session: s-%d", i)} }

// within checks a count against what is expected, give or take.
func wantShare(t *testing.T, what string, got map[string]int, want map[string]int, slack int) {
	t.Helper()
	for name, n := range want {
		if d := got[name] - n; d < -slack || d > slack {
			t.Errorf("%s: %v, want about %v", what, got, want)
			return
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %v, want about %v", what, got, want)
		}
	}
}

// Round robin is even whatever the weights: by turns without a session, by
// hash with one; and the member for fallback only has none.
func TestRT_STRAT_RR(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("a"), w.org("b"), w.org("c"), w.org("spare"),
			w.pool("strategy: {type: round-robin}", "a, weight: 9", "b", "c, weight: 0", "spare, fallbackOnly: true"))
		wantShare(t, "turns", r.spread(t, 60, 8, nothing), map[string]int{"a": 20, "b": 20, "c": 20}, 0)
		if w.count { // the hash is the same on all ways
			wantShare(t, "sessions", r.spread(t, 300, 8, sessions), map[string]int{"a": 100, "b": 100, "c": 100}, 35)
		}
		got := r.ask(t)
		if rec := r.record(t, got); rec.Strategy != "round-robin" || !strings.Contains(rec.StrategyReason, "of 3") || rec.Attempts[0].Strategy != "round-robin" || rec.Attempts[0].StrategyReason != rec.StrategyReason {
			t.Errorf("%+v", rec)
		}
		if rec := r.record(t, r.ask(t, sessions(1)...)); rec.StrategyReason != "the session's hash" {
			t.Errorf("%q", rec.StrategyReason)
		}
		if w.count {
			return
		}
		t.Run("R26_a_reason_on_each_attempt", func(t *testing.T) {
			r.script(t, fails("a", 404), fails("b", 404), fails("c", 404))
			rec := r.record(t, r.ask(t))
			if len(rec.Attempts) != 4 || rec.Attempts[3].Provider != "spare" {
				t.Fatal(tries(&rec))
			}
			for i, a := range rec.Attempts {
				want := []string{"of 3", "next in order", "next in order", "fallback only"}[i]
				if a.Strategy != "round-robin" || !strings.Contains(a.StrategyReason, want) {
					t.Errorf("attempt %d: %q", i, a.StrategyReason)
				}
			}
			rows := r.Admin(t, "GET", "/audit-events?kind=attempt&requestId="+rec.RequestID, "").Body
			if strings.Count(rows, `"routeStrategy":"round-robin"`) < 3 || !strings.Contains(rows, "next in order") {
				t.Errorf("the rows: %s", rows)
			}
		})
	})
}

// Weighted starts in proportion; weight 0 is never first but follows.
func TestRT_STRAT_WEIGHTED(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("a"), w.org("b"), w.org("c"), w.pool("strategy: {type: weighted}", "a, weight: 3", "b", "c, weight: 0"))
		wantShare(t, "turns", r.spread(t, 80, 8, nothing), map[string]int{"a": 60, "b": 20}, 0)
		if w.count {
			wantShare(t, "turns", r.spread(t, 400, 8, nothing), map[string]int{"a": 300, "b": 100}, 0)
			wantShare(t, "sessions", r.spread(t, 400, 8, sessions), map[string]int{"a": 300, "b": 100}, 40)
		}
		if w.count {
			return
		}
		r.script(t, fails("a", 404), fails("b", 404))
		r.wantServed(t, r.ask(t), "c", 3)
	})
}

// The cheapest for the model that it receives; who has no price comes last.
func TestRT_STRAT_COST(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		wire := func(name string) string { return "modelAliases: {" + w.model + ": wire-" + name + "}" }
		r := newRig(t, w, "", w.org("unknown", wire("unknown")), w.org("dear", wire("dear")), w.org("cheap", wire("cheap")), w.org("even", wire("even")),
			w.pool("strategy: {type: lowest-cost}", "unknown", "dear", "cheap", "even"), priced("wire-dear", 10), priced("wire-cheap", 1), priced("wire-even", 1))
		for range 3 {
			got := r.ask(t, sessions(1)...)
			r.wantServed(t, got, "cheap", 1)
			if rec := r.record(t, got); rec.Strategy != "lowest-cost" || !strings.Contains(rec.StrategyReason, "2.00 USD") {
				t.Errorf("%q", rec.StrategyReason)
			}
		}
		if w.count {
			return
		}
		r.script(t, fails("cheap", 404))
		got := r.ask(t)
		r.wantServed(t, got, "unknown", 2) // the others in member order
		none := newRig(t, w, "", w.org("a"), w.org("b"), w.pool("strategy: {type: lowest-cost}", "a", "b"))
		none.wantServed(t, none.ask(t), "a", 1)
	})
}

// The quickest of late is first once it is measured; sessions stay where they
// started.
func TestRT_STRAT_LATENCY(t *testing.T) {
	chatAtOnce(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("slow"), w.org("fast"),
			w.pool("strategy: {type: lowest-latency, minRequests: 5, explorationShare: 0.5}", "slow", "fast"))
		slow := at("slow", fakellm.Rule{DelayMS: 250, Reply: says("slow")}) // more than a busy machine makes of the other
		r.script(t, slow)
		got := r.ask(t, "X-Interlock-Session: early")
		r.wantServed(t, got, "slow", 1)
		if rec := r.record(t, got); !strings.Contains(rec.StrategyReason, "none is measured") {
			t.Errorf("%q", rec.StrategyReason)
		}
		eventually(t, 20*time.Second, "the fast one is measured and first", func() bool {
			got := r.ask(t)
			return got.Header.Get("X-Interlock-Provider") == "fast" && strings.Contains(r.record(t, got).StrategyReason, "P95")
		})
		wantShare(t, "measured", r.spread(t, 30, 4, nothing), map[string]int{"fast": 30}, 0)
		for range 5 {
			got := r.ask(t, "X-Interlock-Session: early")
			r.wantServed(t, got, "slow", 1)
			if rec := r.record(t, got); rec.StrategyReason != "the session started here" {
				t.Errorf("%q", rec.StrategyReason)
			}
		}
		// A failover does not lose the session: it is where it was served.
		r.script(t, fails("slow", 404))
		r.wantServed(t, r.ask(t, "X-Interlock-Session: early"), "fast", 2)
		r.script(t)
		r.wantServed(t, r.ask(t, "X-Interlock-Session: early"), "fast", 1)
	})
}

// Exploration gives the one that is not measured its share and no more.
func TestRT_STRAT_LATENCY_exploration(t *testing.T) {
	w := ways()[0]
	r := newRig(t, w, "", w.org("known"), w.org("new"),
		w.pool("strategy: {type: lowest-latency, minRequests: 30, explorationShare: 0.25}", "known", "new"))
	r.spread(t, 30, 4, nothing) // all under minRequests: member order
	if d := r.dialled(); strings.Contains(strings.Join(d, " "), "new") {
		t.Fatalf("%v", d)
	}
	r.script(t)
	got := r.spread(t, 60, 4, nothing)
	if got["new"] < 4 || got["new"] > 30 {
		t.Errorf("%v, want about a quarter", got)
	}
	// With no share of it, nobody explores.
	r = newRig(t, w, "", w.org("known"), w.org("new"), w.pool("strategy: {type: lowest-latency, minRequests: 5, explorationShare: 0}", "known", "new"))
	wantShare(t, "no exploration", r.spread(t, 60, 4, nothing), map[string]int{"known": 60}, 0)
}

// Of two draws the less loaded one serves, so a slow member gets less under
// load, and sessions stay.
func TestRT_STRAT_LOAD(t *testing.T) {
	chatAtOnce(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("slow"), w.org("fast"), w.org("fast2"), w.pool("strategy: {type: least-loaded}", "slow", "fast", "fast2"))
		r.script(t, at("slow", fakellm.Rule{DelayMS: 100, Reply: says("slow")}), at("fast", fakellm.Rule{DelayMS: 5, Reply: says("fast")}), at("fast2", fakellm.Rule{DelayMS: 5, Reply: says("fast2")}))
		got := r.spread(t, 200, 12, nothing)
		if n := got["slow"] + got["fast"] + got["fast2"]; n != 200 || got["slow"] > 50 || got["fast"] < 40 || got["fast2"] < 40 {
			t.Errorf("%v", got)
		}
		if rec := r.record(t, r.ask(t)); rec.Strategy != "least-loaded" || rec.StrategyReason != "the better of two draws" {
			t.Errorf("%q", rec.StrategyReason)
		}
		wantShare(t, "sessions", r.spread(t, 60, 12, func(int) []string { return sessions(7) }), map[string]int{r.ask(t, sessions(7)...).Header.Get("X-Interlock-Provider"): 60}, 0)
	})
	t.Run("by_weight", func(t *testing.T) {
		w := ways()[0]
		r := newRig(t, w, "", w.org("a"), w.org("b"), w.org("c"), w.pool("strategy: {type: least-loaded}", "a, weight: 0", "b, weight: 1", "c, weight: 1"))
		if got := r.spread(t, 100, 8, nothing); got["a"] != 0 || got["b"]+got["c"] != 100 {
			t.Errorf("%v", got)
		}
	})
}

// Failover starts on the first whatever the session.
func TestRT_STRAT_FAILOVER(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("a"), w.org("b"), w.pool("", "a, weight: 0", "b, weight: 9"))
		wantShare(t, "in order", r.spread(t, 30, 4, sessions), map[string]int{"a": 30}, 0)
		got := r.ask(t)
		if rec := r.record(t, got); rec.Strategy != "failover" || rec.StrategyReason == "" {
			t.Errorf("%q %q", rec.Strategy, rec.StrategyReason)
		}
	})
}

// When a member leaves only its sessions move, and they come back with it; the
// same on another server (RT-STRAT: replicas and restarts agree).
func TestRT_STRAT_sessions_move_with_their_member_only(t *testing.T) {
	w := ways()[0]
	strategies := []string{"round-robin", "weighted", "least-loaded"}
	for _, s := range strategies {
		t.Run(s, func(t *testing.T) {
			docs := func(b string) []string {
				return []string{w.org("a"), w.org("b", b), w.org("c"), w.pool("strategy: {type: "+s+"}", "a", "b", "c")}
			}
			one, other := newRig(t, w, enforced, docs("drained: false")...), newRig(t, w, "", docs("drained: false")...)
			first := map[int]string{}
			for i := range 60 {
				first[i] = one.ask(t, sessions(i)...).Header.Get("X-Interlock-Provider")
				if p := other.ask(t, sessions(i)...).Header.Get("X-Interlock-Provider"); p != first[i] {
					t.Errorf("session %d is at %s here and at %s there", i, first[i], p)
				}
			}
			one.reload(t, docs("drained: true")...)
			for i := range 60 {
				p := one.ask(t, sessions(i)...).Header.Get("X-Interlock-Provider")
				if p == "b" || first[i] != "b" && p != first[i] {
					t.Errorf("session %d moved from %s to %s", i, first[i], p)
				}
			}
			one.reload(t, docs("drained: false")...)
			for i := range 60 {
				if p := one.ask(t, sessions(i)...).Header.Get("X-Interlock-Provider"); p != first[i] {
					t.Errorf("session %d did not come back to %s: %s", i, first[i], p)
				}
			}
		})
	}
}
