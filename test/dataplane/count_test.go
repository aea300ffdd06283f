package dataplane

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/fakellm"
)

// counting is the way of count_tokens.
func counting() *way { return ways()[2] }

// A count is of one model's tokens: whatever fails, nobody else is asked.
func TestRT_FO_2_a_count_dials_one_candidate(t *testing.T) {
	w := counting()
	r := newRig(t, w, retrying(2), w.org("a", limits(200, 200)...), w.org("b"), w.pool("", "a", "b"))
	for name, c := range map[string]struct {
		rule   fakellm.Rule
		dials  int
		status int
	}{
		"500":      {fakellm.Rule{Action: "status", Status: 500}, 1, 500},
		"429":      {fakellm.Rule{Action: "status", Status: 429}, 1, 429},
		"529":      {fakellm.Rule{Action: "status", Status: 529}, 1, 529},
		"401":      {fakellm.Rule{Action: "status", Status: 401}, 1, 502},
		"402":      {fakellm.Rule{Action: "status", Status: 402}, 1, 429},
		"own_404":  {fakellm.Rule{Action: "status", Status: 404, Message: "model: claude-test"}, 1, 404},
		"400":      {fakellm.Rule{Action: "status", Status: 400}, 1, 400},
		"silent":   {fakellm.Rule{Action: "hang"}, 1, 504},
		"503":      {fakellm.Rule{Action: "status", Status: 503}, 3, 503},
		"502":      {fakellm.Rule{Action: "status", Status: 502}, 3, 502},
		"reset":    {fakellm.Rule{Action: "reset"}, 3, 502},
		"cut":      {fakellm.Rule{Action: "cut", Cut: "fin"}, 3, 502},
		"503_once": {fakellm.Rule{Action: "status", Status: 503, Times: 1}, 2, 200},
	} {
		t.Run(name, func(t *testing.T) {
			r.script(t, at("a", c.rule))
			got := r.ask(t)
			if got.Status != c.status {
				t.Errorf("%d, want %d: %s", got.Status, c.status, got.Body)
			}
			r.wantDials(t, repeat("a", c.dials)...)
			wantHeaders(t, got.Header, "a", c.dials)
			if rec := r.record(t, got); rec.Retries != c.dials-1 || rec.Estimated {
				t.Errorf("%+v", rec)
			}
		})
	}
	t.Run("the_first_that_can_serve", func(t *testing.T) {
		r := newRig(t, w, breakerAt(1, 60), w.org("z", "drained: true"), w.org("a"), w.org("b"), w.pool("", "z", "a", "b"))
		r.wantServed(t, r.ask(t), "a", 1)
		r.script(t, fails("a", 500))
		r.ask(t)
		r.wantServed(t, r.ask(t), "b", 1) // a is open now
		r.wantDials(t, "a", "b")
	})
	t.Run("after_affinity", func(t *testing.T) {
		r := newRig(t, w, "", w.org("a"), w.org("b"), w.org("c"), w.pool("strategy: {type: round-robin}", "a", "b", "c"))
		for i := range 12 { // the count goes where the session's messages go
			session := fmt.Sprintf("X-Interlock-Session: session-%d", i)
			r.script(t)
			r.ask(t, session)
			r.Post(t, w.dialect.path, w.dialect.ask(false), session)
			if d := r.dialled(); len(d) != 2 || d[0] != d[1] {
				t.Errorf("session %d: the count went to %v", i, d)
			}
		}
	})
}

// A provider that cannot count is no failure: the gateway estimates and says
// so, in a header and in the record.
func TestRT_FO_2_R68_an_estimate_is_marked(t *testing.T) {
	w := counting()
	r := newRig(t, w, retrying(3), w.org("a"), w.org("b"), w.pool("", "a", "b"))
	for name, rule := range map[string]fakellm.Rule{
		"405":                   {Action: "status", Status: 405},
		"501":                   {Action: "status", Status: 501, Shape: "html"},
		"404_of_a_proxy":        {Action: "status", Status: 404, Shape: "html"},
		"404_without_a_body":    {Action: "status", Status: 404, Shape: "empty"},
		"404_of_another_format": {Action: "status", Status: 404, Body: `{"detail":"Not Found"}`},
		"404_of_a_path":         {Action: "status", Status: 404},
		"404_of_openai":         {Action: "status", Status: 404, Body: `{"error":{"message":"Invalid URL (POST /v1/messages/count_tokens)","type":"invalid_request_error"}}`},
		"404_in_plain_text":     {Action: "status", Status: 404, Shape: "plain"},
	} {
		t.Run(name, func(t *testing.T) {
			r.script(t, at("a", rule))
			body := w.body(w.model, strings.Repeat("a b ", 1000), false)
			got := r.Post(t, w.path, body)
			var v map[string]int
			if err := json.Unmarshal([]byte(got.Body), &v); err != nil || got.Status != 200 || len(v) != 1 {
				t.Fatalf("%d %v %s", got.Status, err, got.Body)
			}
			if n := v["input_tokens"]; n < 1000 || n > 1100 {
				t.Errorf("%d tokens", n)
			}
			if h := got.Header.Get("X-Interlock-Warning"); !strings.Contains(h, "estimate") {
				t.Errorf("x-interlock-warning %q", h)
			}
			r.wantDials(t, "a")
			wantHeaders(t, got.Header, "a", 1)
			rec := r.record(t, got)
			if !rec.Estimated || rec.Outcome != audit.OutcomeAllow || rec.Provider != "a" || len(rec.Attempts) != 1 || rec.Retries != 0 {
				t.Errorf("%+v", rec)
			}
		})
	}
	t.Run("a_true_count_is_not_marked", func(t *testing.T) {
		r.script(t)
		got := r.ask(t)
		if rec := r.record(t, got); got.Header.Get("X-Interlock-Warning") != "" || rec.Estimated {
			t.Errorf("%v %+v", got.Header, rec)
		}
	})
	t.Run("media_are_no_text", func(t *testing.T) {
		r.script(t, fails("a", 405))
		image := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}]}]}`,
			w.model, strings.Repeat("iVBORw0KGgo", 40_000))
		var v map[string]int
		got := r.Post(t, w.path, image)
		mustJSON(t, got.Body, &v)
		if n := v["input_tokens"]; n < 1 || n > 2000 {
			t.Errorf("%d tokens: %s", n, got.Body)
		}
	})
	t.Run("messages_are_not_estimated", func(t *testing.T) {
		for _, status := range []int{405, 501, 404} {
			r.script(t, fails("a", status))
			if got := r.Post(t, w.dialect.path, w.dialect.ask(false)); got.Header.Get("X-Interlock-Warning") != "" {
				t.Errorf("%d: %v", status, got.Header)
			}
		}
	})
	t.Run("a_callers_own_credential", func(t *testing.T) {
		r := newRig(t, w, "", w.pass("p"), w.org("o"), w.pool(fallback, "p", "o"))
		r.script(t, fails("p", 405))
		got := r.ask(t, w.own()...)
		if rec := r.record(t, got); got.Status != 200 || !rec.Estimated || rec.Credential != "caller" {
			t.Errorf("%d %+v", got.Status, rec)
		}
		r.wantCredentials(t, "p:caller")
	})
}
