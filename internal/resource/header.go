package resource

import (
	"slices"
	"strings"
)

const (
	maxHeaders         = 64
	maxHeaderNameLen   = 128
	maxHeaderValueLen  = 4096
	headerTokenSymbols = "!#$%&'*+-.^_`|~"
)

// staticHeaders notes what is wrong with headers that are added to every
// request of a provider. They are shown to everybody who may read the
// provider, so they may hold no credential, and may not change what the
// gateway itself sets.
func staticHeaders(c *checker, path string, hs map[string]string) {
	if len(hs) > maxHeaders {
		c.add(path, "%d headers are too many; write at most %d", len(hs), maxHeaders)
		return
	}
	first := make(map[string]string, len(hs))
	for _, name := range orderedKeys(hs) {
		at := JoinPath(path, name)
		lower := strings.ToLower(name)
		switch {
		case !isToken(name) || len(name) > maxHeaderNameLen:
			c.add(at, "%s is no name of an HTTP header", quote(name))
			continue
		case strings.HasPrefix(lower, "x-interlock-"):
			c.add(at, "the header %s is Interlock's own and is never sent to a provider; remove it", name)
		case isCredentialHeader(lower):
			c.add(at, "the header %s carries a credential, by its name; put it in apiKey, which is stored encrypted and never shown", name)
			c.ps[len(c.ps)-1].Kept = true // earlier versions knew fewer names
		case isGatewayHeader(lower):
			c.add(at, "the header %s is set by the gateway; remove it", name)
		}
		if other, ok := first[lower]; ok {
			c.add(at, "the header %s repeats %s; names of headers ignore case", name, other)
		}
		first[lower] = name
		headerValue(c, at, hs[name])
	}
}

func headerValue(c *checker, path, v string) {
	if len(v) > maxHeaderValueLen {
		c.add(path, "the value has %d bytes; at most %d are allowed", len(v), maxHeaderValueLen)
	}
	for i := range len(v) {
		if b := v[i]; (b < ' ' && b != '\t') || b > '~' {
			c.add(path, "the value has a line break, a control character or a character outside ASCII at place %d; remove it", i+1)
			return
		}
	}
}

// isToken tells the names that HTTP allows for a header.
func isToken(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		alnum := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !alnum && !strings.ContainsRune(headerTokenSymbols, r)
	}) < 0
}

// credentialWords are the words of names of headers that carry a credential.
// x-tokens-per-minute has none of them: tokens are no token.
func credentialWords() []string {
	return []string{"key", "token", "secret", "auth", "authentication", "credential", "credentials", "password", "passwd", "cookie", "bearer", "jwt"}
}

// isCredentialHeader tells headers that carry a credential by the words of
// their names. The name is in lower case.
func isCredentialHeader(name string) bool {
	words := strings.FieldsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(credentialWords(), w) }) {
		return true
	}
	for _, part := range []string{"authorization", "api-key", "apikey", "api_key", "access-key", "secret", "password"} { // in one word with others, or more than one
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// isGatewayHeader tells headers that describe the connection or the body, both
// of which are the gateway's. The name is in lower case.
func isGatewayHeader(name string) bool {
	return slices.Contains([]string{
		"host", "content-length", "content-type", "content-encoding", "accept-encoding", "expect",
		"connection", "proxy-connection", "keep-alive", "proxy-authenticate", "te", "trailer",
		"transfer-encoding", "upgrade",
	}, name)
}
