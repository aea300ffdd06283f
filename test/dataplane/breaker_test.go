package dataplane

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// breakerAt is settings of a breaker that opens after n failures, for so many
// seconds; nothing is retried in place.
func breakerAt(n, seconds int) string {
	return fmt.Sprintf("llmProxy: {circuitBreaker: {failureThreshold: %d, cooldownSeconds: %d}, retry: {maxRetries: 0}}", n, seconds)
}

// open asks n times, each of which fails at the first member, "a".
func (r *rig) open(t *testing.T, n int, rule fakellm.Rule) {
	t.Helper()
	r.script(t, at("a", rule))
	for range n {
		r.wantServed(t, r.ask(t), "b", 2)
	}
}

// What counts as a failure of the provider's, and what doesn't.
func TestRT_CB_what_opens_a_breaker(t *testing.T) {
	cases := []struct {
		name string
		rule fakellm.Rule
		want string // the skip; empty if it stays closed
		only string
	}{
		{name: "connection", rule: fakellm.Rule{Action: "reset"}, want: "circuit_open:connection:0"},
		{name: "server_error", rule: fakellm.Rule{Action: "status", Status: 500}, want: "circuit_open:server_error:500"},
		{name: "server_error_409", rule: fakellm.Rule{Action: "status", Status: 409}, want: "circuit_open:server_error:409"},
		{name: "overloaded", rule: fakellm.Rule{Action: "status", Status: 529}, want: "circuit_open:overloaded:529"},
		{name: "timeout_408", rule: fakellm.Rule{Action: "status", Status: 408}, want: "circuit_open:timeout:408"},
		{name: "an_answer_that_is_none", rule: fakellm.Rule{Action: "status", Status: 200, Shape: "html"}, want: "circuit_open:server_error:200"},
		{name: "a_stream_cut_before_content", rule: fakellm.Rule{Action: "cut", Cut: "fin", After: 1}, want: "circuit_open:connection:0", only: "stream"},
		{name: "R29_an_error_event_before_content", rule: fakellm.Rule{Action: "preamble_error", Status: 529, Type: "overloaded_error"}, want: "circuit_open:overloaded:529", only: "stream"},
		{name: "rate_limit_with_a_time", rule: fakellm.Rule{Action: "status", Status: 429, Headers: map[string]string{"Retry-After": "1"}}},
		{name: "auth", rule: fakellm.Rule{Action: "status", Status: 401}},
		{name: "model_unavailable", rule: fakellm.Rule{Action: "status", Status: 404}},
	}
	eachChat(t, func(t *testing.T, w *way) {
		docs := []string{w.org("b")}
		for i, c := range cases { // a provider and a route each
			a := fmt.Sprintf("a%d", i)
			docs = append(docs, w.org(a), gwtest.Route(a+"-route", `"`+c.name+`"`, a, "b"))
		}
		r := newRig(t, w, breakerAt(2, 60), docs...)
		for i, c := range cases {
			if c.only != "" && c.only != kindOf(w.stream) {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				a := fmt.Sprintf("a%d", i)
				for try := range 2 {
					r.script(t, at(a, c.rule))
					if try == 1 && c.name == "rate_limit_with_a_time" { // it cools meanwhile
						eventually(t, 10*time.Second, "it does not cool any more", func() bool {
							r.script(t, at(a, c.rule))
							r.send(t, c.name)
							return len(r.dialled()) == 2
						})
						continue
					}
					r.wantServed(t, r.send(t, c.name), "b", 2)
				}
				r.script(t, at(a, c.rule))
				got := r.send(t, c.name)
				rec := r.record(t, got)
				if c.want == "" {
					if strings.Contains(skips(&rec), "circuit_open") {
						t.Errorf("it opened: %s", skips(&rec))
					}
					return
				}
				r.wantServed(t, got, "b", 1)
				r.wantDials(t, "b")
				if skips(&rec) != a+":"+c.want {
					t.Fatalf("skips %q, want %q", skips(&rec), c.want)
				}
				if until := time.Until(rec.Skips[0].Until); until < 50*time.Second || until > time.Minute {
					t.Errorf("until %v from now", until)
				}
			})
		}
		t.Run("request_errors_and_cancels_do_not", func(t *testing.T) {
			r := newRig(t, w, breakerAt(1, 60), w.org("a"), w.org("b"), w.pool("", "a", "b"))
			for _, status := range []int{400, 413, 422} {
				r.script(t, fails("a", status))
				if got := r.ask(t); got.Status != status {
					t.Errorf("%d, want %d", got.Status, status)
				}
			}
			r.script(t, at("a", fakellm.Rule{Action: "hang"}))
			r.leave(t, 3)
			r.script(t)
			r.wantServed(t, r.ask(t), "a", 1)
		})
		t.Run("only_failures_in_a_row", func(t *testing.T) {
			r := newRig(t, w, breakerAt(3, 60), w.org("a"), w.org("b"), w.pool("", "a", "b"))
			for range 3 {
				r.open(t, 2, fakellm.Rule{Action: "status", Status: 500})
				r.script(t)
				r.wantServed(t, r.ask(t), "a", 1)
			}
		})
		t.Run("enabled_false", func(t *testing.T) {
			r := newRig(t, w, noBreaker, w.org("a"), w.org("b"), w.pool("", "a", "b"))
			r.open(t, 12, fakellm.Rule{Action: "status", Status: 500})
			r.open(t, 3, fakellm.Rule{Action: "status", Status: 402, Message: "Insufficient credits"})
			r.wantServed(t, r.ask(t), "b", 2)
		})
	})
}

