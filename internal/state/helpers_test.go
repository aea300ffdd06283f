package state_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
	"github.com/interlock-gateway/interlock/internal/state/statetest"
)

const (
	north = routing.ProviderID("north")
	south = routing.ProviderID("south")
	model = "model-1"
)

// world is a Board, its clock, and what it reported.
type world struct {
	*state.Board
	t      *testing.T
	clock  *statetest.Clock
	events []state.Event
}

func newWorld(t *testing.T, change ...func(*state.Settings)) *world {
	t.Helper()
	w := &world{t: t, clock: statetest.NewClock()}
	set := state.DefaultSettings()
	for _, f := range change {
		f(&set)
	}
	w.Board = state.NewBoard(state.Options{Settings: set, Now: w.clock.Now, OnEvent: func(e state.Event) { w.events = append(w.events, e) }})
	return w
}

func (w *world) in(d time.Duration) time.Time { return w.clock.Now().Add(d) }

// admit dials north, which must be let through.
func (w *world) admit() state.Permit {
	w.t.Helper()
	p, blocked, ok := w.Admit(north, model, true, false)
	if !ok {
		w.t.Fatalf("refused: %+v", blocked)
	}
	return p
}

func (w *world) force() state.Permit {
	w.t.Helper()
	p, _, ok := w.Admit(north, model, true, true)
	if !ok {
		w.t.Fatal("refused by force")
	}
	return p
}

// send dials north, which must be let through, n times.
func (w *world) send(n int, f failure.Failure) {
	w.t.Helper()
	for range n {
		w.admit().Done(state.Outcome{Failure: f})
	}
}

// blocked is what keeps requests from north; the zero value if nothing does.
func (w *world) blocked() state.Blocked {
	w.t.Helper()
	p, blocked, ok := w.Admit(north, model, true, false)
	if ok {
		p.Done(state.Outcome{Failure: fail(failure.Canceled)}) // gives a turn back
	}
	return blocked
}

func (w *world) report() state.ProviderState { return w.Provider(north) }

// kinds are the kinds of the events so far, which are forgotten.
func (w *world) kinds() string {
	out := ""
	for _, e := range w.events {
		out += e.Kind + " "
	}
	w.events = nil
	return out
}

func equal(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("-want +got\n%s", d)
	}
}

func fail(c failure.Category) failure.Failure { return failure.Failure{Category: c} }

// after is a failure that names a time.
func after(c failure.Category, d time.Duration) failure.Failure {
	return failure.Failure{Category: c, RetryAfter: d, HasRetryAfter: true}
}

var success failure.Failure

// within tells whether a measured duration is within 10 %.
func within(want, got time.Duration) bool {
	return got >= want*9/10 && got <= want*11/10
}
