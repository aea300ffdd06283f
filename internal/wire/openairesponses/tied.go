package openairesponses

import (
	"bytes"

	"github.com/interlock-gateway/interlock/internal/wire"
)

// Tied tells whether only the maker of what a request refers to can serve it
// (RT-FO-2), and by which member: then one candidate is dialled. It reads the
// bytes of the input without decoding them: requests of agents have tens of
// kilobytes.
func Tied(e *wire.Envelope) (tied bool, reason string) {
	for _, name := range [...]string{"previous_response_id", "conversation"} {
		if v, ok := e.Value(name); ok && string(v) != "null" && string(v) != `""` {
			return true, name
		}
	}
	if v, ok := e.Value("background"); ok && string(v) == "true" {
		return true, "background" // what comes later is asked of its maker, by its id
	}
	input, ok := e.Value("input")
	if !ok || input[0] != '[' { // text
		return false, ""
	}
	return tiedItem(input)
}

// tiedItem looks for an item that only its maker can read: one with a member
// "encrypted_content" that holds text (reasoning, compaction and, deeper
// inside, messages between Codex's agents), or one of type item_reference,
// which stands for an item that the maker keeps. A tool's schema may have a
// property of either name; its value is an object.
//
// Looking for the bytes of a quoted word finds the texts that are just this
// word, and nothing else. In valid JSON the first quote starts a text or is an
// escaped one inside a text. Inside, the last quote would be escaped too, and
// the word be followed by a backslash; or it ends the text, and then what has
// to stand around the word does not, unless the text is a member's name. A name
// written with escapes is not found: no client writes one, and all that it
// costs is a failover that the next provider refuses.
//
// It goes from one underscore to the next because they are rare in most texts:
// looking for a quote, which starts the words, takes many times as long.
func tiedItem(input []byte) (tied bool, reason string) {
	for at := 0; ; at++ {
		i := bytes.IndexByte(input[at:], '_')
		if i < 0 {
			return false, ""
		}
		at += i
		before, after := input[:at], input[at+1:]
		if rest, ok := bytes.CutPrefix(after, []byte(`content"`)); ok && bytes.HasSuffix(before, []byte(`"encrypted`)) {
			if v := value(rest); len(v) > 1 && v[0] == '"' && v[1] != '"' {
				return true, "encrypted_content"
			}
		}
		if before, ok := bytes.CutSuffix(before, []byte(`"item`)); ok && bytes.HasPrefix(after, []byte(`reference"`)) && isType(before) {
			return true, "item_reference"
		}
	}
}

// isType tells whether the next value is that of a member "type".
func isType(before []byte) bool {
	name, ok := bytes.CutSuffix(bytes.TrimRight(before, space), []byte{':'})
	return ok && bytes.HasSuffix(bytes.TrimRight(name, space), []byte(`"type"`))
}
