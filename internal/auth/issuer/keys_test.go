package issuer_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/auth/issuer"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/testutil/issuertest"
)

func pause(d time.Duration) func(*issuer.Options) {
	return func(o *issuer.Options) { o.Pause = d }
}

func timeout(d time.Duration) func(*issuer.Options) {
	return func(o *issuer.Options) { o.Timeout = d }
}

func TestKeys_RQ_CRED_rotation(t *testing.T) {
	first, second := issuertest.NewKey(t, "1", "ES256"), issuertest.NewKey(t, "2", "RS256")
	from := issuertest.New(t, first)
	s, clock := newSet(t, from.URL)
	wantGood(t, s, first.Sign(t, from.Claims(audience, nil)))

	from.Publish(first, second)
	wantGood(t, s, second.Sign(t, from.Claims(audience, nil))) // at once, whatever the pause is
	if n := from.Fetches.Load(); n != 2 {
		t.Errorf("%d fetches", n)
	}
	// A key that is withdrawn stops to count without anybody asking for
	// another one.
	from.Publish(second)
	clock.forward(11 * time.Minute)
	wantGood(t, s, first.Sign(t, from.Claims(audience, nil))) // the fetch runs beside it
	eventually(t, "the keys are fetched again", func() bool { return from.Fetches.Load() == 3 })
	eventually(t, "the old key is refused", func() bool {
		_, err := verify(t, s, first.Sign(t, from.Claims(audience, nil)))
		return err != nil
	})
	wantRefused(t, s, first.Sign(t, from.Claims(audience, nil)), "does not have")
	wantGood(t, s, second.Sign(t, from.Claims(audience, nil)))
}

func TestKeys_RQ_CRED_made_up_ids_do_not_hammer_the_issuer(t *testing.T) {
	known, unknown := issuertest.NewKey(t, "known", "ES256"), issuertest.NewKey(t, "", "ES256")
	from := issuertest.New(t, known)
	s, _ := newSet(t, from.URL, pause(time.Second))
	wantGood(t, s, known.Sign(t, from.Claims(audience, nil)))
	before := from.Fetches.Load()
	began := time.Now()
	refused := flood(200, func(i int) error {
		_, err := verify(t, s, unknown.SignAs(t, map[string]any{"alg": "ES256", "kid": fmt.Sprint("made-up-", i)}, from.Claims(audience, nil)))
		return err
	})
	if len(refused) != 200 {
		t.Errorf("%d of 200 were refused", len(refused))
	}
	for _, err := range refused {
		if _, ok := errors.AsType[*auth.Error](err); !ok {
			t.Fatalf("%T %v", err, err)
		}
	}
	if n, most := from.Fetches.Load()-before, 1+int64(time.Since(began)/time.Second); n < 1 || n > most {
		t.Errorf("%d fetches in %s", n, time.Since(began))
	}
	t.Run("and hold up nobody", func(t *testing.T) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = verify(t, s, unknown.SignAs(t, map[string]any{"alg": "ES256", "kid": "one-more"}, from.Claims(audience, nil)))
		}()
		began := time.Now()
		wantGood(t, s, known.Sign(t, from.Claims(audience, nil)))
		if d := time.Since(began); d > 500*time.Millisecond {
			t.Errorf("it took %s", d)
		}
		<-done
	})
	t.Run("nor do wrong signatures", func(t *testing.T) {
		before := from.Fetches.Load()
		for range 50 {
			wantRefused(t, s, unknown.SignAs(t, map[string]any{"alg": "ES256", "kid": "known"}, from.Claims(audience, nil)), "wrong signature")
		}
		if n := from.Fetches.Load() - before; n != 0 {
			t.Errorf("%d fetches", n)
		}
	})
}

