package anthropic

import (
	"strconv"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// Usage is what the stream has reported so far: the input side comes with
// message_start, and message_delta counts the output up.
func (s *stream) Usage() llm.Usage { return s.usage }

func bodyUsage(body []byte) (u llm.Usage) {
	readUsage(body, &u)
	return u
}

// readUsage takes the "usage" member of an object into u. Each figure keeps
// its last value that is not null: message_delta repeats some and leaves out
// others.
func readUsage(object []byte, u *llm.Usage) {
	_ = wire.Members(object, func(name, value []byte) { // not JSON: no usage
		if string(name) != "usage" {
			return
		}
		_ = wire.Members(value, func(name, value []byte) {
			n, err := strconv.ParseInt(string(value), 10, 64)
			if string(name) == "output_tokens_details" {
				_ = wire.Members(value, func(name, value []byte) {
					if t, err := strconv.ParseInt(string(value), 10, 64); err == nil && string(name) == "thinking_tokens" {
						u.Reasoning = t
					}
				})
			}
			if err != nil || n < 0 {
				return
			}
			switch string(name) {
			case "input_tokens":
				u.Input = n
			case "cache_read_input_tokens":
				u.CachedRead = n
			case "cache_creation_input_tokens":
				u.CachedWrite = n
			case "output_tokens":
				u.Output = n
			}
		})
	})
}
