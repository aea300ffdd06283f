package upstream

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// Payload is a request body in a buffer that will be used again. An HTTP
// transport may go on reading a body after its RoundTrip has returned, so the
// buffer is given back only when the owner and every reader have let go of it:
// otherwise one request could send another one's bytes.
type Payload struct {
	b    []byte
	refs atomic.Int32
	free func()
}

// NewPayload is a Payload that was Set.
func NewPayload(b []byte, free func()) *Payload {
	p := &Payload{}
	p.Set(b, free)
	return p
}

// Set makes it the body b, which nobody may refer to yet. The caller owns one
// reference and calls Release when it needs the bytes no longer; free is called
// after the last Release, from whatever goroutine that happens in, and may make
// another body of it.
func (p *Payload) Set(b []byte, free func()) {
	p.b, p.free = b, free
	p.refs.Store(1)
}

// Bytes is the body; it must not be changed, nor used after Release.
func (p *Payload) Bytes() []byte { return p.b }

// Hold takes another reference, which is given up with Release. Whoever calls it
// has one.
func (p *Payload) Hold() { p.refs.Add(1) }

// Release gives up a reference. It is called once for each.
func (p *Payload) Release() {
	if p.refs.Add(-1) == 0 && p.free != nil {
		p.free() // nothing of it is ours from here on
	}
}

// open makes a reader that holds a reference until it is closed. Of an empty body
// net/http would not know the length.
func (p *Payload) open() io.ReadCloser {
	if len(p.b) == 0 {
		return http.NoBody
	}
	p.Hold()
	return &payloadReader{p: p}
}

// payloadReader reads a Payload. After Close it never touches the bytes again,
// even if a Read is under way in another goroutine.
type payloadReader struct {
	mu sync.Mutex
	p  *Payload // nil once closed
	at int
}

func (r *payloadReader) Read(dst []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.p == nil {
		return 0, http.ErrBodyReadAfterClose
	}
	if r.at == len(r.p.b) {
		return 0, io.EOF
	}
	n := copy(dst, r.p.b[r.at:])
	r.at += n
	return n, nil
}

func (r *payloadReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.p != nil {
		r.p.Release()
		r.p = nil
	}
	return nil
}
