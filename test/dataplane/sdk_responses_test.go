package dataplane

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	ooption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/interlock-gateway/interlock/internal/fakellm"
)

func responseParams() responses.ResponseNewParams {
	return responses.ResponseNewParams{Model: "gpt-test", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hi")}}
}

// responseAsk is one way to get a response; text is what came of it, whole or
// not.
type responseAsk func(*testing.T, *openai.Client, responses.ResponseNewParams) (r *responses.Response, text string, err error)

func responseWays() map[string]responseAsk {
	return map[string]responseAsk{
		"plain": func(t *testing.T, c *openai.Client, p responses.ResponseNewParams) (*responses.Response, string, error) {
			t.Helper()
			r, err := c.Responses.New(t.Context(), p)
			if err != nil {
				return nil, "", err
			}
			return r, r.OutputText(), nil
		},
		"streamed": responseStream,
	}
}

func responseStream(t *testing.T, c *openai.Client, p responses.ResponseNewParams) (r *responses.Response, text string, err error) {
	t.Helper()
	s := c.Responses.NewStreaming(t.Context(), p)
	defer s.Close()
	next := int64(0)
	for s.Next() {
		ev := s.Current()
		if ev.SequenceNumber != next {
			t.Errorf("event %s has the number %d, want %d", ev.Type, ev.SequenceNumber, next)
		}
		next++
		switch ev.Type {
		case "response.output_text.delta":
			text += ev.Delta
		case "response.completed":
			r = &ev.Response
		}
	}
	return r, text, s.Err()
}

func TestSDK_responses(t *testing.T) {
	gw := startDuo(t, "")
	for way, ask := range responseWays() {
		t.Run(way, func(t *testing.T) {
			for base, url := range map[string]string{"v1": gw.URL + "/v1", "openai_v1": gw.URL + "/openai/v1/"} {
				gw.gpt.Reset()
				c := newGPT(gw.Server, ooption.WithBaseURL(url))
				r, text, err := ask(t, &c, responseParams())
				if err != nil {
					t.Fatalf("%s: %v", base, err)
				}
				if text != fakeText || r == nil || r.OutputText() != fakeText || r.Status != "completed" || r.Usage.OutputTokens != 7 || r.Model != "gpt-test" {
					t.Errorf("%s: %q %+v", base, text, r)
				}
				if recs := gw.gpt.Records(); recs[0].Path != "/v1/responses" || recs[0].Headers.Get("X-Stainless-Lang") != "go" {
					t.Errorf("%s: %+v", base, recs[0])
				}
			}
		})
	}
}

func TestSDK_responses_tools(t *testing.T) {
	gw := startDuo(t, "")
	for way, ask := range responseWays() {
		t.Run(way, func(t *testing.T) {
			gw.gpt.Rules(t,
				fakellm.Rule{Name: "call", Times: 1, Reply: &fakellm.Reply{Thinking: "hm", Encrypted: "gAAAAAencrypted", Tools: []fakellm.Tool{
					{Name: "weather", Input: json.RawMessage(`{"city":"Göteborg","days":3}`)}, {Name: "clock", Input: json.RawMessage(`{}`)},
				}}},
				fakellm.Rule{Name: "answer", Reply: &fakellm.Reply{Text: "it rains"}})
			c := newGPT(gw.Server)
			p := responseParams()
			p.Store = openai.Bool(false)
			p.Include = []responses.ResponseIncludable{"reasoning.encrypted_content"}
			for _, name := range []string{"weather", "clock"} {
				p.Tools = append(p.Tools, responses.ToolParamOfFunction(name, map[string]any{"type": "object"}, false))
			}
			r, _, err := ask(t, &c, p)
			if err != nil || r == nil {
				t.Fatal(err)
			}
			items := responses.ResponseInputParam{}
			var names []string
			for _, item := range r.Output {
				switch item.Type {
				case "reasoning":
					items = append(items, responses.ResponseInputItemParamOfReasoning(item.ID, nil))
					items[len(items)-1].OfReasoning.EncryptedContent = openai.String(item.EncryptedContent)
				case "function_call":
					names = append(names, item.Name)
					items = append(items, responses.ResponseInputItemParamOfFunctionCall(item.Arguments.OfString, item.CallID, item.Name),
						responses.ResponseInputItemParamOfFunctionCallOutput("rain"))
					items[len(items)-1].OfFunctionCallOutput.CallID = openai.String(item.CallID)
				}
			}
			if !slices.Equal(names, []string{"weather", "clock"}) {
				t.Fatalf("%v", names)
			}
			p.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: items}
			_, text, err := ask(t, &c, p)
			if err != nil || text != "it rains" {
				t.Fatalf("%q %v", text, err)
			}
			recs := gw.gpt.Records()
			body := string(recs[len(recs)-1].Raw)
			for _, want := range []string{"gAAAAAencrypted", "Göteborg", `"function_call_output"`} {
				if !strings.Contains(body, want) {
					t.Errorf("the second turn has no %s: %s", want, body)
				}
			}
		})
	}
}

