package anthropic_test

import (
	"os"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/anthropic"
	"github.com/interlock-gateway/interlock/internal/wire/wiretest"
)

func TestStreams_that_were_recorded(t *testing.T) {
	wiretest.Streams(t, anthropic.New(), os.DirFS("testdata"))
}

// event writes an event as the vendor does, with an event line.
func event(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }

const (
	start     = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"content\":[]}}\n\n"
	textBlock = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
	delta     = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n"
	stop      = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
)

// RQ-STREAM-1. Kinds are P for a preamble, C for content, F for a failure.
func TestStreamReader(t *testing.T) {
	block := func(content string) string {
		return event("content_block_start", `{"type":"content_block_start","index":0,"content_block":`+content+`}`)
	}
	deltaOf := func(delta string) string {
		return event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":`+delta+`}`)
	}
	blockStop := event("content_block_stop", `{"type":"content_block_stop","index":0}`)
	for _, c := range []struct {
		name, stream, kinds string
		complete            bool
	}{
		{"an answer from start to stop", start + textBlock + delta + stop, "PPCC", true},
		{"a stream without message_stop is cut", start + textBlock + delta, "PPC", false},
		{"a stop_reason does not replace message_stop", start + delta + event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`), "PCC", false},
		{"message_stop alone completes", start + stop, "PC", true},
		{"message_stop without data is not seen by clients and does not complete", start + delta + "event: message_stop\n\n", "PCP", false},

		{"message_start is a preamble", start, "P", false},
		{"a ping before content is a preamble", event("ping", `{"type": "ping"}`), "P", false},
		{"an empty text block is a preamble", textBlock, "P", false},
		{"an empty thinking block is a preamble", block(`{"type":"thinking","thinking":"","signature":""}`), "P", false},
		{"an empty block with spaces and other members is a preamble", block(` { "citations" : null , "text" : "" , "type" : "text" } `), "P", false},
		{"a text block with text is content", block(`{"type":"text","text":"hi"}`), "C", false},
		{"a thinking block with a signature is content", block(`{"type":"thinking","thinking":"","signature":"abc"}`), "C", false},
		{"a tool call is content", block(`{"type":"tool_use","id":"toolu_1","name":"f","input":{}}`), "C", false},
		{"a server tool call is content", block(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`), "C", false},
		{"redacted thinking is content", block(`{"type":"redacted_thinking","data":"EmwKAhgB"}`), "C", false},
		{"a block of an unknown type is content", block(`{"type":"hologram","text":""}`), "C", false},
		{"a tool call named text is content", block(`{"type":"tool_use","name":"text","input":{"text":""}}`), "C", false},
		{"a block start without a block is content", event("content_block_start", `{"type":"content_block_start"}`), "C", false},
		{"a block start that is not JSON is content", event("content_block_start", `{"content_block":`), "C", false},
		{"thinking deltas are content", event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`), "C", false},
		{"tool input is content", event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}`), "C", false},

		{"an empty text delta is a preamble", start + textBlock + deltaOf(`{"type":"text_delta","text":""}`), "PPP", false},
		{"an empty thinking delta is a preamble", deltaOf(`{"type":"thinking_delta","thinking":""}`), "P", false},
		{"an empty signature delta is a preamble", deltaOf(`{"signature":"", "type" : "signature_delta"}`), "P", false},
		{"a text delta with a space is content", deltaOf(`{"type":"text_delta","text":" "}`), "C", false},
		{"a signature delta is content", deltaOf(`{"type":"signature_delta","signature":"x"}`), "C", false},
		{"a citation is content", deltaOf(`{"type":"citations_delta","citation":{"cited_text":""}}`), "C", false},
		{"a delta of an unknown type is content", deltaOf(`{"type":"hologram_delta","text":""}`), "C", false},
		{"a delta without a type is content if it has text", deltaOf(`{"text":"hi"}`), "C", false},
		{"a delta that is not JSON is content", event("content_block_delta", `{"delta":`), "C", false},
		{"the stop of an empty block is a preamble", start + textBlock + blockStop, "PPP", false},
		{"the stop of a tool call is content", block(`{"type":"tool_use","id":"toolu_1","name":"f","input":{}}`) + blockStop, "CC", false},
		{"a message_delta with usage only is a preamble", start + event("message_delta", `{"type":"message_delta","delta":{"stop_reason":null,"stop_sequence":null},"usage":{"output_tokens":0}}`), "PP", false},
		{"a message_delta without a delta is a preamble", event("message_delta", `{"type":"message_delta","usage":{"output_tokens":0}}`), "P", false},
		{"a stop_reason is content", start + event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"refusal"}}`), "PC", false},
		{"a message_delta that is not JSON is content", event("message_delta", `{"delta":{`), "C", false},
		{"an answer that is empty is held to its stop_reason", start + textBlock + deltaOf(`{"type":"text_delta","text":""}`) + blockStop +
			event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`) + stop, "PPPPCC", true},
		{"an answer that is empty without a stop_reason is held to its end", start + textBlock + blockStop + stop, "PPPC", true},
		{"after the first content all is content", delta + deltaOf(`{"type":"text_delta","text":""}`) + textBlock + blockStop + event("ping", `{"type":"ping"}`) +
			event("message_delta", `{"type":"message_delta","delta":{}}`), "CCCCPC", false},

		{"an error event before content", start + event("error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), "PF", false},
		{"an error event after content", start + delta + event("error", `{"type":"error","error":{"type":"api_error","message":"x"}}`), "PCF", false},
		{"an error event first", event("error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), "F", false},
		{"an error event whose data is not JSON", event("error", `upstream connect error`), "F", false},
		{"an error event without data", "event: error\n\n", "F", false},
		{"an error of Z.ai, without a type", event("error", `{"error":{"code":"1310","message":"limit"},"request_id":"2026"}`), "F", false},
		{"an error of Z.ai, without a type and an event line", "data: {\"error\":{\"code\":\"1310\",\"message\":\"limit\"}}\n\n", "F", false},
		{"an error under the name of an unknown event", event("message", `{"error":{"message":"x"}}`), "F", false},
		{"an error without an event line", "data: {\"type\":\"error\",\"error\":{\"type\":\"api_error\"}}\n\n", "F", false},
		{"the word error in a text", start + event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"{\"type\":\"error\",\"error\":{}}"}}`), "PC", false},
		{"a null error in an unknown event", event("vendor_status", `{"type":"vendor_status","error":null}`), "C", false},
		{"an error deep inside an unknown event", event("vendor_status", `{"type":"vendor_status","last":{"error":{"a":1}}}`), "C", false},

		{"an unknown event passes as content", event("content_block_hint", `{"type":"content_block_hint"}`), "C", false},
		{"an unknown event that is not JSON passes", event("hint", `"error"`), "C", false},
		{"comments and blank lines before content", ": hello\n\n\n\n: again\n\n" + start, "P", false},
		{"an event line without data is not seen by clients", start + "event: content_block_delta\n\n", "PP", false},

		{"data-only events are read by their type", "data: {\"type\":\"message_start\"}\n\ndata: {\"type\":\"ping\"}\n\n" +
			"data: {\"index\":0,\"type\":\"content_block_delta\",\"delta\":{\"text\":\"\\\"error\\\"\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n", "PPCC", true},
		{"a data-only empty block", "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n", "P", false},
		{"an OpenAI terminator passes and completes nothing", start + delta + "data: [DONE]\n\n", "PCC", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := anthropic.New()
			for _, parts := range [][]string{{c.stream}, strings.Split(c.stream, "")} {
				got := wiretest.Read(t, wire.NewEventStream(nil), wiretest.Reader(t, f, `{"model":"m","stream":true}`), parts...)
				if got.Letters() != c.kinds || got.Complete != c.complete {
					t.Fatalf("kinds %s, complete %v; want %s, %v (cut as %q)", got.Letters(), got.Complete, c.kinds, c.complete, parts)
				}
			}
		})
	}
}

func TestIsError(t *testing.T) {
	for _, c := range []struct {
		name, body string
		isErr, ok  bool
	}{
		{"an answer", `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"\"error\""}],"stop_reason":"end_turn"}`, false, true},
		{"a count of tokens", `{"input_tokens":12}`, false, true},
		{"an answer with an error of null", `{"type":"message","error":null}`, false, true},
		{"an answer that holds a failed tool", `{"type":"message","content":[{"type":"web_search_tool_result","content":{"type":"error","error":{"code":1}}}]}`, false, true},
		{"an error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`, true, true},
		{"an error with spaces", "{ \"error\" : { } ,\n \"type\" : \"error\" }", true, true},
		{"an error without a type", `{"error":{"code":"1310","message":"limit"},"request_id":"1"}`, true, true},
		{"an error that is only a type", `{"type":"error"}`, true, true},
		{"an error that is a text", `{"error":"model not found"}`, true, true},
		{"a page", `<html>Bad Gateway</html>`, false, false},
		{"nothing", ``, false, false},
		{"a body cut short", `{"type":"message","content":[`, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, ok := anthropic.New().ReadAnswer([]byte(c.body))
			if ok != c.ok || ok && a.Error != c.isErr {
				t.Errorf("%v, %v; want %v, %v", a.Error, ok, c.isErr, c.ok)
			}
		})
	}
}

