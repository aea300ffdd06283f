package dataplane

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// vectors is the way to ask for embeddings.
func vectors() *way {
	d := *dialects()[1]
	d.path, d.model = "/v1/embeddings", "text-embedding-test"
	d.pattern = "text-embedding-*"
	d.body = func(model, text string, _ bool) string {
		b, err := json.Marshal(map[string]any{"model": model, "input": []string{text, "second"}, "dimensions": 4})
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	return &way{dialect: &d, name: "embeddings", path: d.path}
}

// wantVectors holds for an answer of a member with two vectors.
func (r *rig) wantVectors(t *testing.T, got gwtest.Answer, by string, attempts int) {
	t.Helper()
	var v struct {
		Object string
		Data   []struct {
			Index     int
			Embedding []float64
		}
		Model string
		Usage struct {
			Prompt int `json:"prompt_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(got.Body), &v); err != nil || got.Status != 200 || v.Object != "list" || len(v.Data) != 2 || len(v.Data[1].Embedding) != 4 || v.Usage.Prompt < 1 {
		t.Errorf("%d %v %s", got.Status, err, got.Body)
	}
	wantHeaders(t, got.Header, by, attempts)
}

// TestRT_FILTER_embeddings_of_one_model: vectors of two models can't be
// compared, so only members with the first one's model take its place, and
// neither a failure nor a breaker changes the model.
func TestRT_FILTER_embeddings_of_one_model(t *testing.T) {
	w := vectors()
	same := "modelAliases: {" + w.model + ": e-1}"
	r := newRig(t, w, "", w.org("a", same), w.org("b"), w.org("c", same), w.pool("", "a", "b", "c"))
	r.wantVectors(t, r.ask(t), "a", 1)
	r.script(t, fails("a", 500))
	got := r.ask(t)
	r.wantVectors(t, got, "c", 2)
	r.wantDials(t, "a", "c")
	for _, rec := range r.fake.Records() {
		if !strings.HasSuffix(rec.Path, "/v1/embeddings") || !strings.Contains(string(rec.Raw), `"e-1"`) {
			t.Errorf("%s %s", rec.Path, rec.Raw)
		}
	}
	if rec := r.record(t, got); rec.Endpoint != "embeddings" || rec.Usage.Input < 1 || rec.Usage.Output != 0 || rec.WireModel != "e-1" || rec.Stream {
		t.Errorf("%+v", rec)
	}
	r.script(t, fails("a", 500), fails("c", 500))
	e := r.wantCode(t, r.ask(t), 500, "UPSTREAM_POOL_EXHAUSTED")
	if strings.Contains(e.Message, "b:") {
		t.Error(e.Message)
	}
	r.wantDials(t, "a", "c")
	t.Run("whatever_their_state", func(t *testing.T) {
		r := newRig(t, w, "llmProxy: {circuitBreaker: {failureThreshold: 1, cooldownSeconds: 3600}}", w.org("a", same), w.org("b"), w.pool("", "a", "b"))
		for range 3 { // the second meets an open breaker, which is tried after all
			r.script(t, fails("a", 500))
			if got := r.ask(t); got.Status != 500 {
				t.Errorf("%d %s", got.Status, got.Body)
			}
			r.wantDials(t, "a")
		}
	})
	t.Run("whatever_the_strategy", func(t *testing.T) {
		r := newRig(t, w, "", w.org("a", same), w.org("b"), w.pool("strategy: {type: round-robin}", "a", "b"))
		for range 4 {
			r.script(t)
			r.wantVectors(t, r.ask(t), "a", 1)
		}
	})
	t.Run("R14_each_attempt_starts_from_the_client_s_bytes", func(t *testing.T) {
		body := "{ \"input\":[\"\\u00e9\", [1,2.0]] ,\"model\" : \"" + w.model + "\", \"encoding_format\":\"base64\"}\n"
		r.script(t, fails("a", 503))
		if got := r.Post(t, w.path, body); got.Status != 200 {
			t.Errorf("%d %s", got.Status, got.Body)
		}
		for _, rec := range r.fake.Records() {
			if string(rec.Raw) != strings.Replace(body, w.model, "e-1", 1) {
				t.Errorf("%s", rec.Raw)
			}
		}
	})
}

// TestER_KIND_embeddings: a model of chat makes no vectors, and the other way
// round.
func TestER_KIND_embeddings(t *testing.T) {
	w := vectors()
	r := newRig(t, w, "", w.org("a"), w.pool("aliases: [{name: smart, wireModels: {a: gpt-5.2}}]", "a"), gwtest.Route("chat", `"gpt-*"`, "a"),
		"kind: Model\nname: gpt-odd\nmodality: chat")
	for _, model := range []string{"gpt-5.2", "smart", "gpt-odd"} {
		e := r.wantCode(t, r.send(t, model), 400, "model_not_supported")
		if !strings.Contains(e.Message, model) {
			t.Errorf("%s: %s", model, e.Message)
		}
	}
	for path, body := range map[string]string{
		"/v1/chat/completions": gwtest.Chat("text-embedding-3-small", false), "/v1/responses": `{"model":"text-embedding-3-small","input":"hi"}`,
	} {
		f := llm.OpenAIChat
		if path == "/v1/responses" {
			f = llm.OpenAIResponses
		}
		wantRefusal(t, r.Post(t, path, body), f, 400, "model_not_supported")
	}
	r.wantDials(t)
	r.wantVectors(t, r.send(t, "text-embedding-3-small"), "a", 1) // of the built-in catalogue
	r.wantVectors(t, r.send(t, "text-embedding-unheard-of"), "a", 1)
}

// A stream is no matter of embeddings, whatever the request says.
func TestRQ_EP_embeddings_have_no_stream(t *testing.T) {
	w := vectors()
	r := newRig(t, w, "", w.org("a"), w.pool("", "a"))
	r.wantVectors(t, r.Post(t, w.path, withMembers(w.ask(false), `"stream":true`)), "a", 1)
}
