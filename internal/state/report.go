package state

import (
	"cmp"
	"slices"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
)

// ProviderState is what a health page shows of a provider: a copy.
type ProviderState struct {
	Provider routing.ProviderID `json:"provider"`
	Breaker  BreakerState       `json:"breaker"`
	// Park is nil without one. One whose Until is past waits for its probe.
	Park *ParkState `json:"park,omitempty"`
	// Cooldowns are those that run, by wire model.
	Cooldowns []CooldownState `json:"cooldowns"`
	// Probing: a request that finds out after an open breaker or a park is under
	// way.
	Probing bool `json:"probing"`
	// InFlight is the number of running requests.
	InFlight int `json:"inFlight"`
	// Recovering: it came back a moment ago and should have no more than Limit
	// requests at once. Limit is 0 otherwise.
	Recovering bool `json:"recovering"`
	Limit      int  `json:"limit,omitempty"`
	// Requests are the attempts that ended in the last 15 minutes. Errors are
	// those of them that the provider, its network or the organisation's
	// credential is to blame for.
	Requests int `json:"requests"`
	Errors   int `json:"errors"`
	// P50Ms and P95Ms are percentiles of the time to first content of streams
	// in the last 15 minutes, in milliseconds, within 10 %; 0 without any.
	P50Ms float64 `json:"p50Ms"`
	P95Ms float64 `json:"p95Ms"`
	// WholeP50Ms and WholeP95Ms are the same of whole answers, to their end.
	WholeP50Ms float64 `json:"wholeP50Ms"`
	WholeP95Ms float64 `json:"wholeP95Ms"`
}

// The states of a breaker. The values are public.
const (
	BreakerIsClosed   = "closed"
	BreakerIsOpen     = "open" // with a past Until the next request probes
	BreakerIsHalfOpen = "half_open"
)

// BreakerState is the breaker of a provider.
type BreakerState struct {
	// State is closed, open, or half_open while a probe is under way.
	State string `json:"state"`
	// Failures is the number of consecutive ones that count.
	Failures int `json:"failures"`
	// Since is when it opened, and Until when the next probe may go; zero while
	// closed.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Category and Status are of the last failure that counted.
	Category failure.Category `json:"category,omitempty"`
	Status   int              `json:"status,omitempty"`
}

// ParkState is the park of a provider.
type ParkState struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Category and Status are of the failure behind it, By the operator.
	Category failure.Category `json:"category,omitempty"`
	Status   int              `json:"status,omitempty"`
	By       string           `json:"by,omitempty"`
}

// CooldownState is the cooldown of a deployment.
type CooldownState struct {
	WireModel string    `json:"wireModel"`
	Since     time.Time `json:"since"`
	Until     time.Time `json:"until"`
}

// Providers are the states of all providers that had a request or a park,
// sorted by name.
func (b *Board) Providers() []ProviderState {
	all := b.providers.all()
	out := make([]ProviderState, 0, len(all))
	for _, v := range all {
		out = append(out, v.report())
	}
	slices.SortFunc(out, func(x, y ProviderState) int { return cmp.Compare(x.Provider, y.Provider) })
	return out
}

// Provider is the state of one provider, also if it had no request.
func (b *Board) Provider(id routing.ProviderID) ProviderState {
	if v, ok := b.providers.get(string(id)); ok {
		return v.report()
	}
	return ProviderState{Provider: id, Breaker: BreakerState{State: BreakerIsClosed}, Cooldowns: []CooldownState{}}
}

func (v *provider) report() ProviderState {
	now := v.board.now()
	minute := v.board.minute(now)
	out := v.reportHealth(now, minute)
	bound := v.board.settings.Load().MaxCooldown
	var latency [2]histogram
	for _, d := range v.tracked() {
		if c := d.cooling.Load(); c != nil {
			if until := c.end(bound); until.After(now) {
				out.Cooldowns = append(out.Cooldowns, CooldownState{d.wireModel, c.since, until})
			}
		}
		d.mu.Lock()
		for i, s := range d.latency {
			if s != nil {
				s.addTo(&latency[i], minute, reportMinutes)
			}
		}
		d.mu.Unlock()
	}
	slices.SortFunc(out.Cooldowns, func(x, y CooldownState) int { return cmp.Compare(x.WireModel, y.WireModel) })
	streams, whole := &latency[index(true)], &latency[index(false)]
	out.P50Ms, out.P95Ms = millis(streams.quantile(0.5)), millis(streams.quantile(0.95))
	out.WholeP50Ms, out.WholeP95Ms = millis(whole.quantile(0.5)), millis(whole.quantile(0.95))
	return out
}

// reportHealth is the part of a report that the provider's lock guards.
func (v *provider) reportHealth(now time.Time, minute int64) ProviderState {
	v.mu.Lock()
	defer v.mu.Unlock()
	h := &v.health
	out := ProviderState{Provider: v.id, Cooldowns: []CooldownState{}, Probing: h.probing > 0, InFlight: v.inFlight}
	out.Breaker = BreakerState{
		State: BreakerIsClosed, Failures: h.breaker.failures, Since: h.breaker.since, Until: h.breaker.until,
		Category: h.breaker.cause.category, Status: h.breaker.cause.status,
	}
	switch {
	case h.breaker.tripped() && h.probing > 0:
		out.Breaker.State = BreakerIsHalfOpen
	case h.breaker.tripped():
		out.Breaker.State = BreakerIsOpen
	}
	if p := &h.park; p.is() {
		out.Park = &ParkState{Since: p.since, Until: p.until, Category: p.cause.category, Status: p.cause.status, By: p.by}
	}
	out.Limit = h.ramp.limit(now)
	out.Recovering = out.Limit > 0
	out.Requests, out.Errors = v.recent.sum(minute)
	return out
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
