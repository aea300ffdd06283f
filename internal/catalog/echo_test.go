package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/failure"
)

// phrases are what a caller might send to be read as a signal of a vendor's: the
// words of its rows, the messages of its examples that touch a provider's health,
// and whole bodies. (The generic rows are tried with the generic entry.)
func phrases(tb testing.TB, v *Vendor) []string {
	tb.Helper()
	list := []string{
		"gpt-limit will reset at 2026-12-02 05:49:31", "claude-credit balance is too low", "gpt-resource_exhausted",
		"regain access on 2026-12-01 at 11:00 utc", "You have reached your specified API usage limits",
		`{"error":{"type":"billing_error","code":"insufficient_quota"}}`,
		`x - {"error":{"message":"Your credit balance is too low to access the Anthropic API."}}`,
		`litellm.BadRequestError: X - {"error":{"code":"insufficient_quota"}}. Received Model Group=`,
		"quota exceeded for metric", "limit: 0, resource_exhausted", "billing_hard_limit", "insufficient_quota",
		`x" usage limit reached "y`, "x' usage limit reached. 'y", "x` usage limit reached. `y", "usage  limit\treached",
		"Usage limit reached. x", "account suspended for balance", "overloaded_error", "try again in 20 hours per day",
	}
	for _, s := range v.Signals {
		for _, words := range [][]string{s.Text, s.Match, s.Name, s.Type, s.Code, s.Word} {
			for _, w := range words {
				if !strings.ContainsAny(w, `\(`) { // a pattern is no phrase
					list = append(list, w)
				}
			}
		}
	}
	for _, x := range examplesOf(tb, v) {
		var body struct{ Error struct{ Message string } }
		if json.Unmarshal([]byte(x.Body), &body) == nil && hurts(x.Want) && body.Error.Message != "" {
			list = append(list, body.Error.Message, x.Body)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// hurts says whether the category is one for which a provider is left out.
func hurts(c failure.Category) bool {
	switch c {
	case failure.RateLimit, failure.QuotaExhausted, failure.Overloaded, failure.ServerError, failure.Timeout, failure.Connection:
		return true
	case failure.Auth, failure.ModelUnavailable, failure.RequestError, failure.ContentFilter, failure.Canceled:
	}
	return false
}

type echoForm struct {
	name   string
	status int
	stream bool
	named  bool // the words are a model's name
	body   string
}

// echoForms are the errors in which vendors repeat a caller's words; %s is
// where.
var echoForms = []echoForm{
	{"OpenAI, a model", 404, false, true, "{\"error\":{\"message\":\"The model `%s` does not exist\",\"type\":\"invalid_request_error\",\"code\":\"model_not_found\"}}"},
	{"OpenAI, a model in a 400", 400, false, true, `{"error":{"message":"The requested model '%s' does not exist.","type":"invalid_request_error","param":"model","code":"model_not_found"}}`},
	{"OpenAI, a value", 400, false, false, `{"error":{"message":"Invalid value: '%s'. Supported values are: 'system', 'assistant', and 'user'.","type":"invalid_request_error","param":"messages[0].role","code":"invalid_value"}}`},
	{"OpenAI, a parameter", 400, false, false, `{"error":{"message":"Unknown parameter: '%s'.","type":"invalid_request_error","param":"x","code":"unknown_parameter"}}`},
	{"OpenAI, an id", 404, false, false, `{"error":{"message":"Previous response with id '%s' not found.","type":"invalid_request_error","param":"previous_response_id","code":"previous_response_not_found"}}`},
	{"OpenAI, in a stream", 200, true, false, `{"type":"error","code":"invalid_value","message":"Invalid value: '%s'."}`},
	{"Anthropic, a model", 404, false, true, `{"type":"error","error":{"type":"not_found_error","message":"model: %s"}}`},
	{"Anthropic, a role", 400, false, false, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: Unexpected role \"%s\". Allowed roles are \"user\" or \"assistant\""}}`},
	{"Anthropic, a field", 400, false, false, `{"type":"error","error":{"type":"invalid_request_error","message":"%s: Extra inputs are not permitted"}}`},
	{"Anthropic, a beta", 400, false, false, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Unexpected value(s) `%s` for the `anthropic-beta` header.\"}}"},
	{"Anthropic, in a stream", 200, true, false, `{"type":"error","error":{"type":"invalid_request_error","message":"tools.0.name: %s"}}`},
	{"Gemini, a model", 404, false, true, `{"error":{"code":404,"message":"models/%s is not found for API version v1beta","status":"NOT_FOUND"}}`},
	{"Gemini, a field", 400, false, false, `{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"%s\": Cannot find field.","status":"INVALID_ARGUMENT"}}`},
	{"Vertex, a model", 404, false, true, "[{\"error\":{\"code\":404,\"message\":\"Publisher Model `projects/p/models/%s` was not found\",\"status\":\"NOT_FOUND\"}}]"},
	{"Mistral, a model", 400, false, true, `{"object":"error","message":"Invalid model: %s","type":"invalid_model","param":null,"code":"1500"}`},
	{"Mistral, a role", 422, false, false, `{"object":"error","message":{"detail":[{"type":"literal_error","msg":"Input should be 'user'","input":"%s"}]}}`},
	{"DeepSeek, a role", 400, false, false, "{\"error\":{\"message\":\"Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `%s`, expected one of `system`, `user`\",\"type\":\"invalid_request_error\"}}"},
	{"xAI, a model", 404, false, true, `{"code":"Some requested entity was not found","error":"The model %s does not exist or your team T does not have access to it."}`},
	{"Kimi, a model", 404, false, true, `{"error":{"message":"Not found the model %s or Permission denied","type":"resource_not_found_error"}}`},
	{"Ollama, a model", 404, false, true, `{"error":"model \"%s\" not found, try pulling it first"}`},
	{"Ollama, a role", 400, false, false, `{"error":"invalid role: %s, must be one of [user assistant]"}`},
	{"vLLM, a model", 404, false, true, "{\"object\":\"error\",\"message\":\"The model `%s` does not exist.\",\"type\":\"NotFoundError\",\"code\":404}"},
	{"LiteLLM, a model", 400, false, true, `{"error":{"message":"/chat/completions: Invalid model name passed in model=%s. Call /v1/models to view available models for your key.","type":"invalid_request_error","code":"400"}}`},
	{"LiteLLM, a model that the key may not use", 403, false, true, `{"error":{"message":"key not allowed to access model. This key can only access models=['a']. Tried to access %s","type":"key_model_access_denied","param":"model","code":"403"}}`},
	{"Bedrock, a key", 400, false, false, `{"message":"Malformed input request: #: extraneous key [%s] is not permitted, please reformat your input and try again."}`},
	{"Bedrock, a model", 404, false, true, `{"message":"The model %s is not supported"}`},
	{"an exception", 500, false, false, `{"error":{"message":"KeyError: '%s'","type":"InternalServerError","code":500}}`},
	{"text", 404, false, true, `no such model: %s`},
	{"FastAPI", 422, false, false, `{"detail":[{"loc":["body","%s"],"msg":"Value error, unknown field %s","type":"value_error"}]}`},
}

func inJSON(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string is always JSON
	text := strings.TrimSpace(b.String())
	return text[1 : len(text)-1]
}

// A holder of one key must not park, cool or break a provider for the others
// by sending a signal's words in a place that the vendor's error repeats.
func TestEcho_RT_PARK_a_callers_words_never_hurt_a_provider(t *testing.T) {
	c := mustLoad(t)
	for _, v := range all(t, c) {
		list, failed := phrases(t, v), 0
		for _, form := range echoForms {
			harmless := v.Classifier().Classify(form.answer("zzz-9"))
			for _, phrase := range list {
				all := []string{phrase}
				if form.named {
					all = append(all, "gpt-"+phrase, "openai/"+phrase)
				}
				for _, said := range all {
					f, why := v.Classifier().Explain(form.answer(said))
					if hurts(f.Category) && (f.Category != harmless.Category || f.HasRetryAfter) && failed < 5 {
						failed++
						t.Errorf("%s, %s, %q: %s by %s; %s for other words", v.ID, form.name, said, f, why, harmless)
					}
				}
			}
		}
	}
}

func (form *echoForm) answer(said string) *failure.Answer {
	x := Example{Status: form.status, Stream: form.stream, Body: strings.ReplaceAll(form.body, "%s", inJSON(said))}
	a := x.Answer()
	if form.named {
		a.Echo = []string{said, said}
	}
	return a
}

// For every answer about a request or a model, and every signal's words as the
// model that it repeats: nothing of the failure changes.
func TestEcho_the_model_that_an_answer_repeats_changes_nothing(t *testing.T) {
	c := mustLoad(t)
	for _, v := range all(t, c) {
		list, failed := phrases(t, v), 0
		for _, x := range examplesOf(t, v) {
			if x.Want != failure.RequestError && x.Want != failure.ModelUnavailable || x.Body == "" {
				continue
			}
			for _, tail := range []string{" (model `%s`)", ", model: %s", " for %s"} {
				want := v.Classifier().Classify(withTail(t, &x, tail, "zzz-9"))
				for _, phrase := range list {
					f := v.Classifier().Classify(withTail(t, &x, tail, phrase))
					start := strings.ToLower(phrase[:min(len(phrase), 16)])
					if strings.Contains(strings.ToLower(strings.ReplaceAll(x.Body, `\"`, `"`)), start) && !hurts(f.Category) {
						continue // the vendor's words and the model's cannot be told apart
					}
					if f != want && failed < 5 {
						failed++
						t.Errorf("%s, %s, %q in %q: %s %s, want %s %s", v.ID, x.Name, phrase, tail, f, f.Code, want, want.Code)
					}
				}
			}
		}
	}
}

// withTail is the example with a model's name behind each message.
func withTail(t *testing.T, x *Example, tail, model string) *failure.Answer {
	t.Helper()
	a := x.Answer()
	var body any
	if err := json.Unmarshal(a.Body, &body); err != nil {
		a.Body = fmt.Appendf(a.Body, tail, model)
	} else {
		addTail(body, fmt.Sprintf(tail, model))
		if a.Body, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	a.Echo = []string{"alias", model}
	return a
}

func addTail(v any, tail string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			addTail(e, tail)
		}
	case map[string]any:
		for key, e := range v {
			if s, ok := e.(string); ok && (key == "message" || key == "msg" || key == "error") && !strings.Contains(s, "{") {
				v[key] = s + tail
			}
			addTail(e, tail)
		}
	}
}

// The words of a vendor's own in a 400 still count (R01).
func TestEcho_R01_a_vendors_own_words_in_a_400(t *testing.T) {
	c := mustLoad(t)
	for _, message := range []string{
		"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
		"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
		`litellm.BadRequestError: AnthropicException - {"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}. Received Model Group=claude-x
Available Model Group Fallbacks=None LiteLLM Retried: 2 times`,
		"litellm.BadRequestError: AnthropicException - Your credit balance is too low to access the Anthropic API.",
	} {
		for _, v := range []*Vendor{vendor(t, c, "anthropic"), vendor(t, c, "litellm"), generic(t, c)} {
			x := Example{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"` + inJSON(message) + `"}}`}
			a := x.Answer()
			a.Echo = []string{"claude-x", "claude-x"}
			if f, why := v.Classifier().Explain(a); f.Category != failure.QuotaExhausted {
				t.Errorf("%s, %s: %s by %s", v.ID, message, f, why)
			}
		}
	}
}

