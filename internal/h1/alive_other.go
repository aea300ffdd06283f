//go:build !unix

package h1

// watch prepares alive.
func (c *conn) watch() {}

// alive can't be known on this system: a request that meets a closed connection
// fails, and goes to the next member.
func (c *conn) alive() bool { return true }
