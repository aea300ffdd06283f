// Package scenarios holds the routing decisions of the documentation as files:
// a configuration, a request, and the explanation that Decide gives. They are
// golden tests, examples for the docs and fixtures for the console.
//
// A scenario is a txtar archive in testdata with these files:
//
//	resources.yaml  resource documents
//	request.json    {"endpoint", "model", "stream"}
//	failures.json   optional: what each dialled candidate fails with, in order
//	plan.txt        the explanation, and what follows the failures
//	plan.json       the plan as data
//
// "go test ./test/scenarios -update" rewrites the golden parts; review the
// difference.
package scenarios

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scenarios")

// request is what a scenario asks for.
type request struct {
	Endpoint llm.EndpointID `json:"endpoint"`
	Model    string         `json:"model"`
	Stream   bool           `json:"stream"`
}

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { run(t, file) })
	}
}

func run(t *testing.T, file string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(raw)
	part := func(name string) []byte {
		for _, f := range a.Files {
			if f.Name == name {
				return f.Data
			}
		}
		return nil
	}
	loaded, err := gwtest.Load(t, gwtest.Config{Documents: []string{string(part("resources.yaml"))}})
	if err != nil {
		t.Fatal(err)
	}
	live, err := app.Compile(loaded, 1)
	if err != nil {
		t.Fatal(err)
	}
	var req request
	if err := json.Unmarshal(part("request.json"), &req); err != nil {
		t.Fatalf("request.json: %v", err)
	}
	in := &routing.Input{Query: routing.Query{Endpoint: endpoint(t, req.Endpoint), Model: req.Model, Stream: req.Stream}}
	plan := routing.Decide(live.Routing, in)
	if again := routing.Decide(live.Routing, in); again.Explain() != plan.Explain() { // RQ-PURE
		t.Errorf("two decisions on the same input differ:\n%s\n%s", plan.Explain(), again.Explain())
	}
	text := plan.Explain() + walk(t, plan, part("failures.json"))
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(plan); err != nil {
		t.Fatal(err)
	}
	golden := []txtar.File{{Name: "plan.txt", Data: []byte(text)}, {Name: "plan.json", Data: data.Bytes()}}
	if *update {
		rewrite(t, file, a, golden)
		return
	}
	for _, g := range golden {
		if diff := cmp.Diff(string(part(g.Name)), string(g.Data)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", g.Name, diff)
		}
	}
}

func endpoint(t *testing.T, id llm.EndpointID) *llm.Endpoint {
	t.Helper()
	for _, e := range formats.Endpoints() {
		if e.ID == id {
			return e
		}
	}
	t.Fatalf("request.json: no endpoint %q", id)
	return nil
}

// walk fails the candidates one after the other and notes what follows.
func walk(t *testing.T, p *routing.Plan, failures []byte) string {
	t.Helper()
	if len(failures) == 0 {
		return ""
	}
	var list []failure.Category
	if err := json.Unmarshal(failures, &list); err != nil {
		t.Fatalf("failures.json: %v", err)
	}
	var b strings.Builder
	for i, c := range list {
		if i >= len(p.Candidates) {
			t.Fatalf("failures.json has more failures than the plan has candidates")
		}
		action := p.After(i, failure.Failure{Category: c})
		fmt.Fprintf(&b, "if       %s fails with %s: %s\n", p.Candidates[i].Provider, c, action)
		if action != routing.Next {
			break
		}
	}
	return b.String()
}

func rewrite(t *testing.T, file string, a *txtar.Archive, golden []txtar.File) {
	t.Helper()
	kept := a.Files[:0:0]
	for _, f := range a.Files {
		if f.Name != "plan.txt" && f.Name != "plan.json" {
			kept = append(kept, f)
		}
	}
	a.Files = append(kept, golden...)
	if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
		t.Fatal(err)
	}
}
