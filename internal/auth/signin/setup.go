package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/netip"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/store"
)

// SetupTime is how long a set-up token is good for.
const SetupTime = time.Hour

// setupToken is the token of the link that a start prints.
type setupToken struct {
	mu    sync.Mutex
	hash  [sha256.Size]byte
	until time.Time // zero: there is none
}

// SetupRequired tells whether nobody could sign in: no administrator has a
// password, and there is no issuer.
func (s *Service) SetupRequired() bool {
	users := s.opt.Users()
	return users != nil && !users.HaveAdmin() && s.oidc == nil
}

// NewSetupToken makes the token that lets one person make the first
// administrator; any before it is void. ok is false if none is required.
func (s *Service) NewSetupToken() (token secret.String, ok bool) {
	if !s.SetupRequired() {
		return secret.String{}, false
	}
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails
	text := base64.RawURLEncoding.EncodeToString(raw[:])
	s.setup.mu.Lock()
	defer s.setup.mu.Unlock()
	s.setup.hash, s.setup.until = sha256.Sum256([]byte(text)), s.now().Add(SetupTime)
	return secret.New(text), true
}

// take uses the token up. The function gives it back.
func (t *setupToken) take(token string, now time.Time) (giveBack func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(sum[:], t.hash[:]) != 1 || !now.Before(t.until) {
		return nil, false
	}
	until := t.until
	t.until = time.Time{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if subtle.ConstantTimeCompare(sum[:], t.hash[:]) == 1 { // no newer one was made
			t.until = until
		}
	}, true
}

// SetUp makes the first administrator and signs them in. The token is used up,
// unless the administrator can't be made.
func (s *Service) SetUp(ctx context.Context, addr netip.Addr, token, name string, typed secret.String) (*Started, error) {
	const limited = "\x00setup" // nobody has this name
	if !s.SetupRequired() {
		return nil, ErrSetUp
	}
	if wait := s.limits.begin(limited+addr.String(), addr, s.now()); wait > 0 {
		return nil, &LimitError{wait}
	}
	giveBack, ok := s.setup.take(token, s.now())
	if !ok {
		s.log.WarnContext(ctx, "somebody tried to set up the console with a wrong token", "address", addr.String())
		return nil, ErrWrongToken
	}
	s.limits.forgive(limited+addr.String(), addr)
	if err := s.opt.MakeAdmin(ctx, name, typed); err != nil {
		giveBack()
		return nil, err
	}
	u, ok := s.opt.Users().Find(name)
	if !ok || u.Password.IsZero() || u.Role == "" { // it was changed again meanwhile
		return nil, ErrWrong
	}
	return s.begin(ctx, store.Session{Name: u.Name, Via: ViaPassword, Stamp: passwordStamp(u)}, u.Role)
}
