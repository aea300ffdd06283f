package admin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// AP: the list of routes shows what is stored, implicit and reserved.
func TestAP_routes_are_tagged(t *testing.T) {
	e := newEnv(t)
	e.admin("PUT", "/providers/alone", `{"type":"anthropic"}`).want(201)
	e.admin("PUT", "/providers/keyed", `{"type":"openai-compatible","baseUrl":"https://a.example.com","modelPatterns":["llama-*"],"apiKey":"sk-a-literal-secret-9999"}`).want(201)
	e.admin("PUT", "/providers/used", `{"type":"anthropic","apiKey":"env:MAIN_KEY"}`).want(201)
	e.admin("PUT", "/providers/off", `{"type":"anthropic","enabled":false}`).want(201)
	e.admin("PUT", "/routes/chat", `{"modelPatterns":["claude-9"],"members":[{"provider":"used"},{"provider":"off","fallbackOnly":true}]}`).want(201)
	var page struct {
		Items []struct {
			Name, Tag, ManagedBy string
			Version              int
			ModelPatterns        []string
			Members              []struct{ Provider, CredentialMode, State string }
		}
	}
	e.get("/routes").into(&page)
	var got []string
	for _, r := range page.Items {
		line := r.Name + " " + r.Tag + " " + r.ManagedBy
		for _, m := range r.Members {
			line += " " + m.Provider + ":" + m.CredentialMode + ":" + m.State
		}
		got = append(got, line)
	}
	if d := cmp.Diff([]string{
		"alone implicit interlock alone:passthrough:healthy",
		"anthropic-family implicit interlock alone:passthrough:healthy used:org-key:healthy",
		"chat stored api used:org-key:healthy off:passthrough:disabled",
		"keyed implicit interlock keyed:org-key:healthy",
		"openai-family reserved interlock",
	}, got); d != "" {
		t.Error(d)
	}
	for _, sort := range []string{"name", "-name", "updatedAt", "-updatedAt"} {
		if names := e.names("/routes?limit=2&sort=" + sort); len(names) != 5 {
			t.Errorf("%s: %v", sort, names)
		}
	}
	if a := e.get("/routes/keyed"); a.field("tag") != "implicit" || a.header.Get("ETag") != `"0"` || toJSON(t, a.object()["modelPatterns"]) != `["llama-*"]` {
		t.Errorf("%s", a.body)
	}
	if a := e.get("/routes/openai-family"); a.field("tag") != "reserved" {
		t.Errorf("%s", a.body)
	}
	if a := e.get("/routes/anthropic-family"); a.field("tag") != "implicit" || !strings.Contains(string(a.body), `"claude-*"`) {
		t.Errorf("%s", a.body)
	}
	e.admin("DELETE", "/routes/anthropic-family", nil).code(409, "read_only")
	e.admin("GET", "/routes/off", nil).code(404, "not_found")
	e.admin("GET", "/routes/used", nil).code(404, "not_found")

	for _, a := range []*answer{
		e.admin("PUT", "/routes/keyed", routeBody("used", "x")), e.admin("DELETE", "/routes/keyed", nil),
		e.admin("PUT", "/routes/keyed?dryRun=true", routeBody("used", "x")), e.admin("DELETE", "/routes/keyed", nil, "If-Match", `"0"`),
	} {
		p := a.code(409, "read_only").problem()
		if !strings.Contains(p.Detail, `comes from the provider "keyed"`) || len(p.Refs) != 1 || p.Refs[0] != (resource.Ref{Kind: "Provider", Name: "keyed"}) {
			t.Errorf("%s: %s", a.what, a.body)
		}
	}
	e.admin("DELETE", "/routes/openai-family", nil).code(409, "read_only")

	// A provider that a route uses has none of its own any more.
	e.admin("PUT", "/routes/second", routeBody("keyed", "llama-*")).want(201)
	e.admin("GET", "/routes/keyed", nil).code(404, "not_found")
	e.admin("PUT", "/routes/keyed", routeBody("used", "x")).code(409, "name_taken")
	if a := e.admin("PUT", "/routes/second", routeBody("keyed", "llama-*")).want(200); a.field("tag") != "stored" || !strings.Contains(string(a.body), `"credentialMode":"org-key"`) {
		t.Errorf("%s", a.body)
	}
	// None of it is exported.
	if b := string(e.get("/export").body); strings.Contains(b, "tag") || strings.Contains(b, "credentialMode") || strings.Contains(b, "openai-family") {
		t.Error(b)
	}
}

