package control_test

import (
	"testing"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
)

// BY-2: a draft decides as if it were in use, and nothing of it is.
func TestBY_2_compile_with_a_draft(t *testing.T) {
	e := newEnv(t)
	e.put(provider("a", `"apiKey":"sk-a-literal-secret-0001"`), provider("b", `"apiKey":"sk-a-literal-secret-0002"`), route("r", "m-*", "a"))
	was := e.names()
	live, err := e.CompileWith(t.Context(), []control.Op{put(t, route("r", "m-*", "b")), put(t, provider("a", `"residency":"eu"`))})
	if err != nil {
		t.Fatal(err)
	}
	q := routing.Query{Endpoint: &llm.Endpoint{ID: "chat_completions", Format: llm.OpenAIChat}, Model: "m-1"}
	if p := routing.Decide(live.Routing, &routing.Input{Query: q}); len(p.Candidates) != 1 || p.Candidates[0].Provider != "b" || p.Revision != 2 {
		t.Errorf("%+v", p)
	}
	if p := routing.Decide(e.live.Current().Routing, &routing.Input{Query: q}); p.Candidates[0].Provider != "a" || p.Revision != 1 {
		t.Errorf("%+v", p)
	}
	if e.names() != was || e.revision() != 1 || len(e.audited()) != 1 {
		t.Error("the draft left something")
	}
	_, err = e.CompileWith(t.Context(), []control.Op{put(t, route("r", "m-*", "nobody"))})
	refused(t, err, 400, "missing_reference")
}

// BY-2: a version decides again with the keys that it had, of which only the
// restrictions count.
func TestBY_2_compile_at_knows_keys(t *testing.T) {
	e := newEnv(t)
	e.put(provider("a", `"apiKey":"sk-a-literal-secret-0001"`))
	if _, _, err := e.CreateKey(t.Context(), "token:test", &resource.Key{Meta: resource.Meta{Kind: "Key", Name: "ci"}, Type: "service", AllowedProviders: []string{"a"}}, false); err != nil {
		t.Fatal(err)
	}
	e.put(`{"kind":"Key","name":"ci","type":"service"}`, `{"kind":"Key","name":"named","type":"service","secret":"ilk_named_in_a_document_0001"}`)
	for n, want := range map[int64]bool{2: true, 3: false} {
		live, err := e.CompileAt(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		k, ok := live.Keys.Named("ci")
		if !ok || (k.Ceilings != nil) != want {
			t.Errorf("version %d: %+v", n, k)
		}
		if _, ok := live.Keys.Lookup("ilk_named_in_a_document_0001"); ok {
			t.Errorf("version %d admits somebody", n)
		}
	}
}
