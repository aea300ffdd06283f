package state

import (
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
)

// Blocked says what keeps requests away from a provider: the state, when the
// next request may probe, and the failure that opened or parked it. Until is
// past while a probe is under way. An operator's park has no Category.
type Blocked struct {
	State    routing.State
	Until    time.Time
	Category failure.Category
	Status   int
}

// Permit is the leave to dial a provider once. It is a value; the zero one is
// none, and giving it back does nothing.
type Permit struct {
	provider   *provider
	deployment *deployment
	gen        uint64
	counts     bool
	probe      bool
}

// Outcome is how one attempt ended.
type Outcome struct {
	// Failure with an empty Category is a success.
	Failure failure.Failure
	Stream  bool
	// Latency of a success: to first content for streams, else to the end; 0
	// is not measured.
	Latency time.Duration
}

// Admit asks to dial a deployment. It refuses (ok is false) while the provider
// is open or parked, or while a probe that follows is under way, and blocked
// says which. With force it allows the dial all the same: a route
// never fails without trying; blocked then says what was in the way.
//
// With counts false the credential is not the organisation's (RT-FO-10): the
// attempt touches no breaker, park or cooldown and is no probe. It is refused
// while the breaker is open but not for a park, which is about another
// credential. It counts for load and latency.
//
// A recovering provider refuses nothing: its limit is for the order of
// candidates.
func (b *Board) Admit(id routing.ProviderID, wireModel string, counts, force bool) (p Permit, blocked Blocked, ok bool) {
	return b.AdmitFor(id, wireModel, counts, force, 0)
}

// AdmitFor is Admit for a request that waits for content for no longer than
// patience; 0 is for as long as it takes. One that will soon give up makes a
// poor probe: see room.
func (b *Board) AdmitFor(id routing.ProviderID, wireModel string, counts, force bool, patience time.Duration) (p Permit, blocked Blocked, ok bool) {
	v := b.provider(id)
	v.mu.Lock()
	defer v.mu.Unlock()
	h := &v.health
	probe := false
	if !h.calm() {
		now := b.now()
		if counts {
			blocked = h.block(now, patience, b.settings.Load().OpenFor)
		} else if h.breaker.until.After(now) {
			blocked = h.breaker.blocked()
		}
		if blocked.State != "" && !force {
			return Permit{}, blocked, false
		}
		probe = counts && blocked.State == ""
		if probe {
			h.probing++
			h.asked = now
		}
	}
	d := v.take(wireModel)
	v.inFlight++
	h.running++
	return Permit{provider: v, deployment: d, gen: h.gen, counts: counts, probe: probe}, blocked, true
}

// Answered says that the provider sent content, for streams that go on: a
// probe has then found out, long before it is Done. Of other permits it means
// nothing. It may be called any number of times before Done.
func (p Permit) Answered() {
	if !p.probe {
		return
	}
	v := p.provider
	now := v.board.now()
	var news []Event
	v.mu.Lock()
	if p.gen == v.health.gen {
		news = v.health.works(true, now)
	}
	v.mu.Unlock()
	v.board.tell(v, news)
}

// Done gives the permit back, exactly once, with what came of it. What was
// admitted before the provider's health last changed decides nothing about it,
// but a rate limit is a rate limit.
func (p Permit) Done(o Outcome) {
	v := p.provider
	if v == nil {
		return
	}
	b := v.board
	now, s := b.now(), b.settings.Load()
	blamed := p.blames(o.Failure.Category)
	// On the place that made-up models share it would cool all the others there.
	if p.counts && o.Failure.Category == failure.RateLimit && !p.deployment.shared {
		p.deployment.cool(o.Failure, s.MaxCooldown, now)
	}
	p.deployment.done(&o, blamed, b, now)

	var news []Event
	v.mu.Lock()
	v.inFlight--
	v.recent.count(b.minute(now), blamed)
	if h := &v.health; p.gen == h.gen {
		h.running--
		// Settings are read under the lock, so that nothing opens after Tune
		// switched breakers off.
		if s := b.settings.Load(); p.counts && s.Breaker {
			news = h.settle(p.probe, o.Failure, s, now)
		}
	}
	v.mu.Unlock()
	b.tell(v, news)
}

// blames tells whether a failure is the provider's, its network's or, with the
// organisation's credential, that credential's: what operators call an error.
func (p Permit) blames(c failure.Category) bool {
	switch c {
	case failure.Connection, failure.Timeout, failure.ServerError, failure.Overloaded:
		return true
	case failure.RateLimit, failure.QuotaExhausted, failure.Auth, failure.ModelUnavailable:
		return p.counts
	default:
		return false
	}
}
