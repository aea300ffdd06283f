package dataplane

import (
	"bytes"
	"encoding/json"
	"maps"
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
		case "Content-Length", "Connection", "Content-Encoding": // the transport's own, and the test's
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
	case f == llm.OpenAIChat, f == llm.OpenAIResponses:
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
	return startDuo(t, "", gwtest.Route("named-claude", `"gw-big", "team/gpt-5"`, "claude-home"), gwtest.Route("named-gpt", `"gw-model", "text-embedding-*"`, "gpt-home"))
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
		llm.Responses:       "event: response.completed\n",
	}[e.ID]
	last := lastEvent(got.Body) + "\n\n"
	if end == "" || !strings.HasSuffix(last, end) && (e.ID != llm.Responses || !strings.HasPrefix(last, end)) || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/event-stream") {
		t.Errorf("%v %s", got.Header, got.Body)
	}
}

func TestRQ_EP_captured_probes_and_model_lists(t *testing.T) {
	gw := startForCaptures(t)
	probes, lists := 0, 0
	for _, c := range captures(t) {
		if c.endpoint() != nil || c.name == "codex-ws" { // see responses_test.go
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
				Data   []struct{ ID string }
				Models []struct{ Name, Slug string } // Gemini's and Codex's
			}
			if err := json.Unmarshal([]byte(got.Body), &list); err != nil {
				t.Fatal(err)
			}
			for _, m := range list.Models {
				list.Data = append(list.Data, struct{ ID string }{m.Slug + strings.TrimPrefix(m.Name, "models/")})
			}
			if gemini, codex := strings.Contains(c.name, "genai"), strings.HasPrefix(c.name, "codex"); (gemini || codex) != (list.Models != nil) {
				t.Errorf("a list of another shape: %s", got.Body)
			}
			for _, id := range []string{"gw-model", "gw-big", "team/gpt-5"} {
				if strings.HasPrefix(c.name, "codex") && id != "gw-model" {
					continue // not on Responses
				}
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

// oddBodies are good bodies that a program which decodes and encodes JSON
// would change. @ stands for the model.
func oddBodies() map[llm.Format]map[string]string {
	common := map[string]string{
		"model_last":                 `{"messages":[{"role":"user","content":"hi"}],"max_tokens":1,"model":@}`,
		"white_space":                "\r\n\t { \"model\"\t:\n @ ,\r\n\"max_tokens\" : 1,\n \"messages\"  :[ { \"role\":\"user\" , \"content\":\"hi\"} ] }\n\n ",
		"large_and_odd_numbers":      `{"model":@,"max_tokens":1,"messages":[],"a":12345678901234567890123,"b":1E400,"c":-0.0,"d":1.10,"e":9007199254740993,"f":1e-7}`,
		"escapes":                    `{"model":@,"max_tokens":1,"messages":[{"role":"user","content":"\u0041\/\u00e9\ud83d\ude00\b\f\n\r\t\"\\ \u2028\u0000<>&"}]}`,
		"lone_surrogates":            `{"model":@,"max_tokens":1,"messages":[{"role":"user","content":"cut \ud83d and \udc00 text"}]}`,
		"unicode":                    `{"model":@,"max_tokens":1,"messages":[{"role":"user","content":"é e` + "\u0301" + ` 漢字 👩‍👩‍👧 ` + "\u2028\u2029\ufeff\u200f" + ` <b>&"}]}`,
		"duplicate_nested_names":     `{"model":@,"max_tokens":1,"messages":[{"role":"user","role":"user","content":"a","content":"b"}],"metadata":{"k":1,"k":2}}`,
		"model_nested":               `{"model":@,"max_tokens":1,"messages":[{"role":"user","content":"use \"model\":@ please","model":@}],"tools":[{"name":"t","input_schema":{"properties":{"model":{"enum":[@]}}}}]}`,
		"model_in_front":             `{"metadata":{"model":@},"x":[@,"model"],"model":@,"max_tokens":1,"messages":[]}`,
		"unknown_members":            `{"model":@,"max_tokens":1,"messages":[{"role":"shaman","content":[{"type":"hologram","x":null}]}],"tools":[{"type":"new_20300101"}],"from_the_future":{"a":[[],{}]},"":1}`,
		"empty_containers_and_nulls": `{"model":@,"max_tokens":1,"messages":[],"tools":[ ],"metadata":{ },"stop":null,"system":[null,true,false]}`,
		"order_of_names":             `{"z":1,"model":@,"a":2,"messages":[{"content":"c","role":"user"}],"max_tokens":1,"0":3}`,
	}
	claude := map[string]string{
		"R57_signed_thinking": `{"model":@,"max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"q"},` +
			`{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"EqQBCgIYAhIM+/==\/"},{"type":"thinking","thinking":"hm \u00e9","signature":"abc+/=="},` +
			`{"type":"redacted_thinking","data":"Zm9v"},{"type":"tool_use","id":"toolu_1","name":"f","input":{"b":1,"a":1.0,"b":2}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[]}]}]}`,
		"cache_markers": `{"model":@,"max_tokens":1,"system":[{"type":"text","text":"x-anthropic-billing-header: a; b;"},{"type":"text","text":"s","cache_control":{"ttl":"1h","type":"ephemeral"}}],"messages":[]}`,
	}
	gpt := map[string]string{
		"reasoning": `{"model":@,"messages":[{"role":"assistant","content":null,"reasoning_content":"r","reasoning_details":[{"type":"reasoning.encrypted","data":"+/=="}]}],"logit_bias":{"50256":-100.0}}`,
	}
	responses := map[string]string{
		"reasoning": `{"model":@,"store":false,"include":["reasoning.encrypted_content"],"input":[{"type":"reasoning","id":"rs_1","summary":[]},` +
			`{"role":"user","content":[{"type":"input_text","text":"\u00e9"}]}],"tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f","strict":false,"parameters":{"b":1,"a":1.0}}]}]}`,
	}
	out := map[llm.Format]map[string]string{llm.AnthropicMessages: claude, llm.OpenAIChat: gpt, llm.OpenAIResponses: responses}
	for _, m := range out {
		maps.Copy(m, common)
	}
	return out
}

// replaceTop puts one model in place of the top-level @, and another in place
// of all others.
func replaceTop(body, top, nested string) string {
	const key = `"model"`
	depth := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '@':
			before := strings.TrimRight(strings.TrimRight(body[:i], " \r\n\t"), ":")
			if depth == 1 && strings.HasSuffix(strings.TrimRight(before, " \r\n\t"), key) {
				return strings.ReplaceAll(body[:i], "@", nested) + top + strings.ReplaceAll(body[i+1:], "@", nested)
			}
		}
	}
	return ""
}

// plainModel replaces an @ inside of a string, where the quotes of a model would
// end it.
func plainModel(body string) string {
	return strings.ReplaceAll(body, `\"model\":@`, `\"model\":\"claude-alias\"`)
}

func TestRQ_3b_only_the_model_is_rewritten(t *testing.T) {
	const wire = `Vendor/modèle-"x"\2024`
	fake := gwtest.NewFake(t)
	aliases := `modelAliases: {Claude-Alias: 'Vendor/modèle-"x"\2024', gpt-alias: 'Vendor/modèle-"x"\2024', claude-same: claude-same}`
	gw := gwtest.Start(t, fake.Anthropic("a", aliases), fake.OpenAI("b", aliases),
		gwtest.Route("claude", `"claude-*"`, "a"), gwtest.Route("gpt", `"gpt-*"`, "b"))
	wireJSON := `"Vendor/modèle-\"x\"\\2024"`
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		prefix := strings.TrimSuffix(endpointModel(t, e.Format), "test")
		spelled := strings.Replace(prefix, "-", `\u002d`, 1)
		for name, template := range oddBodies()[e.Format] {
			template = plainModel(template)
			for _, m := range []struct{ name, sent, want string }{
				{"alias", `"` + prefix + `alias"`, wireJSON},
				{"alias_in_other_case", `"` + strings.ToUpper(prefix) + `ALIAS"`, wireJSON},
				{"alias_in_escapes", `"` + spelled + `al\u0069as"`, wireJSON},
				{"no_alias", `"` + prefix + `plain"`, `"` + prefix + `plain"`},
				{"no_alias_in_escapes", `"` + spelled + `pl\u0061in"`, `"` + spelled + `pl\u0061in"`},
				{"alias_of_itself", `"` + prefix + `same"`, `"` + prefix + `same"`},
			} {
				t.Run(name+"/"+m.name, func(t *testing.T) {
					nested := `"` + prefix + `alias"`
					sent, want := replaceTop(template, m.sent, nested), replaceTop(template, m.want, nested)
					if sent == "" {
						t.Fatalf("no model in %s", template)
					}
					fake.Reset()
					if got := gw.Post(t, e.Paths[0], sent); got.Status != 200 {
						t.Fatalf("%d %s", got.Status, got.Body)
					}
					rec := fake.Records()[0]
					if string(rec.Raw) != want {
						t.Errorf("the provider received\n%s\nwant\n%s", rec.Raw, want)
					}
					if m.want == wireJSON {
						var v struct{ Model string }
						if err := json.Unmarshal(rec.Raw, &v); err != nil || v.Model != wire {
							t.Errorf("the provider reads the model %q: %v", v.Model, err)
						}
					}
				})
			}
		}
	})
}

