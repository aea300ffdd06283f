package issuer

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/interlock-gateway/interlock/internal/auth"
)

const (
	// fresh is the age after which keys are fetched again, beside the requests
	// that use them: an issuer may have withdrawn one.
	fresh = 10 * time.Minute
	// stale is the age up to which keys are used if that fails.
	stale = 24 * time.Hour
	// maxWaiting bounds the requests that wait for one issuer.
	maxWaiting = 256
	// maxKeys bounds the keys of one issuer.
	maxKeys = 128
)

// errUnknownKey says that the issuer has no such key, as of now.
var errUnknownKey = errors.New("the issuer has no such key")

// keySource has the public keys of one issuer. One fetch runs at a time, in the
// background, so that a client which leaves does not end it for the others; and
// fetches begin a pause apart, so that made-up tokens can't hammer the issuer.
type keySource struct {
	name, issuer string
	client       *http.Client
	log          *slog.Logger
	now          func() time.Time
	timeout      time.Duration
	pause        time.Duration
	base         context.Context // ends what runs in the background
	work         *sync.WaitGroup

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time // when the fetch of keys began
	tried   time.Time // when the last fetch began
	failed  bool      // the last fetch
	running *fetch
	waiting int
	closed  bool
}

// fetch is one on its way; err is set when done is closed.
type fetch struct {
	done chan struct{}
	err  error
}

func newKeySource(base context.Context, work *sync.WaitGroup, c Config, o *Options) *keySource {
	return &keySource{
		name: c.Name, issuer: c.Issuer, client: newClient(o.Timeout, isTLS(c.Issuer)), log: o.Log, now: o.Now,
		timeout: o.Timeout, pause: o.Pause, base: base, work: work,
	}
}

// find returns the keys that may have signed a token: those with the id, or all
// for a token without one. A key that is not known may be a new one, so the
// answer is no only if the keys were fetched after the question.
func (s *keySource) find(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeout(ctx, s.pause+s.timeout)
	defer cancel()
	asked := s.now()
	for {
		keys, running, err := s.look(id, asked)
		if running == nil {
			return keys, err
		}
		select {
		case <-running.done:
			err = running.err
		case <-ctx.Done():
			err = ctx.Err()
		}
		s.mu.Lock()
		s.waiting--
		s.mu.Unlock()
		if err != nil {
			return nil, s.away(s.pause)
		}
	}
}

// look answers from what is known, or joins the fetch that can tell.
func (s *keySource) look(id string, asked time.Time) ([]jose.JSONWebKey, *fetch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	age := now.Sub(s.fetched)
	if len(s.keys) > 0 && age < stale {
		if age >= fresh {
			s.launch(now) // nobody waits for it
		}
		if found := s.match(id); len(found) > 0 {
			return found, nil, nil
		}
		if !s.fetched.Before(asked) {
			return nil, nil, errUnknownKey
		}
	}
	if wait := s.tried.Add(s.pause).Sub(now); s.failed && s.running == nil && wait > 0 {
		return nil, nil, s.away(wait)
	}
	if s.waiting >= maxWaiting || s.closed {
		return nil, nil, s.away(s.pause)
	}
	s.launch(now)
	s.waiting++
	return nil, s.running, nil
}

func (s *keySource) match(id string) []jose.JSONWebKey {
	if id == "" {
		return s.keys
	}
	var out []jose.JSONWebKey
	for _, k := range s.keys {
		if k.KeyID == id {
			out = append(out, k)
		}
	}
	return out
}

func (s *keySource) away(retry time.Duration) error {
	return &auth.UnavailableError{
		Message:    fmt.Sprintf("the keys of the issuer %q can't be fetched now, so its tokens can't be verified; repeat the request in a moment", s.name),
		RetryAfter: retry,
	}
}

// launch starts a fetch unless one runs; it begins when the pause is over. The
// mutex is held.
func (s *keySource) launch(now time.Time) {
	if s.running != nil || s.closed {
		return
	}
	f := &fetch{done: make(chan struct{})}
	s.running = f
	wait := s.tried.Add(s.pause).Sub(now)
	s.work.Go(func() {
		f.err = s.refresh(wait)
		s.mu.Lock()
		s.running = nil
		s.mu.Unlock()
		close(f.done)
	})
}

// refresh waits, fetches the keys and takes them over.
func (s *keySource) refresh(wait time.Duration) error {
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-s.base.Done():
			return s.base.Err()
		}
	}
	s.mu.Lock()
	began := s.now()
	s.tried = began
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.base, s.timeout)
	defer cancel()
	keys, err := s.fetch(ctx)

	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.failed
	s.failed = err != nil
	switch {
	case err == nil:
		s.keys, s.fetched = keys, began
		if before {
			s.log.Info("the keys of a trusted issuer can be fetched again", "issuer", s.name, "keys", len(keys))
		}
	case !before && s.base.Err() == nil: // one line for one outage
		s.log.Warn("the keys of a trusted issuer can't be fetched; it is tried again", "issuer", s.name, "knownKeys", len(s.keys), "error", clip(err.Error()))
	}
	return err
}

// fetch gets the issuer's description and its keys. Both are small and rarely
// needed, so neither is kept without the other.
func (s *keySource) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, s.client), s.issuer)
	if err != nil {
		return nil, fmt.Errorf("discover %s: %w", s.issuer, err)
	}
	var about struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&about); err != nil || about.Keys == "" {
		return nil, fmt.Errorf("discover %s: its description has no jwks_uri", s.issuer)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, about.Keys, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch the keys of %s: %w", s.issuer, err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch the keys of %s: %w", s.issuer, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch the keys of %s: status %d from %s", s.issuer, resp.StatusCode, about.Keys)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&set); err != nil {
		return nil, fmt.Errorf("fetch the keys of %s: read the answer of %s: %w", s.issuer, about.Keys, err)
	}
	keys := usable(set.Keys)
	if len(keys) == 0 {
		return nil, fmt.Errorf("fetch the keys of %s: %s has no key that can verify a signature", s.issuer, about.Keys)
	}
	return keys, nil
}

// usable reads the keys for signatures. What it can't read it leaves out: an
// issuer may have keys of kinds that are newer than this program.
func usable(raw []json.RawMessage) []jose.JSONWebKey {
	var out []jose.JSONWebKey
	for _, r := range raw {
		var k jose.JSONWebKey
		if json.Unmarshal(r, &k) != nil || k.Use != "" && k.Use != "sig" || k.Algorithm != "" && !slices.Contains(algorithms(), k.Algorithm) {
			continue
		}
		switch k.Key.(type) {
		case *rsa.PublicKey, *ecdsa.PublicKey, ed25519.PublicKey:
			if len(out) < maxKeys {
				out = append(out, k)
			}
		}
	}
	return out
}

// close lets nothing begin any more.
func (s *keySource) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// clip bounds what an issuer's answer adds to the log.
func clip(s string) string {
	const most = 300
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