// A stream that breaks after content must not look complete; one that breaks
// before it is an error with a status.
func TestSDK_RQ_STREAM_1_responses_that_fail(t *testing.T) {
	reply := &fakellm.Reply{Chunks: 8, ChunkText: "word "}
	for name, rule := range map[string]fakellm.Rule{
		"error_event":     {Action: "sse_error", After: 6, Message: "scripted overload"},
		"response_failed": {Action: "sse_error", After: 6, Message: "scripted overload", Shape: "response_failed"},
		"closed":          {Action: "cut", Cut: "fin", After: 6},
		"clean_end":       {Action: "cut", Cut: "end", After: 6},
	} {
		t.Run("after_content_"+name, func(t *testing.T) {
			gw := startDuo(t, "")
			rule.Reply = reply
			gw.gpt.Rules(t, rule)
			c := newGPT(gw.Server, ooption.WithMaxRetries(2))
			failed := ""
			s := c.Responses.NewStreaming(t.Context(), responseParams())
			defer s.Close()
			text, completed := "", false
			for s.Next() {
				switch ev := s.Current(); ev.Type {
				case "response.output_text.delta":
					text += ev.Delta
				case "response.failed":
					failed = ev.Response.Error.Message
				case "response.completed":
					completed = true
				}
			}
			var se *ssestream.StreamError
			if !errors.As(s.Err(), &se) && (name != "response_failed" || failed == "") { // the vendor's own is no error of the SDK
				t.Errorf("%T %v", s.Err(), s.Err())
			}
			if !strings.HasPrefix(text, "word ") || completed {
				t.Errorf("%q, completed %t", text, completed)
			}
			if name == "error_event" && !strings.Contains(se.Error(), "scripted overload") {
				t.Errorf("the provider's words are lost: %v", se)
			}
			if n := gw.contacted(); n != 1 {
				t.Errorf("%d dials", n)
			}
		})
	}
	for name, rule := range map[string]fakellm.Rule{
		"error_event":     {Action: "preamble_error", Code: "server_is_overloaded", Message: "scripted overload"},
		"response_failed": {Action: "preamble_error", Code: "server_is_overloaded", Message: "scripted overload", Shape: "response_failed"},
	} {
		t.Run("before_content_"+name, func(t *testing.T) {
			gw := startDuo(t, "")
			gw.gpt.Rules(t, rule)
			c := newGPT(gw.Server)
			_, text, err := responseStream(t, &c, responseParams())
			var e *openai.Error
			if !errors.As(err, &e) || e.StatusCode != 503 || e.Message != "scripted overload" || e.Code != "server_is_overloaded" || text != "" {
				t.Errorf("%T %v %q", err, err, text)
			}
		})
	}
}

func TestSDK_embeddings(t *testing.T) {
	w := vectors()
	r := newRig(t, w, "", w.org("a"), w.pool("", "a"))
	c := newGPT(r.Server)
	p := openai.EmbeddingNewParams{Model: w.model, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"one", "two"}}}
	v, err := c.Embeddings.New(t.Context(), p)
	if err != nil || len(v.Data) != 2 || len(v.Data[1].Embedding) != 4 || v.Data[1].Index != 1 || v.Usage.PromptTokens < 1 {
		t.Fatalf("%+v %v", v, err)
	}
	p.Model = "gpt-5.2"
	var e *openai.Error
	if _, err := c.Embeddings.New(t.Context(), p); !errors.As(err, &e) || e.StatusCode == 200 {
		t.Errorf("%v", err)
	}
}
