package openairesponses

import (
	"encoding/json"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// Usage is what the stream has reported so far; it comes with the last event.
func (s *stream) Usage() llm.Usage { return s.usage }

func bodyUsage(body []byte) (u llm.Usage) {
	_ = wire.Members(body, func(name, value []byte) { // not JSON: no usage
		if string(name) == "usage" {
			readUsage(value, &u)
		}
	})
	return u
}

// readUsage takes a response's usage into u. The vendor's input count includes
// what was read from and written to a cache; ours does not.
func readUsage(usage []byte, u *llm.Usage) {
	var v struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		In     struct {
			Cached  int64 `json:"cached_tokens"`
			Written int64 `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		Out struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
	if json.Unmarshal(usage, &v) != nil || v.Input < 0 || v.Output < 0 || v.Input+v.Output == 0 {
		return // null, or nonsense
	}
	*u = llm.Usage{
		Input: max(0, v.Input-v.In.Cached-v.In.Written), CachedRead: v.In.Cached, CachedWrite: v.In.Written,
		Output: v.Output, Reasoning: v.Out.Reasoning,
	}
}
