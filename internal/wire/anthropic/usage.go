package anthropic

import (
	"strconv"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// Usage is what the stream has reported so far: the input side comes with
// message_start, and message_delta counts the output up.
func (s *stream) Usage() llm.Usage { return s.usage }

// usageOf takes the "usage" member of an object into u.
func usageOf(object []byte, u *llm.Usage) {
	_ = wire.Members(object, func(name, value []byte) { // not JSON: no usage
		if string(name) == "usage" {
			readUsage(value, u)
		}
	})
}

// readUsage takes a usage object into u. Each figure keeps its last value that
// is not null: message_delta repeats some and leaves out others.
func readUsage(usage []byte, u *llm.Usage) {
	_ = wire.Members(usage, func(name, value []byte) { // null: no usage
		switch string(name) {
		case "input_tokens":
			count(value, &u.Input)
		case "cache_read_input_tokens":
			count(value, &u.CachedRead)
		case "cache_creation_input_tokens":
			count(value, &u.CachedWrite)
		case "output_tokens":
			count(value, &u.Output)
		case "output_tokens_details":
			_ = wire.Members(value, func(name, value []byte) {
				if string(name) == "thinking_tokens" {
					count(value, &u.Reasoning)
				}
			})
		}
	})
}

// count takes a number that is not negative.
func count(value []byte, n *int64) {
	if v, err := strconv.ParseInt(string(value), 10, 64); err == nil && v >= 0 {
		*n = v
	}
}
