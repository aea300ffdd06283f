package gateway

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
)

// TestOP_5_class_of_a_size: the pool of a size has buffers that are large enough.
func TestOP_5_class_of_a_size(t *testing.T) {
	for n, want := range map[int64]int{-1: 0, 0: 0, 1: 0, 4096: 0, 4097: 1, 8192: 1, 8193: 2, 1<<20 - 1: 8, 1 << 20: 8, 1<<20 + 1: 9, 1 << 30: 9} {
		if got := class(n); got != want {
			t.Errorf("%d bytes: class %d, want %d", n, got, want)
		}
	}
}

// TestOP_5_a_buffer_holds_what_was_read: any length, declared or not, in any
// pieces; the capacity never is much more than what is in it.
func TestOP_5_a_buffer_holds_what_was_read(t *testing.T) {
	const limit = 3 << 20
	m := newMemory(64 << 20)
	text := make([]byte, limit+2)
	for i := range text {
		text[i] = byte(rand.Uint32())
	}
	for _, n := range []int{0, 1, 4095, 4096, 4097, 100_000, 1<<20 - 1, 1 << 20, 1<<20 + 1, 2 << 20, limit - 1, limit, limit + 1, limit + 2} {
		for name, pieces := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "end with data": iotest.DataErrReader,
		} {
			for _, length := range []int64{int64(n), -1} {
				b, err := m.get(length, false)
				if err != nil {
					t.Fatal(err)
				}
				err = b.fill(pieces(bytes.NewReader(text[:n])), length, limit)
				switch {
				case n > limit:
					if !errors.Is(err, errTooLarge) {
						t.Errorf("%d bytes %s: %v", n, name, err)
					}
				case err != nil || !bytes.Equal(b.b, text[:n]):
					t.Errorf("%d bytes %s: %v, %d read", n, name, err, len(b.b))
				case cap(b.b) > limit+1:
					t.Errorf("%d bytes %s: capacity %d", n, name, cap(b.b))
				case m.held.Load() != int64(cap(b.b)):
					t.Errorf("%d bytes %s: %d are counted for %d", n, name, m.held.Load(), cap(b.b))
				}
				b.release()
				if held := m.held.Load(); held != 0 {
					t.Fatalf("%d bytes %s: %d are counted at the end", n, name, held)
				}
			}
		}
	}
}

// TestOP_5_what_was_taken_comes_back from every way to fail.
func TestOP_5_what_was_taken_comes_back(t *testing.T) {
	m := newMemory(4 << 20)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Repeat([]byte("x"), 3<<20))
	_ = z.Close()
	for name, c := range map[string]struct {
		body, encoding string
		limit          int64
	}{
		"too large":       {strings.Repeat("x", 2<<20), "", 1 << 20},
		"a bomb":          {zipped.String(), "gzip", 1 << 20},
		"no room":         {zipped.String(), "gzip", 8 << 20},
		"broken":          {zipped.String()[:100], "gzip", 1 << 20},
		"no gzip":         {"{}", "gzip", 1 << 20},
		"no zstd":         {"{}", "zstd", 1 << 20},
		"a large window":  {"\x28\xb5\x2f\xfd\x00\x68\x01\x00\x00", "zstd", 64 << 20}, // 8 MiB
		"an endless one":  {"\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00", "zstd", 64 << 20},
		"unknown":         {"{}", "br", 1 << 20},
		"three encodings": {"{}", "gzip, gzip, gzip", 1 << 20},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.encoding != "" {
			r.Header.Set("Content-Encoding", c.encoding)
		}
		b, err := m.get(r.ContentLength, false)
		if err != nil {
			t.Fatal(err)
		}
		if readBody(b, r, c.limit) == nil {
			t.Errorf("%s: it was read", name)
		}
		b.release()
		if held := m.held.Load(); held != 0 {
			t.Fatalf("%s: %d bytes are counted at the end", name, held)
		}
	}
}

// TestOP_5_the_bound_holds while many ask at once.
func TestOP_5_the_bound_holds(t *testing.T) {
	m := newMemory(10 << 20)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				n := rand.Int64N(6 << 20)
				b, err := m.get(n, false)
				if err == nil {
					if held := m.held.Load(); held > m.limit {
						t.Errorf("%d bytes of %d", held, m.limit)
					}
					_ = b.fill(io.LimitReader(zeros{}, n), n, 6<<20)
					b.release()
				}
			}
		})
	}
	wg.Wait()
	if held := m.held.Load(); held != 0 {
		t.Errorf("%d bytes are counted at the end", held)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// BenchmarkBodyMemory is what counting costs a small body.
func BenchmarkBodyMemory(b *testing.B) {
	m := newMemory(0)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			buf, err := m.get(500, false)
			if err != nil {
				b.Fatal(err)
			}
			buf.release()
		}
	})
}
