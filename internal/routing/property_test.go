package routing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// note counts what a plan shows.
func (n tally) note(p *Plan, q *question) {
	if p.Refusal != nil {
		n[p.Refusal.Code]++
		if p.Refusal.Code == "NO_ROUTE" && p.Route != "" {
			n["ER-MODE"]++
		}
	}
	for _, st := range p.Steps {
		n[string(st.Stage)+" "+st.Code]++
	}
	for i, c := range p.Candidates {
		n["credential "+string(c.Credential)]++
		if c.Fallback {
			n["fallback"]++
		}
		if i == 0 && len(p.Candidates) > 1 {
			n["why "+strings.Map(func(r rune) rune {
				if r >= '0' && r <= '9' {
					return -1
				}
				return r
			}, c.Why)]++
		}
	}
	if p.KeepStart {
		n["kept start"]++
	}
	if p.Alias {
		n["alias"]++
	}
	if q.in.Query.Caller.Own && len(p.Candidates) > 1 && p.Candidates[0].Credential == CredentialCaller && p.Candidates[1].Fallback {
		n["own before fallback"]++
	}
}

func TestDecide_agrees_with_the_plainest_reading_of_the_spec(t *testing.T) {
	met := tally{}
	check(t, 10, func(t *rapid.T, c Config, q *question) {
		p := Decide(Build(c), q.ask())
		if got, want := full(p), plainDecision(c, q.ask()); got != want {
			t.Fatalf("%s\ngot  %s\nwant %s\n%s", q, got, want, p.Explain())
		}
		met.note(p, q)
	})
	met.expect(t,
		"NO_ROUTE", "ER-MODE", "no_eligible_provider", "UPSTREAM_AMBIGUOUS", "model_not_found", "model_not_supported", "context_length_exceeded", "NO_UPSTREAM_KEY",
		"route picked", "route picked-by-alias", "route picked-implicit", "route picked-by-family", "route picked-family",
		"member credential-mode", "member no-key", "member wire-format", "member family", "member no-wire-model", "member provider-not-allowed",
		"member residency", "member data-handling", "member drained", "member context-window", "member global-passthrough",
		"state circuit_open", "state parked", "state cooling", "state recovering",
		"strategy failover", "strategy round-robin", "strategy weighted", "strategy lowest-cost", "strategy lowest-latency", "strategy least-loaded",
		"why the session's hash", "why the session started here", "why turn  of ", "why turn  of  by weight", "why the better of two draws",
		"why first in order: all weights are ", "why first in order: no price is known", "why explores:  of  requests measured", "why fallback only",
		"credential own", "credential caller", "credential virtual", "fallback", "kept start", "alias", "own before fallback")
}

// Reading must change nothing: neither the configuration nor the question, and
// a second decision on them is the same.
func TestDecide_RQ_PURE_twice_gives_the_same_plan_and_changes_nothing(t *testing.T) {
	check(t, 1, func(t *rapid.T, c Config, q *question) {
		s, fresh := Build(c), Build(c)
		before := q.in
		first, second := Decide(s, q.ask()), Decide(s, q.ask())
		if diff := samePlan(first, second); diff != "" {
			t.Fatal(diff)
		}
		Models(s, q.in.Query.Caller, endpoints)
		hidden := cmp.AllowUnexported(Snapshot{}, Pattern{}, index{}, globIndex{}, length{}, aliased{}, lowestLatency{}, Trace{}, world{}, sampled{})
		if in := q.ask(); Decide(s, in) != nil && in.Dice.(*dice).took > 1 {
			t.Fatalf("%d turns were taken", in.Dice.(*dice).took)
		}
		if !one(t, 8, "look at all") { // it takes long
			return
		}
		if diff := cmp.Diff(fresh, s, hidden, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("the snapshot changed\n%s", diff)
		}
		if diff := cmp.Diff(before, q.in, hidden, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("the input changed\n%s", diff)
		}
	})
}

func TestDecide_refuses_exactly_without_a_candidate(t *testing.T) {
	check(t, 2, func(t *rapid.T, c Config, q *question) {
		p := Decide(Build(c), q.ask())
		if (p.Refusal == nil) != (len(p.Candidates) > 0) {
			t.Fatal(p.Explain())
		}
		last := p.Steps[len(p.Steps)-1].Stage
		if (p.Refusal != nil) != (last == StageRefusal) {
			t.Fatalf("the last step is %s\n%s", last, p.Explain())
		}
	})
}

