package routing

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/interlock-gateway/interlock/internal/llm"
)

func TestDecide(t *testing.T) {
	a, b, c := provider("a"), provider("b"), provider("c")
	bare := provider("bare", noKey)
	drain := provider("drain", drained)
	other := provider("other", openAI)
	speaksChat := provider("other", format(llm.OpenAIChat))

	for _, row := range []struct {
		name    string
		objects []any
		ask     *llm.Endpoint // messages if nil
		model   string
		want    string
	}{
		// RT-PICK: the most specific pattern.
		{"RT-PICK an exact name beats a longer glob", []any{route(t, "glob", "claude-opus-4-1*", a), route(t, "exact", "claude-opus-4-1", b)}, nil, "claude-opus-4-1", "exact: b"},
		{"RT-PICK more literal characters beat fewer", []any{route(t, "short", "claude-*", a), route(t, "long", "claude-opus-*", b)}, nil, "claude-opus-4-1", "long: b"},
		{"RT-PICK a suffix can beat a prefix", []any{route(t, "prefix", "gpt-*", a), route(t, "suffix", "*-mini", b)}, nil, "gpt-5-mini", "suffix: b"},
		{"RT-PICK a substring can beat both", []any{route(t, "prefix", "gp*", a), route(t, "inner", "*-5-mi*", b), route(t, "suffix", "*mini", c)}, nil, "gpt-5-mini", "inner: b"},
		{"RT-PICK a catch-all serves the rest", []any{route(t, "claude", "claude-*", a), route(t, "rest", "*", b)}, nil, "llama-3", "rest: b"},
		{"RT-PICK a catch-all serves nothing that is named", []any{route(t, "claude", "claude-*", a), route(t, "rest", "*", b)}, nil, "claude-x", "claude: a"},
		{"RT-PICK the best pattern of a route counts", []any{route(t, "two", "c* claude-opus-*", a), route(t, "one", "claude-*", b)}, nil, "claude-opus-4", "two: a"},
		{"RT-PICK case does not matter", []any{route(t, "r", "Claude-*", a)}, nil, "CLAUDE-Opus", "r: a"},
		{"RT-PICK case does not matter for exact names", []any{route(t, "r", "GPT-5", a), route(t, "s", "gpt-*", b)}, nil, "Gpt-5", "r: a"},
		{"RT-PICK a stored route beats an implicit one of equal specificity", []any{route(t, "stored", "claude*", a), provider("z", serves(t, "*laude-"))}, nil, "claude-", "stored: a"},
		{"RT-PICK an implicit route that is more specific beats a stored one", []any{route(t, "stored", "claude*", a), provider("z", serves(t, "claude-*"))}, nil, "claude-x", "z: z"},
		{"RT-PICK a stored route that is more specific beats an implicit one", []any{route(t, "stored", "claude-opus*", a), provider("z", serves(t, "claude-*"))}, nil, "claude-opus", "stored: a"},

		// RT-PICK-1: chosen first, filtered afterwards.
		{"RT-PICK-1 a route without usable members does not fall through", []any{route(t, "special", "claude-opus-*", drain), route(t, "rest", "*", a)}, nil, "claude-opus-4", "special: 503 no_eligible_provider"},
		{"RT-PICK-1 nor does one without members of the caller's kind", []any{route(t, "special", "claude-opus-*", bare), route(t, "rest", "claude-*", a)}, nil, "claude-opus-4", "special: 503 NO_ROUTE"},
		{"RT-PICK-1 nor does one without any member", []any{route(t, "special", "claude-opus-*"), route(t, "rest", "claude-*", a)}, nil, "claude-opus-4", "special: 503 NO_ROUTE"},
		{"RT-PICK-1 nor does an exact name in another format", []any{route(t, "special", "claude-x", other), route(t, "rest", "claude-*", a)}, nil, "claude-x", "special: 503 no_eligible_provider"},
		{"RT-PICK-1 nor to a provider's own route", []any{route(t, "special", "claude-x", drain), provider("z", serves(t, "claude-*"))}, nil, "claude-x", "special: 503 no_eligible_provider"},

		// RQ-8 and RT-FILTER: members that can serve.
		{"RQ-8 members without a key are left out", []any{route(t, "r", "*", bare, a)}, nil, "m", "r: a"},
		{"RQ-8 drained members are left out", []any{route(t, "r", "*", drain, a, b)}, nil, "m", "r: a b"},
		{"RQ-8 members of another wire format are left out", []any{route(t, "r", "*", speaksChat, a)}, nil, "m", "r: a"},
		{"RQ-8 the endpoint's format decides", []any{route(t, "r", "*", other, a)}, chat, "m", "r: other"},
		{"RQ-8 the endpoint's format decides among members of one family", []any{route(t, "r", "*", speaksChat, a)}, chat, "m", "r: other"},
		{"RQ-8 counting tokens takes the same members", []any{route(t, "r", "*", drain, a, b)}, countTokens, "m", "r: a b"},

		// RT-STRAT-FAILOVER.
		{"RT-STRAT-FAILOVER members in their order, not by name", []any{route(t, "r", "*", c, a, b)}, nil, "m", "r: c a b"},
		{"RT-STRAT-FAILOVER fallbackOnly last", []any{route(t, "r", "*", fallback(c), a, b)}, nil, "m", "r: a b c"},
		{"RT-STRAT-FAILOVER several fallbackOnly in their order", []any{route(t, "r", "*", fallback(c), a, fallback(b))}, nil, "m", "r: a c b"},
		{"RT-STRAT-FAILOVER only fallbackOnly members serve all the same", []any{route(t, "r", "*", fallback(b), fallback(a))}, nil, "m", "r: b a"},
		{"RT-STRAT-FAILOVER a fallbackOnly member serves when the others can not", []any{route(t, "r", "*", drain, fallback(b))}, nil, "m", "r: b"},
		{"RT-STRAT-FAILOVER more members than fit the buffers", []any{route(t, "r", "*", a, b, c, provider("d"), provider("e"), provider("f"), provider("g"), fallback(provider("h")), provider("i"), provider("j"))}, nil, "m", "r: a b c d e f g i j h"},

		// RT-IMPL: a provider's own route.
		{"RT-IMPL a provider in no route serves its patterns", []any{provider("z", serves(t, "claude-*"))}, nil, "claude-x", "z: z"},
		{"RT-IMPL but nothing else", []any{provider("z", serves(t, "claude-*"))}, nil, "gpt-5", ": 503 NO_ROUTE"},
		{"RT-IMPL a provider in a route has no route of its own", func() []any {
			z := provider("z", serves(t, "claude-*"))
			return []any{route(t, "r", "llama-*", z), z}
		}(), nil, "claude-x", ": 503 NO_ROUTE"},
		{"RT-IMPL a fallbackOnly member has none either", func() []any {
			z := provider("z", serves(t, "claude-*"))
			return []any{route(t, "r", "llama-*", a, fallback(z)), z}
		}(), nil, "claude-x", ": 503 NO_ROUTE"},
		{"RT-IMPL minus patterns that a stored route has", []any{route(t, "r", "CLAUDE-*", drain), provider("z", serves(t, "claude-*", "anthropic*"))}, nil, "claude-x", "r: 503 no_eligible_provider"},
		{"RT-IMPL minus only those patterns", []any{route(t, "r", "claude-*", a), provider("z", serves(t, "claude-*", "anthropic*"))}, nil, "anthropic.claude-x", "z: z"},
		{"RT-IMPL a provider without a key has a route, which refuses", []any{provider("z", noKey, serves(t, "claude-*"))}, nil, "claude-x", "z: 503 NO_ROUTE"},
		{"RT-IMPL a drained provider's route refuses", []any{provider("z", drained, serves(t, "claude-*"))}, nil, "claude-x", "z: 503 no_eligible_provider"},
		{"RT-IMPL the more specific of two own routes", []any{provider("y", serves(t, "claude*")), provider("z", serves(t, "claude-*"))}, nil, "claude-x", "z: z"},

		// RT-IMPL and ER-TIE: two own routes that tie.
		{"RT-IMPL of two own routes that tie the one of the model's family wins", []any{
			provider("y", openAI, serves(t, "*")), provider("z", serves(t, "*")),
		}, nil, "claude-x", "z: z"},
		{"RT-IMPL the family wins whatever the names are", []any{
			provider("a1", serves(t, "*")), provider("y", openAI, serves(t, "*")),
		}, chat, "gpt-5", "y: y"},
		{"RT-IMPL the family decides before members are filtered", []any{
			provider("y", serves(t, "*"), family("deepseek")), provider("z", drained, serves(t, "*")),
		}, nil, "claude-x", "z: 503 no_eligible_provider"},
		{"RT-IMPL two of the model's family are ambiguous", []any{
			provider("y", serves(t, "claude-*")), provider("z", serves(t, "claude-*")),
		}, nil, "claude-x", ": 503 UPSTREAM_AMBIGUOUS"},
		{"RT-IMPL none of the model's family is ambiguous", []any{
			provider("y", serves(t, "*"), family("deepseek")), provider("z", serves(t, "*"), family("")),
		}, nil, "claude-x", ": 503 UPSTREAM_AMBIGUOUS"},
		{"RT-IMPL a model without a family is ambiguous", []any{
			provider("y", serves(t, "*"), family("")), provider("z", serves(t, "*")),
		}, nil, "llama-3", ": 503 UPSTREAM_AMBIGUOUS"},
		{"RT-IMPL three that tie, one of the family", []any{
			provider("x", openAI, serves(t, "*")), provider("y", serves(t, "**")), provider("z", serves(t, "*"), family("")),
		}, nil, "claude-x", "y: y"},
		{"RT-IMPL different patterns of equal length tie", []any{
			provider("y", serves(t, "claude-*")), provider("z", serves(t, "*-mini-4")),
		}, nil, "claude-mini-4", ": 503 UPSTREAM_AMBIGUOUS"},
		{"RT-IMPL a stored route ends the tie", []any{
			route(t, "r", "claude-x", a), provider("y", serves(t, "claude-*")), provider("z", serves(t, "claude-*")),
		}, nil, "claude-x", "r: a"},

		// The wire model.
		{"RT-ALIAS a provider's alias gives the wire model", []any{route(t, "r", "*", provider("p", alias("claude-x", "anthropic.claude-x-v1:0")), a)}, nil, "claude-x", "r: p=anthropic.claude-x-v1:0 a"},
		{"RT-ALIAS case does not matter", []any{route(t, "r", "*", provider("p", alias("claude-x", "cx")))}, nil, "Claude-X", "r: p=cx"},
		{"RT-ALIAS the client's own case stays without an alias", []any{route(t, "r", "*", provider("p", alias("claude-y", "cy")))}, nil, "Claude-X", "r: p"},
		{"RT-ALIAS each member has its own", []any{route(t, "r", "*", provider("p", alias("m", "m-p")), provider("q", alias("m", "m-q")))}, nil, "m", "r: p=m-p q=m-q"},
		{"RT-ALIAS the wire model does not choose the route", []any{route(t, "r", "m", provider("p", alias("m", "other"))), route(t, "s", "other", a)}, nil, "m", "r: p=other"},

		// ER-NOROUTE.
		{"ER-NOROUTE nothing serves by default", nil, nil, "claude-x", ": 503 NO_ROUTE"},
		{"ER-NOROUTE a model that no pattern matches", []any{route(t, "r", "claude-*", a)}, nil, "gpt-5", ": 503 NO_ROUTE"},
		{"ER-NOROUTE as 404 where the settings say so", []any{route(t, "r", "claude-*", a), func(c *Config) { c.UnknownModelStatus = 404 }}, nil, "gpt-5", ": 404 model_not_found"},
		{"ER-NOROUTE as 503 where the settings say so", []any{route(t, "r", "claude-*", a), func(c *Config) { c.UnknownModelStatus = 503 }}, nil, "gpt-5", ": 503 NO_ROUTE"},
		{"ER-MODE stays 503 under unknownModelStatus 404", []any{route(t, "r", "claude-*", bare), func(c *Config) { c.UnknownModelStatus = 404 }}, nil, "claude-x", "r: 503 NO_ROUTE"},
		{"ER-MODE all members lack a key", []any{route(t, "r", "*", bare, provider("bare2", noKey))}, nil, "m", "r: 503 NO_ROUTE"},
		{"ER-NOPROV members are left out for several reasons", []any{route(t, "r", "*", bare, drain, other)}, nil, "m", "r: 503 no_eligible_provider"},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := row.ask
			if e == nil {
				e = messages
			}
			p := decide(build(t, row.objects...), e, row.model)
			if got := short(p); got != row.want {
				t.Errorf("got  %s\nwant %s\n%s", got, row.want, p.Explain())
			}
			if p.Model != row.model || p.Failover != e.Failover || p.Revision != 1 {
				t.Errorf("model %q, failover %v, revision %d", p.Model, p.Failover, p.Revision)
			}
		})
	}
}

