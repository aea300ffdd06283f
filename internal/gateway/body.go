package gateway

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// errTooLarge says that a body is over its limit.
var errTooLarge = errors.New("body too large")

// encodingError is a content encoding that is not taken, or is broken.
type encodingError struct{ message string }

func (e *encodingError) Error() string { return e.message }

// readBody reads the request body whole and takes its compression off. The
// limit holds for the decoded size, so a small bomb is stopped as well.
func readBody(dst *buffer, r *http.Request, limit int64) error {
	if r.ContentLength > limit && r.Header.Get("Content-Encoding") == "" {
		return errTooLarge
	}
	encs := contentEncodings(r.Header)
	if len(encs) == 0 {
		return dst.fill(r.Body, r.ContentLength, limit)
	}
	if len(encs) > 2 {
		return &encodingError{"the request body is encoded more than twice"}
	}
	defer dst.without()
	// No encoding makes a body much longer; an endless one may decode to nothing.
	src := io.Reader(http.MaxBytesReader(nil, r.Body, limit+limit/8+1024))
	for _, enc := range slices.Backward(encs) {
		dec, err := decoder(enc, src, dst, limit)
		if err != nil {
			return err
		}
		defer dec.Close()
		src = dec
	}
	err := dst.fill(src, -1, limit)
	var long *http.MaxBytesError
	switch {
	case errors.Is(err, errNoRoom), errors.Is(err, errTooLarge):
		return err
	case errors.As(err, &long), errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return errTooLarge
	case err != nil && !errors.Is(err, http.ErrBodyReadAfterClose):
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

// A frame of zstd names the window that its decoder keeps, which is allocated at
// once: a few bytes may ask for as much as the largest body. What the first
// frame asks for is counted, and the others may not ask for more.
const (
	minWindow     = 64 << 10
	defaultWindow = 8 << 20 // what every decoder must be able to have
	maxWindow     = 64 << 20
)

// decoder takes one encoding off. dst counts what it needs for that.
func decoder(enc string, src io.Reader, dst *buffer, limit int64) (io.ReadCloser, error) {
	switch enc {
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(src)
		if err != nil {
			return nil, &encodingError{"the request body is not valid gzip"}
		}
		return z, nil
	case "zstd":
		head := bufio.NewReaderSize(src, zstd.HeaderMaxSize)
		window, err := windowOf(head, limit)
		if err != nil {
			return nil, err
		}
		if err := dst.also(window); err != nil {
			return nil, err
		}
		z, err := zstd.NewReader(head, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderMaxWindow(uint64(window)))
		if err != nil {
			return nil, &encodingError{"the request body is not valid zstd"}
		}
		return z.IOReadCloser(), nil
	}
	return nil, &encodingError{fmt.Sprintf("the content encoding %q is not supported; send gzip, zstd or no encoding", clipText(enc, 40))}
}

// windowOf reads the window of the first frame ahead of its decoder.
func windowOf(src *bufio.Reader, limit int64) (int64, error) {
	b, _ := src.Peek(zstd.HeaderMaxSize) // fewer are a short frame, or none: the decoder says so
	var h zstd.Header
	if err := h.Decode(b); err != nil {
		return minWindow, nil //nolint:nilerr // the decoder reads the same and says it
	}
	window := max(h.WindowSize, minWindow)
	if h.SingleSegment {
		window = max(h.FrameContentSize, minWindow)
	}
	if h.Skippable {
		window = defaultWindow
	}
	if window > uint64(min(max(limit, defaultWindow), maxWindow)) {
		return 0, errTooLarge
	}
	return int64(window), nil
}

// clipText bounds text that came from outside.
func clipText(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}
