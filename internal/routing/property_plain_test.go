package routing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// full writes a plan with all that a client's request depends on.
func full(p *Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", p.Route)
	if p.Refusal != nil {
		fmt.Fprintf(&b, " %d %s", p.Refusal.Status, p.Refusal.Code)
	}
	for _, c := range p.Candidates {
		b.WriteString(candidateText(c.Provider, c.WireModel, c.Credential, c.State, c.Fallback))
	}
	return b.String()
}

func candidateText(id ProviderID, wire string, c Credential, s State, fallback bool) string {
	text := fmt.Sprintf(" %s=%s/%s/%s", id, wire, c, s)
	if fallback {
		text += "/fallback"
	}
	return text
}

// plain decides again in the plainest way that the spec's text allows: it looks
// at all patterns of all routes, and at one rule after the other.
type plain struct {
	c     Config
	in    *Input
	q     *Query
	route *Route
	alias *Alias
	turn  *uint64
}

// plainMember is a member that could serve.
type plainMember struct {
	Member
	place      int
	wire       string
	credential Credential
	fallback   bool
	state      State
	class      int // of health
}

// plainDecision returns what full says.
func plainDecision(c Config, in *Input) string {
	d := &plain{c: c, in: in, q: &in.Query}
	refusal := d.choose()
	if refusal != "" {
		return refusal
	}
	if d.wrongKind() {
		return string(d.route.ID) + ": 400 model_not_supported"
	}
	members, refusal := d.members()
	if len(members) == 0 {
		return string(d.route.ID) + ": " + refusal
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", d.route.ID)
	for _, m := range d.order(members) {
		b.WriteString(candidateText(m.Provider.ID, m.wire, m.credential, m.state, m.fallback))
	}
	return b.String()
}

// choose finds the route, or says what the refusal is (RT-PICK, RT-IMPL).
func (d *plain) choose() string {
	model := d.q.Model
	for _, r := range d.c.Routes {
		for i, a := range r.Aliases {
			if strings.EqualFold(a.Name, model) {
				d.route, d.alias = r, &r.Aliases[i]
				return ""
			}
		}
	}
	if k := d.c.Table.Model("", model).Modality; k != "" && k != "chat" {
		return ": 400 model_not_supported"
	}
	stored, best := mostSpecific(d.c.Routes, model)
	own, bestOwn := mostSpecific(plainOwn(d.c), model)
	family, bestFamily := mostSpecific(plainFamilies(d.c), model)
	won := stored
	if bestOwn > best {
		won = own
	}
	if best < 0 && bestFamily > bestOwn {
		won = family
	}
	if len(won) > 1 {
		won = slices.DeleteFunc(won, func(r *Route) bool {
			f := r.Members[0].Provider.Family
			return f == llm.FamilyNone || f != llm.FamilyOfModel(model)
		})
		if len(won) != 1 {
			return ": 503 UPSTREAM_AMBIGUOUS"
		}
	}
	if len(won) == 0 {
		if d.c.UnknownModelStatus == 404 {
			return ": 404 model_not_found"
		}
		return ": 503 NO_ROUTE"
	}
	d.route = won[0]
	return ""
}

// mostSpecific are the routes whose best pattern is as specific as any.
func mostSpecific(routes []*Route, model string) (won []*Route, best int) {
	best = -1
	for _, r := range routes {
		at := -1
		for _, p := range r.Patterns {
			if p.Match(model) {
				at = max(at, p.Specificity())
			}
		}
		if at > best {
			won, best = nil, at
		}
		if at >= 0 && at == best {
			won = append(won, r)
		}
	}
	return won, best
}

// plainOwn are the own routes of providers that are in no route.
func plainOwn(c Config) []*Route {
	var out []*Route
	for _, p := range c.Providers {
		inRoute := slices.ContainsFunc(c.Routes, func(r *Route) bool {
			return slices.ContainsFunc(r.Members, func(m Member) bool { return m.Provider == p })
		})
		if inRoute {
			continue
		}
		r := &Route{ID: RouteID(p.ID), Members: []Member{{Provider: p, Weight: 1}}, First: p.ID, Strategy: failover{}}
		for _, pat := range p.Patterns {
			text := func(p Pattern) string { return strings.ToLower(strings.ReplaceAll(p.String(), "**", "*")) }
			stored := slices.ContainsFunc(c.Routes, func(r *Route) bool {
				return slices.ContainsFunc(r.Patterns, func(q Pattern) bool { return text(q) == text(pat) })
			})
			if !stored {
				r.Patterns = append(r.Patterns, pat)
			}
		}
		out = append(out, r)
	}
	return out
}

// plainFamilies are the family routes: all providers of a family, by name.
func plainFamilies(c Config) []*Route {
	var out []*Route
	for _, f := range c.Families {
		r := &Route{ID: f.ID, Patterns: f.Patterns, Strategy: failover{}}
		for _, p := range c.Providers {
			if p.FamilyRoute == f.ID {
				r.Members = append(r.Members, Member{Provider: p, Weight: 1})
			}
		}
		slices.SortFunc(r.Members, func(a, b Member) int { return cmp.Compare(a.Provider.ID, b.Provider.ID) })
		if len(r.Members) > 0 {
			r.First = r.Members[0].Provider.ID
			out = append(out, r)
		}
	}
	return out
}

// wire is the model that a member receives; ok is false if an alias has none.
func (d *plain) wire(p *Provider) (string, bool) {
	if d.alias != nil {
		w, ok := d.alias.WireModels[p.ID]
		return w, ok
	}
	for name, w := range p.WireModels {
		if strings.EqualFold(name, d.q.Model) {
			return w, true
		}
	}
	return d.q.Model, true
}

// wrongKind is ER-KIND for the model that the first member with one receives.
func (d *plain) wrongKind() bool {
	for _, m := range d.route.Members {
		if w, ok := d.wire(m.Provider); ok {
			k := d.c.Table.Model(m.Provider.Vendor, w).Modality
			return k != "" && k != "chat"
		}
	}
	return false
}

// members keeps those that can serve (RT-FILTER, RT-GP, RT-OKF), or says what
// the refusal is.
func (d *plain) members() ([]plainMember, string) {
	caller := d.q.Caller
	var passthrough, org int
	for _, m := range d.route.Members {
		if m.Provider.OrgKey {
			org++
		} else {
			passthrough++
		}
	}
	heir := d.heir()
	var out []plainMember
	reasons := map[string]int{}
	for pass := range 2 { // fallbacks only after somebody for the caller's credential
		for i, m := range d.route.Members {
			p := m.Provider
			c, mode := CredentialOwn, p.OrgKey
			switch {
			case !caller.Own && caller.Virtual == p.ID:
				c, mode = CredentialVirtual, true
			case caller.Own && (!p.OrgKey || heir == i || i == 0 && d.mayInherit() && d.lacks(p) == "window"):
				c, mode = CredentialCaller, true
			case caller.Own:
				mode = pass == 1 && d.route.OrgKeyFallback && passthrough > 0 && org > 0 && len(out) > 0 && !out[0].fallback
			}
			fallback := caller.Own && c == CredentialOwn
			if fallback != (pass == 1) {
				continue
			}
			var why string
			switch {
			case !mode:
				why = "mode"
			case c == CredentialOwn && p.NoKey:
				why = "no key"
			default:
				why = d.lacks(p)
			}
			reasons[why]++
			if why == "" {
				wire, _ := d.wire(p)
				o := plainMember{Member: m, place: i, wire: wire, credential: c, fallback: fallback}
				o.state, o.class = d.health(&o)
				out = append(out, o)
			}
		}
	}
	n := len(d.route.Members)
	switch {
	case reasons["mode"] == n:
		return out, "503 NO_ROUTE"
	case reasons["mode"]+reasons["no key"] == n:
		return out, "503 NO_UPSTREAM_KEY"
	case reasons["window"] > 0:
		return out, "400 context_length_exceeded"
	}
	return out, "503 no_eligible_provider"
}

// lacks says what keeps a provider from serving, whatever the credential.
func (d *plain) lacks(p *Provider) string {
	home := llm.FamilyNone
	for _, m := range d.route.Members {
		if home == llm.FamilyNone {
			home = m.Provider.Family
		}
	}
	wire, named := d.wire(p)
	foreign := home != llm.FamilyNone && p.Family != llm.FamilyNone && p.Family != home
	_, mapped := p.WireModels[strings.ToLower(d.q.Model)]
	demands := []DataHandling{d.c.Data}
	c := d.q.Caller.Ceilings
	if c != nil {
		demands = append(demands, c.Data)
	}
	switch {
	case p.Format != d.q.Endpoint.Format, !named, p.Drained:
		return "other"
	case foreign && !(d.route.CrossProvider && p.OrgKey && (mapped || d.alias != nil)):
		return "other"
	case c != nil && len(c.Providers) > 0 && !slices.Contains(c.Providers, p.ID):
		return "other"
	case c != nil && len(c.Residencies) > 0 && !slices.Contains(c.Residencies, p.Residency):
		return "other"
	}
	for _, want := range demands {
		if want.ZeroDataRetention && !p.Data.ZeroDataRetention || want.NoPromptTraining && !p.Data.NoPromptTraining ||
			want.Jurisdiction != "" && !strings.EqualFold(want.Jurisdiction, p.Data.Jurisdiction) {
			return "other"
		}
	}
	if d.q.Endpoint == countTokens || d.q.Tokens == 0 {
		return ""
	}
	window, ok := p.Windows[strings.ToLower(wire)]
	if !ok {
		window, ok = p.Windows[strings.ToLower(d.q.Model)]
	}
	if !ok {
		window = d.c.Table.Model(p.Vendor, wire).Window
	}
	if window > 0 && 10*d.q.Tokens > 11*window {
		return "window"
	}
	return ""
}

// mayInherit tells whether the first member has the role if nothing keeps it
// from serving and the strategy starts on it.
func (d *plain) mayInherit() bool {
	if !d.q.Caller.Own || !d.c.GlobalPassthrough || d.q.Endpoint == chat || len(d.route.Members) == 0 {
		return false
	}
	first := d.route.Members[0]
	return first.Provider.ID == d.route.First && first.Provider.OrgKey && !first.Provider.NoPassthrough && !first.FallbackOnly
}

// heir is the place of the member that inherits the caller's credential, or -1
// (RT-GP).
func (d *plain) heir() int {
	if !d.mayInherit() {
		return -1
	}
	var all []plainMember
	for i, m := range d.route.Members {
		if d.lacks(m.Provider) == "" && !m.FallbackOnly {
			wire, _ := d.wire(m.Provider)
			all = append(all, plainMember{Member: m, place: i, wire: wire})
		}
	}
	low := math.MaxInt
	for _, m := range all {
		low = min(low, m.Priority)
	}
	all = slices.DeleteFunc(all, func(m plainMember) bool { return m.Priority > low })
	if len(all) == 0 || all[0].place != 0 || d.start(all) != 0 {
		return -1
	}
	return 0
}

// health is the state of a member and its class (RT-ORDER, RT-FO-10).
func (d *plain) health(m *plainMember) (State, int) {
	if d.in.View == nil {
		return Healthy, 0
	}
	id, now := m.Provider.ID, d.in.Facts.Now
	h := d.in.View.Health(id)
	ours := m.credential == CredentialOwn
	switch {
	case ours && h.ParkedUntil.After(now):
		return Parked, 3
	case h.OpenUntil.After(now), ours && h.Probing:
		return Open, 3
	case ours && d.in.View.CoolingUntil(id, m.wire).After(now):
		return Cooling, 2
	case ours && h.Limit > 0 && h.Running >= h.Limit:
		return Recovering, 1
	}
	return Healthy, 0
}

// order is RT-ORDER, with the strategy's start in front.
func (d *plain) order(members []plainMember) []plainMember {
	slices.SortStableFunc(members, func(a, b plainMember) int {
		return cmp.Or(cmpBool(a.fallback, b.fallback), cmp.Compare(a.class, b.class), cmp.Compare(a.Priority, b.Priority),
			cmpBool(a.FallbackOnly, b.FallbackOnly), cmp.Compare(a.place, b.place))
	})
	first := members[0]
	if first.fallback || first.FallbackOnly {
		return members
	}
	n := 0
	for n < len(members) && !members[n].fallback && !members[n].FallbackOnly && members[n].class == first.class && members[n].Priority == first.Priority {
		n++
	}
	if first.place == 0 && first.credential == CredentialCaller && first.Provider.OrgKey {
		return members // it inherits because the strategy starts on it
	}
	at := d.start(members[:n])
	start := members[at]
	return slices.Insert(slices.Delete(members, at, at+1), 0, start)
}
