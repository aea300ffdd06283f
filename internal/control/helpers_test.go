package control_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
	"github.com/interlock-gateway/interlock/internal/upstream/drivers"
)

// No test may leave a goroutine behind.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("database/sql.(*DB).connectionOpener"))
}

// env is a Control over a real store, with everything that it gives out.
type env struct {
	*control.Control
	t     *testing.T
	dir   string
	store *sqlstore.Store
	opt   control.Options
	live  *snapshot.Publisher
	log   *buffer

	mu        sync.Mutex
	clock     time.Time
	vars      map[string]string
	published []uint64
	entries   []control.Entry
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{t: t, dir: t.TempDir(), log: &buffer{}, clock: time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC), vars: map[string]string{}, live: &snapshot.Publisher{}}
	e.store = e.openStore()
	box, err := secret.NewBox(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	resolver := secret.NewResolver(secret.Options{LookupEnv: func(name string) (string, bool) {
		e.mu.Lock()
		defer e.mu.Unlock()
		v, ok := e.vars[name]
		return v, ok
	}})
	e.opt = control.Options{
		Store: e.store, Compile: compile, Box: box, Resolve: resolver.Resolve, Now: e.now,
		Log:          slog.New(slog.NewTextHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		SnapshotPath: filepath.Join(e.dir, "snapshot.json"),
		Publish: func(l *snapshot.Live) {
			e.mu.Lock()
			e.published = append(e.published, l.Revision)
			e.mu.Unlock()
			e.live.Publish(l)
		},
		Audit: func(x control.Entry) error {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.entries = append(e.entries, x)
			return nil
		},
	}
	e.restart()
	if err := e.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

// openStore opens the environment's database.
func (e *env) openStore() *sqlstore.Store {
	e.t.Helper()
	s, err := sqlstore.Open(e.t.Context(), sqlstore.Options{URL: "sqlite:" + filepath.Join(e.dir, "interlock.db")})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { s.Close() })
	return s
}

// restart makes a new Control, as a start of the process does, which has
// published nothing.
func (e *env) restart() { e.Control = control.New(e.opt) }

func (e *env) now() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.clock
}

func (e *env) advance(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clock = e.clock.Add(d)
}

func (e *env) setenv(name, value string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.vars[name] = value; value == "" {
		delete(e.vars, name)
	}
}

func (e *env) audited() []control.Entry {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.entries)
}

var vendors = sync.OnceValues(catalog.Load)

func compile(docs []resource.Document, d snapshot.Deps) (*snapshot.Live, resource.Problems) {
	c, err := vendors()
	if err != nil {
		panic(err)
	}
	d.Catalog, d.Drivers = c, drivers.All()
	return snapshot.Compile(docs, d)
}

// object reads an object from JSON, as the API does.
func object(t *testing.T, raw string) (resource.Object, []string) {
	t.Helper()
	var head struct{ Kind string }
	if err := json.Unmarshal([]byte(raw), &head); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	k, ok := resource.FindKind(head.Kind)
	if !ok {
		t.Fatalf("no kind in %s", raw)
	}
	o, nulls, problems := control.Decode(k, "", []byte(raw))
	if len(problems) > 0 {
		t.Fatalf("%s: %v", raw, problems)
	}
	return o, nulls
}

// put is a step that puts an object.
func put(t *testing.T, raw string) control.Op {
	t.Helper()
	o, nulls := object(t, raw)
	return control.Op{Put: o, Nulls: nulls}
}

func remove(kind, name string) control.Op {
	return control.Op{Ref: resource.Ref{Kind: kind, Name: name}}
}

func provider(name string, more ...string) string {
	return `{"kind":"Provider","name":"` + name + `","type":"openai","baseUrl":"http://127.0.0.1:9/v1"` + strings.Join(append([]string{""}, more...), ",") + `}`
}

func route(name, pattern string, members ...string) string {
	for i, m := range members {
		members[i] = `{"provider":"` + m + `"}`
	}
	return `{"kind":"Route","name":"` + name + `","modelPatterns":["` + pattern + `"],"members":[` + strings.Join(members, ",") + `]}`
}

// try makes a change as an administrator.
func (e *env) try(ops ...control.Op) (*control.Result, error) {
	return e.Apply(context.Background(), control.Batch{Actor: "token:test", Owner: store.OwnerAPI, Ops: ops})
}

func (e *env) apply(ops ...control.Op) *control.Result {
	e.t.Helper()
	r, err := e.try(ops...)
	if err != nil {
		e.t.Fatalf("apply: %v", err)
	}
	return r
}

func (e *env) put(raw ...string) *control.Result {
	e.t.Helper()
	ops := make([]control.Op, len(raw))
	for i := range raw {
		ops[i] = put(e.t, raw[i])
	}
	return e.apply(ops...)
}

// refused checks that an error is an *Error of a status and code whose text
// has the words, and returns it.
func refused(t *testing.T, err error, status int, code string, words ...string) *control.Error {
	t.Helper()
	ce, ok := errors.AsType[*control.Error](err)
	if !ok || ce.Status != status || ce.Code != code {
		t.Fatalf("error %+v (%v), want %d %s", ce, err, status, code)
	}
	for _, w := range words {
		if !strings.Contains(ce.Error(), w) {
			t.Errorf("the error %q does not say %q", ce.Error(), w)
		}
	}
	return ce
}

func (e *env) state() *store.State {
	e.t.Helper()
	s, err := e.store.Load(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	return s
}

// documents are the stored documents by kind and name.
func (e *env) documents() map[string]store.Document {
	e.t.Helper()
	out := map[string]store.Document{}
	for _, d := range e.state().Documents {
		out[d.Kind+" "+d.Name] = d
	}
	return out
}

// names lists the stored objects.
func (e *env) names() string {
	e.t.Helper()
	return strings.Join(slices.Sorted(maps.Keys(e.documents())), ", ")
}

func (e *env) revision() int64 { e.t.Helper(); return e.state().Revision }

// show is an object as GET answers it.
func (e *env) show(kind, name string) map[string]any {
	e.t.Helper()
	o, err := e.Get(e.t.Context(), kind, name)
	if err != nil {
		e.t.Fatal(err)
	}
	b, err := o.JSON()
	if err != nil {
		e.t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		e.t.Fatalf("%s: %v", b, err)
	}
	return out
}

// admits tells whether a secret opens the data plane, as requests see it.
func (e *env) admits(s string) bool {
	k, ok := e.live.Current().Keys.Lookup(s)
	return ok && (k.Expires.IsZero() || e.now().Before(k.Expires))
}

// inStep checks that what is published, and what a start would publish, is
// what is stored.
func (e *env) inStep() {
	e.t.Helper()
	want := uint64(e.revision())
	live := e.live.Current()
	if live.Revision != want || live.Routing.Revision != want {
		e.t.Errorf("version %d is stored, %d is in use, and records say %d", want, live.Revision, live.Routing.Revision)
	}
	b, err := os.ReadFile(e.opt.SnapshotPath)
	if err != nil {
		e.t.Fatal(err)
	}
	var kept store.State
	if err := json.Unmarshal(b, &kept); err != nil || uint64(kept.Revision) != want {
		e.t.Errorf("version %d is kept for a start without the store: %v", kept.Revision, err)
	}
}

func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(15 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			tb.Fatalf("not within 15 s: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// buffer is a log that can be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func text(v any) string { return fmt.Sprint(v) }
