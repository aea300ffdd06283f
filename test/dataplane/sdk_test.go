package dataplane

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	aoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	ooption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// pixel is a PNG of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// counter counts the requests that an SDK makes, retries included.
type counter struct{ n atomic.Int64 }

func (c *counter) client(s *gwtest.Server) *http.Client {
	return &http.Client{Transport: countingTransport{c, s.Client.Transport}}
}

type countingTransport struct {
	*counter
	next http.RoundTripper
}

func (c countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.next.RoundTrip(r)
}

func newClaude(s *gwtest.Server, more ...aoption.RequestOption) anthropic.Client {
	return newClaudeWith(s, aoption.WithAPIKey(gwtest.Key), more...)
}

func newClaudeWith(s *gwtest.Server, credential aoption.RequestOption, more ...aoption.RequestOption) anthropic.Client {
	return anthropic.NewClient(append([]aoption.RequestOption{
		aoption.WithoutEnvironmentDefaults(), aoption.WithBaseURL(s.URL), credential, aoption.WithHTTPClient(s.Client), aoption.WithMaxRetries(0),
	}, more...)...)
}

func newGPT(s *gwtest.Server, more ...ooption.RequestOption) openai.Client {
	return openai.NewClient(append([]ooption.RequestOption{
		ooption.WithBaseURL(s.URL + "/v1"), ooption.WithAPIKey(gwtest.Key), ooption.WithHTTPClient(s.Client), ooption.WithMaxRetries(0),
	}, more...)...)
}

func claudeParams(blocks ...anthropic.ContentBlockParamUnion) anthropic.MessageNewParams {
	if len(blocks) == 0 {
		blocks = append(blocks, anthropic.NewTextBlock("hi"))
	}
	return anthropic.MessageNewParams{Model: "claude-test", MaxTokens: 64, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(blocks...)}}
}

func gptParams(messages ...openai.ChatCompletionMessageParamUnion) openai.ChatCompletionNewParams {
	if len(messages) == 0 {
		messages = append(messages, openai.UserMessage("hi"))
	}
	return openai.ChatCompletionNewParams{Model: "gpt-test", Messages: messages}
}

// claudeStream reads a stream to its end; text is what came, whole or not.
func claudeStream(c *anthropic.Client, p anthropic.MessageNewParams) (*anthropic.Message, error) {
	s := c.Messages.NewStreaming(context.Background(), p)
	defer s.Close()
	m := &anthropic.Message{}
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			return m, err
		}
	}
	return m, s.Err()
}

func gptStream(c *openai.Client, p openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
	s := c.Chat.Completions.NewStreaming(context.Background(), p)
	defer s.Close()
	acc := openai.ChatCompletionAccumulator{}
	for s.Next() {
		if !acc.AddChunk(s.Current()) {
			return &acc.ChatCompletion, errors.New("the chunks do not fit together")
		}
	}
	return &acc.ChatCompletion, s.Err()
}

// claudeAsk is one way to get a message.
type claudeAsk func(*anthropic.Client, anthropic.MessageNewParams) (*anthropic.Message, error)

func claudeWays() map[string]claudeAsk {
	return map[string]claudeAsk{
		"plain": func(c *anthropic.Client, p anthropic.MessageNewParams) (*anthropic.Message, error) {
			return c.Messages.New(context.Background(), p)
		},
		"streamed": claudeStream,
	}
}

type gptAsk func(*openai.Client, openai.ChatCompletionNewParams) (*openai.ChatCompletion, error)

func gptWays() map[string]gptAsk {
	return map[string]gptAsk{
		"plain": func(c *openai.Client, p openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
			return c.Chat.Completions.New(context.Background(), p)
		},
		"streamed": gptStream,
	}
}

const fakeText = "Hello from the fake provider."

