// Package gwtest runs the whole server in a test, with fake providers behind
// it: black-box tests talk HTTP to it and look at what the providers received.
// It is for tests only.
package gwtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// Key is the secret of the key that Start adds to every configuration, and
// AdminToken the token of administrators if Config.Admin asks for one.
const (
	Key        = "ilk_test_0123456789abcdef0123"
	AdminToken = "admin-token-of-the-tests-0123456789"
)

// Fake is a fake provider that listens on loopback.
type Fake struct {
	*fakellm.Server
	// URL has no path; append /v1 for OpenAI-style providers.
	URL string
}

// NewFake starts a fake provider; it ends with the test.
func NewFake(tb testing.TB) *Fake {
	tb.Helper()
	s := fakellm.New(fakellm.Options{})
	url, err := s.Start("127.0.0.1:0")
	if err != nil {
		tb.Fatalf("start a fake provider: %v", err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return &Fake{Server: s, URL: url}
}

// Rules scripts the fake provider.
func (f *Fake) Rules(tb testing.TB, rules ...fakellm.Rule) {
	tb.Helper()
	if err := f.SetRules(rules); err != nil {
		tb.Fatalf("script the fake provider: %v", err)
	}
}

// Anthropic is a Provider document for this fake.
func (f *Fake) Anthropic(name string, more ...string) string {
	return doc("Provider", name, append([]string{"type: anthropic", "baseUrl: " + f.URL, "apiKey: sk-ant-key-of-" + name}, more...))
}

// OpenAI is a Provider document for this fake.
func (f *Fake) OpenAI(name string, more ...string) string {
	return doc("Provider", name, append([]string{"type: openai", "baseUrl: " + f.URL + "/v1", "apiKey: sk-key-of-" + name}, more...))
}

// Route is a Route document; members are in order.
func Route(name, patterns string, members ...string) string {
	lines := []string{"modelPatterns: [" + patterns + "]", "members:"}
	for _, m := range members {
		lines = append(lines, "  - {provider: "+m+"}")
	}
	return doc("Route", name, lines)
}

func doc(kind, name string, lines []string) string {
	return "kind: " + kind + "\nname: " + name + "\n" + strings.Join(lines, "\n")
}

// Server is a running gateway.
type Server struct {
	// URL is its base, without a slash at the end.
	URL string
	// App is the server itself.
	App *app.App
	// Client keeps connections to this server only.
	Client *http.Client
	// Log is what it logged.
	Log *Buffer

	stop func() error
}

// Config is what Start takes.
type Config struct {
	// Settings are lines of the configuration file, such as
	// "server: {maxInFlight: 2}".
	Settings string
	// Documents are resource documents.
	Documents []string
	// Env are environment variables that references may name.
	Env map[string]string
	// NoKey leaves out the key that is added otherwise.
	NoKey bool
	// Admin lets AdminToken in.
	Admin bool
	// Auth is more of the section auth, such as "oidc: {...}"; it needs Admin.
	Auth string
	// Dir is the folder of the files and of the data; empty makes a new one.
	// A server that starts in the folder of one that ended goes on with its
	// data.
	Dir string
}

// withKey adds the test's key to the documents.
func (c Config) withKey() Config {
	if !c.NoKey {
		c.Documents = append(slices.Clone(c.Documents), doc("Key", "test", []string{"type: service", "secret: " + Key}))
	}
	return c
}

// Start runs a gateway with these resource documents and a key; it ends with
// the test.
func Start(tb testing.TB, documents ...string) *Server {
	tb.Helper()
	return StartWith(tb, Config{Documents: documents})
}

// StartWith runs a gateway; it ends with the test.
func StartWith(tb testing.TB, c Config) *Server {
	tb.Helper()
	loaded, err := Load(tb, c.withKey())
	if err != nil {
		tb.Fatalf("load the configuration: %v", err)
	}
	log := &Buffer{}
	a, err := app.New(context.Background(), loaded, log)
	if err != nil {
		tb.Fatalf("build the server: %v", err)
	}
	if err := a.Start(context.Background()); err != nil {
		tb.Fatalf("start the server: %v", err)
	}
	tr := &http.Transport{MaxIdleConnsPerHost: 512, DisableCompression: true}
	s := &Server{URL: "http://" + a.Addr(), App: a, Client: &http.Client{Transport: tr}, Log: log}
	s.stop = sync.OnceValue(func() error {
		tr.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return a.Stop(ctx)
	})
	tb.Cleanup(func() {
		if err := s.stop(); err != nil {
			tb.Errorf("stop the server: %v", err)
		}
	})
	return s
}

// Load reads a configuration as Start does, without starting anything.
func Load(tb testing.TB, c Config) (*config.Loaded, error) {
	tb.Helper()
	dir := c.Dir
	if dir == "" {
		dir = tb.TempDir()
	}
	main := filepath.Join(dir, "interlock.yaml")
	text := c.Settings + "\n"
	if !strings.Contains(text, "server:") {
		text += "server: {listen: 127.0.0.1:0, drainSeconds: 5}\n"
	}
	if !strings.Contains(text, "storage:") {
		data := filepath.Join(dir, "data")
		file := filepath.Join(data, "interlock.db")
		text += fmt.Sprintf("storage: {url: %q, dataDir: %q}\n", "sqlite:"+file, data)
		if err := emptyStore(data, file); err != nil {
			tb.Fatalf("make an empty store: %v", err)
		}
	}
	if c.Admin {
		token := filepath.Join(dir, "admin-token")
		if err := os.WriteFile(token, []byte(AdminToken), 0o600); err != nil {
			tb.Fatal(err)
		}
		more := ""
		if c.Auth != "" {
			more = ", " + c.Auth
		}
		text += fmt.Sprintf("auth: {adminTokens: [%q]%s}\n", "file:"+token, more)
	}
	if len(c.Documents) > 0 {
		if err := os.WriteFile(filepath.Join(dir, "resources.yaml"), []byte(strings.Join(c.Documents, "\n---\n")+"\n"), 0o600); err != nil {
			tb.Fatal(err)
		}
		if !strings.Contains(text, "resources:") {
			text += "resources: {files: [resources.yaml]}\n"
		}
	}
	if err := os.WriteFile(main, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return config.Load(config.Options{Path: main, LookupEnv: func(name string) (string, bool) { v, ok := c.Env[name]; return v, ok }})
}

// emptyDatabase is a database with all migrations and nothing else. Making one
// takes longer than all that most tests do with it.
var emptyDatabase = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "gwtest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "empty.db")
	s, err := sqlstore.Open(context.Background(), sqlstore.Options{URL: "sqlite:" + file})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// emptyStore puts an empty database where there is none.
func emptyStore(data, file string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	b, err := emptyDatabase()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o600)
}

// Stop ends the server now.
func (s *Server) Stop() error { return s.stop() }

// Reload does what SIGHUP does, with another configuration.
func (s *Server) Reload(tb testing.TB, c Config) {
	tb.Helper()
	loaded, err := Load(tb, c.withKey())
	if err != nil {
		tb.Fatalf("load the configuration: %v", err)
	}
	s.App.Reload(context.Background(), loaded)
}

// Admin sends a request to the admin API, below /api/v1.
func (s *Server) Admin(tb testing.TB, method, path, body string, headers ...string) Answer {
	tb.Helper()
	return s.Do(tb, method, "/api/v1"+path, body, append([]string{"Authorization: Bearer " + AdminToken}, headers...)...)
}

// Answer is a whole HTTP answer.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	// Err is what ended the body early, if anything.
	Err error
}

// Do sends a request with the test's key and reads the answer whole.
func (s *Server) Do(tb testing.TB, method, path, body string, headers ...string) Answer {
	tb.Helper()
	return s.Send(tb, s.Request(tb, method, path, body, headers...))
}

// Post is Do with method POST.
func (s *Server) Post(tb testing.TB, path, body string, headers ...string) Answer {
	tb.Helper()
	return s.Do(tb, http.MethodPost, path, body, headers...)
}

// Request makes a request with the test's key; headers are "Name: value", and
// "Authorization:" without a value removes it.
func (s *Server) Request(tb testing.TB, method, path, body string, headers ...string) *http.Request {
	tb.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+Key)
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		if value = strings.TrimSpace(value); value == "" {
			req.Header.Del(name)
		} else {
			req.Header.Add(name, value)
			if strings.EqualFold(name, "authorization") || strings.EqualFold(name, "content-type") {
				req.Header.Set(name, value)
			}
		}
	}
	return req
}

// Send sends a request and reads the answer whole.
func (s *Server) Send(tb testing.TB, req *http.Request) Answer {
	tb.Helper()
	resp, err := s.Client.Do(req)
	if err != nil {
		tb.Fatalf("%s %s: %v", req.Method, req.URL.Path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return Answer{resp.StatusCode, resp.Header, string(body), err}
}

// Chat is a small Chat Completions request body.
func Chat(model string, stream bool) string {
	return fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hi"}],"stream":%t}`, model, stream)
}

// Message is a small Messages request body.
func Message(model string, stream bool) string {
	return fmt.Sprintf(`{"model":%q,"max_tokens":64,"messages":[{"role":"user","content":"hi"}],"stream":%t}`, model, stream)
}

// Buffer is a log that can be read while it is written.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
