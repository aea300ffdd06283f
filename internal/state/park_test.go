package state_test

import (
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
)

// R01, R25: who is out of money is not asked again before the time that it
// named, and no park is longer than a day.
func TestRT_PARK_how_long(t *testing.T) {
	for name, tc := range map[string]struct {
		failure failure.Failure
		want    time.Duration
	}{
		"the time it names":      {after(failure.QuotaExhausted, 90*time.Minute), 90 * time.Minute},
		"exactly":                {after(failure.QuotaExhausted, 1234567*time.Microsecond), 1234567 * time.Microsecond},
		"none: a quarter hour":   {fail(failure.QuotaExhausted), 15 * time.Minute},
		"R25: a day at most":     {after(failure.QuotaExhausted, 9*24*time.Hour), 24 * time.Hour},
		"a time that can't be":   {after(failure.QuotaExhausted, 1<<63-1), 24 * time.Hour},
		"none that is not valid": {failure.Failure{Category: failure.QuotaExhausted, RetryAfter: time.Hour}, 15 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tc.failure.Status = 402
			w.send(1, tc.failure)
			want := w.in(tc.want)
			equal(t, state.Blocked{State: routing.Parked, Until: want, Category: failure.QuotaExhausted, Status: 402}, w.blocked())
			equal(t, want, w.Health(north).ParkedUntil)
			w.clock.Advance(tc.want - 1)
			equal(t, routing.Parked, w.blocked().State)
			w.clock.Advance(1)
			equal(t, state.Blocked{}, w.blocked())
			w.send(1, success)
			equal(t, "park unpark ", w.kinds())
			equal(t, true, w.report().Park == nil)
		})
	}
}

func TestRT_PARK_no_wait_means_the_next_request_probes(t *testing.T) {
	for _, wait := range []time.Duration{0, -time.Minute} {
		w := newWorld(t)
		for range 4 {
			w.send(1, after(failure.QuotaExhausted, wait))
		}
		equal(t, "park ", w.kinds())
		probe := w.admit()
		equal(t, routing.Parked, w.blocked().State) // one at a time
		probe.Done(state.Outcome{})
		equal(t, state.Blocked{}, w.blocked())
	}
}

func TestRT_PARK_probe(t *testing.T) {
	for _, o := range outcomes {
		t.Run(o.name, func(t *testing.T) {
			w := newWorld(t)
			w.send(1, after(failure.QuotaExhausted, time.Hour))
			w.clock.Advance(time.Hour)
			probe := w.admit()
			equal(t, routing.Parked, w.blocked().State)
			equal(t, true, w.report().Probing)
			equal(t, "closed", w.report().Breaker.State)
			probe.Done(state.Outcome{Failure: o.failure})
			// Only a success says that there is quota again: the next one
			// probes.
			equal(t, true, w.report().Park != nil)
			w.send(1, success)
			equal(t, true, w.report().Park == nil)
		})
	}
	w := newWorld(t)
	w.send(1, after(failure.QuotaExhausted, time.Hour))
	w.clock.Advance(time.Hour)
	w.send(1, after(failure.QuotaExhausted, 2*time.Hour))
	equal(t, w.in(2*time.Hour), w.blocked().Until)
	equal(t, "park park ", w.kinds())
}

func TestRT_PARK_failing_probes_open_the_breaker(t *testing.T) {
	w := newWorld(t)
	w.send(1, after(failure.QuotaExhausted, time.Hour))
	w.clock.Advance(time.Hour)
	w.send(5, fail(failure.Timeout))
	equal(t, routing.Open, w.blocked().State)
	// One probe answers for both.
	w.clock.Advance(30 * time.Second)
	w.send(1, success)
	equal(t, state.Blocked{}, w.blocked())
	equal(t, "park breaker_open breaker_closed unpark ", w.kinds())
}

// The time of a park is somebody's word: a forced dial does not change it.
func TestRT_PARK_force(t *testing.T) {
	w := newWorld(t)
	w.send(1, after(failure.QuotaExhausted, time.Hour))
	until := w.in(time.Hour)
	w.clock.Advance(time.Minute)
	w.force().Done(state.Outcome{Failure: fail(failure.QuotaExhausted)})
	w.force().Done(state.Outcome{})
	equal(t, until, w.blocked().Until)
	equal(t, "park ", w.kinds())
}

func TestRT_PARK_many_answers_park_once(t *testing.T) {
	w := newWorld(t)
	var permits []state.Permit
	for range 10 {
		permits = append(permits, w.admit())
	}
	permits[0].Done(state.Outcome{Failure: after(failure.QuotaExhausted, time.Hour)})
	until := w.in(time.Hour)
	w.clock.Advance(time.Second)
	for _, p := range permits[1:] {
		p.Done(state.Outcome{Failure: fail(failure.QuotaExhausted)})
	}
	equal(t, until, w.blocked().Until)
	equal(t, "park ", w.kinds())
}

func TestRT_PARK_an_open_provider(t *testing.T) {
	w := newWorld(t)
	w.send(5, fail(failure.Timeout))
	w.force().Done(state.Outcome{Failure: after(failure.QuotaExhausted, time.Hour)})
	equal(t, routing.Parked, w.blocked().State)
	w.clock.Advance(time.Hour)
	w.send(1, success)
	equal(t, routing.Health{Limit: 2}, w.Health(north))
}

// R25: a reset control exists.
func TestBY_13_an_operator_parks_and_lifts(t *testing.T) {
	w := newWorld(t)
	w.Park(north, time.Hour, "ann")
	equal(t, state.Blocked{State: routing.Parked, Until: w.in(time.Hour)}, w.blocked())
	w.Park(north, 99*time.Hour, "bob")
	equal(t, &state.ParkState{Since: w.clock.Now(), Until: w.in(state.MaxPark), By: "bob"}, w.report().Park)
	w.Park(north, 0, "eve")
	equal(t, "bob", w.report().Park.By)

	stale := w.force()
	w.kinds()
	equal(t, true, w.Unpark(north, "cyd"))
	equal(t, false, w.Unpark(north, "cyd"))
	equal(t, false, w.Unpark("unknown", "cyd"))
	equal(t, "unpark ", w.kinds())
	stale.Done(state.Outcome{Failure: fail(failure.QuotaExhausted)})
	equal(t, routing.Health{}, w.Health(north)) // whole, without a ramp

	// It clears everything else too.
	w.send(1, after(failure.RateLimit, time.Minute))
	equal(t, true, w.Unpark(north, "cyd"))
	equal(t, time.Time{}, w.CoolingUntil(north, model))
	w.send(4, fail(failure.Timeout))
	equal(t, true, w.Unpark(north, "cyd"))
	w.send(4, fail(failure.Timeout))
	equal(t, state.Blocked{}, w.blocked())
	w.send(1, fail(failure.Timeout))
	equal(t, true, w.Unpark(north, "cyd"))
	equal(t, state.Blocked{}, w.blocked())
}
