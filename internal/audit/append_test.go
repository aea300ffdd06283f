package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestOP_4_many_writers_each_record_once: appends from all sides while the
// importer runs and segments end and go away under it.
func TestOP_4_many_writers_each_record_once(t *testing.T) {
	const writers = 8
	each := 10_000
	if testing.Short() {
		each = 1000
	}
	b := newBench(t, SpoolOptions{SegmentBytes: int64(each) * 25})
	b.imports.opt.Batch = 200
	ctx, stop := context.WithCancel(t.Context())
	var importing sync.WaitGroup
	importing.Go(func() { b.imports.Run(ctx) })
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			r := plain("")
			for i := range each {
				r.RequestID = fmt.Sprintf("%d-%d", w, i)
				if err := b.Append(r); err != nil {
					t.Errorf("append: %v", err)
					return
				}
			}
		})
	}
	writing.Wait()
	b.sync(t)
	stop()
	importing.Wait()

	next := make([]int, writers)
	for _, id := range b.store.ids() {
		var w, i int
		if _, err := fmt.Sscanf(id, "%d-%d", &w, &i); err != nil {
			t.Fatal(err)
		}
		if i != next[w] {
			t.Fatalf("writer %d: record %d came where %d was due", w, i, next[w])
		}
		next[w]++
	}
	for w, n := range next {
		if n != each {
			t.Errorf("writer %d: %d of %d records are stored", w, n, each)
		}
	}
	left := segmentFiles(t, b.opt.Dir)
	if len(left) != 1 || left[0] < "000000000010.log" {
		t.Errorf("one of many segments should be left, not %v", left)
	}
	if b.Pending() != 0 {
		t.Errorf("%d bytes wait", b.Pending())
	}
	t.Logf("%d records through segments up to %s, in %d imports", len(b.store.ids()), left[0], b.store.imports)
}

// TestRS_AUDIT_append_does_not_allocate: it is on the path of every request.
func TestRS_AUDIT_append_does_not_allocate(t *testing.T) {
	s := openSpool(t, SpoolOptions{Dir: t.TempDir()})
	r := sample()
	if n := testing.AllocsPerRun(500, func() {
		if err := s.Append(r); err != nil {
			t.Fatal(err)
		}
	}); n > 2 {
		t.Errorf("%v allocations for one record, want at most 2", n)
	}
}

// TestOP_4_spool_is_bounded: a spool that is full refuses, and takes records
// again when some were stored.
func TestOP_4_spool_is_bounded(t *testing.T) {
	b := newBench(t, SpoolOptions{MaxPending: 4000})
	var err error
	for err == nil && b.n < 1000 {
		if err = b.Append(plain(fmt.Sprintf("r%d", b.n+1))); err == nil {
			b.n++
		}
	}
	if !errors.Is(err, ErrFull) || b.n < 10 {
		t.Fatalf("after %d records: %v", b.n, err)
	}
	if err := b.Append(plain("more")); !errors.Is(err, ErrFull) {
		t.Fatalf("and then: %v", err)
	}
	b.sync(t)
	b.add(t, 3)
	b.sync(t)
	b.complete(t)
}

// TestOP_4_spool_stays_bounded_while_the_store_only_reads: a database that
// answers but stores nothing must not make room in the books.
func TestOP_4_spool_stays_bounded_while_the_store_only_reads(t *testing.T) {
	b := newBench(t, SpoolOptions{SegmentBytes: 2000})
	b.add(t, 200)
	b.sync(t) // the place in the store is in a segment that is gone now
	b.store.set(func(m *memory) { m.before = errDown })
	b.add(t, 50)
	waits := b.Pending()
	for range 20 {
		if err := b.imports.Sync(t.Context()); !errors.Is(err, errDown) {
			t.Fatalf("sync: %v", err)
		}
	}
	if got := b.Pending(); got != waits {
		t.Errorf("%d bytes wait after imports that failed, want %d as before", got, waits)
	}
	b.store.set(func(m *memory) { m.before = nil })
	b.sync(t)
	b.complete(t)
}

