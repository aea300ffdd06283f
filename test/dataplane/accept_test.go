package dataplane

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// duo is a gateway with one fake provider for each format that is built:
// claude-* goes to one, gpt-* to the other.
type duo struct {
	*gwtest.Server
	claude, gpt *gwtest.Fake
}

// startDuo starts a duo; the lines are added to the configuration file and
// the documents to the resources.
func startDuo(t *testing.T, settings string, more ...string) *duo {
	t.Helper()
	p := &duo{claude: gwtest.NewFake(t), gpt: gwtest.NewFake(t)}
	p.Server = gwtest.StartWith(t, gwtest.Config{Settings: settings, Documents: append(more,
		p.claude.Anthropic("claude-home"), gwtest.Route("claude", `"claude-*"`, "claude-home"),
		p.gpt.OpenAI("gpt-home"), gwtest.Route("gpt", `"gpt-*"`, "gpt-home"))})
	return p
}

// fake is the provider that serves a format.
func (p *duo) fake(f llm.Format) *gwtest.Fake {
	if f == llm.AnthropicMessages {
		return p.claude
	}
	return p.gpt
}

// contacted counts what both providers received so far.
func (p *duo) contacted() int64 { return p.claude.Requests() + p.gpt.Requests() }

// endpointModel is a model that a duo serves in a format.
func endpointModel(t *testing.T, f llm.Format) string {
	t.Helper()
	switch f {
	case llm.AnthropicMessages:
		return "claude-test"
	case llm.OpenAIChat, llm.OpenAIResponses:
		return "gpt-test"
	}
	t.Fatalf("no test model for the format %s: add one", f)
	return ""
}

// endpointBody is a small good body for an endpoint.
func endpointBody(t *testing.T, e *llm.Endpoint, model string) string {
	t.Helper()
	switch e.ID {
	case llm.Messages:
		return gwtest.Message(model, false)
	case llm.CountTokens:
		return `{"model":` + strconv.Quote(model) + `,"messages":[{"role":"user","content":"hi"}]}`
	case llm.ChatCompletions:
		return gwtest.Chat(model, false)
	case llm.Responses:
		return `{"model":` + strconv.Quote(model) + `,"input":"hi","stream":false}`
	case llm.Embeddings:
		return `{"model":` + strconv.Quote(model) + `,"input":"hi"}`
	}
	t.Fatalf("no test body for the endpoint %s: add one", e.ID)
	return ""
}

// eachEndpoint runs a test for every endpoint that is built, on its main path.
func eachEndpoint(t *testing.T, f func(t *testing.T, e *llm.Endpoint)) {
	t.Helper()
	for _, e := range formats.Endpoints() {
		t.Run(string(e.ID), func(t *testing.T) { f(t, e) })
	}
}

// endpointError is what a client of any format reads from an error body.
type endpointError struct{ Type, Code, Message string }

// readEndpointError reads an error body strictly in the shape of a format.
func readEndpointError(t *testing.T, f llm.Format, body string) endpointError {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(body))
	dec.DisallowUnknownFields()
	switch f {
	case llm.AnthropicMessages:
		var v struct {
			Type      string
			Error     endpointError
			RequestID string `json:"request_id"`
		}
		if err := dec.Decode(&v); err != nil || v.Type != "error" || len(v.RequestID) != 26 {
			t.Errorf("not an Anthropic error (%v): %s", err, body)
		}
		return v.Error
	case llm.OpenAIChat, llm.OpenAIResponses:
		var v struct {
			Error struct {
				endpointError
				Param *string
			}
		}
		if err := dec.Decode(&v); err != nil || v.Error.Param != nil {
			t.Errorf("not an OpenAI error (%v): %s", err, body)
		}
		return v.Error.endpointError
	case llm.Gemini:
		var v struct {
			Error struct {
				Code            int
				Status, Message string
				Details         []struct{ Reason string }
			}
		}
		if err := dec.Decode(&v); err != nil || v.Error.Code < 400 || len(v.Error.Details) != 1 {
			t.Fatalf("not a Gemini error (%v): %s", err, body)
		}
		return endpointError{Type: v.Error.Status, Code: v.Error.Details[0].Reason, Message: v.Error.Message}
	}
	t.Fatalf("no error shape for the format %s: add one", f)
	return endpointError{}
}

