package openairesponses_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3/responses"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/openairesponses"
	"github.com/interlock-gateway/interlock/internal/wire/wiretest"
)

func TestFormat_keeps_the_contract(t *testing.T) { wiretest.Run(t, openairesponses.New()) }

func TestStreams_that_were_recorded(t *testing.T) {
	wiretest.Streams(t, openairesponses.New(), os.DirFS("testdata"))
}

// RQ-EP, the row of /v1/responses.
func TestRQ_EP_the_endpoint_is_the_table_row(t *testing.T) {
	e := openairesponses.New().Endpoints[0]
	want := llm.Endpoint{
		ID: "responses", Method: "POST", Paths: []string{"/v1/responses", "/openai/v1/responses"},
		Format: "openai-responses", Stream: true, Failover: true, Counts: true,
	}
	if d := cmp.Diff(want, *e); d != "" || e.Modality() != "chat" {
		t.Errorf("%s (-want +got):\n%s", e.Modality(), d)
	}
}

// event writes an event as OpenAI does. The type comes first in the data.
func event(typ, members string) string {
	return "event: " + typ + "\ndata: " + unnamed(typ, members) + "\n\n"
}

func unnamed(typ, members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"type":"` + typ + `","sequence_number":1` + members + `}`
}

// Every event of chapter 60 §1.3, of the SDK and of the Codex back end, each
// as the first of a stream after response.created: is it held back?
func TestStreamReader_classifies_every_event(t *testing.T) {
	const filled = `{"type":"output_text","text":"hi"}`
	for _, c := range []struct{ name, members, kind string }{
		{"response.created", `"response":{"id":"resp_1","status":"in_progress"}`, "P"},
		{"response.queued", `"response":{"status":"queued"}`, "P"},
		{"response.in_progress", `"response":{"status":"in_progress"}`, "P"},
		{"response.completed", `"response":{"status":"completed"}`, "C"},
		{"response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"error":null}`, "C"},
		{"response.failed", `"response":{"status":"failed","error":{"code":"server_error","message":"x"}}`, "F"},
		{"error", `"code":"server_error","message":"x","param":null`, "F"},
		{"response.output_item.added", `"item":{"type":"message","status":"in_progress","role":"assistant","content":[]}`, "P"},
		{"response.output_item.done", `"item":{"type":"message","status":"completed","content":[` + filled + `]}`, "C"},
		{"response.content_part.added", `"part":{"type":"output_text","text":"","annotations":[]}`, "P"},
		{"response.content_part.done", `"part":` + filled, "C"},
		{"response.output_text.delta", `"delta":"hi"`, "C"},
		{"response.output_text.done", `"text":"hi"`, "C"},
		{"response.output_text.annotation.added", `"annotation":{"type":"url_citation"}`, "C"},
		{"response.refusal.delta", `"delta":"I can not"`, "C"},
		{"response.refusal.done", `"refusal":"I can not"`, "C"},
		{"response.reasoning_text.delta", `"delta":"hm"`, "C"},
		{"response.reasoning_text.done", `"text":"hm"`, "C"},
		{"response.reasoning_summary_part.added", `"part":{"type":"summary_text","text":""}`, "P"},
		{"response.reasoning_summary_part.done", `"part":{"type":"summary_text","text":"hm"}`, "C"},
		{"response.reasoning_summary_text.delta", `"delta":"hm"`, "C"},
		{"response.reasoning_summary_text.done", `"text":"hm"`, "C"},
		{"response.function_call_arguments.delta", `"delta":"{"`, "C"},
		{"response.function_call_arguments.done", `"arguments":"{}"`, "C"},
		{"response.custom_tool_call_input.delta", `"delta":"x"`, "C"},
		{"response.custom_tool_call_input.done", `"input":"x"`, "C"},
		{"response.mcp_call_arguments.delta", `"delta":"{}"`, "C"},
		{"response.mcp_call_arguments.done", `"arguments":"{}"`, "C"},
		{"response.mcp_call.in_progress", ``, "C"},
		{"response.mcp_call.completed", ``, "C"},
		{"response.mcp_call.failed", ``, "C"}, // the call failed; the answer goes on
		{"response.mcp_list_tools.in_progress", ``, "C"},
		{"response.mcp_list_tools.completed", ``, "C"},
		{"response.mcp_list_tools.failed", ``, "C"},
		{"response.web_search_call.in_progress", ``, "C"},
		{"response.web_search_call.searching", ``, "C"},
		{"response.web_search_call.completed", ``, "C"},
		{"response.file_search_call.in_progress", ``, "C"},
		{"response.file_search_call.searching", ``, "C"},
		{"response.file_search_call.completed", ``, "C"},
		{"response.code_interpreter_call.in_progress", ``, "C"},
		{"response.code_interpreter_call.interpreting", ``, "C"},
		{"response.code_interpreter_call.completed", ``, "C"},
		{"response.code_interpreter_call_code.delta", `"delta":"print"`, "C"},
		{"response.code_interpreter_call_code.done", `"code":"print"`, "C"},
		{"response.image_generation_call.in_progress", ``, "C"},
		{"response.image_generation_call.generating", ``, "C"},
		{"response.image_generation_call.partial_image", `"partial_image_b64":"aGk="`, "C"},
		{"response.image_generation_call.completed", ``, "C"},
		{"response.shell_call_command.added", ``, "C"},
		{"response.shell_call_command.delta", `"delta":"ls"`, "C"},
		{"response.shell_call_command.done", ``, "C"},
		{"response.shell_call_output_content.delta", `"delta":{"stdout":"x"}`, "C"},
		{"response.shell_call_output_content.done", ``, "C"},
		{"response.audio.delta", `"delta":"aGk="`, "C"},
		{"response.audio.done", ``, "C"},
		{"response.audio.transcript.delta", `"delta":"hi"`, "C"},
		{"response.audio.transcript.done", ``, "C"},
		{"response.compaction.compacting", ``, "C"},

		{"-keepalive", ``, "P"},
		{"-response.metadata", `"headers":{}`, "P"},
		{"-codex.rate_limits", `"rate_limits":{"primary":{"used_percent":1}}`, "P"},
		{"-codex.response.metadata", `"headers":{}`, "P"},
		{"-responsesapi.websocket_timing", ``, "P"},
		{"-response.done", `"response":{"status":"completed"}`, "C"},
		{"-response.hologram.delta", `"delta":"x"`, "C"}, // what we do not know survives, and begins the answer
	} {
		name, foreign := strings.CutPrefix(c.name, "-") // not in the SDK
		t.Run(name, func(t *testing.T) {
			var sdk responses.ResponseStreamEventUnion
			if err := sdk.UnmarshalJSON([]byte(unnamed(name, c.members))); err != nil || foreign != (sdk.AsAny() == nil) {
				t.Errorf("the SDK knows it: %v (%v)", !foreign, err)
			}
			created := event("response.created", `"response":{"id":"resp_1"}`)
			for _, e := range []string{event(name, c.members), "data: " + unnamed(name, c.members) + "\n\n", "event: message\ndata: " + unnamed(name, c.members) + "\n\n"} {
				got := wiretest.Read(t, wire.NewEventStream(nil), wiretest.Reader(t, openairesponses.New(), `{"model":"m"}`), created, e)
				if got.Letters() != "P"+c.kind {
					t.Errorf("%q: kinds %s, want P%s", e, got.Letters(), c.kind)
				}
			}
		})
	}
}

