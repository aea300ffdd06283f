package state_test

import (
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
)

// outcomes are all kinds of failure, and what each says about health.
var outcomes = []struct {
	name    string
	failure failure.Failure
	counts  bool // towards opening
}{
	{"connection", fail(failure.Connection), true},
	{"timeout", fail(failure.Timeout), true},
	{"server_error", fail(failure.ServerError), true},
	{"server_error with a time", after(failure.ServerError, time.Minute), true},
	{"overloaded", fail(failure.Overloaded), true},
	{"overloaded with a time", after(failure.Overloaded, time.Minute), true},
	{"rate_limit without a time", fail(failure.RateLimit), true},
	{"rate_limit with no time left", after(failure.RateLimit, 0), true},
	{"rate_limit with a time", after(failure.RateLimit, time.Minute), false},
	{"quota_exhausted for now", after(failure.QuotaExhausted, 0), false},
	{"auth", fail(failure.Auth), false},
	{"model_unavailable", fail(failure.ModelUnavailable), false},
	{"request_error", fail(failure.RequestError), false},
	{"content_filter", fail(failure.ContentFilter), false},
	{"canceled", fail(failure.Canceled), false},
}

func TestRT_CB_what_opens(t *testing.T) {
	for _, o := range outcomes {
		t.Run(o.name, func(t *testing.T) {
			w := newWorld(t)
			w.send(4, o.failure)
			if w.blocked().State != "" {
				t.Fatal("open before the threshold")
			}
			w.send(1, o.failure)
			w.send(0, success)
			if got := w.blocked().State == routing.Open; got != o.counts {
				t.Fatalf("open: %t", got)
			}
		})
		// What does not count neither fails nor resets.
		t.Run(o.name+" in between", func(t *testing.T) {
			w := newWorld(t)
			w.send(3, fail(failure.Timeout))
			w.send(1, o.failure)
			w.send(1, fail(failure.Timeout))
			if got := w.blocked().State == routing.Open; got != o.counts {
				t.Fatalf("open after 4 timeouts: %t", got)
			}
			if !o.counts {
				w.send(1, fail(failure.Timeout))
				equal(t, routing.Open, w.blocked().State)
			}
		})
	}
}

func TestRT_CB_a_success_starts_the_count_again(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.send(4, fail(failure.ServerError))
		w.send(1, success)
	}
	equal(t, state.Blocked{}, w.blocked())
	equal(t, "", w.kinds())
}

func TestRT_CB_settings(t *testing.T) {
	w := newWorld(t, func(s *state.Settings) { s.Threshold, s.OpenFor = 2, time.Minute })
	w.send(2, fail(failure.Timeout))
	equal(t, w.in(time.Minute), w.blocked().Until)

	// A reload leaves the end of what runs and counts with the new numbers.
	w.Tune(state.Settings{Breaker: true, Threshold: 3, OpenFor: time.Second})
	equal(t, w.in(time.Minute), w.blocked().Until)
	w.clock.Advance(time.Minute)
	w.send(1, fail(failure.Timeout))
	equal(t, w.in(time.Second), w.blocked().Until)
	equal(t, state.Settings{Breaker: true, Threshold: 3, OpenFor: time.Second}, w.Settings())

	none := newWorld(t, func(s *state.Settings) { s.Threshold = 0 })
	none.send(1, fail(failure.Timeout))
	equal(t, routing.Open, none.blocked().State)
}

func TestRT_CB_probe(t *testing.T) {
	for _, o := range outcomes {
		t.Run(o.name, func(t *testing.T) {
			w := newWorld(t)
			w.send(5, fail(failure.Connection))
			w.clock.Advance(30 * time.Second)
			probe := w.admit()
			equal(t, "half_open", w.report().Breaker.State)
			w.clock.Advance(time.Second)
			probe.Done(state.Outcome{Failure: o.failure})
			switch {
			case o.counts:
				equal(t, w.in(30*time.Second), w.blocked().Until)
			case o.failure.Category == failure.Canceled:
				equal(t, "open", w.report().Breaker.State)
				if h := w.Health(north); h.Probing || h.OpenUntil.After(w.clock.Now()) {
					t.Fatalf("%+v: the turn was not given back", h)
				}
			default: // it answers
				equal(t, "closed", w.report().Breaker.State)
				equal(t, state.Blocked{}, w.blocked())
			}
		})
	}
}

