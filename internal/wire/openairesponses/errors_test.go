package openairesponses_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/openairesponses"
	"github.com/interlock-gateway/interlock/internal/wire/wiretest"
)

// ended is the event with which the gateway ends the stream that r followed.
func ended(r wire.StreamReader, e *wire.Error) string {
	return string(r.(interface { //nolint:forcetypeassert // the test's subject
		AppendStreamError(dst []byte, e *wire.Error) []byte
	}).AppendStreamError(nil, e))
}

// failed is what becomes of the provider's error event in it.
func failed(r wire.StreamReader, ev *wire.Event) string {
	return string(r.(interface { //nolint:forcetypeassert // the test's subject
		AppendFailed(dst []byte, ev *wire.Event) []byte
	}).AppendFailed(nil, ev))
}

// Chapter 60 §1.8 and RQ-10 for the type, chapter 65 §2.3 for the code.
func TestAppendError_gives_the_vendor_type_and_code_of_each_status(t *testing.T) {
	for _, c := range []struct {
		status               int
		code, wantType, want string
	}{
		{400, "MODEL_DENIED", "invalid_request_error", "invalid_prompt"},
		{400, "context_length_exceeded", "invalid_request_error", "context_length_exceeded"},
		{401, "invalid_api_key", "invalid_request_error", "invalid_prompt"},
		{404, "model_not_found", "invalid_request_error", "invalid_prompt"},
		{408, "", "invalid_request_error", "server_error"},
		{409, "", "invalid_request_error", "server_error"},
		{413, "request_too_large", "invalid_request_error", "invalid_prompt"},
		{429, "rate_limit_exceeded", "rate_limit_error", "rate_limit_exceeded"},
		{429, "UPSTREAM_POOL_EXHAUSTED", "rate_limit_error", "rate_limit_exceeded"},
		{429, "upstream_quota", "insufficient_quota", "insufficient_quota"},
		{429, "budget_exceeded", "insufficient_quota", "insufficient_quota"},
		{451, "POLICY_DENIED", "invalid_request_error", "invalid_prompt"},
		{500, "", "server_error", "server_error"},
		{502, "upstream_unreachable", "server_error", "server_error"},
		{503, "UPSTREAM_POOL_EXHAUSTED", "server_error", "server_error"},
		{504, "upstream_timeout", "server_error", "server_error"},
		{529, "", "server_error", "server_error"},
	} {
		e := &wire.Error{Status: c.status, Code: c.code, Message: "what happened", RequestID: "1"}
		body := `{"message":"` + e.Text() + `","type":"` + c.wantType + `","code":"` + c.code + `","param":null}`
		if got := string(openairesponses.New().AppendError(nil, e)); got != `{"error":`+body+`}` {
			t.Errorf("%d %s:\n got %s\nwant %s", c.status, c.code, got, body)
		}
		want := "event: response.failed\n" + `data: {"type":"response.failed","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":0,` +
			`"status":"failed","error":{"code":"` + c.want + `","message":"` + e.Text() + `"},"incomplete_details":null,"instructions":null,"metadata":{},` +
			`"model":"","output":[],"parallel_tool_calls":true,"temperature":null,"tool_choice":"auto","tools":[],"top_p":null,"usage":null},"error":` + body + "}\n\n"
		if got := string(openairesponses.New().AppendStreamError(nil, e)); got != want {
			t.Errorf("%d %s: in a stream:\n got %s\nwant %s", c.status, c.code, got, want)
		}
	}
}

func TestAppendStreamError_of_a_reader_continues_its_stream(t *testing.T) {
	for _, c := range []struct {
		name, stream, id string
		next             int64
	}{
		{"numbers and an id", event("response.created", `"response":{"id":"resp_68af","tools":[]}`) + strings.ReplaceAll(event("response.output_text.delta", `"delta":"x"`), `:1,`, `:41,`), "resp_68af", 42},
		{"the number at the end, spaces", "data: {\"type\": \"response.created\", \"response\": {\n\ndata: { \"type\" : \"response.created\" , \"response\" : { \"id\" : \"resp_2\" } , \"sequence_number\" : 7 }\n\n", "resp_2", 8},
		{"no numbers", "data: {\"type\":\"response.created\",\"response\":{\"object\":\"response\",\"id\":\"resp_3\"}}\n\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n", "resp_req_9", 2},
		{"a number too large is none", "data: {\"type\":\"x\",\"sequence_number\":99999999999999999999999}\n\n", "resp_req_9", 1},
		{"a tool's property of that name", "data: {\"type\":\"response.created\",\"response\":{\"tools\":[{\"properties\":{\"sequence_number\":{\"type\":\"integer\"}}}]}}\n\n", "resp_req_9", 1},
		{"nothing yet", ": keep-alive\n\n", "resp_req_9", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := openairesponses.New().NewStream(envelope(t, `{"model":"gpt-5.5"}`))
			wiretest.Read(t, wire.NewEventStream(nil), r, c.stream)
			got := ended(r, &wire.Error{Status: 502, Code: "X", Message: "it broke", RequestID: "req_9"})
			ev := decodeFailed(t, got)
			if ev.SequenceNumber != c.next || ev.Response.ID != c.id || ev.Response.Model != "gpt-5.5" {
				t.Errorf("%d %s %s", ev.SequenceNumber, ev.Response.ID, ev.Response.Model)
			}
		})
	}
}

