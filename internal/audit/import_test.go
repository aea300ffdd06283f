package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/store"
)

// TestOP_6_reopen_goes_on_behind_the_last_record: after a kill the importer
// continues where the store says, in old segments and new ones.
func TestOP_6_reopen_goes_on_behind_the_last_record(t *testing.T) {
	b := newBench(t, SpoolOptions{SegmentBytes: 1500})
	id := b.ID()
	for range 4 {
		b.add(t, 25)
		b.sync(t)
		b.add(t, 13) // these are stored after the kill
		b.crash(t)
	}
	b.sync(t)
	b.complete(t)
	if b.ID() != id {
		t.Errorf("the id of the spool changed from %s to %s", id, b.ID())
	}
	if got := segmentFiles(t, b.opt.Dir); len(got) != 1 {
		t.Errorf("segments that are left: %v", got)
	}
}

// TestOP_6_killed_between_import_and_removal: the records are stored, the
// files are still there.
func TestOP_6_killed_between_import_and_removal(t *testing.T) {
	b := newBench(t, SpoolOptions{SegmentBytes: 1000})
	b.add(t, 60)
	before := filepath.Join(t.TempDir(), "spool")
	if err := os.CopyFS(before, os.DirFS(b.opt.Dir)); err != nil {
		t.Fatal(err)
	}
	b.sync(t)
	b.release()
	b.open(t, SpoolOptions{Dir: before, SegmentBytes: 1000})
	if n := len(segmentFiles(t, before)); n < 5 {
		t.Fatalf("%d segments are too few for this test", n)
	}
	b.add(t, 3)
	b.sync(t)
	b.complete(t)
	if got := segmentFiles(t, before); len(got) != 1 {
		t.Errorf("segments that are left: %v", got)
	}
}

// TestOP_6_torn_last_line: what a killed process wrote half is no record and
// hides none.
func TestOP_6_torn_last_line(t *testing.T) {
	b := newBench(t, SpoolOptions{})
	b.add(t, 3)
	appendTo(t, b.path(1), `0badc0de {"kind":"requ`)
	b.sync(t)
	b.crash(t)
	b.add(t, 3)
	b.sync(t)
	b.complete(t)
}

// TestOP_6_damaged_line: it is skipped and said so; its neighbours survive.
func TestOP_6_damaged_line(t *testing.T) {
	for name, damage := range map[string]func(line string) string{
		"a changed byte":     func(line string) string { return strings.Replace(line, `"r3"`, `"r7"`, 1) },
		"a wrong checksum":   func(line string) string { return "00000000" + line[8:] },
		"no checksum":        func(line string) string { return "zzzzzzzz" + line[8:] },
		"NUL":                func(line string) string { return strings.Repeat("\x00", len(line)) },
		"nothing":            func(string) string { return "" },
		"too short":          func(string) string { return "abc" },
		"no JSON":            func(string) string { return "364b3fb7 abc" }, // with its checksum
		"a cut in the front": func(line string) string { return line[20:] },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, SpoolOptions{})
			b.add(t, 5)
			text, err := os.ReadFile(b.path(1))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(text), "\n")
			at := len(lines[0]) + len(lines[1]) + 2
			lines[2] = damage(lines[2])
			if err := os.WriteFile(b.path(1), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			b.crash(t) // the books are of the file as it is
			b.sync(t)
			b.complete(t, "r3")
			if want := fmt.Sprintf("segment=1 offset=%d", at); !strings.Contains(b.log.String(), want) {
				t.Errorf("the log has no %q:\n%s", want, b.log)
			}
		})
	}
}

// TestOP_4_failing_store_keeps_everything: whatever the store fails with, and
// wherever, each record is stored once when it is back.
func TestOP_4_failing_store_keeps_everything(t *testing.T) {
	for name, fail := range map[string]func(*memory){
		"before the commit":   func(m *memory) { m.before = errDown },
		"after the commit":    func(m *memory) { m.after = errDown },
		"reading fails":       func(m *memory) { m.read, m.before = errDown, errDown },
		"imported by another": func(m *memory) { m.after = store.ErrImported },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, SpoolOptions{SegmentBytes: 1500})
			b.add(t, 30)
			b.sync(t)
			b.store.set(fail)
			for range 5 {
				b.add(t, 20)
				if err := b.imports.Sync(t.Context()); err == nil {
					t.Fatal("the store failed and the importer did not")
				}
			}
			b.crash(t)
			b.add(t, 20)
			if err := b.imports.Sync(t.Context()); err == nil {
				t.Fatal("the store failed and the importer did not")
			}
			b.store.set(func(m *memory) { m.before, m.after, m.read = nil, nil, nil })
			b.add(t, 5)
			b.sync(t)
			b.complete(t)
		})
	}
}