func TestSDK_anthropic_R84(t *testing.T) {
	gw := startDuo(t, "")
	for way, ask := range claudeWays() {
		t.Run(way, func(t *testing.T) {
			for base, c := range map[string]anthropic.Client{
				"API_key":    newClaude(gw.Server),
				"auth_token": newClaudeWith(gw.Server, aoption.WithAuthToken(gwtest.Key)),
				"x-api-key":  newClaude(gw.Server, aoption.WithAPIKey("foreign"), aoption.WithHeader("X-Api-Key", gwtest.Key)),
				"foundry":    newClaude(gw.Server, aoption.WithBaseURL(gw.URL+"/anthropic/")),
			} {
				gw.claude.Reset()
				m, err := ask(&c, claudeParams())
				if err != nil {
					t.Fatalf("%s: %v", base, err)
				}
				if len(m.Content) != 1 || m.Content[0].Text != fakeText || m.StopReason != "end_turn" || m.Usage.OutputTokens != 7 || m.Usage.InputTokens < 1 || m.Model != "claude-test" {
					t.Errorf("%s: %+v", base, m)
				}
				h := gw.claude.Records()[0].Headers
				if h.Get("Anthropic-Version") != "2026-10-21" || !strings.HasPrefix(h.Get("User-Agent"), "Anthropic/Go") {
					t.Errorf("%s: %v", base, h)
				}
			}
		})
	}
	t.Run("count_tokens", func(t *testing.T) {
		c := newClaude(gw.Server)
		n, err := c.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: "claude-test", Messages: claudeParams().Messages})
		if err != nil || n.InputTokens < 1 {
			t.Errorf("%+v %v", n, err)
		}
	})
	t.Run("image", func(t *testing.T) {
		for way, ask := range claudeWays() {
			gw.claude.Reset()
			c := newClaude(gw.Server)
			if _, err := ask(&c, claudeParams(anthropic.NewImageBlockBase64("image/png", pixel), anthropic.NewTextBlock("what is it?"))); err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			if body := string(gw.claude.Records()[0].Raw); !strings.Contains(body, `"data":"`+pixel+`"`) || !strings.Contains(body, `"media_type":"image/png"`) {
				t.Errorf("%s: %s", way, body)
			}
		}
	})
}

func TestSDK_openai(t *testing.T) {
	gw := startDuo(t, "")
	for way, ask := range gptWays() {
		t.Run(way, func(t *testing.T) {
			for base, c := range map[string]openai.Client{
				"v1":        newGPT(gw.Server),
				"no_prefix": newGPT(gw.Server, ooption.WithBaseURL(gw.URL)),
				"openai_v1": newGPT(gw.Server, ooption.WithBaseURL(gw.URL+"/openai/v1/")),
				"api-key":   newGPT(gw.Server, ooption.WithAPIKey("foreign"), ooption.WithHeader("Api-Key", gwtest.Key)),
			} {
				gw.gpt.Reset()
				p := gptParams()
				p.StreamOptions.IncludeUsage = openai.Bool(true)
				m, err := ask(&c, p)
				if err != nil {
					t.Fatalf("%s: %v", base, err)
				}
				if len(m.Choices) != 1 || m.Choices[0].Message.Content != fakeText || m.Choices[0].FinishReason != "stop" || m.Usage.CompletionTokens != 7 || m.Model != "gpt-test" {
					t.Errorf("%s: %+v", base, m)
				}
				if h := gw.gpt.Records()[0].Headers; !strings.HasPrefix(h.Get("User-Agent"), "OpenAI/Go") || h.Get("X-Stainless-Lang") != "go" {
					t.Errorf("%s: %v", base, h)
				}
			}
		})
	}
	t.Run("image", func(t *testing.T) {
		for way, ask := range gptWays() {
			gw.gpt.Reset()
			c := newGPT(gw.Server)
			url := "data:image/png;base64," + pixel
			if _, err := ask(&c, gptParams(openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
				openai.TextContentPart("what is it?"), openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: url}),
			}))); err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			if body := string(gw.gpt.Records()[0].Raw); !strings.Contains(body, `"url":"`+url+`"`) {
				t.Errorf("%s: %s", way, body)
			}
		}
	})
}