// The messages name the objects and say what to change; policies and retry as
// in chapter 20.
func TestDecide_refusals_say_what_happened_and_what_to_change(t *testing.T) {
	a := provider("a")
	for _, row := range []struct {
		name    string
		objects []any
		model   string
		want    Refusal // Message holds the parts, separated by |
	}{
		{
			"ER-NOROUTE names the model, the closest route and its pattern",
			[]any{route(t, "far", "llama-*", a), route(t, "near", "claude-sonnet-4-5 x*", a)},
			"claude-sonnet-4-6",
			Refusal{Status: 503, Code: "NO_ROUTE", Policy: "no-route", Message: `"claude-sonnet-4-6"|"near"|"claude-sonnet-4-5"|modelPatterns`},
		},
		{
			"ER-NOROUTE names the first route by name among equally close ones",
			[]any{route(t, "zeta", "mode1", a), route(t, "beta", "mode2", a)},
			"mode3",
			Refusal{Status: 503, Code: "NO_ROUTE", Policy: "no-route", Message: `"beta"|"mode2"`},
		},
		{
			"ER-NOROUTE names an implicit route as well",
			[]any{provider("z", serves(t, "claude-*"))},
			"claud",
			Refusal{Status: 503, Code: "NO_ROUTE", Policy: "no-route", Message: `"z"|"claude-*"`},
		},
		{
			"ER-NOROUTE compares in lower case",
			[]any{route(t, "a", "aaaaaa-aaaa-4-2", a), route(t, "b", "claude-opus-4-1", a)},
			"CLAUDE-OPUS-4-2",
			Refusal{Status: 503, Code: "NO_ROUTE", Policy: "no-route", Message: `"CLAUDE-OPUS-4-2"|"b"`},
		},
		{
			"ER-NOROUTE without any route says so", nil, "m",
			Refusal{Status: 503, Code: "NO_ROUTE", Policy: "no-route", Message: `"m"|no route at all`},
		},
		{
			"ER-NOROUTE with names longer than what is compared",
			[]any{route(t, "r", strings.Repeat("a", 200)+"*", a)},
			strings.Repeat("a", 190),
			Refusal{Status: 503, Code: "NO_ROUTE", Policy: "no-route", Message: `"r"`},
		},
		{
			"ER-NOROUTE as 404 says the same",
			[]any{route(t, "near", "claude-*", a), func(c *Config) { c.UnknownModelStatus = 404 }},
			"claud",
			Refusal{Status: 404, Code: "model_not_found", Policy: "no-route", Message: `"claud"|"near"|"claude-*"|modelPatterns`},
		},
		{
			"ER-MODE names the model, the route and the kind of member it lacks",
			[]any{route(t, "r", "m*", provider("bare", noKey))},
			"m1",
			Refusal{Status: 503, Code: "NO_ROUTE", Policy: "no-route", Message: `"r"|"m1"|key of the organisation|apiKey`},
		},
		{
			"ER-TIE names the routes",
			[]any{provider("y", serves(t, "claude-*")), provider("x", serves(t, "claude-*"))},
			"claude-x",
			Refusal{Status: 503, Code: "UPSTREAM_AMBIGUOUS", Policy: "upstream-ambiguous", Message: `"x" and "y"|"claude-x"|modelPatterns`},
		},
		{
			"ER-NOPROV says of each member why not",
			[]any{route(t, "r", "*", provider("bare", noKey), provider("d", drained), provider("o", openAI))},
			"m1",
			Refusal{Status: 503, Code: "no_eligible_provider", Policy: "no-eligible-provider", Message: `"r"|"m1"|bare: credential-mode|d: drained|o: wire-format (openai-chat)`},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := decide(build(t, row.objects...), messages, row.model)
			if p.Refusal == nil {
				t.Fatal(p.Explain())
			}
			got := *p.Refusal
			for part := range strings.SplitSeq(row.want.Message, "|") {
				if !strings.Contains(got.Message, part) {
					t.Errorf("the message %q does not say %s", got.Message, part)
				}
			}
			row.want.Message = got.Message
			if got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
			last := p.Steps[len(p.Steps)-1]
			if last != (Step{StageRefusal, got.Code, row.model, got.Message}) {
				t.Errorf("the last step is %+v", last)
			}
		})
	}
}

