package h1

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// R36: a connection that died while it was kept, and whose end is seen by nobody
// before the request is written, costs nothing: the request is not
// acknowledged, so it goes over a new one. Bodies of every length, since long
// ones are written by another goroutine.
func TestNothingAcknowledged_R36(t *testing.T) {
	for name, n := range map[string]int{"short": 2, "in_two_writes": 20 << 10, "long": 4 << 20} {
		t.Run(name, func(t *testing.T) {
			closed := make(chan struct{})
			s := serve(t, func(nc net.Conn, br *bufio.Reader) {
				for {
					if r, _ := request(br); r == nil {
						return
					}
					_, _ = io.WriteString(nc, ok)
					if _, again := <-closed; !again { // closed: the first connection ends
						return
					}
				}
			})
			p := s.pool(t)
			r := post(strings.Repeat("x", n))
			resp, err := p.Do(t.Context(), post("{}"))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.ReadAll(resp.Body)
			resp.Body.Close()

			c := p.kept() // still alive
			if c == nil {
				t.Fatal("no connection is kept")
			}
			c.since = time.Now().Add(-time.Minute)
			close(closed)
			for c.alive() { // until its end is here
			}
			head, err := r.head()
			if err != nil {
				t.Fatal(err)
			}
			if _, lost, err := c.exchange(t.Context(), r, head); !lost || err == nil {
				t.Errorf("lost %v, error %v", lost, err)
			}
		})
	}
}

// A server that got the request and then ends the connection may have worked on
// it: nothing is sent twice.
func TestAcknowledgedIsNotLost(t *testing.T) {
	s := serve(t, func(nc net.Conn, br *bufio.Reader) {
		if r, _ := request(br); r == nil {
			return
		}
		_, _ = io.WriteString(nc, ok)
		request(br)
	})
	p := s.pool(t)
	resp, err := p.Do(t.Context(), post("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(resp.Body)
	resp.Body.Close()
	p.idle[0].since = time.Now().Add(-time.Minute)
	if resp, err := p.Do(t.Context(), post("{}")); err == nil {
		resp.Body.Close()
		t.Error("it was sent again")
	}
	if n := s.conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}
