package state_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
	"github.com/interlock-gateway/interlock/internal/state/statetest"
)

type pinWorld struct {
	*state.Pins
	t     *testing.T
	clock *statetest.Clock
}

func newPins(t *testing.T, sessions int) *pinWorld {
	t.Helper()
	clock := statetest.NewClock()
	return &pinWorld{state.NewPins(clock.Now, sessions), t, clock}
}

func (w *pinWorld) save(session string, r routing.RouteID, ttl time.Duration) {
	w.t.Helper()
	if err := w.Save(w.t.Context(), session, r, routing.Pin{Start: north}, ttl); err != nil {
		w.t.Fatal(err)
	}
}

func (w *pinWorld) load(session string) map[routing.RouteID]routing.Pin {
	w.t.Helper()
	got, err := w.Load(w.t.Context(), session)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func TestPins_the_oldest_go_first(t *testing.T) {
	w := newPins(t, 3)
	for _, s := range []string{"a", "b", "c"} {
		w.save(s, "r", time.Hour)
	}
	w.load("a") // a use
	w.save("d", "r", time.Hour)
	equal(t, 0, len(w.load("b")))
	w.save("c", "r2", time.Hour) // a use
	w.save("e", "r", time.Hour)
	equal(t, 0, len(w.load("a")))
	equal(t, 2, len(w.load("c")))
	equal(t, 3, w.Len())
}

// R127: sessions come from clients.
func TestPins_are_bounded(t *testing.T) {
	for _, bound := range []int{-1, 0, 1, 100, 20_000} {
		w := newPins(t, bound)
		for i := range max(bound, 10) * 2 {
			w.save(fmt.Sprint(i), "r", time.Hour)
		}
		if n := w.Len(); n > max(bound, 1) || n < bound*9/10 {
			t.Errorf("%d sessions, at most %d", n, bound)
		}
	}
	w := newPins(t, 10)
	w.save(strings.Repeat("x", 1000), "r", time.Hour)
	w.save("", "r", time.Hour)
	equal(t, 0, w.Len())
	for i := range 100 {
		w.save("s", routing.RouteID(fmt.Sprint(i)), time.Hour+time.Duration(i))
	}
	got := w.load("s")
	equal(t, 64, len(got))
	equal(t, north, got["99"].Start)
}

func TestPins_each_has_its_time(t *testing.T) {
	w := newPins(t, 10)
	w.save("s", "short", time.Minute)
	w.save("s", "long", time.Hour)
	w.clock.Advance(time.Minute)
	got, _ := w.Peek(t.Context(), "s")
	equal(t, map[routing.RouteID]routing.Pin{"long": {Start: north}}, got)
	equal(t, got, w.load("s"))
	w.clock.Advance(time.Hour)
	got, _ = w.Peek(t.Context(), "s")
	equal(t, 0, len(got))
	equal(t, 1, w.Len())
	equal(t, 0, len(w.load("s")))
	equal(t, 0, w.Len())
}

func TestPins_a_peek_is_no_use(t *testing.T) {
	w := newPins(t, 2)
	w.save("a", "r", time.Hour)
	w.save("b", "r", time.Hour)
	w.clock.Advance(30 * time.Minute)
	got, _ := w.Peek(t.Context(), "a")
	equal(t, 1, len(got))
	got, _ = w.Peek(t.Context(), "none")
	equal(t, 0, len(got))
	w.save("c", "r", time.Hour)
	equal(t, 0, len(w.load("a"))) // still the oldest
	w.save("b", "gone", 0)
	w.clock.Advance(30 * time.Minute)
	got, _ = w.Peek(t.Context(), "b")
	equal(t, 0, len(got))
}

func TestPins_on_the_clock_of_the_machine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := state.NewPins(nil, 10)
		if err := p.Save(t.Context(), "s", "r", routing.Pin{Start: north}, time.Hour); err != nil {
			t.Fatal(err)
		}
		got, _ := p.Load(t.Context(), "s")
		equal(t, 1, len(got))
		<-time.After(time.Hour)
		got, _ = p.Load(t.Context(), "s")
		equal(t, 0, len(got))
	})
}

// One caller that makes sessions up must not push out everybody else's.
func TestPins_an_owner_has_a_tenth(t *testing.T) {
	for _, places := range []int{100, 100_000} {
		w := newPins(t, places)
		for i := range 20 {
			w.save(fmt.Sprintf("team/a/%d", i/10), "r", time.Hour)
		}
		for i := range places * 2 {
			w.save(fmt.Sprintf("greedy/%d", i), "r", time.Hour)
		}
		equal(t, 1, len(w.load("team/a/0")))
		equal(t, 1, len(w.load("team/a/1")))
		if n := w.Len() - 2; n > places/10 || n < places/10*9/10 {
			t.Errorf("one owner has %d of %d places", n, places)
		}
		equal(t, 1, len(w.load(fmt.Sprintf("greedy/%d", places*2-1))))
		equal(t, 0, len(w.load("greedy/0")))
	}
	// Its own oldest goes, by use.
	w := newPins(t, 20)
	w.save("a/1", "r", time.Hour)
	w.save("a/2", "r", time.Hour)
	w.load("a/1")
	w.save("a/3", "r", time.Hour)
	equal(t, 1, len(w.load("a/1")))
	equal(t, 0, len(w.load("a/2")))
	for _, s := range []string{"a/1", "a/3"} {
		w.save(s, "r", 0)
	}
	equal(t, 0, w.Len())
	w.save("a/4", "r", time.Hour)
	equal(t, 1, len(w.load("a/4")))
}
