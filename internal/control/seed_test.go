package control_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

// documents reads objects as a file would hold them, one a line.
func documents(t *testing.T, raw ...string) []resource.Document {
	t.Helper()
	docs := make([]resource.Document, len(raw))
	for i := range raw {
		o, _ := object(t, raw[i])
		docs[i] = resource.Document{Object: o, Locate: func(string) *resource.Position {
			return &resource.Position{File: "interlock.yaml", Line: 10 + i, Column: 1}
		}}
	}
	return docs
}

func (e *env) enforce(raw ...string) *control.Result {
	e.t.Helper()
	r, err := e.Enforce(e.t.Context(), "file:interlock.yaml", documents(e.t, raw...))
	if err != nil {
		e.t.Fatalf("enforce: %v", err)
	}
	e.inStep()
	return r
}

func (e *env) seed(raw ...string) bool {
	e.t.Helper()
	done, err := e.Seed(e.t.Context(), "file:interlock.yaml", documents(e.t, raw...))
	if err != nil {
		e.t.Fatalf("seed: %v", err)
	}
	return done
}

// owners says who manages each object.
func (e *env) owners() string {
	e.t.Helper()
	var out []string
	for _, d := range e.state().Documents {
		out = append(out, fmt.Sprintf("%s %s: %s", d.Kind, d.Name, d.Owner))
	}
	return strings.Join(out, ", ")
}

// TestBY_5_seed: into an empty store only; what it brings is managed through
// the API, and a restart changes nothing.
func TestBY_5_seed(t *testing.T) {
	e := newEnv(t)
	file := []string{provider("a", `"apiKey":"`+planted+`"`), route("r", "m-*", "a")}
	if e.seed() {
		t.Error("no documents were a seed")
	}
	if !e.seed(file...) || e.revision() != 1 {
		t.Errorf("not seeded: version %d", e.revision())
	}
	e.inStep()
	for range 3 {
		e.reload()
		if e.seed(file...) || e.revision() != 1 {
			t.Errorf("a restart made version %d", e.revision())
		}
	}
	if got := e.owners(); got != "Provider a: api, Route r: api" {
		t.Errorf("owners: %s", got)
	}
	e.put(provider("a", `"residency":"eu"`))
	e.apply(remove("Route", "r"), remove("Provider", "a"))
	if e.seed(file...) || len(e.state().Documents) != 0 {
		t.Error("a store that somebody emptied was seeded again")
	}
	if len(e.audited()) != 3 {
		t.Errorf("%d records", len(e.audited()))
	}
}

// TestBY_5_seed_refused: a seed with problems is none at all.
func TestBY_5_seed_refused(t *testing.T) {
	e := newEnv(t)
	done, err := e.Seed(t.Context(), "x", documents(t, provider("a"), route("r", "m", "nobody")))
	refused(t, err, 400, "missing_reference", `Route "r"`)
	if done || e.revision() != 0 || len(e.state().Documents) != 0 {
		t.Errorf("something was written: %v %d", done, e.revision())
	}
}

// TestBY_5_enforce: the file's objects become what it says, at every start;
// what it no longer has goes, what it never had stays.
func TestBY_5_enforce(t *testing.T) {
	e := newEnv(t)
	e.setenv("KEY", "sk-from-the-environment-1234")
	e.put(provider("mine", `"apiKey":"sk-of-the-api-000001"`), provider("both", `"apiKey":"sk-of-the-api-000002"`, `"residency":"eu"`))
	file := []string{provider("both"), provider("ref", `"apiKey":"env:KEY"`), provider("lit", `"apiKey":"`+planted+`"`), route("r", "m-*", "both", "lit")}
	r := e.enforce(file...)
	if r.Revision != 2 || len(r.Changes) != 4 {
		t.Errorf("enforced: %+v", r)
	}
	if got := e.owners(); got != "Provider both: file, Provider lit: file, Provider mine: api, Provider ref: file, Route r: file" {
		t.Errorf("owners: %s", got)
	}
	if got := e.apiKey("both"); got != "" {
		t.Errorf("the file says no key, stored is %q", got)
	}
	if got := e.show("Provider", "lit"); got["managedIn"] != "interlock.yaml:12" || got["version"] != 1.0 {
		t.Errorf("shown is %v", got)
	}
	// A restart changes nothing, whatever the form of the secrets.
	records := len(e.audited())
	for range 3 {
		e.reload()
		if r := e.enforce(file...); r.Revision != 2 || len(r.Changes) != 0 {
			t.Errorf("a restart changed %+v", r)
		}
	}
	if len(e.audited()) != records {
		t.Error("a restart was recorded as a change")
	}
	if d := e.documents()["Provider lit"]; d.Version != 1 || !d.UpdatedAt.Equal(d.CreatedAt) {
		t.Errorf("a restart touched %+v", d)
	}
	// Another literal secret is a change.
	file[2] = provider("lit", `"apiKey":"sk-another-secret-0815"`)
	if r := e.enforce(file...); r.Revision != 3 || len(r.Changes) != 1 || e.apiKey("lit") != "sk-another-secret-0815" {
		t.Errorf("a changed secret: %+v", r)
	}
	// What the file drops is pruned; the API's objects are not.
	if r := e.enforce(file[0], route("r", "m-*", "both")); r.Revision != 4 || e.names() != "Provider both, Provider mine, Route r" {
		t.Errorf("pruned: %+v, left %s", r, e.names())
	}
	if r := e.enforce(); e.names() != "Provider mine" {
		t.Errorf("an empty file: %+v, left %s", r, e.names())
	}
}

