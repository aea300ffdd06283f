//go:build unix

package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// BenchmarkImporter is what a record costs between the spool and the database,
// in processor time of the whole process, at several sizes of an import: so
// many records are found in the spool at once. "read" is without a database.
func BenchmarkImporter(b *testing.B) {
	for _, size := range []int{1, 20, 200, 1000, 10_000} {
		b.Run(fmt.Sprint("sqlite/", size), func(b *testing.B) {
			dir := b.TempDir()
			s, err := sqlstore.Open(b.Context(), sqlstore.Options{URL: "sqlite:" + filepath.Join(dir, "audit.db")})
			if err != nil {
				b.Fatal(err)
			}
			benchmarkImporter(b, s, size)
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(folderSize(b, dir))/float64(b.N), "disk-B/record")
		})
	}
	b.Run("read", func(b *testing.B) { benchmarkImporter(b, nowhere{}, 10_000) })
}

func benchmarkImporter(b *testing.B, s store.Audit, size int) {
	b.Helper()
	spool, err := audit.OpenSpool(audit.SpoolOptions{Dir: b.TempDir(), SegmentBytes: 256 << 20, MaxPending: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	defer spool.Close()
	imports := audit.NewImporter(audit.ImporterOptions{Spool: spool, Store: s, Log: slog.New(slog.DiscardHandler)})
	r := rand.New(rand.NewPCG(1, 2))
	var cpu time.Duration
	var allocs, bytes uint64
	b.ResetTimer()
	for done := 0; done < b.N; {
		n := min(size, b.N-done)
		for i := range n {
			if err := spool.Append(busyRecord(r, done+i)); err != nil {
				b.Fatal(err)
			}
		}
		done += n
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := cpuTime(b)
		if err := imports.Sync(b.Context()); err != nil {
			b.Fatal(err)
		}
		cpu += cpuTime(b) - start
		runtime.ReadMemStats(&after)
		allocs += after.Mallocs - before.Mallocs
		bytes += after.TotalAlloc - before.TotalAlloc
	}
	b.ReportMetric(0, "ns/op") // most of it is the making of records
	b.ReportMetric(float64(cpu.Nanoseconds())/1000/float64(b.N), "cpu-µs/record")
	b.ReportMetric(float64(allocs)/float64(b.N), "allocs/record")
	b.ReportMetric(float64(bytes)/float64(b.N), "B/record")
}

// cpuTime is the processor time of this process, of user and system.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func folderSize(tb testing.TB, dir string) (total int64) {
	tb.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		total += info.Size()
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return total
}

// nowhere is a store that keeps nothing.
type nowhere struct{ store.Audit }

func (nowhere) Imported(context.Context, string) (store.Position, error) {
	return store.Position{}, nil
}

func (nowhere) Import(context.Context, string, []store.Record, store.Position) error { return nil }

// busyRecord is the i-th record of a gateway with 2000 keys: served at once,
// after a failover, denied or failed.
func busyRecord(r *rand.Rand, i int) *audit.Record {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(time.Duration(i)*time.Millisecond + time.Duration(r.IntN(1000))*time.Microsecond)
	took := time.Duration(r.ExpFloat64()*3000) * time.Millisecond
	id := make([]byte, 26)
	for j := range id {
		id[j] = digits[r.IntN(32)]
	}
	for j, ms := 9, now.Add(-took).UnixMilli(); j >= 0; j, ms = j-1, ms>>5 {
		id[j] = digits[ms&31]
	}
	route, provider := strconv.Itoa(r.IntN(10)), r.IntN(6)
	model := "claude-sonnet-4-" + route
	team := strconv.Itoa(r.IntN(20))
	rec := &audit.Record{
		Kind: audit.KindRequest, Time: now, RequestID: string(id), Outcome: audit.OutcomeAllow, Status: 200,
		Caller:      audit.Caller{Key: "key-" + strconv.Itoa(int(min(1999, r.ExpFloat64()*150))), Team: "team-" + team, Department: "department-" + team[:1], Source: "service"},
		SessionHash: fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()), Endpoint: "messages", ClientFormat: "anthropic-messages", Stream: r.IntN(3) > 0,
		RequestedModel: model, ServedModel: model, WireModel: model + "-20260101", RouteName: "route-" + route, Provider: "provider-" + strconv.Itoa(provider),
		Residency: "eu", Strategy: "failover", StrategyReason: "first in order", Credential: "own",
		Usage: llm.Usage{Input: int64(r.IntN(20_000)), CachedRead: int64(r.IntN(50_000)), Output: int64(r.IntN(3000))},
		TTFT:  audit.Millis(took / 3), Duration: audit.Millis(took), ConfigVersion: 42,
		Facts: json.RawMessage(fmt.Sprintf(`{"now":%q,"tokens":%d}`, now.Add(-took).Format(time.RFC3339Nano), r.IntN(20_000))),
	}
	served := audit.Attempt{
		Provider: rec.Provider, WireModel: rec.WireModel, Residency: "eu", Strategy: "failover", StrategyReason: "first in order", Credential: "own",
		Outcome: audit.OutcomeAllow, Status: 200, Start: audit.Millis(time.Millisecond / 2), Duration: audit.Millis(took - time.Millisecond),
	}
	switch {
	case i%100 == 17:
		rec.Outcome, rec.Policy, rec.Code, rec.Status = audit.OutcomeDeny, "no-grant", "MODEL_DENIED", 400
		rec.Usage, rec.Provider, rec.RouteName = llm.Usage{}, "", ""
		return rec
	case i%100 == 71:
		rec.Outcome, rec.Code, rec.Status, rec.Category = audit.OutcomeError, "provider_failed", 502, "server_error"
		served.Outcome, served.Category, served.Status = audit.OutcomeError, "server_error", 500
	case i%20 == 3:
		failed := served
		failed.Provider, failed.Outcome, failed.Category, failed.Status = "provider-"+strconv.Itoa(provider+1), audit.OutcomeError, "rate_limit", 429
		rec.Attempts = append(rec.Attempts, failed)
	}
	rec.Attempts = append(rec.Attempts, served)
	return rec
}

