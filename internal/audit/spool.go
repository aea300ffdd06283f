package audit

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Errors of a spool.
var (
	// ErrFull: more waits to be imported than SpoolOptions.MaxPending.
	ErrFull = errors.New("the audit spool is full")
	// ErrInUse: another process has the spool open.
	ErrInUse = errors.New("another process uses it")
	// ErrClosed: the spool was closed.
	ErrClosed = errors.New("the audit spool is closed")
)

// SpoolOptions configure a Spool.
type SpoolOptions struct {
	// Dir is the spool's folder; it is created.
	Dir string
	// Fsync makes every record survive a power loss. A killed process loses
	// nothing either way.
	Fsync bool
	// SegmentBytes is the size at which a new file is begun; default 8 MiB.
	SegmentBytes int64
	// MaxPending bounds what waits to be imported, in bytes; default 1 GiB.
	MaxPending int64
}

// Spool is an append-only log in files that are called segments. Any number
// of goroutines append at once; each record is one write(2) in append mode,
// which the kernel keeps apart, so no lock is shared.
type Spool struct {
	opt     SpoolOptions
	lock    io.Closer
	active  atomic.Pointer[segment]
	failing atomic.Bool   // the last append failed
	pending atomic.Int64  // bytes that wait to be imported
	over    chan struct{} // closed
	mu      sync.Mutex    // guards rotation and what follows
	id      string
	closed  bool
	running map[int64]*segment // segments of this process, until they are removed
}

// segment is one file that this process writes.
type segment struct {
	n    int64
	f    *os.File
	size atomic.Int64
	// users counts running appends, plus one while the segment is active. At
	// zero the file is whole and closed.
	users atomic.Int64
	whole chan struct{}
}

// OpenSpool opens the spool and begins a new segment: what an earlier process
// left behind is whole by definition, and imported first. A folder is one
// process's: ErrInUse.
func OpenSpool(o SpoolOptions) (*Spool, error) {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 8 << 20
	}
	if o.MaxPending == 0 {
		o.MaxPending = 1 << 30
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the audit spool: %w", err)
	}
	s := &Spool{opt: o, running: map[int64]*segment{}, over: make(chan struct{})}
	close(s.over)
	var err error
	if s.lock, err = lockFile(filepath.Join(o.Dir, "lock")); err != nil {
		return nil, fmt.Errorf("open the audit spool %s: %w", o.Dir, err)
	}
	if err := s.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("open the audit spool: %w", err), s.lock.Close())
	}
	return s, nil
}

// begin looks at what is there and begins a segment behind it.
func (s *Spool) begin() error {
	previous, err := segments(s.opt.Dir)
	if err != nil {
		return err
	}
	next := int64(1)
	for _, n := range previous {
		if info, err := os.Stat(s.path(n)); err == nil {
			s.pending.Add(info.Size())
		}
		next = n + 1
	}
	if s.id, err = readSpoolID(s.idPath()); err != nil {
		return err
	}
	// A spool that somebody emptied numbers its segments from 1 again, which
	// the store must not take for those that it knows.
	if s.id == "" || len(previous) == 0 {
		if s.id, err = newSpoolID(s.idPath()); err != nil {
			return err
		}
	}
	seg, err := s.create(next)
	if err != nil {
		return err
	}
	s.active.Store(seg)
	return nil
}

// ID tells this spool from those of other replicas and earlier installations.
func (s *Spool) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// renew gives the spool a new id: the store knows nothing of it then.
func (s *Spool) renew() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := newSpoolID(s.idPath())
	if err != nil {
		return fmt.Errorf("give the audit spool a new id: %w", err)
	}
	s.id = id
	return nil
}

func (s *Spool) idPath() string { return filepath.Join(s.opt.Dir, "id") }

func (s *Spool) path(n int64) string {
	return filepath.Join(s.opt.Dir, fmt.Sprintf("%012d.log", n))
}

// segments lists the segment numbers in a folder, in order.
func segments(dir string) ([]int64, error) {
	entries, err := os.ReadDir(dir) // sorted by name, which is by number
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), ".log")
		if n, err := strconv.ParseInt(base, 10, 64); ok && err == nil {
			out = append(out, n)
		}
	}
	return out, nil
}

