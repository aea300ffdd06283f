package admin_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/admin"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// documents reads documents as the configuration file does.
func documents(tb testing.TB, text string) []resource.Document {
	tb.Helper()
	docs, problems := config.ReadDocuments("resources.yaml", []byte(text))
	if len(problems) > 0 {
		tb.Fatalf("%v\n%s", problems, text)
	}
	return docs
}

// fill stores one of everything.
func (e *env) fill() {
	e.t.Helper()
	e.provider("main")
	e.admin("PUT", "/providers/ref", map[string]any{
		"type": "anthropic", "apiKey": "env:MAIN_KEY", "modelAliases": map[string]any{"b/x": "y", "a": "z: # \"q\"", "gpt-4.1": "true"},
		"headers": map[string]any{"x-team": "- yes"}, "timeouts": map[string]any{"connectMs": 0, "totalMs": 1}, "enabled": false,
	}).want(201)
	e.admin("PUT", "/routes/chat", map[string]any{
		"description": "- one # two: {not yaml} \"å模\" *", "modelPatterns": []any{"gpt-*", "*mini"},
		"members": []any{map[string]any{"provider": "main", "weight": 0, "fallbackOnly": true}}, "strategy": map[string]any{"type": "failover"},
	}).want(201)
	e.admin("PUT", "/routes/empty", map[string]any{"modelPatterns": []any{"null"}, "members": []any{}, "enabled": false}).want(201)
	e.admin("PUT", "/models/meta%2Fllama*", map[string]any{"prices": map[string]any{"input": 0.25, "output": 1e-7}, "deprecated": "2027-01-01T00:00:00Z"}).want(201)
	e.admin("PUT", "/settings", map[string]any{"residencies": []any{"no", "sweden"}}).want(200)
	e.createKey("ci")
	e.admin("POST", "/keys/ci/rotate", nil).want(201)
	e.admin("POST", "/import", `{"documents":[{"kind":"Key","name":"from-file","type":"pat","secret":"env:CI_KEY","labels":{"a":"1"}}]}`).want(200)
}

