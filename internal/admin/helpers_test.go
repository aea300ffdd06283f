package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/admin"
	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
	"github.com/interlock-gateway/interlock/internal/upstream/drivers"
)

const (
	adminToken  = "test-admin-token-0a1b"
	viewerToken = "test-viewer-token-2c3d"
)

// vendors are loaded once for all tests.
var vendors = sync.OnceValues(catalog.Load)

// contract is made once for all tests.
var contract = sync.OnceValues(admin.Contract)

// emptyStore is a database file with everything but content, made once: making
// one takes longer than most tests.
var emptyStore = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "interlock-admin-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "empty.db")
	s, err := sqlstore.Open(context.Background(), sqlstore.Options{URL: "sqlite:" + path})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// env is the API over a store of its own.
type env struct {
	t        testing.TB
	handler  http.Handler
	server   *httptest.Server
	store    *sqlstore.Store
	spool    *audit.Spool
	importer *audit.Importer
	control  *control.Control
	live     atomic.Pointer[snapshot.Live]
	contract func(method, path string, status int, contentType string, body []byte) error
	clock    atomic.Int64 // nanoseconds that the clock is ahead
	down     atomic.Bool  // the store can't be reached
	reads    atomic.Int64 // after so many reads of records, if not 0
	explain  func(audit.Record) (*routing.Plan, error)
	lookUp   func(ctx context.Context, host string) ([]netip.Addr, error)
	logged   *syncBuffer
}

// syncBuffer is a log that handlers and a test use at once.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.b.Len() > 8<<20 { // of a fuzzing process
		s.b.Reset()
	}
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// errUnavailable is a store that can't be reached.
var errUnavailable = fmt.Errorf("ask: %w", store.ErrUnavailable)

func (e *env) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(e.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (e *env) now() time.Time { return time.Now().Add(time.Duration(e.clock.Load())) }

// flaky is a store that a test can take away.
type flaky struct {
	*sqlstore.Store
	*env
}

func (f flaky) Load(ctx context.Context) (*store.State, error) {
	if f.down.Load() {
		return nil, fmt.Errorf("load: %w", store.ErrUnavailable)
	}
	return f.Store.Load(ctx)
}

func (f flaky) Update(ctx context.Context, now time.Time, decide func(*store.State) (*store.Write, error)) (*store.State, error) {
	if f.down.Load() {
		return nil, fmt.Errorf("update: %w", store.ErrUnavailable)
	}
	return f.Store.Update(ctx, now, decide)
}

func (f flaky) Records(ctx context.Context, filter store.RecordFilter, limit int) ([]store.Record, error) {
	if f.down.Load() || f.reads.Load() > 0 && f.reads.Add(-1) == 0 {
		return nil, fmt.Errorf("records: %w", store.ErrUnavailable)
	}
	return f.Store.Records(ctx, filter, limit)
}

func newEnv(tb testing.TB) *env {
	tb.Helper()
	e := &env{t: tb, logged: &syncBuffer{}}
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	dir := tb.TempDir()
	empty, err := emptyStore()
	must(err)
	must(os.WriteFile(filepath.Join(dir, "interlock.db"), empty, 0o600))
	e.store, err = sqlstore.Open(tb.Context(), sqlstore.Options{URL: "sqlite:" + filepath.Join(dir, "interlock.db")})
	must(err)
	tb.Cleanup(func() { e.store.Close() })
	e.spool, err = audit.OpenSpool(audit.SpoolOptions{Dir: filepath.Join(dir, "spool")})
	must(err)
	tb.Cleanup(e.spool.Close)
	box, err := secret.NewBox(bytes.Repeat([]byte{7}, 32))
	must(err)
	log := slog.New(slog.NewTextHandler(e.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	e.importer = audit.NewImporter(audit.ImporterOptions{Spool: e.spool, Store: e.store, Log: log})
	resolver := secret.NewResolver(secret.Options{LookupEnv: func(name string) (string, bool) {
		v, ok := map[string]string{
			"MAIN_KEY": "sk-ant-from-the-environment-1234", "CI_KEY": "ilk_from_the_environment_5678",
		}[name]
		return v, ok
	}})
	e.control = control.New(control.Options{
		Store: flaky{e.store, e}, Box: box, Resolve: resolver.Resolve, Log: log, Now: e.now,
		Compile: compile, Publish: func(l *snapshot.Live) { e.live.Store(l) },
		Audit: func(c control.Entry) error {
			changes, err := json.Marshal(c.Changes)
			if err != nil {
				return err
			}
			return e.spool.Append(&audit.Record{
				Kind: audit.KindAdmin, Time: e.now(), RequestID: c.RequestID, Outcome: audit.OutcomeAllow,
				Admin: &audit.AdminChange{Actor: c.Actor, Summary: c.Summary, Revision: c.Revision, Changes: changes},
			})
		},
	})
	must(e.control.Load(tb.Context()))
	tokens := admin.NewTokens(
		admin.Token{Secret: secret.New(adminToken), Role: admin.RoleAdmin},
		admin.Token{Secret: secret.New(viewerToken), Role: admin.RoleViewer},
		admin.Token{Secret: secret.New("a-token-with-no-known-role"), Role: "caller"},
	)
	e.handler, err = admin.New(admin.Options{
		Control: e.control, Records: flaky{e.store, e}, Sync: e.importer.Sync, Auth: tokens.Authenticate, Log: log, Now: e.now, Version: "1.2.3-test",
		Live: e.live.Load,
		LookUp: func(ctx context.Context, host string) ([]netip.Addr, error) {
			if e.lookUp == nil {
				return nil, errors.New("no name is known")
			}
			return e.lookUp(ctx, host)
		},
		Explain: func(_ context.Context, rec audit.Record) (*routing.Plan, error) {
			if e.explain == nil {
				return nil, errors.New("it can't be explained in this test")
			}
			return e.explain(rec)
		},
	})
	must(err)
	e.contract, err = contract()
	must(err)
	e.server = httptest.NewServer(e.handler)
	tb.Cleanup(e.server.Close)
	return e
}

func compile(docs []resource.Document, d snapshot.Deps) (*snapshot.Live, resource.Problems) {
	c, err := vendors()
	if err != nil {
		panic(err)
	}
	d.Catalog, d.Drivers = c, drivers.All()
	return snapshot.Compile(docs, d)
}

// answer is what the API said.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
	what   string
}

// as sends a request with a token; "" is none. Headers are name, value pairs.
func (e *env) as(token, method, path string, body any, headers ...string) *answer {
	e.t.Helper()
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	case []byte:
		r = bytes.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			e.t.Fatal(err)
		}
		r = bytes.NewReader(raw)
	}
	if !strings.HasPrefix(path, "/api") {
		path = admin.Prefix + path
	}
	req, err := http.NewRequestWithContext(e.t.Context(), method, e.server.URL+path, r)
	if err != nil {
		e.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := e.server.Client().Do(req)
	if err != nil {
		e.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatalf("%s %s: %v", method, path, err)
	}
	a := &answer{t: e.t, status: resp.StatusCode, header: resp.Header, body: b, what: method + " " + path}
	e.check(method, req.URL.EscapedPath(), a)
	return a
}

// check holds every answer against the OpenAPI document and against what no
// answer may have.
func (e *env) check(method, path string, a *answer) {
	e.t.Helper()
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Access-Control-Allow-Origin") != "" {
		e.t.Errorf("%s: headers %v", a.what, a.header)
	}
	if bytes.Contains(a.body, []byte("sealed:")) {
		e.t.Errorf("%s: the answer holds a sealed secret: %s", a.what, a.body)
	}
	if a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed || strings.Contains(path, "/openapi.") || method == http.MethodHead {
		return
	}
	if err := e.contract(method, path, a.status, a.header.Get("Content-Type"), a.body); err != nil {
		e.t.Errorf("%v\n%s", err, a.body)
	}
}

