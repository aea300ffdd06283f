package auth

import (
	"encoding/base64"
	"strings"
	"unicode"
)

// form is what a credential is by its looks, which prove nothing.
type form int

const (
	// formNone: there is none, or a scheme without one.
	formNone form = iota
	// formKey is an Interlock key.
	formKey
	// formToken is the token of a trusted issuer.
	formToken
	// formSignature is an AWS signature.
	formSignature
	// formHidden has one of the first two in it, where it is not read.
	formHidden
	// formForeign is any other: a provider's.
	formForeign
)

// read takes the scheme off a credential and says what it is. Who is calling
// and what may be sent on are told by it alone, so that nothing can be one thing
// for the one and another for the other.
func read(line string, issuers Issuers) (bare string, f form, token Token) {
	v := bearer(line)
	switch {
	case v == "":
		return "", formNone, nil
	case IsInterlock(v):
		return v, formKey, nil
	case isSignature(v):
		return v, formSignature, nil
	}
	if t := recognise(issuers, v); t != nil {
		return v, formToken, t
	}
	if hides(v, issuers) {
		return v, formHidden, nil
	}
	return v, formForeign, nil
}

// bearer takes the scheme off, also one that a client put before a value that
// had it already. Other schemes are part of a foreign credential; one with
// nothing behind it is no credential.
func bearer(v string) string {
	for {
		v = strings.TrimSpace(v)
		i := strings.IndexFunc(v, unicode.IsSpace)
		switch {
		case i < 0 && (strings.EqualFold(v, "Bearer") || strings.EqualFold(v, "Basic")):
			return ""
		case i < 0 || !strings.EqualFold(v[:i], "Bearer"):
			return v
		}
		v = v[i:]
	}
}

// signaturePrefix is of AWS signatures (SigV4 and SigV4a), each of which is for
// one request to one host and never verified here.
const signaturePrefix = "AWS4-"

func isSignature(v string) bool { return hasPrefixFold(v, signaturePrefix) }

// isJWT tells the form of a JWT, signed or encrypted.
func isJWT(v string) bool {
	return strings.HasPrefix(v, "eyJ") && strings.Count(v, ".") >= 2 && !strings.ContainsFunc(v, isBetween)
}

// hides tells whether a credential that is none of ours has one of ours in it,
// such as one in quotes or behind a scheme that is not known. Clients that are
// set up wrongly send such things, and to a provider they must not go.
func hides(v string, issuers Issuers) bool {
	if isJWT(v) { // four letters are in there by chance now and then
		return strings.Contains(v, "."+keyPrefix) || strings.Contains(v, "."+sessionPrefix)
	}
	if strings.Contains(v, keyPrefix) || strings.Contains(v, sessionPrefix) {
		return true
	}
	for piece := range strings.FieldsFuncSeq(v, isBetween) {
		if hasPrefixFold(piece, keyPrefix) || hasPrefixFold(piece, sessionPrefix) || recognise(issuers, piece) != nil {
			return true
		}
	}
	// A client makes this of a user name in its base URL.
	if scheme, rest, ok := strings.Cut(v, " "); ok && strings.EqualFold(scheme, "Basic") {
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest)); err == nil {
			return hides(string(plain), issuers)
		}
	}
	return false
}

// isBetween tells the characters that no token has (RFC 6750), but for the =
// at the end of some.
func isBetween(r rune) bool {
	alnum := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !alnum && !strings.ContainsRune("-._~+/", r)
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