// toolTurns makes a provider call two tools first and answer then.
func toolTurns(t *testing.T, f *gwtest.Fake) {
	t.Helper()
	f.Rules(t,
		fakellm.Rule{Name: "call", Times: 1, Reply: &fakellm.Reply{Text: "let me look", Tools: []fakellm.Tool{
			{Name: "weather", Input: json.RawMessage(`{"city":"Göteborg","days":3}`)}, {Name: "clock", Input: json.RawMessage(`{}`)},
		}}},
		fakellm.Rule{Name: "answer", Reply: &fakellm.Reply{Text: "it rains"}})
}

func TestSDK_anthropic_tools(t *testing.T) {
	gw := startDuo(t, "")
	for way, ask := range claudeWays() {
		t.Run(way, func(t *testing.T) {
			toolTurns(t, gw.claude)
			c := newClaude(gw.Server)
			p := claudeParams()
			for _, name := range []string{"weather", "clock"} {
				p.Tools = append(p.Tools, anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: map[string]any{"city": map[string]any{"type": "string"}}}, name))
			}
			m, err := ask(&c, p)
			if err != nil {
				t.Fatal(err)
			}
			if m.StopReason != "tool_use" || len(m.Content) != 3 || m.Content[1].Name != "weather" || m.Content[2].Name != "clock" {
				t.Fatalf("%+v", m)
			}
			var in struct {
				City string
				Days int
			}
			if err := json.Unmarshal(m.Content[1].Input, &in); err != nil || in.City != "Göteborg" || in.Days != 3 {
				t.Errorf("%s: %v", m.Content[1].Input, err)
			}
			p.Messages = append(p.Messages, m.ToParam(), anthropic.NewUserMessage(
				anthropic.NewToolResultBlock(m.Content[1].ID, "rain", false), anthropic.NewToolResultBlock(m.Content[2].ID, "no clock", true)))
			m2, err := ask(&c, p)
			if err != nil || m2.StopReason != "end_turn" || len(m2.Content) != 1 || m2.Content[0].Text != "it rains" {
				t.Fatalf("%+v %v", m2, err)
			}
			recs := gw.claude.Records()
			body := string(recs[len(recs)-1].Raw)
			for _, want := range []string{`"tool_use_id":"` + m.Content[1].ID + `"`, `"tool_use_id":"` + m.Content[2].ID + `"`, "Göteborg", `"is_error":true`} {
				if !strings.Contains(body, want) {
					t.Errorf("the second turn has no %s: %s", want, body)
				}
			}
		})
	}
}

func TestSDK_openai_tools(t *testing.T) {
	gw := startDuo(t, "")
	for way, ask := range gptWays() {
		t.Run(way, func(t *testing.T) {
			toolTurns(t, gw.gpt)
			c := newGPT(gw.Server)
			p := gptParams()
			for _, name := range []string{"weather", "clock"} {
				p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: name, Parameters: openai.FunctionParameters{"type": "object"}}))
			}
			m, err := ask(&c, p)
			if err != nil {
				t.Fatal(err)
			}
			choice := m.Choices[0]
			if choice.FinishReason != "tool_calls" || len(choice.Message.ToolCalls) != 2 || choice.Message.ToolCalls[0].Function.Name != "weather" ||
				choice.Message.ToolCalls[0].Function.Arguments != `{"city":"Göteborg","days":3}` || choice.Message.ToolCalls[1].Function.Name != "clock" {
				t.Fatalf("%+v", choice)
			}
			p.Messages = append(p.Messages, choice.Message.ToParam(),
				openai.ToolMessage("rain", choice.Message.ToolCalls[0].ID), openai.ToolMessage("no clock", choice.Message.ToolCalls[1].ID))
			m2, err := ask(&c, p)
			if err != nil || m2.Choices[0].FinishReason != "stop" || m2.Choices[0].Message.Content != "it rains" {
				t.Fatalf("%+v %v", m2, err)
			}
			recs := gw.gpt.Records()
			body := string(recs[len(recs)-1].Raw)
			for _, call := range choice.Message.ToolCalls {
				if !strings.Contains(body, `"tool_call_id":"`+call.ID+`"`) || !strings.Contains(body, `"id":"`+call.ID+`"`) {
					t.Errorf("the second turn does not answer %s: %s", call.ID, body)
				}
			}
		})
	}
}

