package adminapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// changesOf are the summaries of what administrators did, newest first.
func (r *rig) changes() []string {
	r.t.Helper()
	var page struct {
		Items []struct {
			Actor, Summary string
			Admin          struct{ Actor, Summary string }
		}
	}
	r.call("GET", "/audit-events?kind=admin", "", 200, &page)
	var out []string
	for _, x := range page.Items {
		out = append(out, x.Actor+x.Admin.Actor+" "+x.Summary+x.Admin.Summary)
	}
	return out
}

// BY-13, AP: an operator parks, un-parks and drains; each is in the audit with
// who did it.
func TestBY_13_AP_park_drain_and_unpark(t *testing.T) {
	a, b := gwtest.NewFake(t), gwtest.NewFake(t)
	gw := start(t, "", a.OpenAI("first"), b.OpenAI("second"), a.OpenAI("off", "enabled: false"), gwtest.Route("gpt", `"gpt-*"`, "first", "second"))
	serves := func(want string) {
		t.Helper()
		got := gw.Post(t, "/v1/chat/completions", chatOf("gpt-5"))
		if p := got.Header.Get("X-Interlock-Provider"); got.Status != 200 || p != want {
			t.Errorf("%d by %q, want %q: %s", got.Status, p, want, got.Body)
		}
	}
	var done struct {
		Changed  bool
		Provider struct {
			Name string
			Park *struct {
				By    string
				Until time.Time
			}
		}
	}
	serves("first")
	gw.call("POST", "/providers/first/park", `{"seconds":60}`, 200, &done)
	if p := done.Provider.Park; !done.Changed || p == nil || p.By != "token:6789" || time.Until(p.Until) > time.Minute || time.Until(p.Until) < 50*time.Second {
		t.Errorf("%+v", done)
	}
	serves("second")
	u := gw.upstreams()
	if m := u.member("gpt", "first"); m.State != "parked" || m.Cause != "operator" || m.By != "token:6789" || m.Since.IsZero() || *u.Routes[0].ActiveMember == "" {
		t.Errorf("%+v", m)
	}
	done.Provider.Park = nil
	gw.call("POST", "/providers/first/unpark", "", 200, &done)
	if !done.Changed || done.Provider.Park != nil {
		t.Errorf("%+v", done)
	}
	serves("first")
	gw.call("POST", "/providers/first/unpark", "", 200, &done)
	if done.Changed {
		t.Error("nothing was parked")
	}

	var p struct {
		Drained bool
		Version int
		HasKey  bool `json:"hasApiKey"`
	}
	gw.call("POST", "/providers/first/drain?dryRun=true", "", 200, nil)
	serves("first")
	gw.call("POST", "/providers/first/drain", "", 200, &p)
	if !p.Drained || p.Version != 2 || !p.HasKey {
		t.Errorf("%+v", p)
	}
	serves("second")
	if got := gw.upstreams().route("gpt"); got != "stored second 1: first=drained second=healthy" {
		t.Error(got)
	}
	gw.call("POST", "/providers/first/drain", `{"drained":false}`, 200, &p)
	serves("first")
	gw.call("POST", "/providers/off/drain", "", 200, &p)

	said := strings.Join(gw.changes(), "\n")
	for _, want := range []string{`token:6789 park Provider "first" for 60 s, until 20`, `token:6789 unpark Provider "first"`, `which nothing kept from requests`} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in the audit:\n%s", want, said)
		}
	}
	if n := strings.Count(said, "drained"); n < 2 && strings.Count(said, `"first"`) < 4 {
		t.Errorf("the drains are not in the audit:\n%s", said)
	}

	for _, action := range []string{"test", "park", "unpark", "drain"} {
		body := ""
		if action == "park" {
			body = `{"seconds":1}`
		}
		gw.refused("POST", "/providers/nobody/"+action, body, 404, "not_found")
		if action != "drain" {
			gw.refused("POST", "/providers/off/"+action, body, 409, "not_in_use")
		}
	}
	for _, body := range []string{``, `{}`, `{"seconds":0}`, `{"seconds":86401}`, `{"seconds":1.5}`, `{"seconds":"1"}`, `{"seconds":1,"x":1}`} {
		gw.refused("POST", "/providers/first/park", body, 400, "invalid")
	}
	gw.refused("POST", "/providers/first/drain", `{"drain":true}`, 400, "invalid")
	gw.refused("POST", "/providers/first/drain", `{"drained":1}`, 400, "invalid")
}

// BY-13: what a file owns is drained in the file, and parked all the same; with
// breakers off nothing is parked.
func TestBY_13_drain_of_what_a_file_owns(t *testing.T) {
	a := gwtest.NewFake(t)
	gw := start(t, "resources: {mode: enforce, files: [resources.yaml]}\nllmProxy: {circuitBreaker: {enabled: false}}", a.OpenAI("first"))
	if p := gw.refused("POST", "/providers/first/drain", "", 409, "read_only"); !strings.Contains(p.Detail, "resources.yaml") {
		t.Error(p.Detail)
	}
	gw.refused("POST", "/providers/first/park", `{"seconds":60}`, 409, "breaker_off")
}

// BY-13: a new address is a new start, as a new key is; any other change leaves
// the provider's state alone.
func TestBY_13_a_new_baseUrl_ends_a_park(t *testing.T) {
	a, b := gwtest.NewFake(t), gwtest.NewFake(t)
	gw := start(t, "", a.OpenAI("p"))
	put := func(url, more string) bool {
		t.Helper()
		gw.call("POST", "/providers/p/park", `{"seconds":600}`, 200, nil)
		gw.call("PUT", "/providers/p", `{"type":"openai","baseUrl":"`+url+`/v1"`+more+`}`, 200, nil)
		return gw.upstreams().Providers[0].Park != nil
	}
	if !put(a.URL, `,"residency":"eu"`) {
		t.Error("another change ended the park")
	}
	if put(b.URL, "") {
		t.Error("the park of the old address holds at the new one")
	}
}