// wantRefusal checks a refusal that the gateway made: status, code, shape, and
// the headers that go with it.
func wantRefusal(t *testing.T, got gwtest.Answer, f llm.Format, status int, code string) endpointError {
	t.Helper()
	if got.Status != status {
		t.Errorf("status %d, want %d: %s", got.Status, status, got.Body)
	}
	if ct := got.Header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("content type %q", ct)
	}
	if cl := got.Header.Get("Content-Length"); cl != strconv.Itoa(len(got.Body)) {
		t.Errorf("content length %q of a body of %d bytes", cl, len(got.Body))
	}
	e := readEndpointError(t, f, got.Body)
	if e.Code != code || !strings.Contains(e.Message, code) {
		t.Errorf("code %q, want %q in it and in the message %q", e.Code, code, e.Message)
	}
	if h := got.Header.Get("X-Interlock-Error"); h != code {
		t.Errorf("x-interlock-error %q, want %q", h, code)
	}
	id := got.Header.Get("X-Interlock-Request-Id")
	own := map[llm.Format]string{llm.AnthropicMessages: "Request-Id", llm.OpenAIChat: "X-Request-Id", llm.OpenAIResponses: "X-Request-Id", llm.Gemini: "X-Request-Id"}[f]
	if len(id) != 26 || got.Header.Get(own) != id {
		t.Errorf("x-interlock-request-id %q, %s %q", id, own, got.Header.Get(own))
	}
	if e.Type == "" {
		t.Error("the error has no type")
	}
	return e
}

// gate is a provider that a test holds in its hands: each request it receives
// is announced, and answered when the test says so. Other than fakellm it can
// wait between two events for the test itself.
type gate struct {
	gwtest.Fake
	arrived chan *http.Request
	release chan struct{}
}

// newGate starts a gate; answer writes the answer after the release.
func newGate(t *testing.T, answer http.HandlerFunc) *gate {
	t.Helper()
	g := &gate{arrived: make(chan *http.Request, 64), release: make(chan struct{})}
	g.URL = scriptedProvider(t, func(w http.ResponseWriter, r *http.Request) {
		g.arrived <- r
		select {
		case <-g.release:
			answer(w, r)
		case <-r.Context().Done():
		}
	}).URL
	return g
}

// scriptedProvider is a provider that a test writes itself.
func scriptedProvider(t *testing.T, h http.HandlerFunc) *gwtest.Fake {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		h(w, r)
	}))
	t.Cleanup(srv.Close)
	return &gwtest.Fake{URL: srv.URL}
}

// await receives or fails: nothing in these tests takes longer than a moment.
func await[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatalf("waited too long for %s", what)
	}
	panic("unreachable")
}

// rawConn is a TCP connection to the gateway, for what net/http's client does
// not send.
func rawConn(t *testing.T, s *gwtest.Server) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// rawExchange sends text as it is and reads one answer.
func rawExchange(t *testing.T, s *gwtest.Server, text string) gwtest.Answer {
	t.Helper()
	conn := rawConn(t, s)
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return readAnswer(t, bufio.NewReader(conn))
}

