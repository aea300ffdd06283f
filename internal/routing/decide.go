package routing

import "strings"

// Decide says where one request goes and why. Same snapshot, same input: same
// plan.
func Decide(s *Snapshot, in *Input) *Plan {
	p := &Plan{Revision: s.Revision, Model: in.Query.Model, Failover: in.Query.Endpoint.Failover}
	p.Steps = p.stepBuf[:0]
	p.Candidates = p.candidateBuf[:0]

	route := s.pick(p, in.Query.Model)
	if route == nil {
		return p
	}
	p.Route = route.ID
	var kept [8]Member
	members := p.filter(kept[:0], route, in)
	if len(members) == 0 {
		p.refuse(s.noMember(p, route))
		return p
	}
	p.order(members, route, in)
	return p
}

// pick chooses the route: the most specific pattern wins, and at equal
// specificity a stored route beats an implicit one.
func (s *Snapshot) pick(p *Plan, model string) *Route {
	m := strings.ToLower(model)
	h := s.find(m)
	switch len(h.routes) {
	case 0:
		p.refuse(s.noRoute(model))
		return nil
	case 1:
		r := s.routes[h.routes[0]]
		code := "picked"
		if r.Implicit {
			code = "picked-implicit"
		}
		p.step(StageRoute, code, string(r.ID), r.bestPattern(m))
		return r
	}
	if r := s.byFamily(h.routes, model); r != nil {
		p.step(StageRoute, "picked-by-family", string(r.ID), r.bestPattern(m))
		return r
	}
	p.refuse(s.tie(model, h.routes))
	return nil
}

// find looks a lower-case model up among all patterns.
func (s *Snapshot) find(m string) hit {
	h := s.stored.find(m)
	if imp := s.implicit.find(m); imp.specificity > h.specificity {
		return imp
	}
	return h
}

// byFamily resolves a tie of implicit routes: if exactly one has the family
// of the model, it wins.
func (s *Snapshot) byFamily(tied []int32, model string) *Route {
	var won *Route
	for _, i := range tied {
		r := s.routes[i]
		if !r.Implicit {
			continue // stored routes are free of conflicts
		}
		if f := r.Members[0].Provider.Family; f != "" && f == familyOf(model) {
			if won != nil {
				return nil
			}
			won = r
		}
	}
	return won
}

// bestPattern is the text of the route's most specific pattern for a model.
func (r *Route) bestPattern(lower string) string {
	best, text := -1, ""
	for i := range r.Patterns {
		if q := &r.Patterns[i]; q.Specificity() > best && q.matchLower(lower) {
			best, text = q.Specificity(), q.text
		}
	}
	return text
}

// filter keeps the members that can serve the request and notes why each of
// the others cannot.
func (p *Plan) filter(kept []Member, r *Route, in *Input) []Member {
	for _, m := range r.Members {
		switch v := m.Provider; {
		case !v.OrgKey:
			p.step(StageMember, "credential-mode", string(v.ID), "it has no key of the organisation")
		case v.NoKey:
			p.step(StageMember, "no-key", string(v.ID), "the organisation's key can't be read")
		case v.Format != in.Query.Endpoint.Format:
			p.step(StageMember, "wire-format", string(v.ID), string(v.Format))
		case v.Drained:
			p.step(StageMember, "drained", string(v.ID), "it takes no new requests")
		default:
			kept = append(kept, m)
		}
	}
	return kept
}

// order puts the member that the strategy starts on first, the others after
// it in member order, and fallback-only ones last.
func (p *Plan) order(members []Member, r *Route, in *Input) {
	var buf [8]Member
	front := buf[:0]
	for _, m := range members {
		if !m.FallbackOnly {
			front = append(front, m)
		}
	}
	start := -1
	if len(front) > 0 {
		var why string
		start, why = r.Strategy.Start(front, r, in)
		p.step(StageStrategy, r.Strategy.ID(), string(front[start].Provider.ID), why)
		p.candidate(r, front[start], in, why)
	}
	for i, m := range front {
		if i != start {
			p.candidate(r, m, in, "next in order")
		}
	}
	for _, m := range members {
		if m.FallbackOnly {
			p.candidate(r, m, in, "fallback only")
		}
	}
}

func (p *Plan) candidate(r *Route, m Member, in *Input, why string) {
	v := m.Provider
	wire := in.Query.Model
	if w, ok := v.WireModels[strings.ToLower(wire)]; ok {
		wire = w
	}
	p.Candidates = append(p.Candidates, Candidate{
		Route: r.ID, Provider: v.ID, WireModel: wire, Residency: v.Residency,
		Strategy: r.Strategy.ID(), Why: why,
	})
}
