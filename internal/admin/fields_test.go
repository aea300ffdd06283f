package admin_test

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/admin"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// full are bodies with every field that is built, by requirement and kind.
var full = map[string]struct{ kind, name, body string }{
	"RS-PROV": {"Provider", "all", `{"enabled":true,"type":"openai-compatible","vendor":"groq","baseUrl":"https://a.example.com/v1","wireFormat":"openai-chat",
		"modelPatterns":["llama-*"],"modelAliases":{"fast":"llama-3"},"staticModels":["llama-3"],"residency":"eu",
		"dataHandling":{"zeroDataRetention":true,"noPromptTraining":true,"jurisdiction":"EU"},
		"timeouts":{"connectMs":1,"responseHeaderMs":2,"streamIdleMs":3,"totalMs":4},"headers":{"x-a":"b"},"drained":true,"allowInsecure":true,
		"proxyUrl":"http://proxy.example.com:3128","http2":true,"healthProbe":{"enabled":false,"intervalSeconds":60,"model":"llama-3"},"contextWindows":{"llama-3":8000},"apiKey":"env:MAIN_KEY"}`},
	"RS-PROV-1": {"Provider", "openai", `{"enabled":false,"type":"openai","openai":{"organization":"o","project":"p"},"apiKey":"env:MAIN_KEY"}`},
	"RS-ROUTE": {"Route", "all-route", `{"enabled":true,"description":"d","modelPatterns":["a-*","b"],"members":[{"provider":"used","weight":3,"priority":0,"fallbackOnly":true,"credentialMode":"org-key","state":"healthy"},{"provider":"all","weight":0,"priority":1,"fallbackOnly":false,"credentialMode":"org-key","state":"drained"}],
		"aliases":[{"name":"best","wireModels":{"used":"a-1","all":"b"}}],"orgKeyFallbackForCallerCredentials":true,"strategy":{"type":"failover"},"switchFamilyOnQuota":false,"onLoss":"allow"}`},
	"RS-KEY-1": {"Key", "all", `{"enabled":true,"type":"service","team":"platform","owner":{"user":"ann@example.com"},"expiresAt":"2099-01-02T03:04:05Z","labels":{"a":"b"},"agent":"bot","pii":"off",
		"allowedProviders":["used"],"allowedResidencies":["eu"],"dataHandling":{"zeroDataRetention":true,"noPromptTraining":false}}`},
	"RS-MODEL": {"Model", "all-*", `{"enabled":true,"modality":"embedding","family":"openai","contextWindow":1000,"maxOutputTokens":10,
		"prices":{"input":1.5,"output":2,"cacheRead":0.1,"cacheWrite5m":0,"cacheWrite1h":3},"deprecated":"2027-01-01T00:00:00Z"}`},
	"RS-ORG: department": {"Department", "IT", `{"enabled":true,"description":"d"}`},
	"RS-ORG: team":       {"Team", "platform", `{"enabled":true,"department":"IT","description":"d"}`},
	"RS-ORG: user":       {"User", "ann@example.com", `{"enabled":true,"team":"platform","groups":["a","b"],"role":"viewer"}`},
	"RS-SET":             {"Settings", "settings", `{"enabled":true,"residencies":["on-prem","eu","us","global","sweden"],"unknownModelStatus":404,"piiDefault":"off","globalPassthrough":true,"allowAnonymousPassthrough":true,"requireDataHandling":{"zeroDataRetention":false,"noPromptTraining":false,"jurisdiction":"EU"}}`},
}

// notBuilt are fields that this version refuses; a step that builds one moves
// it to full.
var notBuilt = map[string][]string{
	"Provider": {"aws", "google", "azure", "maxConcurrent", "betas", "droppedParams", "openai" /* of another type */, "caFile" /* needs a file */},
	"Route":    {"allowCrossProvider"},
	"Key":      {"secret", "allowedModels", "rateLimits", "rotatedFrom", "providerCredential" /* of virtual keys */},
	"Team":     {"allowedModels"},
	"User":     {"password" /* write-only */},
	"Settings": {"globalModelAllowlist"},
}