func TestRT_CB_quota_on_a_probe_closes_and_parks(t *testing.T) {
	w := newWorld(t)
	w.send(5, fail(failure.Connection))
	w.clock.Advance(30 * time.Second)
	w.send(1, after(failure.QuotaExhausted, time.Hour))
	equal(t, routing.Parked, w.blocked().State)
	equal(t, "closed", w.report().Breaker.State)
	equal(t, "breaker_open breaker_closed park ", w.kinds())
}

// A route never fails without trying.
func TestRT_CB_force(t *testing.T) {
	w := newWorld(t)
	w.send(5, fail(failure.Connection))
	until := w.in(30 * time.Second)
	w.clock.Advance(20 * time.Second)
	for range 10 {
		p, blocked, ok := w.Admit(north, model, true, true)
		equal(t, true, ok)
		equal(t, state.Blocked{State: routing.Open, Until: until, Category: failure.Connection}, blocked)
		p.Done(state.Outcome{Failure: fail(failure.Timeout)})
	}
	equal(t, until, w.blocked().Until) // the probe is not put off
	equal(t, 5, w.report().Breaker.Failures)

	w.clock.Advance(10 * time.Second)
	probe := w.admit()
	w.force().Done(state.Outcome{Failure: fail(failure.Timeout)})
	equal(t, true, w.Health(north).Probing)

	// A success is as good a proof as the probe's, which then decides nothing.
	w.force().Done(state.Outcome{})
	equal(t, state.Blocked{}, w.blocked())
	probe.Done(state.Outcome{Failure: fail(failure.Timeout)})
	equal(t, 0, w.report().Breaker.Failures)
	equal(t, "breaker_open breaker_closed ", w.kinds())
}

// With force, the first one after the time is still the probe.
func TestRT_CB_force_may_probe(t *testing.T) {
	w := newWorld(t)
	w.send(5, fail(failure.Connection))
	w.clock.Advance(30 * time.Second)
	p := w.force()
	equal(t, true, w.Health(north).Probing)
	p.Done(state.Outcome{Failure: fail(failure.Connection)})
	equal(t, w.in(30*time.Second), w.Health(north).OpenUntil)
}

func TestRT_CB_generations(t *testing.T) {
	w := newWorld(t)
	var early []state.Permit
	for range 12 {
		early = append(early, w.admit())
	}
	w.send(5, fail(failure.Timeout))
	early[0].Done(state.Outcome{})
	early[1].Done(state.Outcome{Failure: after(failure.QuotaExhausted, time.Hour)})
	equal(t, routing.Open, w.blocked().State)

	w.clock.Advance(30 * time.Second)
	w.send(1, success)
	for _, p := range early[2:] {
		p.Done(state.Outcome{Failure: fail(failure.Timeout)})
	}
	equal(t, state.Blocked{}, w.blocked())
	equal(t, 0, w.report().Breaker.Failures)
	equal(t, 0, w.report().InFlight)
}

// A stream that has content is proof enough; waiting for its end would keep a
// provider that works out of use.
func TestRT_CB_a_probe_that_streams(t *testing.T) {
	w := newWorld(t)
	w.send(5, fail(failure.Timeout))
	w.clock.Advance(30 * time.Second)
	probe := w.admit()
	probe.Answered()
	probe.Answered()
	equal(t, state.Blocked{}, w.blocked())
	probe.Done(state.Outcome{Failure: fail(failure.Connection)})
	equal(t, 0, w.report().Breaker.Failures)
	equal(t, 0, w.report().InFlight)

	// Of others it means nothing: who always breaks off must still trip.
	for range 5 {
		p := w.admit()
		p.Answered()
		p.Done(state.Outcome{Failure: fail(failure.Connection)})
	}
	equal(t, routing.Open, w.blocked().State)
	state.Permit{}.Answered()
	state.Permit{}.Done(state.Outcome{})
}

