package issuer_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/auth/issuer"
	"github.com/interlock-gateway/interlock/internal/testutil/issuertest"
)

// BenchmarkKnown is a request with a token that was verified before: a hash and
// a look in a map.
func BenchmarkKnown(b *testing.B) {
	s, raw := ready(b, "RS256")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Recognise(raw).Verify(b.Context()); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkForeign is a request with a JWT of somebody else.
func BenchmarkForeign(b *testing.B) {
	s, raw := ready(b, "RS256")
	none, _ := newSet(b, "https://other.example")
	if none.Recognise(raw) != nil || s.Recognise(raw) == nil {
		b.Fatal("the sets are the wrong way round")
	}
	b.ReportAllocs()
	for b.Loop() {
		none.Recognise(raw)
	}
}

// BenchmarkNew verifies tokens that were not seen before.
func BenchmarkNew(b *testing.B) {
	for _, alg := range []string{"RS256", "ES256", "EdDSA"} {
		b.Run(alg, func(b *testing.B) {
			key := issuertest.NewKey(b, "k", alg)
			from := issuertest.New(b, key)
			s, _ := newSet(b, from.URL, claims(issuer.Claims{User: "actor", Labels: map[string]string{"repository": "repository"}}))
			raw := make([]string, 2000)
			for i := range raw {
				c := github()
				c["n"] = i
				raw[i] = key.Sign(b, from.Claims(audience, c))
			}
			wantGood(b, s, raw[0])
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if i%len(raw) == 0 { // forget what was verified
					b.StopTimer()
					s, _ = newSet(b, from.URL)
					wantGood(b, s, raw[0])
					b.StartTimer()
				}
				if _, err := s.Recognise(raw[i%len(raw)]).Verify(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// ready is a set that knows a token as large as GitHub's are.
func ready(b *testing.B, alg string) (*issuer.Set, string) {
	b.Helper()
	key := issuertest.NewKey(b, "k", alg)
	from := issuertest.New(b, key)
	s, _ := newSet(b, from.URL)
	c := github()
	c["job_workflow_ref"] = strings.Repeat("x", 500)
	raw := key.Sign(b, from.Claims(audience, c))
	wantGood(b, s, raw)
	return s, raw
}

// FuzzRecognise: whatever is sent, it is judged in peace and never accepted.
func FuzzRecognise(f *testing.F) {
	key := issuertest.NewKey(f, "k", "ES256")
	from := issuertest.New(f)
	from.Publish(key)
	s, _ := newSet(f, from.URL, claims(issuer.Claims{User: "a.b.c", Groups: "g", Labels: map[string]string{"l": "x.y"}}))
	enc := base64.RawURLEncoding.EncodeToString
	for _, payload := range []string{
		`{}`, `{"iss":"` + from.URL + `","aud":"interlock","exp":9999999999}`, `{"iss":"` + from.URL + `","aud":["interlock"],"exp":9999999999,"a":{"b":{"c":"u"}}}`, `[]`, `{"iss":`,
	} {
		f.Add(`{"alg":"ES256","kid":"k"}`, payload, "c2lnbmF0dXJl", "")
		f.Add(`{"alg":"none"}`, payload, "", "Bearer ")
	}
	f.Fuzz(func(t *testing.T, header, payload, signature, before string) {
		raw := before + enc([]byte(header)) + "." + enc([]byte(payload)) + "." + signature
		token := s.Recognise(raw)
		if token == nil {
			return
		}
		if id, err := token.Verify(t.Context()); err == nil {
			t.Fatalf("accepted as %+v", id)
		}
	})
}
