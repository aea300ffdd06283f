package state

import (
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
)

// health is what keeps requests away from a provider. It has no lock and no
// clock of its own: its provider has both.
type health struct {
	// gen changes whenever the breaker or the park does.
	gen uint64
	// running are the requests that were admitted in this generation. Older
	// ones say nothing of a recovering provider: a stream that hangs since
	// before the trip must not use up its limit.
	running int
	// probing are the requests under way that may find out; asked is when the
	// last of them went, and quit how many ended without an answer since gen.
	probing int
	asked   time.Time
	quit    int

	breaker breaker
	park    park
	ramp    ramp
}

// verdict is what an outcome says about a provider.
type verdict uint8

const (
	// works: it served.
	works verdict = iota
	// fails: it is to blame.
	fails
	// exhausted: it has no quota left.
	exhausted
	// answers: it turned this request down for reasons of its own.
	answers
	// silent: the request was given up.
	silent
)

// judge says what an outcome means for health (RT-CB).
func judge(f failure.Failure) verdict {
	switch f.Category {
	case "":
		return works
	case failure.Connection, failure.Timeout, failure.ServerError, failure.Overloaded:
		return fails
	case failure.RateLimit:
		if limitEnds(f) {
			return answers
		}
		return fails
	case failure.QuotaExhausted:
		return exhausted
	case failure.Canceled:
		return silent
	default:
		return answers
	}
}

// limitEnds tells whether a rate limit has a usable time (RT-FO-6).
func limitEnds(f failure.Failure) bool { return f.HasRetryAfter && f.RetryAfter > 0 }

// calm: nothing keeps requests away.
func (h *health) calm() bool { return !h.breaker.tripped() && !h.park.is() }

// block says what keeps a request with the organisation's credential away;
// without a State nothing does, but a health that is not calm then wants it to
// be the probe.
//
// patience is how long the request will wait; 0 is for as long as it takes.
func (h *health) block(now time.Time, patience, openFor time.Duration) Blocked {
	switch {
	case h.park.until.After(now):
		return h.park.blocked()
	case h.breaker.until.After(now):
		return h.breaker.blocked()
	case h.room(now, patience, openFor):
		return Blocked{}
	case h.breaker.tripped():
		return h.breaker.blocked()
	}
	return h.park.blocked()
}

// Probes are one at a time, unless that one finds nothing out.
const (
	maxProbes = 3
	// probeEvery is how long a probe goes on alone, or OpenFor if that is
	// shorter, but never less than probeLeast.
	probeEvery = 5 * time.Second
	probeLeast = time.Second
)

// room tells whether one more probe may go. A slow one must not keep everybody
// away for as long as it takes, so another may go beside it each period. Nor
// must callers that give up, by taking one turn after the other: each that
// did makes room for one more, and who announces little patience gets its turn
// only when nobody else took one for a period.
func (h *health) room(now time.Time, patience, openFor time.Duration) bool {
	period := max(min(probeEvery, openFor), probeLeast)
	if patience > 0 && patience < probeEvery {
		last := h.asked
		for _, t := range []time.Time{h.breaker.until, h.park.until} {
			if t.After(last) {
				last = t
			}
		}
		return h.probing == 0 && now.Sub(last) >= period
	}
	places := 1 + h.quit
	if now.Sub(h.asked) >= period {
		places = maxProbes
	}
	return h.probing < min(places, maxProbes)
}

// settle counts the outcome of a request of this generation.
func (h *health) settle(probe bool, f failure.Failure, s *Settings, now time.Time) []Event {
	if probe {
		h.probing--
	}
	switch judge(f) {
	case works:
		return h.works(probe, now)
	case fails:
		return h.fails(probe, f, s, now)
	case exhausted:
		return h.exhausted(probe, f, now)
	case answers:
		// A refused key or request proves that the provider answers, which is
		// all that the breaker asks. It says nothing about quota: after a park
		// the next request probes.
		if probe && h.breaker.tripped() {
			return []Event{h.recover(now)}
		}
	case silent: // a cancelled probe gave its turn back
		if probe {
			h.quit++
		}
	}
	return nil
}

// works counts a success. A probe ends everything. A dial that was forced is
// as good a proof for the breaker, whose time is a guess; a park's time is the
// provider's or an operator's word, and stays.
func (h *health) works(probe bool, now time.Time) []Event {
	h.breaker.failures = 0
	if h.calm() {
		h.breaker.cause = cause{}
		h.ramp.success()
		return nil
	}
	var news []Event
	if h.breaker.tripped() {
		news = append(news, h.recover(now))
	}
	if probe && h.park.is() {
		news = append(news, h.park.event(ParkEnded))
		h.park = park{}
		h.next()
		h.ramp.start(now)
	}
	return news
}

