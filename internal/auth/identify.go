package auth

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Caller is the resolved identity of one request.
type Caller struct {
	Key *Key
	// Source is pat, virtual, service or session. The server sets it.
	Source string
}

// Error says why a caller is unknown. Its text never holds more of a
// credential than the last four characters.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

// credentialHeaders are read in this order; where a client sends several
// (Claude Code can send two), the first Interlock key wins.
func credentialHeaders() [5]string {
	return [5]string{"X-Interlock-Key", "Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}
}

// Identify finds the caller from the headers and the query alone; the body is
// not read for an unknown one. Its error is an *Error.
func Identify(keys *Keys, r *http.Request, now time.Time) (Caller, error) {
	secret, foreign := presented(r)
	switch {
	case secret == "" && foreign:
		return Caller{}, &Error{"the credential sent is not an Interlock key. Send a key that begins with ilk_ as \"Authorization: Bearer\", x-api-key or x-interlock-key"}
	case secret == "":
		return Caller{}, &Error{"no key was sent. Send an Interlock key as \"Authorization: Bearer ilk_…\" or in x-api-key"}
	}
	key, ok := keys.Lookup(secret)
	if !ok {
		return Caller{}, &Error{fmt.Sprintf("the key ending in %q is not known here; it may have been revoked. Ask an administrator for a new one", tail(secret))}
	}
	if !key.Expires.IsZero() && !now.Before(key.Expires) {
		return Caller{}, &Error{fmt.Sprintf("the key %q ending in %q expired on %s; ask an administrator to rotate it", key.Name, tail(secret), key.Expires.UTC().Format(time.DateOnly))}
	}
	return Caller{Key: key, Source: key.Type}, nil
}

// presented returns the Interlock key of a request, and whether it holds any
// other credential.
func presented(r *http.Request) (secret string, foreign bool) {
	for _, name := range credentialHeaders() {
		for _, v := range r.Header[name] {
			if name == "Authorization" {
				v = bearer(v)
			}
			v = strings.TrimSpace(v)
			if IsInterlock(v) {
				return v, foreign
			}
			foreign = foreign || v != ""
		}
	}
	if r.URL.RawQuery != "" {
		if v := r.URL.Query().Get("key"); IsInterlock(v) {
			return v, foreign
		}
	}
	return "", foreign
}

// bearer takes the scheme off; other schemes are foreign credentials.
func bearer(v string) string {
	scheme, rest, ok := strings.Cut(v, " ")
	if ok && strings.EqualFold(scheme, "Bearer") {
		return rest
	}
	return v
}

// tail is the last four characters of a secret that has many more.
func tail(s string) string {
	if len(s) < 16 {
		return ""
	}
	return s[len(s)-4:]
}