// Every exclusion and choice has a step that says why.
func TestDecide_explains_each_step(t *testing.T) {
	bare, drain, other := provider("bare", noKey), provider("drain", drained), provider("other", openAI)
	a, b := provider("a"), provider("b", alias("claude-opus-4", "opus@4"))
	s := build(t,
		route(t, "claude", "c* claude-* claude-opus-*", bare, drain, other, fallback(b), a),
		provider("own", serves(t, "llama-*")),
		provider("y", openAI, serves(t, "tie-*")), provider("z", serves(t, "*-tie")),
		provider("x", openAI, serves(t, "gemini-*")),
	)
	for _, row := range []struct {
		name, model string
		want        []string
	}{
		{"the route with its most specific pattern, each exclusion, the strategy", "claude-opus-4", []string{
			"route picked claude: claude-opus-*",
			"member credential-mode bare: it has no key of the organisation",
			"member drained drain: it takes no new requests",
			"member wire-format other: openai-chat",
			"strategy failover a: first in order",
		}},
		{"an implicit route is told from a stored one", "llama-3", []string{"route picked-implicit own: llama-*", "strategy failover own: first in order"}},
		{"a route without candidates has no strategy step", "gemini-3", []string{
			"route picked-implicit x: gemini-*", "member wire-format x: openai-chat",
			`refusal no_eligible_provider gemini-3: no member of route "x" can serve the model "gemini-3": x: wire-format (openai-chat)`,
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := decide(s, messages, row.model)
			var got []string
			for _, st := range p.Steps {
				got = append(got, fmt.Sprintf("%s %s %s: %s", st.Stage, st.Code, st.Subject, st.Detail))
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	t.Run("a tie that the family decided is told", func(t *testing.T) {
		p := decide(build(t, provider("y", openAI, serves(t, "*")), provider("z", serves(t, "*"))), messages, "claude-x")
		if p.Steps[0] != (Step{StageRoute, "picked-by-family", "z", "*"}) {
			t.Errorf("%+v", p.Steps[0])
		}
	})
	t.Run("candidates say what put them where they are", func(t *testing.T) {
		p := decide(s, messages, "claude-opus-4")
		want := []Candidate{
			{Route: "claude", Provider: "a", WireModel: "claude-opus-4", Residency: "global", Credential: CredentialOwn, State: Healthy, Strategy: "failover", Why: "first in order"},
			{Route: "claude", Provider: "b", WireModel: "opus@4", Residency: "global", Credential: CredentialOwn, State: Healthy, Strategy: "failover", Why: "fallback only"},
		}
		if diff := cmp.Diff(want, p.Candidates); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestExplain(t *testing.T) {
	s := build(t,
		route(t, "one", "one", provider("a")),
		route(t, "claude", "claude-*", provider("d", drained), provider("a"), provider("c"), fallback(provider("b", alias("claude-x", "cx-1")))),
		route(t, "gone", "gone-*", provider("d", drained)))
	for _, row := range []struct {
		name, model string
		endpoint    *llm.Endpoint
		want        string
	}{
		{"a plan with candidates", "claude-x", messages, `model    claude-x (revision 1)
route    picked            claude: claude-*
member   drained           d: it takes no new requests
strategy failover          a: first in order
try 1    a via claude as claude-x (first in order)
try 2    c via claude as claude-x (next in order)
try 3    b via claude as cx-1 (fallback only)
`},
		{"an endpoint that does not fail over", "claude-x", countTokens, `model    claude-x (revision 1)
route    picked            claude: claude-*
member   drained           d: it takes no new requests
strategy failover          a: first in order
try 1    a via claude as claude-x (first in order)
try 2    c via claude as claude-x (next in order)
try 3    b via claude as cx-1 (fallback only)
         only one is dialled: this endpoint does not fail over
`},
		{"an endpoint that does not fail over, with one candidate", "one", countTokens, `model    one (revision 1)
route    picked            one: one
strategy failover          a: first in order
try 1    a via one as one (first in order)
`},
		{"a refusal", "gone-x", messages, `model    gone-x (revision 1)
route    picked            gone: gone-*
member   drained           d: it takes no new requests
refused  503 no_eligible_provider: no member of route "gone" can serve the model "gone-x": d: drained (it takes no new requests)
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, decide(s, row.endpoint, row.model).Explain()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// RQ-PURE.
func TestDecide_RQ_PURE_requests_share_a_snapshot_and_leave_it_as_it_is(t *testing.T) {
	objects := func() []any {
		shared := provider("shared", alias("claude-x", "cx"))
		return []any{
			route(t, "a", "claude-* *-mini", provider("one"), shared, fallback(provider("two"))), route(t, "b", "*", shared, provider("three", drained)),
			provider("y", serves(t, "own-*", "tie*")), provider("z", serves(t, "*-own", "*tie", "eit*")), provider("w", serves(t, "*own")),
		}
	}
	s, fresh := build(t, objects()...), build(t, objects()...)
	models := []string{"claude-x", "gpt-mini", "own-x", "own-own", "tie", "llama", "CLAUDE-MINI", "tietie"}
	var want []*Plan
	for _, m := range models {
		want = append(want, decide(s, messages, m))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				for i, m := range models {
					if diff := samePlan(want[i], decide(s, messages, m)); diff != "" {
						t.Errorf("%s: the same input gave another plan\n%s", m, diff)
						return
					}
				}
				Models(s, Caller{}, endpoints)
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(fresh, s, cmp.AllowUnexported(Snapshot{}, Pattern{}, index{}, globIndex{}, length{}, failover{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the snapshot changed\n%s", diff)
	}
}

func TestBuild_does_not_hold_on_to_its_input(t *testing.T) {
	c := Config{
		Providers: []*Provider{provider("b", serves(t, "b-*")), provider("a", serves(t, "a-*"))},
		Routes:    []*Route{route(t, "z", "z-*"), route(t, "y", "y-*")},
		Models:    []string{"z-1", "a-1"},
	}
	s := Build(c)
	if c.Providers[0].ID != "b" || c.Routes[0].ID != "z" || c.Models[0] != "z-1" {
		t.Error("Build sorts the caller's lists")
	}
	c.Providers[0], c.Routes[0], c.Models[1] = nil, nil, "changed"
	if got := short(decide(s, messages, "b-1")); got != "b: b" {
		t.Errorf("%s", got)
	}
	var order []string
	for _, r := range s.Routes() {
		order = append(order, string(r.ID))
	}
	for _, p := range s.Providers() {
		order = append(order, string(p.ID))
	}
	if got := strings.Join(order, " "); got != "y z a b a b" {
		t.Errorf("stored routes by name, implicit ones, providers: %s", got)
	}
}

func TestBuild_RT_IMPL_own_routes_lack_patterns_that_a_stored_route_has(t *testing.T) {
	s := build(t,
		route(t, "r", "CLAUDE-* x", provider("a", serves(t, "a-*"))),
		provider("y", serves(t, "x", "claude-*")),
		provider("z", serves(t, "claude-*", "anthropic*", "*x")),
		provider("none"),
	)
	var got []string
	for _, r := range s.Routes() {
		got = append(got, fmt.Sprintf("%s %v %v", r.ID, r.Implicit, r.Patterns))
	}
	if diff := cmp.Diff([]string{"r false [CLAUDE-* x]", "z true [anthropic* *x]"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestStrategies(t *testing.T) {
	for _, k := range Strategies() {
		got, ok := StrategyByID(k.ID)
		if !ok || got.ID != k.ID || k.New(DefaultStrategyOptions()).ID() != k.ID || k.Title == "" {
			t.Errorf("%+v", k)
		}
	}
	if k, ok := StrategyByID(""); !ok || k.ID != "failover" {
		t.Errorf("the default is %q", k.ID)
	}
	if k, ok := StrategyByID("Failover"); ok {
		t.Errorf("found %q", k.ID)
	}
}

func TestDecide_allocates_little(t *testing.T) {
	for _, row := range []struct {
		name string
		s    *Snapshot
		in   *Input
		most float64
	}{
		{"plain: the plan and the options", benchSnapshot(t, 50), asked("claude-opus-4-1"), 2},
		{"no route: the refusal's text", benchSnapshot(t, 50), asked("llama-3"), 12},
		{"weighted with a session, ceilings, windows and a broken member", realistic(t, 50, "weighted"), hard(asked("claude-opus-4-1", session("5e55"))), 4},
		{"least-loaded, drawn", realistic(t, 50, "least-loaded"), hard(asked("claude-opus-4-1")), 4},
		{"lowest-latency", realistic(t, 50, "lowest-latency"), hard(asked("claude-opus-4-1")), 6},
	} {
		if n := testing.AllocsPerRun(100, func() { Decide(row.s, row.in) }); n > row.most {
			t.Errorf("%s: %v allocations, want %v at most", row.name, n, row.most)
		}
	}
}
