package h1_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/interlock-gateway/interlock/internal/h1"
)

// patience is what a test waits for something that comes at once, or never.
const patience = 5 * time.Second

const fine = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"

// server is a listener whose connections a test handles as it likes.
type server struct {
	lis   net.Listener
	dials atomic.Int64
	mu    sync.Mutex
	conns []net.Conn
	ended sync.WaitGroup
}

// serve starts a server. After the test nothing of it, nor of the pool, may be
// left; each test looks by itself, so that a leak has a name.
func serve(t *testing.T, handle func(c net.Conn, br *bufio.Reader)) *server {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{lis: lis}
	s.ended.Go(func() {
		for {
			c, err := lis.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, c)
			s.mu.Unlock()
			s.ended.Go(func() {
				defer c.Close()
				handle(c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		lis.Close()
		s.mu.Lock()
		for _, c := range s.conns {
			c.Close()
		}
		s.mu.Unlock()
		s.ended.Wait()
	})
	return s
}

// pool is a pool of connections to the server, over TLS if config is not nil.
func (s *server) pool(t *testing.T, config *tls.Config) *h1.Pool {
	t.Helper()
	p := &h1.Pool{Dial: func(ctx context.Context) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.lis.Addr().String())
		if err != nil {
			return nil, err
		}
		s.dials.Add(1)
		if config == nil {
			return c, nil
		}
		secure := tls.Client(c, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		return secure, nil
	}}
	t.Cleanup(p.CloseIdle)
	return p
}

// certificates are a server's and its client's configuration.
func certificates(t *testing.T) (ours, theirs *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	client, _ := s.Client().Transport.(*http.Transport)
	theirs = client.TLSClientConfig.Clone()
	theirs.ServerName = "example.com"
	return &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS12}, theirs
}

// take reads one request whole.
func take(br *bufio.Reader) (body []byte, ok bool) {
	r, err := http.ReadRequest(br)
	if err != nil {
		return nil, false
	}
	body, err = io.ReadAll(r.Body)
	return body, err == nil
}

func post(body []byte) *h1.Request {
	return &h1.Request{
		Method: http.MethodPost, Target: "/v1/chat?a=b", Host: "provider.example",
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body,
	}
}

// fetch sends a request and reads the answer to its end.
func fetch(ctx context.Context, p *h1.Pool, body []byte) (status int, answer string, err error) {
	resp, err := p.Do(ctx, post(body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// wants fails the test unless a request gets the answer "fine".
func wants(t *testing.T, p *h1.Pool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if status, answer, err := fetch(ctx, p, []byte("{}")); err != nil || status != 200 || answer != "fine" {
		t.Fatalf("%d %q %v", status, answer, err)
	}
}

// timedOut tells what the gateway takes for a time limit.
func timedOut(err error) bool {
	var limit interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &limit) && limit.Timeout()
}
