//go:build !linux

package h1

// acknowledged can't be known on this system: a request that meets a dead
// connection is an attempt that failed.
func (c *conn) acknowledged() (n uint64, ok bool) { return 0, false }