// RQ-STREAM-1. Kinds are P for a preamble, C for content, F for a failure.
func TestStreamReader(t *testing.T) {
	var (
		created  = event("response.created", `"response":{"id":"resp_1","error":null,"tools":[{"name":"error"}]}`) + event("response.in_progress", `"response":{}`)
		item     = func(item string) string { return event("response.output_item.added", `"output_index":0,"item":`+item) }
		done     = func(item string) string { return event("response.output_item.done", `"output_index":0,"item":`+item) }
		text     = event("response.output_text.delta", `"delta":"hi"`)
		complete = event("response.completed", `"response":{"status":"completed","error":null}`)
		fail     = event("response.failed", `"response":{"status":"failed","error":{"code":"server_error","message":"x"}}`)
	)
	for _, c := range []struct {
		name, stream, kinds string
		complete            bool
	}{
		{"an answer", created + item(`{"type":"message","content":[]}`) + text + complete, "PPPCC", true},
		{"an incomplete one is whole", created + text + event("response.incomplete", `"response":{"status":"incomplete"}`), "PPCC", true},
		{"R27 an error before content", created + event("error", `"code":"server_error","message":"x"`), "PPF", false},
		{"R27 an error after content", created + text + event("error", `"code":"server_error","message":"x"`), "PPCF", false},
		{"a failure before content", created + fail, "PPF", false},
		{"a failure after content", created + text + fail, "PPCF", false},
		{"a failure first", fail, "F", false},
		{"a stream without an end is cut", created + text, "PPC", false},
		{"a text that is done is no end", created + text + done(`{"type":"message"}`), "PPCC", false},
		{"an end without content is content, so that the client gets it", created + complete, "PPC", true},
		{"DONE of a vendor after the end", created + text + complete + "data: [DONE]\n\n", "PPCCC", true},
		{"DONE of a vendor instead of it", created + text + "data:  [DONE] \n", "PPCC", true},
		{"an end that failed", created + text + event("response.completed", `"response":{"status":"failed","error":{"message":"x"}}`), "PPCF", false},
		{"an end that is not JSON", created + text + "event: response.completed\ndata: {\"resp\n\n", "PPCC", false},

		{"a message with text is content", item(`{"type":"message","content":[{"type":"output_text","text":"hi"}]}`), "C", false},
		{"a message with an empty text is not", item(`{"type":"message","content":[{"type":"output_text","text":""}]}`), "P", false},
		{"a message whose content is null is not", item(`{"type":"message","content":null}`), "P", false},
		{"a message in a form unknown is", item(`{"type":"message","content":"hi"}`), "C", false},
		{"a message that is done and empty is not", done(`{"type":"message","content":[]}`), "P", false},
		{"a refusal part is content", item(`{"type":"message","content":[{"type":"refusal","refusal":"no"}]}`), "C", false},
		{"an image part is content", item(`{"type":"message","content":[{"type":"output_image"}]}`), "C", false},
		{"reasoning that begins is not", item(`{"type":"reasoning","summary":[],"content":[]}`), "P", false},
		{"the copy of encrypted reasoning that may be cut short is not", item(`{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}`), "P", false},
		{"encrypted reasoning that is done is content", done(`{"type":"reasoning","summary":[],"encrypted_content":"gAAAB"}`), "C", false},
		{"reasoning that is done and left nothing is not", done(`{"type":"reasoning","summary":[],"encrypted_content":null}`), "P", false},
		{"a summary is content", done(`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`), "C", false},
		{"a call is content by its name", item(`{"type":"function_call","name":"f","arguments":""}`), "C", false},
		{"a free-form call is content", item(`{"type":"custom_tool_call","name":"apply_patch","input":""}`), "C", false},
		{"a hosted tool that runs is content: another provider would run it again", item(`{"type":"mcp_call","name":"f"}`), "C", false},
		{"a compaction is content", item(`{"type":"compaction","encrypted_content":"x"}`), "C", false},
		{"an item that is not JSON is content", "event: response.output_item.added\ndata: {\"item\n\n", "C", false},
		{"an event without an item is not content", event("response.output_item.added", ``), "C", false},

		{"an empty delta is a preamble", event("response.output_text.delta", `"delta":""`) + text, "PC", false},
		{"an empty text that is done is a preamble", event("response.output_text.done", `"text":""`), "P", false},
		{"a space is content", event("response.output_text.delta", `"delta":" "`), "C", false},
		{"a part with text is content", event("response.content_part.added", `"part":{"type":"output_text","text":"hi"}`), "C", false},
		{"a delta that is null is passed on", event("response.output_text.delta", `"delta":null`), "C", false},
		{"after the first content all is content", text + created + event("response.output_text.delta", `"delta":""`), "CCCC", false},

		{"the error of Chat Completions", created + "data: {\"error\":{\"message\":\"x\",\"code\":502}}\n\ndata: [DONE]\n\n", "PPFC", true},
		{"the same after content", text + "data: {\"error\":{\"message\":\"x\"}}\n\n", "CF", false},
		{"the flat error of vLLM", "data: {\"object\":\"error\",\"message\":\"x\",\"code\":400}\n\n", "F", false},
		{"an error event that is not JSON", created + "event: error\ndata: upstream connect error\n\n", "PPF", false},
		{"an error event without data", "event: error\n\n", "F", false},
		{"an error without an event line", "data: " + unnamed("error", `"message":"x"`) + "\n\n", "F", false},
		{"error inside a text is none", event("response.output_text.delta", `"delta":"{\"error\":{\"type\":\"error\"}}"`), "C", false},
		{"error inside a hosted tool is none", event("response.mcp_call.failed", `"error":{"message":"x"}`), "C", false},
		{"a null error of an event unknown is none", "data: {\"type\":\"hint\",\"error\":null}\n\n", "C", false},
		{"data that is not JSON goes through", "data: hello\n\n", "C", false},

		{"comments while it waits", ": keep-alive\n\n" + created + ": again\n\n\n\n" + text, "PPC", false},
		{"an event line without data is not seen by clients", "event: response.completed\n\n" + created, "PPP", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, parts := range [][]string{{c.stream}, strings.Split(c.stream, "")} {
				r := wiretest.Reader(t, openairesponses.New(), `{"model":"m","stream":true}`)
				got := wiretest.Read(t, wire.NewEventStream(nil), r, parts...)
				if got.Letters() != c.kinds || got.Complete != c.complete || r.Last() != c.complete {
					t.Fatalf("kinds %s, complete %v; want %s, %v (cut as %q)", got.Letters(), got.Complete, c.kinds, c.complete, parts)
				}
			}
		})
	}
}

