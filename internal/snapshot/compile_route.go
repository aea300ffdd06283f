package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
)

func (c *compiler) compileRoutes() {
	docs := map[routing.RouteID]resource.Document{}
	each(c, func(doc resource.Document, r *resource.Route) {
		rr := c.route(r)
		if rr == nil || !r.IsEnabled() {
			return
		}
		docs[rr.ID] = doc
		c.config.Routes = append(c.config.Routes, rr)
		c.warnRoute(doc, r, rr)
	})
	for _, x := range routing.Conflicts(c.config.Routes) { // RT-PAT-1
		c.conflict(docs, x)
	}
	c.aliases(docs)
}

// conflict reports two patterns that overlap, at the route that is being
// written.
func (c *compiler) conflict(docs map[routing.RouteID]resource.Document, x routing.PatternConflict) {
	if c.written(docs[x.A]) && !c.written(docs[x.B]) {
		x.A, x.B, x.PatternA, x.PatternB = x.B, x.A, x.PatternB, x.PatternA
	}
	doc := docs[x.B]
	r, ok := doc.Object.(*resource.Route)
	if !ok {
		return
	}
	c.report(doc, resource.Problem{
		Code: "conflict", Message: x.Error(),
		Path: resource.IndexPath("modelPatterns", slices.Index(r.ModelPatterns, x.PatternB.String())),
		Refs: []resource.Ref{{Kind: "Route", Name: string(x.A)}},
	})
}

// claim is a name that a route answers to.
type claim struct {
	route      routing.RouteID
	what, path string
}

// aliases checks that an alias of an enabled route is no alias and no exact
// pattern of another one (RT-ALIAS).
func (c *compiler) aliases(docs map[routing.RouteID]resource.Document) {
	exact, alias := map[string]claim{}, map[string]claim{}
	for _, r := range c.config.Routes {
		for i, p := range r.Patterns {
			if p.IsExact() {
				exact[strings.ToLower(p.String())] = claim{r.ID, "the model pattern", resource.IndexPath("modelPatterns", i)}
			}
		}
	}
	for _, r := range c.config.Routes {
		for i, a := range r.Aliases {
			name := strings.ToLower(a.Name)
			mine := claim{r.ID, "the alias", resource.JoinPath(resource.IndexPath("aliases", i), "name")}
			other, taken := alias[name]
			if !taken {
				other, taken = exact[name]
				alias[name] = mine
			}
			if taken && other.route != r.ID { // Check reported repeats inside a route
				c.claimed(docs, a.Name, other, mine)
			}
		}
	}
}

// claimed reports a name that two routes answer to, at the route that is being
// written.
func (c *compiler) claimed(docs map[routing.RouteID]resource.Document, name string, other, mine claim) {
	if c.written(docs[other.route]) && !c.written(docs[mine.route]) {
		other, mine = mine, other
	}
	c.report(docs[mine.route], resource.Problem{
		Code: "conflict", Path: mine.path, Refs: []resource.Ref{{Kind: "Route", Name: string(other.route)}},
		Message: fmt.Sprintf("%s %q of route %q is %s of route %q as well; rename or remove one of them", mine.what, name, mine.route, other.what, other.route),
	})
}

// route compiles one route; nil when a problem keeps it from being one.
func (c *compiler) route(r *resource.Route) *routing.Route {
	out := &routing.Route{ID: routing.RouteID(r.Name), OrgKeyFallback: r.OrgKeyFallbackForCallerCredential, CrossProvider: r.AllowCrossProvider}
	for _, text := range r.ModelPatterns {
		p, err := routing.ParsePattern(text)
		if err != nil {
			return nil // Check reported it
		}
		out.Patterns = append(out.Patterns, p)
	}
	if len(r.Members) > 0 {
		out.First = routing.ProviderID(r.Members[0].Provider)
	}
	for _, m := range r.Members {
		if p := c.providers[m.Provider]; p != nil {
			out.Members = append(out.Members, routing.Member{Provider: p, Weight: weight(m), Priority: m.Priority, FallbackOnly: m.FallbackOnly})
		} else if c.disabled(m.Provider) {
			out.Disabled = append(out.Disabled, routing.ProviderID(m.Provider))
		}
	}
	for _, a := range r.Aliases {
		wires := make(map[routing.ProviderID]string, len(a.WireModels))
		for provider, wire := range a.WireModels {
			wires[routing.ProviderID(provider)] = wire
		}
		out.Aliases = append(out.Aliases, routing.Alias{Name: a.Name, WireModels: wires})
	}
	out.Strategy = strategy(r.Strategy)
	return out
}

