package openairesponses

import (
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// Usage is what the stream has reported so far; it comes with the last event.
func (s *stream) Usage() llm.Usage { return s.usage }

// readUsage takes a response's usage into u. The vendor's input count includes
// what was read from and written to a cache; ours does not.
func readUsage(usage []byte, u *llm.Usage) {
	var v struct{ input, output, cached, written, reasoning int64 }
	ok := wire.Counts(usage, func(path, name []byte) *int64 {
		switch {
		case len(path) == 0 && string(name) == "input_tokens":
			return &v.input
		case len(path) == 0 && string(name) == "output_tokens":
			return &v.output
		case string(path) == "input_tokens_details" && string(name) == "cached_tokens":
			return &v.cached
		case string(path) == "input_tokens_details" && string(name) == "cache_write_tokens":
			return &v.written
		case string(path) == "output_tokens_details" && string(name) == "reasoning_tokens":
			return &v.reasoning
		}
		return nil
	})
	if !ok || v.input+v.output == 0 {
		return // null, or nonsense
	}
	*u = llm.Usage{
		Input: max(0, v.input-v.cached-v.written), CachedRead: v.cached, CachedWrite: v.written,
		Output: v.output, Reasoning: v.reasoning,
	}
}
