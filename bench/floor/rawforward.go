package main

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// rawForwarder has net/http towards the client and an HTTP/1.1 of its own
// towards the upstream. It shows what net/http's transport costs.
type rawForwarder struct {
	*buffers
	pool *rawPool
}

func newRawForwarder(upstream string) *rawForwarder {
	return &rawForwarder{newBuffers(), &rawPool{upstream: upstream}}
}

func (f *rawForwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _, ok := f.accept(w, r)
	defer f.bodies.Put(body)
	if !ok {
		return
	}
	c, err := f.pool.get(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	keep := false
	defer func() { f.pool.put(c, keep) }()
	var h head
	err = c.send(f.pool.upstream, r.URL.Path, body.Bytes())
	if err == nil {
		err = readHead(c.r, &h)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if h.chunked {
		w.Header()["Content-Type"] = []string{"text/event-stream"}
	} else {
		w.Header()["Content-Type"] = []string{"application/json"}
		w.Header()["Content-Length"] = []string{strconv.FormatInt(h.contentLength, 10)}
	}
	w.WriteHeader(h.status)
	rc := http.NewResponseController(w)
	err = eachPart(c.r, &h, func(b []byte) error {
		if _, err := w.Write(b); err != nil {
			return err
		}
		if h.chunked {
			return rc.Flush()
		}
		return nil
	})
	keep = err == nil && !h.close
}

// rawPool keeps upstream connections that are idle. It trusts that they still
// work, which only holds in a benchmark.
type rawPool struct {
	upstream string
	mu       sync.Mutex
	idle     []*rawConn
}

type rawConn struct {
	net.Conn
	r   *bufio.Reader
	buf []byte
}

func (p *rawPool) get(ctx context.Context) (*rawConn, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.upstream)
	if err != nil {
		return nil, err
	}
	return &rawConn{Conn: c, r: bufio.NewReaderSize(c, copySize)}, nil
}

func (p *rawPool) put(c *rawConn, keep bool) {
	if !keep {
		_ = c.Close()
		return
	}
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
}

// send writes a request in one system call.
func (c *rawConn) send(host, path string, body []byte) error {
	b := c.buf[:0]
	b = append(b, "POST "...)
	b = append(b, path...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, host...)
	b = append(b, "\r\nContent-Type: application/json\r\nAuthorization: Bearer sk-test\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	if len(body) <= copySize {
		b = append(b, body...)
		c.buf = b
		_, err := c.Write(b)
		return err
	}
	c.buf = b
	both := net.Buffers{b, body} // copying a large body costs more than a second vector
	_, err := both.WriteTo(c.Conn)
	return err
}
