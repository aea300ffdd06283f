package upstream

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// EncodingError is an answer that can't be read, since it was compressed in a
// way that nobody asked for. It is the provider's fault, not the network's.
type EncodingError struct{ encoding string }

func (e *EncodingError) Error() string {
	return fmt.Sprintf("its answer has the content encoding %q, which was not asked for", e.encoding)
}

// decodeBody takes a compression off an answer that we did not ask to be
// compressed. It decodes as bytes arrive, so that a stream keeps its pace. Of an
// error in an unknown one the status is left, which says what it is. On error
// the body is closed.
func decodeBody(resp *http.Response) error {
	enc := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	switch enc {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
		resp.Body = &lazyReader{raw: resp.Body, open: func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }}
	case "zstd":
		resp.Body = &lazyReader{raw: resp.Body, open: func(r io.Reader) (io.ReadCloser, error) {
			z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
			if err != nil {
				return nil, err
			}
			return z.IOReadCloser(), nil
		}}
	case "deflate":
		resp.Body = &lazyReader{raw: resp.Body, open: openDeflate}
	default:
		resp.Body.Close()
		if resp.StatusCode < 300 {
			return &EncodingError{enc}
		}
		resp.Body = http.NoBody
		resp.Header.Del("Content-Type")
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	return nil
}

// openDeflate reads the zlib format, which is what "deflate" means, or the bare
// stream inside it, which some servers send. A stream does not begin like the
// header of zlib: its low bits would announce a stored block with padding that
// is not zero.
func openDeflate(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}

// lazyReader opens its decoder at the first read: the decoder's header may
// come later than the answer's head.
type lazyReader struct {
	raw  io.ReadCloser
	open func(io.Reader) (io.ReadCloser, error)
	dec  io.ReadCloser
	err  error
}

func (l *lazyReader) Read(p []byte) (int, error) {
	if l.dec == nil && l.err == nil {
		if l.dec, l.err = l.open(l.raw); l.err != nil {
			l.dec = nil // an interface that holds a nil pointer would be closed
		}
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.dec.Read(p)
}

func (l *lazyReader) Close() error {
	if l.dec != nil {
		l.dec.Close()
	}
	return l.raw.Close()
}
