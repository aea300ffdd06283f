package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// outages are ways in which a database can be unusable, with their ends. Each
// begins with the file of a server that was stopped.
var outages = map[string]struct {
	begin, end func(t *testing.T, path string)
}{
	"no database": {
		func(t *testing.T, path string) {
			keep(t, path)
			write(t, path, strings.Repeat("this is no database\n", 1000))
		},
		bringBack,
	},
	"damaged inside": {
		func(t *testing.T, path string) {
			keep(t, path)
			b, err := os.ReadFile(path + ".kept")
			if err != nil {
				t.Fatal(err)
			}
			// The pages of the schema stay: it opens, and reading fails.
			at := 4096 * 4
			damaged := append(slices.Clone(b[:at]), []byte(strings.Repeat("\xA5", len(b)-at))...)
			write(t, path, string(damaged))
		},
		bringBack,
	},
	"a folder": {
		func(t *testing.T, path string) { keep(t, path); mkdir(t, path) },
		func(t *testing.T, path string) { remove(t, path); bringBack(t, path) },
	},
	"its folder is a file": {
		func(t *testing.T, path string) {
			if err := os.Rename(filepath.Dir(path), filepath.Dir(path)+".kept"); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Dir(path), "")
		},
		func(t *testing.T, path string) {
			remove(t, filepath.Dir(path))
			if err := os.Rename(filepath.Dir(path)+".kept", filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
		},
	},
	"it may not be read": {
		func(t *testing.T, path string) {
			if os.Getuid() == 0 {
				t.Skip("root may read everything")
			}
			chmod(t, path, 0)
		},
		func(t *testing.T, path string) { chmod(t, path, 0o600) },
	},
}

func keep(t *testing.T, path string) {
	t.Helper()
	if err := os.Rename(path, path+".kept"); err != nil {
		t.Fatal(err)
	}
}

func bringBack(t *testing.T, path string) {
	t.Helper()
	for _, more := range []string{"-wal", "-shm"} {
		_ = os.Remove(path + more)
	}
	if err := os.Rename(path+".kept", path); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o750); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// TestOP_4_cold_start: a gateway whose database is unusable starts and serves
// with its last configuration, refuses changes, and takes everything up again
// within seconds when the database is back: changes, and the audit records of
// the time between, each once.
func TestOP_4_cold_start(t *testing.T) {
	for name, o := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := gwtest.NewFake(t)
			dir := t.TempDir()
			first := server(t, dir, "seed", fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
			ids := []string{ask(t, first, 200).Header.Get("X-Interlock-Request-Id")}
			stop(t, first)
			o.begin(t, database(dir))

			s := server(t, dir, "seed", fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
			for range 3 {
				ids = append(ids, ask(t, s, 200).Header.Get("X-Interlock-Request-Id"))
			}
			if got := s.Do(t, "GET", "/readyz", ""); got.Status != 200 {
				t.Errorf("ready: %d %s", got.Status, got.Body)
			}
			const change = `{"type":"openai","baseUrl":"http://127.0.0.1:9/v1"}`
			if got := admin(t, s, 503, "PUT", "/providers/b", change); !strings.Contains(got.Body, "store_unavailable") {
				t.Errorf("a change meanwhile: %s", got.Body)
			}
			o.end(t, database(dir))
			begin := time.Now()
			eventually(t, "changes are taken", func() bool { return s.Admin(t, "PUT", "/providers/b", change).Status < 300 })
			if took := time.Since(begin); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
			ids = append(ids, ask(t, s, 200).Header.Get("X-Interlock-Request-Id"))
			counts := map[string]int{}
			for _, r := range records(t, s) {
				counts[r.RequestID]++
			}
			for _, id := range ids {
				if counts[id] != 1 {
					t.Errorf("request %s has %d records", id, counts[id])
				}
			}
		})
	}
}