func TestKeys_RQ_CRED_issuer_down_then_up(t *testing.T) {
	key := issuertest.NewKey(t, "k", "ES256")
	var lc net.ListenConfig
	lis, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := lis.Addr().String()
	lis.Close()
	url := "http://" + address
	var log gwtest.Buffer
	s, clock := newSet(t, url, logTo(&log))
	token := func() string {
		return key.Sign(t, map[string]any{"iss": url, "aud": audience, "sub": "x", "exp": clock.now().Add(time.Hour).Unix()})
	}
	wantPutOff(t, s, token())
	wantPutOff(t, s, token()) // within the pause: at once
	wantRefused(t, s, key.Sign(t, map[string]any{"iss": url, "aud": audience, "sub": "x", "exp": 1}), "expired")

	from := issuertest.New(t, key)
	from.URL = url
	if lis, err = lc.Listen(t.Context(), "tcp", address); err != nil {
		t.Skipf("somebody else has the port now: %v", err)
	}
	up := &httptest.Server{Listener: lis, Config: &http.Server{Handler: from, ReadHeaderTimeout: time.Second}}
	up.Start()
	defer up.Close()
	eventually(t, "it is accepted", func() bool { _, err := verify(t, s, token()); return err == nil })

	// Known keys outlast an outage, and unknown ones can't be judged in it.
	from.Mood(503, 0)
	wantGood(t, s, token())
	clock.forward(2 * time.Hour)
	wantGood(t, s, token())
	eventually(t, "it is noticed", func() bool { return strings.Count(log.String(), "can't be fetched;") == 2 })
	other := issuertest.NewKey(t, "other", "ES256")
	wantPutOff(t, s, other.Sign(t, map[string]any{"iss": url, "aud": audience, "sub": "x", "exp": clock.now().Add(time.Hour).Unix()}))
	clock.forward(23 * time.Hour)
	wantPutOff(t, s, token()) // a day without a word from the issuer
	from.Mood(200, 0)
	eventually(t, "it is accepted again", func() bool { _, err := verify(t, s, token()); return err == nil })
	if got := log.String(); strings.Count(got, "can't be fetched;") != 2 || strings.Count(got, "can be fetched again") != 2 {
		t.Errorf("the log has not one line for each change:\n%s", got)
	}
}

