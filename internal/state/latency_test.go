package state_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
)

func (w *world) measure(wireModel string, stream bool, latency time.Duration) {
	w.t.Helper()
	p, _, _ := w.Admit(north, wireModel, true, false)
	p.Done(state.Outcome{Stream: stream, Latency: latency})
}

func (w *world) p95(wireModel string, stream bool, window time.Duration) (time.Duration, int) {
	return w.Latency(north, wireModel, stream, window)
}

func TestRT_STRAT_LATENCY_is_within_ten_percent(t *testing.T) {
	for d := 20 * time.Microsecond; d < time.Hour; d += d / 7 {
		w := newWorld(t)
		w.measure(model, true, d)
		if got, n := w.p95(model, true, time.Minute); !within(d, got) || n != 1 {
			t.Errorf("%s: %s of %d", d, got, n)
		}
	}
	for _, d := range []time.Duration{1, time.Microsecond, 100 * time.Hour, math.MaxInt64} {
		w := newWorld(t)
		w.measure(model, true, d)
		if got, n := w.p95(model, true, time.Minute); got <= 0 || n != 1 {
			t.Errorf("%s: %s of %d", d, got, n)
		}
	}
}

func TestRT_STRAT_LATENCY_percentile_of_many(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ms := rapid.SliceOfN(rapid.IntRange(1, 600_000), 1, 300).Draw(rt, "ms")
		w := newWorld(t)
		for i, v := range ms {
			if i%50 == 49 {
				w.clock.Advance(time.Minute)
			}
			w.measure(model, false, time.Duration(v)*time.Millisecond)
		}
		slices.Sort(ms)
		want := time.Duration(ms[(len(ms)*95+99)/100-1]) * time.Millisecond
		got, n := w.p95(model, false, 15*time.Minute)
		if n != len(ms) || !within(want, got) {
			rt.Fatalf("%s of %d, want %s", got, n, want)
		}
		if len(ms) < 50 {
			p50 := time.Duration(ms[(len(ms)+1)/2-1]) * time.Millisecond
			r := w.report()
			if !within(p50, time.Duration(r.WholeP50Ms*1e6)) || !within(want, time.Duration(r.WholeP95Ms*1e6)) || r.P95Ms != 0 {
				rt.Fatalf("%+v, want %s and %s", r, p50, want)
			}
		}
	})
}

func TestRT_STRAT_LATENCY_what_is_measured(t *testing.T) {
	w := newWorld(t)
	w.measure(model, true, time.Second)
	w.measure(model, false, time.Minute)
	w.measure("other", true, time.Hour)
	w.measure(model, true, 0) // not measured
	p := w.admit()
	p.Done(state.Outcome{Failure: fail(failure.Timeout), Stream: true, Latency: time.Hour})
	got, n := w.p95(model, true, 15*time.Minute)
	equal(t, 1, n)
	equal(t, true, within(time.Second, got))
	got, n = w.p95(model, false, 15*time.Minute)
	equal(t, 1, n)
	equal(t, true, within(time.Minute, got))
	_, n = w.p95("unknown", false, 15*time.Minute)
	equal(t, 0, n)
	_, n = w.Latency("unknown", model, false, 15*time.Minute)
	equal(t, 0, n)
	equal(t, true, w.report().P50Ms > 900 && w.report().P50Ms < 1100)
	equal(t, true, w.report().P95Ms > 1000_000) // of all deployments
}

func TestRT_STRAT_LATENCY_windows(t *testing.T) {
	w := newWorld(t)
	count := func(window time.Duration) int {
		_, n := w.p95(model, true, window)
		return n
	}
	equal(t, 0, count(1440*time.Minute)) // keep a day from now on
	for range 1500 {
		w.measure(model, true, time.Second)
		w.clock.Advance(time.Minute)
	}
	// The window covers the minutes that are over; the one that runs is empty.
	for range 2 { // the second time from memory
		for _, minutes := range []int{1, 2, 15, 60, 1000, 1440} {
			equal(t, minutes, count(time.Duration(minutes)*time.Minute))
		}
	}
	equal(t, 1, count(0))
	equal(t, 1, count(-time.Hour))
	equal(t, 2, count(61*time.Second))
	equal(t, 1440, count(9999*time.Hour))
	w.measure(model, true, time.Second)
	equal(t, 16, count(15*time.Minute)) // at once

	w.clock.Advance(16 * time.Minute)
	equal(t, 0, count(15*time.Minute))
	equal(t, 1, count(16*time.Minute))
	w.clock.Advance(48 * time.Hour)
	equal(t, 0, count(1440*time.Minute))
	w.measure(model, true, time.Second)
	equal(t, 1, count(1440*time.Minute))
}

func TestRT_STRAT_LATENCY_keeps_what_windows_ask_for(t *testing.T) {
	w := newWorld(t)
	for range 100 {
		w.measure(model, true, time.Second)
		w.clock.Advance(time.Minute)
	}
	_, n := w.p95(model, true, time.Hour)
	equal(t, true, n >= 15 && n <= 16)
	for range 100 {
		w.measure(model, true, time.Second)
		w.clock.Advance(time.Minute)
	}
	_, n = w.p95(model, true, time.Hour)
	equal(t, 60, n)
}

