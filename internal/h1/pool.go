package h1

import (
	"bufio"
	"context"
	"math"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	// defaultMaxIdle bounds the connections that wait for a next request.
	defaultMaxIdle = 4096
	// defaultIdleTime is how long one waits; servers of vendors close theirs
	// after one minute or more.
	defaultIdleTime = 90 * time.Second
	// readBuffer is large enough for the head of any usual answer and for what
	// a provider sends of a stream at once.
	readBuffer = 16 << 10
)

// Pool is a set of connections to one server. It is safe for concurrent use.
type Pool struct {
	// Dial opens a connection, with TLS if the server wants it.
	Dial func(ctx context.Context) (net.Conn, error)
	// MaxIdle bounds the connections that wait for a next request, and IdleTime
	// how long one waits; zero is a default.
	MaxIdle  int
	IdleTime time.Duration

	mu    sync.Mutex
	idle  []*conn // the one that was used last is at the end
	timer *time.Timer
	// closed: what becomes idle is closed, until the pool is used again.
	closed bool
}

// conn is a connection. A single goroutine uses it at a time; abort is the
// exception.
type conn struct {
	pool *Pool
	net.Conn
	// raw tells whether the server has said or closed something; nil if the
	// system can't tell.
	raw  syscall.RawConn
	look func(fd uintptr) bool
	got  news
	byte [1]byte // for look
	// secure: TLS may have read more than it was asked for.
	secure bool
	// left is how much may be read, so that the head of an answer is bounded.
	left  int64
	since time.Time // when it became idle
}

// Read implements io.Reader, up to the limit of what is being read.
func (c *conn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errHeadTooLong
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.Conn.Read(p)
	if c.left != math.MaxInt64 {
		c.left -= int64(n)
	}
	return n, err
}

// abort ends whatever is going on with the connection. It may be called from
// any goroutine.
func (c *conn) abort() {
	// A TLS connection would first say goodbye, which can block.
	if t, ok := c.Conn.(interface{ NetConn() net.Conn }); ok {
		_ = t.NetConn().Close()
	}
	_ = c.Conn.Close()
}

// kept takes an idle connection; nil if there is none.
func (p *Pool) kept() *conn {
	for {
		c := p.pop()
		if c == nil || c.alive() {
			return c
		}
		c.abort()
	}
}

// dial opens a connection.
func (p *Pool) dial(ctx context.Context) (*conn, error) {
	nc, err := p.Dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{pool: p, Conn: nc}
	c.watch()
	return c, nil
}

func (p *Pool) pop() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = false
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	p.idle[n-1] = nil
	p.idle = p.idle[:n-1]
	return c
}

// put keeps a connection whose answer was read to its end.
func (p *Pool) put(c *conn) {
	c.since = time.Now()
	p.mu.Lock()
	if p.closed || len(p.idle) >= orDefault(p.MaxIdle, defaultMaxIdle) {
		p.mu.Unlock()
		c.abort()
		return
	}
	p.idle = append(p.idle, c)
	if p.timer == nil {
		p.timer = time.AfterFunc(orDefault(p.IdleTime, defaultIdleTime), p.sweep)
	}
	p.mu.Unlock()
}

// sweep closes what has waited for too long. It runs while there is something
// that waits, and never otherwise.
func (p *Pool) sweep() {
	most := orDefault(p.IdleTime, defaultIdleTime)
	p.mu.Lock()
	n := 0
	for n < len(p.idle) && time.Since(p.idle[n].since) >= most {
		n++
	}
	old := p.take(n)
	if len(p.idle) > 0 {
		p.timer.Reset(max(time.Millisecond, most-time.Since(p.idle[0].since)))
	} else {
		p.timer = nil
	}
	p.mu.Unlock()
	for _, c := range old {
		c.abort()
	}
}

// CloseIdle closes the connections that no request uses, and those that are in
// use when they become idle, unless a request comes before that.
func (p *Pool) CloseIdle() {
	p.mu.Lock()
	old := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, c := range old {
		c.abort()
	}
}

// closeIdle closes the connections that became idle at a time or before.
func (p *Pool) closeIdle(since time.Time) {
	p.mu.Lock()
	n := 0
	for n < len(p.idle) && !p.idle[n].since.After(since) {
		n++
	}
	old := p.take(n)
	p.mu.Unlock()
	for _, c := range old {
		c.abort()
	}
}

// take takes the n connections out that have been idle the longest. The mutex
// is held.
func (p *Pool) take(n int) []*conn {
	old := append([]*conn(nil), p.idle[:n]...)
	kept := copy(p.idle, p.idle[n:])
	clear(p.idle[kept:])
	p.idle = p.idle[:kept]
	return old
}

func orDefault[T int | time.Duration](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}

// readers are the read buffers; an idle connection has none.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readBuffer) }}