// Codex passes over every error event but response.failed (chapter 60 §1.3).
func TestAppendFailed_makes_a_response_that_failed_of_a_provider_error(t *testing.T) {
	for _, c := range []struct{ name, event, code, message, topType string }{
		{"OpenAI's", event("error", `"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input is too long.","param":"input"}`), "context_length_exceeded", "Your input is too long.", "invalid_request_error"},
		{"a flat one", event("error", `"code":"server_is_overloaded","message":"Busy.","param":null`), "server_is_overloaded", "Busy.", ""},
		{"of Chat Completions, with a number", "data: {\"error\":{\"message\":\"Bad gateway\",\"type\":\"upstream\",\"code\":502}}\n\n", "502", "Bad gateway", "upstream"},
		{"one without a code", "data: {\"error\":{\"message\":\"Slow down\",\"type\":\"rate_limit_error\",\"code\":null}}\n\n", "rate_limit_error", "Slow down", "rate_limit_error"},
		{"vLLM's", "data: {\"object\":\"error\",\"message\":\"No\",\"type\":\"BadRequestError\",\"code\":400}\n\n", "400", "No", "BadRequestError"},
		{"a response.completed that failed", event("response.completed", `"response":{"status":"failed","error":{"code":"server_error","message":"It stopped."}}`), "server_error", "It stopped.", ""},
		{"text", "event: error\ndata: upstream connect error\n\n", "server_error", "upstream connect error", ""},
		{"nothing", "event: error\n\n", "server_error", "the provider reported an error without a message", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := wiretest.Reader(t, openairesponses.New(), `{"model":"m"}`)
			s := wire.NewEventStream(nil)
			stream := event("response.created", `"response":{"id":"resp_68af"}`) + event("response.output_text.delta", `"delta":"x"`) + c.event
			if _, err := s.Fill(strings.NewReader(stream)); err != nil {
				t.Fatal(err)
			}
			var ev wire.Event
			for kind := wire.Preamble; kind != wire.Failed; kind = r.Kind(&ev) {
				var ok bool
				if ev, ok = s.Next(); !ok {
					t.Fatal("no failure")
				}
			}
			got := decodeFailed(t, failed(r, &ev))
			if string(got.Response.Error.Code) != c.code || got.Response.Error.Message != c.message || got.Response.ID != "resp_68af" {
				t.Errorf("%+v", got.Response.Error)
			}
			var top struct {
				Error struct{ Type, Message string }
			}
			if err := json.Unmarshal([]byte(got.RawJSON()), &top); err != nil || top.Error.Type != c.topType || top.Error.Message != c.message {
				t.Errorf("%v %+v", err, top)
			}
		})
	}
	t.Run("a response.failed stays as it is", func(t *testing.T) {
		raw := event("response.failed", `"response":{"status":"failed"}`)
		ev := wire.Event{Raw: []byte(raw), Name: []byte("response.failed"), Data: []byte(`{}`), HasData: true}
		if got := failed(wiretest.Reader(t, openairesponses.New(), `{}`), &ev); got != raw {
			t.Errorf("%q", got)
		}
	})
}

