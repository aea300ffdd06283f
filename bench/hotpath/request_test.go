package hotpath

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/gateway"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/state"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/upstream"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// provider listens on loopback and gives every request the same answer. It
// allocates nothing once a connection runs, so that what is measured is the
// gateway's and its transport's. It returns the base URL.
func provider(tb testing.TB, answer []byte) string {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c, answer)
		}
	}()
	return "http://" + l.Addr().String() + "/v1"
}

func serve(c net.Conn, answer []byte) {
	defer c.Close()
	buf, held := make([]byte, 1<<20), 0
	for {
		n, err := c.Read(buf[held:])
		if err != nil {
			return
		}
		held += n
		if end := requestEnd(buf[:held]); end > 0 && held >= end {
			held = copy(buf, buf[end:held])
			if _, err := c.Write(answer); err != nil {
				return
			}
		}
	}
}

// requestEnd is where the first request in b ends; 0 if its head is not whole.
func requestEnd(b []byte) int {
	head := bytes.Index(b, []byte("\r\n\r\n"))
	if head < 0 {
		return 0
	}
	const name = "\r\nContent-Length: "
	size := 0
	if i := bytes.Index(b[:head], []byte(name)); i >= 0 {
		for _, d := range b[i+len(name) : head] {
			if d < '0' || d > '9' {
				break
			}
			size = size*10 + int(d-'0')
		}
	}
	return head + 4 + size
}

// clientHeaders are those of a client that speaks through an SDK.
func clientHeaders(size int) http.Header {
	return http.Header{
		"Authorization": {"Bearer " + gwtest.Key}, "Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(size)}, "Accept": {"application/json"},
		"User-Agent": {"OpenAI/Python 2.8.0"}, "X-Stainless-Lang": {"python"}, "X-Stainless-Os": {"Linux"}, "X-Stainless-Retry-Count": {"0"}, "Thread-Id": {"0199e2b4-77f1-7c33-a5a5-1d2a64c0ffee"},
	}
}

func dialWorks() []work {
	// The transport has no seam for a test, and should have none: this is the
	// header, the request and the round trip over loopback.
	return []work{{"upstream/headers-and-round-trip", func(tb testing.TB) func() {
		target, text := compile(tb, provider(tb, plainAnswer())).Targets["p00"], body(tb, 512, false)
		call := &upstream.Call{Endpoint: chatEndpoint(tb), Header: clientHeaders(len(text)), Body: upstream.NewPayload(text, nil)}
		return func() {
			resp, err := target.Send(tb.Context(), call)
			if err != nil {
				tb.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				tb.Fatal(err)
			}
			resp.Body.Close()
		}
	}}}
}

func requestWorks() []work {
	return []work{
		{"request/0.5KB", serves(512, false, plainAnswer())},
		{"request/10KB", serves(10_000, false, plainAnswer())},
		{"request/200KB", serves(200_000, false, plainAnswer())},
		{"request/stream-50-chunks", serves(512, true, streamAnswer(50))},
	}
}

// serves makes the step of a whole request through the gateway's handler, with
// the provider behind it and what a client's connection would be replaced.
func serves(size int, stream bool, answer []byte) func(tb testing.TB) func() {
	return func(tb testing.TB) func() {
		tb.Helper()
		live := compile(tb, provider(tb, answer))
		board := state.NewBoard(state.Options{Settings: state.DefaultSettings()})
		line, recorded := make([]byte, 0, 8192), 0
		g := gateway.New(gateway.Options{
			Live: func() *snapshot.Live { return live }, Formats: formats.All(), Board: board, Pins: state.NewPins(nil, 1000),
			Record: func(r *audit.Record) error {
				line, recorded = r.AppendJSON(line[:0]), recorded+1
				return nil
			},
		})
		text := body(tb, size, stream)
		w := &writer{header: http.Header{}}
		r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, chatEndpoint(tb).Paths[0], nil)
		if err != nil {
			tb.Fatal(err)
		}
		r.Header, r.ContentLength, r.RequestURI, r.RemoteAddr = clientHeaders(len(text)), int64(len(text)), r.URL.Path, "127.0.0.1:50000"
		reader := bytes.NewReader(text)
		r.Body = io.NopCloser(reader)
		return func() {
			reader.Reset(text)
			clear(w.header)
			w.status, w.n = 0, 0
			before := recorded
			g.ServeHTTP(w, r)
			if w.status != http.StatusOK || w.n < 300 || recorded != before+1 {
				tb.Fatalf("status %d, %d bytes, %d records; the last is %s", w.status, w.n, recorded-before, line)
			}
		}
	}
}

// writer is a client that takes everything and keeps nothing. It has what the
// gateway asks of a connection.
type writer struct {
	header    http.Header
	status, n int
}

func (w *writer) Header() http.Header              { return w.header }
func (w *writer) WriteHeader(status int)           { w.status = status }
func (w *writer) Write(p []byte) (int, error)      { w.n += len(p); return len(p), nil }
func (w *writer) Flush()                           {}
func (w *writer) SetReadDeadline(time.Time) error  { return nil }
func (w *writer) SetWriteDeadline(time.Time) error { return nil }
func (w *writer) EnableFullDuplex() error          { return nil }
