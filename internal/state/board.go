package state

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
)

// Board is the state of all providers and routes. It is safe for use by many
// goroutines.
type Board struct {
	now      func() time.Time
	onEvent  func(Event)
	epoch    time.Time // minutes and hours count from here, by the monotonic clock
	settings atomic.Pointer[Settings]
	keep     atomic.Int64 // minutes of latency that are kept

	providers table[*provider]
	routes    table[*route]
}

// Board is the read side that decisions use.
var (
	_ routing.View = (*Board)(nil)
	_ routing.Dice = (*Board)(nil)
)

// NewBoard makes a Board that has seen nothing.
func NewBoard(o Options) *Board {
	b := &Board{now: o.Now, onEvent: o.OnEvent}
	if b.now == nil {
		b.now = time.Now
	}
	b.epoch = b.now()
	b.keep.Store(reportMinutes)
	b.settings.Store(&o.Settings)
	return b
}

// Settings are those in force.
func (b *Board) Settings() Settings { return *b.settings.Load() }

// Tune takes new settings at a reload. Times that run keep their end, except
// that nothing stays open or parked when breakers are switched off, and
// nothing cools for longer than the new bound.
func (b *Board) Tune(s Settings) {
	b.settings.Store(&s)
	if s.Breaker {
		return
	}
	// Cleared, not hidden: switching on again must not bring back old news.
	now, all := b.now(), b.providers.all()
	for _, id := range slices.Sorted(maps.Keys(all)) { // events in an order that repeats
		v := all[id]
		v.mu.Lock()
		news, _ := v.health.reset(now)
		v.mu.Unlock()
		b.tell(v, news)
	}
}

// Retain drops the state of providers that no longer exist: those that are not
// in ids, or false in it. Permits of theirs may still be given back.
func (b *Board) Retain(ids map[routing.ProviderID]bool) {
	gone := b.providers.drop(func(id string, _ *provider) bool { return !ids[routing.ProviderID(id)] })
	for _, v := range gone {
		v.gone.Store(true)
	}
}

// Park keeps requests away from a provider for a time, at most MaxPark, on
// behalf of whoever by names. It replaces a park that is there. It does nothing
// for a time of 0 or less, and while Settings.Breaker is off.
func (b *Board) Park(id routing.ProviderID, wait time.Duration, by string) {
	if wait <= 0 || !b.settings.Load().Breaker {
		return
	}
	now := b.now()
	v := b.provider(id)
	v.mu.Lock()
	var news []Event
	if b.settings.Load().Breaker { // again: Tune may have cleared it meanwhile
		news = v.health.parkFor(min(wait, MaxPark), cause{}, by, now)
	}
	v.mu.Unlock()
	b.tell(v, news)
}

// Unpark forgets what keeps requests away from a provider: its park, its
// breaker with all failures counted, its recovery and the cooldowns of its
// deployments. It tells whether there was anything.
func (b *Board) Unpark(id routing.ProviderID, by string) bool {
	v, ok := b.providers.get(string(id))
	if !ok {
		return false
	}
	now := b.now()
	v.mu.Lock()
	news, found := v.health.reset(now)
	v.mu.Unlock()
	for i := range news {
		news[i].By = by
	}
	for _, d := range v.tracked() {
		if cooling := d.cooling.Swap(nil); cooling != nil && cooling.until.After(now) {
			found = true
		}
	}
	b.tell(v, news)
	return found
}

