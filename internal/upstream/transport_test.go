package upstream_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/upstream"
	"github.com/interlock-gateway/interlock/internal/upstream/drivers"
)

// both runs a test through each of the two transports: a provider with http2 is
// reached by net/http's, also where the server speaks HTTP/1.1 only.
func both(t *testing.T, run func(t *testing.T, http2 bool)) {
	t.Helper()
	for name, http2 := range map[string]bool{"h1": false, "net/http": true} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() { goleak.VerifyNone(t) })
			run(t, http2)
		})
	}
}

// listen handles each connection; what is left ends with the test.
func listen(t *testing.T, handle func(c net.Conn, br *bufio.Reader)) string {
	t.Helper()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := lis.Accept()
			if err != nil {
				return
			}
			stop := context.AfterFunc(t.Context(), func() { c.Close() })
			all.Go(func() {
				defer stop()
				defer c.Close()
				handle(c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() { lis.Close(); all.Wait() })
	return lis.Addr().String()
}

// target is a provider at a base URL. ca is trusted, if there is one.
func target(t *testing.T, p *resource.Provider, ca []byte) *upstream.Target {
	t.Helper()
	all, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	p.Name, p.Type = "p", resource.TypeOpenAICompatible
	v, err := all.ForProvider(string(p.Type), "")
	if err != nil {
		t.Fatal(err)
	}
	d, _ := drivers.ByType(p.Type)
	out, err := upstream.New(upstream.Options{
		Provider: p, Driver: d, Vendor: v, APIKey: secret.New("sk-test-key"),
		ReadFile: func(string) ([]byte, error) { return ca, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.CloseIdle)
	return out
}

func send(ctx context.Context, t *upstream.Target, body []byte) (*http.Response, error) {
	payload := upstream.NewPayload(body, nil)
	defer payload.Release()
	return t.Send(ctx, &upstream.Call{
		Endpoint: &llm.Endpoint{ID: llm.ChatCompletions, Method: http.MethodPost},
		Header:   http.Header{"Accept": {"application/json"}, "X-Request-Id": {"1", "2"}, "Cookie": {"no"}}, Body: payload,
	})
}

// What a server gets is the same, whoever sends it.
func TestTransports_send_the_same(t *testing.T) {
	for _, base := range []string{
		"http://HOST", "http://HOST/", "http://HOST/v1", "http://HOST/a%2Fb/c%20d", "http://HOST//x", "http://HOST/ü/a b", "http://localhost:PORT/v1",
	} {
		sizes := []int{10}
		if base == "http://HOST" {
			sizes = []int{0, 10, 20_000, 3 << 20}
		}
		for _, n := range sizes {
			t.Run(fmt.Sprint(base, n), func(t *testing.T) {
				var got []string
				both(t, func(t *testing.T, http2 bool) {
					seen := make(chan string, 1)
					host := listen(t, func(c net.Conn, br *bufio.Reader) {
						r, err := http.ReadRequest(br)
						if err != nil {
							return
						}
						b, _ := io.ReadAll(r.Body)
						_, port, _ := net.SplitHostPort(c.LocalAddr().String())
						seen <- fmt.Sprint(r.Method, r.RequestURI, strings.ReplaceAll(r.Host, port, "PORT"), r.Header, r.ContentLength, r.TransferEncoding, r.Close, len(b), bytes.Count(b, []byte("x")))
						_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
					})
					_, port, _ := net.SplitHostPort(host)
					url := strings.NewReplacer("HOST", host, "PORT", port).Replace(base)
					resp, err := send(t.Context(), target(t, &resource.Provider{BaseURL: url, HTTP2: http2}, nil), bytes.Repeat([]byte("x"), n))
					if err != nil {
						t.Fatal(err)
					}
					if b, err := io.ReadAll(resp.Body); string(b) != "ok" || err != nil {
						t.Errorf("%q %v", b, err)
					}
					resp.Body.Close()
					got = append(got, <-seen)
				})
				if len(got) == 2 && got[0] != got[1] {
					t.Errorf("\n%s\n%s", got[0], got[1])
				}
			})
		}
	}
}

// RT-FO-NET, RT-FO-TIME: what an attempt ended in does not depend on the
// transport.
func TestTransports_fail_the_same(t *testing.T) {
	says := func(text string) func(net.Conn, *bufio.Reader) {
		return func(c net.Conn, br *bufio.Reader) {
			if r, err := http.ReadRequest(br); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(c, text)
			}
		}
	}
	quiet := func(net.Conn, *bufio.Reader) {}
	short := 100
	for name, c := range map[string]struct {
		handle func(net.Conn, *bufio.Reader)
		stalls bool // it neither reads nor closes then
		https  bool
		body   int
		want   failure.Category
	}{
		"closed without an answer": {handle: quiet, want: failure.Connection},
		"closed during a body":     {handle: quiet, body: 32 << 20, want: failure.Connection},
		"half a head":              {handle: says("HTTP/1.1 200 OK\r\nX"), want: failure.Connection},
		"half a body":              {handle: says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), want: failure.Connection},
		"half a chunk":             {handle: says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"), want: failure.Connection},
		"no chunk":                 {handle: says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhalf"), want: failure.Connection},
		"rubbish":                  {handle: says("rubbish\r\n\r\n"), want: failure.Connection},
		"rubbish during a body": {handle: func(c net.Conn, _ *bufio.Reader) {
			_, _ = io.WriteString(c, "rubbish\r\n\r\n")
		}, stalls: true, body: 32 << 20, want: failure.Connection},
		"an encoding nobody wanted": {handle: says("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nok"), want: failure.Connection},
		"http where https is":       {https: true, handle: func(c net.Conn, _ *bufio.Reader) { _, _ = io.WriteString(c, "HTTP/1.0 400 Bad\r\n\r\n") }, want: failure.Connection},
		"closed in the handshake":   {https: true, handle: quiet, want: failure.Connection},
		"silent in the handshake":   {https: true, handle: func(_ net.Conn, br *bufio.Reader) { _, _ = io.Copy(io.Discard, br) }, want: failure.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, http2 bool) {
				p := &resource.Provider{BaseURL: "http://" + listen(t, func(nc net.Conn, br *bufio.Reader) {
					if c.handle(nc, br); c.stalls {
						<-t.Context().Done()
					}
				}), HTTP2: http2}
				if c.https {
					p.BaseURL = strings.Replace(p.BaseURL, "http", "https", 1)
				}
				if c.want == failure.Timeout {
					p.Timeouts = &resource.Timeouts{ConnectMs: &short}
				}
				if got := category(t, target(t, p, nil), make([]byte, c.body)); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			})
		})
	}
}

// category is what the gateway makes of an attempt; empty if there is an answer.
func category(t *testing.T, to *upstream.Target, body []byte) failure.Category {
	t.Helper()
	resp, err := send(t.Context(), to, body)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		return ""
	}
	t.Log(err)
	return failure.FromTransport(err, false).Category
}

