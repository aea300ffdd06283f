package upstream

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// decodeBody takes a compression off an answer that we did not ask to be
// compressed. It decodes as bytes arrive, so that a stream keeps its pace.
// On error the body is closed.
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
	default:
		resp.Body.Close()
		return fmt.Errorf("the answer has the content encoding %q, which was not asked for", enc)
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	return nil
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