// routeOf is the route of a plan, and memberOf one of its members.
func routeOf(s *Snapshot, p *Plan) *Route { return s.Route(p.Route) }

func memberOf(r *Route, id ProviderID) Member {
	i := slices.IndexFunc(r.Members, func(m Member) bool { return m.Provider.ID == id })
	if i < 0 {
		return Member{Provider: &Provider{ID: "nobody"}}
	}
	return r.Members[i]
}

func TestDecide_candidates_are_unique_and_every_member_is_explained(t *testing.T) {
	check(t, 2, func(t *rapid.T, c Config, q *question) {
		s := Build(c)
		p := Decide(s, q.ask())
		seen := map[ProviderID]bool{}
		for _, cand := range p.Candidates {
			if seen[cand.Provider] || cand.Route != p.Route || memberOf(routeOf(s, p), cand.Provider).Provider.ID != cand.Provider {
				t.Fatalf("%s twice, or no member of %s\n%s", cand.Provider, p.Route, p.Explain())
			}
			seen[cand.Provider] = true
			if cand.Why == "" || cand.Strategy != routeOf(s, p).Strategy.ID() {
				t.Fatalf("%+v\n%s", cand, p.Explain())
			}
		}
		if r := routeOf(s, p); r != nil && (p.Refusal == nil || p.Refusal.Code != "model_not_supported") {
			for _, m := range r.Members {
				said := slices.ContainsFunc(p.Steps, func(st Step) bool {
					return st.Stage == StageMember && st.Code != "global-passthrough" && st.Subject == string(m.Provider.ID)
				})
				if said == seen[m.Provider.ID] {
					t.Fatalf("%s: candidate %v, explained %v\n%s", m.Provider.ID, seen[m.Provider.ID], said, p.Explain())
				}
			}
		}
	})
}

// Never widens: every candidate satisfies every restriction.
func TestDecide_RT_FILTER_AC_CEIL_every_candidate_satisfies_every_restriction(t *testing.T) {
	check(t, 5, func(t *rapid.T, c Config, q *question) {
		s := Build(c)
		p := Decide(s, q.ask())
		caller := q.in.Query.Caller
		for _, cand := range p.Candidates {
			v := memberOf(routeOf(s, p), cand.Provider).Provider
			bad := ""
			switch {
			case v.Drained:
				bad = "is drained"
			case v.Format != q.in.Query.Endpoint.Format:
				bad = "speaks another format"
			case cand.Credential == CredentialOwn && (v.NoKey || !v.OrgKey):
				bad = "has no key"
			case cand.Credential == CredentialOwn && caller.Own != cand.Fallback:
				bad = "serves with its own key a caller that brings a credential"
			case cand.Credential == CredentialCaller && !caller.Own:
				bad = "wants a credential that the caller does not bring"
			case cand.Credential == CredentialCaller && v.OrgKey && (!c.GlobalPassthrough || v.NoPassthrough || v.ID != routeOf(s, p).First):
				bad = "must not take the caller's credential"
			case cand.Credential == CredentialVirtual && (caller.Own || caller.Virtual != v.ID):
				bad = "is not the provider of the virtual key's credential"
			case c.Data.lacks(DataHandling{}) == "" && v.Data.lacks(c.Data) != "":
				bad = "does not promise what the settings demand"
			case cand.Residency != v.Residency:
				bad = "says another residency"
			}
			if ceil := caller.Ceilings; bad == "" && ceil != nil {
				if len(ceil.Providers) > 0 && !slices.Contains(ceil.Providers, v.ID) || len(ceil.Residencies) > 0 && !slices.Contains(ceil.Residencies, v.Residency) || v.Data.lacks(ceil.Data) != "" {
					bad = "is outside the key's ceilings"
				}
			}
			if bad != "" {
				t.Fatalf("%s: %s %s\n%s", q, v.ID, bad, p.Explain())
			}
		}
	})
}