func readAnswer(t *testing.T, r *bufio.Reader) gwtest.Answer {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatalf("read an answer: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return gwtest.Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(body), Err: err}
}

func asGzip(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func asZlib(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	packInto(t, zlib.NewWriter(&b), body)
	return b.String()
}

func asFlate(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	packInto(t, z, body)
	return b.String()
}

func packInto(t *testing.T, z io.WriteCloser, body string) {
	t.Helper()
	if _, err := io.WriteString(z, body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

func asZstd(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(z, body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// paddedBody makes a good body of exactly n bytes.
func paddedBody(t *testing.T, e *llm.Endpoint, n int) string {
	t.Helper()
	body := endpointBody(t, e, endpointModel(t, e.Format))
	body = strings.TrimSuffix(body, "}") + `,"user_note":"`
	if n < len(body)+2 {
		t.Fatalf("%d bytes are too few", n)
	}
	return body + strings.Repeat("x", n-len(body)-2) + `"}`
}

// withoutLength makes a request carry its body without a length.
func withoutLength(r *http.Request) *http.Request {
	r.ContentLength = -1
	return r
}

const smallLimit = 4096

func startSmall(t *testing.T) *duo {
	t.Helper()
	return startDuo(t, "server: {listen: 127.0.0.1:0, drainSeconds: 5, maxBodyBytes: 4096}")
}

func TestER_SIZE_body_over_the_limit(t *testing.T) {
	gw := startSmall(t)
	bomb := strings.Repeat(" ", 8<<20)
	gz, zs := asGzip(t, bomb), asZstd(t, bomb)
	// bodies are made once: compressing is slow under the race detector.
	bombs := []struct{ name, encoding, body string }{
		{"RQ-1_gzip_bomb", "gzip", gz},
		{"RQ-1_zstd_bomb", "zstd", zs},
		{"RQ-1_zstd_bomb_in_one_frame", "zstd", oneFrame(t, bomb)},
		{"RQ-1_zstd_bomb_that_says_a_gigabyte", "zstd", "\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x40\x01\x00\x00"},
		{"RQ-1_zstd_bomb_that_says_32_MB", "zstd", "\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x02\x01\x00\x00"},
		{"RQ-1_bomb_in_a_bomb", "gzip, gzip", asGzip(t, gz)},
		{"RQ-1_bomb_in_two_formats", "gzip, zstd", asZstd(t, gz)},
		{"RQ-1_gzip_in_capital_letters", "GZIP", gz},
	}
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		over := paddedBody(t, e, smallLimit+1)
		reqs := map[string]*http.Request{
			"declared":  gw.Request(t, "POST", e.Paths[0], over),
			"chunked":   withoutLength(gw.Request(t, "POST", e.Paths[0], over)),
			"identity":  gw.Request(t, "POST", e.Paths[0], over, "Content-Encoding: identity"),
			"RQ-1_gzip": gw.Request(t, "POST", e.Paths[0], asGzip(t, over), "Content-Encoding: gzip"),
			"RQ-1_zstd": gw.Request(t, "POST", e.Paths[0], asZstd(t, over), "Content-Encoding: zstd"),
		}
		for _, b := range bombs {
			reqs[b.name] = gw.Request(t, "POST", e.Paths[0], b.body, "Content-Encoding: "+b.encoding)
			reqs[b.name+"_chunked"] = withoutLength(gw.Request(t, "POST", e.Paths[0], b.body, "Content-Encoding: "+b.encoding))
		}
		for name, req := range reqs {
			t.Run(name, func(t *testing.T) {
				got := gw.Send(t, req)
				err := wantRefusal(t, got, e.Format, 413, "request_too_large")
				if !strings.Contains(err.Message, "4096") || !strings.Contains(err.Message, "server.maxBodyBytes") {
					t.Errorf("the message does not name the limit: %s", err.Message)
				}
				if got.Header.Get("X-Should-Retry") != "false" {
					t.Error("a client would try the same body again")
				}
			})
		}
	})
	if n := gw.contacted(); n != 0 {
		t.Errorf("a provider was contacted %d times", n)
	}
}

func TestER_SIZE_endless_body_that_decodes_to_nothing(t *testing.T) {
	gw := startSmall(t)
	nothing := asGzip(t, "")
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		pr, pw := io.Pipe()
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				if _, err := io.WriteString(pw, strings.Repeat(nothing, 100)); err != nil {
					return
				}
			}
		}()
		req := gw.Request(t, "POST", e.Paths[0], "", "Content-Encoding: gzip")
		req.Body = pr
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		wantRefusal(t, gw.Send(t, withoutLength(req).WithContext(ctx)), e.Format, 413, "request_too_large")
		_ = pr.Close()
		await(t, stopped, "the end of the upload")
	})
}

// oneFrame compresses with the size of the content in the frame's header.
func oneFrame(t *testing.T, body string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithSingleSegment(true), zstd.WithWindowSize(zstd.MaxWindowSize))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return string(z.EncodeAll([]byte(body), nil))
}

func TestRQ_1_body_at_the_limit(t *testing.T) {
	gw := startSmall(t)
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		body := paddedBody(t, e, smallLimit)
		for name, req := range map[string]*http.Request{
			"declared":     gw.Request(t, "POST", e.Paths[0], body),
			"chunked":      withoutLength(gw.Request(t, "POST", e.Paths[0], body)),
			"gzip":         gw.Request(t, "POST", e.Paths[0], asGzip(t, body), "Content-Encoding: gzip"),
			"zstd":         gw.Request(t, "POST", e.Paths[0], asZstd(t, body), "Content-Encoding: zstd"),
			"gzip_chunked": withoutLength(gw.Request(t, "POST", e.Paths[0], asGzip(t, body), "Content-Encoding: gzip")),
			"gzip_in_zstd": gw.Request(t, "POST", e.Paths[0], asZstd(t, asGzip(t, body)), "Content-Encoding: gzip, zstd"),
			"two_lines":    gw.Request(t, "POST", e.Paths[0], asZstd(t, asGzip(t, body)), "Content-Encoding: gzip", "Content-Encoding: zstd"),
		} {
			t.Run(name, func(t *testing.T) {
				fake := gw.fake(e.Format)
				fake.Reset()
				if got := gw.Send(t, req); got.Status != 200 {
					t.Fatalf("%d %s", got.Status, got.Body)
				}
				if recs := fake.Records(); len(recs) != 1 || string(recs[0].Raw) != body {
					t.Errorf("%d requests, or the body changed", len(recs))
				}
			})
		}
	})
}

