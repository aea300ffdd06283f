package dataplane

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/gateway"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// dialect is one client format as these suites drive it. Whatever holds for
// one format is tested in all of them.
type dialect struct {
	name string
	path string
	// model is what clients ask for; the route serves models like it.
	model, pattern string
	// body makes a request; text is the user's.
	body func(model, text string, stream bool) string
	// format is its id.
	format llm.Format
	// kind is the type of a Provider that speaks the format; base is what
	// its baseUrl ends with after the host.
	kind, base, key string
	// starts and ends occur once in every whole stream.
	starts, ends string
	// lead is how many frames of a fake stream come before its content;
	// tail is how many follow the content.
	lead, tail int
	// ping is the keep-alive towards clients.
	ping string
	// keyHeader carries the key of a member, with keyPrefix before it.
	keyHeader, keyPrefix string
}

func dialects() []*dialect {
	return []*dialect{
		{
			name: "anthropic", format: llm.AnthropicMessages, path: "/v1/messages", model: "claude-test", pattern: "claude-*",
			body: func(model, text string, stream bool) string {
				return fmt.Sprintf(`{"model":%q,"max_tokens":64,"messages":[{"role":"user","content":%q}],"stream":%t}`, model, text, stream)
			},
			kind: "anthropic", key: "sk-ant-key-of-", starts: "event: message_start\n", ends: "event: message_stop\n", lead: 3, tail: 3,
			ping: "event: ping\ndata: {\"type\": \"ping\"}\n\n", keyHeader: "X-Api-Key",
		},
		{
			name: "openai", format: llm.OpenAIChat, path: "/v1/chat/completions", model: "gpt-test", pattern: "gpt-*",
			body: func(model, text string, stream bool) string {
				return fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}],"stream":%t}`, model, text, stream)
			},
			kind: "openai", base: "/v1", key: "sk-key-of-", starts: `"role":"assistant"`, ends: "data: [DONE]\n", lead: 1, tail: 2,
			ping: ": keep-alive\n\n", keyHeader: "Authorization", keyPrefix: "Bearer ",
		},
		{
			name: "responses", format: llm.OpenAIResponses, path: "/v1/responses", model: "o4-test", pattern: "o4-*",
			body: func(model, text string, stream bool) string {
				return fmt.Sprintf(`{"model":%q,"input":%q,"stream":%t}`, model, text, stream)
			},
			kind: "openai", base: "/v1", key: "sk-key-of-", starts: "event: response.created\n", ends: "event: response.completed\n", lead: 4, tail: 4,
			ping: ": keep-alive\n\n", keyHeader: "Authorization", keyPrefix: "Bearer ",
		},
	}
}

// eachDialect runs a test in every format.
func eachDialect(t *testing.T, f func(t *testing.T, d *dialect)) {
	t.Helper()
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) { f(t, d) })
	}
}

// dialectsAtOnce is eachDialect for tests that mostly wait.
func dialectsAtOnce(t *testing.T, f func(t *testing.T, d *dialect)) {
	t.Helper()
	ds := dialects()
	concurrently(len(ds), len(ds), func(i int) { t.Run(ds[i].name, func(t *testing.T) { f(t, ds[i]) }) })
}

// ask is a small request.
func (d *dialect) ask(stream bool) string { return d.body(d.model, "hi", stream) }

// provider is a Provider document for whatever listens at url.
func (d *dialect) provider(url, name string, more ...string) string {
	lines := append([]string{
		"kind: Provider", "name: " + name, "type: " + d.kind, "baseUrl: " + url + d.base, "apiKey: " + d.key + name,
	}, more...)
	return strings.Join(lines, "\n")
}

// route is a Route with these members, in order.
func (d *dialect) route(members ...string) string {
	return gwtest.Route("pool", fmt.Sprintf("%q", d.pattern), members...)
}

// text is the answer's text in a body or a stream, from all events.
func (d *dialect) text(t *testing.T, body string, stream bool) string {
	t.Helper()
	type piece struct {
		Content []struct{ Text string }
		Delta   struct{ Text string }
		Choices []struct{ Message, Delta struct{ Content string } }
	}
	read := func(data string) string {
		if d.format == llm.OpenAIResponses {
			return responsesText(t, data)
		}
		var p piece
		if err := json.Unmarshal([]byte(data), &p); err != nil {
			t.Errorf("not JSON: %v: %s", err, clipped(data))
		}
		s := p.Delta.Text
		for _, c := range p.Content {
			s += c.Text
		}
		for _, c := range p.Choices {
			s += c.Message.Content + c.Delta.Content
		}
		return s
	}
	if !stream {
		return read(body)
	}
	var all strings.Builder
	for _, ev := range sseEvents(t, body) {
		if ev.data != "" && ev.data != "[DONE]" {
			all.WriteString(read(ev.data))
		}
	}
	return all.String()
}

// responsesText is the text in an event of Responses, or in a response.
func responsesText(t *testing.T, data string) string {
	t.Helper()
	var p struct {
		Type, Delta string
		Output      []struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(data), &p); err != nil {
		t.Errorf("not JSON: %v: %s", err, clipped(data))
	}
	s := ""
	if p.Type == "response.output_text.delta" {
		s = p.Delta
	}
	for _, item := range p.Output {
		for _, c := range item.Content {
			s += c.Text
		}
	}
	return s
}

// wireError is what clients read of an error.
type wireError struct {
	Type    string          `json:"type"`
	Message string          `json:"message"`
	Code    json.RawMessage `json:"code"`
	Param   any             `json:"param"`
}

// code is the code as text, empty when there is none.
func (e *wireError) code() string {
	var s string
	_ = json.Unmarshal(e.Code, &s) // a number or null is no text
	return s
}

// parseError reads an error object strictly: the members of the client's
// format and nothing else.
func (d *dialect) parseError(body string) (*wireError, error) {
	var e *wireError
	var err error
	dec := json.NewDecoder(strings.NewReader(body))
	dec.DisallowUnknownFields()
	switch {
	case d.format == llm.AnthropicMessages:
		var o struct {
			Type      string     `json:"type"`
			Error     *wireError `json:"error"`
			RequestID string     `json:"request_id"`
		}
		if err = dec.Decode(&o); err == nil && o.Type != "error" {
			err = fmt.Errorf("type is %q", o.Type)
		}
		e = o.Error
	case d.format == llm.Gemini:
		var o struct {
			Error struct {
				Code    int
				Status  string
				Message string
				Details []struct{ Reason json.RawMessage }
			}
		}
		if err = dec.Decode(&o); err == nil && len(o.Error.Details) == 1 {
			e = &wireError{Type: o.Error.Status, Message: o.Error.Message, Code: o.Error.Details[0].Reason}
		}
	case d.format == llm.OpenAIResponses && strings.Contains(body, `"response.failed"`):
		e, err = failedResponse(dec)
	default:
		var o struct {
			Error *wireError `json:"error"`
		}
		err = dec.Decode(&o)
		e = o.Error
	}
	switch {
	case err != nil:
		return nil, err
	case dec.More():
		return nil, fmt.Errorf("something follows the error object")
	case e == nil || e.Message == "" || e.Type == "":
		return nil, fmt.Errorf("no error with type and message in %s", clipped(body))
	}
	return e, nil
}

// failedResponse reads response.failed: with all that the SDKs' types require,
// the error where Codex reads it and, in the same words, where the SDKs do.
func failedResponse(dec *json.Decoder) (*wireError, error) {
	var o struct {
		Type     string `json:"type"`
		Sequence *int   `json:"sequence_number"`
		Response struct {
			ID, Object, Status, Model string
			Error                     struct{ Code, Message string }
			CreatedAt                 *float64         `json:"created_at"`
			Output, Tools             *[]any           `json:",omitempty"`
			Metadata                  *map[string]any  `json:"metadata"`
			Instructions, Usage       *json.RawMessage `json:",omitempty"`
			Incomplete                any              `json:"incomplete_details"`
			Parallel                  *bool            `json:"parallel_tool_calls"`
			Temperature               any              `json:"temperature"`
			TopP                      any              `json:"top_p"`
			ToolChoice                any              `json:"tool_choice"`
		} `json:"response"`
		Error *wireError `json:"error"`
	}
	if err := dec.Decode(&o); err != nil {
		return nil, err
	}
	r := &o.Response
	switch {
	case o.Type != "response.failed" || r.Status != "failed" || r.Object != "response":
		return nil, fmt.Errorf("%q with the status %q", o.Type, r.Status)
	case r.ID == "" || r.Model == "" || r.Error.Code == "" || o.Sequence == nil || r.CreatedAt == nil || r.Output == nil || r.Tools == nil || r.Parallel == nil:
		return nil, fmt.Errorf("members are missing: %+v", o)
	case o.Error == nil || o.Error.Message != r.Error.Message:
		return nil, fmt.Errorf("two errors: %+v", o)
	}
	return o.Error, nil
}

// mustError is parseError for a test that needs one.
func (d *dialect) mustError(t *testing.T, body string) *wireError {
	t.Helper()
	e, err := d.parseError(body)
	if err != nil {
		t.Fatalf("not an error of the format: %v: %s", err, clipped(body))
	}
	return e
}

// wantWhole holds for a good answer: it is complete, has one beginning and one
// end, and its text is the wanted one and nothing else.
func (d *dialect) wantWhole(t *testing.T, a gwtest.Answer, stream bool, text string) {
	t.Helper()
	if a.Status != http.StatusOK || a.Err != nil {
		t.Errorf("status %d, error %v: %s", a.Status, a.Err, clipped(a.Body))
		return
	}
	if got := d.text(t, a.Body, stream); got != text {
		t.Errorf("text %q, want %q", clipped(got), clipped(text))
	}
	if !stream {
		if want := fmt.Sprint(len(a.Body)); a.Header.Get("Content-Length") != want {
			t.Errorf("Content-Length %q for %s bytes", a.Header.Get("Content-Length"), want)
		}
		return
	}
	if ct := a.Header.Get("Content-Type"); !strings.HasPrefix(ct, "text/event-stream") {
		t.Errorf("content type %q", ct)
	}
	if n := strings.Count(a.Body, d.starts); n != 1 {
		t.Errorf("%d beginnings in one stream: %s", n, clipped(a.Body))
	}
	if n := strings.Count(a.Body, d.ends); n != 1 || !strings.Contains(lastEvent(a.Body), strings.TrimSpace(d.ends)) {
		t.Errorf("%d ends, the last event is %q", n, lastEvent(a.Body))
	}
}

// wantBroken holds for a stream that failed after it began: whole events only,
// the last one an error of the format, and no success marker anywhere. It
// returns that error.
func (d *dialect) wantBroken(t *testing.T, a gwtest.Answer) *wireError {
	t.Helper()
	if a.Status != http.StatusOK || a.Err != nil {
		t.Errorf("status %d, error %v: %s", a.Status, a.Err, clipped(a.Body))
		return &wireError{}
	}
	if strings.Contains(a.Body, d.ends) {
		t.Errorf("a broken stream has the success marker: %s", clipped(a.Body))
	}
	events := sseEvents(t, a.Body)
	last := events[len(events)-1]
	want := map[llm.Format]string{llm.AnthropicMessages: "error", llm.OpenAIResponses: "response.failed"}[d.format]
	if last.name != want {
		t.Errorf("the last event is called %q", last.name)
	}
	e, err := d.parseError(last.data)
	if err != nil {
		t.Errorf("the last event is no error: %v: %s", err, clipped(a.Body))
		return &wireError{}
	}
	for _, ev := range events[:len(events)-1] {
		if _, err := d.parseError(ev.data); err == nil {
			t.Errorf("an error event in the middle: %s", clipped(ev.data))
		}
	}
	return e
}

// sseEvent is one event as a strict client reads it.
type sseEvent struct{ name, data string }

// sseEvents cuts a stream into events and fails on anything that is not whole.
func sseEvents(t *testing.T, body string) []sseEvent {
	t.Helper()
	rest, whole := strings.CutSuffix(body, "\n\n")
	if !whole {
		t.Errorf("the stream does not end with a whole event: …%q", body[max(0, len(body)-120):])
	}
	var out []sseEvent
	for raw := range strings.SplitSeq(rest, "\n\n") {
		var ev sseEvent
		for line := range strings.SplitSeq(raw, "\n") {
			field, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch field {
			case "event":
				ev.name = value
			case "data":
				ev.data += value
			case "": // a comment
			default:
				t.Errorf("line %q in a stream", clipped(line))
			}
		}
		if ev.data != "" && ev.data != "[DONE]" && !json.Valid([]byte(ev.data)) {
			t.Errorf("an event that is not whole: %q", clipped(ev.data))
		}
		out = append(out, ev)
	}
	return out
}

func lastEvent(body string) string {
	parts := strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n")
	return parts[len(parts)-1]
}

func clipped(s string) string {
	if len(s) > 600 {
		return s[:300] + " … " + s[len(s)-300:]
	}
	return s
}

// says makes a fake provider's answers tell who gave them.
func says(word string) *fakellm.Reply { return &fakellm.Reply{Chunks: 4, ChunkText: word + " "} }

// saidBy is the text of says.
func saidBy(word string) string { return strings.Repeat(word+" ", 4) }

// pair is a gateway with two members, first and second, in one route. The
// first says alpha, the second beta.
type pair struct {
	*gwtest.Server
	d    *dialect
	a, b *gwtest.Fake
	// g is the gateway itself; nil for a whole server.
	g *gateway.Gateway
}

// newPair starts one; more are lines of the first provider.
func newPair(t *testing.T, d *dialect, more ...string) *pair {
	t.Helper()
	return newPairWith(t, d, gateway.Options{}, more...)
}

// newPairWith is newPair with options that a server has no settings for.
func newPairWith(t *testing.T, d *dialect, o gateway.Options, more ...string) *pair {
	t.Helper()
	p := &pair{d: d, a: gwtest.NewFake(t), b: gwtest.NewFake(t)}
	p.Server, p.g = serveWith(t, o, d.provider(p.a.URL, "first", more...), d.provider(p.b.URL, "second"), d.route("first", "second"))
	p.a.Rules(t, fakellm.Rule{Reply: says("alpha")})
	p.b.Rules(t, fakellm.Rule{Reply: says("beta")})
	return p
}

// idle waits until nothing runs any more, neither at the gateway nor at the
// providers.
func (p *pair) idle(t *testing.T) {
	t.Helper()
	eventually(t, 10*time.Second, "nothing runs any more", func() bool {
		return p.g.InFlight() == 0 && p.a.InFlight() == 0 && p.b.InFlight() == 0
	})
}

// ask sends a request and says how often each member was dialled for it.
func (p *pair) ask(t *testing.T, stream bool) (a gwtest.Answer, first, second int64) {
	t.Helper()
	first, second = p.a.Requests(), p.b.Requests()
	a = p.Post(t, p.d.path, p.d.ask(stream))
	return a, p.a.Requests() - first, p.b.Requests() - second
}

// wantSecond holds after the first member failed and the second served.
func (p *pair) wantSecond(t *testing.T, stream bool) {
	t.Helper()
	got, first, second := p.ask(t, stream)
	p.d.wantWhole(t, got, stream, saidBy("beta"))
	if first != 1 || second != 1 {
		t.Errorf("%d dials of the first, %d of the second", first, second)
	}
	wantHeaders(t, got.Header, "second", 2)
}

// wantHeaders compares the headers that say who served.
func wantHeaders(t *testing.T, h http.Header, provider string, attempts int) {
	t.Helper()
	if p := h.Get("X-Interlock-Provider"); p != provider {
		t.Errorf("provider %q, want %q", p, provider)
	}
	if got, want := h.Get("X-Interlock-Attempts")+"/"+h.Get("X-Interlock-Fallbacks"), fmt.Sprintf("%d/%d", attempts, attempts-1); got != want {
		t.Errorf("attempts/fallbacks %s, want %s", got, want)
	}
	if h.Get("X-Interlock-Request-Id") == "" {
		t.Error("no request id")
	}
}

// logged are the lines of the log with this message, decoded.
func logged(t *testing.T, log *gwtest.Buffer, message string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(log.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("log line %q: %v", line, err)
		}
		if m["msg"] == message {
			out = append(out, m)
		}
	}
	return out
}

// movedOn are the categories of the attempts that were followed by another,
// in order.
func movedOn(t *testing.T, log *gwtest.Buffer) []string {
	t.Helper()
	var out []string
	for _, m := range logged(t, log, "attempt failed, trying the next member") {
		out = append(out, fmt.Sprintf("%v:%v", m["provider"], m["category"]))
	}
	return out
}

// eventually waits until cond holds.
func eventually(t *testing.T, within time.Duration, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.After(within)
	for !cond() {
		select {
		case <-tick.C:
		case <-end:
			if !cond() {
				t.Fatalf("not within %v: %s", within, what)
			}
			return
		}
	}
}

// noBreaker are settings for tests whose members fail again and again.
const noBreaker = "llmProxy: {circuitBreaker: {enabled: false}}"

// both are the two kinds of request.
func both() []bool { return []bool{true, false} }

func kindOf(stream bool) string {
	if stream {
		return "stream"
	}
	return "plain"
}

// failoverCase is a failure of the first member after which the second serves.
type failoverCase struct {
	name     string
	rule     fakellm.Rule
	category string
	// only is "stream" or "plain" for what exists in one of them.
	only string
	// more are lines of the first provider, where each case has its own.
	more []string
}

// runCases takes one gateway for all cases.
func runCases(t *testing.T, cases []failoverCase) {
	t.Helper()
	eachDialect(t, func(t *testing.T, d *dialect) {
		shared := newPair(t, d)
		for _, c := range cases {
			for _, stream := range both() {
				if c.only == "" || c.only == kindOf(stream) {
					t.Run(c.name+"_"+kindOf(stream), func(t *testing.T) { c.run(t, shared, stream) })
				}
			}
		}
	})
}

// run is one case with a pair that may be shared with other cases.
func (c *failoverCase) run(t *testing.T, p *pair, stream bool) {
	t.Helper()
	p.a.Rules(t, c.rule)
	before := len(movedOn(t, p.Log))
	p.wantSecond(t, stream)
	if got := movedOn(t, p.Log)[before:]; !slices.Equal(got, []string{"first:" + c.category}) {
		t.Errorf("moved on after %v, want first:%s", got, c.category)
	}
}

// TestFailover_moves_on: the failures that send a request to the next member.
func TestFailover_moves_on(t *testing.T) {
	cases := []failoverCase{
		{name: "RT-FO-NET_reset", rule: fakellm.Rule{Action: "reset"}, category: "connection"},
		{name: "RT-FO-TIME_408", rule: fakellm.Rule{Action: "status", Status: 408}, category: "timeout"},
		{name: "RT-FO-5XX_409", rule: fakellm.Rule{Action: "status", Status: 409}, category: "server_error"},
		{name: "RT-FO-5XX_500", rule: fakellm.Rule{Action: "status", Status: 500}, category: "server_error"},
		{name: "RT-FO-5XX_502", rule: fakellm.Rule{Action: "status", Status: 502, Shape: "html"}, category: "server_error"},
		{name: "RT-FO-5XX_503_R09", rule: fakellm.Rule{Action: "status", Status: 503}, category: "server_error"},
		{name: "RT-FO-5XX_504", rule: fakellm.Rule{Action: "status", Status: 504, Shape: "plain"}, category: "server_error"},
		{name: "RT-FO-5XX_529", rule: fakellm.Rule{Action: "status", Status: 529}, category: "overloaded"},
		{name: "RT-FO-5XX_empty_body", rule: fakellm.Rule{Action: "status", Status: 500, Shape: "empty"}, category: "server_error"},
		{name: "RT-FO-429_retry_after", rule: fakellm.Rule{Action: "status", Status: 429, Headers: map[string]string{"Retry-After": "7"}}, category: "rate_limit"},
		{name: "RT-FO-6_R08_429_bare", rule: fakellm.Rule{Action: "status", Status: 429}, category: "rate_limit"},
		{name: "RT-FO-6_R08_429_garbage", rule: fakellm.Rule{Action: "status", Status: 429, Headers: map[string]string{"Retry-After": "soon"}}, category: "rate_limit"},
		{name: "RT-FO-6_R08_429_negative", rule: fakellm.Rule{Action: "status", Status: 429, Headers: map[string]string{"Retry-After": "-5"}}, category: "rate_limit"},
		{name: "RT-FO-6_R08_429_zero", rule: fakellm.Rule{Action: "status", Status: 429, Headers: map[string]string{"Retry-After": "0"}}, category: "rate_limit"},
		{name: "RT-FO-6_R08_429_past_date", rule: fakellm.Rule{Action: "status", Status: 429, Headers: map[string]string{"Retry-After": "Mon, 02 Jan 2006 15:04:05 GMT"}}, category: "rate_limit"},
		{name: "RT-FO-AUTH_401", rule: fakellm.Rule{Action: "status", Status: 401}, category: "auth"},
		{name: "RT-FO-AUTH_403", rule: fakellm.Rule{Action: "status", Status: 403}, category: "auth"},
		{name: "RT-FO-404", rule: fakellm.Rule{Action: "status", Status: 404}, category: "model_unavailable"},
		{name: "RT-FO-QUOTA_402", rule: fakellm.Rule{Action: "status", Status: 402, Message: "Insufficient credits"}, category: "quota_exhausted"},
		{name: "RT-FO-QUOTA_429_in_the_code", rule: fakellm.Rule{Action: "status", Status: 429, Type: "insufficient_quota", Code: "insufficient_quota"}, category: "quota_exhausted"},
		{name: "RT-FO_redirect_is_not_followed", rule: fakellm.Rule{Action: "status", Status: 307, Headers: map[string]string{"Location": "/v1/elsewhere"}}, category: "server_error"},

		{name: "RT-FO_error_object_with_200", rule: fakellm.Rule{Action: "error_200", Status: 529, Type: "overloaded_error"}, category: "overloaded"},
		{name: "RT-FO-QUOTA_error_object_with_200", rule: fakellm.Rule{Action: "error_200", Status: 402, Type: "insufficient_quota", Code: "insufficient_quota"}, category: "quota_exhausted"},
		{name: "RT-FO_200_that_is_not_JSON", rule: fakellm.Rule{Action: "error_200", Body: "<html>welcome</html>"}, category: "server_error"},
		{name: "RT-FO_JSON_for_a_stream", rule: fakellm.Rule{Action: "json_for_stream"}, category: "server_error", only: "stream"},
		{name: "RT-FO-NET_body_cut_by_a_reset", rule: fakellm.Rule{Action: "cut", Cut: "rst"}, category: "connection", only: "plain"},
		{name: "RT-FO-NET_body_cut_by_a_close", rule: fakellm.Rule{Action: "cut", Cut: "fin"}, category: "connection", only: "plain"},
		{name: "RT-FO-NET_body_ends_early", rule: fakellm.Rule{Action: "cut", Cut: "end"}, category: "server_error", only: "plain"},

		{name: "RT-FO-1_R27_R29_error_event_first", rule: fakellm.Rule{Action: "sse_error", After: 0, Type: "overloaded_error"}, category: "overloaded", only: "stream"},
		{name: "RT-FO-1_R27_R29_error_event_after_the_preamble", rule: fakellm.Rule{Action: "preamble_error", Type: "overloaded_error"}, category: "overloaded", only: "stream"},
		{name: "RT-FO-1_rate_limit_event_after_the_preamble", rule: fakellm.Rule{Action: "preamble_error", Status: 429, Type: "rate_limit_error"}, category: "rate_limit", only: "stream"},
		{name: "RT-FO-1_stream_cut_by_a_reset_after_the_preamble", rule: fakellm.Rule{Action: "cut", Cut: "rst", After: 1}, category: "connection", only: "stream"},
		{name: "RT-FO-1_stream_cut_by_a_close_after_the_preamble", rule: fakellm.Rule{Action: "cut", Cut: "fin", After: 1}, category: "connection", only: "stream"},
		{name: "RT-FO-1_stream_ends_after_the_preamble", rule: fakellm.Rule{Action: "cut", Cut: "end", After: 1}, category: "server_error", only: "stream"},
		{name: "RT-FO-1_stream_ends_before_anything", rule: fakellm.Rule{Action: "cut", Cut: "end", After: 0}, category: "server_error", only: "stream"},
	}
	runCases(t, cases)
}

// limits are the time-outs of a provider, in milliseconds.
func limits(header, idle int) []string {
	return []string{fmt.Sprintf("timeouts: {responseHeaderMs: %d, streamIdleMs: %d}", header, idle)}
}

// TestRT_FO_TIME_limits: each time-out of a provider ends its attempt and the
// next member serves. In each case one limit is short and the others are an
// hour, so that no other can stand in for it.
func TestRT_FO_TIME_limits(t *testing.T) {
	const short, long = 400, 3_600_000
	cases := []failoverCase{
		{name: "responseHeaderMs_R17", rule: fakellm.Rule{Action: "hang"}, category: "timeout", more: limits(short, long)},
		{name: "streamIdleMs_after_the_headers_R17_R18", rule: fakellm.Rule{Action: "headers_hang"}, category: "timeout", more: limits(long, short)},
		{name: "streamIdleMs_after_the_preamble", rule: fakellm.Rule{Action: "stall", After: 1}, category: "timeout", only: "stream", more: limits(long, short)},
		{name: "streamIdleMs_inside_a_plain_body", rule: fakellm.Rule{Action: "stall"}, category: "timeout", only: "plain", more: limits(long, short)},
		// Pings are bytes, so there is no silence, but they are not content.
		{name: "responseHeaderMs_plus_streamIdleMs_while_pings_trickle", rule: fakellm.Rule{Action: "trickle_pings", GapMS: 5}, category: "timeout", more: limits(short, short)},
		{name: "totalMs_while_pings_trickle", rule: fakellm.Rule{Action: "trickle_pings", GapMS: 5}, category: "timeout", more: []string{"timeouts: {responseHeaderMs: 3600000, streamIdleMs: 3600000, totalMs: 400}"}},
	}
	// They wait at once. One whose limit does not work would take an hour.
	dialectsAtOnce(t, func(t *testing.T, d *dialect) {
		concurrently(2*len(cases), 2*len(cases), func(i int) {
			c, stream := cases[i/2], i%2 == 0
			if c.only == "" || c.only == kindOf(stream) {
				t.Run(c.name+"_"+kindOf(stream), func(t *testing.T) { c.run(t, newPair(t, d, c.more...), stream) })
			}
		})
	})

	t.Run("RT-FO-TIME_the_next_member_answers_soon_after_the_limit_R17", func(t *testing.T) {
		eachDialect(t, func(t *testing.T, d *dialect) {
			p := newPair(t, d, limits(short, long)...)
			p.a.Rules(t, fakellm.Rule{Action: "hang"})
			start := time.Now()
			p.wantSecond(t, true)
			if took := time.Since(start); took < short*time.Millisecond || took > short*time.Millisecond+2*time.Second {
				t.Errorf("answered after %v with a limit of %d ms", took, short)
			}
		})
	})
}

// TestRT_FO_4_all_attempts_together: maxElapsedMs bounds the time to the first
// content. Then nobody else is dialled, and the limit is named.
func TestRT_FO_4_all_attempts_together(t *testing.T) {
	const limit = 500 * time.Millisecond
	cases := []failoverCase{
		{name: "before_the_headers", rule: fakellm.Rule{Action: "hang"}},
		{name: "after_the_headers", rule: fakellm.Rule{Action: "headers_hang"}},
		{name: "after_the_preamble", rule: fakellm.Rule{Action: "stall", After: 1}, only: "stream"},
		{name: "while_pings_trickle", rule: fakellm.Rule{Action: "trickle_pings", GapMS: 5}},
		{name: "status_after_it", rule: fakellm.Rule{Action: "status", Status: 503, DelayMS: 550}},
		{name: "error_event_after_it", rule: fakellm.Rule{Action: "preamble_error", DelayMS: 550}, only: "stream"},
	}
	dialectsAtOnce(t, func(t *testing.T, d *dialect) {
		concurrently(2*len(cases), 2*len(cases), func(i int) {
			c, stream := cases[i/2], i%2 == 0
			if c.only != "" && c.only != kindOf(stream) {
				return
			}
			t.Run(c.name+"_"+kindOf(stream), func(t *testing.T) {
				p := newPairWith(t, d, gateway.Options{MaxElapsed: limit})
				p.a.Rules(t, c.rule)
				start := time.Now()
				got, first, second := p.ask(t, stream)
				if took := time.Since(start); took < limit || took > limit+2*time.Second {
					t.Errorf("ended after %v with a limit of %v", took, limit)
				}
				e := d.mustError(t, got.Body)
				if got.Status != 504 || e.code() != "upstream_timeout" || !strings.Contains(e.Message, "maxElapsedMs") {
					t.Errorf("%d %s", got.Status, got.Body)
				}
				if first != 1 || second != 0 {
					t.Errorf("%d dials of the first, %d of the second", first, second)
				}
			})
		})
		t.Run("content_is_not_bounded", func(t *testing.T) {
			p := newPairWith(t, d, gateway.Options{MaxElapsed: limit})
			p.a.Rules(t, fakellm.Rule{GapMS: 60, Reply: &fakellm.Reply{Chunks: 15, ChunkText: "alpha "}})
			got, _, _ := p.ask(t, true)
			d.wantWhole(t, got, true, words(15))
		})
	})
}

// TestRT_FO_TIME_connect: connectMs bounds the connection and the TLS
// handshake.
func TestRT_FO_TIME_connect(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		// It accepts and says nothing, so that the handshake hangs.
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		accepted := make(chan net.Conn, 8)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				c, err := silent.Accept()
				if err != nil {
					return
				}
				accepted <- c
			}
		}()
		t.Cleanup(func() {
			_ = silent.Close()
			<-done
			close(accepted)
			for c := range accepted {
				_ = c.Close()
			}
		})
		b := gwtest.NewFake(t)
		b.Rules(t, fakellm.Rule{Reply: says("beta")})
		gw := serve(t, d.provider("https://"+silent.Addr().String(), "first", "timeouts: {connectMs: 150}"),
			d.provider(b.URL, "second"), d.route("first", "second"))
		got := gw.Post(t, d.path, d.ask(true))
		d.wantWhole(t, got, true, saidBy("beta"))
		if got := movedOn(t, gw.Log); !slices.Equal(got, []string{"first:timeout"}) {
			t.Errorf("moved on after %v", got)
		}
		if len(accepted) != 1 {
			t.Errorf("%d connections to the silent member", len(accepted))
		}
	})
}

// TestRT_FO_NET_no_connection: nobody listens, or something that does not
// speak TLS.
func TestRT_FO_NET_no_connection(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		a, b := gwtest.NewFake(t), gwtest.NewFake(t)
		b.Rules(t, fakellm.Rule{Reply: says("beta")})
		for name, url := range map[string]string{
			"RT-FO-NET_refused":      "http://" + closedPort(t),
			"RT-FO-NET_TLS_to_plain": "https" + strings.TrimPrefix(a.URL, "http"),
		} {
			t.Run(name, func(t *testing.T) {
				gw := serve(t, d.provider(url, "first"), d.provider(b.URL, "second"), d.route("first", "second"))
				for _, stream := range both() {
					got := gw.Post(t, d.path, d.ask(stream))
					d.wantWhole(t, got, stream, saidBy("beta"))
					wantHeaders(t, got.Header, "second", 2)
				}
				if got := movedOn(t, gw.Log); !slices.Equal(got, []string{"first:connection", "first:connection"}) {
					t.Errorf("moved on after %v", got)
				}
			})
		}
	})
}

// closedPort is an address that refuses connections.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestRT_FO_4XX_returned: what would fail the same everywhere goes back to the
// client, and no other member is dialled.
func TestRT_FO_4XX_returned(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		p := newPair(t, d)
		for _, status := range []int{400, 405, 410, 413, 415, 422} {
			for _, stream := range both() {
				t.Run(fmt.Sprintf("RT-FO-4XX_%d_%s", status, kindOf(stream)), func(t *testing.T) {
					p.a.Rules(t, fakellm.Rule{Action: "status", Status: status, Type: "invalid_request_error", Message: "the field is wrong"})
					got, first, second := p.ask(t, stream)
					if got.Status != status || !strings.Contains(got.Body, "the field is wrong") {
						t.Errorf("%d %s", got.Status, got.Body)
					}
					if first != 1 || second != 0 {
						t.Errorf("%d dials of the first, %d of the second", first, second)
					}
					wantHeaders(t, got.Header, "first", 1)
				})
			}
		}
		t.Run("RT-FO-4XX_error_event_before_content", func(t *testing.T) {
			p.a.Rules(t, fakellm.Rule{Action: "preamble_error", Status: 400, Type: "invalid_request_error", Message: "the field is wrong"})
			got, _, second := p.ask(t, true)
			if got.Status != 400 || second != 0 || !strings.Contains(got.Body, "the field is wrong") {
				t.Errorf("%d, %d dials of the second: %s", got.Status, second, got.Body)
			}
		})
	})
}

// trio is a gateway with the members one, two and three behind one fake
// provider, which tells them apart by their keys: its records are in the order
// of the dials.
func trio(t *testing.T, d *dialect, more ...string) (*gwtest.Server, *gwtest.Fake) {
	t.Helper()
	f := gwtest.NewFake(t)
	docs := []string{d.route("one", "two", "three")}
	for _, name := range []string{"one", "two", "three"} {
		docs = append(docs, d.provider(f.URL, name, more...))
	}
	return serve(t, docs...), f
}

// of is a rule for one member of a trio.
func (d *dialect) of(member string, r fakellm.Rule) fakellm.Rule {
	r.Header, r.HeaderRE = d.keyHeader, "key-of-"+member+"$"
	return r
}

// dialled are the members of a trio in the order of the dials.
func (d *dialect) dialled(f *gwtest.Fake) []string {
	var out []string
	for _, r := range f.Records() {
		key := r.Headers.Get(d.keyHeader)
		out = append(out, key[strings.LastIndexByte(key, '-')+1:])
	}
	return out
}

func TestRT_FO_7_R10_R03_each_member_once_in_order(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		for _, stream := range both() {
			t.Run(kindOf(stream), func(t *testing.T) {
				gw, f := trio(t, d)
				f.Rules(t, d.of("one", fakellm.Rule{Action: "status", Status: 500}), d.of("two", fakellm.Rule{Action: "status", Status: 429}),
					d.of("three", fakellm.Rule{Reply: says("gamma")}))
				got := gw.Post(t, d.path, d.ask(stream))
				d.wantWhole(t, got, stream, saidBy("gamma"))
				wantHeaders(t, got.Header, "three", 3)
				if order := d.dialled(f); !slices.Equal(order, []string{"one", "two", "three"}) {
					t.Errorf("dialled %v", order)
				}
				// Both failures count, each with its own category.
				if got := movedOn(t, gw.Log); !slices.Equal(got, []string{"one:server_error", "two:rate_limit"}) {
					t.Errorf("moved on after %v", got)
				}
			})
		}
	})
}

// TestRT_FO_8_R14_every_attempt_starts_from_the_clients_request: bodies are
// the client's bytes but for the model, which is each member's own; headers
// are the client's and the member's own key.
func TestRT_FO_8_R14_every_attempt_starts_from_the_clients_request(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		f := gwtest.NewFake(t)
		gw := serve(t, d.route("one", "two", "three", "four"),
			d.provider(f.URL, "one", "modelAliases: {"+d.model+": wire-of-the-first-which-is-longer}", "headers: {X-Only-One: yes}"),
			d.provider(f.URL, "two", "modelAliases: {"+d.model+": w2}"),
			d.provider(f.URL, "three", "modelAliases: {"+d.model+": w2}"),
			d.provider(f.URL, "four"))
		f.Rules(t, d.of("one", fakellm.Rule{Action: "preamble_error"}), d.of("two", fakellm.Rule{Action: "status", Status: 503}),
			d.of("three", fakellm.Rule{Action: "reset"}))
		// White space, escapes, an unknown member, the model's name in a text
		// and a member order that no encoder would make.
		body := "{ \"zz_unknown\" : [1.0e2,\"\\u00e9\\ud83d\"] ,\n\t\"stream\":true, \"messages\":[{\"role\":\"user\",\"content\":\"" + d.model + "\"}], \"model\" : \"" + d.model + "\", \"max_tokens\":7 }\n"
		got := gw.Post(t, d.path, body, "User-Agent: the-client/1", "Anthropic-Beta: feature-1")
		if got.Status != 200 || got.Header.Get("X-Interlock-Model") != d.model {
			t.Fatalf("%d, model %q: %s", got.Status, got.Header.Get("X-Interlock-Model"), got.Body)
		}
		records := f.Records()
		if len(records) != 4 {
			t.Fatalf("%d dials", len(records))
		}
		for i, want := range []struct{ member, wire string }{{"one", "wire-of-the-first-which-is-longer"}, {"two", "w2"}, {"three", "w2"}, {"four", d.model}} {
			r := records[i]
			wantBody := strings.Replace(body, `"model" : "`+d.model+`"`, `"model" : "`+want.wire+`"`, 1)
			if string(r.Raw) != wantBody {
				t.Errorf("attempt %d sent\n%s\nwant\n%s", i+1, r.Raw, wantBody)
			}
			if r.Headers.Get("Content-Length") != "" && r.Headers.Get("Content-Length") != fmt.Sprint(len(wantBody)) || r.Chunked {
				t.Errorf("attempt %d: length %q, chunked %t", i+1, r.Headers.Get("Content-Length"), r.Chunked)
			}
			// RT-FO-5: each attempt with its own key, and nobody's else.
			if got, key := r.Headers.Get(d.keyHeader), d.keyPrefix+d.key+want.member; got != key {
				t.Errorf("RT-FO-5: attempt %d with the key %q, want %q", i+1, got, key)
			}
			if raw := fmt.Sprint(r.Headers); strings.Contains(raw, gwtest.Key) || strings.Count(raw, "key-of-") != 1 {
				t.Errorf("RT-FO-5: attempt %d sent a foreign credential: %s", i+1, raw)
			}
			if r.Headers.Get("User-Agent") != "the-client/1" {
				t.Errorf("attempt %d: user agent %q", i+1, r.Headers.Get("User-Agent"))
			}
			if got := r.Headers.Get("X-Only-One"); (got != "") != (want.member == "one") {
				t.Errorf("attempt %d has the header of another member", i+1)
			}
		}
	})
}

// TestRT_FO_8_answers_before_the_body_was_read: some proxies refuse a request
// while its body is still being written. The next member gets all of it.
func TestRT_FO_8_answers_before_the_body_was_read(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		early := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		t.Cleanup(early.Close)
		b := gwtest.NewFake(t)
		b.Rules(t, fakellm.Rule{Reply: says("beta")})
		gw := serve(t, d.provider(early.URL, "first"), d.provider(b.URL, "second", "modelAliases: {"+d.model+": w2}"), d.route("first", "second"))
		// More than the buffers of a connection hold.
		text := strings.Repeat("0123456789abcdef", 1<<20)
		got := gw.Post(t, d.path, d.body(d.model, text, true))
		d.wantWhole(t, got, true, saidBy("beta"))
		if r := b.Records(); len(r) != 1 || string(r[0].Raw) != d.body("w2", text, true) {
			t.Error("the second member did not receive the request as it was sent")
		}
	})
}

// TestRT_FO_answers_of_another_kind: what no client of the format could read is
// a failure of the provider, not an answer.
func TestRT_FO_answers_of_another_kind(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		whole := recordedStream(t, d)
		for _, c := range []struct {
			name, contentType, body string
			status                  int
			stream                  bool
		}{
			{"a_stream_for_a_plain_request", "text/event-stream", whole, 200, false},
			{"a_page_for_a_plain_request", "text/html", "<html>sign in</html>", 200, false},
			{"a_list_for_a_plain_request", "application/json", "[]", 200, false},
			{"nothing_for_a_plain_request", "application/json", "", 200, false},
			{"no_content_for_a_plain_request", "", "", 204, false},
			{"half_JSON_for_a_plain_request", "application/json", `{"id":"x","choices":[`, 200, false},
			{"a_page_for_a_stream", "text/html", "<html>sign in</html>", 200, true},
			{"a_page_that_says_it_is_a_stream", "text/event-stream", "<html>sign in</html>", 200, true},
			{"nothing_for_a_stream", "text/event-stream", "", 200, true},
			{"no_content_for_a_stream", "", "", 204, true},
			{"comments_without_end_for_a_stream", "text/event-stream", strings.Repeat(": nothing yet\n\n", 200_000) + whole, 200, true},
		} {
			t.Run(c.name, func(t *testing.T) {
				a := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if c.contentType != "" {
						w.Header().Set("Content-Type", c.contentType)
					}
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
				}))
				defer a.Close()
				b := gwtest.NewFake(t)
				b.Rules(t, fakellm.Rule{Reply: says("beta")})
				gw := serve(t, d.provider(a.URL, "first"), d.provider(b.URL, "second"), d.route("first", "second"))
				got := gw.Post(t, d.path, d.ask(c.stream))
				d.wantWhole(t, got, c.stream, saidBy("beta"))
				wantHeaders(t, got.Header, "second", 2)
				if got := movedOn(t, gw.Log); !slices.Equal(got, []string{"first:server_error"}) {
					t.Errorf("moved on after %v", got)
				}
			})
		}
	})
}

// TestRT_FO_2_count_tokens_dials_one: a count of another model's tokens would
// be wrong.
func TestRT_FO_2_count_tokens_dials_one(t *testing.T) {
	d := dialects()[0]
	p := newPair(t, d)
	for _, r := range []fakellm.Rule{{Action: "status", Status: 500, Body: `{"no":1}`}, {Action: "status", Status: 429, Body: `{"no":1}`}, {Action: "reset"}} {
		p.a.Rules(t, r)
		got := p.Post(t, "/v1/messages/count_tokens", d.ask(false))
		if r.Action == "reset" {
			if e := d.mustError(t, got.Body); got.Status != 502 || e.code() != "upstream_unreachable" {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		} else if got.Status != r.Status || got.Body != r.Body {
			t.Errorf("%d %s", got.Status, got.Body)
		}
		wantHeaders(t, got.Header, "first", 1)
	}
	if n := p.b.Requests(); n != 0 {
		t.Errorf("the second was dialled %d times", n)
	}
}

// TestRT_FO_redirect_target_gets_nothing: a redirect would carry the prompt
// and perhaps the key to another host.
func TestRT_FO_redirect_target_gets_nothing(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		p, elsewhere := newPair(t, d), gwtest.NewFake(t)
		for _, status := range []int{301, 302, 303, 307, 308} {
			p.a.Rules(t, fakellm.Rule{Action: "status", Status: status, Headers: map[string]string{"Location": elsewhere.URL + d.path}})
			p.wantSecond(t, status%2 == 0)
		}
		if n := elsewhere.Requests(); n != 0 {
			t.Errorf("%d requests to the target of a redirect", n)
		}
	})
}

// encoded is a provider that compresses its answers whatever the client asks
// for.
func encoded(t *testing.T, status int, contentType string, body []byte, encoding string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Encoding", encoding)
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRQ_HDR_4_R40_compressed_errors: what a compressed error says counts, and
// a client gets it readable.
func TestRQ_HDR_4_R40_compressed_errors(t *testing.T) {
	const quota = `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"You exceeded your current quota"}}`
	const wrong = `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens is too large"}}`
	eachDialect(t, func(t *testing.T, d *dialect) {
		b := gwtest.NewFake(t)
		b.Rules(t, fakellm.Rule{Reply: says("beta")})
		for _, stream := range both() {
			t.Run("R40_moves_on_"+kindOf(stream), func(t *testing.T) {
				for url, category := range map[string]string{
					encoded(t, 429, "application/json", gzipped(t, quota), "gzip"):      "quota_exhausted",
					encoded(t, 200, "application/json", gzipped(t, quota), "gzip"):      "quota_exhausted",
					encoded(t, 503, "application/json", []byte("not gzip"), "gzip"):     "server_error",
					encoded(t, 200, "application/json", []byte("not gzip"), "gzip"):     "connection",
					encoded(t, 200, "application/json", []byte("whatever"), "x-secret"): "server_error",
				} {
					gw := serve(t, d.provider(url, "first"), d.provider(b.URL, "second"), d.route("first", "second"))
					d.wantWhole(t, gw.Post(t, d.path, d.ask(stream)), stream, saidBy("beta"))
					if got := movedOn(t, gw.Log); !slices.Equal(got, []string{"first:" + category}) {
						t.Errorf("moved on after %v, want %s", got, category)
					}
				}
			})
			t.Run("R40_returned_readable_"+kindOf(stream), func(t *testing.T) {
				url := encoded(t, 400, "application/json", gzipped(t, wrong), "gzip")
				gw := serve(t, d.provider(url, "first"), d.provider(b.URL, "second"), d.route("first", "second"))
				got := gw.Post(t, d.path, d.ask(stream), "Accept-Encoding: gzip")
				if got.Status != 400 || got.Body != wrong || got.Header.Get("Content-Encoding") != "" ||
					got.Header.Get("Content-Length") != fmt.Sprint(len(wrong)) {
					t.Errorf("%d %v %q", got.Status, got.Header, got.Body)
				}
			})
		}
	})
}

// TestRT_FO_5XX_R36_connections_that_close_without_a_word: a provider that
// closes kept-alive connections costs no client an error.
func TestRT_FO_5XX_R36_connections_that_close_without_a_word(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		f, b := gwtest.NewFake(t), gwtest.NewFake(t)
		f.Rules(t, fakellm.Rule{Reply: says("same")})
		b.Rules(t, fakellm.Rule{Reply: says("same")})
		rude := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			f.ServeHTTP(rec, r)
			conn, buf, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", rec.Header().Get("Content-Type"), rec.Body.Len(), rec.Body)
			_ = buf.Flush()
			_ = conn.Close()
		}))
		t.Cleanup(rude.Close)
		gw := serve(t, d.provider(rude.URL, "first"), d.provider(b.URL, "second"), d.route("first", "second"))
		for i := range 200 {
			d.wantWhole(t, gw.Post(t, d.path, d.ask(i%2 == 0)), i%2 == 0, saidBy("same"))
		}
		if f.Requests() == 0 {
			t.Error("the first member was never dialled")
		}
	})
}
