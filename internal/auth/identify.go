package auth

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/secret"
)

// Caller is the resolved identity of one request.
type Caller struct {
	// Key is nil for an anonymous caller and for one with a token.
	Key *Key
	// Identity is what the token of a trusted issuer says; nil without one.
	Identity *Identity
	// Source is pat, virtual, service or session, the name of the token's
	// issuer, or passthrough for an anonymous caller. The server sets it.
	Source string
	// Own: the caller brings a provider's credential of its own.
	Own bool
}

// Facts are what a routing decision needs to know of the caller.
func (c *Caller) Facts() routing.Caller {
	out := routing.Caller{Own: c.Own}
	if c.Key != nil {
		out.Ceilings, out.Virtual = c.Key.Ceilings, c.Key.Virtual
	}
	return out
}

// PinKey names what a session of the caller keeps. The sessions of different
// callers are apart: nobody moves another one's session by guessing its id. No
// key has an @ in its name.
func (c *Caller) PinKey(session string) string {
	switch {
	case c.Key != nil:
		return c.Key.Name + "/" + session
	case c.Identity != nil:
		return c.Identity.Issuer + "@" + c.Identity.User + "/" + session
	}
	return "/" + session
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
	// Disabled are the users whom a token of a trusted issuer may not name, in
	// lower case.
	Disabled map[string]bool
}

// Identify finds the caller from the headers and the query alone; the body is
// not read for an unknown one. An Interlock key wins over a token, and a token
// of a trusted issuer over a foreign credential. Without issuers, which may be
// nil, nobody's token is trusted. Its error is an *Error or an
// *UnavailableError.
func Identify(keys *Keys, issuers Issuers, r *http.Request, rules Rules, now time.Time) (Caller, error) {
	p := presented(r, issuers)
	switch {
	case p.hidden != "" && (p.secret == "" || p.beside):
		return Caller{}, &Error{p.hidden + " holds a key or a token for Interlock, and something around it that is not read. Send it alone, as \"Authorization: Bearer\", x-api-key or x-interlock-key; rotate it if it was sent elsewhere"}
	case p.secret == "" && p.odd:
		return Caller{}, &Error{"x-interlock-key does not hold an Interlock key; it begins with ilk_"}
	case p.secret == "" && p.token != nil:
		id, err := p.token.Verify(r.Context())
		if err != nil {
			return Caller{}, err
		}
		if rules.Disabled[strings.ToLower(id.User)] {
			return Caller{}, &Error{fmt.Sprintf("the token is of the user %q, who is disabled. Ask an administrator to enable the user", id.User)}
		}
		return Caller{Identity: id, Source: id.Issuer}, nil
	case p.secret == "" && p.foreign && rules.Anonymous:
		return Caller{Source: SourcePassthrough, Own: true}, nil
	case p.secret == "" && p.signed:
		return Caller{}, &Error{"an AWS signature says nothing about who is calling here. Send an Interlock key in x-interlock-key beside it"}
	case p.secret == "" && p.jwt:
		return Caller{}, &Error{"the credential sent is not an Interlock key, but a JWT whose issuer is not in auth.trustedIssuers. Send a key that begins with ilk_, or let an administrator add the issuer exactly as the token's claim iss has it"}
	case p.secret == "" && p.foreign:
		return Caller{}, &Error{"the credential sent is not an Interlock key. Send a key that begins with ilk_ as \"Authorization: Bearer\", x-api-key or x-interlock-key"}
	case p.secret == "":
		return Caller{}, &Error{"no key was sent. Send an Interlock key as \"Authorization: Bearer ilk_…\" or in x-api-key"}
	}
	key, ok := keys.Lookup(p.secret)
	if !ok {
		return Caller{}, &Error{fmt.Sprintf("the key ending in %q is not known here; it may have been revoked. Ask an administrator for a new one", Tail(p.secret))}
	}
	if why := key.Away(now); why != "" {
		return Caller{}, &Error{fmt.Sprintf("the key %q ending in %q %s", key.Name, Tail(p.secret), why)}
	}
	// A virtual key has a credential of its own, or uses the organisation's.
	return Caller{Key: key, Source: key.Type, Own: p.beside && p.foreign && key.Type != TypeVirtual}, nil
}

// credentials are what a request presents.
type credentials struct {
	secret  string // the Interlock key
	beside  bool   // it is in the header that leaves room for another credential
	token   Token  // the first JWT of a trusted issuer, not verified
	foreign bool   // another credential is there
	jwt     bool   // one of those has the form of a JWT
	signed  bool   // an AWS signature is there, which can't be passed on
	odd     bool   // the Interlock header holds something else
	hidden  string // the first place of a credential of ours that is not written as it should be
}

// presented reads the credentials of a request.
func presented(r *http.Request, issuers Issuers) credentials {
	var c credentials
	for _, v := range r.Header[interlockHeader] {
		if v = bearer(v); IsInterlock(v) {
			c.secret, c.beside = v, true
			break
		}
		c.odd = c.odd || v != ""
	}
	for _, name := range foreignHeaders() {
		for _, line := range r.Header[name] {
			c.note(name, line, issuers)
		}
	}
	c.note("", queryKey(r), issuers)
	return c
}

// note sorts one credential from a place where foreign ones may be as well: a
// header, or the query.
func (c *credentials) note(header, line string, issuers Issuers) {
	if c.secret != "" && !c.beside { // whatever else is there is ignored
		return
	}
	switch v, f, token := read(line, issuers); f {
	case formNone:
	case formKey:
		if c.secret == "" {
			c.secret = v
		}
	case formToken:
		if c.token == nil {
			c.token = token
		}
	case formSignature:
		c.signed = true
	case formHidden:
		if c.hidden == "" && header == "" {
			c.hidden = "the query parameter key"
		} else if c.hidden == "" {
			c.hidden = strings.ToLower(header)
		}
	case formForeign:
		c.foreign, c.jwt = true, c.jwt || isJWT(v)
	}
}

// Foreign returns the headers of a request that hold the caller's own
// credential; one in the query is made a header. The token of a trusted issuer
// says who is calling here and is nothing for a provider, even where something
// else identified the caller.
func Foreign(r *http.Request, issuers Issuers) http.Header {
	h, out := r.Header, http.Header{}
	for _, name := range foreignHeaders() {
		for _, line := range h[name] {
			if _, f, _ := read(line, issuers); f == formForeign {
				out[name] = []string{line}
				break
			}
		}
	}
	if len(out) == 0 {
		v := queryKey(r)
		if _, f, _ := read(v, issuers); f == formForeign {
			out.Set("X-Goog-Api-Key", v)
		}
	}
	return out
}

// Bare are the credentials in what Foreign returned, without their schemes: as
// a provider could repeat them.
func Bare(own http.Header) []secret.String {
	var out []secret.String
	for _, lines := range own {
		for _, v := range lines {
			if parts := strings.Fields(v); len(parts) > 0 {
				out = append(out, secret.New(parts[len(parts)-1]))
			}
		}
	}
	return out
}

// queryKey is the credential in the query, if it could stand in a header.
func queryKey(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	v := r.URL.Query().Get("key")
	if strings.ContainsFunc(v, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
		return ""
	}
	return v
}

// Tail is the last four characters of a secret that has many more: what may be
// said of one.
func Tail(s string) string {
	if len(s) < 16 {
		return ""
	}
	return s[len(s)-4:]
}
