package routing

import (
	"cmp"
	"slices"
	"time"
)

// order makes candidates of the options: those that take the caller's
// credential before those that serve as its fallback, then the healthier ones,
// then by priority, fallback-only ones last, then the one that the strategy
// starts on, then in member order.
func (d *decision) order() {
	if d.in.Query.Endpoint.OneModel {
		d.oneModel()
	}
	slices.SortStableFunc(d.options, func(a, b Option) int {
		return cmp.Or(cmpBool(a.Fallback, b.Fallback), cmp.Compare(a.State.class(), b.State.class()),
			cmp.Compare(a.Priority, b.Priority), cmpBool(a.FallbackOnly, b.FallbackOnly))
	})
	for i := range d.options {
		if o := &d.options[i]; o.State != Healthy {
			d.p.step(StageState, string(o.State), string(o.Provider.ID), o.stateDetail(d.in.Facts.Now))
		}
	}
	front := d.front()
	if len(front) > 0 {
		start, why := d.start(front)
		d.p.step(StageStrategy, d.route.Strategy.ID(), string(front[start].Provider.ID), why)
		d.p.KeepStart = d.in.Query.Session != "" && d.route.Strategy.Affinity() == AffinityRemembered
		first := front[start]
		first.why = why
		copy(front[1:start+1], front[:start])
		front[0] = first
	}
	for i := range d.options {
		d.candidate(&d.options[i])
	}
}

// oneModel leaves the options that get the same model as the first. Neither
// their state nor the strategy has a say in who that is: what a route answers
// with must not change from one request to the next.
func (d *decision) oneModel() {
	first := slices.MinFunc(d.options, func(a, b Option) int {
		return cmp.Or(cmpBool(a.Fallback, b.Fallback), cmp.Compare(a.Priority, b.Priority), cmpBool(a.FallbackOnly, b.FallbackOnly))
	}).WireModel
	d.options = slices.DeleteFunc(d.options, func(o Option) bool {
		other := o.WireModel != first
		if other {
			d.out(codeSameModel, o.Provider, o.WireModel+", and what "+first+" makes can't be mixed with it")
		}
		return other
	})
}

// front are the options that the strategy chooses among: the best group, if it
// is not one of fallbacks.
func (d *decision) front() []Option {
	best := &d.options[0]
	if best.Fallback || best.FallbackOnly {
		return nil
	}
	n := 1
	for n < len(d.options) {
		o := &d.options[n]
		if o.Fallback || o.FallbackOnly || o.Priority != best.Priority || o.State.class() != best.State.class() {
			break
		}
		n++
	}
	return d.options[:n]
}

// start picks one of the options: the one that the session keeps, or the one
// that the strategy says.
func (d *decision) start(options []Option) (int, string) {
	s := d.route.Strategy
	if d.heir != "" && options[0].Index == 0 && options[0].Credential == CredentialCaller {
		return 0, d.heir // it has the role because the strategy starts on it
	}
	if session := d.in.Query.Session; session != "" {
		if i, why, ok := keep(s.Affinity(), options, session, d.in.Facts.Pins[d.route.ID]); ok {
			return i, why
		}
	}
	return s.Start(options, &d.choice)
}

func (d *decision) candidate(o *Option) {
	why := o.why
	switch {
	case why != "":
	case o.State != Healthy:
		why = string(o.State)
	case o.Fallback:
		why = "org-key fallback"
	case o.FallbackOnly:
		why = "fallback only"
	default:
		why = "next in order"
	}
	v := o.Provider
	d.p.Candidates = append(d.p.Candidates, Candidate{
		Route: d.route.ID, Provider: v.ID, WireModel: o.WireModel, Residency: v.Residency,
		Credential: o.Credential, Fallback: o.Fallback, State: o.State, Until: o.Until,
		Strategy: d.route.Strategy.ID(), Why: why,
	})
}

// cmpBool puts false before true.
func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// stateDetail says when a state ends, or what ends it.
func (o *Option) stateDetail(now time.Time) string {
	switch {
	case o.State == Recovering:
		return "it has all the requests that it may have for now"
	case o.Until.IsZero():
		return "for now"
	case !o.Until.After(now):
		return "a probe is under way"
	}
	return "until " + o.Until.UTC().Format(time.RFC3339)
}
