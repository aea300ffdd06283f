package state_test

import (
	"encoding/json"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
)

// look reads everything that can be read.
func (w *world) look() {
	for _, id := range []routing.ProviderID{north, south, "unknown"} {
		w.Health(id)
		w.Provider(id)
		w.Blocked(id)
		for _, m := range []string{model, "unknown"} {
			w.CoolingUntil(id, m)
			w.Load(id, m)
			w.Latency(id, m, true, time.Hour)
			w.Latency(id, m, false, time.Minute)
		}
	}
	w.Providers()
	w.Traffic("r")
	w.Peek("r")
	w.Settings()
}

// Two Boards live the same life; one of them is looked at all the time.
func TestReading_changes_nothing(t *testing.T) {
	seen, unseen := newWorld(t), newWorld(t)
	both := []*world{seen, unseen}
	for _, w := range both {
		w.Latency(north, model, true, time.Hour) // both keep as much
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		step, o, gap := r.IntN(12), outcomes[r.IntN(len(outcomes))], time.Duration(r.IntN(20))*time.Second
		for _, w := range both {
			w.live(step, o.failure, gap)
			if w == seen {
				w.look()
			}
		}
		equal(t, unseen.Providers(), seen.Providers())
		equal(t, unseen.Traffic("r"), seen.Traffic("r"))
		equal(t, unseen.Peek("r"), seen.Peek("r"))
		equal(t, unseen.Health(north), seen.Health(north))
	}
	equal(t, unseen.events, seen.events)
	if len(seen.events) < 10 {
		t.Fatalf("a dull life: %d events", len(seen.events))
	}
}

// live is one step of a life.
func (w *world) live(step int, f failure.Failure, gap time.Duration) {
	switch step {
	case 0:
		w.clock.Advance(gap)
	case 1:
		w.Note("r", south, true)
	case 2:
		w.Turn("r")
	case 3:
		w.clock.Advance(gap / 10)
		w.Unpark(north, "ann")
	case 4, 5:
		f = success
		fallthrough
	default:
		p, _, _ := w.Admit(north, model, step != 6, step == 7)
		p.Done(state.Outcome{Failure: f, Stream: step == 8, Latency: gap})
	}
}

func TestReading_does_not_make_a_provider(t *testing.T) {
	w := newWorld(t)
	w.look()
	w.Unpark(north, "ann")
	equal(t, 0, len(w.Providers()))
}

func TestBlocked_says_what_Admit_would(t *testing.T) {
	w := newWorld(t)
	says := func(want bool) {
		t.Helper()
		why, ok := w.Blocked(north)
		equal(t, want, ok)
		equal(t, w.blocked(), why)
	}
	_, ok := w.Blocked(north)
	equal(t, false, ok)
	w.send(1, success)
	says(false)
	w.send(5, fail(failure.Timeout))
	says(true)
	w.clock.Advance(30 * time.Second)
	says(false)
	probe := w.admit()
	w.admit() // beside it, since says gave one up
	says(true)
	probe.Done(state.Outcome{})
	w.Park(north, time.Hour, "ann")
	says(true)
}

func TestRetain_starts_anew(t *testing.T) {
	w := newWorld(t)
	hold := w.admit()
	w.send(5, fail(failure.Timeout))
	w.Turn("r")
	w.Retain(map[routing.ProviderID]bool{north: false, south: true})
	equal(t, 0, len(w.Providers()))
	next := w.admit()
	hold.Done(state.Outcome{})
	equal(t, 1, w.report().InFlight)
	next.Done(state.Outcome{})
	equal(t, 0, w.report().InFlight)
	equal(t, uint64(1), w.Peek("r"))
	w.RetainRoutes(map[routing.RouteID]bool{"r": true})
	equal(t, uint64(1), w.Peek("r"))
	w.RetainRoutes(nil)
	equal(t, uint64(0), w.Peek("r"))
}

func TestTraffic_of_a_day(t *testing.T) {
	w := newWorld(t)
	for range 30 {
		w.Note("r", north, true)
		w.Note("r", "", true)
		w.clock.Advance(time.Hour)
	}
	at := w.in(-time.Hour)
	equal(t, state.RouteTraffic{Requests: 48, Failovers: 48, Errors: 24, Served: north, ServedAt: at}, w.Traffic("r"))
	w.clock.Advance(48 * time.Hour)
	equal(t, state.RouteTraffic{Served: north, ServedAt: at}, w.Traffic("r"))
}

