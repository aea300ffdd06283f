package statetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
)

// Board is what the gateway and the health pages use of a Board.
type Board interface {
	routing.View
	routing.Dice
	Peek(routing.RouteID) uint64
	Admit(id routing.ProviderID, wireModel string, counts, force bool) (state.Permit, state.Blocked, bool)
	Tune(state.Settings)
	Retain(ids map[routing.ProviderID]bool)
	Park(id routing.ProviderID, wait time.Duration, by string)
	Unpark(id routing.ProviderID, by string) bool
	Providers() []state.ProviderState
	Note(r routing.RouteID, served routing.ProviderID, failover bool)
	Traffic(routing.RouteID) state.RouteTraffic
}

// The names that the suite uses.
const (
	provider = routing.ProviderID("north")
	other    = routing.ProviderID("south")
	model    = "model-1"
)

// suite is one Board with its clock.
type suite struct {
	Board
	t     *testing.T
	clock *Clock
}

// RunBoard runs the contract of a Board; open makes a new one.
func RunBoard(t *testing.T, open func(t *testing.T, o state.Options) Board) {
	for name, test := range map[string]func(*suite){
		"RT-CB opens after the threshold and probes once":    (*suite).breaker,
		"RT-PARK parks for quota and probes once":            (*suite).park,
		"RT-PARK an operator parks and lifts":                (*suite).operator,
		"RT-COOL cools a deployment for exactly its time":    (*suite).cooldown,
		"RT-FO-10 a credential that is not ours":             (*suite).foreign,
		"RT-CB a late answer decides nothing":                (*suite).late,
		"RT-CB settings switch it off":                       (*suite).off,
		"BY-13 one probe at a time, and all permits back":    (*suite).crowd,
		"BY-13 what no longer exists is dropped":             (*suite).retain,
		"RT-STRAT-LATENCY latency and load are measured":     (*suite).measures,
		"RT-STRAT-RR turns count from 0 and traffic is kept": (*suite).routes,
	} {
		t.Run(name, func(t *testing.T) {
			clock := NewClock()
			b := open(t, state.Options{Settings: state.DefaultSettings(), Now: clock.Now})
			test(&suite{Board: b, t: t, clock: clock})
		})
	}
}

// send dials the provider, which must be let through, and ends like f.
func (s *suite) send(f failure.Failure) {
	s.t.Helper()
	p, blocked, ok := s.Admit(provider, model, true, false)
	isTrue(s.t, ok, "refused: %+v", blocked)
	p.Done(state.Outcome{Failure: f})
}

func (s *suite) refused(want routing.State) state.Blocked {
	s.t.Helper()
	_, blocked, ok := s.Admit(provider, model, true, false)
	isTrue(s.t, !ok, "let through")
	isEqual(s.t, want, blocked.State)
	return blocked
}

func (s *suite) trip() {
	s.t.Helper()
	for range 5 {
		s.send(failure.Failure{Category: failure.ServerError, Status: 500})
	}
}

func (s *suite) breaker() {
	s.trip()
	until := s.clock.Now().Add(30 * time.Second)
	isEqual(s.t, state.Blocked{State: routing.Open, Until: until, Category: failure.ServerError, Status: 500}, s.refused(routing.Open))
	isEqual(s.t, routing.Health{OpenUntil: until}, s.Health(provider))
	_, _, ok := s.Admit(other, model, true, false)
	isTrue(s.t, ok, "another provider is open too")

	s.clock.Advance(30 * time.Second)
	probe, _, ok := s.Admit(provider, model, true, false)
	isTrue(s.t, ok, "refused")
	isTrue(s.t, s.Health(provider).Probing, "not probing")
	s.refused(routing.Open)
	probe.Done(state.Outcome{})
	isZero(s.t, s.Health(provider).OpenUntil)
	s.send(failure.Failure{})
}

func (s *suite) park() {
	s.send(failure.Failure{Category: failure.QuotaExhausted, Status: 402, RetryAfter: time.Hour, HasRetryAfter: true})
	until := s.clock.Now().Add(time.Hour)
	isEqual(s.t, state.Blocked{State: routing.Parked, Until: until, Category: failure.QuotaExhausted, Status: 402}, s.refused(routing.Parked))
	isEqual(s.t, until, s.Health(provider).ParkedUntil)
	s.clock.Advance(time.Hour)
	s.send(failure.Failure{})
	isZero(s.t, s.Health(provider).ParkedUntil)
}

