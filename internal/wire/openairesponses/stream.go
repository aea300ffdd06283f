package openairesponses

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// stream follows response.created … response.completed. Besides what the relay
// asks for it keeps what an error event of ours needs to fit in: the response's
// id and the next sequence number.
type stream struct {
	begun bool // content has come
	works bool // the provider has said that it works on the answer
	ended bool // the last event has come
	usage llm.Usage

	model, id string
	next      int64
}

func newStream(e *wire.Envelope) wire.StreamReader { return &stream{model: e.Model} }

// Working is true from the first event on: models think for minutes between
// response.created and the first content.
func (s *stream) Working() bool { return s.works }

func (s *stream) Complete() bool { return s.ended }

// Last is true from the terminal event on: OpenAI sends nothing after it. The
// [DONE] that some vendors add is passed on all the same.
func (s *stream) Last() bool { return s.ended }

func (s *stream) Kind(ev *wire.Event) wire.EventKind {
	if !ev.HasData {
		if string(ev.Name) == "error" {
			return wire.Failed
		}
		return wire.Preamble // comments; clients see no event without data
	}
	if string(bytes.TrimSpace(ev.Data)) == "[DONE]" {
		s.begun, s.ended = true, true
		return wire.Content
	}
	s.count(ev.Data)
	t := typeOf(ev)
	switch string(t) {
	case "error":
		return wire.Failed
	case "response.failed", "response.completed", "response.incomplete", "response.done":
		return s.finish(ev.Data, string(t) == "response.failed")
	}
	if !bytes.HasPrefix(t, []byte("response.")) && bytes.Contains(ev.Data, []byte(`"error"`)) {
		// Compatible vendors write the error of Chat Completions, which has no
		// type. Events of the vendor's own name hold their errors inside.
		if a, ok := readAnswer(ev.Data); a.Error && ok {
			return wire.Failed
		}
	}
	if !s.begun && s.announces(t, ev.Data) {
		s.works = true
		return wire.Preamble
	}
	s.begun = true
	return wire.Content
}

// finish reads the event that ends the answer. Some vendors put a response
// that failed into response.completed. response.done is the name that the
// Codex back end has used (jlcodes99/cockpit-tools#2328). One that is no JSON
// was cut: it ends nothing.
func (s *stream) finish(data []byte, failed bool) wire.EventKind {
	err := wire.Members(data, func(name, value []byte) {
		if string(name) != "response" {
			return
		}
		_ = wire.Members(value, func(name, value []byte) {
			switch string(name) {
			case "status":
				failed = failed || string(value) == `"failed"`
			case "usage":
				readUsage(value, &s.usage)
			}
		})
	})
	if failed {
		return wire.Failed
	}
	s.begun, s.ended = true, err == nil
	return wire.Content
}

// typeOf is the type of an event: its name, where that is one of the format's,
// else the "type" in its data, which is what the SDKs read.
func typeOf(ev *wire.Event) []byte {
	if string(ev.Name) == "error" || bytes.HasPrefix(ev.Name, []byte("response.")) {
		return ev.Name
	}
	t := ev.Name
	_ = wire.Members(ev.Data, func(name, value []byte) { // not JSON: no type
		if string(name) == "type" && len(value) > 2 && value[0] == '"' {
			t = value[1 : len(value)-1]
		}
	})
	return t
}

