package state

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
)

// deployment is the state of one provider and wire model.
type deployment struct {
	wireModel string
	shared    bool // by all that found no place of their own
	inFlight  atomic.Int64
	cooling   atomic.Pointer[cooldown] // nil: none

	mu      sync.Mutex // guards what follows
	average average
	latency [2]*series // of whole answers and of streams; nil until measured
	served  time.Time  // the last success
}

// index is where the latency of streams, or of whole answers, is.
func index(stream bool) int {
	if stream {
		return 1
	}
	return 0
}

// done counts one request that ended.
func (d *deployment) done(o *Outcome, blamed bool, b *Board, now time.Time) {
	d.inFlight.Add(-1)
	ok := o.Failure.Category == ""
	if !ok && !blamed {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.average.add(ok, o.Latency, now)
	if !ok {
		return
	}
	d.served = now
	if o.Latency <= 0 {
		return
	}
	s := d.latency[index(o.Stream)]
	if s == nil {
		s = &series{}
		d.latency[index(o.Stream)] = s
	}
	s.record(b.minute(now), b.keep.Load(), o.Latency)
}

// worthless tells whether nothing is lost when the deployment is forgotten:
// it idles, does not cool, and never served or not for long. So names that
// clients make up don't take the places of models that exist.
func (d *deployment) worthless(now time.Time) bool {
	if d.inFlight.Load() > 0 {
		return false
	}
	if c := d.cooling.Load(); c != nil && c.until.After(now) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.served.IsZero() || now.Sub(d.served) > forgetAfter
}

// cooldown is the time that a rate limit lasts (RT-COOL).
type cooldown struct{ since, until time.Time }

// end is the end of a cooldown under the bound that is in force now.
func (c *cooldown) end(bound time.Duration) time.Time {
	if limit := c.since.Add(bound); c.until.After(limit) {
		return limit
	}
	return c.until
}

// cool starts the cooldown that a rate limit asks for: exactly as long as the
// provider says, up to a bound, or a short time if it does not say. One that ends later stays: a provider has
// limits per minute and per day.
func (d *deployment) cool(f failure.Failure, bound time.Duration, now time.Time) {
	wait := defaultCooldown
	if limitEnds(f) {
		wait = min(f.RetryAfter, bound)
	}
	next := &cooldown{since: now, until: now.Add(wait)}
	if !next.until.After(now) {
		return
	}
	for {
		have := d.cooling.Load()
		if have != nil && !have.until.Before(next.until) || d.cooling.CompareAndSwap(have, next) {
			return
		}
	}
}

// Moving averages: one sample weighs averageWeight, more when the last one is
// long ago.
const (
	averageWeight = 0.1
	averageTime   = time.Minute
)

// average are moving averages of latency and success.
type average struct {
	latency float64 // nanoseconds; 0 is unknown
	failing float64 // 0 to 1
	known   bool
	last    time.Time
}

func (a *average) add(ok bool, latency time.Duration, now time.Time) {
	old := a.faded(now)
	sample := 0.0
	if !ok {
		sample = 1
	}
	a.failing = old*a.failing*(1-averageWeight) + averageWeight*sample
	switch {
	case !ok || latency <= 0:
	case a.latency == 0:
		a.latency = float64(latency)
	default:
		w := max(averageWeight, 1-old)
		a.latency += w * (float64(latency) - a.latency)
	}
	a.known, a.last = true, now
}

// at is the averages as of now. Failures fade: a deployment that gets no
// traffic because it failed must get its chance again.
func (a *average) at(now time.Time) (latency time.Duration, success float64) {
	if !a.known {
		return 0, 0
	}
	return time.Duration(a.latency), 1 - a.failing*a.faded(now)
}

// faded is what is left of old samples, from 1 to 0.
func (a *average) faded(now time.Time) float64 {
	gap := now.Sub(a.last)
	if gap <= 0 || !a.known {
		return 1
	}
	return math.Exp(-float64(gap) / float64(averageTime))
}