// AP: what export gives can be imported and changes nothing, and is the same
// bytes each time. The YAML is what the configuration file reads.
func TestAP_export_and_import_change_nothing(t *testing.T) {
	e := newEnv(t)
	e.fill()
	was := e.revision()
	asJSON, asYAML := e.get("/export?format=json"), e.get("/export")
	if ct := asYAML.header.Get("Content-Type"); ct != "application/yaml" || asJSON.header.Get("Content-Type") != "application/json" {
		t.Error(ct)
	}
	for _, body := range []string{string(asJSON.body), strings.ReplaceAll(string(asJSON.body), ",", ",\n  ")} {
		for _, q := range []string{"", "?prune=true", "?dryRun=true&prune=true"} {
			if c := e.admin("POST", "/import"+q, body).want(200).changes(); len(c.Changes) != 0 || e.revision() != was {
				t.Errorf("%s: %+v", q, c)
			}
		}
	}
	if !bytes.Equal(e.get("/export?format=json").body, asJSON.body) || !bytes.Equal(e.get("/export").body, asYAML.body) {
		t.Error("the export is not stable")
	}
	// Both forms say the same.
	var fromJSON struct{ Documents []json.RawMessage }
	asJSON.into(&fromJSON)
	var withSecrets []string
	for i, d := range documents(t, string(asYAML.body)) {
		b, err := json.Marshal(d.Object)
		if err != nil {
			t.Fatal(err)
		}
		var a, want map[string]any
		if err := json.Unmarshal(b, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(fromJSON.Documents[i], &want); err != nil {
			t.Fatal(err)
		}
		delete(want, "rotatedFrom") // read-only
		delete(a, "rotatedFrom")
		if d := cmp.Diff(want, a); d != "" {
			t.Errorf("document %d (-json +yaml):\n%s", i, d)
		}
		withSecrets = append(withSecrets, string(b))
	}
	if n := len(fromJSON.Documents); n != 10 || n != len(withSecrets) {
		t.Errorf("%d documents in JSON, %d in YAML", n, len(withSecrets))
	}
	noSecret(t, "export", asYAML.body, "sk-a-literal", "ilk_", "from-the-environment")
	if !strings.HasPrefix(string(asYAML.body), "kind: Provider\nname: main\ntype: openai-compatible\nbaseUrl: https://api.example.com\n---\nkind: Provider\nname: ref\n") {
		t.Errorf("the order of the fields:\n%s", asYAML.body)
	}
	// Into an empty installation, but for secrets that are not references.
	to := newEnv(t)
	to.admin("POST", "/import", asJSON.body).want(200)
	if d := cmp.Diff(string(asYAML.body), string(to.get("/export").body)); d != "" && !strings.Contains(d, "rotatedFrom") {
		t.Errorf("another installation exports something else:\n%s", d)
	}
}

func TestAP_export_by_accept(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	for accept, want := range map[string]string{
		"": "application/yaml", "*/*": "application/yaml", "application/json": "application/json", "application/yaml, application/json": "application/yaml",
		"application/json, text/plain, */*": "application/json", "text/html": "application/yaml",
	} {
		if a := e.admin("GET", "/export", nil, "Accept", accept).want(200); a.header.Get("Content-Type") != want {
			t.Errorf("Accept %q: %s", accept, a.header.Get("Content-Type"))
		}
	}
	if e.get("/export?format=yaml").header.Get("Content-Type") != "application/yaml" {
		t.Error("format=yaml")
	}
	empty := newEnv(t)
	if b := empty.get("/export").body; len(b) != 0 {
		t.Errorf("%q", b)
	}
	if b := strings.TrimSpace(string(empty.get("/export?format=json").body)); b != `{"documents":[]}` {
		t.Errorf("%q", b)
	}
}

// AP: an import is one transaction, and says where everything is wrong.
func TestAP_import_is_all_or_nothing(t *testing.T) {
	e := newEnv(t)
	was := e.revision()
	a := e.admin("POST", "/import", `{"documents":[
		{"kind":"Provider","name":"main","type":"openai-compatible","baseUrl":"https://a.example.com","apiKey":"sk-1234567890123456"},
		{"kind":"Route","name":"chat","modelPatterns":["gpt-*"],"members":[{"provider":"main"},{"provider":"none"}]},
		{"kind":"Route","name":"two","modelPatterns":["gpt-*"],"members":[{"provider":"main"}]}]}`).want(400)
	a.errorAt("documents[1].members[1].provider")
	if e.revision() != was {
		t.Error("it wrote something")
	}
	a = e.admin("POST", "/import", `{"documents":[{"kind":"Provider","name":"a","type":"anthropic","x":1},{"kind":"Nothing"},{"kind":"Budget","name":"t"},7,{"name":"no kind"},
		{"kind":"Model","name":"m"},{"kind":"Model","name":"m"},{"kind":"Route"}]}`).want(400)
	for _, at := range []string{"documents[0].x", "documents[1].kind", "documents[2].kind", "documents[3].kind", "documents[4].kind", "documents[6].name"} {
		a.errorAt(at)
	}
	for _, body := range []string{`{}`, `{"documents":null}`, `{"documents":{}}`, `[]`, `{"documents":[],"x":1}`, `{"documents":[],"documents":[]}`, `{"documents":[{]}`} {
		e.admin("POST", "/import", body).code(400, "invalid")
	}
	// Two documents that need each other.
	c := e.admin("POST", "/import", `{"documents":[{"kind":"Route","name":"chat","modelPatterns":["gpt-*"],"members":[{"provider":"main"}]},
		{"kind":"Provider","name":"main","type":"openai-compatible","baseUrl":"https://a.example.com","apiKey":"sk-1234567890123456"}]}`).want(200).changes()
	if len(c.Changes) != 2 || c.Revision != was+1 || e.revision() != was+1 {
		t.Errorf("%+v", c)
	}
	// Pruning deletes what is not listed, in the same transaction.
	e.admin("POST", "/import?prune=true", `{"documents":[{"kind":"Route","name":"chat","modelPatterns":["gpt-*"],"members":[{"provider":"main"}]}]}`).code(409, "in_use")
	c = e.admin("POST", "/import?prune=true", `{"documents":[{"kind":"Provider","name":"main","type":"openai-compatible","baseUrl":"https://a.example.com"}]}`).want(200).changes()
	if len(c.Changes) != 1 || c.Changes[0].Action != "delete" || c.Changes[0].Name != "chat" {
		t.Errorf("%+v", c)
	}
	if e.get("/providers/main").field("hasApiKey") != "true" {
		t.Error("the secret that the document left out is gone")
	}
	e.admin("POST", "/import", `{"documents":[{"kind":"Provider","name":"main","type":"openai-compatible","baseUrl":"https://a.example.com","apiKey":null}]}`).want(200)
	if e.get("/providers/main").field("hasApiKey") != "false" {
		t.Error("null did not remove the secret")
	}
	big := `{"documents":[` + strings.Repeat(" ", 2<<20) + `]}`
	e.admin("POST", "/import", big).want(200)
	e.admin("POST", "/import", `{"documents":[`+strings.Repeat(" ", 16<<20)+`]}`).code(413, "too_large")
}

// Any text that a document can hold reads back from the YAML as it was.
func TestAP_export_any_text_reads_back(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"true", "No", "~", "null", "1", "1.0", "0x1f", "1e3", "2026-01-01", "12:30", ".inf", "- a", "a: b", "a:b", "a #b", "#", "*x", "&x", "!x", "%", "@", "`", "", " ", "a ", " a", "?", "|", ">", "{}", "[]",
		"\"", "'", "\\", "\n", "a\nb\n", "\t", "\u0085", "\u2028", "\ufeff", "\U0001f600", "é", "<<", "=", "---", "...", "env:X", "https://x.example.com/?a=b", "x:", "NaN", "Infinity", "y", "e1",
	})
	texts := rapid.OneOf(words, rapid.String())
	rapid.Check(t, func(rt *rapid.T) {
		// Names of labels and their values are free text; the reader takes
		// what it does not check.
		want := map[string]string{}
		for range rapid.IntRange(1, 4).Draw(rt, "n") {
			want[texts.Draw(rt, "key")] = texts.Draw(rt, "value")
		}
		list := rapid.SliceOfN(texts, 0, 3).Draw(rt, "list")
		raw, err := json.Marshal(map[string]any{"kind": "Provider", "name": "x", "type": "openai", "modelAliases": want, "staticModels": list})
		if err != nil {
			rt.Fatal(err)
		}
		var b bytes.Buffer
		if err := admin.WriteYAML(&b, raw); err != nil {
			rt.Fatal(err)
		}
		docs, problems := config.ReadDocuments("x.yaml", b.Bytes())
		if len(docs) != 1 {
			for _, p := range problems {
				// Keys that no JSON path can name are refused by the reader, whatever their form.
				rt.Logf("%v", p)
			}
			rt.Skip("refused by the reader")
		}
		p := docs[0].Object.(*resource.Provider)
		if d := cmp.Diff(want, p.ModelAliases); d != "" {
			rt.Fatalf("%s\n%s", d, b.Bytes())
		}
		if d := cmp.Diff(append([]string{}, list...), append([]string{}, p.StaticModels...)); d != "" {
			rt.Fatalf("%s\n%s", d, b.Bytes())
		}
	})
}

