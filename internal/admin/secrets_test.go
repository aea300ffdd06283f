package admin_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// storedKey is the value of a provider's key as the gateway would send it.
func (e *env) storedSpec(kind, name string) string {
	e.t.Helper()
	s, err := e.store.Load(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	for _, d := range s.Documents {
		if d.Kind == kind && d.Name == name {
			return string(d.Spec)
		}
	}
	e.t.Fatalf("%s %s is not stored", kind, name)
	return ""
}

// BY-17: secrets are write-only: absent keeps, null removes, a mask is
// refused, and no answer, log or record has the value.
func TestBY_17_secrets_are_write_only(t *testing.T) {
	e := newEnv(t)
	const value, second = "sk-ant-the-literal-secret-abcd", "sk-ant-another-secret-wxyz"
	body := map[string]any{"type": "anthropic", "apiKey": value}
	created := e.admin("PUT", "/providers/main", body).want(201)
	for _, a := range []*answer{created, e.get("/providers/main")} {
		if a.field("hasApiKey") != "true" || a.field("apiKeyLast4") != "abcd" || a.field("credentialMode") != "org-key" || a.object()["apiKey"] != nil {
			t.Errorf("%s", a.body)
		}
	}
	sealed := e.storedSpec("Provider", "main")
	if !strings.Contains(sealed, `"apiKey":"sealed:`) {
		t.Fatalf("stored: %s", sealed)
	}
	key := func() string {
		_, rest, _ := strings.Cut(e.storedSpec("Provider", "main"), `"apiKey":"`)
		v, _, _ := strings.Cut(rest, `"`)
		return v
	}
	was := key()

	// Absent keeps it, whatever else changes.
	e.admin("PUT", "/providers/main", map[string]any{"type": "anthropic", "residency": "eu"}).want(200)
	if key() != was || e.get("/providers/main").field("hasApiKey") != "true" {
		t.Error("an absent secret was not kept")
	}
	// A mask is refused, and so is a sealed text.
	for _, mask := range []string{"***", "*** (changed)", "****", "•••••", was} {
		e.admin("PUT", "/providers/main", map[string]any{"type": "anthropic", "apiKey": mask}).want(400).errorAt("apiKey")
		e.admin("PUT", "/providers/free", map[string]any{"type": "openai", "apiKey": mask}).want(400).errorAt("apiKey")
	}
	e.admin("PUT", "/providers/other", map[string]any{"type": "anthropic", "apiKey": "***"}).want(400)
	if key() != was {
		t.Error("a mask was stored")
	}
	// A new value replaces it.
	e.admin("PUT", "/providers/main", map[string]any{"type": "anthropic", "apiKey": second}).want(200)
	if key() == was || e.get("/providers/main").field("apiKeyLast4") != "wxyz" {
		t.Error("a new secret was not stored")
	}
	c := e.get("/config-versions/3").object()["changes"].([]any)[0].(map[string]any)["fields"]
	if !strings.Contains(toJSON(t, c), "apiKey") {
		t.Errorf("the version does not say that the secret changed: %v", c)
	}
	// null removes it, and it stays removed.
	e.admin("PUT", "/providers/main", `{"type":"anthropic","apiKey":null}`).want(200)
	got := e.get("/providers/main")
	if got.field("hasApiKey") != "false" || got.field("credentialMode") != "passthrough" {
		t.Errorf("%s", got.body)
	}
	e.admin("PUT", "/providers/main", got.body).want(200)
	if e.get("/providers/main").field("hasApiKey") != "false" {
		t.Error("it came back")
	}
	// A reference is shown as it is; its value is not.
	e.admin("PUT", "/providers/main", map[string]any{"type": "anthropic", "apiKey": "env:MAIN_KEY"}).want(200)
	if a := e.get("/providers/main"); a.field("apiKey") != "env:MAIN_KEY" || a.field("apiKeyLast4") != "1234" {
		t.Errorf("%s", a.body)
	}
	e.admin("PUT", "/providers/main", map[string]any{"type": "anthropic", "apiKey": "env:NOT_SET"}).want(400).errorAt("apiKey")
	e.admin("PUT", "/providers/main", map[string]any{"type": "anthropic", "apiKey": "not an anthropic key"}).want(400).errorAt("apiKey")
	e.admin("PUT", "/providers/main", map[string]any{"type": "anthropic", "apiKey": "sk-wrong-prefix-secret-0000"}).want(400).errorAt("apiKey")

	for _, path := range []string{
		"/providers", "/providers/main", "/export", "/export?format=json", "/config-versions", "/config-versions/1", "/config-versions/2",
		"/config-versions/3", "/config-versions/1/diff?to=3", "/config-versions/3/diff?to=1", "/audit-events?limit=500", "/audit-events?format=csv", "/audit-events?format=ndjson",
		"/providers?q=the-literal",
	} {
		noSecret(t, path, e.get(path).body, value, second, "from-the-environment", "wrong-prefix")
	}
	noSecret(t, "restore", e.admin("POST", "/config-versions/1/restore", nil).want(200).body, value, second)
	if e.get("/providers/main").field("apiKeyLast4") != "abcd" {
		t.Error("restoring did not restore the secret")
	}
	noSecret(t, "the log", []byte(e.logged.String()), value, second, "wrong-prefix")
}

func noSecret(t *testing.T, where string, b []byte, secrets ...string) {
	t.Helper()
	for _, s := range append(secrets, "sealed:") {
		if bytes.Contains(b, []byte(s)) {
			t.Errorf("%s shows %q: %s", where, s, b)
		}
	}
}

// A refused body does not come back in the refusal.
func TestBY_17_refusals_do_not_repeat_secrets(t *testing.T) {
	e := newEnv(t)
	const value = "sk-ant-in-a-refused-request"
	for _, body := range []string{
		`{"type":"anthropic","apiKey":"` + value + `","colour":1}`,
		`{"type":"anthropic","apiKey":{"value":"` + value + `"}}`,
		`{"type":"anthropic","apiKey":["` + value + `"]}`,
		`{"type":"anthropic","apiKey":"` + value + `","apiKey":"` + value + `"}`,
		`{"type":"nothing","apiKey":"` + value + `"}`,
		`{"type":"anthropic","apiKey":"` + value,
		`{"type":"anthropic","apiKey":"` + value + ` "}`,
		`{"type":"anthropic","apiKey":"$` + value + `"}`,
		`{"type":"anthropic","apiKey":"ENV:` + value + `"}`,
		`{"type":"anthropic","apiKey":"` + value + "\\n" + `"}`,
		`{"type":"anthropic","ApiKey":"` + value + `"}`,
	} {
		noSecret(t, body, e.admin("PUT", "/providers/a", body).want(400).body, value)
		noSecret(t, body, e.admin("POST", "/providers", body).want(400).body, value)
		noSecret(t, body, e.admin("POST", "/import", `{"documents":[`+body+`]}`).want(400).body, value)
	}
}

// Every secret field of every kind is in the table of what null removes.
func TestBY_17_secret_fields_are_in_the_document(t *testing.T) {
	spec := newEnv(t).get("/openapi.json")
	schemas := spec.object()["components"].(map[string]any)["schemas"].(map[string]any)
	for _, k := range resource.Kinds() {
		for _, f := range resource.SecretFields(k.New()) {
			p := schemas[k.Name+"Input"].(map[string]any)["properties"].(map[string]any)[f.Path].(map[string]any)
			if !strings.Contains(toJSON(t, p["type"]), "null") {
				t.Errorf("%s.%s can't be null in the document: %v", k.Name, f.Path, p)
			}
		}
	}
}
