package dataplane

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// eachPath runs a test for every path of every endpoint, aliases included.
func eachPath(t *testing.T, f func(t *testing.T, e *llm.Endpoint, path string)) {
	t.Helper()
	for _, e := range formats.Endpoints() {
		for _, path := range e.Paths {
			t.Run(strings.ReplaceAll(strings.Trim(path, "/"), "/", "_"), func(t *testing.T) { f(t, e, path) })
		}
	}
}

// ownPath is where a provider of a format serves an endpoint, whatever path
// the client used.
func ownPath(t *testing.T, e *llm.Endpoint) string {
	t.Helper()
	p := map[llm.EndpointID]string{
		llm.Messages: "/v1/messages", llm.CountTokens: "/v1/messages/count_tokens", llm.ChatCompletions: "/v1/chat/completions",
		llm.Responses: "/v1/responses", llm.Embeddings: "/v1/embeddings",
	}[e.ID]
	if p == "" {
		t.Fatalf("no provider path for %s: add it", e.ID)
	}
	return p
}

func TestRQ_EP_table(t *testing.T) {
	// The rows of the specification that are built; a new endpoint is added here.
	want := map[string]llm.EndpointID{
		"POST /v1/messages": llm.Messages, "POST /anthropic/v1/messages": llm.Messages,
		"POST /v1/messages/count_tokens": llm.CountTokens, "POST /anthropic/v1/messages/count_tokens": llm.CountTokens,
		"POST /v1/chat/completions": llm.ChatCompletions, "POST /chat/completions": llm.ChatCompletions, "POST /openai/v1/chat/completions": llm.ChatCompletions,
		"POST /v1/responses": llm.Responses, "POST /openai/v1/responses": llm.Responses, "POST /v1/embeddings": llm.Embeddings,
	}
	for _, e := range formats.Endpoints() {
		for _, p := range e.Paths {
			if want[e.Method+" "+p] != e.ID {
				t.Errorf("%s %s is not the specification's", e.Method, p)
			}
			delete(want, e.Method+" "+p)
		}
		switch e.ID { // "stream", "failover", "counts for rates and budgets"
		case llm.Messages, llm.ChatCompletions, llm.Responses: // a tied one fails over to nobody, see responses_test.go
			if !e.Stream || !e.Failover || !e.Counts || e.OneModel {
				t.Errorf("%+v", e)
			}
		case llm.Embeddings:
			if e.Stream || !e.Failover || !e.Counts || !e.OneModel {
				t.Errorf("%+v", e)
			}
		case llm.CountTokens:
			if e.Stream || e.Failover || e.Counts {
				t.Errorf("%+v", e)
			}
		}
	}
	for p := range want {
		t.Errorf("%s is missing", p)
	}
}

func TestRQ_EP_every_path_works(t *testing.T) {
	gw := startDuo(t, "")
	eachPath(t, func(t *testing.T, e *llm.Endpoint, path string) {
		for _, stream := range []bool{false, true} {
			if stream && !e.Stream {
				continue
			}
			body := endpointBody(t, e, endpointModel(t, e.Format))
			if stream {
				body = streamBody(t, e, endpointModel(t, e.Format))
			}
			fake := gw.fake(e.Format)
			fake.Reset()
			got := gw.Post(t, path, body)
			if got.Status != 200 || got.Err != nil {
				t.Fatalf("%d %v %s", got.Status, got.Err, got.Body)
			}
			wantWhole(t, e, stream, got)
			recs := fake.Records()
			if len(recs) != 1 || recs[0].Method != "POST" || recs[0].Path != ownPath(t, e) || string(recs[0].Raw) != body {
				t.Errorf("the provider received %+v", recs)
			}
		}
	})
}

// A count is a whole answer even if the request says stream, and one
// candidate is dialled.
func TestRQ_EP_count_tokens(t *testing.T) {
	gw := startDuo(t, "")
	for _, body := range []string{
		`{"model":"claude-test","messages":[]}`, `{"model":"claude-test","messages":[],"stream":true}`,
	} {
		got := gw.Post(t, "/v1/messages/count_tokens?beta=true", body)
		var v struct {
			InputTokens int `json:"input_tokens"`
		}
		if err := json.Unmarshal([]byte(got.Body), &v); err != nil || got.Status != 200 || v.InputTokens < 1 {
			t.Errorf("%d %v %s", got.Status, err, got.Body)
		}
	}
	if q := gw.claude.Records()[0].Query; q != "beta=true" {
		t.Errorf("query %q", q)
	}
}

