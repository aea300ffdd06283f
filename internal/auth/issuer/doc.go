// Package issuer verifies the tokens of trusted issuers: JWTs that GitHub
// Actions, Kubernetes or any other OpenID provider signs, and that callers send
// instead of a key. It owns the issuers' public keys, which it fetches when a
// token first needs them, the mapping from claims to callers, and the memory of
// tokens that were verified.
//
// A token is refused if it is wrong, and put off if that can't be told now: an
// issuer that is away is not the caller's fault. Nothing is mapped that the
// configuration does not name, and a token whose mapped claims can't be used is
// refused rather than read halfway, since access may hang on what is left out.
package issuer
