package dataplane

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// eachResponse runs a test for Responses, plain and streamed.
func eachResponse(t *testing.T, f func(t *testing.T, w *way)) {
	t.Helper()
	for _, w := range chats() {
		if w.format == llm.OpenAIResponses {
			t.Run(w.name, func(t *testing.T) { f(t, w) })
		}
	}
}

// TestRT_FO_2_tied_responses_dial_one: what only its maker can read goes to one
// candidate, which is retried in place like any last one; everything else fails
// over like chat.
func TestRT_FO_2_tied_responses_dial_one(t *testing.T) {
	cases := []struct {
		name, member string
		tied         bool
	}{
		{"previous_response_id", `"previous_response_id":"resp_1"`, true},
		{"conversation", `"conversation":"conv_1"`, true},
		{"conversation_object", `"conversation":{"id":"conv_1"}`, true},
		{"background", `"background":true`, true},
		{"encrypted_content", `"input":[{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}]`, true},
		{"compaction", `"input":[{"role":"user","content":"hi"},{"type":"compaction","encrypted_content":"gAAA"}]`, true},
		{"item_reference", `"input":[{"type":"item_reference","id":"msg_1"}]`, true},
		{"nothing", `"metadata":{}`, false},
		{"previous_null", `"previous_response_id":null`, false},
		{"background_false", `"background":false,"conversation":null`, false},
		{"stored", `"store":true,"prompt_cache_key":"k"`, false},
		{"asks_for_encrypted", `"include":["reasoning.encrypted_content"],"store":false`, false},
		{"own_reasoning_without_it", `"input":[{"type":"reasoning","summary":[],"encrypted_content":null}]`, false},
		{"in_a_text", `"input":[{"role":"user","content":"\"encrypted_content\":\"x\" previous_response_id"}]`, false},
		{"in_a_schema", `"tools":[{"type":"function","name":"f","parameters":{"properties":{"encrypted_content":{"type":"string"}}}}]`, false},
	}
	eachResponse(t, func(t *testing.T, w *way) {
		r := newRig(t, w, retrying(1), w.org("a"), w.org("b"), w.pool("", "a", "b"))
		never := newRig(t, w, strings.Replace(retrying(1), "{", "{responsesFailover: never, ", 1), w.org("a"), w.org("b"), w.pool("", "a", "b"))
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				body := withMembers(w.ask(w.stream), c.member)
				if strings.HasPrefix(c.member, `"input"`) {
					body = strings.Replace(w.ask(w.stream), `"input":"hi"`, c.member, 1)
				}
				if !c.tied {
					r.script(t, fails("a", 500))
					r.wantServed(t, r.Post(t, w.path, body), "b", 2)
					r.wantDials(t, "a", "b")
					body = w.ask(w.stream)
				}
				for _, r := range []*rig{r, never} {
					if r == never || c.tied {
						wantTied(t, r, body)
					}
				}
			})
		}
	})
	t.Run("chat_is_not_concerned_by_the_setting", func(t *testing.T) {
		w := ways()[3]
		r := newRig(t, w, "llmProxy: {responsesFailover: never}", w.org("a"), w.org("b"), w.pool("", "a", "b"))
		r.script(t, fails("a", 500))
		r.wantServed(t, r.Post(t, w.path, withMembers(w.ask(false), `"previous_response_id":"x"`)), "b", 2)
	})
}

// wantTied holds for a request that only the first member can serve.
func wantTied(t *testing.T, r *rig, body string) {
	t.Helper()
	r.script(t)
	r.wantServed(t, r.Post(t, r.way.path, body), "a", 1)
	for _, c := range []struct {
		status int
		dials  []string
	}{{500, []string{"a"}}, {429, []string{"a"}}, {404, []string{"a"}}, {503, []string{"a", "a"}}} { // RT-FO-3
		r.script(t, fails("a", c.status))
		got := r.Post(t, r.way.path, body)
		if got.Status != c.status {
			t.Errorf("%d, want the provider's %d: %s", got.Status, c.status, got.Body)
		}
		r.wantDials(t, c.dials...)
		wantHeaders(t, got.Header, "a", len(c.dials))
	}
}