func TestSDK_model_lists(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.Start(t, fake.Anthropic("a", "staticModels: [claude-1, claude-2, claude-3, vendor/claude:x]"), fake.OpenAI("b", "staticModels: [gpt-1]", `modelPatterns: ["gpt-*"]`),
		gwtest.Route("claude", `"claude-*", "vendor/*"`, "a"))
	// RT-IMPL: the family route of the second serves the o-models too.
	want := []string{"claude-1", "claude-2", "claude-3", "gpt-1", "o1", "o3", "o4", "vendor/claude:x"}
	t.Run("anthropic", func(t *testing.T) {
		c := newClaude(gw)
		var ids []string
		pages := c.Models.ListAutoPaging(t.Context(), anthropic.ModelListParams{Limit: anthropic.Int(2)})
		for pages.Next() {
			ids = append(ids, pages.Current().ID)
		}
		if err := pages.Err(); err != nil || !slices.Equal(ids, want) {
			t.Errorf("%v %v", ids, err)
		}
		for _, id := range want {
			if m, err := c.Models.Get(t.Context(), id, anthropic.ModelGetParams{}); err != nil || m.ID != id || m.DisplayName == "" || m.CreatedAt.IsZero() {
				t.Errorf("%s: %+v %v", id, m, err)
			}
		}
	})
	t.Run("openai", func(t *testing.T) {
		c := newGPT(gw)
		var ids []string
		pages := c.Models.ListAutoPaging(t.Context())
		for pages.Next() {
			ids = append(ids, pages.Current().ID)
		}
		if err := pages.Err(); err != nil || !slices.Equal(ids, want) {
			t.Errorf("%v %v", ids, err)
		}
		for _, id := range want {
			if m, err := c.Models.Get(t.Context(), id); err != nil || m.ID != id || m.Object != "model" || m.Created == 0 {
				t.Errorf("%s: %+v %v", id, m, err)
			}
		}
	})
}

// sdkError is a failure and what the SDKs must make of it.
type sdkError struct {
	name     string
	rule     fakellm.Rule
	model    string // instead of the usual one
	key      string // the same
	large    bool   // more than server.maxBodyBytes
	status   int
	code     string // of the gateway; empty for an error of the provider
	claude   string // type of the error
	gpt      string
	requests int64 // that the SDK makes with its usual two retries
}

func sdkErrors() []sdkError {
	soon := map[string]string{"Retry-After-Ms": "1"}
	return []sdkError{
		{name: "ER-BODY_400", model: strings.Repeat("x", 300), status: 400, code: "invalid_request", claude: "invalid_request_error", gpt: "invalid_request_error", requests: 1},
		{name: "ER-AUTH_401", key: unknownKey, status: 401, code: "invalid_api_key", claude: "authentication_error", gpt: "invalid_request_error", requests: 1},
		{name: "ER-SIZE_413", large: true, status: 413, code: "request_too_large", claude: "request_too_large", gpt: "invalid_request_error", requests: 1},
		{name: "ER-NOROUTE_503", model: "unknown", status: 503, code: "NO_ROUTE", claude: "api_error", gpt: "server_error", requests: 1},
		{
			name: "ER-ONE_quota_429", rule: fakellm.Rule{Action: "status", Status: 402, Code: "insufficient_quota", Type: "billing_error", Message: "no credit"},
			status: 429, code: "upstream_quota", claude: "billing_error", gpt: "insufficient_quota", requests: 1,
		},
		{
			name: "ER-ONE_our_key_502", rule: fakellm.Rule{Action: "status", Status: 401},
			status: 502, code: "upstream_auth", claude: "api_error", gpt: "server_error", requests: 1,
		},
		{name: "ER-ONE_400", rule: fakellm.Rule{Action: "status", Status: 400}, status: 400, claude: "invalid_request_error", gpt: "invalid_request_error", requests: 1},
		{name: "ER-ONE_404", rule: fakellm.Rule{Action: "status", Status: 404}, status: 404, claude: "not_found_error", gpt: "invalid_request_error", requests: 1},
		{name: "ER-ONE_413", rule: fakellm.Rule{Action: "status", Status: 413}, status: 413, claude: "request_too_large", gpt: "invalid_request_error", requests: 1},
		{name: "ER-ONE_429", rule: fakellm.Rule{Action: "status", Status: 429, Headers: soon}, status: 429, claude: "rate_limit_error", gpt: "rate_limit_error", requests: 3},
		{name: "ER-ONE_503", rule: fakellm.Rule{Action: "status", Status: 503, Headers: soon}, status: 503, claude: "api_error", gpt: "server_error", requests: 3},
	}
}

