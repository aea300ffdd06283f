package hotpath

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/state"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// asked is the model that requests name: the last route has it, and its
// providers another name for it.
const (
	routesUsual = 50
	asked       = "vendor-00049/gpt-4o-mini"
)

// compile makes a configuration of routes with three members each, as the
// program would from documents. more are lines of every route.
func compile(tb testing.TB, baseURL string, more ...string) *snapshot.Live {
	tb.Helper()
	var docs []string
	for i := range 10 {
		docs = append(docs, fmt.Sprintf("kind: Provider\nname: p%02d\ntype: openai\nbaseUrl: %s\napiKey: sk-of-p%02d\nresidency: eu\n"+
			"dataHandling: {zeroDataRetention: true}\nmodelAliases: {%s: gpt-4o-mini-2026}", i, baseURL, i, asked))
	}
	for i := range routesUsual {
		lines := append([]string{
			"kind: Route", fmt.Sprintf("name: r%05d", i),
			fmt.Sprintf(`modelPatterns: [vendor-%05[1]d/*, "*-tuned-%05[1]d", model-%05[1]d-2026-11]`, i),
			fmt.Sprintf("members: [{provider: p%02d, weight: 3}, {provider: p%02d}, {provider: p%02d, fallbackOnly: true}]", i%10, (i+1)%10, (i+2)%10),
		}, more...)
		docs = append(docs, strings.Join(lines, "\n"))
	}
	docs = append(docs, "kind: Key\nname: bench\ntype: service\nsecret: "+gwtest.Key)
	loaded, err := gwtest.Load(tb, gwtest.Config{Documents: docs})
	if err != nil {
		tb.Fatal(err)
	}
	live, err := app.Compile(loaded, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return live
}

const nowhere = "http://127.0.0.1:9/v1"

func chatEndpoint(tb testing.TB) *llm.Endpoint {
	tb.Helper()
	for _, e := range formats.Endpoints() {
		if e.ID == llm.ChatCompletions {
			return e
		}
	}
	tb.Fatal("no endpoint for chat completions")
	return nil
}

// decides makes the step of one decision.
func decides(tb testing.TB, s *routing.Snapshot, q routing.Query) func() {
	tb.Helper()
	board := state.NewBoard(state.Options{Settings: state.DefaultSettings()})
	q.Endpoint, q.Tokens = chatEndpoint(tb), 128
	in := &routing.Input{Query: q, Facts: routing.Facts{Now: time.Unix(1_800_000_000, 0)}, View: board, Dice: board}
	if p := routing.Decide(s, in); p.Refusal != nil || len(p.Candidates) == 0 {
		tb.Fatal(p.Explain())
	}
	d := new(routing.Decider) // as a request has one from a pool
	return func() { d.Decide(s, in) }
}

func routingWorks() []work {
	ceilings := &routing.Ceilings{
		Providers: []routing.ProviderID{"p08", "p09", "p00", "p01"}, Residencies: []string{"eu", "on-prem"},
		Data: routing.DataHandling{ZeroDataRetention: true},
	}
	return []work{
		{"decide/50-routes", func(tb testing.TB) func() {
			return decides(tb, compile(tb, nowhere).Routing, routing.Query{Model: asked})
		}},
		{"decide/50-routes-weighted-session", func(tb testing.TB) func() {
			s := compile(tb, nowhere, "strategy: {type: weighted}").Routing
			return decides(tb, s, routing.Query{Model: asked, Session: wire.SessionHash("a session")})
		}},
		{"decide/50-routes-ceilings", func(tb testing.TB) func() {
			return decides(tb, compile(tb, nowhere).Routing, routing.Query{Model: asked, Caller: routing.Caller{Ceilings: ceilings}})
		}},
		{"decide/10000-routes", func(tb testing.TB) func() {
			return decides(tb, manyRoutes(tb, 10_000), routing.Query{Model: "vendor-09999/gpt-4o-mini"})
		}},
		{"decide/10000-routes-no-match", func(tb testing.TB) func() {
			s, in := manyRoutes(tb, 10_000), &routing.Input{Query: routing.Query{Endpoint: chatEndpoint(tb), Model: "some-vendor/some-model-4-1-20260805-large"}}
			d := new(routing.Decider)
			return func() { d.Decide(s, in) }
		}},
	}
}

// manyRoutes builds the snapshot alone: compiling documents compares all
// patterns with each other, which is not what is measured.
func manyRoutes(tb testing.TB, n int) *routing.Snapshot {
	tb.Helper()
	kind, ok := routing.StrategyByID("failover")
	if !ok {
		tb.Fatal("no strategy failover")
	}
	strategy := kind.New(routing.DefaultStrategyOptions())
	var c routing.Config
	for i := range 10 {
		c.Providers = append(c.Providers, &routing.Provider{ID: routing.ProviderID(fmt.Sprintf("p%02d", i)), Format: chatEndpoint(tb).Format, OrgKey: true, Residency: "eu"})
	}
	for i := range n {
		r := &routing.Route{ID: routing.RouteID(fmt.Sprintf("r%05d", i)), Strategy: strategy}
		for _, text := range []string{"vendor-%05d/*", "*-tuned-%05d", "model-%05d-2026-11"} {
			p, err := routing.ParsePattern(fmt.Sprintf(text, i))
			if err != nil {
				tb.Fatal(err)
			}
			r.Patterns = append(r.Patterns, p)
		}
		for j := range 3 {
			r.Members = append(r.Members, routing.Member{Provider: c.Providers[(i+j)%10], Weight: 1, FallbackOnly: j == 2})
		}
		c.Routes = append(c.Routes, r)
	}
	return routing.Build(c)
}