func TestProviders_count_a_quarter_of_an_hour(t *testing.T) {
	w := newWorld(t)
	for range 40 {
		w.send(1, success)
		w.send(1, fail(failure.Auth))
		w.send(1, fail(failure.Canceled))
		w.clock.Advance(time.Minute)
	}
	equal(t, 45, w.report().Requests)
	equal(t, 15, w.report().Errors)
}

func TestProviders_as_JSON(t *testing.T) {
	w := newWorld(t)
	w.Park(north, time.Hour, "ann")
	b, err := json.Marshal(w.Providers())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, `[{"provider":"north","breaker":{"state":"closed","failures":0},`+
		`"park":{"since":"2026-12-01T09:30:20.123456789Z","until":"2026-12-01T10:30:20.123456789Z","by":"ann"},`+
		`"cooldowns":[],"probing":false,"inFlight":0,"recovering":false,"requests":0,"errors":0,"p50Ms":0,"p95Ms":0,"wholeP50Ms":0,"wholeP95Ms":0}]`, string(b))
}

func TestBoard_on_the_clock_of_the_machine(t *testing.T) {
	b := state.NewBoard(state.Options{Settings: state.DefaultSettings()})
	p, _, ok := b.Admit(north, model, true, false)
	equal(t, true, ok)
	p.Done(state.Outcome{Latency: time.Second})
	_, n := b.Latency(north, model, false, time.Minute)
	equal(t, 1, n)
}

// R44 and the like: everything at once, and afterwards nothing is held.
func TestBoard_everything_at_once(t *testing.T) {
	set := state.DefaultSettings()
	set.OpenFor = time.Microsecond
	var mu sync.Mutex
	events := 0
	b := state.NewBoard(state.Options{Settings: set, OnEvent: func(state.Event) {
		mu.Lock()
		defer mu.Unlock()
		events++
	}})
	ids := []routing.ProviderID{north, south, "east"}
	models := []string{"a", "b", "c"}
	var wg sync.WaitGroup
	for seed := range uint64(6) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 7))
			for range 1500 {
				id, m := ids[r.IntN(3)], models[r.IntN(3)]
				if p, _, ok := b.Admit(id, m, r.IntN(4) > 0, r.IntN(4) == 0); ok {
					if r.IntN(3) == 0 {
						p.Answered()
					}
					f := outcomes[r.IntN(len(outcomes))].failure
					if r.IntN(2) == 0 {
						f = success
					}
					p.Done(state.Outcome{Failure: f, Stream: r.IntN(2) == 0, Latency: time.Duration(r.IntN(1e9))})
				}
				b.Health(id)
				b.CoolingUntil(id, m)
				b.Load(id, m)
				b.Latency(id, m, true, 15*time.Minute)
				b.Turn("r")
				b.Note("r", id, false)
				rare(b, r, id)
			}
		})
	}
	wg.Wait()
	for _, p := range b.Providers() {
		equal(t, 0, p.InFlight)
		equal(t, false, p.Probing)
	}
	for _, id := range ids {
		for _, m := range models {
			equal(t, 0, b.Load(id, m).InFlight)
		}
	}
	equal(t, uint64(9000), b.Peek("r"))
	equal(t, 9000, b.Traffic("r").Requests)
	if events == 0 {
		t.Fatal("nothing happened")
	}
}

// rare is what operators and reloads do.
func rare(b *state.Board, r *rand.Rand, id routing.ProviderID) {
	switch r.IntN(200) {
	case 0:
		s := state.DefaultSettings()
		s.OpenFor, s.Breaker = time.Microsecond, r.IntN(2) == 0
		b.Tune(s)
	case 1:
		b.Park(id, time.Duration(r.IntN(1e6)), "ann")
	case 2:
		b.Unpark(id, "ann")
	case 3:
		b.Retain(map[routing.ProviderID]bool{north: true})
	case 4:
		b.Providers()
		b.Traffic("r")
	}
}
