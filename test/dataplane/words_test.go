package dataplane

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// A 403 is not always about a key: some vendors refuse a text with it, or a
// prompt that is too long. That is the request's own fault, in the provider's
// words, and no client should take it for a question of keys, or repeat it.
func TestER_ONE_RT_FO_4XX_a_403_about_the_request(t *testing.T) {
	cases := []struct{ name, body, words string }{
		{"policy", `{"error":{"message":"It goes against the policy.","type":"invalid_request_error","code":"content_policy_violation"}}`, "It goes against the policy."},
		{"length", `{"error":{"message":"Your request would exceed the model's context length of 8192 tokens","type":"invalid_request_error"}}`, "exceed the model's context length of 8192 tokens"},
	}
	eachChat(t, func(t *testing.T, w *way) {
		if w.dialect.name == "anthropic" {
			return // its own errors say what they are in their type
		}
		r := newRig(t, w, breakerAt(1, 30), w.org("a"), w.org("b"), w.pool("", "a", "b"))
		for _, c := range cases {
			r.script(t, at("a", fakellm.Rule{Action: "status", Status: 403, Body: c.body}))
			got := r.ask(t)
			if got.Status != 400 || !strings.Contains(got.Body, c.words) || got.Header.Get("X-Should-Retry") == "true" {
				t.Errorf("%s: %d %v %s", c.name, got.Status, got.Header, got.Body)
			}
			r.wantDials(t, "a")
			if rec := r.record(t, got); rec.Status != 400 {
				t.Errorf("%s: recorded as %d", c.name, rec.Status)
			}
		}
		// One that is about the key stays ours, and goes on.
		r.script(t, at("a", fakellm.Rule{Action: "status", Status: 403, Message: "Your key may not do that"}))
		r.wantServed(t, r.ask(t), "b", 2)
	})
}

// Claude Code makes its history shorter where a message begins with these words
// (chapter 65), and shows everything else as a failure.
func TestER_CTX_begins_with_the_words_that_agents_know(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("a", "contextWindows: {"+w.model+": 1000}"), w.pool("", "a"))
		got := r.Post(t, w.path, w.body(w.model, strings.Repeat("word ", 2000), w.stream))
		e := r.wantCode(t, got, 400, "context_length_exceeded")
		var tokens, most int
		if n, err := fmt.Sscanf(e.Message, "prompt is too long: %d tokens > %d maximum", &tokens, &most); n != 2 || tokens <= 1000 || most != 1000 {
			t.Errorf("%v: %s", err, e.Message)
		}
	})
}

// A member whose provider is disabled is one that can't serve, and is named.
func TestER_NOPROV_RQ_8_disabled_members_are_named(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("a", "enabled: false"), w.pass("p"), w.pool("", "a", "p"))
		e := r.wantCode(t, r.ask(t), 503, "no_eligible_provider")
		if !strings.Contains(e.Message, "a: disabled") {
			t.Errorf("%s", e.Message)
		}
		r.wantDials(t)
	})
}

// R110: a client that leaves while the next try is waited for leaves one attempt
// behind, the one that was made.
func TestRQ_CANCEL_R110_while_a_retry_waits(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "llmProxy: {circuitBreaker: {enabled: false}, retry: {maxRetries: 2, baseDelayMs: 60000, maxElapsedMs: 86400000}}", w.org("a"), w.pool("", "a"))
		r.script(t, fails("a", 503))
		leaves(t, r.Server, r.Request(t, "POST", w.path, w.body(w.model, "hi", w.stream)), func() {
			eventually(t, 10*time.Second, "the first attempt failed", func() bool { return r.fake.Requests() == 1 && r.fake.InFlight() == 0 })
		})
		var list struct {
			Items []struct{ Outcome, RequestID string }
		}
		eventually(t, 10*time.Second, "the record", func() bool {
			got := r.Admin(t, "GET", "/audit-events?kind=request", "")
			return json.Unmarshal([]byte(got.Body), &list) == nil && len(list.Items) == 1
		})
		rec := recordOf(t, r.Server, list.Items[0].RequestID)
		if rec.Outcome != "canceled" || tries(&rec) != "a:own:server_error" || rec.Retries != 0 {
			t.Errorf("%s: %s, %d retries", rec.Outcome, tries(&rec), rec.Retries)
		}
	})
}

// Keys can be tried at the list of models as well: each try leaves a trace.
func TestER_AUTH_the_list_of_models_records_refusals(t *testing.T) {
	w := chats()[0]
	r := newRig(t, w, "", w.org("a"), w.pool("", "a"))
	for path, status := range map[string]int{"/v1/models": 401, "/v1/models/none": 404} {
		headers := []string{"Authorization: Bearer " + unknownKey}
		if status == 404 {
			headers = nil
		}
		got := r.Do(t, "GET", path, "", append(headers, "Content-Type:")...)
		if rec := r.record(t, got); got.Status != status || rec.Status != status || rec.Endpoint != "models" {
			t.Errorf("%s: %d, recorded as %d of %s", path, got.Status, rec.Status, rec.Endpoint)
		}
	}
}

// A provider that answers after the first keep-alive can no longer have a status
// of its own; its words still reach the client, as the event of the format.
// Claude Code makes its history shorter by them.
func TestER_ONE_words_behind_keep_alives(t *testing.T) {
	const words = "prompt is too long: 210000 tokens > 200000 maximum"
	eachDialect(t, func(t *testing.T, d *dialect) {
		a := gwtest.NewFake(t)
		gw := keepAliveOf(t, 20*time.Millisecond, d.provider(a.URL, "first"), d.route("first"))
		a.Rules(t, fakellm.Rule{Action: "status", Status: 400, Type: "invalid_request_error", Message: words, DelayMS: 150})
		got := gw.Post(t, d.path, d.ask(true))
		wantEarlyHead(t, got.Header)
		if e := d.wantBroken(t, got); e.Message != words {
			t.Errorf("%q: %s", e.Message, got.Body)
		}
	})
}