// leave sends n requests whose clients go away while the provider is silent.
func (r *rig) leave(t *testing.T, n int) {
	t.Helper()
	for range n {
		before := r.fake.Requests()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			req := r.Request(t, "POST", r.way.path, r.way.ask(r.way.stream)).WithContext(ctx)
			if resp, err := r.Client.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}()
		eventually(t, 10*time.Second, "the provider is asked", func() bool { return r.fake.Requests() > before })
		cancel()
		<-done
		eventually(t, 10*time.Second, "the provider is rid of it", func() bool { return r.fake.InFlight() == 0 })
	}
}

// An open breaker costs nothing: its member sees probes only, requests go on at
// once, and when it works again it gets its place back.
func TestRT_CB_R02_R05_an_outage_costs_probes_only(t *testing.T) {
	chatAtOnce(t, func(t *testing.T, w *way) {
		r := newRig(t, w, breakerAt(3, 1), w.org("a", limits(300, 5000)...), w.org("b"), w.pool("", "a", "b"))
		r.open(t, 3, fakellm.Rule{Action: "hang"}) // 0.3 s each
		start, slow, asked := time.Now(), 0, 0
		pace := time.NewTicker(10 * time.Millisecond)
		defer pace.Stop()
		for began := range pace.C {
			if asked++; began.Sub(start) > 2500*time.Millisecond {
				break
			}
			got := r.ask(t)
			if got.Status != 200 || got.Header.Get("X-Interlock-Provider") != "b" {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
			if got.Header.Get("X-Interlock-Attempts") != "1" {
				slow++
			}
		}
		probes := 0
		for _, m := range r.dialled() {
			if m == "a" {
				probes++
			}
		}
		// One probe a second at most, each of which one request waits for.
		if probes -= 3; probes < 1 || probes > 3 || slow > probes {
			t.Errorf("%d probes and %d slow requests of %d", probes, slow, asked)
		}
		r.script(t)
		eventually(t, 10*time.Second, "the first serves again", func() bool { return r.ask(t).Header.Get("X-Interlock-Provider") == "a" })
		for range 3 {
			r.wantServed(t, r.ask(t), "a", 1)
		}
		events := r.Admin(t, "GET", "/audit-events?kind=event&provider=a", "").Body
		for _, word := range []string{"breaker_open", "breaker_closed", "timeout"} {
			if !strings.Contains(events, word) {
				t.Errorf("no event %s: %s", word, clipped(events))
			}
		}
	})
}

// Each failure in a chain counts, not only the first.
func TestRT_FO_7_R03_every_member_that_fails_is_counted(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, breakerAt(2, 60), w.org("a"), w.org("b"), w.org("c"), w.pool("", "a", "b", "c"))
		r.script(t, fails("a", 500), fails("b", 503))
		for range 2 {
			r.wantServed(t, r.ask(t), "c", 3)
		}
		r.script(t)
		got := r.ask(t)
		r.wantServed(t, got, "c", 1)
		if rec := r.record(t, got); skips(&rec) != "a:circuit_open:server_error:500 b:circuit_open:server_error:503" {
			t.Error(skips(&rec))
		}
	})
}