// A failed first attempt must not change what the second sends.
func TestRQ_3b_R14_each_attempt_starts_from_the_client_s_bytes(t *testing.T) {
	first, second := gwtest.NewFake(t), gwtest.NewFake(t)
	first.Rules(t, fakellm.Rule{Action: "status", Status: 500})
	// Without breakers, which would spare the first its sixth failure.
	gw := gwtest.StartWith(t, gwtest.Config{Settings: noBreaker, Documents: []string{
		first.Anthropic("a1", `modelAliases: {claude-alias: first-wire-name-that-is-longer}`), second.Anthropic("a2", `modelAliases: {claude-alias: w}`),
		gwtest.Route("claude", `"claude-*"`, "a1", "a2"),
		first.OpenAI("o1", `modelAliases: {gpt-alias: first-wire-name-that-is-longer}`), second.OpenAI("o2"), gwtest.Route("gpt", `"gpt-*"`, "o1", "o2"),
	}})
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		if !e.Failover || e.OneModel {
			t.Skip("one candidate, or one wire model, only")
		}
		prefix := strings.TrimSuffix(endpointModel(t, e.Format), "test")
		secondWire := map[llm.Format]string{llm.AnthropicMessages: "w", llm.OpenAIChat: "gpt-alias", llm.OpenAIResponses: "gpt-alias"}[e.Format]
		for name, template := range oddBodies()[e.Format] {
			template = plainModel(template)
			second.Reset()
			sent := replaceTop(template, `"`+prefix+`alias"`, `"x"`)
			if got := gw.Post(t, e.Paths[0], sent); got.Status != 200 {
				t.Fatalf("%s: %d %s", name, got.Status, got.Body)
			}
			recs := first.Records()
			if got, want := string(recs[len(recs)-1].Raw), replaceTop(template, `"first-wire-name-that-is-longer"`, `"x"`); got != want {
				t.Errorf("%s: the first received\n%s\nwant\n%s", name, got, want)
			}
			if got, want := string(second.Records()[0].Raw), replaceTop(template, `"`+secondWire+`"`, `"x"`); got != want {
				t.Errorf("%s: the second received\n%s\nwant\n%s", name, got, want)
			}
		}
	})
}

