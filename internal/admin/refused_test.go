package admin_test

import (
	"fmt"
	"strings"
	"testing"
)

// BY-17: an empty text is no secret, wherever it comes from, and the refusal
// says what removes one; null does.
func TestBY_17_an_empty_secret_is_refused(t *testing.T) {
	e := newEnv(t)
	e.admin("PUT", "/providers/main", providerBody("https://api.example.com")).want(201)
	with := func(key string) string {
		return "kind: Provider\nname: main\ntype: openai-compatible\nbaseUrl: https://api.example.com\n" + key
	}
	for _, a := range []*answer{
		e.admin("PUT", "/providers/main", `{"type":"openai-compatible","baseUrl":"https://api.example.com","apiKey":""}`),
		e.admin("POST", "/import", `{"documents":[{"kind":"Provider","name":"main","type":"openai","apiKey":""}]}`),
		e.admin("POST", "/import", with("apiKey: \"\"\n"), "Content-Type", "application/yaml"),
		e.admin("POST", "/users", `{"name":"anna","password":""}`),
	} {
		a.code(400, "invalid")
		x := a.problem().Errors[0]
		if !strings.HasSuffix(x.Path, "apiKey") && x.Path != "password" || x.Object == nil || x.Object.Name == "" || !strings.Contains(x.Message, "null") {
			t.Errorf("%s: %s", a.what, a.body)
		}
	}
	x := e.admin("POST", "/import", with("apiKey:\n"), "Content-Type", "application/yaml").want(400).errorAt("documents[0].apiKey")
	if !strings.Contains(x.Message, "remove the line") { // forgotten, it seems
		t.Errorf("%+v", x)
	}
	has := func(want string) {
		t.Helper()
		if got := e.get("/providers/main").field("hasApiKey"); got != want {
			t.Errorf("hasApiKey is %s, want %s", got, want)
		}
	}
	has("true")
	e.admin("POST", "/import", with(""), "Content-Type", "application/yaml").want(200)
	has("true")
	e.admin("POST", "/import", with("apiKey: null\n"), "Content-Type", "application/yaml").want(200)
	has("false")
}

// AP: an error names the object that was sent, and what is expected in words.
func TestAP_errors_name_the_object_and_the_form(t *testing.T) {
	e := newEnv(t)
	for _, c := range []struct{ path, body, at, name, want string }{
		{"/keys", `{"name":"x","type":"service","expiresAt":"tomorrow"}`, "expiresAt", "x", "a time such as 2026-12-31T23:59:59Z is expected, not this text"},
		{"/models", `{"name":"y","deprecated":"2026-01-01"}`, "deprecated", "y", "a time such as 2026-12-31T23:59:59Z is expected, not this text"},
		{"/models", `{"name":"y","deprecated":7}`, "deprecated", "y", "a time such as 2026-12-31T23:59:59Z is expected, not a number"},
		{"/routes", `{"modelPatterns":{},"name":"r"}`, "modelPatterns", "r", "a list is expected, not an object"},
		{"/routes", `{"nme":"r"}`, "nme", "", "this field is not known"},
	} {
		x := e.admin("POST", c.path, c.body).code(400, "invalid").errorAt(c.at)
		if !strings.Contains(x.Message, c.want) || x.Object == nil || x.Object.Name != c.name {
			t.Errorf("%s: %s, %+v", c.body, x.Message, x.Object)
		}
	}
	docs := `{"documents":[{"kind":"Team","name":"q1"},{"kind":"Team","name":"%s"}]}`
	for _, name := range []string{"q1", "Q1"} {
		x := e.admin("POST", "/import", fmt.Sprintf(docs, name)).code(400, "invalid").errorAt("documents[1].name")
		if x.Object == nil || x.Object.Name != name {
			t.Errorf("%+v", x)
		}
	}
	x := e.admin("POST", "/import", "kind: Team\nname: q1\n---\nkind: Team\nname: Q1\n", "Content-Type", "application/yaml").code(400, "invalid").errorAt("documents[1].name")
	if x.Line != 5 || x.Column != 7 {
		t.Errorf("%+v", x)
	}
}
