package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// maxSession is the longest session id, in characters; a longer one is none.
const maxSession = 200

// firstHeaders are the headers in which a session is named on purpose, and
// Claude Code's; otherHeaders those of Codex and what followed it, OpenCode,
// Copilot clients, then those of other gateways. All are in canonical form.
// Sources: the clients' own requests, measured 2026-11 (docs/reference/headers.md).
func firstHeaders() [3]string {
	return [3]string{"X-Interlock-Session", "X-Session-Id", "X-Claude-Code-Session-Id"}
}

func otherHeaders() [12]string {
	return [12]string{
		"Thread-Id", "Session-Id", "Session_id", "Conversation_id",
		"X-Session-Affinity", "X-Opencode-Session", "X-Client-Session-Id", "Vscode-Sessionid", "X-Request-Session",
		"Helicone-Session-Id", "X-Litellm-Session-Id", "X-Portkey-Trace-Id",
	}
}

// SessionID finds the id of the client's session: in its headers, in a field of
// the body that a known client uses, or in prompt_cache_key. It answers "" if
// there is none. It never makes one from the content.
func SessionID(h map[string][]string, e *Envelope) string {
	for _, name := range firstHeaders() {
		if v := h[name]; len(v) > 0 && usableSession(v[0]) {
			return v[0]
		}
	}
	if id := claudeCodeSession(e); id != "" {
		return id
	}
	for _, name := range otherHeaders() {
		if v := h[name]; len(v) > 0 && usableSession(v[0]) {
			return v[0]
		}
	}
	for _, name := range [...]string{"session_id", "conversation_id", "conversation", "prompt_cache_key"} {
		if id := e.text(name); usableSession(id) {
			return id
		}
	}
	return ""
}

// SessionHash is what is kept of a session id.
func SessionHash(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

func usableSession(id string) bool {
	if id == "" || len(id) > maxSession {
		return false
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] > '~' {
			return false
		}
	}
	return strings.TrimSpace(id) != ""
}

// text is the value of a top-level member that is text, or has an id that is.
func (e *Envelope) text(name string) string {
	raw, ok := e.Value(name)
	if !ok || len(raw) == 0 {
		return ""
	}
	if raw[0] == '{' { // OpenAI's conversation can be an object with an id
		id := ""
		_ = Members(raw, func(name, value []byte) {
			if string(name) == "id" {
				id = plainText(value)
			}
		})
		return id
	}
	return plainText(raw)
}

// plainText decodes a JSON string; "" if it is something else.
func plainText(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	v, ok := unquote(raw)
	if !ok {
		return ""
	}
	return string(v)
}

// claudeCodeSession reads metadata: Claude Code packs its session into user_id,
// as a JSON object in a string since 2.1.78 and behind _session_ before; SDK
// users have a field of their own.
func claudeCodeSession(e *Envelope) string {
	raw, ok := e.Value("metadata")
	if !ok || len(raw) == 0 || raw[0] != '{' {
		return ""
	}
	user, session := "", ""
	_ = Members(raw, func(name, value []byte) {
		switch string(name) {
		case "user_id":
			user = plainText(value)
		case "session_id":
			session = plainText(value)
		}
	})
	if id := sessionOfUser(user); usableSession(id) {
		return id
	}
	if usableSession(session) {
		return session
	}
	return ""
}

func sessionOfUser(user string) string {
	if strings.HasPrefix(user, "{") {
		id := ""
		if err := Members([]byte(user), func(name, value []byte) {
			if string(name) == "session_id" {
				id = plainText(value)
			}
		}); err != nil {
			return ""
		}
		return id
	}
	const mark, uuid = "_session_", 36
	i := strings.LastIndex(user, mark)
	if i < 0 || len(user)-i-len(mark) != uuid {
		return ""
	}
	return user[i+len(mark):]
}

// EstimateTokens guesses the size of a prompt: a token for each four bytes of
// the body that are not media. It looks for media only if the body as it is
// comes to more than enough tokens.
func EstimateTokens(body []byte, enough int) int {
	n := len(body) / 4
	if n <= enough {
		return n
	}
	return (len(body) - mediaBytes(body)) / 4
}

// minMedia is the shortest text that can be media; shorter ones make no
// difference.
const minMedia = 512

// mediaBytes counts the bytes of long base64 texts.
func mediaBytes(body []byte) int {
	n := 0
	for {
		start := bytes.IndexByte(body, '"')
		if start < 0 {
			return n
		}
		body = body[start+1:]
		end := closingQuote(body)
		if end < 0 {
			return n
		}
		if end >= minMedia && isBase64(body[:end]) {
			n += end
		}
		body = body[end+1:]
	}
}

// closingQuote is the place of the quote that ends a JSON string.
func closingQuote(b []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '"')
		if i < 0 {
			return -1
		}
		i += at
		slashes := 0
		for i-slashes > 0 && b[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
		at = i + 1
	}
}

// isBase64 looks at the start and at samples of a text: prose has a blank or
// another mark soon.
func isBase64(b []byte) bool {
	if i := bytes.Index(b[:64], []byte(";base64,")); i >= 0 { // a data URL
		b = b[i+len(";base64,"):]
	}
	step := 1
	for i := 0; i < len(b); i += step {
		c := b[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '+' && c != '/' && c != '-' && c != '_' && c != '=' {
			return c == '\\' && i > 256 // line breaks are written as escapes
		}
		if i == 256 {
			step = 61
		}
	}
	return true
}

// GuessTokens is EstimateTokens for people who want to know: a letter outside
// ASCII is more like a token of its own.
func GuessTokens(body []byte) int {
	n, wide := EstimateTokens(body, 0), 0
	for i := 0; i < len(body); {
		if body[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRune(body[i:])
		i += size
		wide += 4 - size // in quarters of a token
	}
	return n + wide/4
}