// admin sends a request as an administrator.
func (e *env) admin(method, path string, body any, headers ...string) *answer {
	e.t.Helper()
	return e.as(adminToken, method, path, body, headers...)
}

func (e *env) get(path string) *answer { e.t.Helper(); return e.admin("GET", path, nil).want(200) }

// want stops the test unless the answer has a status.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: status %d, want %d: %s", a.what, a.status, status, a.body)
	}
	return a
}

// code stops the test unless the answer is a problem with a status and code.
func (a *answer) code(status int, code string) *answer {
	a.t.Helper()
	a.want(status)
	p := a.problem()
	if p.Code != code || p.Status != status || p.Detail == "" || p.Title == "" || a.header.Get("Content-Type") != "application/problem+json" {
		a.t.Fatalf("%s: want the code %s: %s", a.what, code, a.body)
	}
	return a
}

func (a *answer) problem() admin.Problem {
	a.t.Helper()
	var p admin.Problem
	a.into(&p)
	return p
}

// into reads the body.
func (a *answer) into(v any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		a.t.Fatalf("%s: %v: %s", a.what, err, a.body)
	}
}

// object is the body as an object.
func (a *answer) object() map[string]any {
	a.t.Helper()
	var v map[string]any
	a.into(&v)
	return v
}

// field is a text or number in the body's object, as text.
func (a *answer) field(name string) string {
	a.t.Helper()
	return fmt.Sprint(a.object()[name])
}

// errorAt stops the test unless one of the errors is at a path.
func (a *answer) errorAt(path string) admin.FieldError {
	a.t.Helper()
	for _, e := range a.problem().Errors {
		if e.Path == path {
			return e
		}
	}
	a.t.Fatalf("%s: no error is at %q: %s", a.what, path, a.body)
	return admin.FieldError{}
}

// changes is the body of a change.
type changes struct {
	Changes []struct {
		Kind, Name, Action string
		Fields             []struct {
			Path          string
			Before, After any
		}
	}
	Revision int64
}

func (a *answer) changes() changes {
	a.t.Helper()
	var c changes
	a.into(&c)
	return c
}

// revision is the newest configuration version.
func (e *env) revision() int64 {
	e.t.Helper()
	n, err := e.store.Current(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	return n
}

// provider makes a provider that routes can use.
func (e *env) provider(name string) {
	e.t.Helper()
	e.admin("PUT", "/providers/"+name, providerBody("https://api.example.com")).want(201)
}

func providerBody(url string) map[string]any {
	return map[string]any{"type": "openai-compatible", "baseUrl": url, "apiKey": "sk-a-literal-secret-9999"}
}

func routeBody(provider string, patterns ...string) map[string]any {
	return map[string]any{"modelPatterns": patterns, "members": []any{map[string]any{"provider": provider}}}
}
