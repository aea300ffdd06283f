package dataplane

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// capture is a request that a real client sent, see the file's "client".
type capture struct {
	name string
	Kind string
	HTTP struct {
		Method, Path, Query string
		Headers             map[string]string
		Body                json.RawMessage
	} `json:"request"`
}

func captures(t *testing.T) []*capture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "captures", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	list := make([]*capture, len(files))
	for i, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		c := &capture{name: strings.TrimSuffix(filepath.Base(f), ".json")}
		if err := json.Unmarshal(b, c); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		list[i] = c
	}
	if len(list) < 50 {
		t.Fatalf("only %d captures", len(list))
	}
	return list
}

// endpoint finds what a capture calls; nil is none of the model endpoints.
func (c *capture) endpoint() *llm.Endpoint {
	for _, e := range formats.Endpoints() {
		if c.HTTP.Method == e.Method && slices.Contains(e.Paths, c.HTTP.Path) {
			return e
		}
	}
	return nil
}

// body is the body as JavaScript and Go clients write it, without spaces.
func (c *capture) body(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, c.HTTP.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// request is the captured request with another body, and with our key in
// place of the client's in every header that had one.
func (c *capture) request(t *testing.T, s *gwtest.Server, body string) *http.Request {
	t.Helper()
	path := c.HTTP.Path
	if c.HTTP.Query != "" {
		path += "?" + c.HTTP.Query
	}
	req := s.Request(t, c.HTTP.Method, path, body, "Authorization:", "Content-Type:")
	for k, v := range c.HTTP.Headers {
		switch http.CanonicalHeaderKey(k) {
		case "Content-Length", "Connection": // the transport's own
			continue
		case "Authorization":
			v = "Bearer " + gwtest.Key
		case "X-Api-Key", "X-Goog-Api-Key":
			v = gwtest.Key
		}
		req.Header.Set(k, v)
	}
	return req
}

// passesTo says by the specification's words which client headers a provider
// of a format receives. The data is written here again on purpose.
func passesTo(f llm.Format, name string) bool {
	name = strings.ToLower(name)
	common := []string{
		"content-type", "accept", "user-agent", "idempotency-key", "x-request-id", "traceparent", "tracestate",
		"session-id", "thread-id", "session_id", "conversation_id", "x-session-id", "x-session-affinity", "x-client-request-id",
	}
	switch {
	case slices.Contains(common, name), strings.HasPrefix(name, "x-stainless-"):
		return true
	case f == llm.AnthropicMessages:
		return slices.Contains([]string{"anthropic-version", "anthropic-beta", "x-app"}, name) || strings.HasPrefix(name, "x-claude-code-")
	case f == llm.OpenAIChat:
		return name == "openai-beta"
	}
	return false
}

// wantForwarded checks that the provider received the client's headers that
// may pass, as sent, and no others but the gateway's own.
func wantForwarded(t *testing.T, f llm.Format, sent http.Header, stream bool, rec *fakellm.Record) {
	t.Helper()
	want := http.Header{}
	for k, v := range sent {
		if passesTo(f, k) {
			want[k] = v
		}
	}
	if f == llm.AnthropicMessages {
		want["X-Api-Key"] = []string{"sk-ant-key-of-claude-home"}
		if want["Anthropic-Version"] == nil {
			want["Anthropic-Version"] = []string{"2023-06-01"}
		}
	} else {
		want["Authorization"] = []string{"Bearer sk-key-of-gpt-home"}
	}
	if stream {
		want["Accept-Encoding"] = []string{"identity"}
	}
	want["Content-Length"] = rec.Headers["Content-Length"]
	for k, v := range want {
		if !slices.Equal(rec.Headers[k], v) {
			t.Errorf("header %s: %q, want %q", k, rec.Headers[k], v)
		}
	}
	for k, v := range rec.Headers {
		if want[k] == nil {
			t.Errorf("header %s reached the provider: %q", k, v)
		}
	}
}

func startForCaptures(t *testing.T) *duo {
	t.Helper()
	return startDuo(t, "", gwtest.Route("named-claude", `"gw-big", "team/gpt-5"`, "claude-home"), gwtest.Route("named-gpt", `"gw-model"`, "gpt-home"))
}

func TestRQ_3b_captured_requests_arrive_as_sent(t *testing.T) {
	gw := startForCaptures(t)
	seen := map[llm.EndpointID]int{}
	for _, c := range captures(t) {
		e := c.endpoint()
		if e == nil {
			continue
		}
		seen[e.ID]++
		for _, v := range []struct {
			name, encoding string
			encode         func(*testing.T, string) string
		}{
			{"RQ-HDR-1_plain", "", func(_ *testing.T, s string) string { return s }},
			{"RQ-1_gzip", "gzip", asGzip},
			{"RQ-1_zstd", "zstd", asZstd},
		} {
			t.Run(c.name+"/"+v.name, func(t *testing.T) {
				body := c.body(t)
				req := c.request(t, gw.Server, v.encode(t, body))
				if v.encoding != "" {
					req.Header.Set("Content-Encoding", v.encoding)
				}
				fake := gw.fake(e.Format)
				fake.Reset()
				got := gw.Send(t, req)
				if got.Status != 200 || got.Err != nil {
					t.Fatalf("%d %v %s", got.Status, got.Err, got.Body)
				}
				recs := fake.Records()
				if len(recs) != 1 {
					t.Fatalf("the provider received %d requests", len(recs))
				}
				rec := &recs[0]
				if string(rec.Raw) != body {
					t.Errorf("the body changed: %d bytes of %d", len(rec.Raw), len(body))
				}
				wantQuery := ""
				if e.Format == llm.AnthropicMessages && strings.Contains(c.HTTP.Query, "beta=true") {
					wantQuery = "beta=true"
				}
				if rec.Query != wantQuery {
					t.Errorf("query %q, want %q", rec.Query, wantQuery)
				}
				var asked struct{ Stream bool }
				if err := json.Unmarshal([]byte(body), &asked); err != nil {
					t.Fatal(err)
				}
				wantForwarded(t, e.Format, req.Header, asked.Stream, rec)
				wantWhole(t, e, asked.Stream, got)
			})
		}
	}
	for _, e := range formats.Endpoints() {
		if seen[e.ID] < 3 {
			t.Errorf("only %d captures of %s", seen[e.ID], e.ID)
		}
	}
}

// wantWhole checks that an answer is one of its kind and complete.
func wantWhole(t *testing.T, e *llm.Endpoint, stream bool, got gwtest.Answer) {
	t.Helper()
	if !stream {
		if !json.Valid([]byte(got.Body)) || got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v %s", got.Header, got.Body)
		}
		return
	}
	end := map[llm.EndpointID]string{
		llm.Messages:        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		llm.ChatCompletions: "data: [DONE]\n\n",
	}[e.ID]
	if end == "" || !strings.HasSuffix(got.Body, end) || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/event-stream") {
		t.Errorf("%v %s", got.Header, got.Body)
	}
}

