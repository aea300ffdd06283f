package h1_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// loan counts who uses the bytes of a body.
type loan struct{ n atomic.Int64 }

func (l *loan) Hold()    { l.n.Add(1) }
func (l *loan) Release() { l.n.Add(-1) }

// A server may answer before it has the body, and go on as it likes. Its
// answer passes at once, and nobody uses the body once it was closed.
func TestEarlyAnswer(t *testing.T) {
	large := strings.Repeat("answer ", 1<<20)
	for name, c := range map[string]struct {
		head   string
		body   string
		reads  bool // the server reads the request to its end
		closes bool // the server closes once it has answered
	}{
		"413 and close":                 {head: "413 Too Large\r\nConnection: close", body: "large", closes: true},
		"413, neither reads nor closes": {head: "413 Too Large\r\nConnection: close", body: "large"},
		"413 without a body":            {head: "413 Too Large\r\nConnection: close"},
		"401 and reads on":              {head: "401 Unauthorized", body: "who", reads: true},
		"200 and reads on":              {head: "200 OK", body: "early", reads: true},
		"200 and never reads":           {head: "200 OK", body: "early"},
		"a large 200, never reads":      {head: "200 OK", body: large},
		"a large 200 and then reads":    {head: "200 OK", body: large, reads: true},
		"a large 500, never reads":      {head: "500 No", body: large},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(nc net.Conn, br *bufio.Reader) {
				r, err := http.ReadRequest(br)
				if err != nil {
					return
				}
				_, _ = io.WriteString(nc, "HTTP/1.1 "+c.head+"\r\nContent-Length: "+strconv.Itoa(len(c.body))+"\r\n\r\n"+c.body)
				switch {
				case c.reads:
					_, _ = io.Copy(io.Discard, r.Body)
					_, _ = io.Copy(io.Discard, br)
				case c.closes:
				default:
					<-t.Context().Done()
				}
			})
			p := s.pool(t, nil)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var l loan
			r := post(bytes.Repeat([]byte("x"), 16<<20))
			r.Held = &l
			resp, err := p.Do(ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if c.closes && err != nil {
				return // what a reset took is lost for anybody
			}
			if string(b) != c.body || err != nil {
				t.Errorf("%d bytes, want %d: %v", len(b), len(c.body), err)
			}
			if n := l.n.Load(); n != 0 {
				t.Errorf("the body is used by %d", n)
			}
			clear(r.Body) // the race detector looks
		})
	}
}

// An early answer that was read to its end leaves a connection that is used
// again only where the request was whole by then.
func TestReuseAfterEarlyAnswer(t *testing.T) {
	s := serve(t, func(nc net.Conn, br *bufio.Reader) {
		for {
			r, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			_, _ = io.WriteString(nc, fine)
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
		}
	})
	p := s.pool(t, nil)
	body := bytes.Repeat([]byte("HTTP/1.1 200 OK\r\n"), 1<<16)
	for range 8 {
		if status, answer, err := fetch(t.Context(), p, body); err != nil || status != 200 || answer != "fine" {
			t.Fatalf("%d %q %v", status, answer, err)
		}
	}
}

// A server that sends rubbish, and does not read on, is no slow server: our own
// end of the writing is not a time limit.
func TestRubbishWhileWriting(t *testing.T) {
	s := serve(t, func(nc net.Conn, br *bufio.Reader) {
		_, _ = http.ReadRequest(br)
		_, _ = io.WriteString(nc, "rubbish\r\n\r\n")
		<-t.Context().Done()
	})
	_, _, err := fetch(t.Context(), s.pool(t, nil), make([]byte, 16<<20))
	if err == nil || timedOut(err) {
		t.Errorf("%v, want the reason", err)
	}
}

// deaf is a connection that can't be written to; what the server has said can
// be read.
type deaf struct {
	net.Conn
	mu    sync.Mutex
	limit time.Time
	r     io.Reader
	head  int
}

func (d *deaf) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func (d *deaf) SetReadDeadline(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit = t
	return nil
}

func (d *deaf) Read(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.head > 0 {
		n, err := d.r.Read(p[:1])
		d.head--
		return n, err
	}
	if !d.limit.IsZero() {
		return 0, errors.New("the limit of the head holds for the body")
	}
	return d.r.Read(p)
}

// A server that closes its side may have said why, in as much time as it takes.
func TestAnswerAfterFailedWrite(t *testing.T) {
	const answer = "HTTP/1.1 400 Bad\r\nContent-Length: 3\r\n\r\nwhy"
	s := serve(t, func(net.Conn, *bufio.Reader) {})
	p := s.pool(t, nil)
	dial := p.Dial
	p.Dial = func(ctx context.Context) (net.Conn, error) {
		c, err := dial(ctx)
		return &deaf{Conn: c, r: strings.NewReader(answer), head: len(answer) - 3}, err
	}
	for _, n := range []int{10, 20 << 10, 40 << 10} {
		status, body, err := fetch(t.Context(), p, make([]byte, n))
		if status != 400 || body != "why" || err != nil {
			t.Errorf("%d %q %v", status, body, err)
		}
	}
}
