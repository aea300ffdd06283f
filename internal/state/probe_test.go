package state_test

import (
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/state"
)

// waiting opens north's breaker and lets its time pass.
func (w *world) waiting() {
	w.t.Helper()
	w.send(5, fail(failure.ServerError))
	w.clock.Advance(w.Settings().OpenFor)
}

// probe asks for a probe; ok is false if it is refused.
func (w *world) probe(patience time.Duration) (state.Permit, bool) {
	w.t.Helper()
	p, _, ok := w.AdmitFor(north, model, true, false, patience)
	return p, ok
}

func (w *world) wantProbe(patience time.Duration, want bool) (p state.Permit) {
	w.t.Helper()
	p, ok := w.probe(patience)
	equal(w.t, want, ok)
	return p
}

func giveUp() state.Outcome { return state.Outcome{Failure: fail(failure.Canceled)} }

// A probe that takes long is joined by another, up to three.
func TestRT_CB_a_slow_probe_is_not_alone_for_ever(t *testing.T) {
	w := newWorld(t)
	w.waiting()
	first := w.wantProbe(0, true)
	w.clock.Advance(4 * time.Second)
	w.wantProbe(0, false)
	equal(t, true, w.Health(north).Probing)
	w.clock.Advance(time.Second)
	equal(t, false, w.Health(north).Probing) // routing must not leave it out
	equal(t, "half_open", w.report().Breaker.State)
	second := w.wantProbe(0, true)
	w.wantProbe(0, false) // one each period
	w.clock.Advance(5 * time.Second)
	w.wantProbe(0, true)
	w.clock.Advance(time.Hour)
	w.wantProbe(0, false) // three are enough

	second.Done(state.Outcome{})
	equal(t, state.Blocked{}, w.blocked())
	first.Done(state.Outcome{Failure: fail(failure.Timeout)})
	equal(t, 0, w.report().Breaker.Failures)
}

// With a short open time a probe is alone for as long, but for a second.
func TestRT_CB_a_slow_probe_with_a_short_open_time(t *testing.T) {
	w := newWorld(t, func(s *state.Settings) { s.OpenFor = 0 })
	w.waiting()
	w.wantProbe(0, true)
	w.wantProbe(0, false)
	w.clock.Advance(time.Second)
	w.wantProbe(0, true)
}

// Callers that hang up take turns, but not all of them.
func TestRT_CB_given_up_probes_make_room(t *testing.T) {
	w := newWorld(t)
	w.waiting()
	for range 5 {
		w.wantProbe(0, true).Done(giveUp())
	}
	var running []state.Permit
	for range 3 {
		running = append(running, w.wantProbe(0, true))
	}
	w.wantProbe(0, false)
	running[0].Done(giveUp())
	w.wantProbe(0, true).Done(state.Outcome{Failure: fail(failure.Timeout)})
	equal(t, w.in(30*time.Second), w.blocked().Until)
	for _, p := range running[1:] {
		p.Done(giveUp())
	}
	w.clock.Advance(30 * time.Second)
	w.wantProbe(0, true)
	w.wantProbe(0, false) // it begins anew with one
}

// Who announces that it will soon be gone leaves the turn to others for a while.
func TestRT_CB_a_caller_without_patience_is_no_first_choice(t *testing.T) {
	w := newWorld(t)
	w.waiting()
	w.wantProbe(200*time.Millisecond, false)
	w.wantProbe(4*time.Second, false)
	w.wantProbe(5*time.Second, true).Done(giveUp())

	// If nobody else comes, it has to do.
	w.wantProbe(time.Second, false)
	w.clock.Advance(5 * time.Second)
	hasty := w.wantProbe(time.Second, true)
	w.wantProbe(time.Second, false)
	hasty.Done(giveUp())
	w.wantProbe(time.Second, false)
	w.wantProbe(0, true).Done(state.Outcome{})
	w.wantProbe(time.Millisecond, true) // it is closed
}

func TestRT_PARK_a_caller_without_patience_is_no_first_choice(t *testing.T) {
	w := newWorld(t)
	w.Park(north, time.Hour, "ann")
	w.clock.Advance(time.Hour)
	w.wantProbe(time.Second, false)
	w.clock.Advance(5 * time.Second)
	w.wantProbe(time.Second, true)
}
