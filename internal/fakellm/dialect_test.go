package fakellm

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

const (
	chatPath      = "/v1/chat/completions"
	messagesPath  = "/v1/messages"
	responsesPath = "/v1/responses"
	geminiPath    = "/v1beta/models/gemini-2.5-pro:generateContent"
	geminiStream  = "/v1beta/models/gemini-2.5-pro:streamGenerateContent"
	invokePath    = "/model/anthropic.claude-sonnet-4-6-v1:0/invoke"
	invokeStream  = "/model/arn:aws:bedrock:eu-west-1:1:inference-profile/eu.claude/invoke-with-response-stream"
	converse      = "/model/anthropic.claude-sonnet-4-6-v1:0/converse"
	vertexClaude  = "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-6@20260101:"
)

func TestPlainAnswersCarryTextUsageAndModel(t *testing.T) {
	f := start(t)
	for _, c := range []struct {
		name, path, body   string
		text, input, model string // where they are
	}{
		{"openai chat", chatPath, `{"model":"gpt-5.2"}`, "choices.0.message.content", "usage.prompt_tokens", "model"},
		{"openai chat under a base path", "/openai/deployments/d/chat/completions", `{"model":"m"}`, "choices.0.message.content", "usage.total_tokens", "model"},
		{"openai responses", responsesPath, `{"model":"gpt-5.2","input":"hi"}`, "output.0.content.0.text", "usage.input_tokens", "model"},
		{"anthropic messages", messagesPath, `{"model":"claude-sonnet-4-6"}`, "content.0.text", "usage.input_tokens", "model"},
		{"gemini", geminiPath, `{}`, "candidates.0.content.parts.0.text", "usageMetadata.promptTokenCount", "modelVersion"},
		{"vertex claude", vertexClaude + "rawPredict", `{}`, "content.0.text", "usage.input_tokens", "model"},
		{"bedrock invoke", invokePath, `{"anthropic_version":"bedrock-2023-05-31"}`, "content.0.text", "usage.input_tokens", "model"},
		{"bedrock converse", converse, `{}`, "output.message.content.0.text", "usage.inputTokens", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := f.post(c.path, c.body)
			if a.err != nil || a.status != http.StatusOK || a.header.Get("Content-Type") != "application/json" {
				t.Fatalf("status %d, %v, %v", a.status, a.header, a.err)
			}
			doc := string(a.body)
			if got := at(t, doc, c.text); got != defaultText {
				t.Errorf("text %v in %s", got, doc)
			}
			if n, _ := at(t, doc, c.input).(float64); n < 1 {
				t.Errorf("no input tokens in %s", doc)
			}
			if c.model != "" {
				if m, _ := at(t, doc, c.model).(string); m == "" {
					t.Errorf("no model in %s", doc)
				}
			}
		})
	}
}

func TestStreamsCarryTextUsageAndEnd(t *testing.T) {
	f := start(t)
	const anthropicOrder = "message_start content_block_start ping content_block_delta content_block_stop message_delta message_stop"
	for _, c := range []struct {
		name, path, body string
		decode           func(*testing.T, []byte) []event
		text             string // where a piece of it is
		order            string // of the events, if named
		usage            string // where it is, in the event from the end:
		usageFromEnd     int
	}{
		{
			"openai chat", chatPath, `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`, sseEvents,
			"choices.0.delta.content", "", "usage.total_tokens", 2,
		},
		{
			"openai responses", responsesPath, `{"model":"m","stream":true}`, sseEvents, "delta",
			"response.created response.in_progress response.output_item.added response.content_part.added response.output_text.delta " +
				"response.output_text.done response.content_part.done response.output_item.done response.completed",
			"response.usage.total_tokens", 1,
		},
		{"anthropic messages", messagesPath, `{"model":"m","stream":true}`, sseEvents, "delta.text", anthropicOrder, "usage.output_tokens", 2},
		{"vertex claude", vertexClaude + "streamRawPredict", `{}`, sseEvents, "delta.text", anthropicOrder, "usage.output_tokens", 2},
		{"bedrock invoke", invokeStream, `{}`, awsEvents, "delta.text", anthropicOrder, "usage.output_tokens", 2},
		{
			"bedrock converse", converse + "-stream", `{}`, awsEvents, "delta.text",
			"messageStart contentBlockDelta contentBlockStop messageStop metadata", "usage.totalTokens", 1,
		},
		{"gemini sse", geminiStream + "?alt=sse", `{}`, sseEvents, "candidates.0.content.parts.0.text", "", "usageMetadata.totalTokenCount", 1},
		{"gemini array", geminiStream, `{}`, arrayEvents, "candidates.0.content.parts.0.text", "", "usageMetadata.totalTokenCount", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := f.post(c.path, c.body)
			if a.err != nil || a.status != http.StatusOK {
				t.Fatalf("status %d, %v", a.status, a.err)
			}
			events := c.decode(t, a.body)
			if got := joined(t, events, c.text); got != defaultText {
				t.Errorf("text %q", got)
			}
			if got := names(events); c.order != "" && got != c.order {
				t.Errorf("events\n%s, want\n%s", got, c.order)
			}
			e := events[len(events)-c.usageFromEnd]
			if n, _ := at(t, e.data, c.usage).(float64); n < 1 {
				t.Errorf("no usage in %s", e.data)
			}
		})
	}
}

