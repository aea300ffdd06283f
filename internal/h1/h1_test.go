package h1

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers each connection with handle, and counts connections.
type server struct {
	lis   net.Listener
	conns atomic.Int64
	done  chan struct{}
}

func serve(t *testing.T, handle func(c net.Conn, br *bufio.Reader)) *server {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{lis: lis, done: make(chan struct{})}
	running := make(chan struct{}, 1<<16)
	go func() {
		defer close(s.done)
		for {
			c, err := lis.Accept()
			if err != nil {
				for range s.conns.Load() {
					<-running
				}
				return
			}
			s.conns.Add(1)
			go func() {
				defer func() { running <- struct{}{} }()
				defer c.Close()
				handle(c, bufio.NewReader(c))
			}()
		}
	}()
	return s
}

// pool dials the server; everything is closed at the end of the test.
func (s *server) pool(t *testing.T) *Pool {
	t.Helper()
	p := &Pool{Dial: func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", s.lis.Addr().String())
	}}
	t.Cleanup(func() {
		p.CloseIdle()
		s.lis.Close()
		<-s.done
	})
	return p
}

// request reads one request whole; nil at the end of the connection.
func request(br *bufio.Reader) (*http.Request, []byte) {
	r, err := http.ReadRequest(br)
	if err != nil {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, nil
	}
	return r, body
}

