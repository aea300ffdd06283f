package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
)

// ImporterOptions configure an Importer.
type ImporterOptions struct {
	Spool *Spool
	Store store.Audit
	Log   *slog.Logger
	// Every is the pause between looks at the spool; default 200 ms.
	Every time.Duration
	// Batch is how many records are stored in one transaction; default 200.
	Batch int
}

// Importer moves records from the spool into the store, in order, each exactly
// once: the place in the spool is kept in the store and moves in the same
// transaction as the records.
type Importer struct {
	opt ImporterOptions

	mu     sync.Mutex // one import at a time
	at     store.Position
	loaded bool
	queue  []int64 // whole segments before the active one, oldest first
	broken int64   // records that could not be read
}

// NewImporter makes an Importer; Run or Sync make it work.
func NewImporter(o ImporterOptions) *Importer {
	if o.Every == 0 {
		o.Every = 200 * time.Millisecond
	}
	if o.Batch == 0 {
		o.Batch = 200
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
		segment, whole, ok := m.opt.Spool.next(m.at.Segment)
		if !ok {
			return nil
		}
		if segment != m.at.Segment {
			m.at = store.Position{Segment: segment}
		}
		if err := m.drain(ctx); err != nil {
			return err
		}
		if !whole {
			return nil
		}
		if last, err := m.opt.Spool.remove(segment, m.at.Offset); last || err != nil {
			return err
		}
		m.at = store.Position{Segment: segment + 1}
	}
}

// load asks the store for the place. It is asked again after an import that
// failed, since that may have been committed all the same.
func (m *Importer) load(ctx context.Context) error {
	at, err := m.opt.Store.Imported(ctx, m.opt.Spool.ID())
	if err != nil {
		return fmt.Errorf("read how far the audit spool is imported: %w", err)
	}
	if at.Segment == m.at.Segment {
		m.opt.Spool.pending.Add(m.at.Offset - at.Offset)
	} else {
		m.opt.Spool.pending.Add(-at.Offset)
		if err := m.opt.Spool.removeBefore(at.Segment); err != nil {
			return err
		}
	}
	m.at, m.loaded = at, true
	return nil
}

// drain imports the current segment from the current place to its end.
func (m *Importer) drain(ctx context.Context) error {
	f, err := os.Open(m.opt.Spool.path(m.at.Segment))
	if err != nil {
		return fmt.Errorf("read the audit spool: %w", err)
	}
	defer f.Close()
	if _, err := f.Seek(m.at.Offset, io.SeekStart); err != nil {
		return fmt.Errorf("read the audit spool: %w", err)
	}
	chunk := make([]byte, 256<<10)
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

// importLines stores the whole lines of data in batches and returns how many
// bytes they are.
func (m *Importer) importLines(ctx context.Context, data []byte) (used int, err error) {
	for used < len(data) {
		records := make([]store.Record, 0, m.opt.Batch)
		end := used
		for len(records) < m.opt.Batch {
			i := bytes.IndexByte(data[end:], '\n')
			if i < 0 {
				break
			}
			line := data[end : end+i]
			end += i + 1
			if rec, ok := readLine(line); ok {
				records = append(records, rec)
			} else {
				m.broken++
				m.opt.Log.Error("an audit record in the spool is damaged and is skipped", "segment", m.at.Segment, "offset", m.at.Offset)
			}
		}
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
	}
	return used, nil
}

// readLine checks a line and takes the searched columns out of it.
func readLine(line []byte) (store.Record, bool) {
	if len(line) < lineHeader {
		return store.Record{}, false
	}
	sum, err := strconv.ParseUint(string(line[:crcChars]), 16, 32)
	data := line[lineHeader:]
	if err != nil || crc32.Checksum(data, crcTable) != uint32(sum) {
		return store.Record{}, false
	}
	var r Record
	if json.Unmarshal(data, &r) != nil {
		return store.Record{}, false
	}
	return store.Record{
		Time: r.Time, RequestID: r.RequestID, Kind: r.Kind, Outcome: r.Outcome, Code: r.Code, Status: r.Status,
		Key: r.Caller.Key, Team: r.Caller.Team, Model: r.RequestedModel, Route: r.RouteName, Provider: r.Provider,
		Data: bytes.Clone(data),
	}, true
}

// next finds the first segment at or after n. whole says that nothing is
// written to it any more.
func (s *Spool) next(n int64) (segment int64, whole, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seg := s.active.Load()
	all, err := segments(s.opt.Dir)
	if err != nil {
		return 0, false, false
	}
	for _, k := range all {
		if k < n {
			continue
		}
		switch {
		case seg != nil && k == seg.n:
			return k, false, true
		case s.running[k] != nil:
			select {
			case <-s.running[k].whole:
				return k, true, true
			default:
				return k, false, true
			}
		}
		return k, true, true
	}
	return 0, false, false
}

// remove deletes a whole segment that was imported up to an offset; what
// follows there is half a record that a crash cut off. The newest segment
// stays, so that numbers never repeat: last says so.
func (s *Spool) remove(n, offset int64) (last bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := segments(s.opt.Dir)
	if err != nil {
		return false, fmt.Errorf("list the audit spool: %w", err)
	}
	if len(all) == 0 || all[len(all)-1] <= n {
		return true, nil
	}
	return false, s.delete(n, offset)
}

// removeBefore deletes segments that were imported by a process that was
// killed before it could delete them.
func (s *Spool) removeBefore(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := segments(s.opt.Dir)
	if err != nil {
		return fmt.Errorf("list the audit spool: %w", err)
	}
	for _, k := range all {
		if k < n {
			if err := s.delete(k, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// delete removes a file and takes what lies behind offset off what is
// pending.
func (s *Spool) delete(n, offset int64) error {
	if info, err := os.Stat(s.path(n)); err == nil {
		s.pending.Add(offset - info.Size())
	}
	delete(s.running, n)
	if err := os.Remove(s.path(n)); err != nil {
		return fmt.Errorf("remove an imported segment of the audit spool: %w", err)
	}
	return nil
}