func TestChatStreamHonoursIncludeUsage(t *testing.T) {
	f := start(t)
	with := sseEvents(t, f.post(chatPath, `{"stream":true,"stream_options":{"include_usage":true}}`).body)
	without := sseEvents(t, f.post(chatPath, `{"stream":true}`).body)
	if len(with) != len(without)+1 {
		t.Errorf("%d events with usage, %d without", len(with), len(without))
	}
	if !strings.Contains(with[0].data, `"usage":null`) || strings.Contains(without[0].data, `"usage"`) {
		t.Errorf("first chunks %s and %s", with[0].data, without[0].data)
	}
	for _, events := range [][]event{with, without} {
		if last := events[len(events)-1]; last.data != "[DONE]" {
			t.Errorf("ends with %s", last.data)
		}
	}
}

func TestThinkingAndToolCallsInEveryDialect(t *testing.T) {
	reply := Reply{Text: "It rains.", Thinking: "Let me look at the sky.", Tools: []Tool{{Name: "weather", Input: json.RawMessage(`{"city":"Łódź"}`)}}}
	f := startWith(t, Options{Reply: reply})
	for _, c := range []struct {
		name, path, body         string
		decode                   func(*testing.T, []byte) []event
		thinking, tool, argument string // where they are
		stop, stopWord           string
	}{
		{
			"chat", chatPath, `{}`, nil, "choices.0.message.reasoning_content", "choices.0.message.tool_calls.0.function.name",
			"choices.0.message.tool_calls.0.function.arguments", "choices.0.finish_reason", "tool_calls",
		},
		{
			"chat stream", chatPath, `{"stream":true}`, sseEvents, "choices.0.delta.reasoning_content", "choices.0.delta.tool_calls.0.function.name",
			"choices.0.delta.tool_calls.0.function.arguments", "choices.0.finish_reason", "tool_calls",
		},
		{"messages", messagesPath, `{}`, nil, "content.0.thinking", "content.2.name", "content.2.input.city", "stop_reason", "tool_use"},
		{
			"messages stream", messagesPath, `{"stream":true}`, sseEvents, "delta.thinking", "content_block.name", "delta.partial_json",
			"delta.stop_reason", "tool_use",
		},
		{"responses", responsesPath, `{}`, nil, "output.0.summary.0.text", "output.2.name", "output.2.arguments", "status", "completed"},
		{
			"gemini", geminiPath, `{}`, nil, "candidates.0.content.parts.0.text", "candidates.0.content.parts.2.functionCall.name",
			"candidates.0.content.parts.2.functionCall.args.city", "candidates.0.finishReason", "STOP",
		},
		{
			"converse", converse, `{}`, nil, "output.message.content.0.reasoningContent.reasoningText.text",
			"output.message.content.2.toolUse.name", "output.message.content.2.toolUse.input.city", "stopReason", "tool_use",
		},
		{
			"converse stream", converse + "-stream", `{}`, awsEvents, "delta.reasoningContent.text", "start.toolUse.name",
			"delta.toolUse.input", "stopReason", "tool_use",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := f.post(c.path, c.body)
			events := []event{{data: string(a.body)}}
			if c.decode != nil {
				events = c.decode(t, a.body)
			}
			if got := joined(t, events, c.thinking); got != reply.Thinking {
				t.Errorf("thinking %q", got)
			}
			if got := joined(t, events, c.tool); got != "weather" {
				t.Errorf("tool %q", got)
			}
			if got := joined(t, events, c.argument); !strings.Contains(got, "Łódź") {
				t.Errorf("argument %q", got)
			}
			if got := joined(t, events, c.stop); got != c.stopWord {
				t.Errorf("stop %q", got)
			}
		})
	}
}

