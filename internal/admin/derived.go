package admin

import (
	"net/http"
	"slices"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/store"
)

// The tags of routes. Package control tags what is stored.
const (
	tagStored   = "stored"
	tagImplicit = "implicit"
	tagReserved = "reserved"
)

// ownerNone is who manages what is derived.
const ownerNone store.Owner = "interlock"

// reservedRoutes are the names that nobody else may take.
func reservedRoutes() []string { return []string{"anthropic-family", "openai-family"} }

// derivedRoutes are the routes that nobody has written: the implicit ones of
// the running configuration, those of the families among them, and the reserved
// names that have no route now.
func (s *server) derivedRoutes() []*control.Object {
	var out []*control.Object
	made := map[string]bool{}
	if live := s.live(); live != nil {
		for _, r := range live.Routing.Routes() {
			if r.Implicit {
				made[string(r.ID)] = true
				out = append(out, implicitRoute(r))
			}
		}
	}
	for _, name := range reservedRoutes() {
		if made[name] {
			continue
		}
		out = append(out, derivedRoute(&resource.Route{
			Meta: resource.Meta{Name: name}, Description: "This name is reserved for a route that Interlock makes.",
			ModelPatterns: []string{}, Members: []resource.Member{},
		}, tagReserved))
	}
	return out
}

func implicitRoute(r *routing.Route) *control.Object {
	out := &resource.Route{
		Meta: resource.Meta{Name: string(r.ID)}, Description: "The provider's own route: no route uses the provider.",
		ModelPatterns: make([]string, len(r.Patterns)), Members: make([]resource.Member, len(r.Members)),
		Strategy: &resource.Strategy{Type: r.Strategy.ID()},
	}
	if r.Family {
		out.Description = "The route of a family: it serves the models of the family that no other route does."
	}
	for i, p := range r.Patterns {
		out.ModelPatterns[i] = p.String()
	}
	o := derivedRoute(out, tagImplicit)
	o.Modes = map[string]string{}
	for i, m := range r.Members {
		id := string(m.Provider.ID)
		out.Members[i] = resource.Member{Provider: id, FallbackOnly: m.FallbackOnly}
		o.Modes[id] = credentialMode(m.Provider)
	}
	return o
}

func derivedRoute(r *resource.Route, tag string) *control.Object {
	r.Kind = "Route"
	return &control.Object{Object: r, Owner: ownerNone, Extra: map[string]any{"tag": tag}}
}

// derived is the derived object with a name; nil if there is none.
func (s *server) derived(r Resource, name string) *control.Object {
	if r.Kind != "Route" {
		return nil
	}
	for _, o := range s.derivedRoutes() {
		if o.Head().Name == name {
			return o
		}
	}
	return nil
}

// readOnly refuses to change what is derived.
func readOnly(o *control.Object) *Problem {
	name := o.Head().Name
	if slices.Contains(reservedRoutes(), name) {
		return fault(http.StatusConflict, "read_only", "the name %q is reserved for a route that Interlock makes, which can't be changed", name)
	}
	p := fault(http.StatusConflict, "read_only", "Route %q comes from the provider %q, which no route uses; change the provider, or make a route with another name that uses it", name, name)
	p.Refs = []resource.Ref{{Kind: "Provider", Name: name}}
	return p
}