func TestR41_body_of_20_MB(t *testing.T) {
	gw := startDuo(t, "")
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		body := paddedBody(t, e, 20<<20)
		got := gw.Post(t, e.Paths[0], body)
		recs := gw.fake(e.Format).Records()
		if got.Status != 200 || string(recs[len(recs)-1].Raw) != body {
			t.Errorf("%d, or the body changed", got.Status)
		}
	})
	t.Run("ER-SIZE_33_MB_with_the_default_limit", func(t *testing.T) {
		e := formats.Endpoints()[0]
		err := wantRefusal(t, gw.Post(t, e.Paths[0], paddedBody(t, e, 33<<20)), e.Format, 413, "request_too_large")
		if !strings.Contains(err.Message, "33554432") {
			t.Error(err.Message)
		}
	})
}

func TestRQ_1_encodings_that_are_not_taken(t *testing.T) {
	gw := startDuo(t, "")
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		body := endpointBody(t, e, endpointModel(t, e.Format))
		gz, zs := asGzip(t, body), asZstd(t, body)
		for _, c := range []struct{ name, encoding, body, names string }{
			{"brotli", "br", body, `"br"`},
			{"deflate", "deflate", body, `"deflate"`},
			{"unknown", "rot13", body, `"rot13"`},
			{"known_then_unknown", "gzip, br", gz, `"br"`},
			{"plain_text_as_gzip", "gzip", body, "gzip"},
			{"plain_text_as_zstd", "zstd", body, "zstd"},
			{"gzip_as_zstd", "zstd", gz, "zstd"},
			{"cut_gzip", "gzip", gz[:len(gz)-9], "gzip"},
			{"cut_zstd", "zstd", zs[:len(zs)-3], "zstd"},
			{"gzip_with_a_wrong_checksum", "gzip", gz[:len(gz)-8] + "\x00\x00\x00\x00" + gz[len(gz)-4:], "gzip"},
			{"gzip_with_rubbish_behind", "gzip", gz + "rubbish", "gzip"},
			{"empty_gzip", "gzip", "", "gzip"},
			{"three_times", "gzip, gzip, gzip", asGzip(t, asGzip(t, gz)), "twice"},
		} {
			t.Run(c.name, func(t *testing.T) {
				err := wantRefusal(t, gw.Post(t, e.Paths[0], c.body, "Content-Encoding: "+c.encoding), e.Format, 400, "invalid_request")
				if !strings.Contains(err.Message, c.names) {
					t.Errorf("the message does not name %s: %s", c.names, err.Message)
				}
			})
		}
	})
	if n := gw.contacted(); n != 0 {
		t.Errorf("a provider was contacted %d times", n)
	}
}

func TestRQ_1_body_that_ends_early(t *testing.T) {
	gw := startDuo(t, "")
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		conn := rawConn(t, gw.Server)
		text := "POST " + e.Paths[0] + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + gwtest.Key + "\r\nContent-Length: 500\r\n\r\n" +
			endpointBody(t, e, endpointModel(t, e.Format))
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, readAnswer(t, bufio.NewReader(conn)), e.Format, 400, "invalid_request")
	})
	if n := gw.contacted(); n != 0 {
		t.Errorf("a provider was contacted %d times", n)
	}
}