// TestOP_4_run_catches_up: the background importer says once that the store
// fails, and once that it is back.
func TestOP_4_run_catches_up(t *testing.T) {
	b := newBench(t, SpoolOptions{SegmentBytes: 1500})
	b.store.set(func(m *memory) { m.before = errDown })
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { b.imports.Run(ctx) })
	b.add(t, 100)
	tries := func() (n int) { b.store.set(func(m *memory) { n = m.imports }); return n }
	eventually(t, "several tries", func() bool { return tries() > 5 })
	b.add(t, 100)
	b.store.set(func(m *memory) { m.before = nil })
	eventually(t, "all records stored", func() bool { return len(b.store.ids()) == 200 })
	eventually(t, "it is said", func() bool { return strings.Contains(b.log.String(), "stored again") })
	stop()
	running.Wait()
	b.sync(t)
	b.complete(t)
	for _, line := range []string{"cannot be stored", "stored again"} {
		if n := strings.Count(b.log.String(), line); n != 1 {
			t.Errorf("the log says %q %d times:\n%s", line, n, b.log)
		}
	}
}

// TestOP_6_sync_sees_what_came_before: a record is stored when Sync returns,
// even if another append is still busy in the segment before it.
func TestOP_6_sync_sees_what_came_before(t *testing.T) {
	b := newBench(t, SpoolOptions{})
	b.add(t, 2)
	slow := b.acquire() // an append that has not written yet
	if err := b.rotate(slow); err != nil {
		t.Fatal(err)
	}
	b.add(t, 2) // in the next segment
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.imports.Sync(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("a sync that can't see everything says so: %v", err)
	}
	synced := make(chan error)
	go func() { synced <- b.imports.Sync(t.Context()) }()
	select {
	case err := <-synced:
		t.Fatalf("sync did not wait: %v; stored are %v", err, b.store.ids())
	case <-time.After(20 * time.Millisecond):
	}
	slow.release()
	if err := <-synced; err != nil {
		t.Fatal(err)
	}
	b.complete(t)
}

// TestOP_6_sync_always: what one goroutine appended is there after its Sync,
// while others append and segments end all the time.
func TestOP_6_sync_always(t *testing.T) {
	b := newBench(t, SpoolOptions{SegmentBytes: 500})
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 50 {
				id := fmt.Sprintf("%d-%d", w, i)
				if err := b.Append(plain(id)); err != nil {
					t.Error(err)
				}
				if err := b.imports.Sync(t.Context()); err != nil {
					t.Error(err)
				}
				found := 0
				for _, got := range b.store.ids() {
					if got == id {
						found++
					}
				}
				if found != 1 {
					t.Errorf("%s is stored %d times right after a sync", id, found)
				}
			}
		})
	}
	all.Wait()
}

// TestOP_6_numbers_never_repeat: the place in the store would mean another
// record.
func TestOP_6_numbers_never_repeat(t *testing.T) {
	b := newBench(t, SpoolOptions{SegmentBytes: 300})
	last := ""
	for range 10 {
		b.add(t, 5)
		b.sync(t)
		files := segmentFiles(t, b.opt.Dir)
		if newest := files[len(files)-1]; newest <= last {
			t.Fatalf("segment %s came after %s", newest, last)
		} else {
			last = newest
		}
		b.crash(t)
	}
	b.sync(t)
	b.complete(t)
}