// decodeFailed reads an event with the official SDK's type.
func decodeFailed(t *testing.T, event string) responses.ResponseFailedEvent {
	t.Helper()
	d := ssestream.NewDecoder(&http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(event))})
	if !d.Next() || d.Event().Type != "response.failed" {
		t.Fatalf("the SDK reads no response.failed in %q", event)
	}
	var u responses.ResponseStreamEventUnion
	if err := u.UnmarshalJSON(d.Event().Data); err != nil {
		t.Fatal(err)
	}
	ev, ok := u.AsAny().(responses.ResponseFailedEvent)
	if !ok || ev.Response.Status != "failed" {
		t.Fatalf("the SDK takes %s for a %T", d.Event().Data, u.AsAny())
	}
	// Strict decoders want all that the type calls required.
	for name, member := range map[string]interface{ Valid() bool }{
		"id": ev.Response.JSON.ID, "object": ev.Response.JSON.Object, "created_at": ev.Response.JSON.CreatedAt, "model": ev.Response.JSON.Model,
		"output": ev.Response.JSON.Output, "metadata": ev.Response.JSON.Metadata, "tools": ev.Response.JSON.Tools, "error": ev.Response.JSON.Error,
		"tool_choice": ev.Response.JSON.ToolChoice, "parallel_tool_calls": ev.Response.JSON.ParallelToolCalls, "sequence_number": ev.JSON.SequenceNumber,
	} {
		if !member.Valid() {
			t.Errorf("%s is missing or of another type in %s", name, d.Event().Data)
		}
	}
	if d.Next() {
		t.Errorf("more than one event: %q", event)
	}
	return ev
}

// What the official SDK's users see, whole and in a stream that had begun.
func TestErrors_reach_users_of_the_official_SDK(t *testing.T) {
	e := &wire.Error{Status: 503, Code: "UPSTREAM_POOL_EXHAUSTED", Message: "all providers failed", RequestID: "req_1"}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(e.Status)
			_, _ = w.Write(openairesponses.New().AppendError(nil, e))
			return
		}
		begun := event("response.created", `"response":{"id":"resp_1"}`) + event("response.output_text.delta", `"delta":"Hel"`)
		reader := wiretest.Reader(t, openairesponses.New(), `{"model":"m"}`)
		wiretest.Read(t, wire.NewEventStream(nil), reader, begun)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, begun, ended(reader, e))
	}))
	defer srv.Close()
	client := openai.NewClient(option.WithBaseURL(srv.URL+"/v1"), option.WithAPIKey("k"), option.WithMaxRetries(0))
	params := responses.ResponseNewParams{Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hi")}}

	_, err := client.Responses.New(t.Context(), params)
	var ae *openai.Error
	if !errors.As(err, &ae) || ae.StatusCode != 503 || ae.Message != e.Text() || ae.Code != e.Code || ae.Type != "server_error" {
		t.Errorf("whole: %v", err)
	}
	stream := client.Responses.NewStreaming(t.Context(), params)
	var types []string
	for stream.Next() {
		types = append(types, stream.Current().Type)
	}
	var se *ssestream.StreamError
	if !errors.As(stream.Err(), &se) || !strings.Contains(se.Message, e.Text()) || strings.Join(types, " ") != "response.created response.output_text.delta" {
		t.Errorf("stream: %v after %v", stream.Err(), types)
	}
}

// A client that has seen nothing of the stream gets the error as a body, with
// the member that SDKs read.
func TestErrorBody(t *testing.T) {
	for event, want := range map[string]string{
		`{"type":"error","code":"server_is_overloaded","message":"busy","param":null,"sequence_number":2}`:                  `{"error":{"message":"busy","type":"server_is_overloaded","code":"server_is_overloaded","param":null}}`,
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}}`: `{"error":{"message":"slow","type":"rate_limit_exceeded","code":"rate_limit_exceeded","param":null}}`,
		`{"type":"response.completed","response":{"status":"failed","error":{"code":"server_error","message":"no"}}}`:       `{"error":{"message":"no","type":"server_error","code":"server_error","param":null}}`,
		`{"error":{"message":"as it is","zz":1.0}}`:                                                                         `{"error":{"message":"as it is","zz":1.0}}`,
		`oops`: `{"error":{"message":"oops","type":"server_error","code":"","param":null}}`,
	} {
		s := openairesponses.New().NewStream(&wire.Envelope{}).(wire.StreamErrors) //nolint:forcetypeassert // the test's subject
		if got := string(s.ErrorBody(&wire.Event{Data: []byte(event), HasData: true})); got != want {
			t.Errorf("%s\n%s\nwant\n%s", event, got, want)
		}
	}
}

// From the first event on the provider works on the answer; a comment is none.
func TestWorking(t *testing.T) {
	r := openairesponses.New().NewStream(&wire.Envelope{})
	p := r.(wire.Progress) //nolint:forcetypeassert // the test's subject
	r.Kind(&wire.Event{Raw: []byte(": ping\n\n")})
	if p.Working() {
		t.Error("a comment is no work")
	}
	r.Kind(&wire.Event{Name: []byte("response.created"), Data: []byte(`{"type":"response.created"}`), HasData: true})
	if !p.Working() {
		t.Error("it was announced")
	}
}
