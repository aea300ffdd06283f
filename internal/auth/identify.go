package auth

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Caller is the resolved identity of one request.
type Caller struct {
	// Key is nil for an anonymous caller.
	Key *Key
	// Source is pat, virtual, service or session, or passthrough for an
	// anonymous caller. The server sets it.
	Source string
	// Own: the caller brings a provider's credential of its own.
	Own bool
}

// SourcePassthrough is the source of callers that present only their own
// credential.
const SourcePassthrough = "passthrough"

// Error says why a caller is unknown. Its text never holds more of a
// credential than the last four characters.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

// interlockHeader carries an Interlock key beside a caller's own credential.
const interlockHeader = "X-Interlock-Key"

// foreignHeaders are where clients put a credential. Where a client sends
// several (Claude Code can send two), the first Interlock key wins.
func foreignHeaders() [4]string {
	return [4]string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}
}

// Rules of who is let in.
type Rules struct {
	// Anonymous lets callers in that present only their own credential.
	Anonymous bool
}

// Identify finds the caller from the headers and the query alone; the body is
// not read for an unknown one. Its error is an *Error.
func Identify(keys *Keys, r *http.Request, rules Rules, now time.Time) (Caller, error) {
	p := presented(r)
	switch {
	case p.secret == "" && p.odd:
		return Caller{}, &Error{"x-interlock-key does not hold an Interlock key; it begins with ilk_"}
	case p.secret == "" && p.foreign && rules.Anonymous:
		return Caller{Source: SourcePassthrough, Own: true}, nil
	case p.secret == "" && p.signed:
		return Caller{}, &Error{"an AWS signature says nothing about who is calling here. Send an Interlock key in x-interlock-key beside it"}
	case p.secret == "" && p.foreign:
		return Caller{}, &Error{"the credential sent is not an Interlock key. Send a key that begins with ilk_ as \"Authorization: Bearer\", x-api-key or x-interlock-key"}
	case p.secret == "":
		return Caller{}, &Error{"no key was sent. Send an Interlock key as \"Authorization: Bearer ilk_…\" or in x-api-key"}
	}
	key, ok := keys.Lookup(p.secret)
	if !ok {
		return Caller{}, &Error{fmt.Sprintf("the key ending in %q is not known here; it may have been revoked. Ask an administrator for a new one", tail(p.secret))}
	}
	if !key.Expires.IsZero() && !now.Before(key.Expires) {
		return Caller{}, &Error{fmt.Sprintf("the key %q ending in %q expired on %s; ask an administrator to rotate it", key.Name, tail(p.secret), key.Expires.UTC().Format(time.DateOnly))}
	}
	// A virtual key has a credential of its own, or uses the organisation's.
	return Caller{Key: key, Source: key.Type, Own: p.beside && p.foreign && key.Type != typeVirtual}, nil
}

// credentials are what a request presents.
type credentials struct {
	secret  string // the Interlock key
	beside  bool   // it is in the header that leaves room for another credential
	foreign bool   // another credential is there
	signed  bool   // an AWS signature is there, which can't be passed on
	odd     bool   // the Interlock header holds something else
}

// presented reads the credentials of a request.
func presented(r *http.Request) credentials {
	var c credentials
	for _, v := range r.Header[interlockHeader] {
		if v = bearer(strings.TrimSpace(v)); IsInterlock(v) {
			c.secret, c.beside = v, true
			break
		}
		c.odd = c.odd || v != ""
	}
	for _, name := range foreignHeaders() {
		for _, v := range r.Header[name] {
			switch v = credential(name, v); {
			case v == "":
			case IsInterlock(v):
				if c.secret == "" {
					c.secret = v
				}
			case isSignature(v):
				c.signed = true
			default:
				c.foreign = true
			}
		}
	}
	if r.URL.RawQuery == "" {
		return c
	}
	switch v := r.URL.Query().Get("key"); {
	case v == "":
	case !IsInterlock(v):
		c.foreign = true
	case c.secret == "":
		c.secret = v
	}
	return c
}

// Foreign returns the headers of a request that hold the caller's own
// credential; one in the query is made a header.
func Foreign(r *http.Request) http.Header {
	h, out := r.Header, http.Header{}
	for _, name := range foreignHeaders() {
		for _, line := range h[name] {
			if v := credential(name, line); v != "" && !IsInterlock(v) && !isSignature(v) {
				out[name] = []string{line}
				break
			}
		}
	}
	if len(out) == 0 && r.URL.RawQuery != "" {
		if v := r.URL.Query().Get("key"); v != "" && !IsInterlock(v) {
			out.Set("X-Goog-Api-Key", v)
		}
	}
	return out
}

// credential is the bare credential of a header's line.
func credential(name, line string) string {
	if name == "Authorization" {
		line = bearer(line)
	}
	return strings.TrimSpace(line)
}

// isSignature tells an AWS signature (SigV4), which is for one request to one
// host and never verified here.
func isSignature(v string) bool { return strings.HasPrefix(v, "AWS4-HMAC-SHA256") }

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