func TestSDK_typed_errors(t *testing.T) {
	gw := startSmall(t)
	for _, c := range sdkErrors() {
		gw.claude.Rules(t, c.rule)
		gw.gpt.Rules(t, c.rule)
		key := gwtest.Key
		if c.key != "" {
			key = c.key
		}
		text := "hi"
		if c.large {
			text = strings.Repeat("x", smallLimit)
		}
		for way, ask := range claudeWays() {
			t.Run(c.name+"/anthropic_"+way, func(t *testing.T) {
				var count counter
				client := newClaude(gw.Server, aoption.WithHTTPClient(count.client(gw.Server)), aoption.WithMaxRetries(2), aoption.WithAPIKey(key))
				p := claudeParams(anthropic.NewTextBlock(text))
				if c.model != "" {
					p.Model = c.model
				}
				_, err := ask(&client, p)
				var e *anthropic.Error
				if !errors.As(err, &e) {
					t.Fatalf("%T %v", err, err)
				}
				if e.StatusCode != c.status || string(e.Type()) != c.claude || e.RequestID == "" || !strings.Contains(e.Message, c.code) || e.Message == "" {
					t.Errorf("%d %q %q %q", e.StatusCode, e.Type(), e.RequestID, e.Message)
				}
				if n := count.n.Load(); n != c.requests {
					t.Errorf("the SDK sent %d requests, want %d", n, c.requests)
				}
			})
		}
		for way, ask := range gptWays() {
			t.Run(c.name+"/openai_"+way, func(t *testing.T) {
				var count counter
				client := newGPT(gw.Server, ooption.WithHTTPClient(count.client(gw.Server)), ooption.WithMaxRetries(2), ooption.WithAPIKey(key))
				p := gptParams(openai.UserMessage(text))
				if c.model != "" {
					p.Model = c.model
				}
				_, err := ask(&client, p)
				var e *openai.Error
				if !errors.As(err, &e) {
					t.Fatalf("%T %v", err, err)
				}
				if e.StatusCode != c.status || e.Type != c.gpt || c.code != "" && e.Code != c.code || !strings.Contains(e.Message, c.code) || e.Message == "" {
					t.Errorf("%d %q %q %q", e.StatusCode, e.Type, e.Code, e.Message)
				}
				if n := count.n.Load(); n != c.requests {
					t.Errorf("the SDK sent %d requests, want %d", n, c.requests)
				}
			})
		}
	}
}

func TestSDK_errors_of_other_calls(t *testing.T) {
	gw := startDuo(t, "")
	claude, gpt := newClaude(gw.Server), newGPT(gw.Server)
	var ae *anthropic.Error
	if _, err := claude.Models.Get(t.Context(), "nothing", anthropic.ModelGetParams{}); !errors.As(err, &ae) || ae.StatusCode != 404 || ae.Type() != "not_found_error" {
		t.Errorf("%v", err)
	}
	if _, err := claude.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: "nothing", Messages: claudeParams().Messages}); !errors.As(err, &ae) ||
		ae.StatusCode != 503 || !strings.Contains(ae.Message, "NO_ROUTE") {
		t.Errorf("%v", err)
	}
	var oe *openai.Error
	if _, err := gpt.Models.Get(t.Context(), "nothing"); !errors.As(err, &oe) || oe.StatusCode != 404 || oe.Code != "model_not_found" {
		t.Errorf("%v", err)
	}
	if _, err := gpt.Responses.Get(t.Context(), "resp_1", responses.ResponseGetParams{}); !errors.As(err, &oe) || oe.StatusCode != 404 || !strings.Contains(oe.Message, "not part of this version yet") {
		t.Errorf("%v", err)
	}
}

