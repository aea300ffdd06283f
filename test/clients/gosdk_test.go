package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	aoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	ooption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// goChecks are the checks of a Go SDK: what the drivers do in files of their
// own, in this process. test/dataplane has more of them, against the gateway
// as a library.
type goChecks map[string]func(context.Context) (any, error)

// driveGo runs the checks and judges them as drive does.
func driveGo(t *testing.T, e *entry, speaks vendor, checks func(url string) goChecks) {
	t.Helper()
	g := startGateway(t)
	g.scriptDrivers()
	all := checks(g.url)
	for _, check := range columns() { // in an order
		body := all[check]
		if body == nil {
			continue
		}
		r := report{Check: check}
		saw, err := body(t.Context())
		if err == nil {
			r.Saw, err = json.Marshal(saw)
		}
		if err != nil {
			r.Error = goFailure(err)
		}
		e.judge(t, r, speaks)
	}
	g.askedByDriver(speaks)
	e.count(g)
}

// goFailure is an error as the SDKs show it; OpenAI's keeps the message in a
// field.
func goFailure(err error) *failure {
	var a *anthropic.Error
	var o *openai.Error
	switch {
	case errors.As(err, &a):
		return &failure{"Error", a.StatusCode, a.Error()}
	case errors.As(err, &o):
		return &failure{"Error", o.StatusCode, o.Error() + ", with the message " + o.Message}
	}
	return &failure{"error", 0, err.Error()}
}

// multiplied is what the tool gives.
func multiplied(arguments string) (string, error) {
	var in struct{ A, B int }
	if err := json.Unmarshal([]byte(arguments), &in); err != nil {
		return "", err
	}
	return fmt.Sprintf("result %d", in.A*in.B), nil
}

func toolSchema() map[string]any {
	number := map[string]any{"type": "number"}
	return map[string]any{"type": "object", "properties": map[string]any{"a": number, "b": number}, "required": []string{"a", "b"}, "additionalProperties": false}
}

// goMessages is anthropic-sdk-go.
func goMessages(url string) goChecks {
	connect := func(key string) anthropic.Client {
		return anthropic.NewClient(aoption.WithoutEnvironmentDefaults(), aoption.WithBaseURL(url), aoption.WithAPIKey(key))
	}
	c := connect(key)
	say := func(model, prompt string) anthropic.MessageNewParams {
		return anthropic.MessageNewParams{
			Model: model, MaxTokens: 64,
			Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
		}
	}
	type asking func(context.Context, anthropic.MessageNewParams) (*anthropic.Message, error)
	whole := func(c anthropic.Client) asking {
		return func(ctx context.Context, p anthropic.MessageNewParams) (*anthropic.Message, error) {
			return c.Messages.New(ctx, p)
		}
	}
	streamed := func(ctx context.Context, p anthropic.MessageNewParams) (*anthropic.Message, error) {
		s := c.Messages.NewStreaming(ctx, p)
		defer s.Close()
		m := &anthropic.Message{}
		for s.Next() {
			if err := m.Accumulate(s.Current()); err != nil {
				return nil, err
			}
		}
		return m, s.Err()
	}
	ask := func(how asking, p anthropic.MessageNewParams) func(context.Context) (any, error) {
		return func(ctx context.Context) (any, error) { return answerMessages(ctx, how, p) }
	}
	task := say(claudeModel, taskPrompt)
	schema := toolSchema()
	task.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: schema["properties"]}, "multiply")}
	return goChecks{
		plain:         ask(whole(c), say(claudeModel, helloPrompt)),
		stream:        ask(streamed, say(claudeModel, helloPrompt)),
		tools:         ask(whole(c), task),
		streamedTools: ask(streamed, task),
		failover:      ask(whole(c), say(claudeModel, failoverPrompt)),
		unknown:       ask(whole(c), say(unknownModel, helloPrompt)),
		wrong:         ask(whole(connect(wrongKey)), say(claudeModel, helloPrompt)),
		models: func(ctx context.Context) (any, error) {
			var ids []string
			pages := c.Models.ListAutoPaging(ctx, anthropic.ModelListParams{})
			for pages.Next() {
				ids = append(ids, pages.Current().ID)
			}
			return ids, pages.Err()
		},
	}
}

// answerMessages answers tool calls until there is none.
func answerMessages(ctx context.Context, ask func(context.Context, anthropic.MessageNewParams) (*anthropic.Message, error), p anthropic.MessageNewParams) (any, error) {
	for {
		m, err := ask(ctx, p)
		if err != nil {
			return nil, err
		}
		text, results := "", []anthropic.ContentBlockParamUnion{}
		for _, b := range m.Content {
			text += b.Text
			if b.Type == "tool_use" {
				result, err := multiplied(string(b.Input))
				if err != nil {
					return nil, err
				}
				results = append(results, anthropic.NewToolResultBlock(b.ID, result, false))
			}
		}
		if len(results) == 0 {
			return text, nil
		}
		p.Messages = append(p.Messages, m.ToParam(), anthropic.NewUserMessage(results...))
	}
}

func connectOpenAI(url, key string) openai.Client {
	return openai.NewClient(ooption.WithBaseURL(url+"/v1"), ooption.WithAPIKey(key))
}

