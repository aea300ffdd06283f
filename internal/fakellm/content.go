package fakellm

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const (
	defaultText   = "Hello from the fake provider."
	filler        = "The quick brown fox jumps over the lazy dog. "
	defaultOutput = 7
	pieceRunes    = 12
)

// pieces is the text of the answer, one element per content frame. A plain
// answer has them joined.
func (c *call) pieces() []string {
	text, structured := c.replyText()
	var out []string
	switch {
	case c.reply.ChunkText != "":
		out = make([]string, max(1, c.reply.Chunks))
		for i := range out {
			out[i] = c.reply.ChunkText
		}
	case text == "":
		return nil
	case c.reply.Chunks > 0:
		out = splitInto(text, c.reply.Chunks)
	default:
		out = splitEvery(text, pieceRunes)
	}
	if structured { // a marker would break the JSON
		return out
	}
	return c.marked(out)
}

// replyText is the text before it is cut up; structured says that it is JSON
// which the request asked for.
func (c *call) replyText() (text string, structured bool) {
	text = c.reply.Text
	if text == "" && len(c.reply.Tools) == 0 {
		text = defaultText
		if schema := c.schema(); schema != nil {
			return string(mustJSON(sample(schema))), true
		}
	}
	if c.reply.Repeat > 1 {
		text = strings.Repeat(text+" ", c.reply.Repeat)
	}
	if n := c.reply.TextLen; n > 0 {
		if c.reply.Text == "" {
			text = filler
		}
		text = strings.Repeat(text, n/len(text)+1)[:n]
		text = strings.ToValidUTF8(text, "?") // the cut may go through a character
	}
	return text, false
}

func (c *call) text() string { return strings.Join(c.pieces(), "") }

// thinking is the thinking text in frames.
func (c *call) thinking() []string {
	if c.reply.Thinking == "" {
		return nil
	}
	return c.marked(splitEvery(c.reply.Thinking, pieceRunes))
}

// marked puts the caller's marker into every frame, so that a test can tell
// when a gateway mixes up two streams.
func (c *call) marked(pieces []string) []string {
	id := c.echoID()
	if id == "" {
		return pieces
	}
	out := make([]string, len(pieces))
	for i, p := range pieces {
		out[i] = "[" + id + "] " + p
	}
	return out
}

const maxEchoID = 64

// echoID is the marker that the request asks for, in the header X-Fake-Echo or
// as fake-echo:ID in its body; a gateway may well drop an unknown header. The
// last one in the body counts: it is in the newest turn of a conversation.
func (c *call) echoID() string {
	if id := c.r.Header.Get("X-Fake-Echo"); id != "" {
		return id
	}
	id := ""
	for rest := c.body; ; {
		_, after, ok := bytes.Cut(rest, []byte("fake-echo:"))
		if !ok {
			return id
		}
		n := 0
		for n < min(len(after), maxEchoID) && isIDByte(after[n]) {
			n++
		}
		id, rest = string(after[:n]), after[n:]
	}
}

func isIDByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '-' || b == '_' || b == '.'
}

// usage is the token counts of the answer.
func (c *call) usage() Usage {
	var u Usage
	if c.reply.Usage != nil {
		u = *c.reply.Usage
	}
	if u.Input == 0 {
		u.Input = c.inputTokens()
	}
	if u.Output == 0 {
		u.Output = defaultOutput
	}
	return u
}

// prompt is all input tokens, as the dialects other than Anthropic's count.
func (u Usage) prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

func (c *call) inputTokens() int { return max(1, len(c.body)/4) }

// object is the tool's input for dialects that send an object. From Go the
// input can be broken JSON, as models do produce; only strings can carry that.
func (t Tool) object() json.RawMessage {
	if !json.Valid(t.Input) {
		return json.RawMessage("{}")
	}
	return t.Input
}

// splitEvery cuts text into pieces of n characters.
func splitEvery(text string, n int) []string {
	out := make([]string, 0, len(text)/n+1)
	for text != "" {
		end := 0
		for range n {
			_, w := utf8.DecodeRuneInString(text[end:])
			end += w
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return out
}

// splitInto cuts text into n pieces of about the same length; pieces of a text
// shorter than that are empty.
func splitInto(text string, n int) []string {
	out := make([]string, n)
	from := 0
	for i := range out {
		to := max(from, len(text)*(i+1)/n)
		for to < len(text) && !utf8.RuneStart(text[to]) {
			to++
		}
		out[i] = text[from:to]
		from = to
	}
	return out
}

// schema finds a JSON schema that the request asks the output to follow.
func (c *call) schema() map[string]any {
	for _, at := range []struct {
		in   string // JSON
		path []string
	}{
		{c.req.outputConfig, []string{"format", "schema"}},
		{c.req.outputFormat, []string{"schema"}},
		{c.req.responseFormat, []string{"json_schema", "schema"}},
		{c.req.text, []string{"format", "schema"}},
		{c.req.generationConfig, []string{"responseJsonSchema"}},
		{c.req.generationConfig, []string{"responseSchema"}},
	} {
		if at.in == "" {
			continue
		}
		var v any
		if json.Unmarshal([]byte(at.in), &v) != nil {
			continue
		}
		for _, key := range at.path {
			m, _ := v.(map[string]any) // a nil map has no keys
			v = m[key]
		}
		if m, ok := v.(map[string]any); ok {
			return m
		}
	}
	return nil
}

// sample makes a small instance of a JSON schema.
func sample(schema map[string]any) any {
	if e, ok := schema["enum"].([]any); ok && len(e) > 0 {
		return e[0]
	}
	if v, ok := schema["const"]; ok {
		return v
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if a, ok := schema[key].([]any); ok && len(a) > 0 {
			if m, ok := a[0].(map[string]any); ok {
				return sample(m)
			}
		}
	}
	t, _ := schema["type"].(string)
	switch strings.ToLower(t) {
	case "object":
		o := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for k, v := range properties {
			if m, ok := v.(map[string]any); ok {
				o[k] = sample(m)
			}
		}
		return o
	case "array":
		return []any{}
	case "integer", "number":
		return 1
	case "boolean":
		return false
	case "null":
		return nil
	}
	return "sample"
}
