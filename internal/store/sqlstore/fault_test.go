package sqlstore_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// grow is an update that writes n bytes.
func grow(t *testing.T, s *sqlstore.Store, n int) error {
	t.Helper()
	_, err := s.Update(t.Context(), time.Now(), func(state *store.State) (*store.Write, error) {
		name := fmt.Sprintf("r%d", len(state.Documents))
		spec := `{"x":"` + strings.Repeat("x", n) + `"}`
		return &store.Write{Put: []store.Document{{Kind: "Route", Name: name, Owner: store.OwnerAPI, Spec: []byte(spec)}}}, nil
	})
	return err
}

// TestFaultsAreUnavailable: the disk is full, read-only or locked by another
// process. Reading goes on, nothing half is written, and it recovers by itself.
func TestFaultsAreUnavailable(t *testing.T) {
	for _, tc := range []struct {
		name       string
		begin, end func(t *testing.T, s *sqlstore.Store, path string)
	}{
		{"full", statement("PRAGMA max_page_count = 1"), statement("PRAGMA max_page_count = 1000000")},
		{"read-only", statement("PRAGMA query_only = 1"), statement("PRAGMA query_only = 0")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			s := open(t, sqlstore.Options{URL: "sqlite:" + path, BusyTimeout: 20 * time.Millisecond})
			if err := grow(t, s, 10); err != nil {
				t.Fatal(err)
			}
			tc.begin(t, s, path)
			checkFault(t, s)
			tc.end(t, s, path)
			checkRecovery(t, s)
		})
	}
	t.Run("locked", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "x.db")
		s := open(t, sqlstore.Options{URL: "sqlite:" + path, BusyTimeout: 20 * time.Millisecond})
		if err := grow(t, s, 10); err != nil {
			t.Fatal(err)
		}
		other, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		tx, err := other.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		checkFault(t, s)
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		checkRecovery(t, s)
	})
}

func statement(text string) func(*testing.T, *sqlstore.Store, string) {
	return func(t *testing.T, s *sqlstore.Store, _ string) {
		t.Helper()
		if err := s.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
}

func checkFault(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	records := make([]store.Record, 300)
	for i := range records {
		var noise []byte // equal ones need next to no space
		for range 50 {
			noise = fmt.Appendf(noise, "%x", rand.Uint64())
		}
		records[i] = store.Record{Time: time.Now(), Data: fmt.Appendf(nil, `{"x":%q}`, noise)}
	}
	for name, err := range map[string]error{
		"Update": grow(t, s, 100_000),
		"Import": s.Import(t.Context(), "spool", records, store.Position{Offset: 1}),
	} {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if state, err := s.Load(t.Context()); err != nil || state.Revision != 1 || len(state.Documents) != 1 {
		t.Errorf("reading meanwhile: %+v, %v", state, err)
	}
}

func checkRecovery(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	if err := grow(t, s, 100_000); err != nil {
		t.Errorf("after the fault: %v", err)
	}
	if err := s.Import(t.Context(), "spool", []store.Record{{Time: time.Now()}}, store.Position{Offset: 1}); err != nil {
		t.Errorf("after the fault: %v", err)
	}
	if records, err := s.Records(t.Context(), store.RecordFilter{}, 10); err != nil || len(records) != 1 {
		t.Errorf("%d records: %v", len(records), err)
	}
	if n, err := s.Current(t.Context()); n != 2 {
		t.Errorf("revision %d: %v", n, err)
	}
	sound(t, s)
}

// TestDamageIsUnavailable: a damaged file is an error, not wrong data.
func TestDamageIsUnavailable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := open(t, sqlstore.Options{URL: "sqlite:" + path})
	for range 50 {
		if err := grow(t, s, 3000); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096 * 10; i < len(data); i++ {
		data[i] = 0xA5
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = sqlstore.Open(t.Context(), sqlstore.Options{URL: "sqlite:" + path})
	if err == nil {
		defer s.Close()
		_, err = s.Load(t.Context())
	}
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}
