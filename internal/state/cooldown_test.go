package state_test

import (
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
)

func TestRT_COOL_exactly_as_long_as_it_says(t *testing.T) {
	const odd = 61*time.Second + 234567891
	w := newWorld(t)
	w.send(1, after(failure.RateLimit, odd))
	until := w.in(odd)
	equal(t, until, w.CoolingUntil(north, model))
	equal(t, time.Time{}, w.CoolingUntil(north, "other"))
	equal(t, time.Time{}, w.CoolingUntil(south, model))

	// It is not a failure of health, and is dialled when reached.
	w.send(9, after(failure.RateLimit, time.Second))
	equal(t, routing.Health{}, w.Health(north))
	equal(t, until, w.CoolingUntil(north, model)) // the later end stays
	w.send(1, success)
	equal(t, until, w.CoolingUntil(north, model))
	w.clock.Advance(odd - 1)
	equal(t, until, w.CoolingUntil(north, model))
	w.clock.Advance(1)
	equal(t, time.Time{}, w.CoolingUntil(north, model))
	equal(t, []state.CooldownState{}, w.report().Cooldowns)
}

func TestRT_COOL_bound(t *testing.T) {
	for _, tc := range []struct{ bound, asked, want time.Duration }{
		{300 * time.Second, time.Hour, 300 * time.Second},
		{time.Hour, time.Hour, time.Hour},
		{2 * time.Second, -1, 2 * time.Second}, // the default is bounded too
		{0, time.Hour, 0},
		{0, -1, 0},
	} {
		w := newWorld(t, func(s *state.Settings) { s.MaxCooldown = tc.bound })
		f := after(failure.RateLimit, tc.asked)
		f.HasRetryAfter = tc.asked > 0
		w.send(1, f)
		want := time.Time{}
		if tc.want > 0 {
			want = w.in(tc.want)
		}
		equal(t, want, w.CoolingUntil(north, model))
	}

	// A lower bound holds for what cools already.
	w := newWorld(t)
	w.send(1, after(failure.RateLimit, time.Minute))
	w.Tune(state.Settings{Breaker: true, Threshold: 5, MaxCooldown: 10 * time.Second})
	equal(t, w.in(10*time.Second), w.CoolingUntil(north, model))
	equal(t, w.in(10*time.Second), w.report().Cooldowns[0].Until)
	w.Tune(state.Settings{Breaker: true, Threshold: 5})
	equal(t, time.Time{}, w.CoolingUntil(north, model))
}

func TestRT_FO_6_no_usable_time(t *testing.T) {
	for name, f := range map[string]failure.Failure{
		"absent":                fail(failure.RateLimit),
		"zero":                  after(failure.RateLimit, 0),
		"past":                  after(failure.RateLimit, -time.Minute),
		"a time that was unset": {Category: failure.RateLimit, RetryAfter: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.send(1, f)
			equal(t, w.in(5*time.Second), w.CoolingUntil(north, model))
			equal(t, 1, w.report().Breaker.Failures)
			w.send(4, f)
			equal(t, routing.Open, w.blocked().State)
		})
	}
}

// A rate limit is a fact, also in an answer that comes late.
func TestRT_COOL_a_late_answer(t *testing.T) {
	w := newWorld(t)
	late := w.admit()
	w.send(5, fail(failure.Timeout))
	late.Done(state.Outcome{Failure: after(failure.RateLimit, time.Minute)})
	equal(t, w.in(time.Minute), w.CoolingUntil(north, model))
}

func TestBY_13_ramp(t *testing.T) {
	recovered := func(t *testing.T) *world {
		w := newWorld(t)
		w.send(5, fail(failure.Timeout))
		w.clock.Advance(30 * time.Second)
		w.send(1, success)
		equal(t, routing.Health{Limit: 2}, w.Health(north))
		return w
	}

	t.Run("two more after each success, until twenty", func(t *testing.T) {
		w := recovered(t)
		for i := range 20 {
			equal(t, 2+2*i, w.Health(north).Limit)
			w.send(1, success)
		}
		equal(t, routing.Health{}, w.Health(north))
	})
	t.Run("or for a minute", func(t *testing.T) {
		w := recovered(t)
		w.clock.Advance(time.Minute - 1)
		equal(t, true, w.report().Recovering)
		equal(t, 2, w.report().Limit)
		w.clock.Advance(1)
		equal(t, routing.Health{}, w.Health(north))
		equal(t, false, w.report().Recovering)
		equal(t, false, w.Unpark(north, "ann"))
	})
	t.Run("after a park", func(t *testing.T) {
		w := newWorld(t)
		w.send(1, after(failure.QuotaExhausted, time.Hour))
		w.clock.Advance(time.Hour)
		w.send(1, success)
		equal(t, routing.Health{Limit: 2}, w.Health(north))
	})
	t.Run("running requests are counted, and never refused", func(t *testing.T) {
		w := recovered(t)
		a, b, c := w.admit(), w.admit(), w.admit()
		equal(t, routing.Health{Limit: 2, Running: 3}, w.Health(north))
		a.Done(state.Outcome{})
		b.Done(state.Outcome{Failure: fail(failure.RequestError)})
		equal(t, routing.Health{Limit: 4, Running: 1}, w.Health(north))
		c.Done(state.Outcome{})
	})
	t.Run("a client with one request at a time never notices", func(t *testing.T) {
		w := newWorld(t)
		hung := []state.Permit{w.admit(), w.admit(), w.admit()} // since before
		w.send(5, fail(failure.Timeout))
		w.clock.Advance(30 * time.Second)
		for range 30 {
			if h := w.Health(north); h.Limit > 0 && h.Running >= h.Limit {
				t.Fatalf("%+v", h)
			}
			w.send(1, success)
			w.clock.Advance(time.Second)
		}
		for _, p := range hung {
			p.Done(state.Outcome{Failure: fail(failure.Timeout)})
		}
		equal(t, routing.Health{}, w.Health(north))
	})
	t.Run("failures end it by a trip", func(t *testing.T) {
		w := recovered(t)
		w.send(5, fail(failure.Timeout))
		equal(t, routing.Health{OpenUntil: w.in(30 * time.Second)}, w.Health(north))
	})
}