// goChat is openai-go with Chat Completions and embeddings.
func goChat(url string) goChecks {
	c := connectOpenAI(url, key)
	say := func(model, prompt string) openai.ChatCompletionNewParams {
		return openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)}}
	}
	type asking func(context.Context, openai.ChatCompletionNewParams) (*openai.ChatCompletion, error)
	whole := func(c openai.Client) asking {
		return func(ctx context.Context, p openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
			return c.Chat.Completions.New(ctx, p)
		}
	}
	streamed := func(ctx context.Context, p openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
		s := c.Chat.Completions.NewStreaming(ctx, p)
		defer s.Close()
		acc := openai.ChatCompletionAccumulator{}
		for s.Next() {
			if !acc.AddChunk(s.Current()) {
				return nil, errors.New("the chunks do not fit together")
			}
		}
		return &acc.ChatCompletion, s.Err()
	}
	ask := func(how asking, p openai.ChatCompletionNewParams) func(context.Context) (any, error) {
		return func(ctx context.Context) (any, error) { return answerChat(ctx, how, p) }
	}
	task := say(gptModel, taskPrompt)
	task.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "multiply", Parameters: toolSchema()})}
	return goChecks{
		plain:         ask(whole(c), say(gptModel, helloPrompt)),
		stream:        ask(streamed, say(gptModel, helloPrompt)),
		tools:         ask(whole(c), task),
		streamedTools: ask(streamed, task),
		failover:      ask(whole(c), say(gptModel, failoverPrompt)),
		unknown:       ask(whole(c), say(unknownModel, helloPrompt)),
		wrong:         ask(whole(connectOpenAI(url, wrongKey)), say(gptModel, helloPrompt)),
		models: func(ctx context.Context) (any, error) {
			var ids []string
			pages := c.Models.ListAutoPaging(ctx)
			for pages.Next() {
				ids = append(ids, pages.Current().ID)
			}
			return ids, pages.Err()
		},
		embeddings: func(ctx context.Context) (any, error) {
			e, err := c.Embeddings.New(ctx, openai.EmbeddingNewParams{Model: embeddingModel, Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("a")}})
			if err != nil {
				return nil, err
			}
			return []int{len(e.Data[0].Embedding)}, nil
		},
	}
}

func answerChat(ctx context.Context, ask func(context.Context, openai.ChatCompletionNewParams) (*openai.ChatCompletion, error), p openai.ChatCompletionNewParams) (any, error) {
	for {
		c, err := ask(ctx, p)
		if err != nil {
			return nil, err
		}
		m := c.Choices[0].Message
		if len(m.ToolCalls) == 0 {
			return m.Content, nil
		}
		p.Messages = append(p.Messages, m.ToParam())
		for _, call := range m.ToolCalls {
			result, err := multiplied(call.Function.Arguments)
			if err != nil {
				return nil, err
			}
			p.Messages = append(p.Messages, openai.ToolMessage(result, call.ID))
		}
	}
}

// goResponses is openai-go with Responses.
func goResponses(url string) goChecks {
	c := connectOpenAI(url, key)
	say := func(model, prompt string) responses.ResponseNewParams {
		return responses.ResponseNewParams{
			Model: model, Store: openai.Bool(false),
			Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
				responses.ResponseInputItemParamOfMessage(prompt, responses.EasyInputMessageRoleUser),
			}},
		}
	}
	type asking func(context.Context, responses.ResponseNewParams) (*responses.Response, error)
	whole := func(c openai.Client) asking {
		return func(ctx context.Context, p responses.ResponseNewParams) (*responses.Response, error) {
			return c.Responses.New(ctx, p)
		}
	}
	streamed := func(ctx context.Context, p responses.ResponseNewParams) (*responses.Response, error) {
		s := c.Responses.NewStreaming(ctx, p)
		defer s.Close()
		var last *responses.Response
		for s.Next() {
			if e := s.Current(); e.Type == "response.completed" {
				last = &e.Response
			}
		}
		if s.Err() == nil && last == nil {
			return nil, errors.New("the stream has no response.completed")
		}
		return last, s.Err()
	}
	ask := func(how asking, p responses.ResponseNewParams) func(context.Context) (any, error) {
		return func(ctx context.Context) (any, error) { return answerResponses(ctx, how, p) }
	}
	task := say(gptModel, taskPrompt)
	task.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("multiply", toolSchema(), true)}
	return goChecks{
		plain:         ask(whole(c), say(gptModel, helloPrompt)),
		stream:        ask(streamed, say(gptModel, helloPrompt)),
		tools:         ask(whole(c), task),
		streamedTools: ask(streamed, task),
		failover:      ask(whole(c), say(gptModel, failoverPrompt)),
		unknown:       ask(whole(c), say(unknownModel, helloPrompt)),
		wrong:         ask(whole(connectOpenAI(url, wrongKey)), say(gptModel, helloPrompt)),
	}
}

func answerResponses(ctx context.Context, ask func(context.Context, responses.ResponseNewParams) (*responses.Response, error), p responses.ResponseNewParams) (any, error) {
	for {
		r, err := ask(ctx, p)
		if err != nil {
			return nil, err
		}
		items := p.Input.OfInputItemList
		called := false
		for _, o := range r.Output {
			if o.Type != "function_call" {
				continue
			}
			result, err := multiplied(o.Arguments.OfString)
			if err != nil {
				return nil, err
			}
			called = true
			items = append(items, responses.ResponseInputItemParamOfFunctionCall(o.Arguments.OfString, o.CallID, o.Name),
				responses.ResponseInputItemParamOfFunctionCallOutput(result))
			items[len(items)-1].OfFunctionCallOutput.CallID = openai.String(o.CallID)
		}
		if !called {
			return r.OutputText(), nil
		}
		p.Input.OfInputItemList = items
	}
}
