package app

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// What somebody can cost who connects and proves nothing. Each line of headers
// takes some hundred bytes more than it is long.
const (
	// maxHeaderLines bounds the headers of a request; clients send 20 to 60.
	maxHeaderLines = 256
	// freeHeader is what the headers of any connection may have, in bytes, and
	// headerMemory what all that have more may have together.
	freeHeader   = 16 << 10
	headerMemory = 32 << 20
	// spareFiles are descriptors for files, the store and refusals.
	spareFiles = 128
	// maxRefusals is how many connections are told at once that there are too
	// many; the others are closed without a word.
	maxRefusals = 64
	refusalTime = time.Second
)

var errHeader = errors.New("the headers of a request are over their limits")

// bounded is a listener that bounds connections and what their headers take. Nobody waits: who is
// one too many is told so.
type bounded struct {
	net.Listener
	// most is how many connections may be open.
	most     int64
	open     atomic.Int64
	headers  atomic.Int64 // bytes beyond freeHeader
	refusing atomic.Int64
	// keep tells the server whether connections may be kept after an answer;
	// with false it closes those that are idle.
	keep     func(bool)
	shedding atomic.Bool
	applying sync.Mutex // keep is called by one at a time
}

// maxConnections is how many connections may be open: twice as many as requests,
// and each must find a descriptor for the provider's side as well. files is how
// many the process may open; 0 is unknown.
func maxConnections(maxInFlight int, files uint64) int64 {
	most := 2*int64(maxInFlight) + 1000
	if files > 0 && files < 1<<32 {
		most = min(most, max(int64(files)/2-spareFiles, 16))
	}
	return most
}

// Accept waits for a connection that there is room for.
func (l *bounded) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		n := l.open.Add(1)
		if n > l.most-l.most/4 {
			l.shed()
		}
		if n > l.most {
			l.open.Add(-1)
			l.refuse(c)
			continue
		}
		tcp, ok := c.(*net.TCPConn)
		if !ok { // it never is anything else
			return c, nil
		}
		return &conn{TCPConn: tcp, l: l}, nil
	}
}

// shed closes the connections that are idle, and keeps no others, until there is
// room again.
func (l *bounded) shed() {
	if l.shedding.CompareAndSwap(false, true) {
		go l.apply()
	}
}

// apply tells the server what holds now: the last of several that run at once
// sees what was decided last.
func (l *bounded) apply() {
	l.applying.Lock()
	defer l.applying.Unlock()
	l.keep(!l.shedding.Load())
}

// state follows the server's view of a connection.
func (l *bounded) state(c net.Conn, s http.ConnState) {
	mine, ok := c.(*conn)
	switch s {
	case http.StateActive:
		if ok {
			mine.begun()
		}
	case http.StateIdle:
		if ok {
			mine.next()
		}
	case http.StateClosed, http.StateHijacked:
		if ok {
			mine.begun()
		}
		if l.open.Add(-1) <= l.most/2 && l.shedding.CompareAndSwap(true, false) {
			go l.apply()
		}
	case http.StateNew:
	}
}

// tooManyConnections says 503 to who is in no format yet. The object is one that
// clients of each format find a message in.
const tooManyConnections = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n" +
	`{"type":"error","error":{"type":"overloaded_error","code":"gateway_overloaded","message":"gateway_overloaded: too many connections are open; repeat the request in a moment","param":null}}` + "\n"

const tooManyHeaders = "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" +
	"431 Request Header Fields Too Large\n"

// refuse tells a client that there are too many connections, once it has asked
// for something: many take what comes before that for a broken connection. What
// it sends meanwhile is read, since unread bytes would take the answer back.
func (l *bounded) refuse(c net.Conn) {
	if l.refusing.Add(1) > maxRefusals {
		l.refusing.Add(-1)
		_ = c.Close() // there is nothing to be done about it
		return
	}
	go func() {
		defer l.refusing.Add(-1)
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(refusalTime)) // a connection that is dead fails below
		if _, err := c.Read(make([]byte, 4<<10)); err != nil {
			return
		}
		if _, err := io.WriteString(c, tooManyConnections); err != nil {
			return
		}
		if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(c, freeHeader)) // until it has read the answer
		}
	}()
}

// conn counts what the headers of a request take while they are read.
type conn struct {
	*net.TCPConn
	l *bounded
	// active: the headers were read. Only while it is not set, and then by the
	// connection's own goroutine, the others are used.
	active atomic.Bool
	lines  int
	size   int64
	taken  int64 // of the listener's headers
}

// begun ends the count: the headers were read, or never will be.
func (c *conn) begun() {
	if c.active.Swap(true) {
		return
	}
	if c.taken > 0 {
		c.l.headers.Add(-c.taken)
	}
	c.lines, c.size, c.taken = 0, 0, 0
}

// next begins the count of another request.
func (c *conn) next() { c.active.Store(false) }

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if n > 0 && !c.active.Load() {
		if text := c.count(p[:n]); text != "" {
			_ = c.TCPConn.SetWriteDeadline(time.Now().Add(refusalTime)) // a dead connection fails below
			_, _ = io.WriteString(c.TCPConn, text)                      // it is closed either way
			return 0, errHeader
		}
	}
	return n, err
}

// count adds what came; it returns what to say if that is too much.
func (c *conn) count(p []byte) string {
	// What comes with the last line is counted as well: it is part of a body and
	// at most a few KB.
	if c.lines > maxHeaderLines {
		return tooManyHeaders
	}
	c.lines += bytes.Count(p, []byte("\n"))
	c.size += int64(len(p))
	more := c.size - freeHeader - c.taken
	if more <= 0 {
		return ""
	}
	if c.l.headers.Add(more) > headerMemory {
		c.l.headers.Add(-more)
		return tooManyConnections
	}
	c.taken += more
	return ""
}