func TestRQ_EP_wrong_method(t *testing.T) {
	gw := startDuo(t, "")
	eachPath(t, func(t *testing.T, e *llm.Endpoint, path string) {
		for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} {
			t.Run(method, func(t *testing.T) {
				got := gw.Do(t, method, path, "")
				if allow := got.Header.Get("Allow"); allow != e.Method {
					t.Errorf("allow %q", allow)
				}
				if method == "HEAD" {
					if got.Status != 405 || got.Body != "" {
						t.Errorf("%d %q", got.Status, got.Body)
					}
					return
				}
				err := wantRefusal(t, got, e.Format, 405, "method_not_allowed")
				if !strings.Contains(err.Message, e.Method) {
					t.Error(err.Message)
				}
			})
		}
	})
	t.Run("models", func(t *testing.T) {
		for _, method := range []string{"POST", "PUT", "DELETE"} {
			got := gw.Do(t, method, "/v1/models", "{}")
			wantRefusal(t, got, llm.OpenAIChat, 405, "method_not_allowed")
			if allow := got.Header.Get("Allow"); allow != "GET, HEAD" {
				t.Errorf("allow %q", allow)
			}
		}
	})
	if n := gw.contacted(); n != 0 {
		t.Errorf("a provider was contacted %d times", n)
	}
}

func TestRQ_EP_no_such_path(t *testing.T) {
	gw := startDuo(t, "")
	t.Run("around_the_endpoints", func(t *testing.T) {
		eachPath(t, func(t *testing.T, e *llm.Endpoint, path string) {
			body := endpointBody(t, e, endpointModel(t, e.Format))
			for _, p := range []string{
				path + "/", path + "/more", path + "s", path + ".json", "/prefix" + path, path + "%2F", path + "%20", strings.ToUpper(path),
			} {
				t.Run(p, func(t *testing.T) {
					f := e.Format
					if p == strings.ToUpper(path) { // says nothing that a format can be told by
						f = llm.OpenAIChat
					}
					got := gw.Post(t, p, body)
					err := wantRefusal(t, got, f, 404, "not_found")
					if got.Header.Get("X-Should-Retry") != "false" {
						t.Error("repeating is of no use")
					}
					// Below /v1/responses are those that are kept, in a later version.
					later := e.ID == llm.Responses && (strings.HasPrefix(p, path+"/") || p == path+"%2F")
					if strings.Contains(err.Message, "not part of this version") && !later {
						t.Errorf("it promises %s: %s", p, err.Message)
					}
				})
			}
		})
	})
	for _, c := range []struct {
		method, path string
		format       llm.Format
		headers      []string
	}{
		{"GET", "/nothing", llm.OpenAIChat, nil},
		{"GET", "/v1", llm.OpenAIChat, nil},
		{"POST", "/", llm.OpenAIChat, nil},
		{"GET", "/nothing", llm.AnthropicMessages, []string{asAnthropic}},
		{"POST", "/anthropic/v1/complete", llm.AnthropicMessages, nil},
		{"POST", "/v1/messages/msg_1/cancel", llm.AnthropicMessages, nil},
		{"GET", "/v1/files", llm.OpenAIChat, nil},
		{"GET", "/" + strings.Repeat("long", 500), llm.OpenAIChat, nil},
	} {
		t.Run(c.method+c.path[:min(len(c.path), 40)], func(t *testing.T) {
			got := gw.Do(t, c.method, c.path, "", c.headers...)
			err := wantRefusal(t, got, c.format, 404, "not_found")
			if len(err.Message) > 400 {
				t.Errorf("the message has %d bytes", len(err.Message))
			}
		})
	}
	if n := gw.contacted(); n != 0 {
		t.Errorf("a provider was contacted %d times", n)
	}
}

// Rows of the specification's table that are not built yet say so.
func TestRQ_EP_known_but_not_built(t *testing.T) {
	gw := startDuo(t, "")
	for _, p := range []string{
		"GET /v1/responses/resp_1", "DELETE /v1/responses/resp_1", "POST /v1/responses/resp_1/cancel", "POST /v1/responses/input_tokens",
		"GET /openai/v1/responses/resp_1", "POST /v1/responses/compact", "POST /v1/completions", "POST /openai/deployments/gpt-4/chat/completions?api-version=2026-01-01",
		"POST /v1beta/models/gemini-2.5-flash:generateContent", "POST /v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
		"POST /v1beta/models/gemini-2.5-flash:countTokens", "POST /v1beta/models/gemini-embedding-001:batchEmbedContents", "GET /v1beta/models",
		"POST /v1/models/gemini-2.5-flash:generateContent", "POST /v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "POST /v1/models/gemini-2.5-flash:countTokens",
		"POST /v1beta1/publishers/google/models/gemini-2.5-flash:generateContent", "POST /v1/publishers/google/models/gemini-2.5-flash:generateContent",
		"POST /v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:generateContent", "POST /v1beta1/projects/p/locations/l/publishers/google/models/m:generateContent",
		"POST /v1/projects/p/locations/l/publishers/anthropic/models/claude:rawPredict", "POST /vertex/v1/projects/p/locations/l/publishers/anthropic/models/claude:streamRawPredict",
		"POST /projects/p/locations/l/publishers/anthropic/models/claude:rawPredict", "POST /projects/p/locations/l/publishers/google/models/gemini-2.5-flash:generateContent",
		"POST /model/us.anthropic.claude-v1:0/invoke", "POST /model/us.anthropic.claude-v1%3A0/invoke-with-response-stream", "POST /bedrock/model/m/invoke",
		"POST /v1/messages/batches", "GET /v1/messages/batches/b_1",
	} {
		t.Run(p, func(t *testing.T) {
			method, path, _ := strings.Cut(p, " ")
			f := llm.OpenAIChat
			switch {
			case strings.Contains(path, "/messages"), strings.Contains(path, "awPredict"), strings.Contains(path, "/invoke"):
				f = llm.AnthropicMessages
			case strings.Contains(path, "/responses"):
				f = llm.OpenAIResponses
			case strings.Contains(path, "gemini"), strings.Contains(path, "/v1beta"):
				f = llm.Gemini
			}
			err := wantRefusal(t, gw.Do(t, method, path, "{}"), f, 404, "not_found")
			if !strings.Contains(err.Message, "not part of this version yet") {
				t.Error(err.Message)
			}
		})
	}
	if n := gw.contacted(); n != 0 {
		t.Errorf("a provider was contacted %d times", n)
	}
}