// A route never fails without trying: with nobody healthy, the skipped ones
// are dialled all the same, and one that works serves.
func TestRT_ORDER_all_open_are_tried_after_all(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		settings := strings.Replace(breakerAt(1, 60), "maxRetries: 0", "maxRetries: 3, baseDelayMs: 0", 1)
		r := newRig(t, w, settings, w.org("a"), w.org("b"), w.pool("", "a", "b"))
		r.script(t, fails("a", 500), fails("b", 500))
		r.ask(t) // a fails, and b after it unless this is a count
		if w.count {
			r.ask(t)
		}
		r.script(t, fails("a", 500), fails("b", 500))
		got := r.ask(t)
		rec := r.record(t, got)
		if w.count { // one candidate
			if r.wantDials(t, "a"); got.Status != 500 {
				t.Errorf("%d %s", got.Status, got.Body)
			}
			r.script(t)
			r.wantServed(t, r.ask(t), "a", 1)
			return
		}
		r.wantDials(t, "a", "b")
		r.wantCode(t, got, 500, "UPSTREAM_POOL_EXHAUSTED")
		if tries(&rec) != "a:own:server_error b:own:server_error" {
			t.Error(tries(&rec))
		}
		r.script(t, fails("a", 500))
		r.wantServed(t, r.ask(t), "b", 2)
		r.wantDials(t, "a", "b")
		// A forced dial that serves is as good as a probe.
		r.script(t)
		r.wantServed(t, r.ask(t), "b", 1)
	})
}

// What is skipped and what is dialled is told apart in the error (ER-POOL).
func TestER_POOL_names_the_skipped(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, breakerAt(1, 60), w.org("a"), w.org("b"), w.org("c"), w.pool("", "a", "b", "c"))
		r.script(t, fails("a", 500), at("b", fakellm.Rule{Action: "status", Status: 402, Message: "Insufficient credits"}))
		r.wantServed(t, r.ask(t), "c", 3)
		r.script(t, fails("c", 503))
		got := r.ask(t)
		e := r.wantCode(t, got, 503, "UPSTREAM_POOL_EXHAUSTED")
		for _, word := range []string{"a: circuit_open (skipped)", "b: parked (skipped)", "c: server_error"} {
			if !strings.Contains(e.Message, word) {
				t.Errorf("%q is not in %s", word, e.Message)
			}
		}
		r.wantDials(t, "c")
		if rec := r.record(t, got); skips(&rec) != "a:circuit_open:server_error:500 b:parked:quota_exhausted:402" || tries(&rec) != "c:own:server_error" {
			t.Errorf("%s | %s", tries(&rec), skips(&rec))
		}
	})
}

