package h1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

const (
	// maxHead bounds the head of an answer, in bytes.
	maxHead = 1 << 20
	// maxInterim bounds the 1xx answers before the real one.
	maxInterim = 5
	// together is up to what length a body is sent in one write with the head.
	together = 16 << 10
	// inline is up to what length a body is written by the goroutine that then
	// reads the answer. A longer one can fill the buffers of a server that has
	// answered already, and does not read on.
	inline = 32 << 10
	// grace is how long the server's reason is waited for where the request
	// could not be written.
	grace = 200 * time.Millisecond
	// linger is how long the end of a body's writing is waited for after the end
	// of its answer: with it the connection can be used again.
	linger = 50 * time.Millisecond
	// fresh is how long nobody forgets a connection that was used; servers close
	// theirs after five seconds and more.
	fresh = 2 * time.Second
)

var (
	errHeadTooLong = errors.New("the head of the answer is too long")
	errInterim     = errors.New("too many interim answers")
	errUpgrade     = errors.New("the server switched protocols, which was not asked for")
)

// Do sends a request and reads the head of the answer. Until the answer's body
// is closed the end of ctx ends the exchange, and its cause is the error.
// Whoever gets an answer closes its body. An error may come after the server has
// got the request.
//
// A connection that was kept may be dead without our knowing: the server, or what
// lies between, has forgotten it, and says so as soon as something is sent. Those
// that have been idle for as long are closed then. If the connection was not used
// for a while, and the system tells that nothing of the request was acknowledged,
// it is sent on a new connection: at most once more. A living server acknowledges
// within 40 ms, so one that took the request and resets the connection sooner may
// get it twice; nothing can have come of it in that time.
func (p *Pool) Do(ctx context.Context, r *Request) (*http.Response, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	head, err := r.head()
	if err != nil {
		return nil, err
	}
	if c := p.kept(); c != nil {
		resp, lost, err := c.exchange(ctx, r, head)
		if !lost {
			return resp, err
		}
		if head, err = r.head(); err != nil {
			return nil, err
		}
	}
	c, err := p.dial(ctx)
	if err != nil {
		heads.Put(head)
		return nil, because(ctx, err)
	}
	resp, _, err := c.exchange(ctx, r, head)
	return resp, err
}

// exchange is one try on a connection, which it gives back or closes. lost says
// that the connection was a dead one, and nobody got anything of the request.
func (c *conn) exchange(ctx context.Context, r *Request, head *[]byte) (resp *http.Response, lost bool, err error) {
	var before uint64
	known := false
	if !c.since.IsZero() && time.Since(c.since) > fresh {
		before, known = c.acknowledged()
	}
	x := &exchange{c: c, ctx: ctx}
	x.stop = afterEnd(ctx, c.abort)
	failed := x.send(head, r)
	resp, err = x.receive(r.Method, failed)
	if err == nil {
		return resp, false, nil
	}
	if !c.since.IsZero() && c.left == maxHead && ctx.Err() == nil {
		if known {
			after, ok := c.acknowledged()
			lost = ok && after == before
		}
		c.pool.closeIdle(c.since)
	}
	x.end(false)
	return nil, lost, because(ctx, err)
}

// afterEnd is context.AfterFunc, without a context of its own where ctx can do
// it.
func afterEnd(ctx context.Context, f func()) (stop func() bool) {
	if a, ok := ctx.(interface{ AfterFunc(f func()) func() bool }); ok {
		return a.AfterFunc(f)
	}
	return context.AfterFunc(ctx, f)
}

// because is why an exchange failed: where the context has ended, that.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// exchange is one request and its answer; it is the answer's body as well.
type exchange struct {
	c    *conn
	ctx  context.Context
	stop func() bool
	sent chan error // of the goroutine that writes the body, if there is one
	keep bool       // the connection can be used again after the body

	reading sync.Mutex // guards what follows: the buffer is nobody else's until a Read is over
	br      *bufio.Reader
	body    io.ReadCloser
	err     error // what reading says from now on

	mu   sync.Mutex // guards what follows
	over bool       // the connection is no longer ours
	cut  bool       // it was closed under a Read
}

// send writes the request, or has the writing begun. The head's buffer is given
// back when it was written.
func (x *exchange) send(head *[]byte, r *Request) (err error) {
	switch body := r.Body; {
	case len(*head)+len(body) <= together:
		*head = append(*head, body...)
		_, err = x.c.Conn.Write(*head)
		heads.Put(head)
	case len(body) <= inline:
		err = write(x.c.Conn, head, body)
	default:
		x.sent = make(chan error, 1)
		nc, sent, held := x.c.Conn, x.sent, r.Held
		if held != nil {
			held.Hold()
		}
		go func() {
			err := write(nc, head, body)
			if held != nil {
				held.Release()
			}
			sent <- err
		}()
	}
	return err
}