// TestRT_FO_2_tied_responses_stay_with_their_maker: a session goes to the same
// member, tied or not, and a member that is known to be broken is tried.
func TestRT_FO_2_tied_responses_stay_with_their_maker(t *testing.T) {
	eachResponse(t, func(t *testing.T, w *way) {
		r := newRig(t, w, noBreaker, w.org("a"), w.org("b"), w.org("c"), w.pool("strategy: {type: round-robin}", "a", "b", "c"))
		for i := range 6 {
			r.script(t)
			session := fmt.Sprintf("Session-Id: session-%d", i)
			first := r.ask(t, session).Header.Get("X-Interlock-Provider")
			got := r.Post(t, w.path, withMembers(w.ask(w.stream), `"previous_response_id":"resp_1"`), session)
			r.wantServed(t, got, first, 1)
		}
	})
}

// lifecycle is how a stream of Responses begins.
const lifecycle = "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_of_first\",\"status\":\"in_progress\",\"error\":null}}\n\n" +
	"event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"sequence_number\":1,\"response\":{\"id\":\"resp_of_first\"}}\n\n" +
	"event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":2,\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[]}}\n\n"

const someText = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":3,\"delta\":\"alpha\"}\n\n"

const someEnd = "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":4,\"response\":{\"id\":\"resp_of_first\",\"status\":\"completed\"}}\n\n"

