package routing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/llm"
)

const letters = "ab-"

// genConfig draws a configuration without pattern conflicts.
func genConfig(t *rapid.T) Config {
	name := rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 1, 4, -1)
	c := Config{
		Revision:           7,
		UnknownModelStatus: rapid.SampledFrom([]int{0, 404, 503}).Draw(t, "unknown model status"),
		Models:             rapid.SliceOfN(name, 0, 4).Draw(t, "models"),
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "providers") {
		p := provider(fmt.Sprintf("p%d", i))
		p.OrgKey = rapid.IntRange(0, 4).Draw(t, "key") > 0
		p.Drained = rapid.IntRange(0, 4).Draw(t, "drained") == 0
		p.Family = rapid.SampledFrom([]llm.Family{llm.FamilyNone, llm.FamilyAnthropic, llm.FamilyOpenAI}).Draw(t, "family")
		p.Format = rapid.SampledFrom([]llm.Format{llm.AnthropicMessages, llm.AnthropicMessages, llm.OpenAIChat}).Draw(t, "format")
		p.Patterns = rapid.SliceOfN(smallPattern(letters), 0, 3).Draw(t, "patterns")
		p.WireModels = rapid.MapOfN(name, name, 0, 2).Draw(t, "wire models")
		p.Names = rapid.SliceOfN(name, 0, 2).Draw(t, "static models")
		c.Providers = append(c.Providers, p)
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "routes") {
		r := &Route{ID: RouteID(fmt.Sprintf("r%d", i)), Strategy: failover{}}
		r.Patterns = rapid.SliceOfN(smallPattern(letters), 1, 3).Draw(t, "patterns")
		if len(c.Providers) > 0 {
			for _, j := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(c.Providers)-1), 0, 3, rapid.ID).Draw(t, "members") {
				r.Members = append(r.Members, Member{Provider: c.Providers[j], FallbackOnly: rapid.IntRange(0, 3).Draw(t, "fallback") == 0})
			}
		}
		if Conflicts(append(slices.Clone(c.Routes), r)) == nil {
			c.Routes = append(c.Routes, r)
		}
	}
	return c
}

// genModel draws a model that patterns often match, or one with a family.
func genModel(t *rapid.T) string {
	return rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune(letters+"AB")), 1, 6, -1),
		rapid.SampledFrom([]string{"claude-a", "gpt-b", "a-claude-b"}),
	).Draw(t, "model")
}

func genEndpoint(t *rapid.T) *llm.Endpoint {
	return rapid.SampledFrom([]*llm.Endpoint{messages, countTokens, chat}).Draw(t, "endpoint")
}

// check draws configurations, and for each several questions.
func check(t *testing.T, property func(t *rapid.T, c Config, e *llm.Endpoint, model string)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		c := genConfig(t)
		for range 8 {
			property(t, c, genEndpoint(t), genModel(t))
		}
	})
}