func (s *suite) operator() {
	s.Park(provider, time.Hour, "ann")
	s.refused(routing.Parked)
	isEqual(s.t, "ann", s.Providers()[0].Park.By)
	isTrue(s.t, s.Unpark(provider, "bob"), "nothing to lift")
	isTrue(s.t, !s.Unpark(provider, "bob"), "lifted twice")
	s.send(failure.Failure{})
}

func (s *suite) cooldown() {
	limit := failure.Failure{Category: failure.RateLimit, Status: 429, RetryAfter: 7500 * time.Millisecond, HasRetryAfter: true}
	s.send(limit)
	until := s.clock.Now().Add(limit.RetryAfter)
	isEqual(s.t, until, s.CoolingUntil(provider, model))
	isZero(s.t, s.CoolingUntil(provider, "model-2"))
	isZero(s.t, s.CoolingUntil(other, model))
	s.send(failure.Failure{})
	isEqual(s.t, until, s.CoolingUntil(provider, model))
	s.clock.Advance(limit.RetryAfter)
	isZero(s.t, s.CoolingUntil(provider, model))
}

func (s *suite) foreign() {
	for _, c := range failure.Categories() {
		for range 6 {
			p, _, ok := s.Admit(provider, model, false, false)
			isTrue(s.t, ok, "%s", c)
			p.Done(state.Outcome{Failure: failure.Failure{Category: c, RetryAfter: time.Hour, HasRetryAfter: c == failure.QuotaExhausted}})
		}
	}
	isZero(s.t, s.Health(provider))
	isZero(s.t, s.CoolingUntil(provider, model))
}

func (s *suite) late() {
	early, _, _ := s.Admit(provider, model, true, false)
	s.trip()
	early.Done(state.Outcome{})
	s.refused(routing.Open)
}

func (s *suite) off() {
	s.trip()
	set := state.DefaultSettings()
	set.Breaker = false
	s.Tune(set)
	isZero(s.t, s.Health(provider))
	s.trip()
	s.send(failure.Failure{Category: failure.QuotaExhausted})
	s.send(failure.Failure{Category: failure.RateLimit})
	isZero(s.t, s.Health(provider))
	isTrue(s.t, !s.CoolingUntil(provider, model).IsZero(), "a cooldown is no breaker")
}

// crowd is many requests at once against a provider whose every answer fails:
// nobody may meet another probe.
func (s *suite) crowd() {
	set := state.DefaultSettings()
	set.OpenFor = 0 // the next request probes
	s.Tune(set)
	s.trip()
	var probing, probes, met atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				p, _, ok := s.Admit(provider, model, true, false)
				if !ok {
					continue
				}
				if probing.Add(1) > 1 {
					met.Add(1)
				}
				probes.Add(1)
				probing.Add(-1)
				p.Done(state.Outcome{Failure: failure.Failure{Category: failure.Timeout}})
			}
		})
	}
	wg.Wait()
	isTrue(s.t, met.Load() == 0, "two probes at once")
	isTrue(s.t, probes.Load() > 0, "no probe")
	isZero(s.t, s.Providers()[0].InFlight)
	isZero(s.t, s.Load(provider, model).InFlight)
}

func (s *suite) retain() {
	s.trip()
	s.Retain(map[routing.ProviderID]bool{provider: true})
	s.refused(routing.Open)
	s.Retain(map[routing.ProviderID]bool{other: true})
	isZero(s.t, s.Providers())
	s.send(failure.Failure{})
}

func (s *suite) measures() {
	p, _, _ := s.Admit(provider, model, true, false)
	isEqual(s.t, 1, s.Load(provider, model).InFlight)
	p.Done(state.Outcome{Stream: true, Latency: time.Second})
	p95, n := s.Latency(provider, model, true, time.Minute)
	isTrue(s.t, p95 > 900*time.Millisecond && p95 < 1100*time.Millisecond, "%s", p95)
	isEqual(s.t, 1, n)
	_, n = s.Latency(provider, model, false, time.Minute)
	isZero(s.t, n)
	isEqual(s.t, routing.Load{Latency: time.Second, Success: 1}, s.Load(provider, model))
}

func (s *suite) routes() {
	for want := range uint64(3) {
		isEqual(s.t, want, s.Peek("r"))
		isEqual(s.t, want, s.Turn("r"))
	}
	isZero(s.t, s.Turn("q"))
	first, second := s.Draw(), s.Draw()
	isTrue(s.t, first != second, "two equal numbers")

	s.Note("r", other, true)
	s.Note("r", "", false)
	isEqual(s.t, state.RouteTraffic{Requests: 2, Failovers: 1, Errors: 1, Served: other, ServedAt: s.clock.Now()}, s.Traffic("r"))
	isZero(s.t, s.Traffic("q"))
}
