package dataplane

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// spellings are error events of compatible vendors, by format. The official
// SDKs pass over each, and take the end of the stream behind it for a good one.
func spellings(f llm.Format) map[string]string {
	switch f {
	case llm.AnthropicMessages:
		return map[string]string{
			"data_only":       `data: {"type":"error","error":{"type":"overloaded_error","message":"their own words"}}` + "\n\n",
			"zai_data_only":   `data: {"error":{"code":"1310","message":"their own words"},"request_id":"r"}` + "\n\n",
			"event_message":   "event: message\n" + `data: {"error":{"message":"their own words"}}` + "\n\n",
			"text":            `data: {"error":"their own words"}` + "\n\n",
			"zai_with_a_name": "event: error\n" + `data: {"error":{"code":"1310","message":"their own words"},"request_id":"r"}` + "\n\n",
		}
	case llm.OpenAIChat:
		return map[string]string{
			"openrouter_choice": `data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"their own words"}}]}` + "\n\n",
			"flat":              "event: error\n" + `data: {"message":"their own words","code":500}` + "\n\n",
			"vllm":              `data: {"object":"error","message":"their own words","type":"BadRequestError","param":null,"code":400}` + "\n\n",
			"text":              `data: {"error":"their own words"}` + "\n\n",
		}
	}
	return nil
}

// TestRQ_STREAM_1_spellings_of_errors: an error that a provider writes in
// another way reaches clients in the one that their SDKs raise: after content
// as the format's event, before it as a status and a body.
func TestRQ_STREAM_1_spellings_of_errors(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		whole := recordedStream(t, d)
		at := strings.Index(whole, "alpha")
		at += strings.Index(whole[at:], "\n\n") + 2
		for name, raw := range spellings(d.format) {
			t.Run(name, func(t *testing.T) {
				gw := serve(t, d.provider(paced(t, false, step{0, whole[:at] + raw}), "first"), d.route("first"))
				got := gw.Post(t, d.path, d.ask(true))
				if e := d.wantBroken(t, got); e.Message != "their own words" {
					t.Errorf("message %q", e.Message)
				}
				if !strings.HasPrefix(got.Body, whole[:at]) {
					t.Errorf("%q", got.Body)
				}
				wantSDKError(t, d, gw)

				gw = serve(t, d.provider(paced(t, false, step{0, raw}), "first"), d.route("first"))
				got = gw.Post(t, d.path, d.ask(true))
				if got.Status < 400 || got.Header.Get("Content-Type") != "application/json" {
					t.Errorf("before content: %d %v %s", got.Status, got.Header, got.Body)
				}
				if e := d.mustError(t, got.Body); e.Message != "their own words" {
					t.Errorf("before content: message %q", e.Message)
				}
			})
		}
	})
}

// wantSDKError asks with the official SDK, which must raise an error.
func wantSDKError(t *testing.T, d *dialect, gw *gwtest.Server) {
	t.Helper()
	var err error
	if d.format == llm.AnthropicMessages {
		c := newClaude(gw)
		_, err = claudeStream(&c, claudeParams())
		if e, ok := errors.AsType[*anthropic.Error](err); !ok || e.Message != "their own words" {
			t.Errorf("the SDK's error is %T %v", err, err)
		}
		return
	}
	c := newGPT(gw)
	_, err = gptStream(&c, gptParams())
	if e, ok := errors.AsType[*ssestream.StreamError](err); !ok || !strings.Contains(e.Error(), "their own words") {
		t.Errorf("the SDK's error is %T %v", err, err)
	}
}

// TestRT_FO_1_a_choice_that_failed: chapter 60 §2.11. OpenRouter answers 200
// with the error in a choice; another member serves.
func TestRT_FO_1_a_choice_that_failed(t *testing.T) {
	d := dialects()[1]
	for name, choice := range map[string]string{
		"its_error":     `{"index":0,"message":{"role":"assistant","content":"half"},"error":{"code":502,"message":"their own words"},"finish_reason":null}`,
		"finish_reason": `{"index":0,"message":{"role":"assistant","content":"half"},"finish_reason":"error"}`,
	} {
		t.Run(name, func(t *testing.T) {
			broken := scriptedProvider(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"id":"x","object":"chat.completion","choices":[`+choice+`],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
			})
			good := gwtest.NewFake(t)
			good.Rules(t, fakellm.Rule{Reply: says("beta")})
			gw := serve(t, d.provider(broken.URL, "first"), d.provider(good.URL, "second"), d.route("first", "second"))
			got := gw.Post(t, d.path, d.ask(false))
			d.wantWhole(t, got, false, saidBy("beta"))
			wantHeaders(t, got.Header, "second", 2)

			gw = serve(t, d.provider(broken.URL, "first"), d.route("first"))
			got = gw.Post(t, d.path, d.ask(false))
			if got.Status != 502 {
				t.Errorf("alone: %d %s", got.Status, got.Body)
			}
			if e := d.mustError(t, got.Body); name == "its_error" && e.Message != "their own words" {
				t.Errorf("alone: message %q", e.Message)
			}
		})
	}
}

// TestRT_FO_1_events_without_content: events that hold nothing of the answer
// are held back like those that announce it, so another member still serves.
func TestRT_FO_1_events_without_content(t *testing.T) {
	d := dialects()[0]
	event := func(name, rest string) string {
		return "event: " + name + "\ndata: {\"type\":\"" + name + "\"," + rest + "}\n\n"
	}
	begin := event("message_start", `"message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":0}}`) +
		event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`)
	overloaded := event("error", `"error":{"type":"overloaded_error","message":"busy"}`)
	for name, empty := range map[string]string{
		"an_empty_delta":             event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":""}`),
		"the_stop_of_an_empty_block": event("content_block_stop", `"index":0`),
		"usage_only":                 event("message_delta", `"delta":{"stop_reason":null,"stop_sequence":null},"usage":{"output_tokens":0}`),
	} {
		t.Run(name, func(t *testing.T) {
			good := gwtest.NewFake(t)
			good.Rules(t, fakellm.Rule{Reply: says("beta")})
			gw := serve(t, d.provider(paced(t, false, step{0, begin + empty + overloaded}), "first"), d.provider(good.URL, "second"), d.route("first", "second"))
			got := gw.Post(t, d.path, d.ask(true))
			d.wantWhole(t, got, true, saidBy("beta"))
			wantHeaders(t, got.Header, "second", 2)
		})
	}
	t.Run("an_answer_that_is_empty_is_served", func(t *testing.T) {
		whole := begin + event("content_block_stop", `"index":0`) +
			event("message_delta", `"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}`) + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
		gw := serve(t, d.provider(paced(t, false, step{0, whole}), "first"), d.route("first"))
		if got := gw.Post(t, d.path, d.ask(true)); got.Status != 200 || got.Body != whole {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	})
}