// Health tells about the breaker, the park and the recovery of a provider.
func (b *Board) Health(id routing.ProviderID) routing.Health {
	v, ok := b.providers.get(string(id))
	if !ok {
		return routing.Health{}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	h := &v.health
	out := routing.Health{OpenUntil: h.breaker.until, ParkedUntil: h.park.until}
	out.Probing = h.probing > 0 && !h.room(b.now(), 0, b.settings.Load().OpenFor)
	if h.ramp.on() {
		if out.Limit = h.ramp.limit(b.now()); out.Limit > 0 {
			out.Running = h.running
		}
	}
	return out
}

// CoolingUntil is when the rate limit of a deployment ends; zero if it has
// none or it is over.
func (b *Board) CoolingUntil(id routing.ProviderID, wireModel string) time.Time {
	if d := b.deployment(id, wireModel); d != nil {
		if c := d.cooling.Load(); c != nil {
			if until := c.end(b.settings.Load().MaxCooldown); until.After(b.now()) {
				return until
			}
		}
	}
	return time.Time{}
}

// Latency is the 95th percentile of a deployment's successes in a window that
// ends now, within 10 %, and their number: for streams the time to first
// content, else to the end. A window is taken in whole minutes, 1 to 1440,
// beside the one that runs. Asking for a longer one than ever before makes the
// Board keep more from then on.
func (b *Board) Latency(id routing.ProviderID, wireModel string, stream bool, window time.Duration) (p95 time.Duration, n int) {
	minutes := min(max(int64((window+time.Minute-1)/time.Minute), 1), maxMinutes)
	for kept := b.keep.Load(); minutes > kept; kept = b.keep.Load() {
		b.keep.CompareAndSwap(kept, minutes)
	}
	d := b.deployment(id, wireModel)
	if d == nil {
		return 0, 0
	}
	at := b.minute(b.now())
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.latency[index(stream)]; s != nil {
		return s.p95(at, minutes)
	}
	return 0, 0
}

// Load is what a deployment is doing.
func (b *Board) Load(id routing.ProviderID, wireModel string) routing.Load {
	d := b.deployment(id, wireModel)
	if d == nil {
		return routing.Load{}
	}
	now := b.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	latency, success := d.average.at(now)
	return routing.Load{InFlight: int(d.inFlight.Load()), Latency: latency, Success: success}
}

// provider is the state of a provider, which is new if it was never seen.
func (b *Board) provider(id routing.ProviderID) *provider {
	if v, ok := b.providers.get(string(id)); ok {
		return v
	}
	id = routing.ProviderID(strings.Clone(string(id)))
	return b.providers.add(string(id), &provider{id: id, board: b})
}

// deployment is the state of a deployment, or nil if it was never seen.
func (b *Board) deployment(id routing.ProviderID, wireModel string) *deployment {
	v, ok := b.providers.get(string(id))
	if !ok {
		return nil
	}
	return v.find(wireModel)
}

// minute numbers the minutes since the Board was made, from 0.
func (b *Board) minute(now time.Time) int64 { return max(int64(now.Sub(b.epoch)/time.Minute), 0) }

// tell reports what happened to a provider.
func (b *Board) tell(v *provider, news []Event) {
	if b.onEvent == nil || len(news) == 0 || v.gone.Load() {
		return
	}
	now := b.now()
	for _, e := range news {
		e.Provider, e.Time = v.id, now
		b.onEvent(e)
	}
}

// EventKind says what happened to a provider.
type EventKind = string

// The kinds of events.
const (
	// BreakerOpen: a breaker that was closed opened. A failed probe keeps it
	// open, which is no event.
	BreakerOpen EventKind = "breaker_open"
	// BreakerClosed: a provider answers again, or was reset.
	BreakerClosed EventKind = "breaker_closed"
	// ParkStarted: a provider was parked, or parked again with a new end.
	ParkStarted EventKind = "park"
	// ParkEnded: the probe after a park succeeded, or the park was lifted.
	ParkEnded EventKind = "unpark"
)

// Event is a change of a provider's health.
type Event struct {
	Kind     EventKind          `json:"kind"`
	Provider routing.ProviderID `json:"provider"`
	// Until is when the next request may probe, for what opened or parked.
	Until time.Time `json:"until,omitzero"`
	// Category and Status are of the failure behind it; empty and 0 if it was
	// an operator.
	Category failure.Category `json:"category,omitempty"`
	Status   int              `json:"status,omitempty"`
	// By is the operator; empty if it was traffic or a setting.
	By   string    `json:"by,omitempty"`
	Time time.Time `json:"time"`
}