// disabled tells whether there is a provider that serves nothing.
func (c *compiler) disabled(provider string) bool {
	p, ok := lookUp[*resource.Provider](c, "Provider", provider)
	return ok && !p.IsEnabled()
}

// weight of a member; the default is 1.
func weight(m resource.Member) int {
	if m.Weight == nil {
		return 1
	}
	return *m.Weight
}

func strategy(s *resource.Strategy) routing.Strategy {
	o := routing.DefaultStrategyOptions()
	if s == nil {
		s = &resource.Strategy{}
	}
	if s.WindowMinutes != nil {
		o.Window = time.Duration(*s.WindowMinutes) * time.Minute
	}
	if s.MinRequests != nil {
		o.MinRequests = *s.MinRequests
	}
	if s.ExplorationShare != nil {
		o.Exploration = *s.ExplorationShare
	}
	kind, known := routing.StrategyByID(s.Type)
	if !known { // Check reported it
		kind, _ = routing.StrategyByID("")
	}
	return kind.New(o)
}

// warnRoute warns of what is saved and excluded at run time, and of what does
// nothing.
func (c *compiler) warnRoute(doc resource.Document, r *resource.Route, rr *routing.Route) {
	home := rr.HomeFamily()
	for i, m := range r.Members {
		at := resource.JoinPath(resource.IndexPath("members", i), "provider")
		p := c.providers[m.Provider]
		if p == nil {
			if c.disabled(m.Provider) {
				c.warn(doc, "member_excluded", at, "the provider %q is disabled, so it serves nothing here; enable it or remove the member", m.Provider)
			}
			continue
		}
		if p.Family != llm.FamilyNone && home != llm.FamilyNone && p.Family != home && !r.AllowCrossProvider {
			c.warn(doc, "member_excluded", at, "the provider %q is of the family %s and the route of %s, so it serves nothing here; switch allowCrossProvider on, or remove the member", m.Provider, p.Family, home)
		}
		for j, a := range rr.Aliases {
			if _, ok := a.WireModels[p.ID]; !ok {
				c.warn(doc, "member_excluded", resource.JoinPath(resource.IndexPath("aliases", j), "wireModels"),
					"the member %q has no wire model for the alias %q, so it does not serve it", m.Provider, a.Name)
			}
		}
	}
	c.warnAliases(doc, rr)
	if rr.OrgKeyFallback && !rr.Mixed() {
		c.warn(doc, "no_effect", "orgKeyFallbackForCallerCredentials", "it does nothing here: it needs a member with a key of the organisation and one without")
	}
	if len(r.Members) == 0 {
		c.warn(doc, "no_member", "members", "the route has no member, so what it matches is refused")
	}
}

// warnAliases warns of patterns that an alias of the same route hides.
func (c *compiler) warnAliases(doc resource.Document, rr *routing.Route) {
	for j, a := range rr.Aliases {
		if i := slices.IndexFunc(rr.Patterns, func(p routing.Pattern) bool { return p.IsExact() && strings.EqualFold(p.String(), a.Name) }); i >= 0 {
			c.warn(doc, "no_effect", resource.IndexPath("modelPatterns", i),
				"it does nothing here: the alias %q of this route has the same name and comes first; rename the alias, or remove one of them (%s)", a.Name, resource.IndexPath("aliases", j))
		}
	}
}
