// Package openaichat is the wire format of OpenAI's Chat Completions API.
// Source: the OpenAI OpenAPI document 2.3.0 and the official SDKs, 2026-08.
package openaichat

import (
	"encoding/json"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// New describes the format.
func New() *wire.Format {
	return &wire.Format{
		ID:    llm.OpenAIChat,
		Title: "OpenAI Chat Completions",
		Endpoints: []*llm.Endpoint{
			{
				ID: llm.ChatCompletions, Method: "POST",
				Paths:  []string{"/v1/chat/completions", "/chat/completions", "/openai/v1/chat/completions"},
				Format: llm.OpenAIChat, Stream: true, Failover: true, Counts: true,
			},
			Embeddings(),
		},
		Known: wire.NewNames("model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p",
			"n", "stop", "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "response_format", "reasoning_effort",
			"verbosity", "modalities", "audio", "prediction", "web_search_options", "logit_bias", "logprobs", "top_logprobs",
			"frequency_penalty", "presence_penalty", "seed", "service_tier", "store", "metadata", "user", "safety_identifier",
			"prompt_cache_key", "prompt_cache_retention", "prompt_cache_options",
			"input", "encoding_format", "dimensions"), // of embeddings
		KeepAlive:         []byte(": keep-alive\n\n"),
		NewStream:         newStream,
		ReadAnswer:        readAnswer,
		AppendError:       appendError,
		AppendStreamError: appendStreamError,
		RequestIDHeader:   "X-Request-Id",
	}
}

// Embeddings is the endpoint of embeddings. Requests have members of their own,
// but answers and errors have the shapes of Chat Completions, and there is no
// stream. Vectors of two models can't be compared, so a later candidate may
// serve only under the same wire model (chapter 20, RQ-EP).
func Embeddings() *llm.Endpoint {
	return &llm.Endpoint{
		ID: llm.Embeddings, Method: "POST", Paths: []string{"/v1/embeddings"},
		Format: llm.OpenAIChat, Failover: true, OneModel: true, Counts: true, ModelKind: "embedding",
	}
}

// readAnswer: an answer has no "error", or a null one. Some vendors answer 200
// with an error object; vLLM's is flat and says so in "object", and OpenRouter's
// can be a choice's.
func readAnswer(body []byte) (a wire.Answer, ok bool) {
	err := wire.Members(body, func(name, value []byte) {
		switch string(name) {
		case "object":
			a.Error = a.Error || string(value) == `"error"`
		case "error":
			a.Error = a.Error || string(value) != "null"
		case "choices":
			a.Error = a.Error || mentionsError(value) && choiceFailed(value)
		case "usage":
			readUsage(value, &a.Usage)
		}
	})
	return a, err == nil
}

// choiceFailed looks whether an "error" that stands somewhere in the choices is
// one's own (OpenRouter). It decodes them: see mentionsError.
func choiceFailed(choices []byte) bool {
	var list []struct {
		Error        json.RawMessage `json:"error"`
		FinishReason string          `json:"finish_reason"`
	}
	_ = json.Unmarshal(choices, &list) // what has the expected type is read all the same
	for _, ch := range list {
		if ch.FinishReason == "error" || len(ch.Error) > 0 && string(ch.Error) != "null" {
			return true
		}
	}
	return false
}