func post(body string) *Request {
	return &Request{
		Method: http.MethodPost, Target: "/v1/x?a=b", Host: "provider.example:1",
		Header: http.Header{"Content-Type": {"application/json"}, "X-A": {"1", "2"}}, Body: []byte(body),
	}
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func TestRequestAndReuse(t *testing.T) {
	type seen struct {
		r    *http.Request
		body []byte
	}
	got := make(chan seen, 4)
	s := serve(t, func(c net.Conn, br *bufio.Reader) {
		for {
			r, body := request(br)
			if r == nil {
				return
			}
			got <- seen{r, body}
			_, _ = io.WriteString(c, ok)
		}
	})
	p := s.pool(t)
	for _, n := range []int{0, 10, together, inline, inline + 1, 3 << 20} {
		want := strings.Repeat("x", n)
		resp, err := p.Do(t.Context(), post(want))
		if err != nil {
			t.Fatal(n, err)
		}
		if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "ok" || resp.StatusCode != 200 {
			t.Fatalf("%d: %q %v", n, b, err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		r := <-got
		if string(r.body) != want || r.r.ContentLength != int64(n) || r.r.Host != "provider.example:1" || r.r.RequestURI != "/v1/x?a=b" ||
			fmt.Sprint(r.r.Header) != "map[Content-Length:["+fmt.Sprint(n)+"] Content-Type:[application/json] X-A:[1 2]]" {
			t.Fatalf("%d: %d bytes, %s %s %v", n, len(r.body), r.r.Host, r.r.RequestURI, r.r.Header)
		}
	}
	if n := s.conns.Load(); n != 1 {
		t.Errorf("%d connections for six requests one after the other", n)
	}
}

// What the server says decides whether the connection is used again.
func TestReuseAfter(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		body   string
		fails  bool // reading the body fails
		again  bool // the connection is used again
		hangUp bool // the server closes after its answer
	}{
		"length":               {answer: ok, body: "ok", again: true},
		"chunks":               {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", body: "ok", again: true},
		"chunks and a trailer": {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n", body: "ok", again: true},
		"no content":           {answer: "HTTP/1.1 204 No Content\r\n\r\n", again: true},
		"an empty body":        {answer: "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", again: true},
		"interim answers":      {answer: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok, body: "ok", again: true},
		"both lengths":         {answer: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", body: "ok", again: true},
		"connection: close":    {answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", body: "ok"},
		"HTTP/1.0":             {answer: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", body: "ok"},
		"HTTP/1.0 keep-alive":  {answer: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", body: "ok"},
		"no length":            {answer: "HTTP/1.1 200 OK\r\n\r\nok", body: "ok", hangUp: true},
		"more than its length": {answer: ok + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen", body: "ok"},
		"cut":                  {answer: "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok", body: "ok", fails: true, hangUp: true},
		"cut chunks":           {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", body: "ok", fails: true, hangUp: true},
		"no chunk":             {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nok\r\n", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(nc net.Conn, br *bufio.Reader) {
				for {
					if r, _ := request(br); r == nil {
						return
					}
					_, _ = io.WriteString(nc, c.answer)
					if c.hangUp {
						return
					}
				}
			})
			p := s.pool(t)
			for range 2 {
				resp, err := p.Do(t.Context(), post("{}"))
				if err != nil {
					t.Fatal(err)
				}
				b, err := io.ReadAll(resp.Body)
				if string(b) != c.body || (err != nil) != c.fails {
					t.Fatalf("%q %v", b, err)
				}
				_ = resp.Body.Close()
			}
			if n := s.conns.Load(); (n == 1) != c.again {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// What is no answer is an error, and ends the connection.
func TestNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   error
	}{
		"nothing":             {"", io.ErrUnexpectedEOF},
		"half a head":         {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", io.ErrUnexpectedEOF},
		"no HTTP":             {"SSH-2.0-x\r\n\r\n", nil},
		"a head without end":  {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHead), errHeadTooLong},
		"too many interim":    {strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", maxInterim+2), errInterim},
		"another protocol":    {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", errUpgrade},
		"two lengths":         {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk", nil},
		"a negative length":   {"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", nil},
		"an unknown encoding": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(nc net.Conn, br *bufio.Reader) {
				if r, _ := request(br); r != nil {
					_, _ = io.WriteString(nc, c.answer)
				}
			})
			p := s.pool(t)
			resp, err := p.Do(t.Context(), post("{}"))
			if err == nil {
				resp.Body.Close()
				t.Fatal(resp.Status)
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if n := len(p.idle); n > 0 {
				t.Errorf("%d connections were kept", n)
			}
		})
	}
}

// A server that closes an idle connection, or speaks on it, is not asked on it.
func TestIdleConnectionThatDied(t *testing.T) {
	for name, last := range map[string]string{"closed": "", "spoken on": "HTTP/1.1 408 Request Timeout\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			idle, gone := make(chan struct{}), make(chan struct{}, 2)
			s := serve(t, func(nc net.Conn, br *bufio.Reader) {
				request(br)
				_, _ = io.WriteString(nc, ok)
				<-idle
				_, _ = io.WriteString(nc, last)
				if last == "" {
					nc.Close()
				}
				gone <- struct{}{}
				request(br)
			})
			p := s.pool(t)
			fetch := func() {
				resp, err := p.Do(t.Context(), post("{}"))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			fetch()
			close(idle)
			<-gone
			for c := p.idle[0]; c.alive(); { // until the news is here
			}
			fetch()
			if n := s.conns.Load(); n != 2 {
				t.Errorf("%d connections, want a new one", n)
			}
		})
	}
}

// A server may refuse before it has read the body, whatever it does then.
func TestEarlyRefusal(t *testing.T) {
	const refusal = "HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge"
	for name, then := range map[string]func(net.Conn, *bufio.Reader){
		"reads on":      func(_ net.Conn, br *bufio.Reader) { _, _ = io.Copy(io.Discard, br) },
		"does not read": func(c net.Conn, _ *bufio.Reader) { waitForEnd(c) },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(nc net.Conn, br *bufio.Reader) {
				if _, err := http.ReadRequest(br); err == nil {
					_, _ = io.WriteString(nc, refusal)
					then(nc, br)
				}
			})
			p := s.pool(t)
			resp, err := p.Do(t.Context(), post(strings.Repeat("x", 64<<20)))
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			if resp.StatusCode != 413 || string(b) != "large" || err != nil {
				t.Errorf("%d %q %v", resp.StatusCode, b, err)
			}
			_ = resp.Body.Close()
		})
	}
}

// waitForEnd waits until the other side has gone, without reading more than it
// must.
func waitForEnd(c net.Conn) {
	for {
		if _, err := c.Write([]byte("\n")); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond) // the kernel tells nobody who does not read
	}
}

// The end of the context ends the exchange wherever it is, and the connection.
func TestCancel(t *testing.T) {
	for name, c := range map[string]struct {
		body   int
		answer string
	}{
		"while the body is written": {body: 64 << 20},
		"before the head":           {},
		"in the middle of a body":   {answer: "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			got := make(chan struct{})
			s := serve(t, func(nc net.Conn, br *bufio.Reader) {
				_, _ = http.ReadRequest(br)
				_, _ = io.WriteString(nc, c.answer)
				close(got)
				if c.body == 0 {
					_, _ = io.Copy(io.Discard, br)
				} else {
					waitForEnd(nc)
				}
			})
			p := s.pool(t)
			go func() {
				<-got
				if c.answer == "" {
					cancel()
				}
			}()
			resp, err := p.Do(ctx, post(strings.Repeat("x", c.body)))
			if c.answer == "" {
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(resp.Body, make([]byte, 2)); err != nil {
				t.Fatal(err)
			}
			cancel()
			if _, err := io.ReadAll(resp.Body); err == nil {
				t.Error("the rest of a body that was cut off")
			}
			_ = resp.Body.Close()
			if len(p.idle) > 0 {
				t.Error("the connection was kept")
			}
		})
	}
}

// A body that is not wanted ends the connection at once.
func TestCloseEarly(t *testing.T) {
	s := serve(t, func(nc net.Conn, br *bufio.Reader) {
		for {
			if r, _ := request(br); r == nil {
				return
			}
			_, _ = io.WriteString(nc, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nok")
		}
	})
	p := s.pool(t)
	resp, err := p.Do(t.Context(), post("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	_ = resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Error(err)
	}
	if len(p.idle) > 0 {
		t.Error("the connection was kept")
	}
}

// A header can't begin another one.
func TestUnsoundHeaders(t *testing.T) {
	p := &Pool{Dial: func(context.Context) (net.Conn, error) { t.Error("dialled"); return nil, io.EOF }}
	for _, h := range []http.Header{
		{"X": {"a\r\nY: b"}},
		{"X": {"a\nb"}},
		{"X": {"a\x00"}},
		{"X\r\nY": {"a"}},
		{"X Y": {"a"}},
		{"X:": {"a"}},
		{"": {"a"}},
	} {
		r := post("{}")
		r.Header = h
		if _, err := p.Do(t.Context(), r); err == nil || strings.Contains(err.Error(), "a\n") {
			t.Errorf("%q: %v", h, err)
		}
	}
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	ended := make(chan struct{}, 8)
	s := serve(t, func(nc net.Conn, br *bufio.Reader) {
		for {
			if r, _ := request(br); r == nil {
				ended <- struct{}{}
				return
			}
			_, _ = io.WriteString(nc, ok)
		}
	})
	p := s.pool(t)
	p.MaxIdle, p.IdleTime = 2, time.Millisecond
	var open []*http.Response
	for range 3 {
		resp, err := p.Do(t.Context(), post("{}"))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, resp)
	}
	for _, resp := range open {
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	for range 3 { // one at once, the others after their time
		<-ended
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) > 0 {
		t.Error("connections are idle still")
	}
}

// A storm of requests, some given up at any point: nobody gets another one's
// bytes.
func TestStorm(t *testing.T) {
	s := serve(t, func(nc net.Conn, br *bufio.Reader) {
		for n := 0; ; n++ {
			r, body := request(br)
			if r == nil {
				return
			}
			id := r.Header.Get("X-Id")
			if !bytes.Equal(body, bytes.Repeat([]byte(id), len(body)/len(id))) {
				_, _ = io.WriteString(nc, "HTTP/1.1 400 Mixed\r\nContent-Length: 0\r\n\r\n")
				return
			}
			if len(body)%7 == 1 {
				return // without an answer
			}
			fmt.Fprintf(nc, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(id), id)
			if len(body)%5 == 1 {
				return // in the middle
			}
			fmt.Fprintf(nc, "%x\r\n%s\r\n0\r\n\r\n", len(id), id)
		}
	})
	p := s.pool(t)
	errs := make(chan error, 64)
	for w := range 32 {
		go func() { errs <- storm(t.Context(), p, w) }()
	}
	for range 32 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func storm(ctx context.Context, p *Pool, w int) error {
	for n := range 60 {
		id := fmt.Sprintf("<%04d>", w*100+n)
		r := post(strings.Repeat(id, 1+(n*n*977)%20000))
		r.Header.Set("X-Id", id)
		ctx, cancel := context.WithCancel(ctx)
		if n%9 == 4 {
			time.AfterFunc(time.Duration(n)*50*time.Microsecond, cancel)
		}
		resp, err := p.Do(ctx, r)
		if err == nil {
			var b []byte
			if n%4 == 1 {
				b = make([]byte, len(id))
				_, err = io.ReadFull(resp.Body, b)
			} else {
				b, err = io.ReadAll(resp.Body)
			}
			resp.Body.Close()
			if resp.StatusCode != 200 || len(bytes.ReplaceAll(b, []byte(id), nil)) > 0 && err == nil {
				cancel()
				return fmt.Errorf("%s got %d %q", id, resp.StatusCode, b)
			}
		}
		// Overwritten, as the buffers of a pool are.
		for i := range r.Body {
			r.Body[i] = '!'
		}
		cancel()
	}
	return nil
}
