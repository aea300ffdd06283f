package h1

import (
	"crypto/tls"
	"errors"
	"os"
	"time"
)

// news is what the system has for us on a connection that nobody reads.
type news int

const (
	nothing news = iota
	something
	theEnd
)

// late bounds the reading of what TLS says to itself on an idle connection.
const late = time.Millisecond

// alive tells whether an idle connection can be used. A server that has closed
// it, or said something that nobody asked for, can be seen without waiting;
// whoever sends a request to such a one gets no answer, or another one's.
func (c *conn) alive() bool {
	if !c.secure {
		return c.news() == nothing
	}
	// TLS reads ahead: what came with the last answer the system knows nothing
	// of. And what the system has need not be an answer: a session ticket comes
	// when the server likes.
	switch c.news() {
	case nothing:
		return c.silent(time.Unix(1, 0))
	case something:
		return c.silent(time.Now().Add(late)) && c.news() == nothing
	case theEnd:
	}
	return false
}

// silent tells whether there is nothing to read until a time; a past one asks
// for what was read ahead only. TLS can go on after such a limit.
func (c *conn) silent(until time.Time) bool {
	if c.SetReadDeadline(until) != nil {
		return false
	}
	n, err := c.Conn.Read(c.byte[:])
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.SetReadDeadline(time.Time{}) == nil
}

// watch prepares alive.
func (c *conn) watch() {
	nc := c.Conn
	if t, ok := nc.(*tls.Conn); ok {
		nc, c.secure = t.NetConn(), true
	}
	c.listen(nc)
}