// A client that mixes up its settings puts its key anywhere: no message repeats
// it (chapter 20, Errors).
func TestRQ_EP_no_key_in_a_message(t *testing.T) {
	gw := startDuo(t, "")
	for _, p := range []string{
		"/v1/models/" + gwtest.Key, "/v1/models/vendor/" + gwtest.Key, "/v1/models/Bearer%20" + gwtest.Key, "/" + gwtest.Key, "/" + gwtest.Key + "/v1/messages",
		"/v1beta/models/" + gwtest.Key + ":generateContent", "/v1/responses/" + gwtest.Key, "/v1/models/sk-" + gwtest.Key[4:], "/sk-" + gwtest.Key[4:],
	} {
		t.Run(strings.ReplaceAll(p, "/", "_"), func(t *testing.T) {
			got := gw.Do(t, "GET", p, "")
			if got.Status != 404 || strings.Contains(got.Body, gwtest.Key[4:]) || !strings.Contains(got.Body, "***") {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	}
	if got := gw.Do(t, "GET", "/task-1/desk-sk-2", ""); !strings.Contains(got.Body, "there is nothing at /task-1/desk-sk-2;") {
		t.Errorf("it hides what is no key: %s", got.Body)
	}
}

// Claude Code asks these before its first request, without a key.
func TestRQ_EP_probes(t *testing.T) {
	gw := startDuo(t, "")
	for _, path := range []string{"/", "/api/hello", "/?x=1"} {
		for _, method := range []string{"HEAD", "GET"} {
			got := gw.Do(t, method, path, "", "Authorization:")
			if got.Status != 200 || method == "HEAD" && got.Body != "" {
				t.Errorf("%s %s: %d %q", method, path, got.Status, got.Body)
			}
		}
	}
}

func TestRQ_EP_health(t *testing.T) {
	gw := startDuo(t, "")
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ready"} {
		got := gw.Do(t, "GET", path, "", "Authorization:")
		var v struct{ Status string }
		if err := json.Unmarshal([]byte(got.Body), &v); err != nil || got.Status != 200 || v.Status != want || got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %v %s", path, got.Status, got.Header, got.Body)
		}
		if got := gw.Do(t, "HEAD", path, "", "Authorization:"); got.Status != 200 || got.Body != "" {
			t.Errorf("HEAD %s: %d %q", path, got.Status, got.Body)
		}
	}
	t.Run("drain", func(t *testing.T) {
		slow := newGate(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"id":"x"}`))
		})
		gw := gwtest.Start(t, slow.Anthropic("a"))
		done, stopped := make(chan gwtest.Answer, 1), make(chan error, 1)
		go func() { done <- gw.Post(t, "/v1/messages", gwtest.Message("claude-test", false)) }()
		await(t, slow.arrived, "the request")
		go func() { stopped <- gw.Stop() }()
		close(slow.release)
		if got := await(t, done, "the answer"); got.Status != 200 {
			t.Errorf("a running request was cut off: %d %s", got.Status, got.Body)
		}
		if err := await(t, stopped, "the end"); err != nil {
			t.Error(err)
		}
	})
}

// Every answer has an id of its own.
func TestRQ_EP_request_ids_differ(t *testing.T) {
	gw := startDuo(t, "")
	var ids []string
	for range 50 {
		for _, path := range []string{"/nothing", "/v1/models"} {
			ids = append(ids, gw.Do(t, "GET", path, "").Header.Get("X-Interlock-Request-Id"))
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 100 || ids[0] == "" {
		t.Error(ids)
	}
}