func TestRQ_EP_captured_probes_and_model_lists(t *testing.T) {
	gw := startForCaptures(t)
	probes, lists := 0, 0
	for _, c := range captures(t) {
		if c.endpoint() != nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			got := gw.Send(t, c.request(t, gw.Server, ""))
			if got.Status != 200 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
			if c.HTTP.Method == "HEAD" {
				probes++
				if got.Body != "" {
					t.Errorf("a HEAD request was answered with a body: %s", got.Body)
				}
				return
			}
			lists++
			var list struct {
				Data []struct{ ID string }
			}
			if err := json.Unmarshal([]byte(got.Body), &list); err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"gw-big", "gw-model", "team/gpt-5"} {
				if !slices.ContainsFunc(list.Data, func(m struct{ ID string }) bool { return m.ID == id }) {
					t.Errorf("%s is not listed: %s", id, got.Body)
				}
			}
		})
	}
	if probes < 2 || lists < 5 {
		t.Errorf("only %d probes and %d model lists", probes, lists)
	}
	if n := gw.contacted(); n != 0 {
		t.Errorf("a provider was contacted %d times", n)
	}
}

// TestRQ_HDR_1_captured_query: of a query only what the provider's API knows
// passes.
func TestRQ_HDR_1_captured_query(t *testing.T) {
	gw := startForCaptures(t)
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		fake := gw.fake(e.Format)
		fake.Reset()
		q := url.Values{"beta": {"true"}, "key": {"canary"}, "api_key": {"canary"}, "api-version": {"2026-01-01"}, "alt": {"sse"}}
		if got := gw.Post(t, e.Paths[0]+"?"+q.Encode(), endpointBody(t, e, endpointModel(t, e.Format))); got.Status != 200 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		want := ""
		if e.Format == llm.AnthropicMessages {
			want = "beta=true"
		}
		if q := fake.Records()[0].Query; q != want {
			t.Errorf("query %q, want %q", q, want)
		}
	})
}