// AP: a test calls the provider once, for one token, and says what came of it.
func TestAP_test_of_a_provider(t *testing.T) {
	a, b := gwtest.NewFake(t), gwtest.NewFake(t)
	gw := start(t, "llmProxy: {circuitBreaker: {failureThreshold: 1}}",
		a.Anthropic("claude"), b.OpenAI("oai", "modelAliases: {quick: gpt-small}", "staticModels: [quick]"), b.OpenAI("probed", "healthProbe: {model: probe-1}"),
		passthrough("own", a.URL), b.OpenAI("plain"), b.OpenAI("pattern", `modelPatterns: ["x-*", "x-exact"]`),
		"kind: Provider\nname: local\ntype: openai-compatible\nvendor: vllm\nbaseUrl: "+b.URL+"/v1",
		"kind: Provider\nname: gone\ntype: openai\nbaseUrl: http://127.0.0.1:1/v1\napiKey: sk-of-what-is-gone")
	type result struct {
		OK                             bool
		Status                         int
		LatencyMs                      float64
		Model, Category, Message, Code string
	}
	test := func(name, body string) result {
		t.Helper()
		var r result
		gw.call("POST", "/providers/"+name+"/test", body, 200, &r)
		return r
	}
	if r := test("claude", ""); !r.OK || r.Status != 200 || r.LatencyMs <= 0 || r.Model != "claude-haiku-4-5" || r.Category != "" || r.Message != "" {
		t.Errorf("%+v", r)
	}
	var sent struct {
		Model     string
		MaxTokens int `json:"max_tokens"`
		Stream    bool
	}
	last := a.Records()[len(a.Records())-1]
	if err := json.Unmarshal(last.Body, &sent); err != nil || sent.Model != "claude-haiku-4-5" || sent.MaxTokens != 1 || sent.Stream || last.Headers.Get("X-Api-Key") != "sk-ant-key-of-claude" {
		t.Errorf("%+v %v", sent, last.Headers)
	}
	models, err := catalog.LoadModels()
	if err != nil {
		t.Fatal(err)
	}
	for vendor, model := range map[string]string{"anthropic": "claude-haiku-4-5", "openai": "gpt-5.4-nano"} {
		if _, known := models.Find(vendor, model); !known {
			t.Errorf("the catalogue does not know %s of %s any more; choose another cheap model", model, vendor)
		}
	}
	for name, want := range map[string]string{"oai": "gpt-small", "probed": "probe-1", "pattern": "x-exact", "plain": "gpt-5.4-nano"} {
		if r := test(name, "{}"); !r.OK || r.Model != want {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := test("local", `{"model":"llama-3"}`); !r.OK || r.Model != "llama-3" {
		t.Errorf("%+v", r)
	}
	b.Rules(t, fakellm.Rule{Action: fakellm.ActionStatus, Status: 401, Body: `{"error":{"message":"Incorrect API key provided: sk-key-of-oai. ` + strings.Repeat("x", 900) + `","code":"invalid_api_key"}}`})
	r := test("oai", `{"model":"quick"}`)
	if r.OK || r.Status != 401 || r.Category != "auth" || r.Code != "invalid_api_key" || !strings.HasPrefix(r.Message, "Incorrect API key provided: ***.") || len(r.Message) > 500 {
		t.Errorf("%+v", r)
	}
	b.Rules(t, fakellm.Rule{Action: fakellm.ActionError200})
	if r := test("oai", ""); r.OK || r.Status != 200 || r.Category == "" || r.Message == "" {
		t.Errorf("%+v", r)
	}
	b.Rules(t, fakellm.Rule{Action: fakellm.ActionReset})
	if r := test("oai", ""); r.OK || r.Status != 0 || r.Category != "connection" || r.Message == "" {
		t.Errorf("%+v", r)
	}
	if r := test("gone", `{"model":"m"}`); r.OK || r.Category != "connection" {
		t.Errorf("%+v", r)
	}
	// Nothing of it is held against the provider.
	for _, p := range gw.upstreams().Providers {
		if p.Breaker.State != "closed" || p.Requests != 0 || p.Park != nil || len(p.Cooldowns) > 0 {
			t.Errorf("%+v", p)
		}
	}
	if p := gw.refused("POST", "/providers/own/test", "", 400, "invalid"); !strings.Contains(p.Detail, "has no key to test with") {
		t.Error(p.Detail)
	}
	if p := gw.refused("POST", "/providers/local/test", "", 400, "invalid"); !strings.Contains(p.Detail, "name a model") {
		t.Error(p.Detail)
	}
	gw.refused("POST", "/providers/oai/test", `{"model":1}`, 400, "invalid")
	for _, at := range []string{"/providers/oai/test", "/routing/resolve"} { // a key is neither shown nor sent
		for _, key := range []string{"sk-PLANTED", "Bearer ilk_PLANTED"} {
			sent := len(b.Records())
			if got := gw.Admin(t, "POST", at, `{"model":"`+key+`"}`); got.Status != 400 || strings.Contains(got.Body, "PLANTED") || !strings.Contains(got.Body, "holds a key") || len(b.Records()) != sent {
				t.Errorf("%s: %d %s", at, got.Status, got.Body)
			}
		}
	}
	gw.refused("POST", "/providers/oai/test", `{"model":"m","x":1}`, 400, "invalid")
}