// The usual event must not be decoded: it is on the path of every token.
func TestStreamReader_allocates_nothing_for_an_event_after_the_first(t *testing.T) {
	r := wiretest.Reader(t, openairesponses.New(), `{"model":"m"}`)
	ev := delta()
	r.Kind(&ev)
	if n := testing.AllocsPerRun(100, func() {
		if r.Kind(&ev) != wire.Content {
			t.Fatal("not content")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStreamReader(b *testing.B) {
	r := wiretest.Reader(b, openairesponses.New(), `{"model":"m"}`)
	ev := delta()
	b.ReportAllocs()
	for b.Loop() {
		r.Kind(&ev)
	}
}

func delta() wire.Event {
	return wire.Event{
		Name: []byte("response.output_text.delta"), HasData: true,
		Data: []byte(`{"type":"response.output_text.delta","sequence_number":41,"item_id":"msg_68af4030592c81938ec0a5fbab4a3e9f","output_index":1,"content_index":0,"delta":" words","logprobs":[],"obfuscation":"nL3k9"}`),
	}
}

func FuzzStreamReader(f *testing.F) {
	f.Add("event: response.output_item.added\ndata: {\"item\":{\"type\":\"reasoning\",\"summary\":[]}}\n\ndata: [DONE]\n\n")
	f.Add("data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"},\"sequence_number\":4}\n\ndata: {\"error\":1}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		format := openairesponses.New()
		whole := wiretest.Read(t, wire.NewEventStream(nil), wiretest.Reader(t, format, `{"model":"m"}`), stream)
		r := wiretest.Reader(t, format, `{"model":"m"}`)
		cut := wiretest.Read(t, wire.NewEventStream(nil), r, strings.Split(stream, "")...)
		if whole.Letters() != cut.Letters() || whole.Complete != cut.Complete {
			t.Errorf("%s, %v whole; %s, %v in bytes", whole.Letters(), whole.Complete, cut.Letters(), cut.Complete)
		}
		last := wire.Event{Data: []byte(stream), HasData: true, Raw: []byte(stream)}
		for _, end := range []string{failed(r, &last), ended(r, &wire.Error{Status: 502, Message: stream})} {
			if end == stream {
				continue // a response.failed of the provider
			}
			if got := wiretest.Read(t, wire.NewEventStream(nil), wiretest.Reader(t, format, `{}`), end); got.Letters() != "F" {
				t.Errorf("%q is %s", end, got.Letters())
			}
		}
	})
}

func TestIsError(t *testing.T) {
	for _, c := range []struct {
		name, body string
		isErr, ok  bool
	}{
		{"an answer", `{"id":"resp_1","object":"response","status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"\"error\""}]}]}`, false, true},
		{"an incomplete one", `{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"error":null}`, false, true},
		{"one that is queued", `{"object":"response","status":"queued","background":true,"error":null}`, false, true},
		{"one that was canceled", `{"object":"response","status":"cancelled","error":null}`, false, true},
		{"one that failed", `{"object":"response","status":"failed","error":{"code":"server_error","message":"x"}}`, true, true},
		{"one that failed without saying why", `{"object":"response","status":"failed","error":null}`, true, true},
		{"an error", `{"error":{"message":"x","type":"server_error","param":null,"code":null}}`, true, true},
		{"an error that is a text", `{"error" : "x"}`, true, true},
		{"the flat error of vLLM", `{"object":"error","message":"x","code":400}`, true, true},
		{"an error event as a body", `{"type":"error","code":"server_error","message":"x"}`, true, true},
		{"a failed item inside an answer", `{"status":"completed","error":null,"output":[{"type":"mcp_call","status":"failed","error":"x"}]}`, false, true},
		{"a page", `<html>Bad Gateway</html>`, false, false},
		{"nothing", ``, false, false},
		{"a body cut short", `{"object":"response","output":[`, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, ok := openairesponses.New().ReadAnswer([]byte(c.body))
			if ok != c.ok || ok && a.Error != c.isErr {
				t.Errorf("%v, %v; want %v, %v", a.Error, ok, c.isErr, c.ok)
			}
		})
	}
}

func TestUsage_RS_AUDIT_counts_cached_tokens_once(t *testing.T) {
	want := llm.Usage{Input: 15, CachedRead: 80, CachedWrite: 5, Output: 30, Reasoning: 10}
	const usage = `"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":80,"cache_write_tokens":5},"output_tokens":30,"output_tokens_details":{"reasoning_tokens":10},"total_tokens":130}`
	if d := cmp.Diff(want, wiretest.Usage(openairesponses.New(), []byte(`{"object":"response",`+usage+`}`))); d != "" {
		t.Errorf("whole (-want +got):\n%s", d)
	}
	for _, end := range []string{"response.completed", "response.incomplete", "response.failed", "response.done"} {
		r := wiretest.Reader(t, openairesponses.New(), `{}`)
		wiretest.Read(t, wire.NewEventStream(nil), r, event("response.created", `"response":{"usage":null}`), event(end, `"response":{"status":"x",`+usage+`}`))
		if d := cmp.Diff(want, r.Usage()); d != "" {
			t.Errorf("%s (-want +got):\n%s", end, d)
		}
	}
	for _, body := range []string{`{"usage":null}`, `{"usage":{"input_tokens":-5}}`, `{"usage":"x"}`, `no`, `{}`} {
		if got := wiretest.Usage(openairesponses.New(), []byte(body)); got != (llm.Usage{}) {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

func TestKnown_holds_the_vendor_request_members(t *testing.T) {
	// Chapter 60 §1.3, request, and what captured clients send.
	for _, name := range []string{
		"model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text", "max_output_tokens",
		"max_tool_calls", "previous_response_id", "conversation", "store", "background", "include", "truncation", "stream", "stream_options",
		"temperature", "top_p", "top_logprobs", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_options",
		"context_management", "prompt", "metadata", "user", "client_metadata", "prompt_cache_retention", "moderation",
	} {
		body := `{"` + string(name[0]-'a'+'A') + name[1:] + `":1}`
		if err := wire.ReadEnvelope(new(wire.Envelope), []byte(body), openairesponses.New().Known, false); err == nil {
			t.Errorf("%s passes for an unknown member", body)
		}
	}
}
