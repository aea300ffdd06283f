package issuer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/interlock-gateway/interlock/internal/auth"
)

const (
	// maxToken bounds what is verified; tokens with two hundred groups have
	// half of it.
	maxToken = 16 << 10
	// leeway is how far the issuer's clock may be from ours.
	leeway = 30 * time.Second
	// maxReuse is how long a verified token is believed without another look
	// at the issuer's keys, which may have been withdrawn.
	maxReuse = 10 * time.Minute
)

// Config is one trusted issuer. An issuer's URL stands in one Config only.
type Config struct {
	// Name becomes the source of its callers.
	Name string
	// Issuer is the URL that tokens have in their claim iss, to the letter.
	Issuer string
	// Audience has to be among those of a token.
	Audience string
	// Require are claims, named as in Claims, and the values that they have to
	// have; a list has to have it among its own.
	Require map[string]string
	Claims  Claims
}

// Options configure a Set.
type Options struct {
	Issuers []Config
	Log     *slog.Logger
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Timeout bounds one fetch of an issuer's keys; default 5 s.
	Timeout time.Duration
	// Pause is between the beginnings of two fetches from one issuer; default
	// 3 s.
	Pause time.Duration
}

// Set is all trusted issuers. It implements auth.Issuers.
type Set struct {
	byIssuer map[string]*trusted
	verified cache
	now      func() time.Time
	stop     context.CancelFunc
	work     sync.WaitGroup
}

// trusted is one issuer with its keys.
type trusted struct {
	Config
	keys *keySource
}

// New makes a Set; nothing is fetched before a token needs it.
func New(o Options) *Set {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Pause == 0 {
		o.Pause = 3 * time.Second
	}
	base, stop := context.WithCancel(context.Background())
	s := &Set{byIssuer: map[string]*trusted{}, now: o.Now, stop: stop}
	for _, c := range o.Issuers {
		if !isTLS(c.Issuer) {
			o.Log.Warn("the keys of a trusted issuer are fetched without TLS: whoever is on the way there can make callers", "issuer", c.Name)
		}
		if len(c.Require) == 0 && signsForEverybody(c.Issuer) {
			o.Log.Warn("anybody can get a token of this trusted issuer for any audience, so anybody is let in; require a claim, such as the owner of the repository", "issuer", c.Name)
		}
		s.byIssuer[c.Issuer] = &trusted{Config: c, keys: newKeySource(base, &s.work, c, &o)}
	}
	return s
}

// signsForEverybody knows some issuers where whoever has an account gets tokens
// for the audience of their choice.
func signsForEverybody(issuer string) bool {
	switch strings.TrimSuffix(strings.ToLower(issuer), "/") {
	case "https://token.actions.githubusercontent.com", "https://gitlab.com", "https://accounts.google.com", "https://agent.buildkite.com":
		return true
	}
	return false
}

// Close ends what is being fetched. Tokens whose keys are not known are put off
// from then on.
func (s *Set) Close() {
	s.stop()
	for _, t := range s.byIssuer {
		t.keys.close()
	}
	s.work.Wait()
}

// token is a credential that says that an issuer made it.
type token struct {
	set     *Set
	by      *trusted
	raw     string
	hash    [sha256.Size]byte
	payload []byte
	claims  object
}

// Recognise implements auth.Issuers. What was verified before is found by its
// hash alone.
func (s *Set) Recognise(credential string) auth.Token {
	if len(s.byIssuer) == 0 || strings.Count(credential, ".") != 2 {
		return nil
	}
	// Also a scheme that we don't know has the token at its end.
	raw := credential[strings.LastIndexByte(credential, ' ')+1:]
	hash := sha256.Sum256([]byte(raw))
	if known := s.verified.get(hash, s.now()); known != nil {
		return known
	}
	payload, claims := open(raw)
	var issuer string
	if claims == nil || json.Unmarshal(claims["iss"], &issuer) != nil {
		return nil
	}
	by, ok := s.byIssuer[issuer]
	if !ok {
		return nil
	}
	return &token{set: s, by: by, raw: raw, hash: hash, payload: payload, claims: claims}
}