func write(nc net.Conn, head *[]byte, body []byte) error {
	// Two records of TLS, or two segments: what a copy costs more than.
	_, err := nc.Write(*head)
	heads.Put(head)
	if err == nil {
		_, err = nc.Write(body)
	}
	return err
}

// receive reads the head of the answer. failed is what the writing ended in.
func (x *exchange) receive(method string, failed error) (*http.Response, error) {
	if failed != nil {
		// A server that refuses a body closes its side, and may have said why.
		_ = x.c.Conn.SetReadDeadline(time.Now().Add(grace))
	}
	x.br, _ = readers.Get().(*bufio.Reader)
	x.br.Reset(x.c)
	x.c.left = maxHead
	resp, err := readHead(x.br, method)
	switch {
	case failed != nil && errors.Is(err, os.ErrDeadlineExceeded):
		return nil, failed // the limit is ours
	case err != nil:
		return nil, unexpected(err)
	case failed != nil:
		_ = x.c.Conn.SetReadDeadline(time.Time{})
	}
	x.c.left = math.MaxInt64
	x.body, x.keep = resp.Body, failed == nil && !resp.Close && resp.ProtoAtLeast(1, 1) && resp.StatusCode >= 200
	resp.Body = x
	if x.body == http.NoBody {
		x.err = io.EOF
		x.end(true)
	}
	return resp, nil
}

// readHead reads the head of the answer, after those that only announce it.
func readHead(br *bufio.Reader, method string) (*http.Response, error) {
	var asked *http.Request
	if method == http.MethodHead {
		asked = &http.Request{Method: method} // its answer has no body
	}
	for range maxInterim + 1 {
		resp, err := http.ReadResponse(br, asked)
		if err != nil {
			return nil, err
		}
		switch {
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, errUpgrade
		case resp.StatusCode < 100 || resp.StatusCode >= 200:
			resp.Request = nil
			return resp, nil
		}
	}
	return nil, errInterim
}

// unexpected: a connection that ends before the head is an answer that broke
// off.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Read implements io.Reader for the answer's body.
func (x *exchange) Read(p []byte) (int, error) {
	x.reading.Lock()
	defer x.reading.Unlock()
	if x.err != nil {
		return 0, x.err
	}
	n, err := x.body.Read(p)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		x.err = io.EOF
		x.end(true)
	default:
		x.err = because(x.ctx, err)
		x.end(false)
	}
	return n, x.err
}

// Close implements io.Closer. It does not wait for a rest that nobody wants:
// the connection is closed instead. It may be called while the body is read.
func (x *exchange) Close() error {
	if !x.reading.TryLock() {
		x.interrupt()
		x.reading.Lock()
	}
	defer x.reading.Unlock()
	if x.err == nil {
		x.err = http.ErrBodyReadAfterClose
	}
	x.end(false)
	return nil
}

// interrupt ends a Read that is under way, unless the connection was given back
// meanwhile: then it is another one's.
func (x *exchange) interrupt() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over {
		x.cut = true
		x.c.abort()
	}
}

// end gives the connection back, or closes it. whole says that the answer was
// read to its end.
func (x *exchange) end(whole bool) {
	x.mu.Lock()
	over, cut := x.over, x.cut
	x.over = true
	x.mu.Unlock()
	if over {
		return
	}
	// Where the context has ended, the connection is being closed.
	ours := x.stop()
	if x.br != nil {
		whole = whole && x.br.Buffered() == 0
		x.br.Reset(nil)
		readers.Put(x.br)
		x.br = nil
	}
	if whole && x.keep && ours && !cut && x.written() {
		x.c.pool.put(x.c)
		return
	}
	x.c.abort()
	if x.sent != nil {
		<-x.sent //nolint:errcheck // at once now; the body's bytes are the caller's again
	}
}

// written tells whether the server took the whole request. One that answers
// before that may not want the rest.
func (x *exchange) written() bool {
	if x.sent == nil {
		return true
	}
	select {
	case err := <-x.sent: // as nearly always
		x.sent = nil
		return err == nil
	default:
	}
	t := time.NewTimer(linger)
	defer t.Stop()
	select {
	case err := <-x.sent:
		x.sent = nil
		return err == nil
	case <-t.C:
		return false
	}
}
