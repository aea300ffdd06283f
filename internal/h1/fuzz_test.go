package h1_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/h1"
)

// outcome is what a caller can see of an answer.
type outcome struct {
	failed  bool // there was no head
	reason  string
	status  string
	length  int64
	header  string
	body    string
	trailer string
	cut     bool // the body broke off
	close   bool // what the head says of the connection
}

// sender is one of the two: ours and that of net/http.
type sender func(ctx context.Context) (*http.Response, error)

func (send sender) outcome(ctx context.Context) outcome {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	resp, err := send(ctx)
	if ctx.Err() != nil {
		return outcome{failed: true, reason: "for ever"}
	}
	if err != nil {
		return outcome{failed: true, reason: err.Error()}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return outcome{
		status: fmt.Sprint(resp.StatusCode, " ", resp.Status, " ", resp.Proto), length: resp.ContentLength,
		header: lines(resp.Header), body: string(b), trailer: lines(resp.Trailer), cut: err != nil, close: resp.Close,
	}
}

func lines(h http.Header) string {
	var out strings.Builder
	for _, k := range slices.Sorted(maps.Keys(h)) {
		fmt.Fprintf(&out, "%q: %q\n", k, h[k])
	}
	return out.String()
}

// stage is a server that answers the first request with some bytes, and each
// later one, on whatever connection, with "fine".
type stage struct {
	lis    net.Listener
	answer []byte
	hangUp bool
	dials  int
	ends   []net.Conn
}

func (s *stage) dial(ctx context.Context) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.lis.Addr().String())
	if err != nil {
		return nil, err
	}
	there, err := s.lis.Accept()
	if err != nil {
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // thousands a second: the system has no more ports
	}
	s.dials++
	s.ends = append(s.ends, c, there)
	first := s.dials == 1
	go func() {
		for br := bufio.NewReader(there); ; first = false {
			if _, ok := take(br); !ok {
				return
			}
			text := []byte(fine)
			if first {
				text = s.answer
			}
			_, _ = there.Write(text)
			if first && s.hangUp {
				there.Close()
				return
			}
		}
	}()
	return c, nil
}

func (s *stage) close() {
	for _, c := range s.ends {
		c.Close()
	}
}

func ours(s *stage) sender {
	p := &h1.Pool{Dial: s.dial}
	return func(ctx context.Context) (*http.Response, error) { return p.Do(ctx, post([]byte("{}"))) }
}

func theirs(s *stage) sender {
	t := &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return s.dial(ctx) },
		DisableCompression: true, MaxResponseHeaderBytes: 1 << 20,
	}
	return func(ctx context.Context) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://provider.example/v1/chat?a=b", io.NopCloser(strings.NewReader("{}")))
		if err != nil {
			return nil, err
		}
		r.ContentLength = 2
		return t.RoundTrip(r)
	}
}

// rest is how many bytes follow the first answer; -1 if it never ends.
func rest(answer []byte) int {
	all := bytes.NewReader(answer)
	br := bufio.NewReader(all)
	for {
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			return -1
		}
		if resp.StatusCode >= 100 && resp.StatusCode < 200 {
			continue
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return -1
		}
		resp.Body.Close()
		return br.Buffered() + all.Len()
	}
}

