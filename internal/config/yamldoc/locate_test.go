package yamldoc_test

import (
	"slices"
	"testing"

	"github.com/interlock-gateway/interlock/internal/config/yamldoc"
)

func one(t *testing.T, src string) *yamldoc.Doc {
	t.Helper()
	docs, ps := yamldoc.Parse("f", []byte(src))
	if len(ps) > 0 || len(docs) != 1 {
		t.Fatalf("%d documents, %v", len(docs), ps)
	}
	return docs[0]
}

func TestLocate(t *testing.T) {
	d := one(t, `# comment
kind: Route
name: "r"
empty:
modelPatterns:
  - claude-*
  - "gpt-*"
members:
  - provider: a
    weight: 3
  - {provider: b, weight: 4}
strategy: {type: failover}
modelAliases:
  gpt-4.1: x
  "a\"]b": y
note: |
  lines
plain: two
  lines
åäö: {å: ö, ä: z}
`)
	for _, c := range []struct{ path, at string }{
		{"", "f:2:1"},
		{"kind", "f:2:7"},
		{"name", "f:3:7"},
		{"empty", "f:4:1"},
		{"modelPatterns", "f:5:1"},
		{"modelPatterns[0]", "f:6:5"},
		{"modelPatterns[1]", "f:7:5"},
		{"modelPatterns[2]", "f:5:1"},
		{"members", "f:8:1"},
		{"members[0]", "f:9:5"},
		{"members[0].weight", "f:10:13"},
		{"members[0].priority", "f:9:5"},
		{"members[1]", "f:11:5"},
		{"members[1].weight", "f:11:27"},
		{"members[1].priority.deep[3]", "f:11:5"},
		{"members[7].weight", "f:8:1"},
		{"strategy", "f:12:11"},
		{"strategy.type", "f:12:18"},
		{`modelAliases["gpt-4.1"]`, "f:14:12"},
		{`modelAliases["a\"]b"]`, "f:15:12"},
		{`modelAliases.gpt-4.1`, "f:13:1"},
		{"note", "f:16:7"},
		{"plain", "f:18:8"},
		{"åäö", "f:20:6"},
		{"åäö.ä", "f:20:16"},
		{"nothing", "f:2:1"},
		{"[0]", "f:2:1"},
		{"members[", "f:8:1"},
		{"members[x]", "f:8:1"},
		{"members[-1]", "f:8:1"},
		{`members["`, "f:8:1"},
		{".kind", "f:2:7"},
		{"..", "f:2:1"},
	} {
		if got := d.Locate(c.path).String(); got != c.at {
			t.Errorf("%s is at %s, want %s", c.path, got, c.at)
		}
	}
}

func TestPaths(t *testing.T) {
	type inner struct {
		X int `json:"x"`
	}
	type outer struct {
		A inner    `json:"a"`
		B []string `json:"b"`
		c int
	}
	_ = outer{c: 1}
	if got := yamldoc.Paths(typeOf[outer]()); !slices.Equal(got, []string{"a.x", "b"}) {
		t.Errorf("got %v", got)
	}
}
