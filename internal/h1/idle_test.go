package h1_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"
)

// Connections that wait for too long, or are too many, are closed; the server
// sees it.
func TestIdleLimits(t *testing.T) {
	ended := make(chan struct{}, 8)
	s := serve(t, func(nc net.Conn, br *bufio.Reader) {
		for {
			if _, ok := take(br); !ok {
				ended <- struct{}{}
				return
			}
			_, _ = io.WriteString(nc, fine)
		}
	})
	p := s.pool(t, nil)
	p.MaxIdle, p.IdleTime = 2, time.Millisecond
	for range 2 { // the timer starts again
		var open []*http.Response
		for range 4 {
			resp, err := p.Do(t.Context(), post(nil))
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, resp)
		}
		for _, resp := range open {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		for range open {
			<-ended
		}
	}
}

// CloseIdle ends what waits at once, and what runs when it is done, without
// disturbing it. A pool that is used again keeps connections again.
func TestCloseIdleWhileRunning(t *testing.T) {
	ended, proceed := make(chan struct{}, 8), make(chan struct{})
	s := serve(t, func(nc net.Conn, br *bufio.Reader) {
		for {
			if _, ok := take(br); !ok {
				ended <- struct{}{}
				return
			}
			_, _ = io.WriteString(nc, fine[:len(fine)-1])
			<-proceed
			_, _ = io.WriteString(nc, fine[len(fine)-1:])
		}
	})
	p := s.pool(t, nil)
	resp, err := p.Do(t.Context(), post(nil))
	if err != nil {
		t.Fatal(err)
	}
	p.CloseIdle()
	close(proceed)
	if b, err := io.ReadAll(resp.Body); string(b) != "fine" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	resp.Body.Close()
	<-ended
	wants(t, p)
	wants(t, p)
	if n := s.dials.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
	p.CloseIdle()
	<-ended
}

// A server that has closed an idle connection, or spoken on it, is not asked on
// it.
func TestIdleThatDied(t *testing.T) {
	for name, last := range map[string]string{"closed": "", "spoken on": "HTTP/1.1 408 Slow\r\nContent-Length: 0\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			gone := make(chan struct{}, 8)
			s := serve(t, func(nc net.Conn, br *bufio.Reader) {
				if _, ok := take(br); !ok {
					return
				}
				_, _ = io.WriteString(nc, fine+last)
				if c, ok := nc.(*net.TCPConn); ok && last == "" {
					_ = c.CloseWrite()
				}
				gone <- struct{}{}
				_, _ = io.Copy(io.Discard, br)
			})
			p := s.pool(t, nil)
			for range 3 {
				wants(t, p)
				<-gone
			}
			if n := s.dials.Load(); n != 3 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// forgotten answers the first request on each connection, all of them together,
// and resets it when the next one comes.
func forgotten(t *testing.T, n int64) (s *server, together func()) {
	t.Helper()
	answer := make(chan struct{})
	s = serve(t, func(nc net.Conn, br *bufio.Reader) {
		if _, ok := take(br); !ok {
			return
		}
		<-answer
		_, _ = io.WriteString(nc, fine)
		if _, err := br.Peek(1); err != nil { // the next request, or the end
			return
		}
		if tcp, ok := nc.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // close is a reset
		}
	})
	return s, func() {
		for s.dials.Load() < n {
			runtime.Gosched()
		}
		close(answer)
	}
}

// R36: a connection that was kept and turns out to be dead takes those with it
// that have been idle for as long: the next request meets no other one.
func TestDeadConnectionsGoTogether_R36(t *testing.T) {
	s, together := forgotten(t, 8)
	p := s.pool(t, nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { wants(t, p) })
	}
	together()
	all.Wait()
	// The server's system took the request: the server may have worked on it.
	if resp, err := p.Do(t.Context(), post(nil)); err == nil {
		resp.Body.Close()
		t.Error("a request that the server got was sent twice")
	}
	wants(t, p)
	if n := s.dials.Load(); n != 9 {
		t.Errorf("%d connections, want one more than the eight that died", n)
	}
}