// AP: import takes what export gives as YAML, too, and says lines.
func TestAP_import_of_YAML(t *testing.T) {
	e := newEnv(t)
	e.fill()
	was, export := e.revision(), e.get("/export?portable=true")
	if !bytes.Equal(export.body, e.get("/export?portable=false").body) || !bytes.Equal(export.body, e.get("/export").body) {
		t.Error("portable exports differ")
	}
	e.admin("GET", "/export?portable=1", nil).code(400, "invalid")
	for _, ct := range []string{"application/yaml", "text/yaml; charset=utf-8", "application/x-yaml", "application/x-www-form-urlencoded", ""} {
		for _, q := range []string{"", "?prune=true", "?dryRun=true"} {
			if c := e.admin("POST", "/import"+q, export.body, "Content-Type", ct).want(200).changes(); len(c.Changes) != 0 || e.revision() != was {
				t.Errorf("%s %s: %+v", ct, q, c)
			}
		}
	}
	to := newEnv(t)
	if c := to.admin("POST", "/import", export.body, "Content-Type", "application/yaml").want(200).changes(); len(c.Changes) != 10 {
		t.Errorf("%+v", c)
	}
	if d := cmp.Diff(string(export.body), string(to.get("/export").body)); d != "" && !strings.Contains(d, "rotatedFrom") {
		t.Errorf("another installation exports something else:\n%s", d)
	}
	for _, tc := range []struct {
		body, path string
		line       int
	}{
		{"kind: Model\nname: a\ncolour: red\n", "documents[0].colour", 3},
		{"kind: Model\nname: a\n---\nkind: Route\nname: r\nmodelPatterns: [x]\nmembers:\n  - provider: none\n", "documents[1].members[0].provider", 8},
		{"kind: Model\nname: a\n---\nkind: Model\nname: a\n", "documents[0].name", 5},
		{"kind: Modell\nname: a\n", "", 1},
		{"kind: [", "", 1},
	} {
		if f := e.admin("POST", "/import", tc.body, "Content-Type", "application/yaml").want(400).errorAt(tc.path); f.Line != tc.line {
			t.Errorf("%q: %+v", tc.body, f)
		}
	}
	for _, body := range []string{"", "# nothing\n", "---\n"} {
		e.admin("POST", "/import?prune=true", body, "Content-Type", "application/yaml").want(400)
	}
	if e.revision() != was {
		t.Error("something was written")
	}
}