// A real limit names the model, and the model may be named by words of limits.
func TestEcho_a_real_limit_stays_one(t *testing.T) {
	c := mustLoad(t)
	for _, v := range all(t, c) {
		for _, x := range examplesOf(t, v) {
			for _, model := range []string{"gpt-x", "o1", "m", "meta/llama:free", "claude-x@20260101"} {
				a := x.Answer()
				want := v.Classifier().Classify(a)
				a.Echo = []string{model, model}
				if f := v.Classifier().Classify(a); f != want {
					t.Errorf("%s, %s, model %s: %s %s, want %s %s", v.ID, x.Name, model, f, f.Code, want, want.Code)
				}
			}
		}
	}
}

// A row that listens to text alone names the statuses with which it is sent,
// and 404 is not among those of one that touches a provider's health.
func TestEcho_rows_of_text_name_their_statuses(t *testing.T) {
	for _, v := range all(t, mustLoad(t)) {
		for _, s := range v.Signals {
			text := len(s.Text)+len(s.Match) > 0
			structure := len(s.Type)+len(s.Code)+len(s.Word)+len(s.Name)+len(s.Header) > 0
			if text && !structure && (len(s.Status) == 0 || hurts(s.Category) && slices.Contains(s.Status, 404)) {
				t.Errorf("%s/%s: statuses %v", v.ID, s.ID, s.Status)
			}
		}
	}
}
