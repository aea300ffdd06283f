package openaichat_test

import (
	"testing"

	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/openaichat"
	"github.com/interlock-gateway/interlock/internal/wire/wiretest"
)

// RQ-STREAM-1: the official SDKs raise an error at a chunk with an "error" at
// its top and at nothing else; what a provider writes in another way becomes
// that, with its words.
func TestRQ_STREAM_1_provider_errors_become_the_chunk_that_SDKs_raise(t *testing.T) {
	const (
		asItIs = ""
		silent = "the provider reported an error without a message"
	)
	for _, c := range []struct{ name, event, want string }{
		{"the vendor's own", "data: {\"error\":{\"message\":\"x\", \"type\":\"server_error\",\"zz\":1.0}}\n\n", asItIs},
		{"the vendor's own with an event line", "event: error\ndata: {\"error\":{\"message\":\"x\"}}\n\n", asItIs},
		{"beside choices (OpenRouter)", "data: {\"error\":{\"code\":502,\"message\":\"x\"},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\r\n\r\n", asItIs},
		{"a choice's error (OpenRouter)", `data: {"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":502,"message":"died \"here\"","metadata":{"provider_name":"x"}}}]}`, `{"error":{"message":"died \"here\"","type":"server_error","code":"502","param":null,"metadata":{"provider_name":"x"}}}`},
		{"the second choice's error", `data: {"choices":[{"index":0,"delta":{}},{"index":1,"error":{"code":"c","type":"t","message":"second"}}]}`, `{"error":{"message":"second","type":"t","code":"c","param":null}}`},
		{"a choice's error that is a text", `data: {"choices":[{"index":0,"error":"died"}]}`, `{"error":{"message":"died","type":"server_error","code":null,"param":null}}`},
		{"a finish_reason of error alone", `data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, `{"error":{"message":"` + silent + `","type":"server_error","code":null,"param":null}}`},
		{"a flat one under an event line", "event: error\n" + `data: {"message":"Busy","code":500}`, `{"error":{"message":"Busy","type":"server_error","code":"500","param":null}}`},
		{"vLLM's", `data: {"object":"error","message":"too long","type":"BadRequestError","param":null,"code":400}`, `{"error":{"message":"too long","type":"BadRequestError","code":"400","param":null}}`},
		{"a text", `data: {"error":"overloaded"}`, `{"error":{"message":"overloaded","type":"server_error","code":null,"param":null}}`},
		{"Anthropic's", "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n", asItIs},
		{"text that is no JSON", "event: error\ndata: upstream connect error", `{"error":{"message":"upstream connect error","type":"server_error","code":null,"param":null}}`},
		{"nothing", "event: error", `{"error":{"message":"` + silent + `","type":"server_error","code":null,"param":null}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw, want := c.event, c.event
			if c.want != asItIs {
				raw, want = c.event+"\n\n", data(c.want)
			}
			r, ev := wiretest.Fail(t, openaichat.New(), chunk(`{"content":"hi"}`, "null")+raw)
			if got := string(r.AppendFailed([]byte("before"), &ev)); got != "before"+want {
				t.Errorf("\n got %q\nwant %q", got, want)
			}
		})
	}
}

// Before content the same errors are the body of an answer in the format.
func TestRQ_STREAM_1_ErrorBody(t *testing.T) {
	for event, want := range map[string]string{
		`{"error":{"message":"as it is","zz":1.0}}`:                                                       `{"error":{"message":"as it is","zz":1.0}}`,
		`{"choices":[{"finish_reason":"error","error":{"code":429,"message":"slow","type":"upstream"}}]}`: `{"error":{"message":"slow","type":"upstream","code":"429","param":null}}`,
		`{"object":"error","message":"no","type":"BadRequestError","code":400}`:                           `{"error":{"message":"no","type":"BadRequestError","code":"400","param":null}}`,
	} {
		r, ev := wiretest.Fail(t, openaichat.New(), "data: "+event+"\n\n")
		if got := string(r.ErrorBody(&ev)); got != want {
			t.Errorf("%s\n%s\nwant\n%s", event, got, want)
		}
	}
}

func TestAppendStreamError_of_a_reader_is_the_format_own(t *testing.T) {
	e := &wire.Error{Status: 502, Code: "X", Message: "it broke", RequestID: "req_9"}
	r := openaichat.New().NewStream(&wire.Envelope{}).(wire.StreamErrors) //nolint:forcetypeassert // the test's subject
	if got, want := string(r.AppendStreamError(nil, e)), string(openaichat.New().AppendStreamError(nil, e)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
