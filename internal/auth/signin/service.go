package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/auth/password"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/store"
)

// How long a session is good for.
const (
	IdleTime = 12 * time.Hour
	FullTime = 7 * 24 * time.Hour
	// seeEvery is how exactly the last use is noted.
	seeEvery = time.Minute
	// cleanEvery is how often old sessions are removed.
	cleanEvery = time.Hour
	// maxTyped bounds what is checked as a password, in bytes.
	maxTyped = 1024
)

// Ways to sign in.
const (
	ViaPassword = "password"
	ViaOIDC     = "oidc"
)

// Reasons why nobody is let in. Compare with errors.Is.
var (
	// ErrNoSession says that there is no such session, or not any more.
	ErrNoSession = errors.New("there is no such session")
	// ErrWrong says that the name or the password is wrong.
	ErrWrong = errors.New("the name or the password is wrong")
	// ErrNoRole says that who signed in may do nothing.
	ErrNoRole = errors.New("the user has no role")
	// ErrSetUp says that there is a way to sign in already.
	ErrSetUp = errors.New("there is an administrator already")
	// ErrWrongToken says that the token is not the one of the link, or was used,
	// or is too old.
	ErrWrongToken = errors.New("the token is wrong, used or too old")
	// ErrNoOIDC says that no issuer is configured.
	ErrNoOIDC = errors.New("no OpenID issuer is configured")
)

// LimitError says that there were too many failures.
type LimitError struct{ Wait time.Duration }

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("too many failed attempts; try again in %s", e.Wait.Round(time.Second))
}

// Identity is who is signed in.
type Identity struct {
	Name, Role, Via string
}

// Started is a new session.
type Started struct {
	Identity

	// Token goes into the cookie, and nowhere else.
	Token secret.String
}

// Options make a Service.
type Options struct {
	// Users are those of the configuration in use; nil before there is one.
	Users    func() *auth.Users
	Sessions store.Sessions
	Hasher   *password.Hasher
	// Box seals what a browser keeps during the sign-in at an issuer.
	Box *secret.Box
	// OIDC is the issuer; nil is none.
	OIDC *OIDC
	// MakeAdmin gives a user a password and the role of an administrator.
	MakeAdmin func(ctx context.Context, name string, password secret.String) error
	Log       *slog.Logger
	Now       func() time.Time
}

// Service signs people in and knows who is. It is safe for concurrent use.
type Service struct {
	opt    Options
	now    func() time.Time
	log    *slog.Logger
	limits *limiter
	oidc   *relyingParty // nil without an issuer
	setup  setupToken

	mu      sync.Mutex
	cleaned time.Time
	watched map[[sha256.Size]byte]map[chan struct{}]bool
}

// New makes a Service. It asks no issuer for anything yet.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{opt: o, now: o.Now, log: o.Log, limits: newLimiter(), watched: map[[sha256.Size]byte]map[chan struct{}]bool{}}
	if o.OIDC != nil {
		s.oidc = newRelyingParty(o.OIDC, o.Box, o.Now)
	}
	return s
}

// HasPasswords tells whether anybody can sign in with a password.
func (s *Service) HasPasswords() bool { return s.opt.Users().HavePassword() }

// OIDCName is what to call the issuer; empty without one.
func (s *Service) OIDCName() string {
	if s.oidc == nil {
		return ""
	}
	return s.oidc.name
}

// SignIn checks a name and a password and begins a session.
func (s *Service) SignIn(ctx context.Context, addr netip.Addr, name string, typed secret.String) (*Started, error) {
	if wait := s.limits.begin(name, addr, s.now()); wait > 0 {
		return nil, &LimitError{wait}
	}
	users := s.opt.Users()
	if users == nil {
		s.limits.forgive(name, addr)
		return nil, fmt.Errorf("no configuration is in use: %w", store.ErrUnavailable)
	}
	u, known := users.Find(name)
	hash := ""
	if known && len(typed.Reveal()) <= maxTyped {
		hash = u.Password.Reveal()
	}
	right, err := s.opt.Hasher.Verify(ctx, hash, typed)
	if err != nil { // nothing was learned
		s.limits.forgive(name, addr)
		return nil, fmt.Errorf("check a password: %w", err)
	}
	if !right {
		s.log.WarnContext(ctx, "somebody could not sign in to the console", "address", addr.String(), "userIsKnown", known) // not the name: people type passwords there
		return nil, ErrWrong
	}
	s.limits.forgive(name, addr)
	if u.Role == "" {
		return nil, ErrNoRole
	}
	return s.begin(ctx, store.Session{Name: u.Name, Via: ViaPassword, Stamp: passwordStamp(u)}, u.Role)
}

// passwordStamp tells a password from the ones before and after it.
func passwordStamp(u *auth.User) string { return stamp("password", u.Password.Reveal()) }