// open reads the claims of a JWT, whoever made it.
func open(raw string) ([]byte, object) {
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return nil, nil
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return nil, nil
	}
	var claims object
	if json.Unmarshal(payload, &claims) != nil {
		return nil, nil
	}
	return payload, claims
}

// Verify implements auth.Token. What needs no key comes first: an expired token
// is refused even while its issuer is away.
func (t *token) Verify(ctx context.Context) (*auth.Identity, error) {
	if len(t.raw) > maxToken {
		return nil, t.refuse("is %d bytes long; more than %d are not read. Leave claims out of it", len(t.raw), maxToken)
	}
	now := t.set.now()
	expires, err := t.claims.check(t.by.Audience, now)
	if err != nil {
		return nil, t.refuse("%w", err)
	}
	if err := t.verifySignature(ctx); err != nil {
		return nil, err
	}
	if err := t.claims.require(t.by.Require); err != nil {
		return nil, t.refuse("%w", err)
	}
	id, err := t.by.Claims.identity(t.claims)
	if err != nil {
		return nil, t.refuse("%w", err)
	}
	id.Issuer = t.by.Name
	if limit := now.Add(maxReuse); limit.Before(expires) {
		expires = limit
	}
	t.set.verified.put(t.hash, &known{identity: id, until: expires})
	return id, nil
}

// verifySignature has go-oidc verify the token as it was sent, and makes sure
// that it is the payload that was looked at.
func (t *token) verifySignature(ctx context.Context) error {
	check := &signature{keys: t.by.keys}
	verifier := oidc.NewVerifier(t.by.Issuer, check, &oidc.Config{
		ClientID: t.by.Audience, SupportedSigningAlgs: algorithms(),
		SkipExpiryCheck: true, // it knows no leeway for exp, and five minutes for nbf
	})
	_, err := verifier.Verify(ctx, t.raw)
	away, put := errors.AsType[*auth.UnavailableError](check.err)
	switch {
	case put:
		return away
	case errors.Is(check.err, errUnknownKey):
		return t.refuse("is signed with a key that its issuer does not have; get a new token, and check that it is of this issuer and no other with the same URL")
	case !check.asked:
		return t.refuse("has a wrong form, or is signed in a way that is not accepted: RS, PS and ES with 256, 384 or 512, and EdDSA are")
	case err != nil || !bytes.Equal(check.payload, t.payload):
		return t.refuse("has a wrong signature; get a new token")
	}
	return nil
}

// refuse makes an error about the token that names it by its end only.
func (t *token) refuse(format string, args ...any) *auth.Error {
	about := fmt.Sprintf("the token of the issuer %q ending in %q ", t.by.Name, auth.Tail(t.raw))
	return &auth.Error{Message: about + fmt.Errorf(format, args...).Error()}
}

// algorithms are those with a public and a private key. With a shared secret
// whoever can verify can sign, and the public key would be such a secret.
func algorithms() []string {
	return []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512,
		oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
	}
}

func joseAlgorithms() []jose.SignatureAlgorithm {
	var out []jose.SignatureAlgorithm
	for _, a := range algorithms() {
		out = append(out, jose.SignatureAlgorithm(a))
	}
	return out
}

// signature verifies one token with the keys of its issuer, as an oidc.KeySet.
// The verifier flattens errors to text, so what happened is kept here.
type signature struct {
	keys    *keySource
	asked   bool // form and algorithm are right
	payload []byte
	err     error
}

// VerifySignature implements oidc.KeySet.
func (s *signature) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	s.asked = true
	s.payload, s.err = s.verify(ctx, jwt)
	return s.payload, s.err
}

func (s *signature) verify(ctx context.Context, jwt string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(jwt, joseAlgorithms())
	if err != nil {
		return nil, err
	}
	header := jws.Signatures[0].Header
	keys, err := s.keys.find(ctx, header.KeyID)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if k.Algorithm != "" && k.Algorithm != header.Algorithm {
			continue
		}
		if payload, err := jws.Verify(&k); err == nil {
			return payload, nil
		}
	}
	return nil, errors.New("no key verifies the signature")
}