func TestER_LOAD_too_many_in_flight(t *testing.T) {
	slow := newGate(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true}`)
	})
	gw := gwtest.StartWith(t, gwtest.Config{
		Settings: "server: {listen: 127.0.0.1:0, drainSeconds: 5, maxInFlight: 2}",
		Documents: []string{
			slow.Anthropic("a"), slow.OpenAI("b"),
			gwtest.Route("claude", `"claude-*"`, "a"), gwtest.Route("gpt", `"gpt-*"`, "b"),
		},
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // one too many would wait for ever
	defer cancel()
	send := func(e *llm.Endpoint) gwtest.Answer {
		return gw.Send(t, gw.Request(t, "POST", e.Paths[0], endpointBody(t, e, endpointModel(t, e.Format))).WithContext(ctx))
	}
	done := make(chan gwtest.Answer, 2)
	for range 2 {
		go func() { done <- send(formats.Endpoints()[0]) }()
	}
	await(t, slow.arrived, "the first request")
	await(t, slow.arrived, "the second request")
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		got := send(e)
		wantRefusal(t, got, e.Format, 503, "gateway_overloaded")
		if ra := got.Header.Get("Retry-After"); ra != "1" {
			t.Errorf("retry-after %q", ra)
		}
		if got.Header.Get("X-Should-Retry") == "false" {
			t.Error("the client is told not to try again")
		}
	})
	t.Run("what_is_no_model_call_is_served", func(t *testing.T) {
		for _, path := range []string{"/healthz", "/readyz", "/v1/models"} {
			if got := gw.Do(t, "GET", path, ""); got.Status != 200 {
				t.Errorf("%s: %d", path, got.Status)
			}
		}
	})
	close(slow.release)
	for range 2 {
		if got := await(t, done, "a request that was running"); got.Status != 200 {
			t.Errorf("a running request was harmed: %d %s", got.Status, got.Body)
		}
	}
	t.Run("there_is_room_again", func(t *testing.T) {
		if got := send(formats.Endpoints()[0]); got.Status != 200 {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	})
}

// TestRQ_503 drives faults that are not the caller's: agents log out at 401
// and 403, so none of them may have these.
func TestRQ_503_no_fault_of_ours_is_401_or_403(t *testing.T) {
	gone := gwtest.NewFake(t)
	fake := gwtest.NewFake(t)
	keyless := func(typ, name string) string {
		return "kind: Provider\nname: " + name + "\ntype: " + typ + "\nbaseUrl: " + fake.URL
	}
	gw := gwtest.Start(t,
		gone.Anthropic("down-a"), gone.OpenAI("down-o"), gwtest.Route("down-claude", `"claude-down"`, "down-a"), gwtest.Route("down-gpt", `"gpt-down"`, "down-o"),
		fake.Anthropic("up-a"), fake.OpenAI("up-o"), gwtest.Route("claude", `"claude-*"`, "up-a"), gwtest.Route("gpt", `"gpt-*"`, "up-o"),
		keyless("anthropic", "nokey-a"), keyless("openai", "nokey-o"),
		gwtest.Route("nokey-claude", `"claude-nokey"`, "nokey-a"), gwtest.Route("nokey-gpt", `"gpt-nokey"`, "nokey-o"),
		gwtest.Route("wrong-format", `"claude-as-gpt"`, "up-o"), gwtest.Route("wrong-format-2", `"gpt-as-claude"`, "up-a"),
		"kind: Route\nname: empty\nmodelPatterns: [claude-off, gpt-off]\nenabled: false\nmembers: [{provider: up-a}]",
		fake.Anthropic("drained-a", "drained: true"), fake.OpenAI("drained-o", "drained: true"),
		gwtest.Route("drained-claude", `"claude-drained"`, "drained-a"), gwtest.Route("drained-gpt", `"gpt-drained"`, "drained-o"))
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		family := strings.TrimSuffix(endpointModel(t, e.Format), "test")
		for _, c := range []struct {
			name, model string
			rule        fakellm.Rule
			status      int
		}{
			{"a_provider_is_down", "down", fakellm.Rule{}, 502},
			{"no_route", "x-unknown", fakellm.Rule{}, 503},
			{"the_provider_has_no_key", "nokey", fakellm.Rule{}, 503},
			{"every_member_is_drained", "drained", fakellm.Rule{}, 503},
			{"our_key_is_refused_with_401", "test", fakellm.Rule{Action: "status", Status: 401}, 502},
			{"our_key_is_refused_with_403", "test", fakellm.Rule{Action: "status", Status: 403}, 502},
			{"a_page_instead_of_an_answer", "test", fakellm.Rule{Action: "status", Status: 200, Shape: "html"}, 502},
			{"the_connection_is_reset", "test", fakellm.Rule{Action: "reset"}, 502},
		} {
			t.Run(c.name, func(t *testing.T) {
				fake.Rules(t, c.rule)
				model := family + c.model
				if c.model == "x-unknown" {
					model = c.model
				}
				got := gw.Post(t, e.Paths[0], endpointBody(t, e, model))
				if got.Status == 401 || got.Status == 403 || got.Status != c.status {
					t.Errorf("%d, want %d: %s", got.Status, c.status, got.Body)
				}
				readEndpointError(t, e.Format, got.Body)
			})
		}
	})
}