func TestOtherEndpoints(t *testing.T) {
	f := start(t)
	for _, c := range []struct{ name, path, body, at string }{
		{"anthropic token count", messagesPath + "/count_tokens", `{"model":"m"}`, "input_tokens"},
		{"responses token count", responsesPath + "/input_tokens", `{"model":"m"}`, "input_tokens"},
		{"embeddings of a list", "/v1/embeddings", `{"input":["a","b"]}`, "data.1.embedding.3"},
		{"embeddings in base64", "/v1/embeddings", `{"input":"a","encoding_format":"base64"}`, "data.0.embedding"},
		{"gemini token count", "/v1beta/models/m:countTokens", `{}`, "totalTokens"},
		{"gemini embedding", "/v1beta/models/m:embedContent", `{}`, "embedding.values.2"},
		{"gemini embeddings", "/v1beta/models/m:batchEmbedContents", `{"requests":[{},{}]}`, "embeddings.1.values.0"},
		{"vertex embedding", "/v1/projects/p/locations/l/publishers/google/models/m:predict", `{}`, "predictions.0.embeddings.values.0"},
		{"vertex claude token count", "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict", `{}`, "input_tokens"},
		{"bedrock token count", "/model/m/count-tokens", `{}`, "inputTokens"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := f.post(c.path, c.body)
			if a.status != http.StatusOK || at(t, string(a.body), c.at) == nil {
				t.Errorf("status %d, %s", a.status, a.body)
			}
		})
	}
}

func TestModelLists(t *testing.T) {
	f := start(t)
	for _, c := range []struct {
		name, path string
		header     []string
		at, want   string
	}{
		{"openai", "/v1/models", nil, "data.0.object", "model"},
		{"anthropic", "/v1/models", []string{"Anthropic-Version", "2023-06-01"}, "data.0.type", "model"},
		{"gemini", "/v1beta/models", nil, "models.0.name", "models/claude-opus-4-6"},
		{"one, with slashes in its id", "/v1/models/openai/gpt-5.2:free", nil, "id", "openai/gpt-5.2:free"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if a := f.get(c.path, c.header...); at(t, string(a.body), c.at) != c.want {
				t.Errorf("got %s", a.body)
			}
		})
	}
	if a := f.get("/nowhere"); a.status != http.StatusNotFound || at(t, string(a.body), "error.type") != "invalid_request_error" {
		t.Errorf("unknown path: %d %s", a.status, a.body)
	}
}

func TestUsageCanBeScripted(t *testing.T) {
	u := &Usage{Input: 100, Output: 50, CacheRead: 30, CacheWrite: 20, Reasoning: 10}
	f := startWith(t, Options{Reply: Reply{Usage: u}})
	for _, c := range []struct {
		path string
		want map[string]float64
	}{
		{chatPath, map[string]float64{
			"usage.prompt_tokens": 150, "usage.prompt_tokens_details.cached_tokens": 30,
			"usage.completion_tokens": 50, "usage.completion_tokens_details.reasoning_tokens": 10, "usage.total_tokens": 200,
		}},
		{responsesPath, map[string]float64{"usage.input_tokens": 150, "usage.input_tokens_details.cached_tokens": 30, "usage.output_tokens": 50}},
		{messagesPath, map[string]float64{
			"usage.input_tokens": 100, "usage.cache_read_input_tokens": 30,
			"usage.cache_creation_input_tokens": 20, "usage.output_tokens": 50,
		}},
		{geminiPath, map[string]float64{
			"usageMetadata.promptTokenCount": 150, "usageMetadata.cachedContentTokenCount": 30,
			"usageMetadata.candidatesTokenCount": 40, "usageMetadata.thoughtsTokenCount": 10, "usageMetadata.totalTokenCount": 200,
		}},
		{converse, map[string]float64{"usage.inputTokens": 100, "usage.cacheReadInputTokens": 30, "usage.outputTokens": 50}},
	} {
		doc := string(f.post(c.path, `{}`).body)
		for path, want := range c.want {
			if got := at(t, doc, path); got != want {
				t.Errorf("%s %s: %v, want %v", c.path, path, got, want)
			}
		}
	}
	events := sseEvents(t, f.post(messagesPath, `{"stream":true}`).body)
	if got := at(t, events[0].data, "message.usage.cache_read_input_tokens"); got != 30.0 {
		t.Errorf("message_start has %v cached tokens", got)
	}
	if got := at(t, events[len(events)-2].data, "usage.output_tokens"); got != 50.0 {
		t.Errorf("message_delta has %v output tokens", got)
	}

	none := startWith(t, Options{Reply: Reply{NoUsage: true}})
	for _, path := range []string{chatPath, messagesPath, geminiPath, converse} {
		if b := none.post(path, `{"stream":true,"stream_options":{"include_usage":true}}`).body; strings.Contains(string(b), `"usage`) {
			t.Errorf("%s: usage in %s", path, b)
		}
	}
}
