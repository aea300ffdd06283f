package sqlstore_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// pageTime is how long a page of 50 may take. What is rare, and what is common
// together, is found in less; three common things that rarely meet may take
// longer, since every block has each of them.
const pageTime = 50 * time.Millisecond

// TestRecordsAtScale lists pages of a large audit. INTERLOCK_AUDIT_ROWS sets how
// large; 10000000 is what the design is for and takes some minutes to fill.
func TestRecordsAtScale(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("fills a large database and measures")
	}
	rows, _ := strconv.Atoi(cmp.Or(os.Getenv("INTERLOCK_AUDIT_ROWS"), "200000"))
	dir := t.TempDir()
	s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: "sqlite:" + filepath.Join(dir, "audit.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	start := time.Now()
	fill(t, s, rows)
	took := time.Since(start)
	t.Logf("%d records in %v, %.1f µs each, %d MB", rows, took.Round(time.Second), float64(took.Microseconds())/float64(rows), size(t, dir)>>20)

	middle := recordTime(rows / 2)
	for _, tc := range []struct {
		name   string
		filter store.RecordFilter
		want   int
	}{
		{"newest", store.RecordFilter{}, 50},
		{"a page in the middle", store.RecordFilter{Before: int64(rows / 2)}, 50},
		{"key", store.RecordFilter{Key: "key-3"}, 50},
		{"rare key", store.RecordFilter{Key: "key-rare"}, 0},
		{"requests of a rare key with a common provider", store.RecordFilter{Kind: "request", Key: "key-rare", Provider: "provider-1"}, 0},
		{"provider", store.RecordFilter{Provider: "provider-2"}, 50},
		{"rare provider", store.RecordFilter{Provider: "provider-rare"}, 0},
		{"errors", store.RecordFilter{Outcome: "error"}, 50},
		{"canceled, rare", store.RecordFilter{Outcome: "canceled"}, 0},
		{"time range in the middle", store.RecordFilter{From: middle, To: middle.Add(time.Hour)}, 50},
		{"old time", store.RecordFilter{To: recordTime(1000)}, 50},
		{"a minute long ago", store.RecordFilter{From: recordTime(5000), To: recordTime(5100)}, 50},
		{"a time without records", store.RecordFilter{From: middle.AddDate(-5, 0, 0), To: middle.AddDate(-4, 0, 0)}, 0},
		{"request", store.RecordFilter{RequestID: requestID(rows / 3)}, 1},
		{"unknown request", store.RecordFilter{RequestID: "none"}, 0},
		{"model", store.RecordFilter{Model: "model-4"}, 50},
		{"rare model", store.RecordFilter{Model: "model-rare"}, 0},
		{"unknown model", store.RecordFilter{Model: "none"}, 0},
		{"key and errors", store.RecordFilter{Key: "key-1", Outcome: "error"}, 10},
		{"key and a model that it never used", store.RecordFilter{Key: "key-0", Model: "model-rare"}, 0},
		{"errors of a provider in a time", store.RecordFilter{Provider: "provider-1", Outcome: "error", From: recordTime(rows / 3), To: middle}, 50},
		{"code of a team", store.RecordFilter{Code: "provider_failed", Team: "team-3"}, 50},
		{"team and model", store.RecordFilter{Team: "team-3", Model: "model-1"}, 50},
	} {
		t.Run(tc.name, func(t *testing.T) {
			best := time.Hour
			var times []string
			for range 5 {
				start := time.Now()
				got, err := s.Records(t.Context(), tc.filter, 50)
				took := time.Since(start)
				if err != nil || len(got) < tc.want {
					t.Fatalf("%d records, want %d at least: %v", len(got), tc.want, err)
				}
				best = min(best, took)
				times = append(times, fmt.Sprintf("%.1f", float64(took.Microseconds())/1000))
			}
			t.Logf("ms: %s", strings.Join(times, " "))
			if best > pageTime {
				t.Errorf("a page took %v", best)
			}
		})
	}
}

// recordTime is about when the i-th record was made: ten in a second.
func recordTime(i int) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * 100 * time.Millisecond)
}

// requestID is shaped like a ULID.
func requestID(i int) string { return fmt.Sprintf("01%08X%016X", i, uint64(i)*0x9E3779B97F4A7C15) }

// someData is about 750 bytes, of which some 60 repeat nothing, as in records.
func someData(r *rand.Rand, i int) json.RawMessage {
	return fmt.Appendf(nil, `{"kind":"request","requestId":%q,"sessionHash":"%016x%016x","input":%d,"durationMs":%d.%d,"filler":"%s"}`,
		requestID(i), r.Uint64(), r.Uint64(), r.IntN(50_000), r.IntN(9000), r.IntN(1000), strings.Repeat("about 700 bytes, as records are ", 18))
}

// someRecord is the i-th of a stream of records like those of a busy gateway.
func someRecord(r *rand.Rand, i int) store.Record {
	rec := store.Record{
		Time:      recordTime(i).Add(time.Duration(r.IntN(4000)) * time.Millisecond),
		RequestID: requestID(i), Kind: "request", Outcome: "allow", Status: 200,
		Key:  "key-" + strconv.Itoa(int(min(1999, r.ExpFloat64()*150))),
		Team: "team-" + strconv.Itoa(r.IntN(20)), Model: "model-" + strconv.Itoa(r.IntN(15)), Route: "route-" + strconv.Itoa(r.IntN(10)),
		Provider: "provider-" + strconv.Itoa(r.IntN(6)), Data: someData(r, i),
	}
	switch {
	case i%100 == 17:
		rec.Outcome, rec.Code, rec.Status = "error", "provider_failed", 502
	case i%50_021 == 50_020:
		rec.Outcome, rec.Status = "canceled", 499
	}
	switch {
	case i%600 == 1: // one in most blocks: the worst of the rare
		rec.Model = "model-rare"
	case i%100_000 == 2:
		rec.Provider = "provider-rare"
	case i%250_000 == 3:
		rec.Key = "key-rare"
	}
	return rec
}

func fill(t *testing.T, s *sqlstore.Store, rows int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	const batch = 4000
	for i := 0; i < rows; i += batch {
		records := make([]store.Record, 0, batch)
		for j := i; j < min(i+batch, rows); j++ {
			records = append(records, someRecord(r, j))
		}
		if err := s.Import(t.Context(), "spool", records, store.Position{Segment: 1, Offset: int64(i + batch)}); err != nil {
			t.Fatal(err)
		}
	}
}

func size(t *testing.T, dir string) (total int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	return total
}
