package dataplane

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// raw is a request as text, with the test's key.
func raw(path, headers, body string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + gwtest.Key + "\r\n" + headers + "\r\n" + body
}

// last sends a request as text and gives the status, and whether the answer says
// that it is the last on its connection.
func last(t *testing.T, s *gwtest.Server, text string) (status int, closes bool) {
	t.Helper()
	conn := rawConn(t, s)
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, resp.Close
}

// TestOP_5_smuggling: what two servers could read as two different requests is
// refused, or is the last on its connection.
func TestOP_5_smuggling(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.StartWith(t, gwtest.Config{Admin: true, Documents: []string{fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a")}})
	const path = "/v1/chat/completions"
	body := gwtest.Chat("gpt-5", false)
	n, chunks := len(body), fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	hidden := "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		text   string
		status int
	}{
		"length and chunks":             {raw(path, fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n", n), chunks), 200},
		"length 0 and chunks":           {raw(path, "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", chunks), 200},
		"two lengths":                   {raw(path, fmt.Sprintf("Content-Length: %d\r\nContent-Length: 0\r\n", n), body), 400},
		"a list of lengths":             {raw(path, fmt.Sprintf("Content-Length: %d, %d\r\n", n, n), body), 400},
		"a length with a sign":          {raw(path, fmt.Sprintf("Content-Length: +%d\r\n", n), body), 400},
		"encoded twice":                 {raw(path, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunks), 501},
		"another encoding":              {raw(path, "Transfer-Encoding: chunked, identity\r\n", chunks), 501},
		"a space before the colon":      {raw(path, "Transfer-Encoding : chunked\r\n", chunks), 400},
		"a CR alone in a header":        {raw(path, fmt.Sprintf("X-A: a\rContent-Length: 0\r\nContent-Length: %d\r\n", n), body), 400},
		"a LF alone in a chunk":         {raw(path, "Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x\n%s\r\n0\r\n\r\n", n, body)), 400},
		"a LF alone after an extension": {raw(path, "Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x;a\n%s\r\n0\r\n\r\n", n, body)), 400},
		"a chunk longer than it says":   {raw(path, "Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x\r\n%sXX0\r\n\r\n", n, body)), 400},
		"a chunk of 2^64 bytes":         {raw(path, "Transfer-Encoding: chunked\r\n", "10000000000000000\r\n"+body+"\r\n0\r\n\r\n"), 400},
		"two hosts":                     {raw(path, "Host: y\r\nContent-Length: 0\r\n", ""), 400},
		"HTTP/1.0 with chunks":          {strings.Replace(raw(path, "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n", chunks), "HTTP/1.1", "HTTP/1.0", 1), 400},
		"HTTP/2 without TLS":            {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 404},
	} {
		conn := rawConn(t, gw)
		if _, err := io.WriteString(conn, c.text+hidden); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(conn)
		got := readAnswer(t, r)
		if got.Status != c.status {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
		// What follows may cost the connection, and never is an answer.
		rest, _ := io.ReadAll(r)
		if bytes.Contains(rest, []byte("HTTP/1.")) {
			t.Errorf("%s: the hidden request was answered: %s", name, rest)
		}
	}
	chunks = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", 2, "{}")
	admin := strings.Replace(raw("/api/v1/import", "Content-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n", chunks), gwtest.Key, gwtest.AdminToken, 1)
	if status, closes := last(t, gw, admin); status != 400 || !closes {
		t.Errorf("the admin API: %d, closes %t", status, closes)
	}
	if n := fake.Requests(); n != 2 {
		t.Errorf("the provider got %d requests", n)
	}
}

// TestOP_5_pipelined requests are answered in order, one after the other.
func TestOP_5_pipelined(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.Start(t, fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	body := gwtest.Chat("gpt-5", false)
	conn := rawConn(t, gw)
	if _, err := io.WriteString(conn, strings.Repeat(raw("/v1/chat/completions", fmt.Sprintf("Content-Length: %d\r\n", len(body)), body), 20)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	for i := range 20 {
		if got := readAnswer(t, r); got.Status != 200 {
			t.Fatalf("answer %d: %d %s", i, got.Status, got.Body)
		}
	}
}

// TestOP_5_expect_100: who waits for it before the body gets it, and a wrong key
// gets its answer instead.
func TestOP_5_expect_100(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.Start(t, fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	body := gwtest.Chat("gpt-5", false)
	text := raw("/v1/chat/completions", fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d\r\n", len(body)), "")
	conn := rawConn(t, gw)
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	if line, err := r.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("%q %v", line, err)
	}
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	if got := readAnswer(t, r); got.Status != 200 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if status, closes := last(t, gw, strings.Replace(text, gwtest.Key, "ilk_wrong_wrong_wrong_wrong", 1)); status != 401 || !closes {
		t.Errorf("a wrong key: %d, closes %t", status, closes)
	}
}

// TestOP_5_half_a_body_for_nobody: an answer that needs no body does not wait for
// one, and the connection ends soon.
func TestOP_5_half_a_body_for_nobody(t *testing.T) {
	gw := gwtest.StartWith(t, gwtest.Config{Admin: true})
	for _, c := range []struct {
		line   string
		status int
	}{
		{"POST /nowhere", 404},
		{"PUT /v1/chat/completions", 405},
		{"GET /healthz", 200},
		{"GET /readyz", 200},
		{"GET /", 200},
		{"POST /v1/models", 405},
		{"GET /v1/models", 200},
		{"POST /api/v1/import", 401},
		{"GET /api/v1/me", 401},
		{"POST /api/v1/nowhere", 404},
		{"PUT /api/v1/me", 405},
	} {
		for _, length := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
			began := time.Now()
			status, closes := last(t, gw, c.line+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+gwtest.Key+"\r\n"+length+"\r\n\r\n{")
			if status != c.status || !closes || time.Since(began) > 3*time.Second {
				t.Errorf("%s, %s: %d, closes %t, after %v", c.line, length, status, closes, time.Since(began))
			}
		}
	}
	t.Run("an administrator", func(t *testing.T) {
		status, closes := last(t, gw, "GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+gwtest.AdminToken+"\r\nContent-Length: 100\r\n\r\n{")
		if status != 200 || !closes {
			t.Errorf("%d, closes %t", status, closes)
		}
		conn := rawConn(t, gw)
		r := bufio.NewReader(conn)
		for range 2 { // a body that was read costs no connection
			fmt.Fprintf(conn, "POST /api/v1/import HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", gwtest.AdminToken)
			if got := readAnswer(t, r); got.Status != 400 {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		}
	})
}

// TestOP_5_RQ_CANCEL_half_closed: a client that closes its side still reads. It
// counts as one that left, and must not take that for an answer.
func TestOP_5_RQ_CANCEL_half_closed(t *testing.T) {
	slow := newGate(t, func(http.ResponseWriter, *http.Request) {})
	gw := gwtest.Start(t, slow.Anthropic("a"), slow.OpenAI("b"), gwtest.Route("claude", `"claude-*"`, "a"), gwtest.Route("gpt", `"gpt-*"`, "b"))
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		conn := rawConn(t, gw)
		body := endpointBody(t, e, endpointModel(t, e.Format))
		if _, err := io.WriteString(conn, raw(e.Paths[0], fmt.Sprintf("Content-Length: %d\r\n", len(body)), body)); err != nil {
			t.Fatal(err)
		}
		await(t, slow.arrived, "the request at the provider")
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, readAnswer(t, bufio.NewReader(conn)), e.Format, 499, "client_closed_request")
	})
}

// TestOP_5_headers: what anybody may send has limits of its own.
func TestOP_5_headers(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.Start(t, fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	body := gwtest.Chat("gpt-5", false)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	var many, lf strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, "X-%d: a\r\n", i)
		fmt.Fprintf(&lf, "X-%d: a\n", i)
	}
	for name, c := range map[string]struct {
		headers string
		status  int
	}{
		"100 lines":      {strings.Join(strings.SplitAfterN(many.String(), "\n", 101)[:100], ""), 200},
		"10,000 lines":   {many.String(), 431},
		"with LF alone":  {lf.String(), 431},
		"100 KB":         {"X-A: " + strings.Repeat("a", 100_000) + "\r\n", 200},
		"a megabyte":     {"X-A: " + strings.Repeat("a", 1<<20) + "\r\n", 431},
		"without an end": {"X-A: " + strings.Repeat("a", 200_000), 431},
	} {
		conn := rawConn(t, gw)
		_, _ = io.WriteString(conn, raw("/v1/chat/completions", c.headers+length, body)) // it may be cut off on the way
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			if c.status != 431 {
				t.Errorf("%s: %v", name, err)
			}
			continue // unread bytes may take the answer back
		}
		if resp.StatusCode != c.status {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
		resp.Body.Close()
	}
}

// TestOP_5_one_connection_counts_each_request: the lines of many requests on one
// connection, and of their bodies, are not added up.
func TestOP_5_one_connection_counts_each_request(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.Start(t, fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	body := strings.Repeat("\n", 3000) + gwtest.Chat("gpt-5", false)
	conn := rawConn(t, gw)
	r := bufio.NewReader(conn)
	for i := range 50 {
		if _, err := io.WriteString(conn, raw("/v1/chat/completions", strings.Repeat("X-A: b\r\n", 50)+"X-B: "+strings.Repeat("b", 20_000)+"\r\n"+fmt.Sprintf("Content-Length: %d\r\n", len(body)), body)); err != nil {
			t.Fatal(err)
		}
		if got := readAnswer(t, r); got.Status != 200 {
			t.Fatalf("request %d: %d %s", i, got.Status, got.Body)
		}
	}
}

// TestOP_5_idle_connections_make_room: they are closed when there are many, and
// new ones are served.
func TestOP_5_idle_connections_make_room(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.StartWith(t, gwtest.Config{
		Settings:  "server: {listen: 127.0.0.1:0, drainSeconds: 5, maxInFlight: 1}", // 1,002 connections
		Documents: []string{fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a")},
	})
	for range 2_000 {
		conn := rawConn(t, gw)
		if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v %v", resp, err)
		}
	}
	if got := gw.Post(t, "/v1/chat/completions", gwtest.Chat("gpt-5", false)); got.Status != 200 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestOP_5_too_many_connections: one too many is told so at once, and there is
// room again when others have gone.
func TestOP_5_too_many_connections(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.StartWith(t, gwtest.Config{
		Settings:  "server: {listen: 127.0.0.1:0, drainSeconds: 5, maxInFlight: 1}",
		Documents: []string{fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a")},
	})
	var conns []net.Conn
	for range 1_002 {
		conns = append(conns, rawConn(t, gw))
	}
	var last string
	eventually(t, 4*time.Second, "one too many", func() bool { // those before it may not be accepted yet
		conn := rawConn(t, gw)
		_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n")
		_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		b, _ := io.ReadAll(conn)
		last = string(b)
		return len(b) > 0
	})
	if !strings.HasPrefix(last, "HTTP/1.1 503 ") || !strings.Contains(last, "\r\nRetry-After: 1\r\n") || !strings.Contains(last, `"gateway_overloaded"`) {
		t.Errorf("%q", last)
	}
	for _, c := range conns {
		_ = c.Close()
	}
	eventually(t, 5*time.Second, "there is room", func() bool {
		resp, err := gw.Client.Do(gw.Request(t, "POST", "/v1/chat/completions", gwtest.Chat("gpt-5", false)))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == 200
	})
	eventually(t, 5*time.Second, "connections are kept again", func() bool {
		resp, err := gw.Client.Do(gw.Request(t, "GET", "/healthz", ""))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return !resp.Close
	})
}
