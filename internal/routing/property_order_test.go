package routing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// RT-ORDER: tiers never mix, health classes are in order inside a tier, then
// priority, then fallback-only last; but for the start, which is one of the
// first group, the rest is in member order.
func TestDecide_RT_ORDER_tiers_then_health_then_priority_then_members(t *testing.T) {
	met := tally{}
	check(t, 4, func(t *rapid.T, c Config, q *question) {
		s := Build(c)
		p := Decide(s, q.ask())
		r := routeOf(s, p)
		type place struct{ rank, member int }
		places := make([]place, 0, len(p.Candidates))
		for _, cand := range p.Candidates {
			m := memberOf(r, cand.Provider)
			rank := 0
			for _, v := range []int{number(cand.Fallback), cand.State.class(), m.Priority, number(m.FallbackOnly)} {
				rank = 10*rank + v
			}
			places = append(places, place{rank, slices.IndexFunc(r.Members, func(o Member) bool { return o.Provider.ID == cand.Provider })})
			met[fmt.Sprintf("fallback %v, %s, priority %d, fallback only %v", cand.Fallback, cand.State, m.Priority, m.FallbackOnly)]++
		}
		if !slices.IsSortedFunc(places, func(a, b place) int { return cmp.Compare(a.rank, b.rank) }) {
			t.Fatalf("%s: %v is out of order\n%s", q, places, p.Explain())
		}
		if len(places) > 0 && !slices.IsSortedFunc(places[1:], func(a, b place) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.member, b.member)) }) {
			t.Fatalf("%s: %v is not in member order behind the start\n%s", q, places, p.Explain())
		}
	})
	met.expect(t,
		"fallback false, healthy, priority 0, fallback only false", "fallback false, healthy, priority 0, fallback only true", "fallback false, healthy, priority 1, fallback only false",
		"fallback false, recovering, priority 0, fallback only false", "fallback false, cooling, priority 0, fallback only false",
		"fallback false, circuit_open, priority 0, fallback only false", "fallback false, parked, priority 0, fallback only false",
		"fallback true, healthy, priority 0, fallback only false", "fallback true, healthy, priority 0, fallback only true")
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A weight of 0 is never first while another member could be, under the
// strategies that use weights.
func TestDecide_RT_STRAT_WEIGHTED_RT_STRAT_LOAD_weight_0_is_never_first(t *testing.T) {
	zero := 0
	check(t, 4, func(t *rapid.T, c Config, q *question) {
		s := Build(c)
		p := Decide(s, q.ask())
		if len(p.Candidates) < 2 || routeOf(s, p).Strategy.Affinity() != AffinityWeighted {
			return
		}
		first := p.Candidates[0]
		m := memberOf(routeOf(s, p), first.Provider)
		if m.Weight > 0 || m.FallbackOnly || first.Fallback {
			return
		}
		zero++
		for _, other := range p.Candidates[1:] {
			o := memberOf(routeOf(s, p), other.Provider)
			if o.Weight > 0 && !o.FallbackOnly && !other.Fallback && o.Priority == m.Priority && other.State.class() == first.State.class() {
				t.Fatalf("%s: %s has weight 0 and %s %d\n%s", q, first.Provider, other.Provider, o.Weight, p.Explain())
			}
		}
	})
	t.Logf("%d times a member of weight 0 was first", zero)
	if zero == 0 && !testing.Short() {
		t.Error("no member of weight 0 was first: the generator is broken")
	}
}

// RT-ALIAS-1: whoever asks for an alias is served as whoever asks for the model
// that it stands for: same candidates, order, states, reasons and refusals.
func TestDecide_RT_ALIAS_1_an_alias_is_served_as_its_model(t *testing.T) {
	met := tally{}
	check(t, 4, func(t *rapid.T, c Config, q *question) {
		model := Decide(Build(c), q.ask())
		if model.Route == "" || model.Alias {
			return
		}
		at := slices.IndexFunc(c.Routes, func(r *Route) bool { return r.ID == model.Route })
		if at < 0 {
			return // an implicit route has no aliases
		}
		r := *c.Routes[at]
		a := Alias{Name: "The/Alias", WireModels: map[ProviderID]string{}}
		lower := strings.ToLower(q.in.Query.Model)
		home := r.HomeFamily()
		for _, m := range r.Members {
			wire, ok := m.Provider.WireModels[lower]
			if !ok {
				wire = q.in.Query.Model
			}
			if _, byName := m.Provider.Windows[lower]; byName && !strings.EqualFold(wire, lower) {
				return // the client's name has a window of its own
			}
			if ok || hosts(home, m.Provider.Family) { // a name of its own makes a foreign member serve
				a.WireModels[m.Provider.ID] = wire
			}
		}
		r.Aliases = append(slices.Clone(r.Aliases), a)
		more := c
		more.Routes = slices.Clone(c.Routes)
		more.Routes[at] = &r
		byAlias := *q
		byAlias.in.Query.Model = "the/alias"
		alias := Decide(Build(more), byAlias.ask())
		if diff := sameCandidates(model, alias); diff != "" {
			t.Fatalf("%s: %s\n%s%s", q, diff, model.Explain(), alias.Explain())
		}
		if !alias.Alias {
			t.Fatalf("not an alias\n%s", alias.Explain())
		}
		met.note(alias, q)
	})
	met.expect(t, "ER-MODE", "no_eligible_provider", "context_length_exceeded", "NO_UPSTREAM_KEY", "fallback", "why the session's hash", "member global-passthrough", "state parked", "kept start")
}

func sameCandidates(a, b *Plan) string {
	if (a.Refusal == nil) != (b.Refusal == nil) || a.Refusal != nil && a.Refusal.Code != b.Refusal.Code {
		return "another refusal"
	}
	if !slices.Equal(a.Candidates, b.Candidates) {
		return fmt.Sprintf("%+v\n%+v", a.Candidates, b.Candidates)
	}
	return ""
}

// RT-FO-10: what the organisation's key ran into says nothing about the
// credential that a caller brings, but for a broken connection.
func TestDecide_RT_FO_10_another_credential_is_neither_parked_nor_cooling(t *testing.T) {
	seen := tally{}
	check(t, 3, func(t *rapid.T, c Config, q *question) {
		p := Decide(Build(c), q.ask())
		for _, cand := range p.Candidates {
			seen[string(cand.Credential)+" "+string(cand.State)]++
			if cand.Credential != CredentialOwn && cand.State != Healthy && cand.State != Open {
				t.Fatalf("%+v\n%s", cand, p.Explain())
			}
			if cand.State == Healthy && !cand.Until.IsZero() {
				t.Fatalf("%+v", cand)
			}
		}
	})
	seen.expect(t, "own parked", "own cooling", "own recovering", "own circuit_open", "caller circuit_open", "virtual circuit_open", "caller healthy", "virtual healthy")
}
