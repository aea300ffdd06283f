//go:build unix

package h1

import (
	"crypto/tls"
	"syscall"
)

// watch prepares alive.
func (c *conn) watch() {
	nc := c.Conn
	if t, ok := nc.(*tls.Conn); ok {
		nc = t.NetConn()
	}
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := sc.SyscallConn(); err == nil {
		c.raw, c.look = raw, c.peek
	}
}

// alive tells whether an idle connection can be used. A server that has closed
// it, or said something that nobody asked for, can be seen without waiting;
// whoever sends a request to such a one gets no answer.
func (c *conn) alive() bool {
	if c.raw == nil {
		return true
	}
	c.dead = false
	return c.raw.Read(c.look) == nil && !c.dead
}

// peek looks for bytes, or the end, without taking them.
func (c *conn) peek(fd uintptr) bool {
	_, _, err := syscall.Recvfrom(int(fd), c.byte[:], syscall.MSG_PEEK) // Go's sockets do not block
	c.dead = err != syscall.EAGAIN && err != syscall.EWOULDBLOCK && err != syscall.EINTR
	return true
}
