package snapshot

import (
	"slices"

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
	})
	for _, conflict := range routing.Conflicts(c.config.Routes) { // RT-PAT-1
		doc := docs[conflict.B]
		r, ok := doc.Object.(*resource.Route)
		if !ok {
			continue
		}
		c.report(doc, resource.Problem{
			Code: "conflict", Message: conflict.Error(),
			Path: resource.IndexPath("modelPatterns", slices.Index(r.ModelPatterns, conflict.PatternB.String())),
			Refs: []resource.Ref{{Kind: "Route", Name: string(conflict.A)}},
		})
	}
}

// route compiles one route; nil when a problem keeps it from being one.
func (c *compiler) route(r *resource.Route) *routing.Route {
	out := &routing.Route{ID: routing.RouteID(r.Name)}
	ok := true
	for _, text := range r.ModelPatterns {
		p, err := routing.ParsePattern(text)
		if err != nil {
			ok = false // Check reported it
			continue
		}
		out.Patterns = append(out.Patterns, p)
	}
	for _, m := range r.Members {
		if p := c.providers[m.Provider]; p != nil { // a disabled provider serves nothing
			out.Members = append(out.Members, routing.Member{Provider: p, FallbackOnly: m.FallbackOnly})
		}
	}
	id := ""
	if r.Strategy != nil {
		id = r.Strategy.Type
	}
	kind, known := routing.StrategyByID(id)
	if !known { // one that is not built, with a warning; Check reported any other
		kind, _ = routing.StrategyByID("")
	}
	out.Strategy = kind.New()
	if !ok {
		return nil
	}
	return out
}