// AP: answers show defaults; they are neither stored nor exported, and sending
// them back changes nothing.
func TestAP_answers_show_defaults(t *testing.T) {
	e := newEnv(t)
	e.provider("used")
	e.admin("PUT", "/providers/plain", `{"type":"openai","timeouts":{"totalMs":7}}`).want(201)
	e.admin("PUT", "/routes/chat", routeBody("used", "gpt-*")).want(201)
	e.admin("PUT", "/models/m", `{}`).want(201)
	e.admin("PUT", "/teams/t", `{}`).want(201)
	e.admin("POST", "/keys", `{"name":"ci","type":"service"}`).want(201)
	settings := map[string]any{
		"enabled": true, "globalPassthrough": false, "globalModelAllowlist": []any{}, "residencies": []any{"on-prem", "eu", "us", "global"}, "piiDefault": "off", "unknownModelStatus": 503.0, "allowAnonymousPassthrough": false,
	}
	if a := e.get("/settings").object(); toJSON(t, a["unknownModelStatus"]) != "503" || a["version"] != 0.0 {
		t.Errorf("%v", a)
	}
	e.admin("PUT", "/settings", `{}`).want(200)
	for path, want := range map[string]map[string]any{
		"/providers/used":  {"enabled": true, "residency": "global", "timeouts": map[string]any{"connectMs": 5000.0, "responseHeaderMs": 120000.0, "streamIdleMs": 120000.0, "totalMs": 0.0}},
		"/providers/plain": {"timeouts": map[string]any{"connectMs": 5000.0, "responseHeaderMs": 120000.0, "streamIdleMs": 120000.0, "totalMs": 7.0}},
		"/routes/chat": {
			"enabled": true, "strategy": map[string]any{"type": "failover"}, "allowCrossProvider": false, "switchFamilyOnQuota": true, "onLoss": "allow",
			"members": []any{map[string]any{"provider": "used", "weight": 1.0, "priority": 0.0, "fallbackOnly": false, "credentialMode": "org-key", "state": "healthy"}},
		},
		"/keys/ci":  {"enabled": true, "pii": "off"},
		"/models/m": {"enabled": true, "modality": "chat"},
		"/teams/t":  {"enabled": true},
		"/settings": settings,
	} {
		was, a := e.revision(), e.get(path)
		for field, v := range want {
			if d := cmp.Diff(v, a.object()[field]); d != "" {
				t.Errorf("%s %s (-want +got):\n%s", path, field, d)
			}
		}
		if c := e.admin("PUT", path+"?dryRun=true", a.body).want(200).changes(); len(c.Changes) != 0 {
			t.Errorf("%s: %+v", path, c)
		}
		b := e.admin("PUT", path, a.body).want(200)
		if e.revision() != was || string(b.body) != string(a.body) {
			t.Errorf("%s: sent back it changes something:\n%s\n%s", path, a.body, b.body)
		}
	}
	export := string(e.get("/export?format=json").body)
	for _, text := range []string{"enabled", "residency", "connectMs", "strategy", "weight", "onLoss", "pii", "modality", "unknownModelStatus"} {
		if strings.Contains(export, `"`+text) {
			t.Errorf("the export has %s: %s", text, export)
		}
	}
	// One changed field is one changed field.
	o := e.get("/routes/chat").object()
	o["description"] = "new"
	if c := e.admin("PUT", "/routes/chat?dryRun=true", o).want(200).changes(); len(c.Changes) != 1 || len(c.Changes[0].Fields) != 1 {
		t.Errorf("%+v", c)
	}
}