// strictBodies are bodies that some parser reads differently, or that are no
// request at all. @ stands for the model as a JSON string.
func strictBodies() map[string]string {
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	return map[string]string{
		"RQ-3a_model_twice":                  `{"model":@,"model":"claude-opus-expensive","messages":[]}`,
		"RQ-3a_model_twice_the_same":         `{"model":@,"messages":[],"model":@}`,
		"RQ-3a_model_in_other_case":          `{"model":@,"Model":"claude-opus-expensive","messages":[]}`,
		"RQ-3a_only_in_other_case":           `{"MODEL":@,"messages":[]}`,
		"RQ-3a_model_in_escapes":             `{"model":@,"mod\u0065l":"claude-opus-expensive","messages":[]}`,
		"RQ-3a_only_in_escapes":              `{"\u006dodel":@,"messages":[]}`,
		"RQ-3a_other_case_in_escapes":        `{"model":@,"\u004dodel":"x","messages":[]}`,
		"RQ-3a_stream_twice":                 `{"model":@,"stream":false,"stream":true,"messages":[]}`,
		"RQ-3a_stream_with_long_s":           `{"model":@,"` + "\u017f" + `tream":true,"messages":[]}`,
		"RQ-3a_stream_with_escaped_long_s":   `{"model":@,"\u017ftream":true,"messages":[]}`,
		"RQ-3a_max_tokens_with_kelvin_sign":  `{"model":@,"max_to` + "\u212a" + `ens":1,"messages":[]}`,
		"RQ-3a_messages_twice":               `{"model":@,"messages":[],"messages":[{"role":"user","content":"x"}]}`,
		"RQ-3a_unknown_member_twice":         `{"model":@,"messages":[],"x":1,"x":2}`,
		"RQ-3a_unknown_member_twice_escaped": `{"model":@,"messages":[],"x":1,"\u0078":2}`,
		"RQ-3_model_missing":                 `{"messages":[]}`,
		"RQ-3_model_empty":                   `{"model":"","messages":[]}`,
		"RQ-3_model_null":                    `{"model":null,"messages":[]}`,
		"RQ-3_model_number":                  `{"model":4,"messages":[]}`,
		"RQ-3_model_list":                    `{"model":[@],"messages":[]}`,
		"RQ-3_model_object":                  `{"model":{"id":@},"messages":[]}`,
		"RQ-3_model_of_257":                  `{"model":"` + strings.Repeat("é", 257) + `","messages":[]}`,
		"RQ-3_model_with_half_a_surrogate":   `{"model":"claude-\ud83d","messages":[]}`,
		"RQ-3_stream_text":                   `{"model":@,"stream":"true","messages":[]}`,
		"RQ-3_stream_number":                 `{"model":@,"stream":1,"messages":[]}`,
		"RQ-3_stream_null":                   `{"model":@,"stream":null,"messages":[]}`,
		"RQ-3_empty":                         ``,
		"RQ-3_blank":                         " \n",
		"RQ-3_null":                          `null`,
		"RQ-3_list":                          `[{"model":@}]`,
		"RQ-3_text":                          `"model"`,
		"RQ-3_form":                          `model=claude-test&messages=`,
		"RQ-3_two_objects":                   `{"model":@,"messages":[]}{"model":"x"}`,
		"RQ-3_rubbish_behind":                `{"model":@,"messages":[]}x`,
		"RQ-3_not_ended":                     `{"model":@,"messages":[]`,
		"RQ-3_not_ended_in_a_string":         `{"model":@,"messages":[],"x":"`,
		"RQ-3_comma_at_the_end":              `{"model":@,"messages":[],}`,
		"RQ-3_no_comma":                      `{"model":@ "messages":[]}`,
		"RQ-3_no_colon":                      `{"model" @,"messages":[]}`,
		"RQ-3_no_value":                      `{"model":@,"messages":}`,
		"RQ-3_single_quotes":                 `{'model':'claude-test'}`,
		"RQ-3_bare_name":                     `{model:@,"messages":[]}`,
		"RQ-3_comment":                       `{"model":@,/* x */"messages":[]}`,
		"RQ-3_not_a_number":                  `{"model":@,"messages":[],"x":NaN}`,
		"RQ-3_leading_zero":                  `{"model":@,"messages":[],"x":01}`,
		"RQ-3_byte_order_mark":               "\ufeff" + `{"model":@,"messages":[]}`,
		"RQ-3_not_UTF-8":                     `{"model":@,"messages":[],"x":"` + "\xff" + `"}`,
		"RQ-3_not_UTF-8_deep_inside":         `{"model":@,"messages":[{"role":"user","content":"` + "\xed\xa0\xbd" + `"}]}`,
		"RQ-3_UTF-16":                        "{\x00\"\x00m\x00",
		"RQ-3_control_character":             `{"model":@,"messages":[],"x":"` + "\n" + `"}`,
		"RQ-3_unknown_escape":                `{"model":@,"messages":[],"x":"\q"}`,
		"RQ-3_nested_not_balanced":           `{"model":@,"messages":[{"role":"user"],"x":1}`,
		"RQ-3_wrong_bracket":                 `{"model":@,"messages":[}}`,
		"RQ-3_very_deep":                     `{"model":@,"messages":` + deep + `}`,
	}
}