// TestAC_GRANT_6_nothing_to_start_with: no store and no last configuration:
// every request is ER-NOTLOADED, until the store is there; then the file is
// applied as at a start.
func TestAC_GRANT_6_nothing_to_start_with(t *testing.T) {
	for _, mode := range []string{"seed", "enforce"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			fake := gwtest.NewFake(t)
			dir := t.TempDir()
			mkdir(t, database(dir))
			s := server(t, dir, mode, fake.OpenAI("a"), fake.Anthropic("b"), gwtest.Route("r", "gpt-5", "a"), gwtest.Route("c", "claude-x", "b"))
			// ER-NOTLOADED in the formats of both endpoints, also without a key.
			for _, got := range []gwtest.Answer{
				ask(t, s, 400),
				s.Post(t, "/v1/messages", gwtest.Message("claude-x", true)),
				s.Post(t, chatPath, gwtest.Chat("gpt-5", true), "Authorization:"),
				s.Do(t, "GET", "/v1/models", ""),
			} {
				if got.Status != 400 || !strings.Contains(got.Body, "MODEL_DENIED") || !strings.Contains(got.Body, "no valid configuration is loaded yet") ||
					got.Header.Get("Retry-After") == "" || got.Header.Get("X-Should-Retry") == "false" {
					t.Errorf("%d %v: %s", got.Status, got.Header, got.Body)
				}
			}
			if got := s.Do(t, "GET", "/readyz", ""); got.Status != 503 {
				t.Errorf("ready: %d %s", got.Status, got.Body)
			}
			if got := s.Do(t, "GET", "/healthz", ""); got.Status != 200 {
				t.Errorf("alive: %d %s", got.Status, got.Body)
			}
			if fake.Requests() != 0 {
				t.Error("a provider was asked")
			}
			remove(t, database(dir))
			eventually(t, "requests are served", func() bool { return s.Post(t, chatPath, gwtest.Chat("gpt-5", false)).Status == 200 })
			want := map[string]string{"seed": "api", "enforce": "file"}[mode]
			if got := field(t, s, "/providers/a", "managedBy"); got != want {
				t.Errorf("the provider is managed by %v, want %s", got, want)
			}
			denied := 0
			for _, r := range records(t, s) {
				if r.Code == "MODEL_DENIED" && r.Policy == "no-grant" && r.Outcome == audit.OutcomeDeny {
					denied++
				}
			}
			if denied < 3 {
				t.Errorf("%d records of refused requests", denied)
			}
		})
	}
}

// TestAC_GRANT_6_stored_configuration_is_invalid: it starts with the last good
// one, and the file waits; a change that mends what is stored is taken, and
// the file applied.
func TestAC_GRANT_6_stored_configuration_is_invalid(t *testing.T) {
	fake := gwtest.NewFake(t)
	dir := t.TempDir()
	docs := []string{fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a")}
	first := server(t, dir, "enforce", docs...)
	ask(t, first, 200)
	stop(t, first)
	st, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: "sqlite:" + database(dir)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = st.Update(t.Context(), time.Now(), func(*store.State) (*store.Write, error) {
		return &store.Write{Put: []store.Document{{Kind: "Route", Name: "bad", Owner: store.OwnerAPI, Spec: []byte(`{"kind":"Route","name":"bad","modelPatterns":["m"],"members":[{"provider":"nobody"}]}`)}}}, nil
	})
	if err := errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	s := server(t, dir, "enforce", append(docs, fake.OpenAI("new"))...)
	ask(t, s, 200)
	for _, words := range []string{"started with the last good configuration", "nobody", "can't be applied"} {
		logged(t, s, words)
	}
	admin(t, s, 404, "GET", "/providers/new", "")
	admin(t, s, 400, "PUT", "/providers/b", `{"type":"openai"}`)
	admin(t, s, 204, "DELETE", "/routes/bad", "")
	eventually(t, "the file is applied", func() bool { return s.Admin(t, "GET", "/providers/new", "").Status == 200 })
	ask(t, s, 200)
}

// TestAC_GRANT_6_secret_is_gone: a secret that is gone keeps nothing from
// starting. A file that names another one mends it; else its provider serves
// nothing until the secret is back and read again.
func TestAC_GRANT_6_secret_is_gone(t *testing.T) {
	fake := gwtest.NewFake(t)
	dir := t.TempDir()
	ref := filepath.Join(dir, "old-key")
	write(t, ref, "sk-behind-a-file-0001")
	provider := func(ref string) string {
		return "kind: Provider\nname: a\ntype: openai\nbaseUrl: " + fake.URL + "/v1\napiKey: " + ref
	}
	first := server(t, dir, "enforce", provider("file:"+ref), gwtest.Route("r", "gpt-5", "a"))
	ask(t, first, 200)
	stop(t, first)
	remove(t, ref)

	write(t, filepath.Join(dir, "new-key"), "sk-behind-a-file-0002")
	s := server(t, dir, "enforce", provider("file:"+filepath.Join(dir, "new-key")), gwtest.Route("r", "gpt-5", "a"))
	ask(t, s, 200)
	if got := revision(t, s); got != 2 {
		t.Errorf("version %d", got)
	}
	stop(t, s)

	// In mode seed the file says nothing.
	remove(t, filepath.Join(dir, "new-key"))
	s = server(t, dir, "seed", fake.OpenAI("unused"))
	if got := ask(t, s, 503); !strings.Contains(got.Body, "NO_UPSTREAM_KEY") {
		t.Errorf("without the secret: %s", got.Body)
	}
	if got := field(t, s, "/providers/a", "managedBy"); got != "api" {
		t.Errorf("the file does not enforce it any more, and it is managed by %v", got)
	}
	write(t, filepath.Join(dir, "new-key"), "sk-behind-a-file-0003")
	s.Reload(t, config(dir, "seed", fake.OpenAI("unused")))
	ask(t, s, 200)
	if got := fake.Records(); !strings.Contains(got[len(got)-1].Headers.Get("Authorization"), "0003") {
		t.Errorf("the provider received %v", got[len(got)-1].Headers)
	}
}
