//go:build unix

package h1

import (
	"net"
	"syscall"
)

// listen prepares news.
func (c *conn) listen(nc net.Conn) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := sc.SyscallConn(); err == nil {
		c.raw, c.look = raw, c.peek
	}
}

// news asks the system, without waiting and without taking anything.
func (c *conn) news() news {
	if c.raw == nil {
		return nothing
	}
	c.got = nothing
	if c.raw.Read(c.look) != nil {
		return theEnd
	}
	return c.got
}

func (c *conn) peek(fd uintptr) bool {
	n, _, err := syscall.Recvfrom(int(fd), c.byte[:], syscall.MSG_PEEK) // Go's sockets do not block
	switch {
	case err == syscall.EAGAIN, err == syscall.EWOULDBLOCK, err == syscall.EINTR:
	case err == nil && n > 0:
		c.got = something
	default:
		c.got = theEnd
	}
	return true
}