// After the time is over one request finds out, however many come.
func TestRT_CB_one_probe_among_many(t *testing.T) {
	chatAtOnce(t, func(t *testing.T, w *way) {
		r := newRig(t, w, breakerAt(1, 1), w.org("a"), w.org("b"), w.pool("", "a", "b"))
		r.open(t, 1, fakellm.Rule{Action: "status", Status: 500})
		// The probe takes its time, and fails.
		r.script(t, at("a", fakellm.Rule{Action: "status", Status: 500, DelayMS: 300}))
		opened := time.Now()
		eventually(t, 10*time.Second, "the time is over", func() bool { return time.Since(opened) > 1050*time.Millisecond })
		var bad atomic.Int64
		concurrently(50, 50, func(int) {
			if got := r.ask(t); got.Status != 200 || got.Header.Get("X-Interlock-Provider") != "b" {
				bad.Add(1)
			}
		})
		probes := 0
		for _, m := range r.dialled() {
			if m == "a" {
				probes++
			}
		}
		if probes != 1 || bad.Load() != 0 {
			t.Errorf("%d probes, %d requests without an answer of the second", probes, bad.Load())
		}
	})
}

// A probe whose client leaves found nothing out: the next request is it.
func TestRT_CB_a_cancelled_probe_gives_its_turn_back(t *testing.T) {
	chatAtOnce(t, func(t *testing.T, w *way) {
		r := newRig(t, w, breakerAt(1, 1), w.org("a"), w.org("b"), w.pool("", "a", "b"))
		r.open(t, 1, fakellm.Rule{Action: "status", Status: 500})
		opened := time.Now()
		r.script(t, at("a", fakellm.Rule{Action: "hang"}))
		eventually(t, 10*time.Second, "the time is over", func() bool { return time.Since(opened) > 1050*time.Millisecond })
		for range 3 {
			r.leave(t, 1)
		}
		r.wantDials(t, "a", "a", "a")
		r.script(t)
		r.wantServed(t, r.ask(t), "a", 1)
	})
}

// A stream that goes on for long after its first content has told what a probe
// is for.
func TestRT_CB_BY_13_a_probe_ends_with_its_first_content(t *testing.T) {
	for _, w := range []*way{ways()[1], ways()[4]} {
		t.Run(w.name, func(t *testing.T) {
			r := newRig(t, w, breakerAt(1, 1), w.org("a"), w.org("b"), w.pool("", "a", "b"))
			r.open(t, 1, fakellm.Rule{Action: "status", Status: 500})
			opened := time.Now()
			r.script(t, at("a", fakellm.Rule{Action: "stall", After: w.lead + 1, Reply: says("a"), Times: 1}))
			eventually(t, 10*time.Second, "the time is over", func() bool { return time.Since(opened) > 1050*time.Millisecond })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			resp, err := r.Client.Do(r.Request(t, "POST", w.path, w.ask(true)).WithContext(ctx))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.Header.Get("X-Interlock-Provider") != "a" {
				t.Fatalf("%v", resp.Header)
			}
			r.wantServed(t, r.ask(t), "a", 1) // while the other still runs
		})
	}
}

// A member that came back gets its traffic back little by little: the rest
// goes on where it went.
func TestBY_13_recovery_is_gentle(t *testing.T) {
	w := ways()[0]
	r := newRig(t, w, breakerAt(1, 1), w.org("a"), w.org("b"), w.pool("", "a", "b"))
	r.open(t, 1, fakellm.Rule{Action: "status", Status: 500})
	opened := time.Now()
	eventually(t, 10*time.Second, "the time is over", func() bool { return time.Since(opened) > 1050*time.Millisecond })
	r.script(t)
	r.wantServed(t, r.ask(t), "a", 1)
	r.script(t, at("a", fakellm.Rule{DelayMS: 300, Reply: says("a")}))
	var byA, byB atomic.Int64
	concurrently(40, 40, func(int) {
		got := r.ask(t)
		switch got.Header.Get("X-Interlock-Provider") {
		case "a":
			byA.Add(1)
		case "b":
			byB.Add(1)
		}
	})
	if a, b := byA.Load(), byB.Load(); a+b != 40 || a < 1 || a > 20 {
		t.Errorf("%d of 40 at once went to the member that had just come back, %d elsewhere", a, b)
	}
}
