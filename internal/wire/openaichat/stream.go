package openaichat

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/interlock-gateway/interlock/internal/wire"
)

// stream follows chat.completion.chunk objects up to [DONE] or, for vendors
// that leave it out, a finish_reason of every choice.
type stream struct {
	begun    bool // content has come
	done     bool
	finished int
	choices  int
}

func newStream(e *wire.Envelope) wire.StreamReader {
	s := &stream{choices: 1}
	if v, ok := e.Value("n"); ok {
		if n, err := strconv.Atoi(string(v)); err == nil && n > 1 {
			s.choices = n
		}
	}
	return s
}

func (s *stream) Complete() bool { return s.done || s.finished >= s.choices }

func (s *stream) Kind(ev *wire.Event) wire.EventKind {
	if !ev.HasData {
		return wire.Preamble // comments
	}
	if string(bytes.TrimSpace(ev.Data)) == "[DONE]" {
		s.done = true
		s.begun = true
		return wire.Content
	}
	if string(ev.Name) == "error" || hasKey(ev.Data, "error") && failed(ev.Data) {
		return wire.Failed
	}
	s.finished += finishes(ev.Data)
	if !s.begun && !hasContent(ev.Data) {
		return wire.Preamble
	}
	s.begun = true
	return wire.Content
}

// failed looks whether an "error" that stands somewhere in a chunk is the
// chunk's own: at the top, or a choice's (OpenRouter).
func failed(data []byte) bool {
	var c struct {
		Error   json.RawMessage `json:"error"`
		Choices []struct {
			Error        json.RawMessage `json:"error"`
			FinishReason string          `json:"finish_reason"`
		} `json:"choices"`
	}
	if json.Unmarshal(data, &c) != nil {
		return false
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return true
	}
	for _, ch := range c.Choices {
		if ch.FinishReason == "error" && len(ch.Error) > 0 && string(ch.Error) != "null" {
			return true
		}
	}
	return false
}

// hasContent tells a chunk that carries part of the answer from one that only
// announces it: a role, an empty text, no choices (Azure's prompt filter
// results). It runs only until the first content.
func hasContent(data []byte) bool {
	var c struct {
		Choices []struct {
			Delta        map[string]json.RawMessage `json:"delta"`
			FinishReason *string                    `json:"finish_reason"`
		} `json:"choices"`
	}
	if json.Unmarshal(data, &c) != nil {
		return true // not ours to judge; it goes through as it is
	}
	for _, ch := range c.Choices {
		if ch.FinishReason != nil {
			return true
		}
		for name, v := range ch.Delta {
			if name == "role" {
				continue
			}
			switch string(v) {
			case `""`, "null", "[]", "{}":
			default:
				return true
			}
		}
	}
	return false
}

// finishes counts the choices that the chunk finishes. It looks for the key
// and a quote after it without decoding: inside a JSON string the quotes of
// the key would be escaped.
func finishes(data []byte) int {
	n := 0
	for {
		i := bytes.Index(data, []byte(`"finish_reason"`))
		if i < 0 {
			return n
		}
		data = data[i+len(`"finish_reason"`):]
		if v, ok := bytes.CutPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte{':'}); ok {
			if bytes.HasPrefix(bytes.TrimLeft(v, " \t\r\n"), []byte{'"'}) {
				n++
			}
		}
	}
}

// hasKey tells whether a key of that name stands anywhere in the chunk, with
// a value that is not null.
func hasKey(data []byte, name string) bool {
	i := bytes.Index(data, []byte(`"`+name+`"`))
	if i < 0 {
		return false
	}
	rest := bytes.TrimLeft(data[i+len(name)+2:], " \t\r\n")
	if v, ok := bytes.CutPrefix(rest, []byte{':'}); ok && !bytes.HasPrefix(bytes.TrimLeft(v, " \t\r\n"), []byte("null")) {
		return true
	}
	return hasKey(rest, name)
}