func TestRT_CB_switched_off(t *testing.T) {
	w := newWorld(t)
	w.send(5, fail(failure.Timeout))
	w.Park(south, time.Hour, "ann")
	stale := w.force()
	set := w.Settings()
	set.Breaker = false
	w.Tune(set)
	equal(t, "breaker_open park breaker_closed unpark ", w.kinds())
	equal(t, routing.Health{}, w.Health(north))
	equal(t, routing.Health{}, w.Health(south))
	w.Park(south, time.Hour, "ann")
	equal(t, routing.Health{}, w.Health(south))
	stale.Done(state.Outcome{Failure: fail(failure.Timeout)})
	w.send(9, fail(failure.Timeout))
	w.send(1, after(failure.QuotaExhausted, time.Hour))
	w.send(1, after(failure.RateLimit, time.Minute))
	equal(t, w.in(time.Minute), w.CoolingUntil(north, model))

	// Switched on again it starts from nothing.
	w.Tune(state.DefaultSettings())
	w.send(4, fail(failure.Timeout))
	equal(t, state.Blocked{}, w.blocked())
	w.send(1, fail(failure.Timeout))
	equal(t, routing.Open, w.blocked().State)
}

// R03: each attempt counts by itself, also in one chain.
func TestRT_FO_7_each_attempt_counts(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		a, _, _ := w.Admit("a", model, true, false)
		a.Done(state.Outcome{Failure: fail(failure.ServerError)})
		b, _, _ := w.Admit("b", model, true, false)
		b.Done(state.Outcome{Failure: fail(failure.Timeout)})
		c, _, _ := w.Admit("c", model, true, false)
		c.Done(state.Outcome{})
	}
	equal(t, w.in(30*time.Second), w.Health("a").OpenUntil)
	equal(t, w.in(30*time.Second), w.Health("b").OpenUntil)
	equal(t, routing.Health{}, w.Health("c"))
}

func TestRT_FO_10_another_credential(t *testing.T) {
	foreign := func(w *world, f failure.Failure) (state.Blocked, bool) {
		p, blocked, ok := w.Admit(north, model, false, false)
		p.Done(state.Outcome{Failure: f, Latency: time.Second})
		return blocked, ok
	}
	for _, o := range outcomes {
		w := newWorld(t)
		for range 10 {
			foreign(w, o.failure)
		}
		equal(t, routing.Health{}, w.Health(north))
		equal(t, time.Time{}, w.CoolingUntil(north, model))
		w.send(4, fail(failure.Timeout))
		foreign(w, success)
		equal(t, 4, w.report().Breaker.Failures)
	}

	w := newWorld(t)
	w.send(5, fail(failure.Timeout))
	blocked, ok := foreign(w, success)
	equal(t, false, ok)
	equal(t, routing.Open, blocked.State)
	w.clock.Advance(30 * time.Second)
	p, _, ok := w.Admit(north, model, false, false)
	equal(t, true, ok)
	equal(t, false, w.Health(north).Probing) // it takes no probe
	equal(t, 1, w.report().InFlight)
	p.Done(state.Outcome{})
	equal(t, "open", w.report().Breaker.State)

	w = newWorld(t)
	w.send(1, after(failure.QuotaExhausted, time.Hour))
	_, ok = foreign(w, success)
	equal(t, true, ok) // the park is about another credential
	equal(t, routing.Parked, w.blocked().State)
	equal(t, 1, w.report().Errors)
	_, n := w.Latency(north, model, false, time.Minute)
	equal(t, 1, n)
}

