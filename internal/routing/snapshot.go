package routing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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

// Build compiles a configuration. The routes must be free of Conflicts, and
// their aliases unique and no exact pattern of another route.
func Build(c Config) *Snapshot {
	s := &Snapshot{
		Revision: c.Revision, unknownModelStatus: c.UnknownModelStatus, globalPassthrough: c.GlobalPassthrough,
		data: c.Data, table: c.Table, aliases: map[string]aliased{},
	}
	if s.unknownModelStatus == 0 {
		s.unknownModelStatus = 503
	}
	if s.table == nil {
		s.table = noModels{}
	}
	s.providers = slices.Clone(c.Providers)
	slices.SortFunc(s.providers, func(a, b *Provider) int { return cmp.Compare(a.ID, b.ID) })
	s.routes = slices.Clone(c.Routes)
	slices.SortFunc(s.routes, func(a, b *Route) int { return cmp.Compare(a.ID, b.ID) })
	s.index(&s.stored, 0)
	own := len(s.routes)
	s.routes = append(s.routes, ownRoutes(s.providers, s.routes)...)
	s.index(&s.implicit, own)
	families := len(s.routes)
	s.routes = append(s.routes, familyRoutes(s.providers, c.Families)...)
	s.index(&s.family, families)
	for _, r := range s.routes {
		s.needsPins = s.needsPins || r.Strategy.Affinity() == AffinityRemembered
		for i := range r.Aliases {
			s.aliases[strings.ToLower(r.Aliases[i].Name)] = aliased{r, &r.Aliases[i]}
		}
	}
	s.models = s.knownNames(c.Models)
	return s
}

// index enters the patterns of the routes from one on.
func (s *Snapshot) index(x *index, from int) {
	for i := from; i < len(s.routes); i++ {
		for _, p := range s.routes[i].Patterns {
			x.add(p, int32(i))
		}
	}
}

// ownRoutes makes the implicit route of each provider that no route uses.
// Patterns that a stored route has are left to that route.
func ownRoutes(providers []*Provider, stored []*Route) []*Route {
	used := map[ProviderID]bool{}
	taken := map[Pattern]bool{}
	for _, r := range stored {
		for _, m := range r.Members {
			used[m.Provider.ID] = true
		}
		for _, p := range r.Patterns {
			taken[p.key()] = true
		}
	}
	var out []*Route
	for _, p := range providers {
		if used[p.ID] {
			continue
		}
		r := implicitRoute(RouteID(p.ID), p)
		for _, pat := range p.Patterns {
			if !taken[pat.key()] {
				r.Patterns = append(r.Patterns, pat)
			}
		}
		if len(r.Patterns) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// familyRoutes makes the family routes that have a member. providers are
// sorted by name.
func familyRoutes(providers []*Provider, families []FamilyRoute) []*Route {
	var out []*Route
	for _, f := range families {
		r := implicitRoute(f.ID)
		r.Family, r.Patterns = true, f.Patterns
		for _, p := range providers {
			if p.FamilyRoute == f.ID {
				r.Members = append(r.Members, Member{Provider: p, Weight: 1})
			}
		}
		if len(r.Members) > 0 {
			r.First = r.Members[0].Provider.ID
			out = append(out, r)
		}
	}
	return out
}

func implicitRoute(id RouteID, members ...*Provider) *Route {
	r := &Route{ID: id, Strategy: failover{}, Implicit: true}
	for _, p := range members {
		r.Members = append(r.Members, Member{Provider: p, Weight: 1})
		r.First = members[0].ID
	}
	return r
}

// Routes lists all routes: stored ones, the providers' own, the families'.
// Read only.
func (s *Snapshot) Routes() []*Route { return s.routes }

// Route finds a route by name; nil if there is none.
func (s *Snapshot) Route(id RouteID) *Route {
	for _, r := range s.routes {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// Providers lists all providers by name. Read only.
func (s *Snapshot) Providers() []*Provider { return s.providers }

// NeedsPins tells whether decisions read what sessions have pinned.
func (s *Snapshot) NeedsPins() bool { return s.needsPins }

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
		for _, a := range r.Aliases {
			names = append(names, a.Name)
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
