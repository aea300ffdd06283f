package sqlstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

func open(tb testing.TB, o sqlstore.Options) *sqlstore.Store {
	tb.Helper()
	s, err := sqlstore.Open(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// TestOpenMakesPrivateFiles: keys and audit are in them.
func TestOpenMakesPrivateFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "data")
	s := open(t, sqlstore.Options{URL: "sqlite:" + filepath.Join(dir, "interlock.db")})
	if _, err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"..": 0o700, ".": 0o700, "interlock.db": 0o600, "interlock.db-wal": 0o600, "interlock.db-shm": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the mode %o, want %o", name, got, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("a closed store is one file, not %v: %v", entries, err)
	}
}

func TestOpenTakesAnyPath(t *testing.T) {
	for _, name := range []string{"a b.db", "a?b#c.db", "100%41.db", "a&b=c;d.db", "名前.db", "a+b.db", "file:x.db"} {
		path := filepath.Join(t.TempDir(), name)
		open(t, sqlstore.Options{URL: "sqlite:" + path})
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	t.Chdir(t.TempDir())
	for _, path := range []string{"plain.db", "./data/interlock.db", "../up.db"} {
		open(t, sqlstore.Options{URL: "sqlite:" + path})
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		url         string
		unavailable bool
	}{
		{"", false},
		{"sqlite:", false},
		{"sqlite::memory:", false},
		{"mysql://x", false},
		{"sqlite:" + dir, true},
		{"sqlite:" + text, true},
		{"sqlite:" + filepath.Join(text, "below-a-file.db"), false},
	} {
		s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: tc.url})
		if err == nil {
			s.Close()
			t.Errorf("%q was opened", tc.url)
			continue
		}
		if got := errors.Is(err, store.ErrUnavailable); got != tc.unavailable {
			t.Errorf("%q: unavailable %v: %v", tc.url, got, err)
		}
	}
}