// R24: who is out, why, since and until when.
func TestBY_13_health_page(t *testing.T) {
	w := newWorld(t)
	start := w.clock.Now()
	equal(t, state.ProviderState{Provider: north, Breaker: state.BreakerState{State: "closed"}, Cooldowns: []state.CooldownState{}}, w.report())
	w.send(5, failure.Failure{Category: failure.Overloaded, Status: 529})
	p, _, _ := w.Admit(south, "m2", true, false)
	p.Done(state.Outcome{Failure: after(failure.RateLimit, time.Minute)})
	p, _, _ = w.Admit(south, "m1", true, false)
	p.Done(state.Outcome{Failure: after(failure.RateLimit, time.Second)})
	w.Park(south, time.Hour, "ann")
	w.clock.Advance(500 * time.Millisecond)
	hold := w.force()
	equal(t, []state.ProviderState{
		{
			Provider: north, InFlight: 1, Requests: 5, Errors: 5, Cooldowns: []state.CooldownState{},
			Breaker: state.BreakerState{State: "open", Failures: 5, Since: start, Until: start.Add(30 * time.Second), Category: failure.Overloaded, Status: 529},
		},
		{
			Provider: south, Requests: 2, Errors: 2, Breaker: state.BreakerState{State: "closed"},
			Park:      &state.ParkState{Since: start, Until: start.Add(time.Hour), By: "ann"},
			Cooldowns: []state.CooldownState{{"m1", start, start.Add(time.Second)}, {"m2", start, start.Add(time.Minute)}},
		},
	}, w.Providers())
	hold.Done(state.Outcome{})

	// Since tells when the trouble began, not when the last probe failed.
	w.clock.Advance(time.Minute)
	w = newWorld(t)
	w.send(5, fail(failure.Timeout))
	start = w.clock.Now()
	w.clock.Advance(time.Minute)
	w.send(1, fail(failure.Timeout))
	equal(t, start, w.report().Breaker.Since)
	equal(t, 6, w.report().Breaker.Failures)
}

func TestBY_13_events(t *testing.T) {
	w := newWorld(t)
	w.send(5, failure.Failure{Category: failure.ServerError, Status: 503})
	equal(t, []state.Event{{Kind: "breaker_open", Provider: north, Until: w.in(30 * time.Second), Category: failure.ServerError, Status: 503, Time: w.clock.Now()}}, w.events)
	w.events = nil
	w.Park(north, time.Hour, "ann")
	equal(t, []state.Event{{Kind: "park", Provider: north, Until: w.in(time.Hour), By: "ann", Time: w.clock.Now()}}, w.events)
	w.events = nil
	equal(t, true, w.Unpark(north, "bob"))
	equal(t, []state.Event{
		{Kind: "breaker_closed", Provider: north, Category: failure.ServerError, Status: 503, By: "bob", Time: w.clock.Now()},
		{Kind: "unpark", Provider: north, By: "bob", Time: w.clock.Now()},
	}, w.events)
	w.events = nil

	// A failed probe is no news.
	w.send(5, fail(failure.Timeout))
	for range 3 {
		w.clock.Advance(30 * time.Second)
		w.send(1, fail(failure.Timeout))
	}
	equal(t, "breaker_open ", w.kinds())

	// Nobody wants to hear of a provider that is gone.
	late := w.force()
	w.Retain(nil)
	late.Done(state.Outcome{})
	equal(t, "", w.kinds())
}

func TestBY_13_events_come_without_a_lock(t *testing.T) {
	var b *state.Board
	heard := 0
	b = state.NewBoard(state.Options{Settings: state.DefaultSettings(), OnEvent: func(e state.Event) {
		heard++
		b.Health(e.Provider)
		b.Providers()
		b.Unpark(e.Provider, "itself")
	}})
	b.Park(north, time.Hour, "ann")
	equal(t, 2, heard)
}
