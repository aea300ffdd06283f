package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
)

// ImporterOptions configure an Importer.
type ImporterOptions struct {
	Spool *Spool
	Store store.Audit
	Log   *slog.Logger
	// Every is the pause between looks at the spool; default 1 s.
	Every time.Duration
	// Batch is how many records are stored in one transaction; default 1000.
	Batch int
	// Stored hears how many requests were stored; nil tells nobody.
	Stored func(requests int)
}

// Importer moves records from the spool into the store, in order, each exactly
// once: the place in the spool is kept in the store and moves in the same
// transaction as the records.
type Importer struct {
	opt ImporterOptions

	mu     sync.Mutex // one import at a time
	at     store.Position
	loaded bool

	scanner scanner
	chunk   []byte         // what is read at once
	records []store.Record // of one batch
}

// NewImporter makes an Importer; Run or Sync make it work.
func NewImporter(o ImporterOptions) *Importer {
	if o.Every == 0 {
		o.Every = time.Second
	}
	if o.Batch == 0 {
		o.Batch = 1000
	}
	return &Importer{opt: o}
}

// Run imports until ctx ends. A store that fails is tried again; the spool
// keeps everything meanwhile.
func (m *Importer) Run(ctx context.Context) {
	t := time.NewTicker(m.opt.Every)
	defer t.Stop()
	failing := false
	for {
		m.opt.Spool.probe()
		switch err := m.Sync(ctx); {
		case err == nil && failing:
			failing = false
			m.opt.Log.Info("audit records are stored again")
		case err != nil && ctx.Err() == nil && !failing:
			failing = true
			m.opt.Log.Error("audit records cannot be stored; they wait in the spool", "error", err, "pendingBytes", m.opt.Spool.Pending())
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// Sync imports everything that was appended before it was called.
func (m *Importer) Sync(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.loaded {
		if err := m.load(ctx); err != nil {
			return err
		}
	}
	for {
		if more, err := m.segment(ctx); !more || err != nil {
			return err
		}
	}
}

// segment imports one segment, from the current place on. more says that it
// was not the last.
func (m *Importer) segment(ctx context.Context) (more bool, err error) {
	n, whole, err := m.opt.Spool.next(m.at.Segment)
	if err != nil || n == 0 {
		return false, err
	}
	if n != m.at.Segment {
		m.at = store.Position{Segment: n}
	}
	if whole == nil { // the active one
		return false, m.drain(ctx)
	}
	select { // the last appends to it are about to end
	case <-whole:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if err := m.drain(ctx); err != nil {
		return false, err
	}
	if last, err := m.opt.Spool.remove(n, m.at.Offset); last || err != nil {
		return false, err
	}
	m.at = store.Position{Segment: n + 1}
	return true, nil
}

// load asks the store for the place. It is asked again after an import that
// failed, since that may have been committed all the same.
func (m *Importer) load(ctx context.Context) error {
	at, err := m.opt.Store.Imported(ctx, m.opt.Spool.ID())
	if err != nil {
		return fmt.Errorf("read how far the audit spool is imported: %w", err)
	}
	newest, err := m.opt.Spool.newest()
	if err != nil {
		return err
	}
	if at.Segment > newest {
		m.opt.Log.Warn("the audit spool is older than what the store has of it, as after restoring a backup; it is imported as a new one",
			"segment", newest, "stored", at.Segment)
		if err := m.opt.Spool.renew(); err != nil {
			return err
		}
		at = store.Position{}
	}
	switch {
	case at.Segment == m.at.Segment:
		m.opt.Spool.pending.Add(m.at.Offset - at.Offset)
	case at.Segment > m.at.Segment:
		if err := m.opt.Spool.skipTo(at.Segment, at.Offset); err != nil {
			return err
		}
	default: // what the store knows of is removed already
		m.opt.Spool.pending.Add(m.at.Offset)
		at = store.Position{Segment: m.at.Segment}
	}
	m.at, m.loaded = at, true
	return nil
}

// chunkBytes is how much of the spool is read at once.
const chunkBytes = 512 << 10

// drain imports the current segment from the current place to its end.
func (m *Importer) drain(ctx context.Context) error {
	f, err := os.Open(m.opt.Spool.path(m.at.Segment))
	if err != nil {
		return fmt.Errorf("read the audit spool: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if _, err := f.Seek(m.at.Offset, io.SeekStart); err != nil {
		return fmt.Errorf("read the audit spool: %w", err)
	}
	if len(m.chunk) != chunkBytes {
		m.chunk = make([]byte, chunkBytes)
	}
	chunk := m.chunk
	held := 0 // bytes of an unfinished line at the start of chunk
	for {
		n, err := f.Read(chunk[held:])
		data := chunk[:held+n]
		used, ierr := m.importLines(ctx, data)
		if ierr != nil {
			return ierr
		}
		held = copy(chunk, data[used:])
		switch {
		case errors.Is(err, io.EOF):
			return nil // an unfinished line is still being written, or was cut by a crash
		case err != nil:
			return fmt.Errorf("read the audit spool: %w", err)
		case held == len(chunk):
			chunk = append(chunk, make([]byte, len(chunk))...) // a very long record
		}
	}
}

// yieldAfter is after how many records that were read others come first: the
// import of a batch must not hold requests up on a single core.
const yieldAfter = 64

// importLines stores the whole lines of data in batches and returns how many
// bytes they are.
func (m *Importer) importLines(ctx context.Context, data []byte) (used int, err error) {
	for used < len(data) {
		records := m.records[:0]
		end := used
		for len(records) < m.opt.Batch {
			i := bytes.IndexByte(data[end:], '\n')
			if i < 0 {
				break
			}
			rec, ok, whole := m.scanner.readLine(data[end : end+i])
			if ok {
				records = append(records, rec)
			}
			if len(records)%yieldAfter == 0 {
				runtime.Gosched()
			}
			if !whole {
				m.opt.Log.Error("an audit record in the spool is damaged and is skipped",
					"segment", m.at.Segment, "offset", m.at.Offset+int64(end-used))
			}
			end += i + 1
		}
		m.records = records
		if end == used {
			break
		}
		next := store.Position{Segment: m.at.Segment, Offset: m.at.Offset + int64(end-used)}
		if err := m.opt.Store.Import(ctx, m.opt.Spool.ID(), records, next); err != nil {
			m.loaded = false // the commit may have happened: ask again
			return used, fmt.Errorf("store audit records: %w", err)
		}
		m.opt.Spool.pending.Add(-int64(end - used))
		m.at, used = next, end
		m.tell(records)
	}
	return used, nil
}

// tell counts the requests among records that were stored.
func (m *Importer) tell(records []store.Record) {
	if m.opt.Stored == nil {
		return
	}
	n := 0
	for i := range records {
		if records[i].Kind == KindRequest {
			n++
		}
	}
	m.opt.Stored(n)
}

// recordStart follows the checksum of each record. It is nowhere else in a
// line: the JSON has no space outside its texts, where quotes are escaped.
const recordStart = ` {"kind":`

// readLine finds the record of a line. whole is false for a line that is
// damaged; it may still end in a record, which was written behind the half one
// of a write that failed.
func (s *scanner) readLine(line []byte) (rec store.Record, ok, whole bool) {
	for at := 0; ; {
		if rec, ok = s.readRecord(line[at:]); ok {
			return rec, true, at == 0
		}
		from := min(at+lineHeader, len(line)) // behind its own start
		i := bytes.Index(line[from:], []byte(recordStart))
		if i < 0 {
			return rec, false, false
		}
		at = from + i - crcChars
	}
}

// readRecord checks a record and takes the searched columns out of it.
func (s *scanner) readRecord(line []byte) (store.Record, bool) {
	if len(line) < lineHeader {
		return store.Record{}, false
	}
	sum, ok := readSum(line[:crcChars])
	data := line[lineHeader:]
	if !ok || crc32.Checksum(data, crcTable) != sum {
		return store.Record{}, false
	}
	if r, ok := s.scan(data); ok {
		return r, true
	}
	return decode(data)
}

// readSum reads a checksum in hex.
func readSum(text []byte) (sum uint32, ok bool) {
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			return 0, false
		}
		sum = sum<<4 | uint32(c)
	}
	return sum, true
}
