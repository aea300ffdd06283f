package h1

import "golang.org/x/sys/unix"

// acknowledged is how many bytes the other side's system has taken over this
// connection, also when it has been reset since; false if that can't be known.
func (c *conn) acknowledged() (n uint64, ok bool) {
	if c.raw == nil {
		return 0, false
	}
	err := c.raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			n, ok = info.Bytes_acked, true
		}
	})
	return n, ok && err == nil
}
