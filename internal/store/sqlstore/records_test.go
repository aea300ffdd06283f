package sqlstore_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// withBusyKey opens a store with 3000 records, nearly all of one key, ten of
// another, and six with a rare provider.
func withBusyKey(t *testing.T) *sqlstore.Store {
	t.Helper()
	s := open(t, sqlstore.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "x.db")})
	records := make([]store.Record, 3000)
	for i := range records {
		records[i] = store.Record{Time: recordTime(i), Key: "busy", Provider: "p"}
		if i%500 == 0 {
			records[i].Provider = "rare"
		}
		if i%300 == 7 {
			records[i].Key = "calm"
		}
	}
	if err := s.Import(t.Context(), "spool", records, store.Position{Offset: 1}); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestListsNeedNoSorting: a list ends with its page only if records come in its
// order, and a search is short only if it does not walk through all records.
func TestListsNeedNoSorting(t *testing.T) {
	s := withBusyKey(t)
	every := 1
	if raceDetector {
		every = 7
	}
	for mask := 0; mask < 1<<10; mask += every {
		var f store.RecordFilter
		for bit, set := range []func(){
			func() { f.RequestID = "r" }, func() { f.Key = "calm" }, func() { f.Key = "busy" }, func() { f.Outcome = "error" }, func() { f.Provider = "p" }, func() { f.Model = "m" },
			func() { f.Code = "c" }, func() { f.From = time.Now() }, func() { f.To = time.Now() }, func() { f.Before = 9 },
		} {
			if mask>>bit&1 == 1 {
				set()
			}
		}
		plan, err := s.Plan(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		scans := strings.Contains(plan, "SCAN a") && f != store.RecordFilter{}
		if scans || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%+v:\n%s", f, plan)
		}
	}
	for _, tc := range []struct {
		filter store.RecordFilter
		want   string
	}{
		{store.RecordFilter{RequestID: "r", Key: "busy", Outcome: "error", Code: "c", Provider: "p"}, "audit_request (request_id=?)"},
		{store.RecordFilter{Key: "calm", Code: "c", Provider: "p"}, "audit_key (key=?)"},
		{store.RecordFilter{Key: "calm", Outcome: "error", Code: "c"}, "audit_key_failed (key=?)"},
		{store.RecordFilter{Key: "busy", Outcome: "error", Provider: "p"}, "audit_key_failed (key=? AND seq>? AND seq<?)"},
		{store.RecordFilter{Key: "busy", Outcome: "allow"}, "audit_key (key=?)"},
		{store.RecordFilter{Code: "c", Outcome: "error", Team: "t"}, "audit_code (code=? AND seq>? AND seq<?)"},
		{store.RecordFilter{Outcome: "error", From: recordTime(1)}, "audit_failed (outcome=? AND seq>? AND seq<?)"},
		{store.RecordFilter{Provider: "p", Outcome: "allow"}, "PRIMARY KEY (rowid>? AND rowid<?)"},
		{store.RecordFilter{To: recordTime(1)}, "PRIMARY KEY (rowid>? AND rowid<?)"},
	} {
		if plan, err := s.Plan(t.Context(), tc.filter); err != nil || !strings.HasSuffix(plan, tc.want) {
			t.Errorf("%+v: %v:\n%s", tc.filter, err, plan)
		}
	}
}

// TestKeyWithManyRecords: what a key did is found in blocks too.
func TestKeyWithManyRecords(t *testing.T) {
	s := withBusyKey(t)
	f := store.RecordFilter{Key: "busy", Provider: "rare"}
	plan, err := s.Plan(t.Context(), f)
	if err != nil || !strings.Contains(plan, "SEARCH t0") {
		t.Errorf("%v:\n%s", err, plan)
	}
	got, err := s.Records(t.Context(), f, 50)
	var seqs []int64
	for _, r := range got {
		seqs = append(seqs, r.Seq)
	}
	if err != nil || fmt.Sprint(seqs) != "[2501 2001 1501 1001 501 1]" {
		t.Errorf("%v, %v", seqs, err)
	}
}

// TestOP_12_DeletionLetsOthersWork: a large deletion gives way to imports again
// and again.
func TestOP_12_DeletionLetsOthersWork(t *testing.T) {
	s := open(t, sqlstore.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "x.db")})
	rows := 40 * 512
	if raceDetector {
		rows = 10 * 512
	}
	fill(t, s, rows)
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		if n, err := s.DeleteBefore(t.Context(), recordTime(rows+100), rows); n != rows || err != nil {
			t.Errorf("deleted %d: %v", n, err)
		}
	})
	imports := 0
	for {
		select {
		case <-done:
		default:
			if err := s.Import(t.Context(), "other", []store.Record{{Time: recordTime(rows * 2)}}, store.Position{Offset: int64(imports + 1)}); err != nil {
				t.Fatal(err)
			}
			imports++
			continue
		}
		break
	}
	wg.Wait()
	if imports < rows/5000 {
		t.Errorf("%d imports while records were deleted", imports)
	}
	if got, err := s.Records(t.Context(), store.RecordFilter{}, rows); len(got) != imports || err != nil {
		t.Errorf("%d records are left, want %d: %v", len(got), imports, err)
	}
	for _, table := range []string{"audit_terms", "audit_blocks"} {
		left, err := s.Strings(t.Context(), "SELECT COUNT(*) FROM "+table)
		if err != nil || len(left) != 1 || len(left[0]) > 1 {
			t.Errorf("%s are left in %s: %v", left, table, err)
		}
	}
	sound(t, s)
}
