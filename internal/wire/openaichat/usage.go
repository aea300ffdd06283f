package openaichat

import (
	"encoding/json"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// Usage is what the stream has reported so far; nothing, if the client did not
// ask for it.
func (s *stream) Usage() llm.Usage { return s.usage }

func bodyUsage(body []byte) (u llm.Usage) {
	readUsage(body, &u)
	return u
}

// readUsage takes the "usage" member of an object into u. The vendor's prompt
// count includes what came from a cache; ours does not.
func readUsage(object []byte, u *llm.Usage) {
	_ = wire.Members(object, func(name, value []byte) { // not JSON: no usage
		if string(name) != "usage" {
			return
		}
		var v struct {
			Prompt     int64 `json:"prompt_tokens"`
			Completion int64 `json:"completion_tokens"`
			In         struct {
				Cached  int64 `json:"cached_tokens"`
				Written int64 `json:"cache_write_tokens"`
			} `json:"prompt_tokens_details"`
			Out struct {
				Reasoning int64 `json:"reasoning_tokens"`
			} `json:"completion_tokens_details"`
		}
		if json.Unmarshal(value, &v) != nil || v.Prompt < 0 || v.Completion < 0 || v.Prompt+v.Completion == 0 {
			return // null, or nonsense
		}
		*u = llm.Usage{
			Input: max(0, v.Prompt-v.In.Cached-v.In.Written), CachedRead: v.In.Cached, CachedWrite: v.In.Written,
			Output: v.Completion, Reasoning: v.Out.Reasoning,
		}
	})
}
