package upstream

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
)

func TestPayload_is_freed_once_after_the_owner_and_every_reader(t *testing.T) {
	freed := 0
	p := NewPayload([]byte("body"), func() { freed++ })
	a, b := p.open(), p.open()
	p.Release()
	if got, err := io.ReadAll(a); err != nil || string(got) != "body" {
		t.Errorf("read %q, %v", got, err)
	}
	for range 3 { // a transport may close twice
		a.Close()
	}
	if freed != 0 {
		t.Fatal("freed while a reader is open")
	}
	b.Close()
	if freed != 1 {
		t.Fatalf("freed %d times", freed)
	}
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("read after close: %v", err)
	}
}

// A transport closes the body from one goroutine while another still reads:
// no byte of the buffer's next user may be seen.
func TestPayload_never_reads_the_next_users_bytes(t *testing.T) {
	for range 2000 {
		buf := bytes.Repeat([]byte("a"), 4096)
		p := NewPayload(buf, func() {
			for i := range buf {
				buf[i] = 'b'
			}
		})
		r := p.open()
		p.Release()
		var wg sync.WaitGroup
		wg.Go(func() {
			dst := make([]byte, 64)
			for {
				n, err := r.Read(dst)
				if bytes.IndexByte(dst[:n], 'b') >= 0 {
					t.Error("a reader saw another request's bytes")
				}
				if err != nil {
					return
				}
			}
		})
		r.Close()
		wg.Wait()
	}
}