func stamp(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// begin stores a new session.
func (s *Service) begin(ctx context.Context, row store.Session, role string) (*Started, error) {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails
	token := base64.RawURLEncoding.EncodeToString(raw[:])
	row.Hash, row.CreatedAt, row.SeenAt = sha256.Sum256([]byte(token)), s.now(), s.now()
	if err := s.opt.Sessions.AddSession(ctx, row); err != nil {
		return nil, err
	}
	s.clean(ctx)
	s.log.InfoContext(ctx, "somebody signed in to the console", "user", row.Name, "role", role, "via", row.Via)
	return &Started{Identity{row.Name, role, row.Via}, secret.New(token)}, nil
}

// clean removes old sessions now and then.
func (s *Service) clean(ctx context.Context) {
	now := s.now()
	s.mu.Lock()
	due := now.Sub(s.cleaned) >= cleanEvery
	if due {
		s.cleaned = now
	}
	s.mu.Unlock()
	if !due {
		return
	}
	if _, err := s.opt.Sessions.EndSessions(ctx, now.Add(-IdleTime), now.Add(-FullTime)); err != nil {
		s.log.WarnContext(ctx, "old sessions of the console could not be removed; they are of no use anyway", "error", err)
	}
}

// hashOf is what a session is found by; ok is false for what is no token.
func hashOf(token string) (hash [sha256.Size]byte, ok bool) {
	if raw, err := base64.RawURLEncoding.Strict().DecodeString(token); err != nil || len(raw) != 32 {
		return hash, false
	}
	return sha256.Sum256([]byte(token)), true
}

// Session tells who a session belongs to and notes its use: ErrNoSession if it
// is good for nothing. Any other error is a fault of ours.
func (s *Service) Session(ctx context.Context, token string) (*Identity, error) {
	return s.find(ctx, token, true)
}

// Look is Session without a use of it.
func (s *Service) Look(ctx context.Context, token string) (*Identity, error) {
	return s.find(ctx, token, false)
}

func (s *Service) find(ctx context.Context, token string, use bool) (*Identity, error) {
	hash, ok := hashOf(token)
	if !ok {
		return nil, ErrNoSession
	}
	row, err := s.opt.Sessions.FindSession(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNoSession
	}
	if err != nil {
		return nil, err
	}
	users := s.opt.Users()
	if users == nil {
		return nil, fmt.Errorf("no configuration is in use: %w", store.ErrUnavailable)
	}
	id, ok := s.holder(users, row)
	if !ok {
		s.end(ctx, hash)
		return nil, ErrNoSession
	}
	if now := s.now(); use && now.Sub(row.SeenAt) >= seeEvery {
		if err := s.opt.Sessions.SeeSession(ctx, hash, now); err != nil {
			s.log.WarnContext(ctx, "the use of a session could not be noted; it ends early", "error", err)
		}
	}
	return id, nil
}

// holder is who a stored session lets in now.
func (s *Service) holder(users *auth.Users, row *store.Session) (*Identity, bool) {
	now := s.now()
	if now.Sub(row.SeenAt) >= IdleTime || now.Sub(row.CreatedAt) >= FullTime {
		return nil, false
	}
	switch row.Via {
	case ViaPassword:
		u, ok := users.Find(row.Name)
		if !ok || u.Role == "" || u.Password.IsZero() || passwordStamp(u) != row.Stamp {
			return nil, false
		}
		return &Identity{u.Name, u.Role, row.Via}, true
	case ViaOIDC:
		if s.oidc == nil || s.oidc.stamp != row.Stamp || row.Role == "" {
			return nil, false
		}
		return &Identity{row.Name, row.Role, row.Via}, true
	}
	return nil, false
}

// SignOut ends a session. It says whose it was; nil if there was none.
func (s *Service) SignOut(ctx context.Context, token string) (*Identity, error) {
	hash, ok := hashOf(token)
	if !ok {
		return nil, nil
	}
	row, err := s.opt.Sessions.FindSession(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	id, _ := s.holder(s.opt.Users(), row)
	if err := s.opt.Sessions.EndSession(ctx, hash); err != nil {
		return nil, err
	}
	s.tell(hash)
	return id, nil
}

// end removes a session that is good for nothing.
func (s *Service) end(ctx context.Context, hash [sha256.Size]byte) {
	if err := s.opt.Sessions.EndSession(ctx, hash); err != nil {
		s.log.WarnContext(ctx, "a session that has ended could not be removed; it is of no use anyway", "error", err)
	}
	s.tell(hash)
}

// Sweep ends the sessions that a change of the configuration made useless.
func (s *Service) Sweep(ctx context.Context) {
	users := s.opt.Users()
	if users == nil {
		return
	}
	for _, via := range []string{ViaPassword, ViaOIDC} {
		rows, err := s.opt.Sessions.SessionsVia(ctx, via)
		if err != nil {
			s.log.WarnContext(ctx, "sessions that may have ended could not be looked at; they are when they are used", "error", err)
			return
		}
		for i := range rows {
			if _, ok := s.holder(users, &rows[i]); !ok {
				s.end(ctx, rows[i].Hash)
			}
		}
	}
}

// Watch gives a channel that is closed when a session is ended. The function
// forgets it.
func (s *Service) Watch(token string) (ended <-chan struct{}, forget func()) {
	hash, _ := hashOf(token)
	ch := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watched[hash] == nil {
		s.watched[hash] = map[chan struct{}]bool{}
	}
	s.watched[hash][ch] = true
	return ch, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watched[hash], ch)
		if len(s.watched[hash]) == 0 {
			delete(s.watched, hash)
		}
	}
}

// tell closes the channels of a session.
func (s *Service) tell(hash [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ch := range s.watched[hash] {
		close(ch)
	}
	delete(s.watched, hash)
}