// Certificates are looked at by both, and what the server wants of a client is
// no answer.
func TestTransports_TLS(t *testing.T) {
	for name, c := range map[string]struct {
		trusted bool
		host    string
		client  tls.ClientAuthType
		max     uint16
		want    failure.Category
	}{
		"trusted":              {trusted: true, host: "127.0.0.1", want: ""},
		"trusted in 1.2":       {trusted: true, host: "127.0.0.1", max: tls.VersionTLS12, want: ""},
		"of nobody":            {host: "127.0.0.1", want: failure.Connection},
		"of another host":      {trusted: true, host: "localhost", want: failure.Connection},
		"of the client":        {trusted: true, host: "127.0.0.1", client: tls.RequireAnyClientCert, want: failure.Connection},
		"of the client in 1.2": {trusted: true, host: "127.0.0.1", client: tls.RequireAnyClientCert, max: tls.VersionTLS12, want: failure.Connection},
		"in 1.1":               {trusted: true, host: "127.0.0.1", max: tls.VersionTLS11, want: failure.Connection},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, http2 bool) {
				s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					_, _ = io.WriteString(w, "ok")
				}))
				s.TLS = &tls.Config{ClientAuth: c.client, MinVersion: tls.VersionTLS10, MaxVersion: c.max}
				s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
				s.StartTLS()
				t.Cleanup(s.Close)
				ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
				p := &resource.Provider{BaseURL: strings.Replace(s.URL, "127.0.0.1", c.host, 1), HTTP2: http2}
				if c.trusted {
					p.CAFile = "ca.pem"
				}
				to := target(t, p, ca)
				for range 2 {
					if got := category(t, to, []byte("{}")); got != c.want {
						t.Errorf("%q, want %q", got, c.want)
					}
				}
			})
		})
	}
}

// A proxy gets what goes through it, and nothing goes past it.
func TestTransports_proxy(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	seen := make(chan string, 1)
	proxy := listen(t, func(c net.Conn, br *bufio.Reader) {
		if r, err := http.ReadRequest(br); err == nil {
			seen <- r.RequestURI
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	to := target(t, &resource.Provider{BaseURL: "http://provider.internal/v1", ProxyURL: "http://" + proxy}, nil)
	if got := category(t, to, []byte("{}")); got != "" {
		t.Fatal(got)
	}
	if got := <-seen; got != "http://provider.internal/v1/chat/completions" {
		t.Error(got)
	}
}

// The end of a context is told with its cause.
func TestTransports_cancel(t *testing.T) {
	reason := errors.New("the client left")
	for name, answer := range map[string]string{"head": "", "body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart"} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, http2 bool) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				host := listen(t, func(c net.Conn, br *bufio.Reader) {
					_, _ = http.ReadRequest(br)
					if _, _ = io.WriteString(c, answer); answer == "" {
						cancel(reason)
					}
					_, _ = io.Copy(io.Discard, br)
				})
				resp, err := send(ctx, target(t, &resource.Provider{BaseURL: "http://" + host, HTTP2: http2}, nil), []byte("{}"))
				if err == nil {
					cancel(reason)
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				if !errors.Is(err, reason) {
					t.Error(err)
				}
			})
		})
	}
}