func TestER_BODY_what_two_parsers_could_read_differently(t *testing.T) {
	gw := startDuo(t, "")
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		model := strings.TrimSuffix(endpointModel(t, e.Format), "test") + "test"
		for name, template := range strictBodies() {
			t.Run(name, func(t *testing.T) {
				if e.Format == llm.OpenAIResponses {
					template = strings.Replace(template, "max_to", "max_output_to", 1)
				}
				got := gw.Post(t, e.Paths[0], strings.ReplaceAll(template, "@", `"`+model+`"`))
				err := wantRefusal(t, got, e.Format, 400, "invalid_request")
				if !strings.Contains(err.Message, "at byte ") {
					t.Errorf("the message names no place: %s", err.Message)
				}
				if got.Header.Get("X-Should-Retry") != "false" || err.Type != "invalid_request_error" {
					t.Errorf("%v %q", got.Header, err.Type)
				}
			})
		}
	})
	if n := gw.contacted(); n != 0 {
		t.Errorf("a provider was contacted %d times", n)
	}
}

// What is odd but unambiguous is the provider's to judge.
func TestRQ_3_odd_bodies_that_pass(t *testing.T) {
	gw := startDuo(t, "", gwtest.Route("any", `"*"`, "claude-home"))
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		prefix := strings.TrimSuffix(endpointModel(t, e.Format), "test")
		for name, body := range map[string]string{
			"model_of_256":               `{"model":"` + prefix + strings.Repeat("é", 256-len(prefix)) + `","messages":[]}`,
			"no_messages":                `{"model":"` + prefix + `x"}`,
			"nested_numbers_are_no_JSON": `{"model":"` + prefix + `x","messages":[01,+1,.5]}`,
			"stream_false":               `{"stream" : false ,"model":"` + prefix + `x"}`,
			"name_that_contains_a_known": `{"model":"` + prefix + `x","model_":"a","xmodel":"b","models":["c"]}`,
			"content_type_is_text":       `{"model":"` + prefix + `x","messages":"x"}`,
		} {
			t.Run(name, func(t *testing.T) {
				fake := gw.fake(e.Format)
				fake.Reset()
				if got := gw.Post(t, e.Paths[0], body, "Content-Type: text/plain"); got.Status != 200 {
					t.Fatalf("%d %s", got.Status, got.Body)
				}
				if raw := string(fake.Records()[0].Raw); raw != body {
					t.Errorf("%s", raw)
				}
			})
		}
	})
}
