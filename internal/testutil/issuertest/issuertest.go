// Package issuertest is an OpenID issuer on loopback whose keys and moods tests
// choose, and that signs whatever they want. It forges tokens with the standard
// library alone, so that it shares no mistake with what it tests. It is for
// tests only.
package issuertest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512" // for the longer algorithms
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Issuer is a running issuer.
type Issuer struct {
	// URL is what its tokens have as iss.
	URL string
	// Fetches counts requests for the keys.
	Fetches atomic.Int64

	mu     sync.Mutex
	keys   []any
	status int
	delay  time.Duration
	odd    map[string]http.HandlerFunc
}

// New starts an issuer that publishes these keys; it ends with the test.
func New(tb testing.TB, keys ...*Key) *Issuer {
	tb.Helper()
	i := &Issuer{status: 200, odd: map[string]http.HandlerFunc{}}
	i.Publish(keys...)
	s := httptest.NewServer(i)
	tb.Cleanup(s.Close)
	i.URL = s.URL
	return i
}

// Publish replaces the keys.
func (i *Issuer) Publish(keys ...*Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = nil
	for _, k := range keys {
		i.keys = append(i.keys, k.JWK())
	}
}

// PublishRaw adds what may not be a key at all.
func (i *Issuer) PublishRaw(raw ...any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, raw...)
}

// Mood sets the status of every answer and how long it takes.
func (i *Issuer) Mood(status int, delay time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.status, i.delay = status, delay
}

// Handle replaces what is at a path.
func (i *Issuer) Handle(path string, h http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.odd[path] = h
}

// The paths of an issuer.
const (
	Discovery = "/.well-known/openid-configuration"
	Keys      = "/keys"
)

func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	status, delay, odd, keys := i.status, i.delay, i.odd[r.URL.Path], i.keys
	i.mu.Unlock()
	if r.URL.Path == Keys {
		i.Fetches.Add(1)
	}
	if delay > 0 {
		t := time.NewTimer(delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
			return
		}
	}
	if odd != nil {
		odd(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	switch {
	case status != 200:
	case r.URL.Path == Discovery:
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + Keys, "id_token_signing_alg_values_supported": []string{"RS256"}})
	case r.URL.Path == Keys:
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
	}
}

// Claims are the claims of a token that is good for an hour; more replaces or
// adds some, and nil takes one away.
func (i *Issuer) Claims(audience string, more map[string]any) map[string]any {
	now := time.Now()
	c := map[string]any{"iss": i.URL, "aud": audience, "sub": "someone", "iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	for k, v := range more {
		if c[k] = v; v == nil {
			delete(c, k)
		}
	}
	return c
}

// Key is a private key with an id.
type Key struct {
	ID, Algorithm string
	Private       crypto.Signer
}

var rsaKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// NewKey makes a key for RS256, PS256, ES256, ES384, ES512 or EdDSA. There is
// one RSA key only, since making one takes long.
func NewKey(tb testing.TB, id, algorithm string) *Key {
	tb.Helper()
	var err error
	k := &Key{ID: id, Algorithm: algorithm}
	switch algorithm {
	case "ES256":
		k.Private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ES384":
		k.Private, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "ES512":
		k.Private, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case "EdDSA":
		_, k.Private, err = ed25519.GenerateKey(rand.Reader)
	default:
		k.Private, err = rsaKey()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

// JWK is the public key as issuers publish it.
func (k *Key) JWK() map[string]any {
	out := map[string]any{"kid": k.ID, "use": "sig", "alg": k.Algorithm}
	switch pub := k.Private.Public().(type) {
	case *rsa.PublicKey:
		out["kty"], out["n"], out["e"] = "RSA", b64(pub.N.Bytes()), b64(big.NewInt(int64(pub.E)).Bytes())
	case *ecdsa.PublicKey:
		size := (pub.Params().BitSize + 7) / 8
		point, err := pub.Bytes()
		if err != nil {
			panic(err)
		}
		out["kty"], out["crv"], out["x"], out["y"] = "EC", pub.Params().Name, b64(point[1:1+size]), b64(point[1+size:])
	case ed25519.PublicKey:
		out["kty"], out["crv"], out["x"] = "OKP", "Ed25519", b64(pub)
	}
	return out
}

// Sign makes a token.
func (k *Key) Sign(tb testing.TB, claims any) string {
	tb.Helper()
	return k.SignAs(tb, map[string]any{"alg": k.Algorithm, "kid": k.ID, "typ": "JWT"}, claims)
}

// SignAs makes a token with another header.
func (k *Key) SignAs(tb testing.TB, header map[string]any, claims any) string {
	tb.Helper()
	signed := b64(mustJSON(tb, header)) + "." + b64(mustJSON(tb, claims))
	return signed + "." + b64(k.sign(tb, []byte(signed)))
}

func (k *Key) sign(tb testing.TB, what []byte) []byte {
	tb.Helper()
	hash := map[string]crypto.Hash{"ES384": crypto.SHA384, "ES512": crypto.SHA512, "EdDSA": 0}
	h, ok := hash[k.Algorithm]
	if !ok {
		h = crypto.SHA256
	}
	digest := what
	if h != 0 {
		w := h.New()
		w.Write(what)
		digest = w.Sum(nil)
	}
	var opts crypto.SignerOpts = h
	if k.Algorithm == "PS256" {
		opts = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: h}
	}
	if ec, ok := k.Private.(*ecdsa.PrivateKey); ok {
		r, s, err := ecdsa.Sign(rand.Reader, ec, digest)
		if err != nil {
			tb.Fatal(err)
		}
		size := (ec.Params().BitSize + 7) / 8
		return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	}
	sig, err := k.Private.Sign(rand.Reader, digest, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return sig
}

// Unsigned makes a token with alg none.
func Unsigned(tb testing.TB, claims any) string {
	tb.Helper()
	return b64(mustJSON(tb, map[string]any{"alg": "none"})) + "." + b64(mustJSON(tb, claims)) + "."
}

// SharedSecret makes a token with HS256.
func SharedSecret(tb testing.TB, id string, secret []byte, claims any) string {
	tb.Helper()
	signed := b64(mustJSON(tb, map[string]any{"alg": "HS256", "kid": id})) + "." + b64(mustJSON(tb, claims))
	mac := hmac.New(sha256.New, secret)
	_, _ = fmt.Fprint(mac, signed)
	return signed + "." + b64(mac.Sum(nil))
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// mustJSON takes bytes as they are: some tests want what no encoder makes.
func mustJSON(tb testing.TB, v any) []byte {
	tb.Helper()
	if raw, ok := v.([]byte); ok {
		return raw
	}
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