// TestOP_6_emptied_spool: numbers do repeat when somebody clears the folder.
// The store must not take the new records for old ones.
func TestOP_6_emptied_spool(t *testing.T) {
	for name, keep := range map[string]string{"but for the id": "id", "all of it": ""} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, SpoolOptions{SegmentBytes: 600})
			b.add(t, 40)
			b.sync(t)
			b.release()
			for _, f := range append(segmentFiles(t, b.opt.Dir), "lock", "id") {
				if f != keep {
					if err := os.Remove(filepath.Join(b.opt.Dir, f)); err != nil {
						t.Fatal(err)
					}
				}
			}
			b.open(t, b.opt)
			b.add(t, 40)
			b.sync(t)
			b.complete(t)
		})
	}
}

// TestOP_6_older_spool: the folder was restored from a backup and the store
// was not. New records are stored all the same.
func TestOP_6_older_spool(t *testing.T) {
	b := newBench(t, SpoolOptions{SegmentBytes: 600})
	b.add(t, 10)
	b.sync(t)
	backup := filepath.Join(t.TempDir(), "spool")
	if err := os.CopyFS(backup, os.DirFS(b.opt.Dir)); err != nil {
		t.Fatal(err)
	}
	b.add(t, 100)
	b.sync(t)
	b.release()
	b.open(t, SpoolOptions{Dir: backup})
	for i := range 20 {
		if err := b.Append(plain(fmt.Sprintf("new%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	b.sync(t)
	counts := map[string]int{}
	for _, id := range b.store.ids() {
		counts[id]++
	}
	for i := range 20 {
		if n := counts[fmt.Sprintf("new%d", i)]; n != 1 {
			t.Errorf("new%d is stored %d times", i, n)
		}
	}
	if !strings.Contains(b.log.String(), "older than what the store has") {
		t.Errorf("it is not in the log:\n%s", b.log)
	}
}

// TestOP_6_one_process_a_spool: two would import and delete each other's
// files.
func TestOP_6_one_process_a_spool(t *testing.T) {
	dir := t.TempDir()
	s := openSpool(t, SpoolOptions{Dir: dir})
	if _, err := OpenSpool(SpoolOptions{Dir: dir}); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second one: %v", err)
	}
	if got := segmentFiles(t, dir); len(got) != 1 {
		t.Errorf("the refused one left its mark: %v", got)
	}
	s.Close()
	openSpool(t, SpoolOptions{Dir: dir})
}

// TestOP_4_store_was_replaced: a database that was restored from a backup
// gets again what the spool still has.
func TestOP_4_store_was_replaced(t *testing.T) {
	b := newBench(t, SpoolOptions{})
	b.add(t, 10)
	b.sync(t)
	b.store.set(func(m *memory) { m.at, m.records, m.before = nil, nil, errDown })
	b.add(t, 1)
	if err := b.imports.Sync(t.Context()); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	b.store.set(func(m *memory) { m.before = nil })
	b.sync(t)
	b.complete(t)
}

// TestOP_6_any_sequence: appends, imports, kills, failures and half records
// in any order.
func TestOP_6_any_sequence(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, SpoolOptions{SegmentBytes: rapid.Int64Range(1, 3000).Draw(rt, "segment")})
		b.imports.opt.Batch = rapid.IntRange(1, 20).Draw(rt, "batch")
		defer b.release()
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) { b.add(t, rapid.IntRange(1, 20).Draw(rt, "n")) },
			"import": func(*rapid.T) { _ = b.imports.Sync(t.Context()) },
			"fail": func(rt *rapid.T) {
				errs := map[bool]error{true: errDown}
				b.store.set(func(m *memory) { m.before = errs[rapid.Bool().Draw(rt, "before")] })
				b.store.set(func(m *memory) { m.after = errs[rapid.Bool().Draw(rt, "after")] })
				b.store.set(func(m *memory) { m.read = errs[rapid.Bool().Draw(rt, "read")] })
			},
			"kill": func(rt *rapid.T) {
				if rapid.Bool().Draw(rt, "torn") {
					appendTo(t, b.path(b.active.Load().n), `0badc0de {"kind":"req`)
				}
				b.crash(t)
			},
			"": func(rt *rapid.T) {
				if p := b.Pending(); p < 0 {
					rt.Fatalf("%d bytes wait", p)
				}
			},
		})
		b.store.set(func(m *memory) { m.before, m.after, m.read = nil, nil, nil })
		b.sync(t)
		b.complete(rt)
	})
}
