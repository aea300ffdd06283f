package routing

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// The endpoints of the tests.
var (
	messages    = &llm.Endpoint{ID: llm.Messages, Format: llm.AnthropicMessages, Stream: true, Failover: true, Counts: true}
	countTokens = &llm.Endpoint{ID: llm.CountTokens, Format: llm.AnthropicMessages}
	chat        = &llm.Endpoint{ID: llm.ChatCompletions, Format: llm.OpenAIChat, Stream: true, Failover: true, Counts: true}
	endpoints   = []*llm.Endpoint{messages, chat}
)

func pattern(tb testing.TB, text string) Pattern {
	tb.Helper()
	p, err := ParsePattern(text)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func patterns(tb testing.TB, texts ...string) []Pattern {
	tb.Helper()
	out := make([]Pattern, len(texts))
	for i, s := range texts {
		out[i] = pattern(tb, s)
	}
	return out
}

// provider makes an Anthropic provider with a key, changed by the options.
func provider(id string, options ...func(*Provider)) *Provider {
	p := &Provider{ID: ProviderID(id), Family: llm.FamilyAnthropic, Format: llm.AnthropicMessages, OrgKey: true, Residency: "global"}
	for _, o := range options {
		o(p)
	}
	return p
}

func noKey(p *Provider)   { p.OrgKey = false }
func drained(p *Provider) { p.Drained = true }
func openAI(p *Provider)  { p.Family, p.Format = llm.FamilyOpenAI, llm.OpenAIChat }

func format(f llm.Format) func(*Provider) { return func(p *Provider) { p.Format = f } }

func family(f llm.Family) func(*Provider) { return func(p *Provider) { p.Family = f } }

func serves(tb testing.TB, texts ...string) func(*Provider) {
	return func(p *Provider) { p.Patterns = patterns(tb, texts...) }
}

func alias(name, wire string) func(*Provider) {
	return func(p *Provider) {
		if p.WireModels == nil {
			p.WireModels = map[string]string{}
		}
		p.WireModels[name] = wire
	}
}

// route makes a stored route. Its patterns are separated by spaces.
func route(tb testing.TB, id, texts string, members ...any) *Route {
	tb.Helper()
	r := &Route{ID: RouteID(id), Patterns: patterns(tb, strings.Fields(texts)...), Strategy: failover{}}
	for _, m := range members {
		switch m := m.(type) {
		case *Provider:
			r.Members = append(r.Members, Member{Provider: m, Weight: 1})
		case Member:
			r.Members = append(r.Members, m)
		default:
			tb.Fatalf("%T is no member", m)
		}
	}
	if len(r.Members) > 0 {
		r.First = r.Members[0].Provider.ID
	}
	return r
}

func fallback(p *Provider) Member { return Member{Provider: p, Weight: 1, FallbackOnly: true} }

// build makes a snapshot of routes and their members, and further providers.
func build(tb testing.TB, objects ...any) *Snapshot {
	tb.Helper()
	c := Config{Revision: 1}
	known := map[ProviderID]bool{}
	add := func(p *Provider) {
		if !known[p.ID] {
			c.Providers = append(c.Providers, p)
			known[p.ID] = true
		}
	}
	for _, o := range objects {
		switch o := o.(type) {
		case *Provider:
			add(o)
		case *Route:
			c.Routes = append(c.Routes, o)
			for _, m := range o.Members {
				add(m.Provider)
			}
		case func(*Config):
			o(&c)
		default:
			tb.Fatalf("%T is no object", o)
		}
	}
	if conflicts := Conflicts(c.Routes); conflicts != nil {
		tb.Fatalf("the test's routes conflict: %v", conflicts)
	}
	return Build(c)
}

func decide(s *Snapshot, e *llm.Endpoint, model string) *Plan {
	return Decide(s, &Input{Query: Query{Endpoint: e, Model: model}})
}

// short writes a plan as "route: provider provider", with "=wire" where the
// wire model is another, or as "route: status code".
func short(p *Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", p.Route)
	if p.Refusal != nil {
		fmt.Fprintf(&b, " %d %s", p.Refusal.Status, p.Refusal.Code)
	}
	for _, c := range p.Candidates {
		fmt.Fprintf(&b, " %s", c.Provider)
		if c.WireModel != p.Model {
			fmt.Fprintf(&b, "=%s", c.WireModel)
		}
	}
	return b.String()
}

// samePlan compares all that a plan shows.
func samePlan(a, b *Plan) string {
	if reflect.DeepEqual(a, b) {
		return "" // cmp says the same and takes longer
	}
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(Plan{}), cmpopts.EquateEmpty())
}