// restrict adds one restriction to a configuration or a caller.
func restrict(t *rapid.T, c Config, q *question) (Config, *question) {
	narrow := *q
	ceil := Ceilings{}
	if old := q.in.Query.Caller.Ceilings; old != nil {
		ceil = *old
	}
	change := func(f func(p *Provider)) {
		for i, p := range c.Providers {
			if one(t, 2, "this one") {
				changed := *p
				f(&changed)
				c.Providers = slices.Clone(c.Providers)
				c.Providers[i] = &changed
				c.Routes = slices.Clone(c.Routes)
				for j, r := range c.Routes {
					other := *r
					other.Members = slices.Clone(r.Members)
					for k := range other.Members {
						if other.Members[k].Provider == p {
							other.Members[k].Provider = &changed
						}
					}
					c.Routes[j] = &other
				}
			}
		}
	}
	switch rapid.SampledFrom([]string{"drain", "key", "promise", "demand", "providers", "residencies", "data", "tokens"}).Draw(t, "restriction") {
	case "drain":
		change(func(p *Provider) { p.Drained = true })
	case "key":
		change(func(p *Provider) { p.NoKey = true })
	case "promise":
		change(func(p *Provider) { p.Data = DataHandling{Jurisdiction: "nowhere"} })
	case "demand":
		c.Data.ZeroDataRetention, c.Data.NoPromptTraining = true, true
	case "providers":
		ceil.Providers = without(t, ceil.Providers, "p0", "p1", "p2", "p3", "p4", "p5")
	case "residencies":
		ceil.Residencies = without(t, ceil.Residencies, "global", "eu", "us")
	case "data":
		ceil.Data.ZeroDataRetention, ceil.Data.NoPromptTraining = true, true
	case "tokens":
		narrow.in.Query.Tokens = q.in.Query.Tokens + 20
	}
	narrow.in.Query.Caller.Ceilings = &ceil
	return c, &narrow
}

// without takes something off a list of what is allowed, in which nothing
// means everything.
func without[T comparable](t *rapid.T, list []T, all ...T) []T {
	if len(list) == 0 {
		list = all
	}
	if len(list) == 1 {
		return list
	}
	gone := rapid.IntRange(0, len(list)-1).Draw(t, "taken off")
	return slices.Delete(slices.Clone(list), gone, gone+1)
}

// One more restriction never adds a candidate, nor another credential to one.
// The first member under global passthrough is an exception: whether it takes
// the caller's credential depends on where the strategy starts (RT-GP), so it
// and the fallbacks behind it may come and go when another member goes.
func TestDecide_one_more_restriction_never_adds_a_candidate(t *testing.T) {
	fewer, heirs := 0, 0
	check(t, 2, func(t *rapid.T, c Config, q *question) {
		before := Decide(Build(c), q.ask())
		tighter, narrow := restrict(t, c, q)
		s := Build(tighter)
		after := Decide(s, narrow.ask())
		for _, cand := range after.Candidates {
			if slices.ContainsFunc(before.Candidates, func(o Candidate) bool {
				return o.Provider == cand.Provider && o.WireModel == cand.WireModel && o.Credential == cand.Credential
			}) {
				continue
			}
			r := s.Route(cand.Route)
			heir := c.GlobalPassthrough && q.in.Query.Caller.Own && cand.Provider == r.First && memberOf(r, r.First).Provider.OrgKey
			behind := c.GlobalPassthrough && cand.Fallback && memberOf(r, after.Candidates[0].Provider).Provider.OrgKey
			if !heir && !behind {
				t.Fatalf("%s: %+v is new\n%s%s", narrow, cand, before.Explain(), after.Explain())
			}
			heirs++
		}
		if len(after.Candidates) < len(before.Candidates) {
			fewer++
		}
	})
	if !testing.Short() && fewer < 20 {
		t.Errorf("only %d times fewer: the generator is broken", fewer)
	}
	t.Logf("%d times fewer, %d times an heir", fewer, heirs)
}

