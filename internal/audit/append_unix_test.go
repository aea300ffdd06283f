//go:build unix

package audit

import (
	"errors"
	"os/signal"
	"syscall"
	"testing"
)

// TestOP_4_short_write: a disk that is full in the middle of a record makes
// the append fail; the half record harms no other.
func TestOP_4_short_write(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	b := newBench(t, SpoolOptions{})
	b.add(t, 5)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	limit := syscall.Rlimit{Cur: uint64(b.Pending()) + 40, Max: old.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip(err)
	}
	err := b.Append(plain("half"))
	if rerr := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); rerr != nil {
		t.Fatal(rerr)
	}
	if !errors.Is(err, syscall.EFBIG) {
		t.Fatalf("append: %v", err)
	}
	b.add(t, 5)
	b.sync(t)
	b.complete(t)
}
