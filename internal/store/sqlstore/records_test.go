package sqlstore_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// TestListsNeedNoSorting: a list ends with its page only if packs come in its
// order, and a search is short only if it does not walk through all of them.
func TestListsNeedNoSorting(t *testing.T) {
	s := open(t, sqlstore.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "x.db")})
	for mask := range 1 << 9 {
		var f store.RecordFilter
		words := 0
		for bit, set := range []func(){
			func() { f.RequestID = "r"; words++ }, func() { f.Key = "k"; words++ }, func() { f.Outcome = "error"; words++ }, func() { f.Provider = "p"; words++ },
			func() { f.Model = "m"; words++ }, func() { f.Code = "c"; words++ }, func() { f.From = time.Now() }, func() { f.To = time.Now() }, func() { f.Before = 9 },
		} {
			if mask>>bit&1 == 1 {
				set()
			}
		}
		if f.Key != "" && f.Outcome != "" {
			words++ // for both together
		}
		groups, packs, err := s.Plan(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(groups+packs, "SCAN") || strings.Contains(groups+packs, "TEMP B-TREE") {
			t.Errorf("%+v:\n%s\n%s", f, groups, packs)
		}
		if n := strings.Count(groups, "(grp=? AND part=?)"); n != words {
			t.Errorf("%+v looks up %d words, want %d:\n%s", f, n, words, groups)
		}
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
	for _, table := range []string{"audit_words", "audit_groups"} {
		left, err := s.Strings(t.Context(), "SELECT COUNT(*) FROM "+table)
		if err != nil || len(left) != 1 || len(left[0]) > 1 {
			t.Errorf("%s are left in %s: %v", left, table, err)
		}
	}
	sound(t, s)
}
