package issuer_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/auth/issuer"
	"github.com/interlock-gateway/interlock/internal/testutil/issuertest"
)

// No test may leave a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const audience = "interlock"

// clock is a time that tests move.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.offset.Load())) }
func (c *clock) forward(by time.Duration) { c.offset.Add(int64(by)) }

// newSet trusts one issuer, for a test; it fetches again after 50 ms.
func newSet(tb testing.TB, url string, change ...func(*issuer.Options)) (*issuer.Set, *clock) {
	tb.Helper()
	c := &clock{}
	o := issuer.Options{
		Issuers: []issuer.Config{{Name: "acme", Issuer: url, Audience: audience}},
		Now:     c.now, Timeout: 2 * time.Second, Pause: 50 * time.Millisecond,
	}
	for _, f := range change {
		f(&o)
	}
	s := issuer.New(o)
	tb.Cleanup(s.Close)
	return s, c
}

func logTo(w io.Writer) func(*issuer.Options) {
	return func(o *issuer.Options) { o.Log = slog.New(slog.NewTextHandler(w, nil)) }
}

func claims(c issuer.Claims) func(*issuer.Options) {
	return func(o *issuer.Options) { o.Issuers[0].Claims = c }
}

// verify recognises a token and verifies it.
func verify(tb testing.TB, s *issuer.Set, raw string) (*auth.Identity, error) {
	tb.Helper()
	t := s.Recognise(raw)
	if t == nil {
		tb.Fatal("the token is not recognised")
	}
	return t.Verify(tb.Context())
}

// wantGood verifies a token that is good.
func wantGood(tb testing.TB, s *issuer.Set, raw string) *auth.Identity {
	tb.Helper()
	id, err := verify(tb, s, raw)
	if err != nil {
		tb.Fatalf("refused: %v", err)
	}
	return id
}

// wantRefused verifies a token that is wrong; the message has a word and no
// more of the token than its end.
func wantRefused(tb testing.TB, s *issuer.Set, raw, word string) {
	tb.Helper()
	id, err := verify(tb, s, raw)
	var wrong *auth.Error
	switch {
	case err == nil:
		tb.Errorf("accepted as %+v", id)
	case !errors.As(err, &wrong):
		tb.Errorf("got %T: %v", err, err)
	case !strings.Contains(wrong.Message, word):
		tb.Errorf("got %q, want %q in it", wrong.Message, word)
	case !strings.Contains(wrong.Message, `"acme"`):
		tb.Errorf("the message does not say whose token: %q", wrong.Message)
	}
	for part := range strings.SplitSeq(raw, ".") {
		if len(part) > 8 && err != nil && strings.Contains(err.Error(), part[len(part)-8:]) {
			tb.Errorf("the message shows the token: %q", err)
		}
	}
}

// wantPutOff verifies a token about which nothing can be said now.
func wantPutOff(tb testing.TB, s *issuer.Set, raw string) {
	tb.Helper()
	_, err := verify(tb, s, raw)
	away, ok := errors.AsType[*auth.UnavailableError](err)
	if !ok {
		tb.Fatalf("got %T %v, want that it can't be told now", err, err)
	}
	if away.RetryAfter <= 0 || !strings.Contains(away.Message, `"acme"`) {
		tb.Errorf("got %+v", away)
	}
}

