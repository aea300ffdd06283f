package fakellm

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
)

// net/http keeps neither the order nor the case of header names, and a gateway
// that promises to leave headers alone is tested on both. So the connection
// keeps the bytes of the request head as they come in.

const maxCapture = 64 << 10

type captureListener struct{ net.Listener }

func (l captureListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &captureConn{Conn: c}, nil
}

type captureConn struct {
	net.Conn
	mu   sync.Mutex
	head []byte
	full bool
}

func (c *captureConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.mu.Lock()
		c.keep(p[:n])
		c.mu.Unlock()
	}
	return n, err
}

func (c *captureConn) keep(p []byte) {
	if c.full {
		return
	}
	c.head = append(c.head, p...)
	if end := bytes.Index(c.head, []byte("\r\n\r\n")); end >= 0 {
		c.head, c.full = c.head[:end], true
		return
	}
	c.full = len(c.head) > maxCapture
}

// take returns the header lines of the request and makes ready for the next
// one. Call it when the body has been read and nothing has been answered: then
// no byte of the next request can have come in, unless the client pipelines.
func (c *captureConn) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := strings.Split(string(c.head), "\r\n")
	c.head, c.full = nil, false
	// The first line is the request line; an HTTP/2 preface has no others.
	return lines[1:]
}

// SetLinger lets a scripted reset reach the TCP connection.
func (c *captureConn) SetLinger(sec int) error {
	if t, ok := c.Conn.(lingerer); ok {
		return t.SetLinger(sec)
	}
	return nil
}

type lingerer interface{ SetLinger(sec int) error }

type captureKey struct{}

func withCapture(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, captureKey{}, c)
}

// rawHeaders returns the header lines of the current request as sent, or nil
// when another server accepted the connection.
func rawHeaders(ctx context.Context) []string {
	if c, ok := ctx.Value(captureKey{}).(*captureConn); ok {
		return c.take()
	}
	return nil
}