// TestBY_5_enforce_refused: nothing of a file with problems is applied, and
// who uses what it drops is told.
func TestBY_5_enforce_refused(t *testing.T) {
	e := newEnv(t)
	e.enforce(provider("a"), provider("b"))
	e.put(route("mine", "m-*", "b"))
	_, err := e.Enforce(t.Context(), "x", documents(t, provider("a", `"residency":"eu"`)))
	refused(t, err, 409, "in_use", `Provider "b" is used by Route "mine"`)
	_, err = e.Enforce(t.Context(), "x", documents(t, provider("a"), provider("b"), provider("mine")))
	refused(t, err, 409, "name_taken", `"mine"`)
	if e.show("Provider", "a")["residency"] != "global" || e.revision() != 2 {
		t.Error("a refused file changed something")
	}
}

// TestBY_5_back_to_seed: objects that a file does not enforce any more are
// managed through the API again, as they are.
func TestBY_5_back_to_seed(t *testing.T) {
	e := newEnv(t)
	file := []string{provider("a", `"apiKey":"`+planted+`"`), route("r", "m-*", "a")}
	e.enforce(file...)
	e.reload()
	if e.seed(file...) {
		t.Error("it says that it seeded")
	}
	if got := e.owners(); got != "Provider a: api, Route r: api" {
		t.Errorf("owners: %s", got)
	}
	if got := e.show("Provider", "a"); got["managedIn"] != nil || e.apiKey("a") != planted {
		t.Errorf("shown is %v", got)
	}
	v, _, err := e.Version(t.Context(), e.revision())
	if err != nil || v.Summary != "2 objects are managed through the API from now on" {
		t.Errorf("%+v: %v", v, err)
	}
	e.inStep()
	released := e.revision()
	e.reload()
	e.seed(file...)
	if e.revision() != released {
		t.Error("a restart released again")
	}
	e.put(provider("a", `"residency":"eu"`))
}

// TestBY_5_two_processes_seed: at once, into one store: one of them does.
func TestBY_5_two_processes_seed(t *testing.T) {
	e := newEnv(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			c := control.New(e.opt)
			if err := c.Load(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := c.Seed(t.Context(), "x", documents(t, provider("a", `"apiKey":"`+planted+`"`), route("r", "m-*", "a"))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if e.revision() != 1 {
		t.Errorf("version %d", e.revision())
	}
}

// TestBY_5_moved_in_the_file: an object at another line is the same object;
// where it is managed stays true.
func TestBY_5_moved_in_the_file(t *testing.T) {
	e := newEnv(t)
	e.enforce(provider("a"), provider("b"))
	r := e.enforce(provider("b"), provider("a"))
	if len(r.Changes) != 0 || e.show("Provider", "a")["managedIn"] != "interlock.yaml:11" {
		t.Errorf("%+v, %v", r, e.show("Provider", "a"))
	}
	if v, _, err := e.Version(t.Context(), r.Revision); err != nil || v.Summary != "2 objects are at another place in the configuration file" {
		t.Errorf("%+v: %v", v, err)
	}
}

// TestBY_5_owner_of_a_key: its id and issued secrets survive a take-over.
func TestBY_5_owner_of_a_key(t *testing.T) {
	e := newEnv(t)
	secret, made := e.createKey(`{"kind":"Key","name":"ci","type":"service"}`)
	e.enforce(`{"kind":"Key","name":"ci","type":"service","labels":{"a":"b"}}`)
	if got := e.show("Key", "ci"); got["id"] != made.ID || !e.admits(secret) || got["managedBy"] != string(store.OwnerFile) {
		t.Errorf("shown is %v", got)
	}
}

// TestOP_1_begin: an empty store gets documents and keys in one change; one
// that has a configuration is not touched.
func TestOP_1_begin(t *testing.T) {
	e := newEnv(t)
	if !e.Empty(t.Context()) {
		t.Error("a new store is not empty")
	}
	first := func() *resource.Key {
		return &resource.Key{Meta: resource.Meta{Kind: "Key", Name: "first"}, Type: "pat"}
	}
	keys, err := e.Begin(t.Context(), "first start", documents(t, provider("a", `"apiKey":"`+planted+`"`)), first())
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) != 1 || !strings.HasPrefix(keys[0].Secret.Reveal(), "ilk_") || keys[0].Head().Name != "first" {
		t.Errorf("keys: %v", keys)
	}
	if n := e.state().Revision; n != 1 {
		t.Errorf("revision %d: it is more than one change", n)
	}
	if e.Empty(t.Context()) {
		t.Error("the store is still empty")
	}
	if _, err := e.Begin(t.Context(), "first start", nil, first()); err == nil {
		t.Error("it began twice")
	}
}