// What is saved reads back equal, field by field, for every field.
func TestAP_every_field_reads_back(t *testing.T) {
	e := newEnv(t)
	e.provider("used")
	order := []string{"RS-SET", "RS-ORG: department", "RS-ORG: team", "RS-ORG: user", "RS-PROV", "RS-PROV-1", "RS-ROUTE", "RS-KEY-1", "RS-MODEL"}
	if len(order) != len(full) {
		t.Fatal("order and full differ")
	}
	covered := map[string]map[string]bool{}
	for _, id := range order {
		f := full[id]
		t.Run(id+": every field reads back", func(t *testing.T) {
			e.t = t
			row := rowOf(t, f.kind)
			at := "/" + row.Plural + "/" + url.PathEscape(f.name)
			var want map[string]any
			if err := json.Unmarshal([]byte(f.body), &want); err != nil {
				t.Fatal(err)
			}
			switch {
			case row.Single:
				at = "/" + row.Plural
				e.admin("PUT", at, f.body).want(200)
			case row.ByID:
				e.admin("POST", "/"+row.Plural, merge(want, "name", f.name)).want(201)
			default:
				e.admin("PUT", at, f.body).want(201)
			}
			got := e.get(at).object()
			if covered[f.kind] == nil {
				covered[f.kind] = map[string]bool{}
			}
			for field, v := range want {
				covered[f.kind][field] = true
				if d := cmp.Diff(v, got[field]); d != "" {
					t.Errorf("%s (-sent +read):\n%s", field, d)
				}
			}
		})
	}
	e.t = t
	for _, k := range resource.Kinds() {
		for _, field := range jsonFields(reflect.TypeOf(k.New()).Elem()) {
			if !covered[k.Name][field] && !strings.Contains(" "+strings.Join(notBuilt[k.Name], " ")+" ", " "+field+" ") {
				t.Errorf("%s.%s is not among the fields of this test", k.Name, field)
			}
		}
	}
}

func rowOf(t *testing.T, kind string) admin.Resource {
	t.Helper()
	for _, r := range admin.Resources() {
		if r.Kind == kind {
			return r
		}
	}
	t.Fatal(kind)
	return admin.Resource{}
}

func jsonFields(typ reflect.Type) []string {
	var out []string
	for f := range typ.Fields() {
		if f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

// RS-PROV-2: the credential mode is derived, and shown.
func TestRS_PROV_2_credential_mode(t *testing.T) {
	e := newEnv(t)
	for body, want := range map[string]string{
		`{"type":"anthropic","apiKey":"env:MAIN_KEY"}`: "org-key",
		`{"type":"anthropic"}`:                         "passthrough",
		`{"type":"anthropic","apiKey":null}`:           "passthrough",
		`{"type":"openai-compatible","vendor":"ollama","baseUrl":"http://127.0.0.1:11434/v1"}`:          "org-key",
		`{"type":"openai-compatible","vendor":"vllm","baseUrl":"http://127.0.0.1:8000/v1"}`:             "org-key",
		`{"type":"openai-compatible","vendor":"groq"}`:                                                  "passthrough",
		`{"type":"openai-compatible","vendor":"groq","apiKey":"gsk-1234567890123456"}`:                  "org-key",
		`{"type":"openai-compatible","baseUrl":"https://a.example.com","credentialMode":"passthrough"}`: "passthrough",
	} {
		e.admin("PUT", "/providers/p", body)
		if got := e.get("/providers/p").field("credentialMode"); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
		e.admin("DELETE", "/providers/p", nil).want(204)
	}
}

// RS-PROV-1, RS-PROV-5: what a save refuses at the provider itself.
func TestRS_PROV_1_refused_providers(t *testing.T) {
	e := newEnv(t)
	for _, tc := range []struct{ id, body, path string }{
		{"RS-PROV-1", `{"type":"anthropic","apiKey":"gsk-1234567890123456"}`, "apiKey"},
		{"RS-PROV-5", `{"type":"openai-compatible","baseUrl":"http://169.254.169.254/latest"}`, "baseUrl"},
		{"RS-PROV-5", `{"type":"openai-compatible","baseUrl":"https://[fd00:ec2::254]/"}`, "baseUrl"},
		{"RS-PROV", `{"type":"openai-compatible","baseUrl":"http://8.8.8.8"}`, "baseUrl"},
		{"RS-PROV", `{"type":"openai-compatible","baseUrl":"https://a.example.com","headers":{"authorization":"Bearer x"}}`, "headers.authorization"},
		{"RS-PROV", `{"type":"openai-compatible","baseUrl":"https://a.example.com","residency":"mars"}`, "residency"},
	} {
		t.Run(tc.id+": "+tc.path, func(t *testing.T) {
			e.t = t
			e.admin("PUT", "/providers/p", tc.body).want(400).errorAt(tc.path)
		})
	}
}

// RS-ORG: names of people and teams are one in upper and lower case.
func TestRS_ORG_names_ignore_case(t *testing.T) {
	e := newEnv(t)
	for _, plural := range []string{"departments", "teams", "users"} {
		e.admin("PUT", "/"+plural+"/Platform", map[string]any{}).want(201)
		e.admin("PUT", "/"+plural+"/PLATFORM", map[string]any{}).want(409)
		e.admin("POST", "/"+plural, map[string]any{"name": "platform"}).want(409)
		if got := e.names("/" + plural + "?limit=5"); len(got) != 1 {
			t.Errorf("%s: %v", plural, got)
		}
	}
	e.admin("PUT", "/users/ann", map[string]any{"team": "Platform"}).want(201)
	p := e.admin("DELETE", "/teams/Platform", nil).code(409, "in_use").problem()
	if len(p.Refs) != 1 || p.Refs[0] != (resource.Ref{Kind: "User", Name: "ann"}) {
		t.Errorf("%+v", p)
	}
	e.admin("DELETE", "/departments/Platform", nil).want(204)
}