// BenchmarkHeldUp is for how long an import of 1000 records keeps a single core
// from a goroutine that always wants it, at a time: what it adds to the latency
// of requests. It is in processor time of the process, which other processes
// do not change.
func BenchmarkHeldUp(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s, err := sqlstore.Open(b.Context(), sqlstore.Options{URL: "sqlite:" + filepath.Join(b.TempDir(), "audit.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	spool, err := audit.OpenSpool(audit.SpoolOptions{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer spool.Close()
	imports := audit.NewImporter(audit.ImporterOptions{Spool: spool, Store: s, Log: slog.New(slog.DiscardHandler)})
	r := rand.New(rand.NewPCG(1, 2))
	var held []time.Duration
	for n := range b.N {
		for i := range 1000 {
			if err := spool.Append(busyRecord(r, n*1000+i)); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC() // of what made the records
		done := make(chan error)
		start := cpuTime(b)
		go func() { done <- imports.Sync(b.Context()) }()
		for last, running := start, true; running; {
			select {
			case err := <-done:
				if err != nil {
					b.Fatal(err)
				}
				running = false
			default:
				runtime.Gosched()
			}
			now := cpuTime(b)
			held = append(held, now-last)
			last = now
		}
	}
	slices.Sort(held)
	over := time.Duration(0)
	for _, d := range held {
		if d > time.Millisecond {
			over += d
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(held[len(held)-1].Microseconds()), "max-µs")
	b.ReportMetric(float64(held[max(0, len(held)-1-b.N)].Microseconds()), "second-µs") // one longer a round
	b.ReportMetric(float64(over.Microseconds())/float64(b.N), "over-1ms-µs/1000")
}