// Chapter 60 §1.1 and §1.8, and RQ-10 for budgets.
func TestAppendError_gives_the_vendor_type_of_each_status(t *testing.T) {
	for _, c := range []struct {
		status     int
		code, want string
	}{
		{400, "MODEL_DENIED", "invalid_request_error"},
		{400, "unsupported_feature", "invalid_request_error"},
		{401, "invalid_api_key", "authentication_error"},
		{402, "", "billing_error"},
		{403, "", "permission_error"},
		{404, "model_not_found", "not_found_error"},
		{405, "", "invalid_request_error"},
		{408, "", "invalid_request_error"},
		{409, "", "conflict_error"},
		{413, "request_too_large", "request_too_large"},
		{422, "", "invalid_request_error"},
		{429, "rate_limit_exceeded", "rate_limit_error"},
		{429, "UPSTREAM_POOL_EXHAUSTED", "rate_limit_error"},
		{429, "upstream_quota", "billing_error"},
		{429, "budget_exceeded", "billing_error"},
		{451, "POLICY_DENIED", "invalid_request_error"},
		{500, "", "api_error"},
		{502, "upstream_unreachable", "api_error"},
		{502, "all_providers_failed", "api_error"},
		{503, "NO_ROUTE", "api_error"},
		{503, "UPSTREAM_AMBIGUOUS", "api_error"},
		{503, "NO_UPSTREAM_KEY", "api_error"},
		{503, "gateway_unavailable", "api_error"},
		{503, "UPSTREAM_POOL_EXHAUSTED", "overloaded_error"},
		{503, "gateway_overloaded", "overloaded_error"},
		{504, "upstream_timeout", "timeout_error"},
		{529, "", "overloaded_error"},
	} {
		e := &wire.Error{Status: c.status, Code: c.code, Message: "what happened", RequestID: "req_1"}
		text := "what happened"
		if c.code != "" {
			text = c.code + ": " + text
		}
		want := `{"type":"error","error":{"type":"` + c.want + `","message":"` + text + `","code":"` + c.code + `"},"request_id":"req_1"}`
		if got := string(anthropic.New().AppendError(nil, e)); got != want {
			t.Errorf("%d %s:\n got %s\nwant %s", c.status, c.code, got, want)
		}
		if got := string(anthropic.New().AppendStreamError(nil, e)); got != event("error", want) {
			t.Errorf("%d %s: in a stream:\n got %q\nwant %q", c.status, c.code, got, event("error", want))
		}
	}
}

func TestAppendError_escapes_what_it_is_given(t *testing.T) {
	e := &wire.Error{Status: 400, Code: `A"B`, Message: "say \"no\"\nto \xff", RequestID: `r\1`}
	const want = `{"type":"error","error":{"type":"invalid_request_error","message":"A\"B: say \"no\"\nto \ufffd","code":"A\"B"},"request_id":"r\\1"}`
	if got := string(anthropic.New().AppendError(nil, e)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestKnown_holds_the_vendor_request_members(t *testing.T) {
	// Chapter 60 §1.1, request body.
	for _, name := range []string{
		"model", "max_tokens", "messages", "system", "stop_sequences", "stream", "temperature", "top_p", "top_k", "tools", "tool_choice",
		"thinking", "output_config", "output_format", "metadata", "service_tier", "cache_control", "container", "inference_geo",
		"mcp_servers", "context_management", "fallbacks", "fallback_credit_token", "speed", "diagnostics",
	} {
		body := `{"` + string(name[0]-'a'+'A') + name[1:] + `":1}`
		if err := wire.ReadEnvelope(new(wire.Envelope), []byte(body), anthropic.New().Known, false); err == nil {
			t.Errorf("%s passes for an unknown member", body)
		}
	}
}