// create begins a segment; the mutex is held, or nobody else knows s yet.
func (s *Spool) create(n int64) (*segment, error) {
	f, err := os.OpenFile(s.path(n), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin an audit spool segment: %w", err)
	}
	seg := &segment{n: n, f: f, whole: make(chan struct{})}
	seg.users.Store(1)
	s.running[n] = seg
	return seg, nil
}

// lines are the buffers of Append.
var lines = sync.Pool{New: func() any { b := make([]byte, 0, 2048); return &b }}

// crcTable is Castagnoli's: processors compute it.
var crcTable = crc32.MakeTable(crc32.Castagnoli)

const (
	crcChars   = 8
	lineHeader = crcChars + 1 // checksum, space
)

// Append writes one record. When it returns without an error the record will
// be imported, even if the process is killed now.
func (s *Spool) Append(r *Record) error {
	if s.pending.Load() > s.opt.MaxPending {
		return ErrFull
	}
	buf, _ := lines.Get().(*[]byte)
	b := append((*buf)[:0], "00000000 "...)
	b = r.AppendJSON(b)
	const hex = "0123456789abcdef"
	sum := crc32.Checksum(b[lineHeader:], crcTable)
	for i := range crcChars {
		b[i] = hex[sum>>(28-4*i)&15]
	}
	b = append(b, '\n')
	err := s.write(b)
	s.failing.Store(err != nil)
	*buf = b
	if cap(b) <= 64<<10 {
		lines.Put(buf)
	}
	return err
}

// Ready says why records can't be appended now: too many wait, or the last
// append failed and nothing could be written since. nil when they can.
func (s *Spool) Ready() error {
	switch {
	case s.pending.Load() > s.opt.MaxPending:
		return ErrFull
	case s.failing.Load():
		return errFailing
	}
	return nil
}

// errFailing says that the spool's folder can't be written.
var errFailing = errors.New("the audit spool can't be written")

// probe finds out whether a folder that could not be written can be again.
func (s *Spool) probe() {
	if !s.failing.Load() {
		return
	}
	path := filepath.Join(s.opt.Dir, "probe")
	err := os.WriteFile(path, make([]byte, 64<<10), 0o600)
	if rerr := os.Remove(path); err == nil && rerr == nil {
		s.failing.Store(false)
	}
}

func (s *Spool) write(b []byte) error {
	seg := s.acquire()
	if seg == nil {
		return ErrClosed
	}
	n, err := seg.f.Write(b)
	if err == nil && s.opt.Fsync {
		err = seg.f.Sync()
	}
	size := seg.size.Add(int64(n))
	s.pending.Add(int64(n))
	// A file that ends in half a record, after a write that failed, is left
	// alone. Where that fails, or another append was faster, a record may
	// follow the half one all the same: the importer finds it there.
	if torn := err != nil && n > 0; torn || size >= s.opt.SegmentBytes {
		_ = s.rotate(seg) // the next append tries again
	}
	seg.release()
	if err != nil {
		return fmt.Errorf("append to the audit spool: %w", err)
	}
	return nil
}

// acquire takes the active segment; nil when the spool is closed.
func (s *Spool) acquire() *segment {
	for {
		seg := s.active.Load()
		if seg == nil {
			return nil
		}
		if n := seg.users.Load(); n > 0 && seg.users.CompareAndSwap(n, n+1) {
			return seg
		}
	}
}

func (g *segment) release() {
	if g.users.Add(-1) == 0 {
		_ = g.f.Close() // every record was written, and synced if so wished
		close(g.whole)
	}
}

// rotate begins a new segment unless somebody else did.
func (s *Spool) rotate(from *segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.active.Load() != from {
		return nil
	}
	next, err := s.create(from.n + 1)
	if err != nil {
		return err
	}
	s.active.Store(next)
	from.release()
	return nil
}

// Close ends the spool; running appends finish.
func (s *Spool) Close() {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return
	}
	seg := s.active.Swap(nil)
	seg.release()
	<-seg.whole        // without the mutex: a last append may want to rotate
	_ = s.lock.Close() // nothing was written to it
}

// Pending is how many bytes wait to be imported.
func (s *Spool) Pending() int64 { return s.pending.Load() }
