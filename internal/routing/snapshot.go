package routing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// ProviderID identifies a provider across snapshots: its name.
type ProviderID string

// RouteID identifies a route across snapshots: its name.
type RouteID string

// Provider is what the decision needs to know of a provider.
type Provider struct {
	ID     ProviderID
	Family llm.Family
	// Format is the wire format that the provider speaks.
	Format llm.Format
	// OrgKey: it dials with a credential of the organisation (or needs
	// none). Otherwise only a caller's own credential could be used.
	OrgKey bool
	// NoKey: the organisation's key can't be read now.
	NoKey     bool
	Drained   bool
	Residency string
	// Patterns are served by the provider's own implicit route while the
	// provider is in no route.
	Patterns []Pattern
	// WireModels maps a client's model name, in lower case, to the name sent
	// to the provider.
	WireModels map[string]string
	// Names are model names that lists may show, as they were written.
	Names []string
}

// Member is a provider inside a route.
type Member struct {
	Provider     *Provider
	FallbackOnly bool
}

// Route is a model route: stored by an administrator, or implicit.
type Route struct {
	ID       RouteID
	Patterns []Pattern
	// Members are in try order.
	Members  []Member
	Strategy Strategy
	// Implicit marks a provider's own route.
	Implicit bool
}

// Config is the input of Build: enabled objects only.
type Config struct {
	Revision  uint64
	Providers []*Provider
	Routes    []*Route
	// Models are further exact names that model lists may show when a route
	// serves them.
	Models []string
	// UnknownModelStatus is the HTTP status of a model that no route serves:
	// 503, or 404.
	UnknownModelStatus int
}

// Snapshot is one compiled routing configuration. It is immutable.
type Snapshot struct {
	Revision           uint64
	unknownModelStatus int
	providers          []*Provider
	routes             []*Route // stored first, then implicit
	stored, implicit   index
	models             []string
}

// PatternConflict says that two routes claim the same models.
type PatternConflict struct {
	A, B               RouteID
	PatternA, PatternB Pattern
}

func (c PatternConflict) Error() string {
	return fmt.Sprintf("pattern %q of route %q and pattern %q of route %q match the same models and neither is more specific; change one of them",
		c.PatternA, c.A, c.PatternB, c.B)
}

// Conflicts lists every pair of patterns of different routes that overlap at
// equal specificity, in the order of the routes.
func Conflicts(routes []*Route) []PatternConflict {
	type entry struct {
		route int
		p     Pattern
	}
	bySpecificity := map[int][]entry{}
	var out []PatternConflict
	for i, r := range routes {
		for _, p := range r.Patterns {
			s := p.Specificity()
			for _, e := range bySpecificity[s] {
				if e.route != i && e.p.Overlaps(p) {
					out = append(out, PatternConflict{routes[e.route].ID, r.ID, e.p, p})
				}
			}
			bySpecificity[s] = append(bySpecificity[s], entry{i, p})
		}
	}
	return out
}

// Build compiles a configuration. The routes must be free of Conflicts.
func Build(c Config) *Snapshot {
	s := &Snapshot{Revision: c.Revision, unknownModelStatus: c.UnknownModelStatus}
	if s.unknownModelStatus == 0 {
		s.unknownModelStatus = 503
	}
	s.providers = slices.Clone(c.Providers)
	slices.SortFunc(s.providers, func(a, b *Provider) int { return cmp.Compare(a.ID, b.ID) })
	s.routes = slices.Clone(c.Routes)
	slices.SortFunc(s.routes, func(a, b *Route) int { return cmp.Compare(a.ID, b.ID) })
	for i, r := range s.routes {
		for _, p := range r.Patterns {
			s.stored.add(p, int32(i))
		}
	}
	for _, r := range ownRoutes(s.providers, s.routes) {
		s.routes = append(s.routes, r)
		for _, p := range r.Patterns {
			s.implicit.add(p, int32(len(s.routes)-1))
		}
	}
	s.models = s.knownNames(c.Models)
	return s
}

// ownRoutes makes the implicit route of each provider that no route uses.
// Patterns that a stored route has are left to that route.
func ownRoutes(providers []*Provider, stored []*Route) []*Route {
	used := map[ProviderID]bool{}
	for _, r := range stored {
		for _, m := range r.Members {
			used[m.Provider.ID] = true
		}
	}
	var out []*Route
	for _, p := range providers {
		if used[p.ID] {
			continue
		}
		r := &Route{ID: RouteID(p.ID), Members: []Member{{Provider: p}}, Strategy: failover{}, Implicit: true}
		for _, pat := range p.Patterns {
			if !slices.ContainsFunc(stored, func(s *Route) bool { return slices.ContainsFunc(s.Patterns, pat.Equal) }) {
				r.Patterns = append(r.Patterns, pat)
			}
		}
		if len(r.Patterns) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// Routes lists all routes, stored ones first. Read only.
func (s *Snapshot) Routes() []*Route { return s.routes }

// Providers lists all providers by name. Read only.
func (s *Snapshot) Providers() []*Provider { return s.providers }

// knownNames are the exact model names that could be listed, sorted, each
// once regardless of case.
func (s *Snapshot) knownNames(more []string) []string {
	var names []string
	for _, r := range s.routes {
		for _, p := range r.Patterns {
			if p.IsExact() {
				names = append(names, p.text)
			}
		}
	}
	for _, p := range s.providers {
		names = append(names, p.Names...)
	}
	names = append(names, more...)
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(a, b))
	})
	return slices.CompactFunc(names, func(a, b string) bool {
		return strings.ToLower(a) == strings.ToLower(b) //nolint:staticcheck // models match in lower case; EqualFold would fold more
	})
}