// announces tells an event that holds nothing of the answer, so that another
// provider can still serve, from one that does. What is not listed is content,
// so hosted tools that run are: they have effects, and another provider would
// run them again. It runs only until the first content.
func (s *stream) announces(t, data []byte) bool {
	switch string(t) {
	case "response.created":
		s.id = responseID(data)
		return true
	case "response.queued", "response.in_progress":
		return true
	case "keepalive":
		return true // sent in long silences, in no document (openai/openai-node#1964)
	case "response.metadata":
		return true // the Codex back end's, as what follows
	case "response.output_item.added":
		return emptyItem(data, false)
	case "response.output_item.done":
		return emptyItem(data, true)
	case "response.content_part.added", "response.content_part.done",
		"response.reasoning_summary_part.added", "response.reasoning_summary_part.done":
		return emptyMember(data, "part")
	case "response.output_text.done", "response.reasoning_text.done", "response.reasoning_summary_text.done":
		return emptyMember(data, "text")
	case "response.refusal.done":
		return emptyMember(data, "refusal")
	}
	// Quotas and headers of the account: ahead of the first content.
	if bytes.HasPrefix(t, []byte("codex.")) || bytes.HasPrefix(t, []byte("responsesapi.")) {
		return true
	}
	return bytes.HasSuffix(t, []byte(".delta")) && emptyMember(data, "delta")
}

// emptyItem tells whether an output item only announces what its parts will
// hold: a message without text, or reasoning of which nothing is there; a model
// may think for minutes after that. Encrypted reasoning counts once the item is
// done: the copy that comes before it can be cut short, and is sent again. A
// call is content by its name alone.
func emptyItem(data []byte, done bool) bool {
	var v struct {
		Item struct {
			Type      string            `json:"type"`
			Content   []json.RawMessage `json:"content"`
			Summary   []json.RawMessage `json:"summary"`
			Encrypted string            `json:"encrypted_content"`
		} `json:"item"`
	}
	if json.Unmarshal(data, &v) != nil || done && v.Item.Encrypted != "" {
		return false // not ours to judge, or content
	}
	if v.Item.Type != "message" && v.Item.Type != "reasoning" {
		return false
	}
	for _, part := range append(v.Item.Content, v.Item.Summary...) {
		if !emptyPart(part) {
			return false
		}
	}
	return true
}

// emptyMember tells whether a member of an event is an empty text or part.
func emptyMember(data []byte, member string) bool {
	empty := false
	_ = wire.Members(data, func(name, value []byte) { // not JSON: content, passed on as it is
		if string(name) == member {
			empty = string(value) == `""` || emptyPart(value)
		}
	})
	return empty
}

// emptyPart tells whether a part of an item is a text without a letter.
func emptyPart(part []byte) bool {
	var v struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	if json.Unmarshal(part, &v) != nil {
		return false
	}
	switch v.Type {
	case "output_text", "reasoning_text", "summary_text", "refusal":
		return v.Text == "" && v.Refusal == ""
	}
	return false
}

// count notes the sequence number of an event. Vendors that leave it out are
// counted from 0, as OpenAI does.
func (s *stream) count(data []byte) {
	at := s.next
	if _, rest, found := bytes.Cut(data, []byte(`"sequence_number"`)); found {
		v := value(rest)
		n := 0
		for n < len(v) && '0' <= v[n] && v[n] <= '9' {
			n++
		}
		if i, err := strconv.ParseInt(string(v[:min(n, 20)]), 10, 64); err == nil { // 20 digits never fit
			at = i
		}
	}
	s.next = at + 1
}

// responseID reads the id out of a response.created without passing over the
// tools and instructions that it repeats: the vendor writes the id first. In
// another place it is not found, and does without.
func responseID(data []byte) string {
	_, rest, _ := bytes.Cut(data, []byte(`"response"`))
	v, ok := bytes.CutPrefix(value(rest), []byte{'{'})
	if !ok {
		return ""
	}
	v, ok = bytes.CutPrefix(bytes.TrimLeft(v, space), []byte(`"id"`))
	if !ok {
		return ""
	}
	id, ok := bytes.CutPrefix(value(v), []byte{'"'})
	n := bytes.IndexByte(id, '"')
	if !ok || n < 0 {
		return ""
	}
	return string(id[:n])
}

// value returns what follows the colon behind a key; nothing without one.
func value(rest []byte) []byte {
	v, isKey := bytes.CutPrefix(bytes.TrimLeft(rest, space), []byte{':'})
	if !isKey {
		return nil
	}
	return bytes.TrimLeft(v, space)
}

const space = " \t\r\n"