func TestDecide_the_order_of_documents_does_not_matter(t *testing.T) {
	check(t, 1, func(t *rapid.T, c Config, q *question) {
		mixed := c
		mixed.Providers = rapid.Permutation(c.Providers).Draw(t, "providers")
		mixed.Routes = rapid.Permutation(c.Routes).Draw(t, "routes")
		mixed.Models = rapid.Permutation(c.Models).Draw(t, "models")
		a, b := Build(c), Build(mixed)
		if diff := samePlan(Decide(a, q.ask()), Decide(b, q.ask())); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(Models(a, q.in.Query.Caller, endpoints), Models(b, q.in.Query.Caller, endpoints)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestDecide_an_unrelated_route_moves_nothing(t *testing.T) {
	added := 0
	check(t, 2, func(t *rapid.T, c Config, q *question) {
		member := provider("new")
		r := &Route{ID: "new-route", Strategy: genStrategy(t), Members: []Member{{Provider: member}}, First: "new"}
		r.Patterns = rapid.SliceOfN(smallPattern(letters), 1, 2).Draw(t, "new patterns")
		more := c
		more.Routes = append(slices.Clone(c.Routes), r)
		more.Providers = append(slices.Clone(c.Providers), member)
		if slices.ContainsFunc(r.Patterns, func(p Pattern) bool { return p.Match(q.in.Query.Model) }) || Conflicts(more.Routes) != nil {
			return
		}
		added++
		before, after := Decide(Build(c), q.ask()), Decide(Build(more), q.ask())
		if before.Refusal != nil && after.Refusal != nil { // the closest route may be another one
			before.Refusal.Message, after.Refusal.Message = "", ""
			before.Steps[len(before.Steps)-1].Detail, after.Steps[len(after.Steps)-1].Detail = "", ""
		}
		if diff := samePlan(before, after); diff != "" {
			t.Fatalf("%s with %v:\n%s", q, r.Patterns, diff)
		}
	})
	if added == 0 {
		t.Error("no route was added: the generator is broken")
	}
}

func TestModels_lists_exactly_what_can_be_called(t *testing.T) {
	listedOnce := false
	rapid.Check(t, func(t *rapid.T) {
		c := genConfig(t)
		s := Build(c)
		caller := genCaller(t)
		asked := []*llm.Endpoint{genEndpoint(t), genEndpoint(t)}
		listed := map[string]bool{}
		for _, m := range Models(s, caller, asked) {
			if listed[strings.ToLower(m)] {
				t.Fatalf("%q is listed twice", m)
			}
			listed[strings.ToLower(m)], listedOnce = true, true
		}
		mentioned := slices.Clone(c.Models)
		for _, r := range c.Routes {
			for _, p := range r.Patterns {
				if p.IsExact() {
					mentioned = append(mentioned, p.String())
				}
			}
			for _, a := range r.Aliases {
				mentioned = append(mentioned, a.Name)
			}
		}
		for _, p := range c.Providers {
			mentioned = append(mentioned, p.Names...)
		}
		for i, n := range append(mentioned, "a", "b", "ab") {
			callable := slices.ContainsFunc(asked, func(e *llm.Endpoint) bool {
				in := &Input{Query: Query{Endpoint: e, Model: n, Caller: caller}, Dice: calm{}}
				want := plainDecision(c, in)
				return !strings.Contains(want, ": 4") && !strings.Contains(want, ": 5")
			})
			is := listed[strings.ToLower(n)]
			if is && !callable || callable && !is && i < len(mentioned) {
				t.Fatalf("%q: listed %v, callable %v", n, is, callable)
			}
		}
	})
	if !listedOnce {
		t.Error("nothing was ever listed: the generator is broken")
	}
}

// RT-PAT-1: free of Conflicts means that no model is ambiguous among stored
// routes, and each conflict has a model that is.
func TestConflicts_are_exactly_the_ambiguous_models(t *testing.T) {
	names := smallNames(letters)
	rapid.Check(t, func(t *rapid.T) {
		var routes []*Route
		for i := range rapid.IntRange(1, 4).Draw(t, "routes") {
			routes = append(routes, &Route{ID: RouteID(fmt.Sprint(i)), Patterns: rapid.SliceOfN(smallPattern(letters), 1, 3).Draw(t, "patterns")})
		}
		conflicts := Conflicts(routes)
		var x index
		for i, r := range routes {
			for _, p := range r.Patterns {
				x.add(p, int32(i))
			}
		}
		for _, n := range names {
			if h := x.find(n); len(h.routes) > 1 && conflicts == nil {
				t.Fatalf("%q is served by %v alike and nothing conflicts", n, h.routes)
			}
		}
		for _, c := range conflicts {
			if c.A == c.B || c.PatternA.Specificity() != c.PatternB.Specificity() {
				t.Fatalf("%v", c)
			}
			if !slices.ContainsFunc(names, func(n string) bool { return c.PatternA.Match(n) && c.PatternB.Match(n) }) {
				t.Fatalf("%v, but no name matches both", c)
			}
		}
	})
}
