package failure

import (
	"encoding/json"
	"strings"
)

// The fields below are those of the error envelopes of spec chapter 60,
// sections 1.1 to 1.8, 2.2 (AWS), 2.9 (Codex) and 3.4. Only they are read: the
// rest of a body may echo what the user wrote.

// readValue reads one value of an envelope.
func (c *content) readValue(v any) {
	switch v := v.(type) {
	case map[string]any:
		c.readObject(v)
	case []any:
		for _, e := range v {
			c.readValue(e)
		}
	case string:
		c.message(v)
	}
}

func (c *content) readObject(m map[string]any) {
	for _, name := range []string{"type", "__type", "error_type"} {
		c.typeName(text(m[name]), m)
	}
	for _, name := range []string{"code", "error_code"} {
		add(&c.codes, text(m[name]))
	}
	if word, ok := m["status"].(string); ok {
		add(&c.words, word)
	} else {
		add(&c.codes, text(m["status"]))
	}
	add(&c.words, text(m["reason"]))
	for _, name := range []string{"quotaId", "quota_id", "quota_limit"} {
		add(&c.quotaIDs, text(m[name]))
	}
	first(&c.resetsAt, text(m["resets_at"]))
	first(&c.resetsIn, text(m["resets_in_seconds"]))
	first(&c.retryDelay, text(m["retryDelay"]))
	for _, name := range []string{"error", "message", "Message", "detail", "msg", "error_message", "errorMessage"} {
		c.readValue(m[name])
	}
	for _, name := range []string{"innererror", "details", "errors", "violations"} {
		if _, isText := m[name].(string); !isText {
			c.readValue(m[name])
		}
	}
	if response, ok := m["response"].(map[string]any); ok {
		c.readValue(response["error"])
	}
	if m["message"] != nil || m["reason"] != nil {
		c.readMetadata(m["metadata"]) // elsewhere it is the user's
	}
	c.readRefusal(m)
}

// typeName takes an error type. The "type" of an envelope around the error
// says nothing; AWS puts a name space before the exception's name.
func (c *content) typeName(s string, m map[string]any) {
	if i := strings.LastIndexByte(s, '#'); i >= 0 {
		s = s[i+1:]
	}
	_, wrapsError := m["error"].(map[string]any)
	_, wrapsResponse := m["response"].(map[string]any)
	if !wrapsError && !wrapsResponse && s != "error" {
		add(&c.types, s)
	}
}

// readMetadata reads OpenRouter's error.metadata and Google's
// ErrorInfo.metadata.
func (c *content) readMetadata(v any) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	c.readObject(m)
	c.readValue(m["raw"])
	if headers, ok := m["headers"].(map[string]any); ok {
		for _, name := range []string{"X-RateLimit-Reset", "x-ratelimit-reset"} {
			first(&c.resetHeader, text(headers[name]))
		}
	}
}

// readRefusal reads what stands in for an error in a 200 answer: Gemini's
// promptFeedback, and a finish reason that is none.
func (c *content) readRefusal(m map[string]any) {
	if feedback, ok := m["promptFeedback"].(map[string]any); ok {
		if reason := text(feedback["blockReason"]); reason != "" {
			c.message("blockReason " + reason)
		}
	}
	choices, _ := m["choices"].([]any)
	for _, v := range choices {
		choice, _ := v.(map[string]any)
		c.readValue(choice["error"])
		switch reason := text(choice["finish_reason"]); reason {
		case "stop", "length", "tool_calls", "function_call", "error":
		default:
			add(&c.codes, reason)
		}
	}
}

// readQuoted reads the JSON that a message quotes, once: proxies put the
// provider's body into their own message. If the answer may repeat a caller's
// words, only JSON with a proxy's words around it is read.
func (c *content) readQuoted(mayEcho bool) {
	if c.whole {
		return
	}
	for _, message := range c.messages {
		rest := message
		for range maxQuoted {
			at := strings.IndexByte(rest, '{')
			if at < 0 {
				break
			}
			rest = rest[at:]
			v, end := parseStart([]byte(rest))
			if m, ok := v.(map[string]any); ok && len(m) > 0 {
				if !mayEcho || quotesBody(message[:len(message)-len(rest)], rest[end:]) {
					c.readObject(m)
				}
				break
			}
			rest = rest[1:]
		}
	}
}

// text is a string or number as text.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	}
	return ""
}

func add(list *[]string, s string) {
	if s != "" && len(*list) < maxFields {
		*list = append(*list, s)
	}
}

func first(to *string, s string) {
	if *to == "" {
		*to = s
	}
}
