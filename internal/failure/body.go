package failure

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Bounds on what is read of an answer. A provider, or what stands in for it,
// may send anything; an error's beginning is enough to tell what it is.
const (
	maxBody     = 64 << 10 // bytes of a body that are looked at
	maxDepth    = 12       // nesting of JSON that is read; deeper values are skipped
	maxMessage  = 4 << 10  // bytes of one message that are compared
	maxText     = 8 << 10  // bytes of all text that is compared
	maxMessages = 8        // messages of one body
	maxFields   = 32       // codes, or quota ids, of one body
	maxQuoted   = 3        // places where a message is tried as JSON
)

// content is what was found in a body, in the spelling of the provider. Outer
// values come before those that a message quotes.
type content struct {
	types, codes, words []string
	quotaIDs            []string
	messages            []string

	resetsAt, resetsIn, retryDelay string // first one found
	resetHeader                    string // error.metadata.headers["X-RateLimit-Reset"]

	html, empty bool
	whole       bool // the only message is the whole body, of an unknown shape
}

// readBody finds the machine-readable fields and the texts of an error body: a
// JSON object, a JSON array with one in it, a server-sent event, HTML or text.
// readQuoted goes on with the JSON that the messages quote.
func readBody(body []byte, contentType string) *content {
	body = unframe(bytes.TrimSpace(bytes.TrimPrefix(body[:min(len(body), maxBody)], []byte("\ufeff"))))
	c := &content{empty: len(body) == 0}
	switch {
	case c.empty:
	case body[0] == '{' || body[0] == '[' || body[0] == '"':
		c.readValue(parseJSON(body))
		if len(c.messages)+len(c.types)+len(c.codes)+len(c.words) == 0 {
			c.message(string(body)) // an unknown shape, or a message that was cut off
			c.whole = true
		}
	case isHTML(body, contentType):
		c.html = true
	default:
		c.message(string(body))
	}
	return c
}

// unframe takes the data of a server-sent event, if that is what b is.
func unframe(b []byte) []byte {
	if !bytes.HasPrefix(b, []byte("event:")) && !bytes.HasPrefix(b, []byte("data:")) && !bytes.HasPrefix(b, []byte(":")) {
		return b
	}
	var data [][]byte
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, bytes.TrimSpace(rest))
		}
	}
	return bytes.TrimSpace(bytes.Join(data, []byte("\n")))
}

func isHTML(b []byte, contentType string) bool {
	if strings.Contains(strings.ToLower(contentType), "text/html") {
		return true
	}
	head := bytes.ToLower(b[:min(len(b), 1024)])
	return b[0] == '<' && (bytes.Contains(head, []byte("<!doctype html")) || bytes.Contains(head, []byte("<html")))
}

// parseJSON reads as much of b as is well formed and not nested too deeply:
// of a body that was cut off, everything before the cut.
func parseJSON(b []byte) any {
	v, _ := parseStart(b)
	return v
}

// parseStart is parseJSON together with where the value ends.
func parseStart(b []byte) (any, int) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	v, _ := parseValue(dec, 0)
	return v, int(dec.InputOffset())
}

func parseValue(dec *json.Decoder, depth int) (v any, ok bool) {
	tok, err := dec.Token()
	if err != nil {
		return nil, false
	}
	delim, nested := tok.(json.Delim)
	if !nested {
		return tok, true
	}
	if depth >= maxDepth {
		return nil, skipValue(dec)
	}
	if delim == '[' {
		return parseArray(dec, depth)
	}
	return parseObject(dec, depth)
}

func parseArray(dec *json.Decoder, depth int) (any, bool) {
	var list []any
	for dec.More() {
		v, ok := parseValue(dec, depth+1)
		list = append(list, v)
		if !ok {
			return list, false
		}
	}
	_, err := dec.Token()
	return list, err == nil
}

func parseObject(dec *json.Decoder, depth int) (any, bool) {
	m := map[string]any{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return m, false
		}
		name, _ := key.(string)
		v, ok := parseValue(dec, depth+1)
		m[name] = v
		if !ok {
			return m, false
		}
	}
	_, err := dec.Token()
	return m, err == nil
}

// skipValue reads to the end of the object or array that was just opened.
func skipValue(dec *json.Decoder) bool {
	for open := 1; open > 0; {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
	return true
}

func (c *content) message(s string) {
	if s = strings.TrimSpace(s); s != "" && len(c.messages) < maxMessages {
		c.messages = append(c.messages, s)
	}
}
