package anthropic_test

import (
	"testing"

	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/anthropic"
	"github.com/interlock-gateway/interlock/internal/wire/wiretest"
)

// RQ-STREAM-1: the official SDKs raise an error at "event: error" and at nothing
// else; what a provider writes in another way becomes that, with its words.
func TestRQ_STREAM_1_provider_errors_become_the_event_that_SDKs_raise(t *testing.T) {
	const asItIs = ""
	for _, c := range []struct{ name, event, want string }{
		{"the vendor's own", "event: error\ndata: {\"type\":\"error\", \"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"},\"zz\":1.0}\n\n", asItIs},
		{"the vendor's own, CRLF and a comment", ": x\r\nevent: error\r\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"x\"}}\r\n\r\n", asItIs},
		{"without an event line", `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"zz":1.0}`, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"zz":1.0}`},
		{"without an event line, over two lines", "data: {\"type\":\"error\",\ndata: \"error\":{\"type\":\"api_error\",\"message\":\"x\"}}", "{\"type\":\"error\",\ndata: \"error\":{\"type\":\"api_error\",\"message\":\"x\"}}"},
		{"Z.ai's", `data: {"error":{"code":"1310","message":"Limit Exhausted"},"request_id":"2026"}`, `{"type":"error","error":{"type":"api_error","message":"Limit Exhausted","code":"1310"},"request_id":"2026"}`},
		{"Z.ai's with an event line", "event: error\n" + `data: {"error":{"code":"1310","message":"Limit Exhausted"},"request_id":"2026"}`, `{"type":"error","error":{"type":"api_error","message":"Limit Exhausted","code":"1310"},"request_id":"2026"}`},
		{"under another name", "event: message\n" + `data: {"error":{"type":"rate_limit_error","message":"Slow \"down\"","code":null}}`, `{"type":"error","error":{"type":"rate_limit_error","message":"Slow \"down\""}}`},
		{"a text", `data: {"error":"model not found"}`, `{"type":"error","error":{"type":"api_error","message":"model not found"}}`},
		{"a flat one with a number", "event: error\n" + `data: {"message":"Busy","code":529}`, `{"type":"error","error":{"type":"api_error","message":"Busy","code":529}}`},
		{"a flat one with a type", `data: {"type":"error","message":"Busy"}`, `{"type":"error","error":{"type":"api_error","message":"Busy"}}`},
		{"text that is no JSON", "event: error\ndata: upstream\ndata: connect error", `{"type":"error","error":{"type":"api_error","message":"upstream\nconnect error"}}`},
		{"nothing", "event: error", `{"type":"error","error":{"type":"api_error","message":"the provider reported an error without a message"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw, want := c.event, c.event
			if c.want != asItIs {
				raw, want = c.event+"\n\n", event("error", c.want)
			}
			r, ev := wiretest.Fail(t, anthropic.New(), start+textBlock+delta+raw)
			if got := string(r.AppendFailed([]byte("before"), &ev)); got != "before"+want {
				t.Errorf("\n got %q\nwant %q", got, want)
			}
		})
	}
}

// Before content the same errors are the body of an answer in the format.
func TestRQ_STREAM_1_ErrorBody(t *testing.T) {
	for event, want := range map[string]string{
		`{"type":"error","error":{"type":"overloaded_error","message":"x"},"zz":1.0}`: `{"type":"error","error":{"type":"overloaded_error","message":"x"},"zz":1.0}`,
		`{"error":{"code":"1310","message":"limit"},"request_id":"r"}`:                `{"type":"error","error":{"type":"api_error","message":"limit","code":"1310"},"request_id":"r"}`,
		`oops`: `{"type":"error","error":{"type":"api_error","message":"oops"}}`,
	} {
		r, ev := wiretest.Fail(t, anthropic.New(), start+"event: error\ndata: "+event+"\n\n")
		if got := string(r.ErrorBody(&ev)); got != want {
			t.Errorf("%s\n%s\nwant\n%s", event, got, want)
		}
	}
}

func TestAppendStreamError_of_a_reader_is_the_format_own(t *testing.T) {
	e := &wire.Error{Status: 502, Code: "X", Message: "it broke", RequestID: "req_9"}
	r := anthropic.New().NewStream(&wire.Envelope{}).(wire.StreamErrors) //nolint:forcetypeassert // the test's subject
	if got, want := string(r.AppendStreamError(nil, e)), string(anthropic.New().AppendStreamError(nil, e)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
