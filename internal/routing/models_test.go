package routing

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/llm"
)

func TestModels(t *testing.T) {
	static := func(names ...string) func(*Provider) { return func(p *Provider) { p.Names = names } }
	catalogue := func(names ...string) func(*Config) { return func(c *Config) { c.Models = names } }
	for _, c := range []struct {
		name      string
		objects   []any
		endpoints []*llm.Endpoint
		want      []string
	}{
		{"nothing without a route", []any{provider("a", static("m")), catalogue("n")}, endpoints, nil},
		{"exact patterns, as they are written", []any{route(t, "r", "GPT-5 claude-* x", provider("a"))}, endpoints, []string{"GPT-5", "x"}},
		{"exact patterns of implicit routes", []any{provider("a", serves(t, "o1", "o3-*"))}, endpoints, []string{"o1"}},
		{"names of the catalogue that a route serves", []any{route(t, "r", "claude-*", provider("a")), catalogue("gpt-5", "claude-b", "claude-a")}, endpoints, []string{"claude-a", "claude-b"}},
		{"names of a provider, as they are written", []any{route(t, "r", "*", provider("a", static("s", "Short"), alias("short", "long")))}, endpoints, []string{"s", "Short"}},
		{"a static model that the route does not serve is left out", []any{route(t, "r", "claude-*", provider("a", static("s")))}, endpoints, nil},
		{"each once, whatever its case", []any{route(t, "r", "m", provider("a", static("M", "m"), alias("m", "x"))), catalogue("M")}, endpoints, []string{"M"}},
		{"names that only a folding of rare letters makes equal are two", []any{route(t, "r", "*", provider("a")), catalogue("s1", "\u017f1")}, endpoints, []string{"s1", "\u017f1"}},
		{"not what refuses", []any{route(t, "r", "m", provider("a", drained)), route(t, "s", "n", provider("b", noKey)), route(t, "t", "*", provider("c"))}, endpoints, nil},
		{"not an ambiguous one", []any{provider("y", serves(t, "m", "n")), provider("z", serves(t, "m"))}, endpoints, []string{"n"}},
		{"what any of the endpoints serves", []any{route(t, "r", "m", provider("a")), route(t, "s", "n", provider("o", openAI))}, endpoints, []string{"m", "n"}},
		{"only what the asked endpoint serves", []any{route(t, "r", "m", provider("a")), route(t, "s", "n", provider("o", openAI))}, []*llm.Endpoint{chat}, []string{"n"}},
		{"nothing for no endpoint", []any{route(t, "r", "m", provider("a"))}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := build(t, c.objects...)
			got := Models(s, Caller{}, c.endpoints)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, name := range got {
				if !slices.ContainsFunc(c.endpoints, func(e *llm.Endpoint) bool { return decide(s, e, name).Refusal == nil }) {
					t.Errorf("%q is listed and can not be called", name)
				}
			}
		})
	}
}