func TestRT_STRAT_LATENCY_a_clock_that_goes_back(t *testing.T) {
	w := newWorld(t)
	w.clock.Advance(10 * time.Minute)
	w.measure(model, true, time.Second)
	w.clock.Advance(-5 * time.Minute)
	w.measure(model, true, time.Second)
	w.clock.Advance(-time.Hour)
	w.measure(model, true, time.Second)
	w.Note("r", north, false)
	w.clock.Advance(66 * time.Minute)
	_, n := w.p95(model, true, 15*time.Minute)
	equal(t, 3, n)
	equal(t, 1, w.Traffic("r").Requests)
	equal(t, true, w.report().Requests >= 1)
}

func TestRT_STRAT_LOAD_averages(t *testing.T) {
	w := newWorld(t)
	load := func() routing.Load { return w.Load(north, model) }
	equal(t, routing.Load{}, load())
	p := w.admit()
	equal(t, routing.Load{InFlight: 1}, load())
	p.Done(state.Outcome{Latency: time.Second})
	equal(t, routing.Load{Latency: time.Second, Success: 1}, load())

	// Not the provider's fault, or another credential's.
	w.send(3, fail(failure.RequestError))
	w.send(3, fail(failure.Canceled))
	p, _, _ = w.Admit(north, model, false, false)
	p.Done(state.Outcome{Failure: fail(failure.Auth)})
	equal(t, routing.Load{Latency: time.Second, Success: 1}, load())

	w.send(2, fail(failure.ServerError))
	got := load()
	equal(t, true, got.Success > 0.7 && got.Success < 0.9)
	equal(t, time.Second, got.Latency)
	for range 50 {
		w.measure(model, true, 3*time.Second)
	}
	got = load()
	equal(t, true, got.Success > 0.95)
	equal(t, true, within(3*time.Second, got.Latency))

	// After a while without traffic, a failure is forgotten, and a new sample
	// weighs more than old ones.
	w.send(4, fail(failure.ServerError))
	before := load().Success
	w.clock.Advance(5 * time.Minute)
	equal(t, true, before < 0.7 && load().Success > 0.99)
	w.measure(model, true, time.Second)
	equal(t, true, within(time.Second, load().Latency))

	// What only fails is known, without a latency.
	only := newWorld(t)
	only.send(4, fail(failure.Timeout))
	equal(t, true, only.Load(north, model).Success > 0 && only.Load(north, model).Success < 0.7)
}

// R127: names come from clients; they must not fill the memory, nor take the
// places of models that exist.
func TestDeployments_are_bounded(t *testing.T) {
	w := newWorld(t)
	w.measure("real", true, time.Second)
	hold, _, _ := w.Admit(north, "busy", true, false)
	cool, _, _ := w.Admit(north, "cool", true, false)
	cool.Done(state.Outcome{Failure: after(failure.RateLimit, time.Hour)})
	for i := range 5000 {
		p, _, _ := w.Admit(north, fmt.Sprintf("made-up-%d", i), true, false)
		p.Done(state.Outcome{Failure: fail(failure.ModelUnavailable)})
	}
	_, n := w.p95("real", true, time.Minute)
	equal(t, 1, n)
	equal(t, 1, w.Load(north, "busy").InFlight)
	equal(t, false, w.CoolingUntil(north, "cool").IsZero())
	w.measure("new", true, time.Second)
	_, n = w.p95("new", true, time.Minute)
	equal(t, 1, n)
	hold.Done(state.Outcome{})

	// A name that no provider has is not worth a place.
	long := strings.Repeat("x", 300)
	w.measure(long, true, time.Second)
	_, n = w.p95(strings.Repeat("y", 300), true, time.Minute)
	equal(t, 1, n) // one place for all of them

	// With real ones only, the last ones share a place.
	w = newWorld(t)
	for i := range 400 {
		w.measure(fmt.Sprintf("real-%d", i), true, time.Second)
	}
	_, n = w.p95("real-7", true, time.Minute)
	equal(t, 1, n)
	_, n = w.p95("real-399", true, time.Minute)
	equal(t, 400-256, n)
	w.Done429("real-398") // says nothing about the others there
	equal(t, true, w.CoolingUntil(north, "real-399").IsZero())
	equal(t, 0, len(w.report().Cooldowns))

	// A day later their places are free.
	w.clock.Advance(25 * time.Hour)
	w.measure("late", true, time.Second)
	_, n = w.p95("late", true, time.Minute)
	equal(t, 1, n)
	equal(t, 0, w.report().InFlight)
}

// Done429 ends a request to a deployment with a rate limit.
func (w *world) Done429(wireModel string) {
	p, _, _ := w.Admit(north, wireModel, true, false)
	p.Done(state.Outcome{Failure: after(failure.RateLimit, time.Minute)})
}
