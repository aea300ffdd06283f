package hotpath

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/load"
	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/feed"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/state"
	"github.com/interlock-gateway/interlock/internal/stats"
	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/openaichat"
)

// body is a chat request of about size bytes.
func body(tb testing.TB, size int, stream bool) []byte {
	tb.Helper()
	b, err := load.ChatBody(load.OpenAI, asked, size, stream)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func readsEnvelope(size int) func(tb testing.TB) func() {
	return func(tb testing.TB) func() {
		tb.Helper()
		known, text := openaichat.New().Known, body(tb, size, false)
		var e wire.Envelope
		return func() {
			if err := wire.ReadEnvelope(&e, text, known, true); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

func wireWorks() []work {
	return []work{
		{"envelope/0.5KB", readsEnvelope(512)},
		{"envelope/10KB", readsEnvelope(10_000)},
		{"envelope/200KB", readsEnvelope(200_000)},
		{"session/header", func(testing.TB) func() {
			var e wire.Envelope
			h := map[string][]string{"User-Agent": {"agent"}, "Thread-Id": {"0199e2b4-77f1-7c33-a5a5-1d2a64c0ffee"}}
			return func() { wire.SessionHash(wire.SessionID(h, &e)) }
		}},
		{"session/body", func(tb testing.TB) func() {
			text := `{"model":"m","metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"0199e2b4-77f1-7c33-a5a5-1d2a64c0ffee\"}"},"messages":[]}`
			var e wire.Envelope
			if err := wire.ReadEnvelope(&e, []byte(text), openaichat.New().Known, true); err != nil {
				tb.Fatal(err)
			}
			if wire.SessionID(nil, &e) == "" {
				tb.Fatal("no session in the body")
			}
			return func() { wire.SessionHash(wire.SessionID(nil, &e)) }
		}},
	}
}

// record is of a request that was served by its second member.
func record() *audit.Record {
	return &audit.Record{
		Kind: audit.KindRequest, Time: time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC), RequestID: "01M8PWPPSDPD9QXG9CHKAC9V0J",
		Outcome: audit.OutcomeAllow, Status: 200, Caller: audit.Caller{Key: "ci", Team: "platform", Source: "service"},
		Endpoint: "chat_completions", ClientFormat: "openai-chat", Stream: true, RequestedModel: asked, ServedModel: "gpt-4o-mini-2026", WireModel: "gpt-4o-mini-2026",
		RouteName: "r00049", Provider: "p00", Residency: "eu", Strategy: "failover", StrategyReason: "first in order", Credential: "own",
		Attempts: []audit.Attempt{
			{Provider: "p09", WireModel: "gpt-4o-mini-2026", Outcome: audit.OutcomeError, Category: "rate_limit", Status: 429, Duration: audit.Millis(20 * time.Millisecond)},
			{Provider: "p00", WireModel: "gpt-4o-mini-2026", Outcome: audit.OutcomeAllow, Status: 200, Start: audit.Millis(21 * time.Millisecond), Duration: audit.Millis(900 * time.Millisecond)},
		},
		Usage: llm.Usage{Input: 1200, CachedRead: 800, Output: 300}, TTFT: audit.Millis(120500 * time.Microsecond), Duration: audit.Millis(921 * time.Millisecond), ConfigVersion: 42,
	}
}

func recordWorks() []work {
	return []work{{"audit/append-json", func(testing.TB) func() {
		r, buf := record(), make([]byte, 0, 4096)
		return func() { buf = r.AppendJSON(buf[:0]) }
	}}, {"stats/add", func(testing.TB) func() {
		r, counts := record(), stats.New(stats.Options{})
		return func() { counts.Add(r) }
	}}, {"feed/publish-to-nobody", func(testing.TB) func() {
		hub := &feed.Hub{}
		return func() { hub.Publish(feed.Event{Kind: "health"}) }
	}}}
}

func stateWorks() []work {
	return []work{{"state/admit-done", func(tb testing.TB) func() {
		board := state.NewBoard(state.Options{Settings: state.DefaultSettings()})
		return func() {
			p, _, ok := board.Admit("p00", "gpt-4o-mini-2026", true, false)
			if !ok {
				tb.Fatal("not admitted")
			}
			p.Done(state.Outcome{Stream: true, Latency: 300 * time.Millisecond})
		}
	}}}
}

// answer is a whole HTTP answer of a provider.
func answer(contentType, text string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nX-Request-Id: req_1\r\nContent-Length: %d\r\n\r\n%s", contentType, len(text), text)
}

func plainAnswer() []byte {
	return answer("application/json", `{"id":"chatcmpl-1","object":"chat.completion","created":1800000000,"model":"gpt-4o-mini-2026","choices":[{"index":0,"message":{"role":"assistant","content":"`+
		strings.Repeat("All is well. ", 24)+`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":120,"completion_tokens":80,"total_tokens":200}}`)
}

func streamAnswer(chunks int) []byte {
	const chunk = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1800000000,"model":"gpt-4o-mini-2026","choices":[{"index":0,"delta":{"content":"All is well. "},"finish_reason":null}]}` + "\n\n"
	const last = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1800000000,"model":"gpt-4o-mini-2026","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	return answer("text/event-stream", strings.Repeat(chunk, chunks)+last)
}
