// Package scenarios holds the routing decisions of the documentation as files:
// a configuration, a request, and the explanation that Decide gives. They are
// golden tests, examples for the docs and fixtures for the console.
//
// A scenario is a txtar archive in testdata. Its comment begins with the ids
// that it holds and says in plain words what it shows. Its files:
//
//	resources.yaml  resource documents
//	request.json    what is asked, see request
//	state.json      optional: what is known of the providers, see stateFile
//	history.json    optional: earlier attempts that the state comes from, see event
//	failures.json   optional: what each dialled candidate fails with, in order
//	plan.txt        the explanation, and what follows the failures
//	plan.json       the plan as data
//
// Whatever the scenario, the decision is recorded and made again from the
// record (BY-2). "go test ./test/scenarios -update" rewrites the golden parts;
// review the difference.
package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/upstream/drivers"
	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scenarios")

// request is what a scenario asks for.
type request struct {
	Endpoint llm.EndpointID `json:"endpoint"`
	Model    string         `json:"model"`
	Stream   bool           `json:"stream"`
	// Session is the client's session id.
	Session      string `json:"session"`
	PromptTokens int    `json:"promptTokens"`
	NoFallback   bool   `json:"noFallback"`
	Caller       struct {
		// Key is the name of a Key document.
		Key string `json:"key"`
		// Own: the caller brings a provider's credential of its own.
		Own bool `json:"own"`
	} `json:"caller"`
}

// scenario is one file.
type scenario struct {
	path    string
	archive *txtar.Archive
}

func (s *scenario) part(name string) []byte {
	for _, f := range s.archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// read decodes a part, if it is there, and accepts no unknown members.
func (s *scenario) read(t *testing.T, name string, into any) bool {
	t.Helper()
	data := s.part(name)
	if data == nil {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return true
}

// catalogues are what all scenarios are compiled with.
type catalogues struct {
	vendors *catalog.Catalog
	models  *catalog.Models
}

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	var c catalogues
	if c.vendors, err = catalog.Load(); err != nil {
		t.Fatal(err)
	}
	if c.models, err = catalog.LoadModels(); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { c.run(t, file) })
	}
}

func (c catalogues) run(t *testing.T, file string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{file, txtar.Parse(raw)}
	var state stateFile
	s.read(t, "state.json", &state)
	live := c.compile(t, s, state.UnreadableKeys)
	ask := s.input(t, live, &state)

	in := ask()
	plan := routing.Decide(live.Routing, in)
	if again := routing.Decide(live.Routing, ask()); again.Explain() != plan.Explain() { // RQ-PURE
		t.Errorf("two decisions on the same input differ:\n%s\n%s", plan.Explain(), again.Explain())
	}
	replay(t, live.Routing, ask, plan)
	var failures []step
	s.read(t, "failures.json", &failures)
	text := plan.Explain() + walk(t, plan, failures)
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(plan); err != nil {
		t.Fatal(err)
	}
	s.compare(t, txtar.File{Name: "plan.txt", Data: []byte(text)}, txtar.File{Name: "plan.json", Data: data.Bytes()})
}

// compile makes the configuration, as a start does. The keys of some providers
// can't be read.
func (c catalogues) compile(t *testing.T, s *scenario, unreadable []string) *snapshot.Live {
	t.Helper()
	loaded, err := gwtest.Load(t, gwtest.Config{Documents: []string{string(s.part("resources.yaml"))}})
	if err != nil {
		t.Fatal(err)
	}
	lost := func(o resource.Object) bool { return slices.Contains(unreadable, o.Head().Name) }
	live, problems := snapshot.Compile(loaded.Documents, snapshot.Deps{
		Catalog: c.vendors, Models: c.models, Drivers: drivers.All(), Revision: 1, Tolerate: lost,
		Resolve: func(o resource.Object, ref string) (secret.String, error) {
			if lost(o) {
				return secret.String{}, errors.New("it is gone")
			}
			return loaded.Secrets.Resolve(ref)
		},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return live
}

// input makes the request as the gateway does, once for each decision.
func (s *scenario) input(t *testing.T, live *snapshot.Live, state *stateFile) func() *routing.Input {
	t.Helper()
	var req request
	if !s.read(t, "request.json", &req) {
		t.Fatal("there is no request.json")
	}
	q := routing.Query{
		Endpoint: endpoint(t, req.Endpoint), Model: req.Model, Stream: req.Stream, Session: wire.SessionHash(req.Session),
		Tokens: req.PromptTokens, NoFallback: req.NoFallback, Caller: routing.Caller{Own: req.Caller.Own},
	}
	if req.Caller.Key != "" {
		k, ok := live.Keys.Named(req.Caller.Key)
		if !ok {
			t.Fatalf("request.json: there is no key %q", req.Caller.Key)
		}
		q.Caller.Ceilings, q.Caller.Virtual = k.Ceilings, k.Virtual
	}
	var events []event
	view := state.view(t)
	if s.read(t, "history.json", &events) {
		view = history(t, events)
	}
	return func() *routing.Input {
		return &routing.Input{Query: q, Facts: routing.Facts{Now: noon(), Pins: state.Pins}, View: view, Dice: &dice{draws: state.Draws, turns: state.Turns}}
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

// replay decides again on what a recorded decision read (BY-2).
func replay(t *testing.T, s *routing.Snapshot, ask func() *routing.Input, want *routing.Plan) {
	t.Helper()
	in := ask()
	q := in.Query
	var trace routing.Trace
	trace.Start(in)
	routing.Decide(s, in)
	facts := trace.AppendJSON(nil)
	read, err := routing.ParseTrace(facts)
	if err != nil {
		t.Fatal(err)
	}
	again := &routing.Input{Query: routing.Query{Endpoint: q.Endpoint, Model: q.Model, Caller: routing.Caller{Virtual: q.Caller.Virtual, Ceilings: q.Caller.Ceilings}}}
	read.Apply(again)
	if got := routing.Decide(s, again).Explain(); got != want.Explain() {
		t.Errorf("BY-2: %s gives another plan:\n%s", facts, got)
	}
}

// compare compares the golden parts, or rewrites them.
func (s *scenario) compare(t *testing.T, golden ...txtar.File) {
	t.Helper()
	if !*update {
		for _, g := range golden {
			if diff := cmp.Diff(string(s.part(g.Name)), string(g.Data)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", g.Name, diff)
			}
		}
		return
	}
	s.archive.Files = slices.DeleteFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == "plan.txt" || f.Name == "plan.json" })
	s.archive.Files = append(s.archive.Files, golden...)
	if err := os.WriteFile(s.path, txtar.Format(s.archive), 0o600); err != nil {
		t.Fatal(err)
	}
}
