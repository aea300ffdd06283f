package openaichat

import (
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// Usage is what the stream has reported so far; nothing, if the client did not
// ask for it.
func (s *stream) Usage() llm.Usage { return s.usage }

// readUsage takes a usage object into u. The vendor's prompt count includes what
// came from a cache; ours does not.
func readUsage(usage []byte, u *llm.Usage) {
	var v struct{ prompt, completion, cached, written, reasoning int64 }
	ok := wire.Counts(usage, func(path, name []byte) *int64 {
		switch {
		case len(path) == 0 && string(name) == "prompt_tokens":
			return &v.prompt
		case len(path) == 0 && string(name) == "completion_tokens":
			return &v.completion
		case string(path) == "prompt_tokens_details" && string(name) == "cached_tokens":
			return &v.cached
		case string(path) == "prompt_tokens_details" && string(name) == "cache_write_tokens":
			return &v.written
		case string(path) == "completion_tokens_details" && string(name) == "reasoning_tokens":
			return &v.reasoning
		}
		return nil
	})
	if !ok || v.prompt+v.completion == 0 {
		return // null, or nonsense
	}
	*u = llm.Usage{
		Input: max(0, v.prompt-v.cached-v.written), CachedRead: v.cached, CachedWrite: v.written,
		Output: v.completion, Reasoning: v.reasoning,
	}
}
