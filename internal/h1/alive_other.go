//go:build !unix

package h1

import "net"

// listen prepares news.
func (c *conn) listen(net.Conn) {}

// news can't be had on this system: a request that meets a closed connection
// fails, and goes to the next member.
func (c *conn) news() news { return nothing }
