package routing

import (
	"strings"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// Decide says where one request goes and why. Same snapshot, same input: same
// plan.
func Decide(s *Snapshot, in *Input) *Plan { return new(Decider).Decide(s, in) }

// Decider makes decisions in memory of its own, one after another. The zero
// value is ready; it is for one goroutine at a time.
type Decider struct {
	run  decision
	plan Plan
}

// Decide is the function Decide. The plan is the decider's: it holds until the
// next decision, or Reset.
func (w *Decider) Decide(s *Snapshot, in *Input) *Plan {
	w.plan = Plan{}
	w.run = decision{s: s, in: in, p: &w.plan, lower: strings.ToLower(in.Query.Model), view: in.View}
	w.run.decide()
	return &w.plan
}

// Reset lets go of what the last decision read and made.
func (w *Decider) Reset() { *w = Decider{} }

// decide makes the plan.
func (d *decision) decide() {
	s, in, p, q := d.s, d.in, d.p, &d.in.Query
	p.Revision, p.Model, p.NoRetry = s.Revision, q.Model, q.NoFallback
	p.Failover = q.Endpoint.Failover && !q.NoFallback && !q.Tied
	p.Steps = p.stepBuf[:0]
	p.Candidates = p.candidateBuf[:0]
	d.choice = Choice{Query: q, Now: in.Facts.Now, View: in.View, Models: &d.models, dice: in.Dice}
	d.models.table = s.table
	if d.view == nil {
		d.view, d.choice.View = calm{}, calm{}
	}
	if in.Dice == nil {
		d.choice.dice = calm{}
	}
	a := s.aliases[d.lower]
	if a.alias == nil && d.wrongKind("", q.Model) || !d.pick(a) {
		return
	}
	p.Route, p.Alias, p.orgKeyFallback = d.route.ID, d.alias != nil, d.route.OrgKeyFallback
	if d.wrongWireKind() {
		return
	}
	d.choice.Route, d.home = d.route, d.route.HomeFamily()
	d.options = d.optionBuf[:0]
	d.collect()
	if len(d.options) == 0 {
		p.refuse(d.noMember())
		return
	}
	d.order()
}

// decision carries one run of Decide.
type decision struct {
	s     *Snapshot
	in    *Input
	p     *Plan
	lower string // the model in lower case
	view  View
	route *Route
	alias *Alias // the model is an alias of the route
	home  llm.Family

	models    modelMemo // the snapshot's table
	choice    Choice
	options   []Option
	optionBuf [8]Option
	window    int    // the largest one that is too small
	lost      string // why the prompt is too long for the member that would be the heir
	heir      string // why the first member takes the caller's credential in place of its key; empty if it does not
}

// modelMemo remembers what the table of models said: the members of a route mostly
// receive the same model, and each is asked about more than once.
type modelMemo struct {
	table   ModelTable
	n       int
	answers [2]struct {
		vendor, name string
		info         ModelInfo
	}
}

// Model implements ModelTable.
func (a *modelMemo) Model(vendor, name string) ModelInfo {
	for i := range min(a.n, len(a.answers)) {
		if k := &a.answers[i]; k.name == name && k.vendor == vendor {
			return k.info
		}
	}
	k := &a.answers[a.n%len(a.answers)]
	k.vendor, k.name, k.info = vendor, name, a.table.Model(vendor, name)
	a.n++
	return k.info
}

// pick chooses the route: an alias before any pattern; then the most specific
// pattern wins. It refuses if there is none.
func (d *decision) pick(a aliased) bool {
	if a.alias != nil {
		d.route, d.alias = a.route, a.alias
		d.p.step(StageRoute, codePickedByAlias, string(a.route.ID), a.alias.Name)
		return true
	}
	h := d.s.find(d.lower)
	switch len(h.routes) {
	case 0:
		d.p.refuse(d.s.noRoute(d.p.Model))
		return false
	case 1:
		r := d.s.routes[h.routes[0]]
		d.found(r, pickedCode(r))
		return true
	}
	if r := d.s.byFamily(h.routes, d.p.Model); r != nil {
		d.found(r, codePickedByFamily)
		return true
	}
	d.p.refuse(d.s.tie(d.p.Model, h.routes))
	return false
}

func (d *decision) found(r *Route, code string) {
	d.route = r
	d.p.step(StageRoute, code, string(r.ID), r.bestPattern(d.lower))
}

func pickedCode(r *Route) string {
	switch {
	case r.Family:
		return codePickedFamily
	case r.Implicit:
		return codePickedImplicit
	}
	return codePicked
}

// find looks a lower-case model up among all patterns. At equal specificity a
// stored route beats a provider's own. A family route serves only what no
// stored route does, and loses ties.
func (s *Snapshot) find(m string) hit {
	h := s.stored.find(m)
	own := s.implicit.find(m)
	if h.specificity < 0 {
		if fam := s.family.find(m); fam.specificity > own.specificity {
			return fam
		}
	}
	if own.specificity > h.specificity {
		return own
	}
	return h
}

// byFamily resolves a tie of providers' own routes: if exactly one has the
// family of the model, it wins.
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

// wrongKind refuses a model that the endpoint has no use for (ER-KIND). What is
// not known to be of another kind passes.
func (d *decision) wrongKind(vendor, model string) bool {
	kind := d.models.Model(vendor, model).Modality
	if kind == "" || kind == d.in.Query.Endpoint.Modality() {
		return false
	}
	d.p.refuse(wrongKind(d.p.Model, kind, d.in.Query.Endpoint))
	return true
}

// wrongWireKind judges the model that the first member with one receives: the
// name may stand for another, and the vendor may have one of its own.
func (d *decision) wrongWireKind() bool {
	for i := range d.route.Members {
		v := d.route.Members[i].Provider
		if w, ok := d.wireModel(v); ok {
			return d.wrongKind(v.Vendor, w)
		}
	}
	return false
}

// wireModel is the name that a provider gets: the alias's, the provider's own
// for the client's name, or that name. ok is false for an alias that has none.
func (d *decision) wireModel(v *Provider) (name string, ok bool) {
	if d.alias != nil {
		name, ok = d.alias.WireModels[v.ID]
		return name, ok
	}
	if name, ok = v.WireModels[d.lower]; ok {
		return name, true
	}
	return d.p.Model, true
}

func familyOf(model string) llm.Family { return llm.FamilyOfModel(model) }