// TestRQ_STREAM_1_R27_responses_that_fail: in all the forms in which providers
// report it.
func TestRQ_STREAM_1_R27_responses_that_fail(t *testing.T) {
	d := dialects()[2]
	for name, event := range map[string]string{
		"error":              "event: error\ndata: {\"type\":\"error\",\"code\":\"server_is_overloaded\",\"message\":\"their own words\",\"param\":null,\"sequence_number\":%d}\n\n",
		"error_nested":       "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"server_error\",\"code\":\"server_is_overloaded\",\"message\":\"their own words\"},\"sequence_number\":%d}\n\n",
		"error_without_name": "data: {\"type\":\"error\",\"code\":\"server_is_overloaded\",\"message\":\"their own words\",\"sequence_number\":%d}\n\n",
		"failed":             "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":%d,\"response\":{\"id\":\"resp_of_first\",\"status\":\"failed\",\"error\":{\"code\":\"server_is_overloaded\",\"message\":\"their own words\"}}}\n\n",
		"completed_failed":   "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":%d,\"response\":{\"id\":\"resp_of_first\",\"status\":\"failed\",\"error\":{\"code\":\"server_is_overloaded\",\"message\":\"their own words\"}}}\n\n",
		"of_chat":            "data: {\"error\":{\"message\":\"their own words\",\"type\":\"server_error\",\"code\":\"server_is_overloaded\"},\"sequence_number\":%d}\n\n",
	} {
		t.Run("R27_"+name+"_before_content", func(t *testing.T) {
			a := paced(t, false, step{0, lifecycle}, step{20 * time.Millisecond, fmt.Sprintf(event, 3) + someText + someEnd})
			b := gwtest.NewFake(t)
			b.Rules(t, fakellm.Rule{Reply: says("beta")})
			gw := serve(t, d.provider(a, "first"), d.provider(b.URL, "second"), d.route("first", "second"))
			got := gw.Post(t, d.path, d.ask(true))
			d.wantWhole(t, got, true, saidBy("beta"))
			wantHeaders(t, got.Header, "second", 2)
			if strings.Contains(got.Body, "resp_of_first") || strings.Contains(got.Body, "their own words") {
				t.Errorf("two streams in one: %s", got.Body)
			}
			if m := movedOn(t, gw.Log); len(m) != 1 || m[0] != "first:overloaded" {
				t.Errorf("moved on after %v", m)
			}
			// Alone it is a status, with a body that SDKs read.
			gw = serve(t, d.provider(a, "first"), d.route("first"))
			got = gw.Post(t, d.path, d.ask(true))
			var v struct {
				Error struct{ Message, Type, Code string }
			}
			mustJSON(t, got.Body, &v)
			if e := v.Error; got.Status != 503 || e.Message != "their own words" || e.Type == "" || e.Code != "server_is_overloaded" {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
		t.Run("R27_"+name+"_after_content", func(t *testing.T) {
			a := paced(t, false, step{0, lifecycle + someText}, step{20 * time.Millisecond, fmt.Sprintf(event, 4) + someText + someEnd})
			b := gwtest.NewFake(t)
			gw := serve(t, d.provider(a, "first"), d.provider(b.URL, "second"), d.route("first", "second"))
			got := gw.Post(t, d.path, d.ask(true))
			last := sseEvents(t, got.Body)
			end := last[len(last)-1]
			if got.Status != 200 || end.name != "response.failed" || strings.Count(got.Body, "their own words") == 0 || strings.Contains(got.Body, someEnd) ||
				!strings.HasPrefix(got.Body, lifecycle+someText) || strings.Count(got.Body, "event: response.created") != 1 {
				t.Errorf("%d %s", got.Status, got.Body)
			}
			for _, want := range []string{`"sequence_number":4`, `"resp_of_first"`, `"server_is_overloaded"`} {
				if !strings.Contains(end.data, want) {
					t.Errorf("no %s in %s", want, end.data)
				}
			}
			if n := b.Requests(); n != 0 {
				t.Errorf("another was dialled %d times after content", n)
			}
		})
	}
}

// TestRT_FO_TIME_R18_responses_that_think: models think for minutes with
// nothing but lifecycle events. That is no silence; and silence is still one.
func TestRT_FO_TIME_R18_responses_that_think(t *testing.T) {
	const idle, gap = 400 * time.Millisecond, 60 * time.Millisecond
	d := dialects()[2]
	thinking := func(tick string) []step {
		steps := []step{{0, lifecycle}}
		for range 30 { // 1.8 s: far more than the head's limit and the idle one
			steps = append(steps, step{gap, tick})
		}
		return append(steps, step{0, someText + someEnd})
	}
	b := gwtest.NewFake(t)
	b.Rules(t, fakellm.Rule{Reply: says("beta")})
	cases := []struct {
		name  string
		steps []step
		whole bool
	}{
		{"keepalive", thinking("event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":3}\n\n"), true},
		{"in_progress", thinking("event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"response\":{}}\n\n"), true},
		{"silence", []step{{0, lifecycle}, {3 * idle, someText + someEnd}}, false},
		{"nothing_but_comments", append([]step{{0, ""}}, thinking(": ping\n\n")[1:]...), false},
	}
	concurrently(len(cases), len(cases), func(i int) {
		c := cases[i]
		t.Run(c.name, func(t *testing.T) {
			gw := serve(t, d.provider(paced(t, false, c.steps...), "first", limits(200, int(idle/time.Millisecond))...), d.provider(b.URL, "second"), d.route("first", "second"))
			got := gw.Post(t, d.path, d.ask(true))
			if c.whole {
				d.wantWhole(t, got, true, "alpha")
				wantHeaders(t, got.Header, "first", 1)
				return
			}
			d.wantWhole(t, got, true, saidBy("beta"))
			if m := movedOn(t, gw.Log); len(m) != 1 || m[0] != "first:timeout" {
				t.Errorf("moved on after %v", m)
			}
		})
	})
}

// TestRT_FO_1_responses_that_echo: response.created and response.in_progress
// each repeat the instructions and tools, with escapes of six bytes for what
// had two. They are held back until content comes, however large.
func TestRT_FO_1_responses_that_echo(t *testing.T) {
	d := dialects()[2]
	const n = 1 << 20
	echo := func(typ string) string {
		return "event: " + typ + "\ndata: {\"type\":\"" + typ + "\",\"response\":{\"id\":\"resp_1\",\"instructions\":\"" + strings.Repeat(`\u00e9`, n) + "\"}}\n\n"
	}
	body := withMembers(d.ask(true), `"instructions":"`+strings.Repeat("é", n)+`"`)
	head := echo("response.created") + echo("response.in_progress")
	b := gwtest.NewFake(t)
	b.Rules(t, fakellm.Rule{Reply: says("beta")})
	t.Run("served", func(t *testing.T) {
		gw := serve(t, d.provider(paced(t, false, step{0, head + someText + someEnd}), "first"), d.provider(b.URL, "second"), d.route("first", "second"))
		got := gw.Post(t, d.path, body)
		if got.Status != 200 || got.Body != head+someText+someEnd {
			t.Errorf("%d, %d bytes of %d: %s", got.Status, len(got.Body), len(head+someText+someEnd), clipped(got.Body))
		}
		wantHeaders(t, got.Header, "first", 1)
	})
	t.Run("fails_over", func(t *testing.T) {
		gw := serve(t, d.provider(paced(t, false, step{0, head + "event: error\ndata: {\"type\":\"error\",\"message\":\"no\"}\n\n"}), "first"), d.provider(b.URL, "second"), d.route("first", "second"))
		d.wantWhole(t, gw.Post(t, d.path, body), true, saidBy("beta"))
	})
	t.Run("a_small_request_has_no_such_echo", func(t *testing.T) {
		gw := serve(t, d.provider(paced(t, false, step{0, head + someText + someEnd}), "first"), d.provider(b.URL, "second"), d.route("first", "second"))
		d.wantWhole(t, gw.Post(t, d.path, d.ask(true)), true, saidBy("beta"))
	})
}

// TestRQ_EP_responses_over_a_websocket: Codex asks for one first, and goes on
// over HTTP at once after a 426.
func TestRQ_EP_responses_over_a_websocket(t *testing.T) {
	gw := startDuo(t, "")
	for _, path := range []string{"/v1/responses", "/openai/v1/responses"} {
		for _, key := range []string{"", "Authorization:"} {
			got := gw.Do(t, "GET", path, "", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", key)
			wantRefusal(t, got, llm.OpenAIResponses, http.StatusUpgradeRequired, "upgrade_required")
		}
	}
	seen := 0
	for _, c := range captures(t) {
		if c.name == "codex-ws" {
			seen++
			wantRefusal(t, gw.Send(t, c.request(t, gw.Server, "")), llm.OpenAIResponses, http.StatusUpgradeRequired, "upgrade_required")
		}
	}
	if seen != 1 || gw.contacted() != 0 {
		t.Errorf("%d captures, %d dials", seen, gw.contacted())
	}
	// Without the upgrade it is a wrong method.
	wantRefusal(t, gw.Do(t, "GET", "/v1/responses", ""), llm.OpenAIResponses, http.StatusMethodNotAllowed, "method_not_allowed")
}

// TestRQ_12_usage_of_responses: what the provider counted is in the record.
func TestRQ_12_usage_of_responses(t *testing.T) {
	eachResponse(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("a"), w.pool("", "a"))
		r.script(t, fakellm.Rule{Reply: &fakellm.Reply{Text: "hi", Usage: &fakellm.Usage{Input: 100, Output: 30, CacheRead: 40, CacheWrite: 5, Reasoning: 20}}})
		rec := r.record(t, r.ask(t))
		if u := rec.Usage; u.Input != 100 || u.CachedRead != 40 || u.CachedWrite != 5 || u.Output != 30 || u.Reasoning != 20 {
			t.Errorf("%+v", u)
		}
		if rec.Endpoint != "responses" || rec.ClientFormat != "openai-responses" {
			t.Errorf("%+v", rec)
		}
	})
}
