package adminapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/dryrun"
	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// pools are providers and routes of every strategy that this file asks.
func pools(t *testing.T) (a, b *gwtest.Fake, documents []string) {
	t.Helper()
	a, b = gwtest.NewFake(t), gwtest.NewFake(t)
	route := func(name, strategy, more string) string {
		return gwtest.Route(name, `"`+name+`-*"`, "first", "second") + "\nstrategy: {type: " + strategy + "}" + more
	}
	return a, b, []string{
		a.OpenAI("first", "residency: us"), b.OpenAI("second", "residency: eu", "modelAliases: {order-5: small}"), a.Anthropic("claude"),
		route("order", "failover", "\naliases: [{name: best, wireModels: {first: order-1, second: order-2}}]"),
		route("turns", "round-robin", ""), route("draw", "weighted", ""), route("load", "least-loaded", ""), route("fast", "lowest-latency, minRequests: 1", ""),
		gwtest.Route("messages", `"claude-*"`, "claude"),
		"kind: Key\nname: eu\ntype: service\nsecret: ilk_test_of_europeans_only_1\nallowedResidencies: [eu]\nowner: {user: root@example.com}",
	}
}

// BY-2: the dry run says what then happens, line for line.
func TestBY_2_AP_the_dry_run_is_the_live_decision(t *testing.T) {
	a, _, documents := pools(t)
	gw := start(t, "llmProxy: {circuitBreaker: {failureThreshold: 1}, retry: {maxRetries: 0}}", documents...)
	const chat = "/v1/chat/completions"
	for _, c := range []struct {
		name, path, body, question string
		headers                    []string
	}{
		{name: "failover", path: chat, body: chatOf("order-5"), question: `"model":"order-5"`},
		{name: "alias", path: chat, body: chatOf("best"), question: `"model":"best"`},
		{name: "first turn", path: chat, body: chatOf("turns-1"), question: `"model":"turns-1"`},
		{name: "second turn", path: chat, body: chatOf("turns-1"), question: `"model":"turns-1"`},
		{name: "third turn", path: chat, body: chatOf("turns-1"), question: `"model":"turns-1"`},
		{name: "session", path: chat, body: chatOf("turns-1"), question: `"model":"turns-1","session":"s-1"`, headers: []string{"X-Interlock-Session: s-1"}},
		{
			name: "session that came before", path: chat, body: chatOf("turns-1"), question: `"model":"turns-1","headers":{"x-interlock-session":"s-1"}`,
			headers: []string{"X-Interlock-Session: s-1"},
		},
		{name: "drawn for a session", path: chat, body: chatOf("draw-1"), question: `"model":"draw-1","session":"s-2"`, headers: []string{"X-Interlock-Session: s-2"}},
		{name: "load", path: chat, body: chatOf("load-1"), question: `"model":"load-1","session":"s-2"`, headers: []string{"X-Session-Id: s-2"}},
		{
			name: "load that is pinned", path: chat, body: chatOf("load-1"), question: `"model":"load-1","headers":{"X-Session-Id":"s-2"}`,
			headers: []string{"X-Session-Id: s-2"},
		},
		{name: "no fallback", path: chat, body: chatOf("order-5"), question: `"model":"order-5","headers":{"X-Interlock-No-Fallback":"True"}`, headers: []string{"X-Interlock-No-Fallback: true"}},
		{name: "the endpoint of the route", path: "/v1/messages", body: messageOf("claude-sonnet-4-6"), question: `"model":"claude-sonnet-4-6"`},
		{name: "a count", path: "/v1/messages/count_tokens", body: messageOf("claude-sonnet-4-6"), question: `"model":"claude-sonnet-4-6","endpoint":"count_tokens"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			question := fmt.Sprintf(`{%s,"key":"root",%s}`, c.question, tokens(c.body))
			said := gw.resolve(question)
			if again := gw.resolve(question); again.Plan.Line() != said.Plan.Line() {
				t.Errorf("asking changes the answer:\n%s\n%s", said.Explanation, again.Explanation)
			}
			line, id := gw.ask(c.path, c.body, c.headers...)
			if !said.Served || line == "" || line != said.Plan.Line() {
				t.Errorf("said %s\nserved %s", said.Plan.Line(), line)
			}
			if d := gw.decided(id); d.Plan == nil || d.Plan.Line() != line || d.Record.Provider != string(said.Candidates[0].Provider) {
				t.Errorf("kept %+v", d)
			}
		})
	}
	t.Run("an open breaker", func(t *testing.T) {
		a.Rules(t, fakellm.Rule{Action: fakellm.ActionStatus, Status: 500})
		gw.ask(chat, chatOf("order-5"))
		said := gw.resolve(`{"model":"order-5","key":"root",` + tokens(chatOf("order-5")) + `}`)
		line, id := gw.ask(chat, chatOf("order-5"))
		if line != said.Plan.Line() || said.Candidates[0].Provider != "second" || said.Candidates[1].State != routing.Open {
			t.Errorf("said %s\nserved %s", said.Explanation, line)
		}
		if d := gw.decided(id); d.Plan == nil || d.Plan.Line() != line {
			t.Errorf("kept %+v", d)
		}
	})
}

// BY-2, AP: the decision that is shown of a request is the one that served it,
// with what it read: an open breaker, a turn, a draw, a session, a ceiling.
func TestBY_2_AP_decisions_show_the_plan_that_served(t *testing.T) {
	a, _, documents := pools(t)
	gw := start(t, "llmProxy: {circuitBreaker: {failureThreshold: 1}, retry: {maxRetries: 0}}", documents...)
	const chat = "/v1/chat/completions"
	same := func(what, line, id string) decision {
		t.Helper()
		d := gw.decided(id)
		if line == "" || d.Plan == nil || d.Plan.Line() != line {
			t.Errorf("%s:\nserved %s\nshown  %+v %s", what, line, d.Plan, d.PlanError)
		}
		return d
	}
	for i := range 4 {
		line, id := gw.ask(chat, chatOf("turns-7"))
		same(fmt.Sprintf("turn %d", i), line, id)
		line, id = gw.ask(chat, chatOf("draw-7"))
		same(fmt.Sprintf("draw %d", i), line, id)
		line, id = gw.ask(chat, chatOf("load-7"), "X-Interlock-Session: s")
		d := same(fmt.Sprintf("session %d", i), line, id)
		if d.Record.SessionHash == "" || !strings.Contains(string(d.Record.Facts), d.Record.SessionHash) {
			t.Errorf("session %d: %s %s", i, d.Record.SessionHash, d.Record.Facts)
		}
		line, id = gw.ask(chat, chatOf("fast-7"))
		same(fmt.Sprintf("latency %d", i), line, id)
	}
	line, id := gw.ask(chat, chatOf("order-7"), "Authorization: Bearer ilk_test_of_europeans_only_1")
	if d := same("ceiling", line, id); d.Record.Provider != "second" || len(d.Plan.Candidates) != 1 {
		t.Errorf("ceiling: %+v", d)
	}
	a.Rules(t, fakellm.Rule{Action: fakellm.ActionStatus, Status: 503, Times: 1})
	line, id = gw.ask(chat, chatOf("order-7"))
	if d := same("failover", line, id); len(d.Record.Attempts) != 2 || d.Record.Attempts[0].Category != "server_error" && d.Record.Attempts[0].Category != "overloaded" ||
		d.Record.Attempts[0].Credential != "own" || d.Record.Attempts[1].Credential != "own" {
		t.Errorf("failover: %+v", d.Record)
	}
	line, id = gw.ask(chat, chatOf("order-7"))
	if d := same("open", line, id); d.Plan.Candidates[1].State != routing.Open || len(d.Record.Attempts) != 1 {
		t.Errorf("open: %+v", d)
	}
	// A later change of the configuration changes nothing of it.
	gw.call("DELETE", "/routes/order", "", 204, nil)
	same("after a change", line, id)
}

// AP, BY-2: what the dry run takes and says.
func TestAP_dry_run(t *testing.T) {
	a, b, documents := pools(t)
	gw := start(t, "", append(documents,
		"kind: Key\nname: held\ntype: virtual\nproviderCredential: {provider: second, apiKey: sk-of-the-holder}\nsecret: ilk_test_of_a_virtual_key_1",
		"kind: Key\nname: old\ntype: service\nexpiresAt: 2020-01-01T00:00:00Z\nsecret: ilk_test_of_an_expired_key_1",
		"kind: Key\nname: none\ntype: service\nallowedModels: [order-1]\nsecret: ilk_test_of_what_is_not_built")...)
	providers := func(a *dryrun.Answer) string {
		var names []string
		for _, c := range a.Candidates {
			names = append(names, string(c.Provider)+":"+string(c.Credential)+":"+c.WireModel)
		}
		return strings.Join(names, " ")
	}
	for question, want := range map[string]string{
		`{"model":"order-5"}`:                                                 "first:own:order-5 second:own:small",
		`{"model":"order-5","key":"eu"}`:                                      "second:own:small",
		`{"model":"order-5","key":"held"}`:                                    "first:own:order-5 second:virtual:small",
		`{"model":"order-5","assume":{"down":["first"]}}`:                     "second:own:small first:own:order-5",
		`{"model":"order-5","assume":{"parked":["first"],"down":["second"]}}`: "first:own:order-5 second:own:small",
		`{"model":"order-5","callerCredential":true}`:                         "",
		`{"model":"order-5","key":"held","callerCredential":true}`:            "first:own:order-5 second:virtual:small",
		`{"model":"order-5","endpoint":"messages"}`:                           "",
		`{"model":"BEST"}`:                                                    "first:own:order-1 second:own:order-2",
		`{"model":"order-5","draft":[{"kind":"Provider","name":"x","type":"openai","apiKey":"sk-of-a-draft"},{"kind":"Route","name":"order","modelPatterns":["order-*"],"members":[{"provider":"x"}]}]}`: "x:own:order-5",
	} {
		got := gw.resolve(question)
		if providers(got) != want || got.Served != (want != "") || got.Served != (got.Refusal == nil) {
			t.Errorf("%s:\n got %q\nwant %q\n%s", question, providers(got), want, got.Text())
		}
		if got.Explanation != got.Plan.Explain() || got.Seed == 0 || got.Draft != strings.Contains(question, "draft") {
			t.Errorf("%s: %+v", question, got)
		}
	}
	if n := a.Requests() + b.Requests(); n != 0 {
		t.Errorf("a dry run asked providers %d times", n)
	}
	t.Run("exclusions", func(t *testing.T) {
		got := gw.resolve(`{"model":"order-5","key":"eu"}`)
		if len(got.Excluded) != 1 || got.Excluded[0] != (dryrun.Exclusion{Provider: "first", Code: "residency", Reason: "us, and the caller's key allows eu only"}) {
			t.Errorf("%+v", got.Excluded)
		}
	})
	t.Run("failures", func(t *testing.T) {
		got := gw.resolve(`{"model":"order-5","failures":["rate_limit","connection","auth"]}`)
		if len(got.Next) != 2 || got.Next[0].Action != "next" || got.Next[0].Next != "second" || got.Next[1].Action != "exhausted" || !got.Next[1].Retry {
			t.Errorf("%+v", got.Next)
		}
		if !strings.Contains(strings.Join(got.Warnings, "\n"), "2 of 3 happen") {
			t.Errorf("%v", got.Warnings)
		}
		if got := gw.resolve(`{"model":"order-5","failures":["request_error"]}`); len(got.Next) != 1 || got.Next[0].Action != "return" {
			t.Errorf("%+v", got.Next)
		}
		if got := gw.resolve(`{"model":"order-5","failures":["timeout"],"assume":{"down":["second"]}}`); len(got.Next) != 1 || got.Next[0].Action != "exhausted" {
			t.Errorf("%+v: who is down is not dialled after another", got.Next)
		}
	})
	t.Run("keys that are turned away", func(t *testing.T) {
		for key, code := range map[string]string{"old": "invalid_api_key", "none": "MODEL_DENIED"} {
			if got := gw.resolve(`{"model":"order-5","key":"` + key + `"}`); got.Served || got.Refusal.Code != code || len(got.Candidates) == 0 {
				t.Errorf("%s: %+v", key, got)
			}
		}
	})
	t.Run("seeds", func(t *testing.T) {
		first := gw.resolve(`{"model":"draw-1"}`)
		for range 3 {
			if again := gw.resolve(fmt.Sprintf(`{"model":"draw-1","seed":%d}`, first.Seed)); again.Plan.Line() != first.Plan.Line() {
				t.Errorf("%s\n%s", again.Plan.Line(), first.Plan.Line())
			}
		}
	})
	t.Run("what is not used is said", func(t *testing.T) {
		got := gw.resolve(`{"model":"order-5","caller":{"team":"a"},"params":{"x":1},"pii":true,"budgetUsed":0,"tokensUsed":1,"headers":{"x-other":"1"},"assume":{"down":["nobody"],"ignoreGrantRoute":true}}`)
		text := strings.Join(got.Warnings, "\n")
		for _, field := range []string{"caller:", "params.x:", "pii:", "budgetUsed:", "tokensUsed:", "assume.ignoreGrantRoute:", "headers.x-other:", "assume.down[0]:"} {
			if !strings.Contains(text, field) {
				t.Errorf("%s is not in %s", field, text)
			}
		}
	})
	t.Run("refusals", func(t *testing.T) {
		if got := gw.resolve(`{"model":"unheard-of"}`); got.Served || got.Refusal.Code != "NO_ROUTE" || got.Candidates == nil || got.Excluded == nil {
			t.Errorf("%+v", got)
		}
		for body, path := range map[string]string{
			`{}`: "model", `{"model":""}`: "model", `{"model":"m","modell":"n"}`: "modell", `{"model":"m","endpoint":"chat"}`: "endpoint",
			`{"model":"m","key":"nobody"}`: "key", `{"model":"m","assume":{"up":[]}}`: "assume.up", `{"model":"m","assume":{"down":"x"}}`: "assume.down",
			`{"model":"m","caller":{"name":"x"}}`: "caller.name", `{"model":"m","assume":[]}`: "assume", `{"model":"m","failures":["x"]}`: "failures[0]",
			`{"model":"m","promptTokens":-1}`: "promptTokens", `{"model":"m","seed":9007199254740992}`: "seed", `{"model":"m","stream":1}`: "stream",
			`{"model":"m","draft":[{"kind":"Nobody"}]}`: "draft[0].kind", `{"model":"m","draft":[{"kind":"Route","name":"r","x":1}]}`: "draft[0].x",
		} {
			if p := gw.refused("POST", "/routing/resolve", body, 400, "invalid"); len(p.Errors) != 1 || p.Errors[0].Path != path {
				t.Errorf("%s: %+v, want the path %s", body, p, path)
			}
		}
		gw.refused("POST", "/routing/resolve", `{"model":"m","draft":[{"kind":"Route","name":"r","modelPatterns":["x"],"members":[{"provider":"nobody"}]}]}`, 400, "missing_reference")
	})
}