func TestKeys_RQ_CRED_slow_issuer(t *testing.T) {
	key := issuertest.NewKey(t, "k", "ES256")
	from := issuertest.New(t, key)
	from.Mood(200, 150*time.Millisecond)
	token := key.Sign(t, from.Claims(audience, nil))

	t.Run("one fetch for all", func(t *testing.T) {
		s, _ := newSet(t, from.URL)
		before := from.Fetches.Load()
		if bad := flood(100, func(int) error { _, err := verify(t, s, token); return err }); len(bad) > 0 {
			t.Fatal(bad[0])
		}
		if n := from.Fetches.Load() - before; n != 1 {
			t.Errorf("%d fetches", n)
		}
	})
	t.Run("not longer than the limit", func(t *testing.T) {
		s, _ := newSet(t, from.URL, timeout(100*time.Millisecond))
		began := time.Now()
		wantPutOff(t, s, token)
		if d := time.Since(began); d > time.Second {
			t.Errorf("it took %s", d)
		}
	})
	t.Run("a client that leaves does not wait", func(t *testing.T) {
		from.Mood(200, time.Hour)
		defer from.Mood(200, 150*time.Millisecond)
		s, _ := newSet(t, from.URL)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := s.Recognise(token).Verify(ctx)
		if _, ok := errors.AsType[*auth.UnavailableError](err); !ok || time.Since(began) > time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
	t.Run("nor does its end harm the others", func(t *testing.T) {
		s, _ := newSet(t, from.URL)
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() { _, err := s.Recognise(token).Verify(ctx); left <- err }()
		eventually(t, "it fetches", func() bool { return from.Fetches.Load() > 0 })
		cancel()
		<-left
		wantGood(t, s, token)
	})
	t.Run("few wait", func(t *testing.T) {
		from.Mood(200, time.Hour)
		defer from.Mood(200, 0)
		s, _ := newSet(t, from.URL, timeout(time.Second))
		began := time.Now()
		var fast atomic.Int64
		bad := flood(600, func(int) error {
			_, err := verify(t, s, token)
			if time.Since(began) < 900*time.Millisecond {
				fast.Add(1)
			}
			return err
		})
		if len(bad) != 600 || fast.Load() < 600-256 {
			t.Errorf("%d of 600 were put off, %d of them at once", len(bad), fast.Load())
		}
	})
	t.Run("closing ends it", func(t *testing.T) {
		from.Mood(200, time.Hour)
		defer from.Mood(200, 0)
		s, _ := newSet(t, from.URL, timeout(time.Hour))
		left := make(chan error)
		go func() { _, err := s.Recognise(token).Verify(t.Context()); left <- err }()
		<-time.After(50 * time.Millisecond)
		s.Close()
		if _, ok := errors.AsType[*auth.UnavailableError](<-left); !ok {
			t.Error("it was told something else")
		}
		wantPutOff(t, s, token)
	})
}

// Whatever an issuer sends, it is no fault of the caller.
func TestKeys_RQ_CRED_odd_issuers(t *testing.T) {
	key := issuertest.NewKey(t, "k", "ES256")
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(s)) }
	}
	far := issuertest.New(t, key)
	for _, c := range []struct {
		name, path string
		h          http.HandlerFunc
		log        string
	}{
		{"no JSON", issuertest.Discovery, text("<html>"), "decode"},
		{"nothing", issuertest.Discovery, text(""), "decode"},
		{"another issuer", issuertest.Discovery, text(`{"issuer":"https://evil.example","jwks_uri":"https://evil.example/keys"}`), "did not match"},
		{"no keys' place", issuertest.Discovery, nil, "jwks_uri"},
		{"an odd place", issuertest.Discovery, nil, "jwks_uri"},
		{"too much", issuertest.Discovery, text(strings.Repeat(" ", 2<<20)), "too large"},
		{"keys that are too many", issuertest.Keys, text(`{"keys":[` + strings.Repeat(" ", 2<<20) + `]}`), "too large"},
		{"no keys", issuertest.Keys, text(`{"keys":[]}`), "no key"},
		{"keys that are none", issuertest.Keys, text(`{"keys":[1,null,"x",{},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},{"kty":"oct","k":"AAAA"}]}`), "no key"},
		{"keys for something else", issuertest.Keys, text(`{"keys":[` + jwk(key, "enc", "") + `,` + jwk(key, "sig", "ES256K") + `]}`), "no key"},
		{"a page instead of keys", issuertest.Keys, text("<html>secret"), "read the answer"},
		{"an error", issuertest.Keys, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "status 500"},
		{"a circle", issuertest.Keys, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, issuertest.Keys, http.StatusFound) }, "redirects"},
		{"half an answer", issuertest.Keys, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"keys":[`))
		}, "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := issuertest.New(t, key)
			if c.h == nil {
				c.h = text(fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q}`, from.URL, map[bool]string{true: "", false: "ftp://x.example/jwks_uri"}[c.name == "no keys' place"]))
			}
			from.Handle(c.path, c.h)
			var log gwtest.Buffer
			s, _ := newSet(t, from.URL, logTo(&log))
			wantPutOff(t, s, key.Sign(t, from.Claims(audience, nil)))
			if got := log.String(); !strings.Contains(got, c.log) || len(got) > 3000 {
				t.Errorf("want %q in the log:\n%s", c.log, got)
			}
		})
	}
	t.Run("good ones among them", func(t *testing.T) {
		from := issuertest.New(t)
		from.PublishRaw(1, map[string]any{"kty": "new"}, map[string]any{"kty": "OKP", "crv": "Ed448", "x": "AA"}, key.JWK())
		s, _ := newSet(t, from.URL)
		wantGood(t, s, key.Sign(t, from.Claims(audience, nil)))
	})
	t.Run("keys elsewhere", func(t *testing.T) {
		from := issuertest.New(t)
		from.Handle(issuertest.Discovery, text(fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q}`, from.URL, far.URL+issuertest.Keys)))
		s, _ := newSet(t, from.URL)
		wantGood(t, s, key.Sign(t, from.Claims(audience, nil)))
	})
}

func jwk(k *issuertest.Key, use, alg string) string {
	j := k.JWK()
	return fmt.Sprintf(`{"kty":"EC","crv":"P-256","kid":"k","use":%q,"alg":%q,"x":%q,"y":%q}`, use, alg, j["x"], j["y"])
}

// flood runs f many times at once and returns its errors.
func flood(n int, f func(i int) error) []error {
	var mu sync.Mutex
	var out []error
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := f(i); err != nil {
				mu.Lock()
				defer mu.Unlock()
				out = append(out, err)
			}
		})
	}
	wg.Wait()
	return out
}

func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			tb.Fatalf("not within 10 s: %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}
