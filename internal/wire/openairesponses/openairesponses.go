// Package openairesponses is the wire format of OpenAI's Responses API, passed
// through as it is. Source: the OpenAI OpenAPI document 2.3.0, the official
// SDKs (openai-go 3.99.0) and Codex CLI 0.171.0, 2026-11.
package openairesponses

import (
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// New describes the format.
func New() *wire.Format {
	return &wire.Format{
		ID:    llm.OpenAIResponses,
		Title: "OpenAI Responses",
		Endpoints: []*llm.Endpoint{{
			ID: llm.Responses, Method: "POST", Paths: []string{"/v1/responses", "/openai/v1/responses"},
			Format: llm.OpenAIResponses, Stream: true, Failover: true, Counts: true,
		}},
		// client_metadata is Codex's; the rest is in the SDK's parameters.
		Known: wire.NewNames("model", "input", "instructions", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls",
			"max_tool_calls", "reasoning", "text", "max_output_tokens", "temperature", "top_p", "top_logprobs", "include", "truncation",
			"previous_response_id", "conversation", "store", "background", "prompt", "context_management", "service_tier", "metadata",
			"client_metadata", "user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options",
			"moderation", "access_programs", "image"),
		KeepAlive:         []byte(": keep-alive\n\n"),
		Tied:              Tied,
		NewStream:         newStream,
		ReadAnswer:        readAnswer,
		AppendError:       appendError,
		AppendStreamError: appendStreamError,
		RequestIDHeader:   "X-Request-Id",
	}
}

// readAnswer: an answer has no "error", or a null one. A response that failed
// has one, and its status says so; one that is incomplete, canceled or queued is
// an answer. Compatible vendors write errors flat (vLLM, OpenAI's error event).
func readAnswer(body []byte) (a wire.Answer, ok bool) {
	err := wire.Members(body, func(name, value []byte) {
		switch string(name) {
		case "error":
			a.Error = a.Error || string(value) != "null"
		case "status":
			a.Error = a.Error || string(value) == `"failed"`
		case "object", "type":
			a.Error = a.Error || string(value) == `"error"`
		case "usage":
			readUsage(value, &a.Usage)
		}
	})
	return a, err == nil
}
