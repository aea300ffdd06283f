//go:build unix

package ops

import (
	"testing"

	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// open opens the database of a process that ended.
func open(t *testing.T, path string) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: "sqlite:" + path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// stored are all audit records in a database.
func stored(t *testing.T, path string) []store.Record {
	t.Helper()
	records, err := open(t, path).Records(t.Context(), store.RecordFilter{}, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	return records
}