// plainDecision decides again in the plainest way that the spec's text allows:
// it looks at all patterns of all routes. It returns what short says.
func plainDecision(c Config, e *llm.Endpoint, model string) string {
	type match struct {
		r           *Route
		specificity int
	}
	best := func(routes []*Route) []match {
		var out []match
		for _, r := range routes {
			m := match{r, -1}
			for _, p := range r.Patterns {
				if p.Match(model) {
					m.specificity = max(m.specificity, p.Specificity())
				}
			}
			if m.specificity >= 0 {
				out = append(out, m)
			}
		}
		slices.SortStableFunc(out, func(a, b match) int { return b.specificity - a.specificity })
		return slices.DeleteFunc(out, func(m match) bool { return m.specificity < out[0].specificity })
	}
	var own []*Route
	for _, p := range c.Providers {
		inRoute := slices.ContainsFunc(c.Routes, func(r *Route) bool {
			return slices.ContainsFunc(r.Members, func(m Member) bool { return m.Provider == p })
		})
		if inRoute {
			continue
		}
		r := &Route{ID: RouteID(p.ID), Members: []Member{{Provider: p}}}
		for _, pat := range p.Patterns {
			text := func(p Pattern) string { return strings.ToLower(strings.ReplaceAll(p.String(), "**", "*")) }
			stored := slices.ContainsFunc(c.Routes, func(r *Route) bool {
				return slices.ContainsFunc(r.Patterns, func(q Pattern) bool { return text(q) == text(pat) })
			})
			if !stored {
				r.Patterns = append(r.Patterns, pat)
			}
		}
		own = append(own, r)
	}
	won := best(c.Routes)
	if imp := best(own); len(imp) > 0 && (len(won) == 0 || imp[0].specificity > won[0].specificity) {
		won = imp
	}
	if len(won) > 1 {
		won = slices.DeleteFunc(won, func(m match) bool {
			f := m.r.Members[0].Provider.Family
			return f == llm.FamilyNone || f != llm.FamilyOfModel(model)
		})
		if len(won) != 1 {
			return ": 503 UPSTREAM_AMBIGUOUS"
		}
	}
	if len(won) == 0 {
		if c.UnknownModelStatus == 404 {
			return ": 404 model_not_found"
		}
		return ": 503 NO_ROUTE"
	}
	r, first, last, keys := won[0].r, "", "", false
	var home llm.Family
	for _, m := range r.Members {
		if home == llm.FamilyNone {
			home = m.Provider.Family
		}
	}
	for _, m := range r.Members {
		p := m.Provider
		keys = keys || p.OrgKey
		if !p.OrgKey || p.Drained || p.Format != e.Format || p.Family != llm.FamilyNone && p.Family != home {
			continue
		}
		text := " " + string(p.ID)
		if w, ok := p.WireModels[strings.ToLower(model)]; ok && w != model {
			text += "=" + w
		}
		if m.FallbackOnly {
			last += text
		} else {
			first += text
		}
	}
	switch {
	case first+last != "":
		return string(r.ID) + ":" + first + last
	case !keys:
		return string(r.ID) + ": 503 NO_ROUTE"
	}
	return string(r.ID) + ": 503 no_eligible_provider"
}

func TestDecide_agrees_with_the_plainest_reading_of_the_spec(t *testing.T) {
	outcomes := map[string]int{}
	check(t, func(t *rapid.T, c Config, e *llm.Endpoint, model string) {
		p := decide(Build(c), e, model)
		want := plainDecision(c, e, model)
		if got := short(p); got != want {
			t.Fatalf("%s at %s: got %s, want %s\n%s", model, e.ID, got, want, p.Explain())
		}
		if p.Refusal == nil {
			outcomes["served"]++
		} else {
			outcomes[p.Refusal.Code]++
		}
	})
	if testing.Short() {
		return // a few cases need not have every outcome
	}
	for _, o := range []string{"served", "NO_ROUTE", "no_eligible_provider", "UPSTREAM_AMBIGUOUS", "model_not_found"} {
		if outcomes[o] == 0 {
			t.Errorf("no plan was %s: the generator is broken", o)
		}
	}
}