// TestOP_4_record_behind_half_a_record: an append that ran at the time of a
// short write may come behind the half record in the same file. It counts.
func TestOP_4_record_behind_half_a_record(t *testing.T) {
	for _, cut := range []int{1, 5, 8, 9, 12, 60} {
		b := newBench(t, SpoolOptions{})
		b.add(t, 2)
		b.sync(t) // records before it are stored already
		line := "0badc0de " + string(plain("half").AppendJSON(nil))
		appendTo(t, b.path(1), line[:cut])
		b.add(t, 3)
		b.sync(t)
		if got := strings.Join(b.store.ids(), " "); got != "r1 r2 r3 r4 r5" {
			t.Errorf("half a record of %d bytes: stored are %s", cut, got)
		}
		if !strings.Contains(b.log.String(), "damaged") {
			t.Errorf("half a record of %d bytes is not in the log", cut)
		}
	}
}

// TestOP_4_no_space_at_all: writes that write nothing leave no files behind.
func TestOP_4_no_space_at_all(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	b := newBench(t, SpoolOptions{})
	b.add(t, 1)
	seg := b.active.Load()
	file := seg.f
	seg.f = full
	for range 20 {
		if err := b.Append(plain("lost")); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("append: %v", err)
		}
	}
	if b.Ready() == nil {
		t.Error("ready although nothing can be written")
	}
	seg.f = file
	if b.probe(); b.Ready() != nil {
		t.Error("not ready although the folder can be written again")
	}
	b.add(t, 1)
	if got := segmentFiles(t, b.opt.Dir); len(got) != 1 {
		t.Errorf("files: %v", got)
	}
	b.sync(t)
	b.complete(t)
}

// TestOP_6_close_lets_appends_finish: appends that run while the spool is
// closed end with their record written, or with ErrClosed; none hangs.
func TestOP_6_close_lets_appends_finish(t *testing.T) {
	for range 5 {
		b := newBench(t, SpoolOptions{SegmentBytes: 1}) // each append ends a segment
		var kept sync.Map
		var writing sync.WaitGroup
		started := make(chan struct{}, 4)
		for w := range 4 {
			writing.Go(func() {
				for i := 0; ; i++ {
					id := fmt.Sprintf("%d-%d", w, i)
					err := b.Append(plain(id))
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil {
						t.Errorf("append: %v", err)
						return
					}
					kept.Store(id, true)
					if i == 0 {
						started <- struct{}{}
					}
				}
			})
		}
		for range 4 {
			<-started
		}
		closed := make(chan struct{})
		go func() { b.Close(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(10 * time.Second):
			t.Fatal("closing the spool hangs")
		}
		writing.Wait()
		b.sync(t)
		n := 0
		kept.Range(func(any, any) bool { n++; return true })
		if got := len(b.store.ids()); got != n {
			t.Errorf("%d records are stored, %d were appended", got, n)
		}
	}
}

// TestOP_6_close_waits: for an append that has not written yet; the folder is
// not another process's before that.
func TestOP_6_close_waits(t *testing.T) {
	b := newBench(t, SpoolOptions{})
	slow := b.acquire()
	closed := make(chan struct{})
	go func() { b.Close(); close(closed) }()
	eventually(t, "closing has begun", func() bool { return errors.Is(b.Append(plain("late")), ErrClosed) })
	if _, err := OpenSpool(b.opt); !errors.Is(err, ErrInUse) {
		t.Errorf("another process: %v", err)
	}
	select {
	case <-closed:
		t.Error("it did not wait")
	case <-time.After(20 * time.Millisecond):
	}
	slow.release()
	<-closed
}

// TestOP_6_fsync: the option makes no other difference.
func TestOP_6_fsync(t *testing.T) {
	b := newBench(t, SpoolOptions{Fsync: true})
	b.add(t, 5)
	b.sync(t)
	b.complete(t)
}
