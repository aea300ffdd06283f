package h1_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/interlock-gateway/interlock/internal/h1"
)

// echo answers with what it got, in one of many ways, some of them bad.
func echo(t *testing.T, nc net.Conn, br *bufio.Reader, seed uint64) {
	for rnd := rand.New(rand.NewPCG(seed, 1)); ; {
		r, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		id := r.Header.Get("X-Id")
		way := rnd.IntN(16)
		if way == 0 { // before it has the body
			_, _ = io.WriteString(nc, "HTTP/1.1 413 Large\r\nX-Id: "+id+"\r\nContent-Length: 0\r\n\r\n")
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		if len(bytes.ReplaceAll(body, []byte(id), nil)) > 0 {
			t.Errorf("the server got bytes of another request in %s", id)
		}
		switch {
		case way == 1: // a reset
			if c, ok := nc.(*net.TCPConn); ok {
				_ = c.SetLinger(0)
			}
			return
		case way == 2:
			_, _ = fmt.Fprintf(nc, "HTTP/1.1 200 OK\r\nX-Id: %s\r\nContent-Length: %d\r\n\r\n%s", id, len(body)+1, body)
			return
		case way == 3 && len(body) < 4000: // with what nobody asked for, in one segment
			_, _ = fmt.Fprintf(nc, "HTTP/1.1 200 OK\r\nX-Id: %s\r\nContent-Length: %d\r\n\r\n%sHTTP/1.1 200 OK\r\nX-Id: <stolen>\r\nContent-Length: 0\r\n\r\n", id, len(body), body)
		case way < 9:
			_, _ = fmt.Fprintf(nc, "HTTP/1.1 200 OK\r\nX-Id: %s\r\nContent-Length: %d\r\n\r\n%s", id, len(body), body)
		default:
			_, _ = fmt.Fprintf(nc, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-Id: %s\r\nTransfer-Encoding: chunked\r\n\r\n", id)
			for len(body) > 0 {
				n := min(len(body), 1+rnd.IntN(9000))
				_, _ = fmt.Fprintf(nc, "%x\r\n%s\r\n", n, body[:n])
				body = body[n:]
			}
			_, _ = io.WriteString(nc, "0\r\n\r\n")
		}
	}
}

// lent is a buffer that is filled again as soon as nobody holds it, as those of
// a pool are.
type lent struct {
	b []byte
	n atomic.Int64
}

func (l *lent) Hold() { l.n.Add(1) }

func (l *lent) Release() {
	if l.n.Add(-1) == 0 {
		for i := range l.b {
			l.b[i] = '!'
		}
	}
}

// A storm of requests that end in every way: none gets, and no server gets, the
// bytes of another one.
func TestManyAtOnce(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			var ours, theirs *tls.Config
			if secure {
				ours, theirs = certificates(t)
			}
			var seed atomic.Uint64
			s := serve(t, func(nc net.Conn, br *bufio.Reader) {
				if secure {
					c := tls.Server(nc, ours)
					nc, br = c, bufio.NewReader(c)
				}
				echo(t, nc, br, seed.Add(1))
			})
			p := s.pool(t, theirs)
			var all sync.WaitGroup
			var whole atomic.Int64
			for w := range 30 {
				all.Go(func() {
					rnd := rand.New(rand.NewPCG(uint64(w), 2))
					for n := range 12 {
						if oneOfMany(t, p, rnd, fmt.Sprintf("<%02d.%02d>", w, n)) {
							whole.Add(1)
						}
						if rnd.IntN(40) == 0 {
							p.CloseIdle()
						}
					}
				})
			}
			all.Wait()
			if n := whole.Load(); n < 100 {
				t.Errorf("%d whole answers", n)
			}
		})
	}
}

// oneOfMany sends a request and tells whether its answer was whole.
func oneOfMany(t *testing.T, p *h1.Pool, rnd *rand.Rand, id string) bool {
	size := []int{10, 2000, 3000, 10_000, 40_000}[rnd.IntN(5)]
	l := &lent{b: bytes.Repeat([]byte(id), 1+rnd.IntN(size))}
	l.Hold()
	defer l.Release()
	want := bytes.Clone(l.b)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	way := rnd.IntN(8)
	if way == 0 {
		go cancel()
	}
	r := post(l.b)
	r.Header.Set("X-Id", id)
	r.Held = l
	resp, err := p.Do(ctx, r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("X-Id"); got != id {
		t.Errorf("%s got the answer of %s", id, got)
	}
	switch way {
	case 1:
		return false // without reading
	case 2:
		go cancel()
	case 3:
		want = want[:rnd.IntN(len(want))]
		got := make([]byte, len(want))
		if _, err := io.ReadFull(resp.Body, got); err == nil && resp.StatusCode == 200 && !bytes.Equal(got, want) {
			t.Errorf("%s got other bytes", id)
		}
		return false
	case 4:
		go resp.Body.Close()
	}
	got, err := io.ReadAll(resp.Body)
	if resp.StatusCode != 200 {
		return false
	}
	if !bytes.HasPrefix(want, got) || err == nil && len(got) != len(want) {
		t.Errorf("%s got %d other bytes of %d, %v", id, len(got), len(want), err)
	}
	return err == nil
}
