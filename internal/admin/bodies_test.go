package admin_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/admin"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// RS-PROV: the API refuses an unknown field with its path, and other strict
// reading.
func TestAP_strict_bodies(t *testing.T) {
	e := newEnv(t)
	for _, tc := range []struct{ name, body, path string }{
		{"unknown field", `{"type":"anthropic","colour":"red"}`, "colour"},
		{"unknown field inside", `{"type":"anthropic","timeouts":{"conectMs":5}}`, "timeouts.conectMs"},
		{"another case", `{"type":"anthropic","BaseUrl":"https://x.example.com"}`, "BaseUrl"},
		{"twice", `{"type":"anthropic","type":"openai"}`, "type"},
		{"twice inside", `{"type":"anthropic","timeouts":{"connectMs":5,"connectMs":6}}`, "timeouts.connectMs"},
		{"a wrong type", `{"type":"anthropic","drained":"yes"}`, "drained"},
		{"a fraction", `{"type":"anthropic","maxConcurrent":1.5}`, "maxConcurrent"},
		{"another kind", `{"kind":"Route","type":"anthropic"}`, "kind"},
		{"another name", `{"name":"b","type":"anthropic"}`, "name"},
		{"a list", `[]`, ""},
		{"half", `{"type":`, "type"},
		{"two", `{"type":"anthropic"} {}`, ""},
		{"not UTF-8", "{\"type\":\"anthropic\",\"vendor\":\"\xff\"}", "vendor"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e.t = t
			e.admin("PUT", "/providers/a", tc.body).code(400, "invalid").errorAt(tc.path)
		})
	}
	e.t = t
	e.admin("PUT", "/providers/a", "").code(400, "invalid")
	e.admin("POST", "/providers", `{"type":"anthropic"}`).code(400, "invalid").errorAt("name")
}

// AP: 413, 415 and errors of parameters.
func TestAP_limits(t *testing.T) {
	e := newEnv(t)
	pad := func(n int) string {
		body := `{"type":"anthropic","baseUrl":""`
		return body + strings.Repeat(" ", n-len(body)-1) + "}"
	}
	e.admin("PUT", "/providers/a", pad(1<<20)).want(201)
	e.admin("PUT", "/providers/a", pad(1<<20+1)).code(413, "too_large")
	e.admin("PUT", "/providers/a", "type: anthropic", "Content-Type", "application/yaml").code(415, "unsupported_media_type")
	e.admin("PUT", "/providers/a", `{"type":"anthropic"}`, "Content-Type", "application/json; charset=latin1").code(415, "unsupported_media_type")
	e.admin("PUT", "/providers/a", `{"type":"anthropic"}`, "Content-Encoding", "gzip").code(415, "unsupported_media_type")
	e.admin("PUT", "/providers/a", `{"type":"anthropic"}`, "Content-Type", "Application/JSON; charset=UTF-8").want(200)
	for _, ct := range []string{"", "application/x-www-form-urlencoded"} { // as curl -d sends it
		e.admin("PUT", "/providers/a", `{"type":"anthropic"}`, "Content-Type", ct).want(200)
		e.admin("PUT", "/providers/a", `type=anthropic`, "Content-Type", ct).code(400, "invalid")
		e.admin("POST", "/import?dryRun=true", `{"documents":[]}`, "Content-Type", ct).want(200)
	}
	for _, path := range []string{"/providers", "/audit-events", "/config-versions"} {
		e.get(path + "?limit=501")
		e.get(path + "?limit=2147483647")
	}
	for _, q := range []string{"limit=0", "limit=x", "limit=-1", "sort=age", "enabled=maybe", "cursor=!!", "cursor=bm9uc2Vuc2U", "color=red", "limit=1&limit=2", "q=%zz"} {
		p := e.admin("GET", "/providers?"+q, nil).code(400, "invalid").problem()
		if len(p.Errors) == 0 || !strings.HasPrefix(p.Errors[0].Path, "query") {
			t.Errorf("%s: %+v", q, p)
		}
	}
}