func seeds() []string {
	chunks := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
	return []string{
		fine, "", "\r\n", "HTTP/1.1", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nto the end", "SSH-2.0-x\r\n\r\n",
		"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.0 200 OK\r\n" + chunks[17:] + "\r\n0\r\n\r\n",
		"HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/0.9 200 OK\r\n\r\nok", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 -10 Odd\r\n\r\n", "HTTP/1.1 +20 Odd\r\n\r\n", "HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 204 No\r\n\r\n", "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 304 Not\r\nContent-Length: 9\r\n\r\n",
		"HTTP/1.1 100 Go\r\n\r\n" + fine, "HTTP/1.1 103 Hints\r\nLink: x\r\nContent-Length: 3\r\n\r\n" + fine, "HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nraw", "HTTP/1.1 101 Switch\r\n\r\n" + fine,
		strings.Repeat("HTTP/1.1 100 Go\r\n\r\n", 5) + fine, strings.Repeat("HTTP/1.1 100 Go\r\n\r\n", 6) + fine,
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nConnection: Keep-Alive, CLOSE\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut",
		chunks + "\r\n2\r\nok\r\n0\r\n\r\n", chunks + "Trailer: X-T\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n", chunks + "\r\n2;ext=1\r\nok\r\n00\r\n\r\n", chunks + "\r\n2\r\nokk\r\n0\r\n\r\n", chunks + "\r\nzz\r\nok\r\n0\r\n\r\n",
		chunks + "\r\n2\r\nok\r\n", chunks + "\r\n2\r\nok\r\n0\r\n", chunks + "\r\nffffffffffffffffff\r\nok", chunks + "\r\n-2\r\nok\r\n0\r\n\r\n", chunks + "\r\n2\nok\n0\n\n", chunks + "Content-Length: 1\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		chunks + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 204 No\r\n" + chunks[17:] + "\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n X: fold\r\n\r\n", "HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nX\x00: a\r\n\r\n", "HTTP/1.1 200 OK\r\nX : a\r\n\r\n", "HTTP/1.1 200 OK\r\n: a\r\n\r\n",
		"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "HTTP/1.1  200  OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nPragma: no-cache\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 17_000) + "\r\nContent-Length: 0\r\n\r\n",
		fine + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen", fine + "\r\n", chunks + "\r\n0\r\n\r\n\r\n", "HTTP/1.1 204 No\r\n\r\n" + fine, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" + fine,
		"HTTP/1.1 200 OK\r\nContent-Length: 17000\r\n\r\n" + strings.Repeat("y", 17_000), chunks + "\r\n4400\r\n" + strings.Repeat("z", 0x4400) + "\r\n0\r\n\r\n" + fine,
	}
}

// FuzzAnswer gives the same bytes to our transport and to that of net/http: the
// caller sees the same, and a connection is used again by both or by neither.
func FuzzAnswer(f *testing.F) {
	lis, err := (&net.ListenConfig{}).Listen(f.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { lis.Close() })
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if len(answer) > 100_000 {
			return // more than the system takes in one piece
		}
		a, b := &stage{lis: lis, answer: answer, hangUp: true}, &stage{lis: lis, answer: answer, hangUp: true}
		defer a.close()
		defer b.close()
		one, two := ours(a).outcome(t.Context()), theirs(b).outcome(t.Context())
		switch {
		case strings.Contains(one.reason, "switched protocols"), strings.Contains(one.reason, "too many interim"):
			return // stricter on purpose
		case one.reason == "for ever" || two.reason == "for ever":
			t.Fatalf("ours:   %+v\ntheirs: %+v", one, two)
		case one.failed && two.failed:
			return
		case one != two:
			t.Fatalf("ours:   %+v\ntheirs: %+v", one, two)
		}
		if !one.close && !one.cut {
			again(t, lis, answer)
		}
	})
}

// again looks at the connection after an answer that needs no end of it.
func again(t *testing.T, lis net.Listener, answer []byte) {
	t.Helper()
	a, b := &stage{lis: lis, answer: answer}, &stage{lis: lis, answer: answer}
	defer a.close()
	defer b.close()
	send := ours(a)
	first := send.outcome(t.Context())
	if second := send.outcome(t.Context()); second.body != "fine" {
		t.Fatalf("after %+v the next request got %+v", first, second)
	}
	if n := rest(answer); n != 0 {
		if a.dials != 2 {
			t.Fatalf("a connection with %d bytes on it was used again", n)
		}
		return // net/http sees them when it sees them
	}
	send = theirs(b)
	_, _ = send.outcome(t.Context()), send.outcome(t.Context())
	if a.dials != b.dials && !bytes.Contains(answer, []byte("HTTP/1.0")) {
		t.Fatalf("%d connections, net/http has %d, after %+v", a.dials, b.dials, first)
	}
}
