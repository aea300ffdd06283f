package openaichat_test

import (
	"os"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/openaichat"
	"github.com/interlock-gateway/interlock/internal/wire/wiretest"
)

func TestStreams_that_were_recorded(t *testing.T) {
	wiretest.Streams(t, openaichat.New(), os.DirFS("testdata"))
}

func data(s string) string { return "data: " + s + "\n\n" }

// chunk writes a chunk with one choice.
func chunk(delta, finish string) string {
	return data(`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":` + finish + `}],"usage":null}`)
}

const done = "data: [DONE]\n\n"

// RQ-STREAM-1. Kinds are P for a preamble, C for content, F for a failure.
func TestStreamReader(t *testing.T) {
	var (
		role = chunk(`{"role":"assistant","content":"","refusal":null}`, "null")
		text = chunk(`{"content":"hi"}`, "null")
		stop = chunk(`{}`, `"stop"`)
	)
	second := func(delta, finish string) string {
		return data(`{"choices":[{"index":1,"delta":` + delta + `,"finish_reason":` + finish + `}]}`)
	}
	for _, c := range []struct {
		name, request, stream, kinds string
		complete                     bool
	}{
		{"an answer from role to DONE", "", role + text + stop + done, "PCCC", true},
		{"a finish_reason completes without DONE", "", role + text + stop, "PCC", true},
		{"DONE completes without a finish_reason", "", role + text + done, "PCC", true},
		{"a stream without either is cut", "", role + text, "PC", false},
		{"DONE with spaces and without a blank line", "", text + "data:  [DONE] \n", "CC", true},
		{"DONE with the space left out", "", text + "data:[DONE]\n\n", "CC", true},
		{"DONE before content is content, so that the client gets it", "", role + done, "PC", true},

		{"after DONE all is content", "", role + done + data(`{"choices":[],"usage":{"total_tokens":3}}`), "PCC", true},

		{"a role-only chunk is a preamble", "", chunk(`{"role":"assistant"}`, "null"), "P", false},
		{"empty content is a preamble", "", chunk(`{"role":"assistant","content":""}`, "null"), "P", false},
		{"null content is a preamble", "", chunk(`{"role":"assistant","content":null,"tool_calls":null}`, "null"), "P", false},
		{"empty lists and objects are a preamble", "", chunk(`{"annotations":[],"audio":{}}`, "null"), "P", false},
		{"an empty delta is a preamble", "", chunk(`{}`, "null"), "P", false},
		{"a usage chunk before content is a preamble", "", data(`{"choices":[],"usage":{"total_tokens":3}}`), "P", false},
		{"the prompt filter results of Azure are a preamble", "", data(`{"choices":[],"id":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false}}}]}`), "P", false},
		{"the filter results of Azure on a role chunk are a preamble", "", data(`{"choices":[{"content_filter_results":{"hate":{"filtered":false}},"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`), "P", false},
		{"an empty reasoning is a preamble", "", chunk(`{"role":"assistant","content":null,"reasoning_content":""}`, "null"), "P", false},

		{"text is content", "", text, "C", false},
		{"a space is content", "", chunk(`{"content":" "}`, "null"), "C", false},
		{"a role with text is content", "", chunk(`{"role":"assistant","content":"hi"}`, "null"), "C", false},
		{"reasoning_content is content", "", chunk(`{"content":null,"reasoning_content":"hm"}`, "null"), "C", false},
		{"reasoning of another vendor is content", "", chunk(`{"content":"","reasoning":"hm"}`, "null"), "C", false},
		{"a tool call's first delta is content", "", chunk(`{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]}`, "null"), "C", false},
		{"a refusal is content", "", chunk(`{"refusal":"I can not"}`, "null"), "C", false},
		{"an old function call is content", "", chunk(`{"function_call":{"name":"f","arguments":""}}`, "null"), "C", false},
		{"audio is content", "", chunk(`{"audio":{"id":"a"}}`, "null"), "C", false},
		{"content in the second choice is content", `{"model":"m","n":2}`, second(`{"content":"x"}`, "null"), "C", false},
		{"a finish before any text is content", "", role + stop, "PC", true},
		{"after the first content all is content", "", text + role + data(`{"choices":[],"usage":{"total_tokens":3}}`) + done, "CCCC", true},
		{"a chunk that is not JSON goes through", "", data("hello"), "C", false},

		{"an empty finish_reason is none", "", role + chunk(`{"content":""}`, `""`) + chunk(`{"content":"hi"}`, `""`), "PPC", false},
		{"a finish_reason with spaces around it", "", data("{\"choices\" : [ { \"delta\" : {\"content\":\"x\"}, \"finish_reason\" :\t\"length\" } ] }"), "C", true},
		{"finish_reason inside a text finishes nothing", "", chunk(`{"content":"{\"finish_reason\":\"stop\"}"}`, "null"), "C", false},
		{"finish_reason as a text finishes nothing", "", chunk(`{"content":"finish_reason"}`, "null"), "C", false},
		{"finish_reason inside a tool's arguments finishes nothing", "", chunk(`{"tool_calls":[{"index":0,"function":{"arguments":{"finish_reason":"stop"}}}]}`, "null"), "C", false},
		{"the native finish_reason of OpenRouter finishes nothing", "", data(`{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null,"native_finish_reason":"stop"}]}`), "C", false},
		{"a tool call's finish", "", chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`, `"tool_calls"`), "C", true},
		{"a content filter's finish", "", role + chunk(`{}`, `"content_filter"`), "PC", true},

		{"with n 2 one finish is not all", `{"model":"m","n":2}`, text + stop, "CC", false},
		{"with n 2 both finishes complete", `{"model":"m","n":2}`, text + stop + second(`{"content":"x"}`, `"stop"`), "CCC", true},
		{"with n 2 both finishes in one chunk complete", `{"model":"m","n":2}`, text + data(`{"choices":[{"index":0,"finish_reason":"stop"},{"index":1,"finish_reason":"stop"}]}`), "CC", true},
		{"with n 2 the same choice's finish twice is not all", `{"model":"m","n":2}`, text + stop + stop, "CCC", false},
		{"with n 2 DONE completes", `{"model":"m","n":2}`, text + stop + done, "CCC", true},
		{"n of null is one choice", `{"model":"m","n":null}`, text + stop, "CC", true},
		{"n of 0 is one choice", `{"model":"m","n":0}`, text, "C", false},
		{"n of nonsense is one choice", `{"model":"m","n":"many"}`, text + stop, "CC", true},

		{"an error chunk before content", "", role + data(`{"error":{"message":"x","type":"server_error","param":null,"code":null}}`), "PF", false},
		{"an error chunk after content", "", role + text + data(`{"error":{"message":"x"}}`), "PCF", false},
		{"an error chunk first", "", data(`{"error":{"message":"x"}}`), "F", false},
		{"an error chunk with spaces", "", data(`{ "error" : { "message" : "x" } }`), "F", false},
		{"an error that is a text", "", data(`{"error":"overloaded"}`), "F", false},
		{"an error under an event line", "", "event: error\ndata: {\"message\":\"x\"}\n\n", "F", false},
		{"an error event without data", "", "event: error\n\n", "F", false},
		{"an error beside choices (OpenRouter)", "", text + data(`{"error":{"code":502,"message":"x"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`), "CF", false},
		{"a choice's error (OpenRouter)", "", text + data(`{"choices":[{"index":0,"delta":{},"error":{"code":502},"finish_reason":"error"}]}`), "CF", false},
		{"a choice's error without a finish_reason", "", data(`{"choices":[{"index":0,"delta":{},"error":{"code":502},"finish_reason":null}]}`), "F", false},
		{"a finish_reason of error without an error", "", text + chunk(`{}`, `"error"`), "CF", false},
		{"the second choice's error", "", text + data(`{"choices":[{"index":0,"delta":{}},{"index":1,"error":{"code":502}}]}`), "CF", false},
		{"an error beside members of odd types", "", data(`{"error":{"message":"x"},"choices":{"a":[1]}}`), "F", false},
		{"the flat error of vLLM, which DONE follows", "", data(`{"object":"error","message":"x","type":"BadRequestError","param":null,"code":400}`), "F", false},
		{"a null error is none", "", data(`{"error":null,"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null,"error": null}]}`), "C", false},
		{"error inside a text is none", "", chunk(`{"content":"{\"error\":{\"message\":\"x\"}}"}`, "null"), "C", false},
		{"error as a text is none", "", chunk(`{"content":"error"}`, "null"), "C", false},
		{"error inside a tool's arguments is none", "", chunk(`{"tool_calls":[{"index":0,"function":{"arguments":{"error":{"a":1}}}}]}`, "null"), "C", false},
		{"a null error before a real one", "", data(`{"choices":[{"index":0,"error":null,"delta":{}}],"error":{"message":"x"}}`), "F", false},

		{"the keep-alive comments of DeepSeek", "", ": keep-alive\n\n: keep-alive\n\n" + role + ": keep-alive\n\n" + text, "PC", false},
		{"blank lines while it waits", "", "\n\n\n\n" + role, "P", false},
		{"an event line without data is not seen by clients", "", "event: chunk\n\n" + role, "PP", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := openaichat.New()
			request := c.request
			if request == "" {
				request = `{"model":"m","stream":true}`
			}
			for _, parts := range [][]string{{c.stream}, strings.Split(c.stream, "")} {
				got := wiretest.Read(t, wire.NewEventStream(nil), wiretest.Reader(t, f, request), parts...)
				if got.Letters() != c.kinds || got.Complete != c.complete {
					t.Fatalf("kinds %s, complete %v; want %s, %v (cut as %q)", got.Letters(), got.Complete, c.kinds, c.complete, parts)
				}
			}
		})
	}
}

// The usual chunk must not be decoded: it is on the path of every token.
func TestStreamReader_allocates_nothing_for_a_chunk_after_the_first(t *testing.T) {
	r := wiretest.Reader(t, openaichat.New(), `{"model":"m"}`)
	ev := wire.Event{HasData: true, Data: []byte(`{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"some \"error\" words"},"logprobs":null,"finish_reason":null}],"usage":null,"error":null}`)}
	if n := testing.AllocsPerRun(100, func() {
		if r.Kind(&ev) != wire.Content {
			t.Fatal("not content")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStreamReader(b *testing.B) {
	r := wiretest.Reader(b, openaichat.New(), `{"model":"m"}`)
	ev := wire.Event{HasData: true, Data: []byte(`{"id":"chatcmpl-9lMgfRSWPHcw51s6wxKT1YEO2CKpd","object":"chat.completion.chunk","created":1764500000,"model":"gpt-5.5","choices":[{"index":0,"delta":{"content":" words"},"logprobs":null,"finish_reason":null}],"usage":null}`)}
	b.ReportAllocs()
	for b.Loop() {
		r.Kind(&ev)
	}
}

func TestIsError(t *testing.T) {
	for _, c := range []struct {
		name, body string
		isErr, ok  bool
	}{
		{"an answer", `{"id":"chatcmpl-1","object":"chat.completion","choices":[{"message":{"content":"\"error\""},"finish_reason":"stop"}]}`, false, true},
		{"an answer with an error of null", `{"choices":[],"error": null}`, false, true},
		{"an answer with an error inside", `{"choices":[{"message":{"content":"x","error":{"a":1}}}]}`, false, true},
		{"an error", `{"error":{"message":"x","type":"server_error","param":null,"code":null}}`, true, true},
		{"an error with a number for a code", `{"error":{"message":"x","code":502},"user_id":"u"}`, true, true},
		{"an error that is a text", `{"error":"x"}`, true, true},
		{"an error with spaces before it", "\n {\"error\" :\n{}}\n", true, true},
		{"a choice's error (OpenRouter)", `{"id":"x","choices":[{"index":0,"finish_reason":"error","error":{"code":502,"message":"died"},"message":{"role":"assistant","content":"half"}}]}`, true, true},
		{"the second choice's error", `{"choices":[{"index":0,"error": null},{"index":1,"error":{"code":502}}]}`, true, true},
		{"a finish_reason of error", `{"choices":[{"message":{"content":"half"},"finish_reason": "error"}]}`, true, true},
		{"an answer that says error", `{"choices":[{"index":0,"message":{"content":"error"},"finish_reason":"stop"}]}`, false, true},
		{"an answer whose logprobs have error for a token", `{"choices":[{"index":0,"message":{"content":"error"},"logprobs":{"content":[{"token":"error","bytes":null}]},"finish_reason":"length"}]}`, false, true},
		{"choices of another type", `{"choices":{"error":{"message":"x"}}}`, false, true},
		{"the flat error of vLLM", `{"object":"error","message":"x","type":"BadRequestError","param":null,"code":400}`, true, true},
		{"a page", `<html>Bad Gateway</html>`, false, false},
		{"nothing", ``, false, false},
		{"a body cut short", `{"choices":[`, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, ok := openaichat.New().ReadAnswer([]byte(c.body))
			if ok != c.ok || ok && a.Error != c.isErr {
				t.Errorf("%v, %v; want %v, %v", a.Error, ok, c.isErr, c.ok)
			}
		})
	}
}

// Chapter 60 §1.8, and RQ-10 for budgets.
func TestAppendError_gives_the_vendor_type_of_each_status(t *testing.T) {
	for _, c := range []struct {
		status     int
		code, want string
	}{
		{400, "MODEL_DENIED", "invalid_request_error"},
		{400, "unsupported_feature", "invalid_request_error"},
		{401, "invalid_api_key", "invalid_request_error"},
		{402, "", "invalid_request_error"},
		{403, "", "invalid_request_error"},
		{404, "model_not_found", "invalid_request_error"},
		{409, "", "invalid_request_error"},
		{413, "request_too_large", "invalid_request_error"},
		{429, "rate_limit_exceeded", "rate_limit_error"},
		{429, "UPSTREAM_POOL_EXHAUSTED", "rate_limit_error"},
		{429, "upstream_quota", "insufficient_quota"},
		{429, "budget_exceeded", "insufficient_quota"},
		{451, "POLICY_DENIED", "invalid_request_error"},
		{500, "", "server_error"},
		{502, "upstream_unreachable", "server_error"},
		{503, "NO_ROUTE", "server_error"},
		{503, "UPSTREAM_AMBIGUOUS", "server_error"},
		{503, "UPSTREAM_POOL_EXHAUSTED", "server_error"},
		{503, "gateway_overloaded", "server_error"},
		{504, "upstream_timeout", "server_error"},
		{529, "", "server_error"},
	} {
		e := &wire.Error{Status: c.status, Code: c.code, Message: "what happened", RequestID: "req_1"}
		text := "what happened"
		if c.code != "" {
			text = c.code + ": " + text
		}
		want := `{"error":{"message":"` + text + `","type":"` + c.want + `","code":"` + c.code + `","param":null}}`
		if got := string(openaichat.New().AppendError(nil, e)); got != want {
			t.Errorf("%d %s:\n got %s\nwant %s", c.status, c.code, got, want)
		}
		if got := string(openaichat.New().AppendStreamError(nil, e)); got != data(want) {
			t.Errorf("%d %s: in a stream:\n got %q\nwant %q", c.status, c.code, got, data(want))
		}
	}
}

func TestAppendError_escapes_what_it_is_given(t *testing.T) {
	e := &wire.Error{Status: 400, Code: `A"B`, Message: "say \"no\"\nto \xff"}
	const want = `{"error":{"message":"A\"B: say \"no\"\nto \ufffd","type":"invalid_request_error","code":"A\"B","param":null}}`
	if got := string(openaichat.New().AppendError(nil, e)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestKnown_holds_the_vendor_request_members(t *testing.T) {
	// Chapter 60 §1.2, request fields that matter.
	for _, name := range []string{
		"model", "messages", "max_completion_tokens", "max_tokens", "temperature", "top_p", "n", "stop", "stream", "stream_options", "tools",
		"tool_choice", "parallel_tool_calls", "response_format", "reasoning_effort", "verbosity", "modalities", "audio", "prediction",
		"web_search_options", "logit_bias", "logprobs", "top_logprobs", "frequency_penalty", "presence_penalty", "seed", "service_tier",
		"store", "metadata", "user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options",
		"functions", "function_call",
	} {
		body := `{"` + string(name[0]-'a'+'A') + name[1:] + `":1}`
		if err := wire.ReadEnvelope(new(wire.Envelope), []byte(body), openaichat.New().Known, false); err == nil {
			t.Errorf("%s passes for an unknown member", body)
		}
	}
}