func TestDecide_RQ_PURE_twice_gives_the_same_plan(t *testing.T) {
	check(t, func(t *rapid.T, c Config, e *llm.Endpoint, model string) {
		s := Build(c)
		if diff := samePlan(decide(s, e, model), decide(s, e, model)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestDecide_refuses_exactly_without_a_candidate(t *testing.T) {
	check(t, func(t *rapid.T, c Config, e *llm.Endpoint, model string) {
		p := decide(Build(c), e, model)
		if (p.Refusal == nil) != (len(p.Candidates) > 0) {
			t.Fatal(p.Explain())
		}
		last := p.Steps[len(p.Steps)-1].Stage
		if (p.Refusal != nil) != (last == StageRefusal) {
			t.Fatalf("the last step is %s\n%s", last, p.Explain())
		}
	})
}

func TestDecide_candidates_are_unique_and_allowed(t *testing.T) {
	check(t, func(t *rapid.T, c Config, e *llm.Endpoint, model string) {
		s := Build(c)
		p := decide(s, e, model)
		seen := map[ProviderID]bool{}
		for _, cand := range p.Candidates {
			if seen[cand.Provider] {
				t.Fatalf("%s twice\n%s", cand.Provider, p.Explain())
			}
			seen[cand.Provider] = true
			i := slices.IndexFunc(s.routes, func(r *Route) bool { return r.ID == p.Route })
			j := slices.IndexFunc(s.routes[i].Members, func(m Member) bool { return m.Provider.ID == cand.Provider })
			if j < 0 || cand.Route != p.Route {
				t.Fatalf("%s is no member of %s\n%s", cand.Provider, p.Route, p.Explain())
			}
			if v := s.routes[i].Members[j].Provider; !v.OrgKey || v.Drained || v.Format != e.Format {
				t.Fatalf("%+v serves\n%s", v, p.Explain())
			}
		}
		// A member is a candidate or has a step that says why not.
		for _, r := range s.routes {
			if r.ID != p.Route {
				continue
			}
			for _, m := range r.Members {
				said := slices.ContainsFunc(p.Steps, func(st Step) bool { return st.Stage == StageMember && st.Subject == string(m.Provider.ID) })
				if said == seen[m.Provider.ID] {
					t.Fatalf("%s: candidate %v, explained %v\n%s", m.Provider.ID, seen[m.Provider.ID], said, p.Explain())
				}
			}
		}
	})
}

func TestDecide_the_order_of_documents_does_not_matter(t *testing.T) {
	check(t, func(t *rapid.T, c Config, e *llm.Endpoint, model string) {
		mixed := c
		mixed.Providers = rapid.Permutation(c.Providers).Draw(t, "providers")
		mixed.Routes = rapid.Permutation(c.Routes).Draw(t, "routes")
		mixed.Models = rapid.Permutation(c.Models).Draw(t, "models")
		a, b := Build(c), Build(mixed)
		if diff := samePlan(decide(a, e, model), decide(b, e, model)); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(Models(a, Caller{}, endpoints), Models(b, Caller{}, endpoints)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestDecide_an_unrelated_route_moves_nothing(t *testing.T) {
	added := 0
	check(t, func(t *rapid.T, c Config, e *llm.Endpoint, model string) {
		member := provider("new")
		r := &Route{ID: "new-route", Strategy: failover{}, Members: []Member{{Provider: member}}}
		r.Patterns = rapid.SliceOfN(smallPattern(letters), 1, 2).Draw(t, "new patterns")
		more := c
		more.Routes = append(slices.Clone(c.Routes), r)
		more.Providers = append(slices.Clone(c.Providers), member)
		if slices.ContainsFunc(r.Patterns, func(p Pattern) bool { return p.Match(model) }) || Conflicts(more.Routes) != nil {
			return
		}
		added++
		before, after := decide(Build(c), e, model), decide(Build(more), e, model)
		if before.Refusal != nil && after.Refusal != nil { // the closest route may be another one
			before.Refusal.Message, after.Refusal.Message = "", ""
			before.Steps[len(before.Steps)-1].Detail, after.Steps[len(after.Steps)-1].Detail = "", ""
		}
		if diff := samePlan(before, after); diff != "" {
			t.Fatalf("%q with %v:\n%s", model, r.Patterns, diff)
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
		asked := []*llm.Endpoint{genEndpoint(t), genEndpoint(t)}
		listed := map[string]bool{}
		for _, m := range Models(s, Caller{}, asked) {
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
		}
		for _, p := range c.Providers {
			mentioned = append(mentioned, p.Names...)
		}
		for i, n := range append(mentioned, "a", "b", "ab") {
			callable := slices.ContainsFunc(asked, func(e *llm.Endpoint) bool {
				return !strings.Contains(plainDecision(c, e, n), ": 503") && !strings.Contains(plainDecision(c, e, n), ": 404")
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
