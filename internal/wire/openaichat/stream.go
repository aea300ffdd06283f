package openaichat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// stream follows chat.completion.chunk objects up to [DONE] or, for vendors
// that leave it out, a finish_reason of every choice.
type stream struct {
	begun    bool // content has come
	done     bool
	finished []int // indices of the choices that are
	choices  int
	usage    llm.Usage
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

func (s *stream) Complete() bool { return s.done || len(s.finished) >= s.choices }

func (s *stream) Last() bool { return s.done }

func (s *stream) Kind(ev *wire.Event) wire.EventKind {
	if string(ev.Name) == "error" {
		return wire.Failed
	}
	if !ev.HasData {
		return wire.Preamble // comments
	}
	if string(bytes.TrimSpace(ev.Data)) == "[DONE]" {
		s.done = true
		s.begun = true
		return wire.Content
	}
	if mentionsError(ev.Data) && failed(ev.Data) {
		return wire.Failed
	}
	if mentionsFinish(ev.Data) {
		s.finish(ev.Data)
	}
	if mentionsUsage(ev.Data) {
		if a, ok := readAnswer(ev.Data); ok && a.Usage != (llm.Usage{}) {
			s.usage = a.Usage
		}
	}
	if !s.begun && !hasContent(ev.Data) {
		return wire.Preamble
	}
	s.begun = true
	return wire.Content
}

// mentionsError looks for the word "error" in a chunk without decoding it, as
// a value or as a key whose value is not null. Inside a text its quotes would
// be escaped.
func mentionsError(data []byte) bool {
	for {
		_, rest, found := bytes.Cut(data, []byte(`"error"`))
		if !found {
			return false
		}
		if v, isKey := member(rest); !isKey || !bytes.HasPrefix(v, []byte("null")) {
			return true
		}
		data = rest
	}
}

// mentionsUsage looks for a "usage" that is not null: with include_usage every
// chunk has a null one but the last.
func mentionsUsage(data []byte) bool {
	_, rest, found := bytes.Cut(data, []byte(`"usage"`))
	if !found {
		return false
	}
	v, isKey := member(rest)
	return !isKey || !bytes.HasPrefix(v, []byte("null"))
}

// failed looks whether an "error" that stands somewhere in a chunk is the
// chunk's own: at the top, or a choice's.
func failed(data []byte) bool {
	a, ok := readAnswer(data)
	return a.Error && ok
}

// hasContent tells a chunk that carries part of the answer from one that only
// announces it: a role, an empty text, no choices (Azure's prompt filter
// results). It runs only until the first content.
func hasContent(data []byte) bool {
	var c struct {
		Choices []struct {
			Delta        map[string]json.RawMessage `json:"delta"`
			FinishReason string                     `json:"finish_reason"`
		} `json:"choices"`
	}
	if json.Unmarshal(data, &c) != nil {
		return true // not ours to judge; it goes through as it is
	}
	for _, ch := range c.Choices {
		if ch.FinishReason != "" {
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

// mentionsFinish looks for a finish_reason that is a text, without decoding
// the chunk. Some vendors write an empty one where others write null.
func mentionsFinish(data []byte) bool {
	for {
		_, rest, found := bytes.Cut(data, []byte(`"finish_reason"`))
		if !found {
			return false
		}
		v, isKey := member(rest)
		if isKey && bytes.HasPrefix(v, []byte{'"'}) && !bytes.HasPrefix(v, []byte(`""`)) {
			return true
		}
		data = rest
	}
}

// finish notes which choices the chunk finishes.
func (s *stream) finish(data []byte) {
	var c struct {
		Choices []struct {
			Index        int    `json:"index"`
			FinishReason string `json:"finish_reason"`
		} `json:"choices"`
	}
	_ = json.Unmarshal(data, &c) // what has the expected type is read all the same
	for _, ch := range c.Choices {
		if ch.FinishReason != "" && !slices.Contains(s.finished, ch.Index) {
			s.finished = append(s.finished, ch.Index)
		}
	}
}

// member returns what follows the colon behind a key, and whether there is
// one: without it the quoted word was a value.
func member(rest []byte) (value []byte, isKey bool) {
	v, isKey := bytes.CutPrefix(bytes.TrimLeft(rest, space), []byte{':'})
	return bytes.TrimLeft(v, space), isKey
}

const space = " \t\r\n"