// AP: names with special characters.
func TestAP_names_with_special_characters(t *testing.T) {
	e := newEnv(t)
	for _, name := range []string{"meta/llama-3", "vendor/*", "a b?c#d", "ünïcode/模型", "50%", "..", "./x", "a//b", "+plus&amp;", "semi;colon=1"} {
		at := "/models/" + strings.ReplaceAll(url.PathEscape(name), ".", "%2E")
		a := e.admin("PUT", at, map[string]any{"family": "x"})
		if a.status == 400 && strings.Contains(string(a.body), "pattern") {
			continue // no model can have this name
		}
		a.want(201)
		e.admin("GET", a.header.Get("Location"), nil).want(200)
		if got := e.get(at).field("name"); got != name {
			t.Errorf("%q is shown as %q", name, got)
		}
		e.admin("POST", "/models", map[string]any{"name": name}).code(409, "name_taken")
		e.admin("DELETE", at, nil).want(204)
	}
	e.admin("PUT", "/models/two/parts", map[string]any{}).code(404, "not_found")
	e.admin("GET", "/models/", nil).code(404, "not_found")
	e.admin("GET", "/models//x", nil).code(404, "not_found")
	e.admin("GET", "/models/../providers", nil).want(404)
}

// GET, edit nothing, PUT: accepted, and nothing changes.
func TestAP_what_GET_answered_can_be_PUT_back(t *testing.T) {
	e := newEnv(t)
	e.provider("used")
	for _, r := range admin.Resources() {
		name, body, _ := sampleOf(t, r.Kind)
		at := "/" + r.Plural + "/" + url.PathEscape(name)
		switch {
		case r.Single:
			at = "/" + r.Plural
			e.admin("PUT", at, body).want(200)
		case r.Kind == "Key":
			e.admin("POST", "/keys", merge(body, "name", name)).want(201)
		default:
			e.admin("PUT", at, body).want(201)
		}
		got, was := e.get(at), e.revision()
		put := e.admin("PUT", at, got.body, "If-Match", got.header.Get("ETag")).want(200)
		if string(put.body) != string(got.body) || e.revision() != was {
			t.Errorf("%s: PUT of what GET answered changed it:\n%s\n%s", r.Kind, got.body, put.body)
		}
		if c := e.admin("PUT", at+"?dryRun=true", got.body).want(200).changes(); len(c.Changes) != 0 {
			t.Errorf("%s: %+v", r.Kind, c)
		}
	}
	// Fields that answers of later versions have are ignored too.
	e.admin("PUT", "/routes/chat", `{"modelPatterns":["gpt-*"],"warnings":[],"tag":"live","members":[{"provider":"used","state":"up","credentialMode":"org-key"}]}`).want(200)
}

func merge(m map[string]any, key string, v any) map[string]any {
	out := maps.Clone(m)
	out[key] = v
	return out
}

// The enums of the document are what package resource takes.
func TestAP_enums_are_what_is_checked(t *testing.T) {
	for _, r := range admin.Resources() {
		kind, _ := resource.FindKind(r.Kind)
		base := map[string]any{"kind": r.Kind, "name": "x"}
		if r.Kind == "Provider" {
			base["type"] = "openai"
		}
		for field, values := range r.Enums() {
			for _, v := range append(slices.Clone(values), "no-such-value") {
				o := kind.New()
				raw, err := json.Marshal(merge(base, field, v))
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(raw, o); err != nil {
					t.Fatal(err)
				}
				refused := slices.ContainsFunc(o.Check(), func(p resource.Problem) bool { return p.Path == field })
				if refused != (v == "no-such-value") {
					t.Errorf("%s.%s = %q: refused is %t: %v", r.Kind, field, v, refused, o.Check())
				}
			}
		}
	}
}
