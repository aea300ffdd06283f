package h1_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/interlock-gateway/interlock/internal/h1"
)

// answers serves one answer to everything.
func answers(t *testing.T, text string) *server {
	t.Helper()
	return serve(t, func(nc net.Conn, br *bufio.Reader) {
		for {
			if _, ok := take(br); !ok {
				return
			}
			_, _ = io.WriteString(nc, text)
		}
	})
}

// Below 100 is no interim answer: its body is not the head of the next.
func TestStatusBelow100(t *testing.T) {
	const inner = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen"
	s := answers(t, "HTTP/1.1 042 Odd\r\nContent-Length: 44\r\n\r\n"+inner)
	status, _, _ := fetch(t.Context(), s.pool(t, nil), []byte("{}"))
	if status != 42 {
		t.Errorf("status %d", status)
	}
}

// An answer to HEAD has no body, whatever its length says.
func TestHead(t *testing.T) {
	s := answers(t, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
	p := s.pool(t, nil)
	for range 2 {
		resp, err := p.Do(t.Context(), &h1.Request{Method: http.MethodHead, Target: "/", Host: "h"})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(resp.Body); len(b) > 0 || err != nil || resp.ContentLength != 100 {
			t.Errorf("%q %v, length %d", b, err, resp.ContentLength)
		}
		resp.Body.Close()
	}
	if n := s.dials.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// What a request is made of can't make another one.
func TestUnsoundRequests(t *testing.T) {
	p := &h1.Pool{Dial: func(context.Context) (net.Conn, error) { t.Error("dialled"); return nil, io.EOF }}
	for name, change := range map[string]func(r *h1.Request){
		"a line in the target":  func(r *h1.Request) { r.Target = "/a\r\nX: y" },
		"a space in the target": func(r *h1.Request) { r.Target = "/a HTTP/1.1" },
		"no target":             func(r *h1.Request) { r.Target = "" },
		"a line in the host":    func(r *h1.Request) { r.Host = "h\r\nX: y" },
		"a line in the method":  func(r *h1.Request) { r.Method = "GET / HTTP/1.1\r\nX: y\r\n\r\nGET" },
		"no method":             func(r *h1.Request) { r.Method = "" },
		"a line in a value":     func(r *h1.Request) { r.Header.Set("X", "a\r\nY: b") },
		"a NUL in a value":      func(r *h1.Request) { r.Header.Set("X", "a\x00") },
		"a space in a name":     func(r *h1.Request) { r.Header["X Y"] = []string{"a"} },
		"a colon in a name":     func(r *h1.Request) { r.Header["X:"] = []string{"a"} },
		"a fold":                func(r *h1.Request) { r.Header.Set("X", "a\n b") },
	} {
		r := post([]byte("{}"))
		change(r)
		if _, err := p.Do(t.Context(), r); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What frames a request is ours, however it is spelled.
func TestFramingIsOurs(t *testing.T) {
	got := make(chan string, 1)
	s := serve(t, func(nc net.Conn, br *bufio.Reader) {
		var head strings.Builder
		for {
			line, err := br.ReadString('\n')
			if head.WriteString(line); err != nil || line == "\r\n" {
				break
			}
		}
		got <- head.String()
		_, _ = br.Discard(2)
		_, _ = io.WriteString(nc, fine)
	})
	p := s.pool(t, nil)
	r := post([]byte("{}"))
	for _, k := range []string{"Content-Length", "content-length", "Transfer-Encoding", "transfer-encoding", "Host", "host", "CONNECTION", "Connection", "trailer"} {
		r.Header[k] = []string{"7"}
	}
	resp, err := p.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	const want = "POST /v1/chat?a=b HTTP/1.1\r\nHost: provider.example\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
	if head := <-got; head != want {
		t.Errorf("%q", head)
	}
}

// A body that broke off says so again, and a whole one that it is over.
func TestAfterABreak(t *testing.T) {
	s := serve(t, func(nc net.Conn, br *bufio.Reader) {
		_, _ = take(br)
		_, _ = io.WriteString(nc, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut")
	})
	p := s.pool(t, nil)
	resp, err := p.Do(t.Context(), post(nil))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	}
	for range 2 {
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAfterTheEnd(t *testing.T) {
	s := answers(t, fine)
	p := s.pool(t, nil)
	resp, err := p.Do(t.Context(), post(nil))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(resp.Body)
	if n, err := resp.Body.Read(make([]byte, 8)); n != 0 || !errors.Is(err, io.EOF) {
		t.Error(n, err)
	}
	resp.Body.Close()
	resp.Body.Close()
	wants(t, p) // the closes have not closed it
	if n := s.dials.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
	if resp, err = p.Do(t.Context(), post(nil)); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if n, err := resp.Body.Read(make([]byte, 8)); n != 0 || err == nil || errors.Is(err, io.EOF) {
		t.Error(n, err)
	}
}

// A body may be closed while it is read. Its buffer must not serve another
// request meanwhile, and its connection not be closed under one.
func TestCloseWhileReading(t *testing.T) {
	s := answers(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+strings.Repeat("3\r\nabc\r\n", 1000)+"0\r\n\r\n")
	p := s.pool(t, nil)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				resp, err := p.Do(t.Context(), post([]byte("{}")))
				if err != nil {
					t.Error(err) // another one's close has ended it
					return
				}
				var read sync.WaitGroup
				read.Go(func() {
					b, _ := io.ReadAll(resp.Body)
					if strings.Trim(string(b), "abc") != "" {
						t.Errorf("%q", b)
					}
				})
				resp.Body.Close()
				read.Wait()
			}
		})
	}
	all.Wait()
}

// The end of the context is the reason, wherever it comes.
func TestReasonOfTheEnd(t *testing.T) {
	reason := errors.New("the client left")
	for name, c := range map[string]struct {
		dial   bool // while dialling
		body   int
		answer string
	}{
		"dial":  {dial: true},
		"write": {body: 32 << 20},
		"head":  {answer: "HTTP/1.1 200 OK\r\n"},
		"body":  {answer: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart"},
		"chunk": {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n"},
		"close": {answer: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\npart"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			there := make(chan struct{})
			s := serve(t, func(nc net.Conn, br *bufio.Reader) {
				r, err := http.ReadRequest(br)
				if err != nil {
					return
				}
				if c.body == 0 {
					_, _ = io.Copy(io.Discard, r.Body)
				}
				_, _ = io.WriteString(nc, c.answer)
				close(there)
				<-t.Context().Done()
			})
			p := s.pool(t, nil)
			if c.dial {
				p.Dial = func(ctx context.Context) (net.Conn, error) {
					cancel(reason)
					return (&net.Dialer{}).DialContext(ctx, "tcp", s.lis.Addr().String())
				}
			} else if !strings.Contains(c.answer, "part") {
				go func() { <-there; cancel(reason) }()
			}
			resp, err := p.Do(ctx, post(make([]byte, c.body)))
			if err == nil {
				if _, err = io.ReadFull(resp.Body, make([]byte, 4)); err != nil {
					t.Fatal(err)
				}
				cancel(reason)
				_, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			if !errors.Is(err, reason) {
				t.Errorf("%v", err)
			}
			ctx, stop := context.WithCancel(t.Context())
			stop()
			if _, err := p.Do(ctx, post(nil)); !errors.Is(err, context.Canceled) {
				t.Errorf("already ended: %v", err)
			}
		})
	}
}
