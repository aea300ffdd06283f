package h1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
	// grace is how long a refusal waits for the body's writer to end by itself,
	// and a failed writer for the server's reason.
	grace = 200 * time.Millisecond
)

var (
	errHeadTooLong = errors.New("the head of the answer is too long")
	errInterim     = errors.New("too many interim answers")
	errUpgrade     = errors.New("the server switched protocols, which was not asked for")
)

// Request is what is sent. Its body is not used after Do has returned.
type Request struct {
	Method string
	// Target is the path with its query, as it goes on the wire.
	Target string
	Host   string
	// Header is sent besides Host, Content-Length and Connection, which are not
	// taken from it.
	Header http.Header
	Body   []byte
}

// Do sends a request and reads the head of the answer. Until the answer's body
// is closed the end of ctx ends the exchange. Whoever gets an answer closes its
// body. An error may come after the server has got the request.
func (p *Pool) Do(ctx context.Context, r *Request) (*http.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	head, err := r.head()
	if err != nil {
		return nil, err
	}
	c, err := p.get(ctx)
	if err != nil {
		heads.Put(head)
		return nil, err
	}
	x := &exchange{c: c}
	x.stop = context.AfterFunc(ctx, c.abort)
	resp, err := x.run(head, r.Body)
	heads.Put(head)
	if err != nil {
		x.end(false)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return resp, nil
}

// exchange is one request and its answer; it is the answer's body as well.
type exchange struct {
	c    *conn
	br   *bufio.Reader
	stop func() bool
	body io.ReadCloser
	keep bool // the connection can be used again after the body
	over atomic.Bool
}

// run writes the request and reads the head of the answer.
func (x *exchange) run(head *[]byte, body []byte) (*http.Response, error) {
	var sent chan error
	var failed error
	switch {
	case len(*head)+len(body) <= together:
		*head = append(*head, body...)
		_, failed = x.c.Conn.Write(*head)
	case len(body) <= inline:
		failed = x.write(*head, body)
	default:
		sent = make(chan error, 1)
		go func() { sent <- x.write(*head, body) }()
	}
	if failed != nil {
		// A server that refuses a body closes its side, and may have said why.
		_ = x.c.Conn.SetReadDeadline(time.Now().Add(grace))
	}
	br, _ := readers.Get().(*bufio.Reader)
	br.Reset(x.c)
	x.br = br
	x.c.left = maxHead
	resp, err := readHead(br)
	if sent != nil {
		failed = x.settle(sent, resp)
	}
	switch {
	case err != nil && failed != nil:
		return nil, failed
	case err != nil:
		return nil, unexpected(err)
	}
	x.c.left = math.MaxInt64
	x.body, x.keep = resp.Body, failed == nil && !resp.Close && resp.ProtoAtLeast(1, 1)
	resp.Body = x
	if x.body == http.NoBody {
		x.end(true)
	}
	return resp, nil
}

func (x *exchange) write(head, body []byte) error {
	// Two records of TLS, or two segments: what a copy costs more than.
	if _, err := x.c.Conn.Write(head); err != nil {
		return err
	}
	_, err := x.c.Conn.Write(body)
	return err
}

// settle waits for the body's writer, whose bytes belong to the caller. A
// server that refuses does not want the rest, and one that broke off will not
// take it.
func (x *exchange) settle(sent chan error, resp *http.Response) error {
	if resp != nil && resp.StatusCode < 400 {
		return <-sent // the end of the context ends it as well
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case err := <-sent:
		return err
	case <-t.C:
	}
	_ = x.c.Conn.SetWriteDeadline(time.Unix(1, 0))
	return <-sent
}

// readHead reads the head of the answer, after those that only announce it.
func readHead(br *bufio.Reader) (*http.Response, error) {
	for range maxInterim + 1 {
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			return nil, err
		}
		switch {
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, errUpgrade
		case resp.StatusCode >= 200:
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
	if x.over.Load() {
		if x.body == http.NoBody {
			return 0, io.EOF
		}
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := x.body.Read(p)
	if err != nil {
		x.end(errors.Is(err, io.EOF))
		if errors.Is(err, io.EOF) {
			x.body = http.NoBody // further reads say so again
		}
	}
	return n, err
}

// Close implements io.Closer. It does not wait for a rest that nobody wants:
// the connection is closed instead.
func (x *exchange) Close() error {
	x.end(false)
	return nil
}

// end gives the connection back, or closes it. whole says that the answer was
// read to its end.
func (x *exchange) end(whole bool) {
	if x.over.Swap(true) {
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
	if whole && x.keep && ours {
		x.c.pool.put(x.c)
		return
	}
	x.c.abort()
}

// heads are buffers for the heads of requests, and short bodies.
var heads = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// head writes the request's head.
func (r *Request) head() (*[]byte, error) {
	buf, _ := heads.Get().(*[]byte)
	b := append((*buf)[:0], r.Method...)
	b = append(append(append(b, ' '), r.Target...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, r.Host...), "\r\n"...)
	for k, values := range r.Header {
		switch k {
		case "Host", "Content-Length", "Connection", "Transfer-Encoding", "Trailer":
			continue
		}
		for _, v := range values {
			if !sound(k, v) {
				heads.Put(buf)
				return nil, fmt.Errorf("the header %q has a name or a value that can't be sent", clip(k))
			}
			b = append(append(b, k...), ": "...)
			b = append(append(b, v...), "\r\n"...)
		}
	}
	if len(r.Body) > 0 || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		b = append(b, "Content-Length: "...)
		b = append(strconv.AppendInt(b, int64(len(r.Body)), 10), "\r\n"...)
	}
	*buf = append(b, "\r\n"...)
	return buf, nil
}

// sound tells whether a header field ends where it should: nothing in it can
// make another one.
func sound(name, value string) bool {
	if name == "" {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
