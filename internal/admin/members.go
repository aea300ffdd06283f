package admin

import (
	"slices"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/state"
)

// States of members besides those of package routing.
const (
	stateDrained  = "drained"
	stateDisabled = "disabled"
	stateNoKey    = "no_key"
)

// memberStates are all states of a member, from the best to the worst.
func memberStates() []any {
	return []any{string(routing.Healthy), string(routing.Recovering), string(routing.Cooling), string(routing.Open), string(routing.Parked), stateNoKey, stateDrained, stateDisabled}
}

// Health is how a member of a route is, and why. It is exported because huma
// looks only into exported fields.
type Health struct {
	// State is healthy; recovering, it failed and gets its traffic back, or its
	// next request finds out; cooling, a rate limit of a model that the route
	// serves; circuit_open; parked; no_key, the organisation's key can't be read;
	// drained, it takes no new requests; or disabled.
	State string `json:"state"`
	// Healthy: it gets requests as usual.
	Healthy bool `json:"healthy"`
	// Cause is the category of the failure behind the state, or operator.
	Cause string `json:"cause,omitempty"`
	// Status is of that failure.
	Status int `json:"status,omitempty"`
	// By is the operator.
	By string `json:"by,omitempty"`
	// Since is when the state began, and Until when it ends or the next request
	// may probe; absent where that is not known.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Message says of no_key what can't be read.
	Message string `json:"message,omitempty"`
	// Replica is the process that says so: each learns from its own traffic.
	Replica string `json:"replica"`
}

// causeOperator is the cause of what no failure brought about.
const causeOperator = "operator"

// healthOf says how a provider is as a member of a route. live is false for one
// that no configuration in use has.
func (s *server) healthOf(route *routing.Route, v *routing.Provider) Health {
	h := Health{State: stateDisabled, Replica: s.replica()}
	switch {
	case v == nil:
		return h
	case v.Drained:
		h.State, h.Cause = stateDrained, causeOperator
		return h
	case v.NoKey:
		h.State, h.Message = stateNoKey, noKey(s.live(), v)
		return h
	}
	now := s.now()
	p := s.opt.Board.Provider(v.ID)
	switch {
	case p.Park != nil && (p.Park.Until.After(now) || p.Probing):
		h.parked(routing.Parked, p.Park)
	case p.Breaker.State != state.BreakerIsClosed && (p.Breaker.Until.After(now) || p.Probing):
		h.tripped(routing.Open, &p.Breaker)
	case h.cools(route, v, p.Cooldowns):
	case p.Park != nil:
		h.parked(routing.Recovering, p.Park)
	case p.Breaker.State != state.BreakerIsClosed:
		h.tripped(routing.Recovering, &p.Breaker)
	case p.Recovering:
		h.State = string(routing.Recovering)
	default:
		h.State, h.Healthy = string(routing.Healthy), true
	}
	return h
}

// noKey says why a provider gets no requests whose key can't be read; empty for
// any other.
func noKey(live *snapshot.Live, v *routing.Provider) string {
	if !v.NoKey {
		return ""
	}
	if live != nil {
		for _, w := range live.Warnings {
			if w.Object.Kind == "Provider" && w.Object.Name == string(v.ID) && w.Code == resource.CodeSecret {
				return w.Message
			}
		}
	}
	return "its key can't be read, so requests are not sent to it"
}

func (h *Health) parked(as routing.State, p *state.ParkState) {
	h.State, h.Cause, h.Status, h.By, h.Since, h.Until = string(as), string(p.Category), p.Status, p.By, p.Since.UTC(), p.Until.UTC()
	if p.Category == "" {
		h.Cause = causeOperator
	}
}

func (h *Health) tripped(as routing.State, b *state.BreakerState) {
	h.State, h.Cause, h.Status, h.Since, h.Until = string(as), string(b.Category), b.Status, b.Since.UTC(), b.Until.UTC()
}

// cools looks for a cooldown of a model that the route serves; of several it
// shows the one that ends last.
func (h *Health) cools(route *routing.Route, v *routing.Provider, all []state.CooldownState) bool {
	for _, c := range all {
		if serves(route, v, c.WireModel) && c.Until.After(h.Until) {
			h.State, h.Cause, h.Since, h.Until = string(routing.Cooling), string(failure.RateLimit), c.Since.UTC(), c.Until.UTC()
		}
	}
	return h.State == string(routing.Cooling)
}

// serves tells whether a route can send a provider requests for a wire model. A
// nil route is any.
func serves(route *routing.Route, v *routing.Provider, wire string) bool {
	if route == nil || wire == "*" {
		return true
	}
	matches := func(model string) bool {
		return slices.ContainsFunc(route.Patterns, func(p routing.Pattern) bool { return p.Match(model) })
	}
	for _, a := range route.Aliases {
		if a.WireModels[v.ID] == wire {
			return true
		}
	}
	for name, own := range v.WireModels {
		if own == wire && matches(name) {
			return true
		}
	}
	_, renamed := v.WireModels[strings.ToLower(wire)]
	return !renamed && matches(wire)
}

// credentialMode is RS-PROV-2 of a provider in use.
func credentialMode(v *routing.Provider) string {
	if v.OrgKey {
		return "org-key"
	}
	return "passthrough"
}

// providerIn finds a provider of a configuration; nil if it has none, or not in
// use.
func providerIn(live *snapshot.Live, name string) *routing.Provider {
	if live == nil {
		return nil
	}
	for _, v := range live.Routing.Providers() {
		if string(v.ID) == name {
			return v
		}
	}
	return nil
}

// withStates shows how the members of a route are now.
func (s *server) withStates(o *control.Object) *control.Object {
	r, ok := o.Object.(*resource.Route)
	live := s.live()
	if !ok || live == nil {
		return o
	}
	route := live.Routing.Route(routing.RouteID(r.Name))
	o.States = make(map[string]control.MemberState, len(r.Members))
	for _, m := range r.Members {
		h := s.healthOf(route, providerIn(live, m.Provider))
		o.States[m.Provider] = control.MemberState{State: h.State, Until: h.Until}
	}
	return o
}

func (s *server) replica() string {
	if s.opt.Replica == "" {
		return "local"
	}
	return s.opt.Replica
}