// A stream that breaks after content must not look complete to an SDK: it
// takes a clean end for success.
func TestSDK_RQ_STREAM_1_errors_after_content(t *testing.T) {
	rules := map[string]fakellm.Rule{
		"error_event":      {Action: "sse_error", After: 5, Message: "scripted overload"},
		"closed":           {Action: "cut", Cut: "fin", After: 5},
		"reset":            {Action: "cut", Cut: "rst", After: 5},
		"clean_end":        {Action: "cut", Cut: "end", After: 5},
		"clean_end_later":  {Action: "cut", Cut: "end", After: 6},
		"error_at_the_end": {Action: "sse_error", After: 7, Message: "scripted overload"},
	}
	reply := &fakellm.Reply{Chunks: 8, ChunkText: "word "}
	for name, rule := range rules {
		rule.Reply = reply
		t.Run(name, func(t *testing.T) {
			gw := startDuo(t, "")
			gw.claude.Rules(t, rule)
			gw.gpt.Rules(t, rule)
			claude := newClaude(gw.Server, aoption.WithMaxRetries(2))
			m, err := claudeStream(&claude, claudeParams())
			var e *anthropic.Error
			if !errors.As(err, &e) || e.Message == "" {
				t.Errorf("anthropic: %T %v", err, err)
			}
			if len(m.Content) == 0 || !strings.HasPrefix(m.Content[0].Text, "word ") || m.StopReason != "" {
				t.Errorf("anthropic: %+v", m)
			}
			gpt := newGPT(gw.Server, ooption.WithMaxRetries(2))
			c, err := gptStream(&gpt, gptParams())
			var se *ssestream.StreamError
			if !errors.As(err, &se) {
				t.Errorf("openai: %T %v", err, err)
			}
			if len(c.Choices) == 0 || !strings.HasPrefix(c.Choices[0].Message.Content, "word ") || c.Choices[0].FinishReason != "" {
				t.Errorf("openai: %+v", c)
			}
			if strings.HasPrefix(name, "error") && (!strings.Contains(se.Error(), "scripted overload") || e.Message != "scripted overload") {
				t.Errorf("the provider's words are lost: %v, %v", e, se)
			}
			if n := gw.contacted(); n != 2 {
				t.Errorf("the providers were contacted %d times", n)
			}
		})
	}
}

// A stream that breaks before content is an error with a status, since no
// event has been sent.
func TestSDK_RQ_STREAM_1_errors_before_content(t *testing.T) {
	for name, c := range map[string]struct {
		rule   fakellm.Rule
		status int
	}{
		"error_event":  {fakellm.Rule{Action: "preamble_error", Type: "overloaded_error", Code: "server_is_overloaded", Message: "scripted overload"}, 0},
		"closed":       {fakellm.Rule{Action: "cut", Cut: "fin", After: 1}, 502},
		"clean_end":    {fakellm.Rule{Action: "cut", Cut: "end", After: 1}, 502},
		"not_a_stream": {fakellm.Rule{Action: "json_for_stream"}, 502},
	} {
		t.Run(name, func(t *testing.T) {
			gw := startDuo(t, "")
			gw.claude.Rules(t, c.rule)
			gw.gpt.Rules(t, c.rule)
			claude, gpt := newClaude(gw.Server), newGPT(gw.Server)
			m, err := claudeStream(&claude, claudeParams())
			var ae *anthropic.Error
			if !errors.As(err, &ae) || ae.StatusCode < 500 || c.status != 0 && ae.StatusCode != c.status || len(m.Content) != 0 {
				t.Errorf("%T %v %+v", err, err, m)
			}
			o, err := gptStream(&gpt, gptParams())
			var oe *openai.Error
			if !errors.As(err, &oe) || oe.StatusCode < 500 || c.status != 0 && oe.StatusCode != c.status || len(o.Choices) != 0 {
				t.Errorf("%T %v %+v", err, err, o)
			}
		})
	}
}
