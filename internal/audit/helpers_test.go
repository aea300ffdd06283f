package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/store"
)

// No test may leave a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDown = errors.New("the database is down")

// memory is a store.Audit that can fail. Its Import follows the rules of the
// interface.
type memory struct {
	store.Audit

	mu      sync.Mutex
	at      map[string]store.Position
	records []store.Record
	imports int
	// before and after are the errors of the next imports, without and with
	// having stored the records; reading fails with read.
	before, after, read error
}

func (m *memory) set(f func(*memory)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m)
}

func (m *memory) Imported(_ context.Context, spool string) (store.Position, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at[spool], m.read
}

func (m *memory) Import(_ context.Context, spool string, records []store.Record, upTo store.Position) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.imports++
	if m.before != nil {
		return m.before
	}
	if at := m.at[spool]; at.Segment > upTo.Segment || at.Segment == upTo.Segment && at.Offset >= upTo.Offset {
		return store.ErrImported
	}
	if m.at == nil {
		m.at = map[string]store.Position{}
	}
	m.at[spool] = upTo
	m.records = append(m.records, records...)
	return m.after
}

// ids are the request ids of the stored records, in order.
func (m *memory) ids() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]string, len(m.records))
	for i := range m.records {
		out[i] = m.records[i].RequestID
	}
	return out
}

// bench is a spool with an importer, a store and a log.
type bench struct {
	*Spool
	imports *Importer
	store   *memory
	log     *logBuffer
	n       int // of the last record
}

func openSpool(tb testing.TB, o SpoolOptions) *Spool {
	tb.Helper()
	s, err := OpenSpool(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

func newBench(tb testing.TB, o SpoolOptions) *bench {
	tb.Helper()
	if o.Dir == "" {
		o.Dir = tb.TempDir()
	}
	b := &bench{store: &memory{}, log: &logBuffer{}}
	b.open(tb, o)
	return b
}

func (b *bench) open(tb testing.TB, o SpoolOptions) {
	tb.Helper()
	b.Spool = openSpool(tb, o)
	b.imports = NewImporter(ImporterOptions{Spool: b.Spool, Store: b.store, Log: b.log.logger(), Every: time.Millisecond, Batch: 7})
}

// crash leaves everything as a killed process does, and opens it again.
func (b *bench) crash(tb testing.TB) {
	tb.Helper()
	b.release()
	b.open(tb, b.opt)
}

// release gives the lock up, as the end of a process does.
func (s *Spool) release() { _ = s.lock.Close() }

// add appends records that are named r1, r2 and so on.
func (b *bench) add(tb testing.TB, n int) {
	tb.Helper()
	for range n {
		b.n++
		if err := b.Append(plain(fmt.Sprintf("r%d", b.n))); err != nil {
			tb.Fatal(err)
		}
	}
}

func plain(id string) *Record {
	return &Record{Kind: KindRequest, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), RequestID: id, Outcome: OutcomeAllow, Status: 200}
}

func (b *bench) sync(tb testing.TB) {
	tb.Helper()
	if err := b.imports.Sync(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

// complete checks that all that was appended is stored once and in order, but
// for those that are named.
func (b *bench) complete(tb rapid.TB, missing ...string) {
	tb.Helper()
	var want []string
	for i := 1; i <= b.n; i++ {
		if id := fmt.Sprintf("r%d", i); !strings.Contains(" "+strings.Join(missing, " ")+" ", " "+id+" ") {
			want = append(want, id)
		}
	}
	if got := b.store.ids(); strings.Join(got, " ") != strings.Join(want, " ") {
		tb.Fatalf("stored are %v, want %v", got, want)
	}
	if p := b.Pending(); p != 0 {
		tb.Errorf("%d bytes wait, though everything is stored", p)
	}
}

// segmentFiles are the names of the segments in a folder.
func segmentFiles(tb testing.TB, dir string) []string {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		tb.Fatal(err)
	}
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	return names
}

// appendTo writes to the end of a file.
func appendTo(tb testing.TB, path, text string) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		tb.Fatal(err)
	}
}

func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			tb.Fatalf("not within 10 s: %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }
