package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// No test may leave a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const chatPath = "/v1/chat/completions"

func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			tb.Fatalf("not within 20 s: %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// server runs a gateway in a folder, in a mode, with an administrator.
func server(t *testing.T, dir, mode string, documents ...string) *gwtest.Server {
	t.Helper()
	return gwtest.StartWith(t, config(dir, mode, documents...))
}

func config(dir, mode string, documents ...string) gwtest.Config {
	return gwtest.Config{
		Dir: dir, Admin: true, Documents: documents,
		Settings: fmt.Sprintf("server: {listen: 127.0.0.1:0, drainSeconds: 5}\nresources: {mode: %s, files: [resources.yaml]}\nstorage: {url: %q, dataDir: %q}",
			mode, "sqlite:"+database(dir), filepath.Join(dir, "data")),
	}
}

// database is apart from the other data, as a volume or another machine is.
func database(dir string) string { return filepath.Join(dir, "db", "interlock.db") }

func stop(t *testing.T, s *gwtest.Server) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
}

// ask sends one request; its answer has to have a status.
func ask(tb testing.TB, s *gwtest.Server, status int) gwtest.Answer {
	tb.Helper()
	got := s.Post(tb, chatPath, gwtest.Chat("gpt-5", false))
	if got.Status != status {
		tb.Fatalf("status %d, want %d: %s", got.Status, status, got.Body)
	}
	return got
}

// admin sends a request to the admin API; its answer has to have a status.
func admin(tb testing.TB, s *gwtest.Server, status int, method, path, body string, headers ...string) gwtest.Answer {
	tb.Helper()
	got := s.Admin(tb, method, path, body, headers...)
	if got.Status != status {
		tb.Fatalf("%s %s: status %d, want %d: %s", method, path, got.Status, status, got.Body)
	}
	return got
}

// revision is the newest configuration version, as the API says.
func revision(tb testing.TB, s *gwtest.Server) int64 {
	tb.Helper()
	var list struct{ Items []struct{ Version int64 } }
	if err := json.Unmarshal([]byte(admin(tb, s, 200, "GET", "/config-versions", "").Body), &list); err != nil {
		tb.Fatal(err)
	}
	if len(list.Items) == 0 {
		return 0
	}
	return list.Items[0].Version
}

// field reads one field of an object from the API.
func field(tb testing.TB, s *gwtest.Server, path, name string) any {
	tb.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(admin(tb, s, 200, "GET", path, "").Body), &o); err != nil {
		tb.Fatal(err)
	}
	return o[name]
}

// records are the audit records that were stored.
func records(tb testing.TB, s *gwtest.Server) []audit.Record {
	tb.Helper()
	stored, err := s.App.Audited(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return decode(tb, stored)
}

func decode(tb testing.TB, stored []store.Record) []audit.Record {
	tb.Helper()
	out := make([]audit.Record, len(stored))
	for i := range stored {
		if err := json.Unmarshal(stored[i].Data, &out[i]); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// logged waits for words in the log.
func logged(tb testing.TB, s *gwtest.Server, words string) {
	tb.Helper()
	eventually(tb, "the log says "+words, func() bool { return strings.Contains(s.Log.String(), words) })
}