// recover closes the breaker.
func (h *health) recover(now time.Time) Event {
	e := h.breaker.event(BreakerClosed)
	h.breaker = breaker{}
	h.next()
	h.ramp.start(now)
	return e
}

// fails counts a failure. Those of forced dials past an open breaker are no
// news, and must not put off the probe.
func (h *health) fails(probe bool, f failure.Failure, s *Settings, now time.Time) []Event {
	was := h.breaker.tripped()
	if was && !probe {
		return nil
	}
	h.breaker.failures++
	h.breaker.cause = cause{f.Category, f.Status}
	if !was && h.breaker.failures < s.Threshold {
		return nil
	}
	h.breaker.open(now, s.OpenFor)
	h.ramp = ramp{}
	h.next()
	if was {
		return nil
	}
	return []Event{h.breaker.event(BreakerOpen)}
}

// exhausted parks the provider until the time that it names, which may be at
// once (RT-PARK).
func (h *health) exhausted(probe bool, f failure.Failure, now time.Time) []Event {
	var news []Event
	if probe && h.breaker.tripped() {
		news = append(news, h.recover(now)) // it answers
	}
	if h.park.until.After(now) {
		return news // a forced dial found what is known
	}
	wait := defaultPark
	if f.HasRetryAfter {
		wait = min(max(f.RetryAfter, 0), MaxPark)
	}
	again := h.park.is()
	started := h.parkFor(wait, cause{f.Category, f.Status}, "", now)
	if again && wait == 0 {
		return news // every request probes: they would all be events
	}
	return append(news, started...)
}

// parkFor parks the provider.
func (h *health) parkFor(wait time.Duration, c cause, by string, now time.Time) []Event {
	h.park = park{since: now, until: now.Add(wait), cause: c, by: by}
	h.ramp = ramp{}
	h.next()
	return []Event{h.park.event(ParkStarted)}
}

// reset forgets everything, and tells whether there was anything.
func (h *health) reset(now time.Time) (news []Event, found bool) {
	found = !h.calm() || h.breaker.failures > 0 || h.ramp.limit(now) > 0
	if h.breaker.tripped() {
		news = append(news, h.breaker.event(BreakerClosed))
	}
	if h.park.is() {
		news = append(news, h.park.event(ParkEnded))
	}
	h.breaker, h.park, h.ramp = breaker{}, park{}, ramp{}
	h.next()
	return news, found
}

// next starts a generation: answers from before it decide nothing.
func (h *health) next() {
	h.gen++
	h.running = 0
	h.probing, h.asked, h.quit = 0, time.Time{}, 0
}

// cause is the failure behind a state; zero if it was an operator.
type cause struct {
	category failure.Category
	status   int
}

// breaker keeps requests away from a provider that fails.
type breaker struct {
	failures int // consecutive
	cause    cause
	since    time.Time
	until    time.Time // of the next probe; zero while closed
}

func (b *breaker) tripped() bool { return !b.until.IsZero() }

// open opens the breaker, or keeps it open: since is when the trouble began.
func (b *breaker) open(now time.Time, d time.Duration) {
	if b.since.IsZero() {
		b.since = now
	}
	b.until = now.Add(max(d, 0))
}

func (b *breaker) blocked() Blocked {
	return Blocked{State: routing.Open, Until: b.until, Category: b.cause.category, Status: b.cause.status}
}

func (b *breaker) event(kind EventKind) Event {
	e := Event{Kind: kind, Category: b.cause.category, Status: b.cause.status}
	if kind == BreakerOpen {
		e.Until = b.until
	}
	return e
}

// park keeps requests away from a provider without quota, or that an operator
// set aside.
type park struct {
	since, until time.Time // zero without a park
	cause        cause
	by           string // the operator
}

func (p *park) is() bool { return !p.until.IsZero() }

func (p *park) blocked() Blocked {
	return Blocked{State: routing.Parked, Until: p.until, Category: p.cause.category, Status: p.cause.status}
}

func (p *park) event(kind EventKind) Event {
	e := Event{Kind: kind, Category: p.cause.category, Status: p.cause.status}
	if kind == ParkStarted {
		e.Until, e.By = p.until, p.by
	}
	return e
}
