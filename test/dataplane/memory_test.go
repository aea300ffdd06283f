package dataplane

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/gateway"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// bulky makes a request body longer by n bytes of a member that nobody knows.
func bulky(body string, n int) string {
	return strings.TrimSuffix(body, "}") + `,"padding":"` + strings.Repeat("x", n) + `"}`
}

// TestER_LOAD_OP_5_no_room_for_a_body: it is refused at once, in the client's
// format; small ones pass, and there is room again afterwards.
func TestER_LOAD_OP_5_no_room_for_a_body(t *testing.T) {
	slow := newGate(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true}`)
	})
	quick := gwtest.NewFake(t)
	s, _ := serveWith(t, gateway.Options{BodyMemory: 2 << 20}, slow.OpenAI("slow"), gwtest.Route("slow-route", "gpt-slow", "slow"),
		quick.Anthropic("a"), quick.OpenAI("b"), gwtest.Route("claude", `"claude-*"`, "a"), gwtest.Route("gpt", `"gpt-*"`, "b"))
	done := make(chan gwtest.Answer, 1)
	go func() {
		done <- s.Post(t, "/v1/chat/completions", bulky(gwtest.Chat("gpt-slow", false), 900_000))
	}()
	await(t, slow.arrived, "the large request")
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		small := endpointBody(t, e, endpointModel(t, e.Format))
		for name, req := range map[string]*http.Request{
			"declared": s.Request(t, "POST", e.Paths[0], bulky(small, 900_000)),
			"gzip":     s.Request(t, "POST", e.Paths[0], asGzip(t, bulky(small, 900_000)), "Content-Encoding: gzip"),
			"chunked":  chunked(t, s, e, bulky(small, 900_000)),
		} {
			got := s.Send(t, req)
			wantRefusal(t, got, e.Format, 503, "gateway_overloaded")
			if got.Header.Get("Retry-After") != "1" || got.Header.Get("X-Should-Retry") == "false" {
				t.Errorf("%s: %v", name, got.Header)
			}
		}
		if got := s.Post(t, e.Paths[0], small); got.Status != 200 {
			t.Errorf("a small one: %d %s", got.Status, got.Body)
		}
	})
	close(slow.release)
	if got := await(t, done, "the large request's answer"); got.Status != 200 {
		t.Errorf("the one that fitted: %d %s", got.Status, got.Body)
	}
	eventually(t, 5*time.Second, "there is room again", func() bool {
		return s.Post(t, "/v1/chat/completions", bulky(gwtest.Chat("gpt-5", false), 900_000)).Status == 200
	})
}

func chunked(t *testing.T, s *gwtest.Server, e *llm.Endpoint, body string) *http.Request {
	t.Helper()
	req := s.Request(t, "POST", e.Paths[0], "")
	req.Body, req.ContentLength, req.GetBody = io.NopCloser(strings.NewReader(body)), -1, nil
	return req
}

// TestOP_5_a_stream_gives_its_request_back: once content was sent nobody is
// asked again, and an answer may take an hour.
func TestOP_5_a_stream_gives_its_request_back(t *testing.T) {
	for _, alias := range []string{"", "modelAliases: {gpt-5: gpt-5-wire}"} {
		fake := gwtest.NewFake(t)
		fake.Rules(t, fakellm.Rule{Action: fakellm.ActionStall, After: 3})
		s, _ := serveWith(t, gateway.Options{BodyMemory: 4 << 20}, fake.OpenAI("a", alias), gwtest.Route("r", "gpt-5", "a"))
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 8 { // two would fill it
			req := s.Request(t, "POST", "/v1/chat/completions", bulky(gwtest.Chat("gpt-5", true), 900_000)).WithContext(ctx)
			resp, err := s.Client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != 200 {
				t.Fatalf("stream %d: %d", i, resp.StatusCode)
			}
			if _, err := io.ReadAtLeast(resp.Body, make([]byte, 4<<10), 10); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
	}
}

// TestOP_5_no_room_for_an_answer: the gateway refuses, in the client's format,
// and blames no provider.
func TestOP_5_no_room_for_an_answer(t *testing.T) {
	answer := `{"choices":[],"padding":"` + strings.Repeat("x", 3<<20) + `"}`
	for _, declared := range []bool{true, false} {
		big := scriptedProvider(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if declared {
				w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
			}
			_, _ = io.WriteString(w, answer)
		})
		s, _ := serveWith(t, gateway.Options{BodyMemory: 2 << 20}, big.Anthropic("a"), big.OpenAI("b"), big.Anthropic("c"), big.OpenAI("d"),
			gwtest.Route("claude", `"claude-*"`, "a", "c"), gwtest.Route("gpt", `"gpt-*"`, "b", "d"))
		eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
			got := s.Post(t, e.Paths[0], endpointBody(t, e, endpointModel(t, e.Format)))
			wantRefusal(t, got, e.Format, 503, "gateway_overloaded")
			if got.Header.Get("Retry-After") != "1" || got.Header.Get("X-Interlock-Attempts") != "1" {
				t.Errorf("%v", got.Header)
			}
		})
	}
}

// TestOP_5_a_window_of_zstd_is_counted: twenty bytes may ask for one of many
// megabytes.
func TestOP_5_a_window_of_zstd_is_counted(t *testing.T) {
	fake := gwtest.NewFake(t)
	s, _ := serveWith(t, gateway.Options{BodyMemory: 6 << 20}, fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	for _, c := range []struct{ window, status int }{{1 << 20, 200}, {4 << 20, 200}, {8 << 20, 503}, {32 << 20, 503}, {128 << 20, 413}} {
		got := s.Post(t, "/v1/chat/completions", windowed(t, gwtest.Chat("gpt-5", false), c.window), "Content-Encoding: zstd")
		if got.Status != c.status {
			t.Errorf("a window of %d MiB: %d %s", c.window>>20, got.Status, got.Body)
		}
	}
}

// windowed compresses with a window of n bytes, whatever the length.
func windowed(t *testing.T, body string, n int) string {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithWindowSize(n), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{body[:1], body[1:]} { // what is written in parts has no length in its frame
		if _, err := io.WriteString(z, part); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOP_5_nobody_reads_before_a_configuration_is_loaded: nobody can be
// authenticated then, so nothing large is read and nothing slow is waited for.
func TestOP_5_nobody_reads_before_a_configuration_is_loaded(t *testing.T) {
	g := gateway.New(gateway.Options{Formats: formats.All(), Live: func() *snapshot.Live { return nil }})
	srv := httptest.NewServer(g)
	t.Cleanup(srv.Close) // after the connections of the test
	s := &gwtest.Server{URL: srv.URL, Client: srv.Client()}
	if got := s.Post(t, "/v1/chat/completions", gwtest.Chat("gpt-5", false)); got.Status != 400 || !strings.Contains(got.Body, "gpt-5") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	for _, length := range []string{"Content-Length: 30000000", "Transfer-Encoding: chunked", "Content-Length: 100"} {
		began := time.Now()
		got := rawExchange(t, s, fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n{", length))
		if got.Status != 400 || !strings.Contains(got.Body, "MODEL_DENIED") || time.Since(began) > 10*time.Second {
			t.Errorf("%s: %d %s after %v", length, got.Status, got.Body, time.Since(began))
		}
		if g.InFlight() != 0 {
			t.Errorf("%s: it is still counted", length)
		}
	}
}