func TestVerify_RQ_CRED_accepts_asymmetric_algorithms(t *testing.T) {
	var keys []*issuertest.Key
	for _, alg := range []string{"RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA"} {
		keys = append(keys, issuertest.NewKey(t, "key-"+alg, alg))
	}
	from := issuertest.New(t, keys...)
	s, _ := newSet(t, from.URL)
	for _, k := range keys {
		t.Run(k.Algorithm, func(t *testing.T) {
			id := wantGood(t, s, k.Sign(t, from.Claims(audience, map[string]any{"sub": k.ID})))
			if d := cmp.Diff(&auth.Identity{Issuer: "acme", User: k.ID}, id); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
		t.Run(k.Algorithm+" without the key's id", func(t *testing.T) {
			wantGood(t, s, k.SignAs(t, map[string]any{"alg": k.Algorithm}, from.Claims(audience, nil)))
		})
	}
	if n := from.Fetches.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

// What is wrong with a token is never a fault of ours, and never accepted.
func TestVerify_RQ_CRED_refuses(t *testing.T) {
	rsa, ec := issuertest.NewKey(t, "rsa", "RS256"), issuertest.NewKey(t, "ec", "ES256")
	stranger := issuertest.NewKey(t, "ec", "ES256") // with the id of a known key
	from := issuertest.New(t, rsa, ec)
	from.PublishRaw(map[string]any{"kty": "oct", "kid": "shared", "k": base64.RawURLEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))})
	s, _ := newSet(t, from.URL)
	good := from.Claims(audience, nil)
	with := func(name string, v any) map[string]any { return from.Claims(audience, map[string]any{name: v}) }
	at := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	der, err := x509.MarshalPKIXPublicKey(rsa.Private.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	modulus, err := base64.RawURLEncoding.DecodeString(rsa.JWK()["n"].(string))
	if err != nil {
		t.Fatal(err)
	}
	token := ec.Sign(t, good)
	head, rest, _ := strings.Cut(token, ".")
	_, sig, _ := strings.Cut(rest, ".")
	admin, err := json.Marshal(with("sub", "admin"))
	if err != nil {
		t.Fatal(err)
	}
	payload := base64.RawURLEncoding.EncodeToString(admin)
	for _, c := range []struct{ name, token, word string }{
		{"alg none", issuertest.Unsigned(t, good), "wrong form"},
		{"alg none with a signature", ec.SignAs(t, map[string]any{"alg": "none", "kid": "ec"}, good), "wrong form"},
		{"alg None", ec.SignAs(t, map[string]any{"alg": "None", "kid": "ec"}, good), "wrong form"},
		{"no alg", ec.SignAs(t, map[string]any{"kid": "ec"}, good), "wrong form"},
		{"HS256 with the public key as PEM", issuertest.SharedSecret(t, "rsa", public, good), "wrong form"},
		{"HS256 with the public key as DER", issuertest.SharedSecret(t, "rsa", der, good), "wrong form"},
		{"HS256 with the modulus", issuertest.SharedSecret(t, "rsa", modulus, good), "wrong form"},
		{"HS256 with a secret that the issuer published", issuertest.SharedSecret(t, "shared", []byte("0123456789abcdef0123456789abcdef"), good), "wrong form"},
		{"HS256 with nothing", issuertest.SharedSecret(t, "", nil, good), "wrong form"},
		{"another key of the same id", stranger.Sign(t, good), "wrong signature"},
		{"another key inside the token", stranger.SignAs(t, map[string]any{"alg": "ES256", "kid": "ec", "jwk": stranger.JWK()}, good), "wrong signature"},
		{"another key somewhere else", stranger.SignAs(t, map[string]any{"alg": "ES256", "kid": "ec", "jku": "https://x.example/keys"}, good), "wrong signature"},
		{"a key of another kind", ec.SignAs(t, map[string]any{"alg": "ES256", "kid": "rsa"}, good), "wrong signature"},
		{"another algorithm than the key's", rsa.SignAs(t, map[string]any{"alg": "PS256", "kid": "rsa"}, good), "wrong signature"},
		{"an unknown key", stranger.SignAs(t, map[string]any{"alg": "ES256", "kid": "who"}, good), "does not have"},
		{"an unknown extension that is critical", ec.SignAs(t, map[string]any{"alg": "ES256", "kid": "ec", "crit": []string{"x"}, "x": 1}, good), "wrong"},
		{"another payload", head + "." + payload + "." + sig, "wrong signature"},
		{"no signature", head + "." + strings.Split(token, ".")[1] + ".", "wrong"},
		{"half a signature", token[:len(token)-20], "wrong"},
		{"a header that is none", "bm8." + payload + "." + sig, "wrong form"},
		{"another audience", ec.Sign(t, with("aud", "billing")), "not for this gateway"},
		{"audiences without ours", ec.Sign(t, with("aud", []string{"billing", "interlock2"})), "not for this gateway"},
		{"no audience", ec.Sign(t, with("aud", nil)), "not for this gateway"},
		{"an odd audience", ec.Sign(t, with("aud", map[string]any{"interlock": 1})), "not for this gateway"},
		{"an audience in capitals", ec.Sign(t, from.Claims("billing", map[string]any{"AUD": audience})), "not for this gateway"},
		{"expired", ec.Sign(t, with("exp", at(-time.Minute))), "expired at"},
		{"no end", ec.Sign(t, with("exp", nil)), "never expires"},
		{"an end in capitals", ec.Sign(t, from.Claims(audience, map[string]any{"exp": at(-time.Hour), "EXP": at(time.Hour)})), "expired at"},
		{"an end that is null", ec.Sign(t, []byte(fmt.Sprintf(`{"iss":%q,"aud":"interlock","sub":"x","exp":null}`, from.URL))), "no time"},
		{"an end that is text", ec.Sign(t, with("exp", "tomorrow")), "no time"},
		{"an end beyond time", ec.Sign(t, with("exp", 1e300)), "no time"},
		{"not yet", ec.Sign(t, with("nbf", at(time.Minute))), "not valid before"},
		{"an odd beginning", ec.Sign(t, with("nbf", []int{1})), "no time"},
		{"100 KB", ec.Sign(t, with("x", strings.Repeat("x", 100_000))), "bytes long"},
		{"no user", ec.Sign(t, with("sub", nil)), `"sub"`},
	} {
		t.Run(c.name, func(t *testing.T) { wantRefused(t, s, c.token, c.word) })
	}
	t.Run("and these are good", func(t *testing.T) {
		for name, raw := range map[string]string{
			"as it is":                     token,
			"one of several audiences":     ec.Sign(t, with("aud", []string{"billing", audience})),
			"within the leeway of exp":     ec.Sign(t, with("exp", at(-20*time.Second))),
			"within the leeway of nbf":     ec.Sign(t, with("nbf", at(20*time.Second))),
			"without nbf":                  ec.Sign(t, with("nbf", nil)),
			"an end with a fraction":       ec.Sign(t, with("exp", float64(at(time.Hour))+0.5)),
			"behind a scheme of its own":   "Token " + token,
			"with a claim that is ignored": ec.Sign(t, with("x", map[string]any{"deep": []any{1, nil}})),
		} {
			if _, err := verify(t, s, raw); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Only tokens of the configured issuers are ours to judge; anything else is a
// foreign credential.
func TestRecognise_RQ_CRED(t *testing.T) {
	key := issuertest.NewKey(t, "k", "ES256")
	from, other := issuertest.New(t, key), issuertest.New(t, key)
	s, _ := newSet(t, from.URL)
	none := issuer.New(issuer.Options{})
	t.Cleanup(none.Close)
	token := key.Sign(t, from.Claims(audience, nil))
	if s.Recognise(token) == nil || none.Recognise(token) != nil {
		t.Error("a token of the issuer is recognised where the issuer is trusted")
	}
	parts := strings.Split(token, ".")
	for name, raw := range map[string]string{
		"another issuer":         key.Sign(t, other.Claims(audience, nil)),
		"a slash more":           key.Sign(t, from.Claims(audience, map[string]any{"iss": from.URL + "/"})),
		"no issuer":              key.Sign(t, from.Claims(audience, map[string]any{"iss": nil})),
		"a list of issuers":      key.Sign(t, from.Claims(audience, map[string]any{"iss": []string{from.URL}})),
		"an issuer in capitals":  key.Sign(t, from.Claims(audience, map[string]any{"iss": nil, "ISS": from.URL})),
		"nothing":                "",
		"dots":                   "..",
		"a provider's key":       "sk-ant-api03-x.y.z",
		"a JWE":                  token + ".x.y",
		"two parts":              parts[0] + "." + parts[1],
		"a payload that is none": parts[0] + ".eyJ." + parts[2],
		"a payload of text":      parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`"x"`)) + "." + parts[2],
		"no base64":              parts[0] + ".{}." + parts[2],
		"more behind the claims": parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"`+from.URL+`"} {}`)) + "." + parts[2],
		"a whole object":         `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
	} {
		if s.Recognise(raw) != nil {
			t.Errorf("%s is taken for a token of the issuer", name)
		}
	}
	if from.Fetches.Load()+other.Fetches.Load() != 0 {
		t.Error("recognising a token fetches keys")
	}
}

func TestVerify_RQ_CRED_required_claims(t *testing.T) {
	key := issuertest.NewKey(t, "k", "ES256")
	from := issuertest.New(t, key)
	s, _ := newSet(t, from.URL, func(o *issuer.Options) {
		o.Issuers[0].Require = map[string]string{"repository_owner": "acme", "plan.tiers": "gold"}
	})
	plan := map[string]any{"tiers": []string{"silver", "gold"}}
	wantGood(t, s, key.Sign(t, from.Claims(audience, map[string]any{"repository_owner": "acme", "plan": plan})))
	for name, more := range map[string]map[string]any{
		"missing":         {"plan": plan},
		"another":         {"repository_owner": "acme-corp", "plan": plan},
		"in capitals":     {"repository_owner": "Acme", "plan": plan},
		"not in the list": {"repository_owner": "acme", "plan": map[string]any{"tiers": []string{"silver"}}},
		"no text":         {"repository_owner": map[string]any{"acme": true}, "plan": plan},
	} {
		t.Run(name, func(t *testing.T) {
			raw := key.Sign(t, from.Claims(audience, more))
			wantRefused(t, s, raw, "")
			wantRefused(t, s, raw, "") // nothing is remembered
		})
	}
}

func TestVerify_RQ_CRED_verified_tokens_are_remembered(t *testing.T) {
	key := issuertest.NewKey(t, "k", "ES256")
	from := issuertest.New(t, key)
	s, clock := newSet(t, from.URL)
	raw := key.Sign(t, from.Claims(audience, nil))
	first := wantGood(t, s, raw)
	from.Mood(500, 0)
	if again := wantGood(t, s, raw); again != first {
		t.Error("it was verified again")
	}
	clock.forward(9 * time.Minute)
	if again := wantGood(t, s, raw); again != first {
		t.Error("it was verified again before its time")
	}
	clock.forward(2 * time.Minute)
	if again := wantGood(t, s, raw); again == first {
		t.Error("it was not looked at again after ten minutes")
	}
	clock.forward(time.Hour)
	wantRefused(t, s, raw, "expired")
	t.Run("no longer than they are good", func(t *testing.T) {
		from.Mood(200, 0)
		s, clock := newSet(t, from.URL)
		raw := key.Sign(t, from.Claims(audience, map[string]any{"exp": time.Now().Add(time.Minute).Unix()}))
		wantGood(t, s, raw)
		clock.forward(2 * time.Minute)
		wantRefused(t, s, raw, "expired")
	})
}
