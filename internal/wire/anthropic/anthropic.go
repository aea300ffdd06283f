// Package anthropic is the wire format of Anthropic's Messages API.
// Source: docs.anthropic.com API reference and the official SDKs, 2026-11.
package anthropic

import (
	"bytes"
	"slices"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// New describes the format.
func New() *wire.Format {
	return &wire.Format{
		ID:    llm.AnthropicMessages,
		Title: "Anthropic Messages",
		Endpoints: []*llm.Endpoint{
			{
				ID: llm.Messages, Method: "POST", Paths: []string{"/v1/messages", "/anthropic/v1/messages"},
				Format: llm.AnthropicMessages, Stream: true, Failover: true, Counts: true,
			},
			{
				ID: llm.CountTokens, Method: "POST", Paths: []string{"/v1/messages/count_tokens", "/anthropic/v1/messages/count_tokens"},
				Format: llm.AnthropicMessages,
			},
		},
		Known: wire.NewNames("model", "messages", "max_tokens", "system", "stream", "stop_sequences", "temperature", "top_p", "top_k",
			"tools", "tool_choice", "thinking", "output_config", "output_format", "metadata", "service_tier", "cache_control", "container",
			"inference_geo", "mcp_servers", "context_management", "fallbacks", "fallback_credit_token", "speed", "diagnostics", "safeguards", "tags"),
		KeepAlive:         []byte("event: ping\ndata: {\"type\": \"ping\"}\n\n"),
		NewStream:         func(*wire.Envelope) wire.StreamReader { return &stream{} },
		ReadAnswer:        readAnswer,
		AppendError:       appendError,
		AppendStreamError: appendStreamError,
		RequestIDHeader:   "Request-Id",
	}
}

// readAnswer: {"type":"error",...} is an error, and so is any "error" member
// (some compatible vendors leave out the type).
func readAnswer(body []byte) (a wire.Answer, ok bool) {
	err := wire.Members(body, func(name, value []byte) {
		switch string(name) {
		case "type":
			a.Error = a.Error || string(value) == `"error"`
		case "error":
			a.Error = a.Error || string(value) != "null"
		case "usage":
			readUsage(value, &a.Usage)
		}
	})
	return a, err == nil
}

// stream follows message_start … message_stop.
type stream struct {
	begun    bool // content has come
	complete bool
	usage    llm.Usage
}

func (s *stream) Complete() bool { return s.complete }

func (s *stream) Last() bool { return s.complete }

func (s *stream) Kind(ev *wire.Event) wire.EventKind {
	k := s.kind(ev)
	s.begun = s.begun || k == wire.Content
	return k
}

func (s *stream) kind(ev *wire.Event) wire.EventKind {
	name := ev.Name
	switch {
	case string(name) == "error":
		return wire.Failed
	case !ev.HasData:
		return wire.Preamble // comments; clients see no event without data
	case len(name) == 0:
		name = typeOf(ev.Data)
	}
	switch string(name) {
	case "message_start":
		_ = wire.Members(ev.Data, func(name, value []byte) { // not JSON: no usage
			if string(name) == "message" {
				usageOf(value, &s.usage)
			}
		})
		return wire.Preamble
	case "ping":
		return wire.Preamble
	case "message_stop":
		s.complete = true
		return wire.Content
	case "error":
		return wire.Failed
	case "message_delta":
		usageOf(ev.Data, &s.usage)
		return s.unless(usageOnly, ev.Data)
	case "content_block_start":
		return s.unless(emptyBlock, ev.Data)
	case "content_block_delta":
		return s.unless(emptyDelta, ev.Data)
	case "content_block_stop":
		return s.unless(nothing, ev.Data)
	}
	// Unknown events survive; one without a type may be an error that a
	// compatible vendor wrote its own way.
	if bytes.Contains(ev.Data, []byte(`"error"`)) {
		if a, ok := readAnswer(ev.Data); a.Error && ok {
			return wire.Failed
		}
	}
	return wire.Content
}

// typeOf reads the "type" of an event that has no event line.
func typeOf(data []byte) (t []byte) {
	_ = wire.Members(data, func(name, value []byte) { // not JSON: no type
		if string(name) == "type" && len(value) > 2 && value[0] == '"' {
			t = value[1 : len(value)-1]
		}
	})
	return t
}

// unless makes content of an event, unless it holds nothing of the answer and
// nothing of it has come: then another provider can still serve.
func (s *stream) unless(empty func(data []byte) bool, data []byte) wire.EventKind {
	if !s.begun && empty(data) {
		return wire.Preamble
	}
	return wire.Content
}

// nothing is what the end of a block holds: before content it is an empty one's.
func nothing([]byte) bool { return true }

// emptyDelta tells a delta of a text or of thinking without a letter. The input
// of a tool is content, empty or not: its call was.
func emptyDelta(data []byte) bool {
	empty := false
	_ = wire.Members(data, func(name, value []byte) { // not JSON: content, forwarded as it is
		if string(name) == "delta" {
			empty = emptyText(value, "text_delta", "thinking_delta", "signature_delta")
		}
	})
	return empty
}

// usageOnly tells a message_delta that does not say why the answer ended.
func usageOnly(data []byte) bool {
	ended := false
	err := wire.Members(data, func(name, value []byte) {
		if string(name) != "delta" {
			return
		}
		_ = wire.Members(value, func(name, value []byte) { // no object: it says nothing
			ended = ended || string(name) == "stop_reason" && string(value) != "null"
		})
	})
	return err == nil && !ended
}

// emptyBlock tells whether a content_block_start only announces a block that
// its deltas will fill: text or thinking without text. A tool call is content.
func emptyBlock(data []byte) bool {
	empty := false
	_ = wire.Members(data, func(name, value []byte) { // not JSON: content, forwarded as it is
		if string(name) == "content_block" {
			empty = emptyText(value, "text", "thinking")
		}
	})
	return empty
}

// emptyText tells an object of one of these types that holds no text.
func emptyText(object []byte, types ...string) bool {
	empty, known := true, false
	_ = wire.Members(object, func(name, value []byte) { // not JSON: not of a known type
		switch string(name) {
		case "type":
			known = len(value) > 2 && slices.Contains(types, string(value[1:len(value)-1]))
		case "text", "thinking", "signature":
			empty = empty && string(value) == `""`
		}
	})
	return empty && known
}
