package fakellm

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestResponsesWithEncryptedReasoning(t *testing.T) {
	const encrypted = "gAAAAABor0Ax7mPq2v"
	for _, c := range []struct {
		name  string
		reply Reply
		order string
	}{
		{
			"without a summary",
			Reply{Text: "It rains.", Encrypted: encrypted},
			"response.output_item.added response.output_item.done",
		},
		{
			"with one",
			Reply{Text: "It rains.", Thinking: "Let me look at the sky.", Encrypted: encrypted},
			"response.output_item.added response.reasoning_summary_part.added response.reasoning_summary_text.delta " +
				"response.reasoning_summary_text.done response.reasoning_summary_part.done response.output_item.done",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := startWith(t, Options{Reply: c.reply})
			body := string(f.post(responsesPath, `{"model":"m"}`).body)
			if at(t, body, "output.0.encrypted_content") != encrypted || at(t, body, "output.1.content.0.text") != "It rains." {
				t.Errorf("plain: %s", body)
			}
			events := sseEvents(t, f.post(responsesPath, `{"model":"m","stream":true}`).body)
			if got := names(events); !strings.HasPrefix(got, "response.created response.in_progress "+c.order+" response.output_item.added response.content_part.added") {
				t.Errorf("events %s", got)
			}
			var open, done string
			for _, e := range events {
				if s, ok := at(t, e.data, "item.encrypted_content").(string); ok && e.name == "response.output_item.added" {
					open = s
				} else if ok {
					done = s
				}
			}
			if done != encrypted || open == "" || len(open) >= len(done) || !strings.HasPrefix(done, open) {
				t.Errorf("encrypted %q when added, %q when done", open, done)
			}
			for i, e := range events {
				if at(t, e.data, "sequence_number") != float64(i) {
					t.Errorf("event %d: %s", i, e.data)
				}
			}
		})
	}
}

func TestResponsesThatAreIncomplete(t *testing.T) {
	for _, reason := range []string{"max_output_tokens", "content_filter"} {
		f := startWith(t, Options{Reply: Reply{Text: "It ra", Stop: reason}})
		body := string(f.post(responsesPath, `{"model":"m"}`).body)
		events := sseEvents(t, f.post(responsesPath, `{"model":"m","stream":true}`).body)
		last := events[len(events)-1]
		if last.name != "response.incomplete" || at(t, last.data, "response.incomplete_details.reason") != reason {
			t.Errorf("stream: %+v", last)
		}
		if at(t, body, "status") != "incomplete" || at(t, body, "incomplete_details.reason") != reason || at(t, body, "error") != nil {
			t.Errorf("plain: %s", body)
		}
	}
	f := startWith(t, Options{Reply: Reply{Text: "It rains.", Stop: "end_turn"}}) // another dialect's word
	if body := string(f.post(responsesPath, `{}`).body); at(t, body, "status") != "completed" {
		t.Errorf("%s", body)
	}
}

func TestResponsesThatFail(t *testing.T) {
	rule := Rule{Shape: "response_failed", Code: "rate_limit_exceeded", Message: "Rate limit reached."}
	for _, c := range []struct {
		name   string
		action Action
		after  int
		order  string
	}{
		{"before content", ActionPreambleError, 0, "response.created response.in_progress response.failed"},
		{"in content", ActionSSEError, 5, "response.created response.in_progress response.output_item.added response.content_part.added response.output_text.delta response.failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rule
			r.Action, r.After = c.action, c.after
			events := sseEvents(t, start(t, r).post(responsesPath, `{"model":"gpt-5.2","stream":true}`).body)
			last := events[len(events)-1]
			if names(events) != c.order || at(t, last.data, "sequence_number") != float64(len(events)-1) {
				t.Errorf("events %s, last %s", names(events), last.data)
			}
			for path, want := range map[string]any{
				"type": "response.failed", "response.status": "failed", "response.model": "gpt-5.2",
				"response.error.code": "rate_limit_exceeded", "response.error.message": "Rate limit reached.",
			} {
				if got := at(t, last.data, path); got != want {
					t.Errorf("%s is %v, want %v", path, got, want)
				}
			}
		})
	}
	t.Run("in a body with status 200", func(t *testing.T) {
		r := rule
		r.Action, r.Code = ActionError200, ""
		a := start(t, r).post(responsesPath, `{"model":"m"}`)
		if a.status != http.StatusOK || at(t, string(a.body), "status") != "failed" || at(t, string(a.body), "error.code") != "server_error" {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("on an endpoint of another dialect", func(t *testing.T) {
		r := rule
		r.Action, r.Status = ActionStatus, 500
		if a := start(t, r).post("/nowhere", `{}`); !json.Valid(a.body) || string(a.body) == "null" {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func TestResponsesUsageHasCacheWrites(t *testing.T) {
	f := startWith(t, Options{Reply: Reply{Usage: &Usage{Input: 100, CacheRead: 30, CacheWrite: 20}}})
	body := string(f.post(responsesPath, `{}`).body)
	if at(t, body, "usage.input_tokens_details.cache_write_tokens") != 20.0 || at(t, body, "usage.total_tokens") != 157.0 {
		t.Errorf("%s", body)
	}
}

func TestEmbeddingsUsage(t *testing.T) {
	f := startWith(t, Options{Reply: Reply{Usage: &Usage{Input: 8}}})
	body := string(f.post("/v1/embeddings", `{"model":"text-embedding-3-small","input":"a"}`).body)
	for path, want := range map[string]any{
		"usage.prompt_tokens": 8.0, "usage.total_tokens": 8.0, "model": "text-embedding-3-small", "object": "list", "data.0.index": 0.0,
	} {
		if got := at(t, body, path); got != want {
			t.Errorf("%s is %v, want %v in %s", path, got, want, body)
		}
	}
}
