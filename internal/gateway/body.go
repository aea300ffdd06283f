package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// bodies are buffers for request and response bodies. Large ones are not kept:
// a burst of them would stay in memory for ever.
type bufferPool struct{ pool sync.Pool }

const keepBuffer = 1 << 20

func (p *bufferPool) get(hint int64) *bytes.Buffer {
	b, ok := p.pool.Get().(*bytes.Buffer)
	if !ok {
		b = new(bytes.Buffer)
	}
	b.Reset()
	if hint > 0 {
		b.Grow(int(min(hint, keepBuffer)) + bytes.MinRead)
	}
	return b
}

func (p *bufferPool) put(b *bytes.Buffer) {
	if b != nil && b.Cap() <= 2*keepBuffer {
		p.pool.Put(b)
	}
}

var bodies bufferPool

// errTooLarge says that a body is over its limit.
var errTooLarge = errors.New("body too large")

// encodingError is a content encoding that is not taken, or is broken.
type encodingError struct{ message string }

func (e *encodingError) Error() string { return e.message }

// readBody reads the request body whole and takes its compression off. The
// limit holds for the decoded size, so a small bomb is stopped as well.
func readBody(dst *bytes.Buffer, r *http.Request, limit int64) error {
	if r.ContentLength > limit && r.Header.Get("Content-Encoding") == "" {
		return errTooLarge
	}
	// No encoding makes a body much longer; an endless one may decode to nothing.
	src := io.Reader(http.MaxBytesReader(nil, r.Body, limit+limit/8+1024))
	encs := contentEncodings(r.Header)
	if len(encs) > 2 {
		return &encodingError{"the request body is encoded more than twice"}
	}
	for _, enc := range slices.Backward(encs) {
		dec, err := decoder(enc, src, limit)
		if err != nil {
			return err
		}
		defer dec.Close()
		src = dec
	}
	n, err := dst.ReadFrom(io.LimitReader(src, limit+1))
	var long *http.MaxBytesError
	switch {
	case n > limit, errors.As(err, &long), errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return errTooLarge
	case err != nil && len(encs) > 0 && !errors.Is(err, http.ErrBodyReadAfterClose):
		return &encodingError{fmt.Sprintf("the request body is not valid %s", strings.Join(encs, ", "))}
	}
	return err
}

func contentEncodings(h http.Header) []string {
	var out []string
	for _, line := range h["Content-Encoding"] {
		for e := range strings.SplitSeq(line, ",") {
			if e = strings.ToLower(strings.TrimSpace(e)); e != "" && e != "identity" {
				out = append(out, e)
			}
		}
	}
	return out
}

// A frame of zstd may ask for a window as large as its content, which is
// allocated at once.
const (
	minWindow = 8 << 20
	maxWindow = 64 << 20
)

func decoder(enc string, src io.Reader, limit int64) (io.ReadCloser, error) {
	switch enc {
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(src)
		if err != nil {
			return nil, &encodingError{"the request body is not valid gzip"}
		}
		return z, nil
	case "zstd":
		z, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderMaxWindow(uint64(min(max(limit, minWindow), maxWindow))))
		if err != nil {
			return nil, &encodingError{"the request body is not valid zstd"}
		}
		return z.IOReadCloser(), nil
	}
	return nil, &encodingError{fmt.Sprintf("the content encoding %q is not supported; send gzip, zstd or no encoding", clipText(enc, 40))}
}

// clipText bounds text that came from outside.
func clipText(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}
