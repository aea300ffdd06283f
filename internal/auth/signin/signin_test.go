package signin_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/auth/password"
	"github.com/interlock-gateway/interlock/internal/auth/signin"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

const right = "correct horse battery"

var (
	here  = netip.MustParseAddr("192.0.2.1")
	there = netip.MustParseAddr("2001:db8::1")
)

// env is a service with a clock that tests turn.
type env struct {
	*signin.Service
	t      *testing.T
	mu     sync.Mutex
	now    time.Time
	users  *auth.Users
	store  *flaky
	hasher *password.Hasher
}

// flaky is a store that can be away.
type flaky struct {
	store.Sessions
	away bool
}

func (f *flaky) FindSession(ctx context.Context, hash [32]byte) (*store.Session, error) {
	if f.away {
		return nil, fmt.Errorf("away: %w", store.ErrUnavailable)
	}
	return f.Sessions.FindSession(ctx, hash)
}

func newEnv(t *testing.T, users ...*auth.User) *env {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	box, err := secret.NewBox(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	e := &env{t: t, now: time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC), store: &flaky{Sessions: s}, hasher: password.New(2, 32)}
	e.set(users...)
	e.Service = signin.New(signin.Options{
		Users: func() *auth.Users { return e.users }, Sessions: e.store, Hasher: e.hasher, Box: box,
		Now: func() time.Time { e.mu.Lock(); defer e.mu.Unlock(); return e.now },
		MakeAdmin: func(ctx context.Context, name string, value secret.String) error {
			hash, err := e.hasher.Hash(ctx, value)
			e.set(&auth.User{Name: name, Role: "gateway-admin", Password: secret.New(hash)})
			return err
		},
	})
	return e
}

func (e *env) set(users ...*auth.User) { e.users = auth.NewUsers(users...) }

func (e *env) user(name, role string) *auth.User {
	e.t.Helper()
	hash, err := password.New(1, 1).Hash(e.t.Context(), secret.New(right))
	if err != nil {
		e.t.Fatal(err)
	}
	return &auth.User{Name: name, Role: role, Password: secret.New(hash)}
}

func (e *env) pass(d time.Duration) { e.mu.Lock(); defer e.mu.Unlock(); e.now = e.now.Add(d) }

func (e *env) try(name, value string) (*signin.Started, error) {
	return e.SignIn(e.t.Context(), here, name, secret.New(value))
}

func (e *env) begin(name string) string {
	e.t.Helper()
	s, err := e.try(name, right)
	if err != nil {
		e.t.Fatal(err)
	}
	return s.Token.Reveal()
}

func (e *env) alive(token string) bool {
	e.t.Helper()
	_, err := e.Session(e.t.Context(), token)
	if err != nil && !errors.Is(err, signin.ErrNoSession) {
		e.t.Fatal(err)
	}
	return err == nil
}

// OP-10: a session ends after 12 hours without use, and after 7 days in use.
func TestOP_10_session_times(t *testing.T) {
	e := newEnv(t)
	e.set(e.user("anna", "viewer"))
	idle, used := e.begin("anna"), e.begin("anna")
	for range 13 {
		e.pass(12*time.Hour - 2*time.Minute)
		if !e.alive(used) {
			t.Fatal("a session in use ended")
		}
	}
	if e.alive(idle) {
		t.Error("a session without use lives")
	}
	e.pass(11 * time.Hour)
	if !e.alive(used) {
		t.Error("it ended before 7 days")
	}
	e.pass(2 * time.Hour)
	if e.alive(used) {
		t.Error("a session lives longer than 7 days")
	}
	third := e.begin("anna")
	e.pass(12 * time.Hour)
	if e.alive(third) {
		t.Error("12 hours without use")
	}
}

// OP-10: only the hash of a token is stored.
func TestOP_10_tokens_are_hashed(t *testing.T) {
	e := newEnv(t)
	e.set(e.user("anna", "viewer"))
	token := e.begin("anna")
	row, err := e.store.FindSession(t.Context(), sha256.Sum256([]byte(token)))
	if err != nil || row.Name != "anna" || row.Role != "" || len(token) != 43 {
		t.Errorf("%+v %v", row, err)
	}
	for _, wrong := range []string{"", token + "A", token[:42], token[:42] + "=", "x" + token[1:]} {
		if wrong != token && e.alive(wrong) {
			t.Errorf("%q lets in", wrong)
		}
	}
}

// OP-10: an unknown user takes a run of argon2 as well.
func TestOP_10_unknown_users_take_as_long(t *testing.T) {
	e := newEnv(t)
	e.set(e.user("anna", "viewer"), &auth.User{Name: "nopassword", Role: "viewer"})
	for _, name := range []string{"anna", "nobody", "nopassword", ""} {
		before, _ := e.hasher.Runs()
		if _, err := e.try(name, "a wrong guess"); !errors.Is(err, signin.ErrWrong) {
			t.Errorf("%q: %v", name, err)
		}
		if after, _ := e.hasher.Runs(); after != before+1 {
			t.Errorf("%q: %d runs", name, after-before)
		}
	}
}

// OP-10: the limit ends with its window, and costs no argon2 while it holds.
func TestOP_10_limits_of_guessing(t *testing.T) {
	e := newEnv(t)
	e.set(e.user("anna", "viewer"), e.user("bo", "viewer"))
	for range 30 {
		e.begin("anna") // who is right is not counted
	}
	for range 10 {
		if _, err := e.try("anna", "wrong"); !errors.Is(err, signin.ErrWrong) {
			t.Fatal(err)
		}
	}
	before, _ := e.hasher.Runs()
	e.pass(4 * time.Minute)
	_, err := e.try("ANNA", right)
	limit, ok := errors.AsType[*signin.LimitError](err)
	if !ok || limit.Wait != 6*time.Minute {
		t.Fatalf("%v", err)
	}
	if _, err := e.SignIn(t.Context(), there, "anna", secret.New(right)); err == nil {
		t.Error("another address gets past the limit of the name")
	}
	if after, _ := e.hasher.Runs(); after != before {
		t.Error("it was checked all the same")
	}
	e.begin("bo")
	e.pass(6 * time.Minute)
	e.begin("anna")
	for i := range 60 {
		if _, err := e.try(fmt.Sprint("nobody", i), "wrong"); !errors.Is(err, signin.ErrWrong) {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if _, err := e.try("bo", right); err == nil {
		t.Error("an address may guess for ever")
	}
	if _, err := e.SignIn(t.Context(), there, "bo", secret.New(right)); err != nil {
		t.Errorf("another address: %v", err)
	}
}

// OP-10: addresses of one host in IPv6 are one.
func TestOP_10_limits_by_network(t *testing.T) {
	e := newEnv(t)
	e.set(e.user("bo", "viewer"))
	for i := range 60 {
		addr := netip.AddrFrom16([16]byte{0x20, 0x01, 0xd, 0xb8, 0, 0, 0, 7, byte(i), 1, 2, 3})
		if _, err := e.SignIn(t.Context(), addr, fmt.Sprint("nobody", i), secret.New("wrong")); !errors.Is(err, signin.ErrWrong) {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if _, err := e.SignIn(t.Context(), netip.MustParseAddr("2001:db8:0:7::99"), "bo", secret.New(right)); err == nil {
		t.Error("a host has as many tries as addresses")
	}
}

// OP-10: a fault of ours is neither a yes nor a wrong password.
func TestOP_10_faults_fail_closed(t *testing.T) {
	e := newEnv(t)
	e.set(e.user("anna", "gateway-admin"), &auth.User{Name: "damaged", Role: "viewer", Password: secret.New("$argon2id$x")})
	token := e.begin("anna")
	if _, err := e.try("damaged", right); !errors.Is(err, password.ErrForm) {
		t.Error(err)
	}
	e.store.away = true
	if _, err := e.Session(t.Context(), token); !errors.Is(err, store.ErrUnavailable) {
		t.Error(err)
	}
	e.store.away = false
	if !e.alive(token) {
		t.Error("an outage ended the session")
	}
	e.users = nil // no configuration
	if _, err := e.Session(t.Context(), token); !errors.Is(err, store.ErrUnavailable) {
		t.Error(err)
	}
	if _, err := e.try("anna", right); !errors.Is(err, store.ErrUnavailable) {
		t.Error(err)
	}
	if e.SetupRequired() || e.HasPasswords() {
		t.Error("without a configuration nothing is known")
	}
	if _, ok := e.NewSetupToken(); ok {
		t.Error("a set-up link is made without a configuration")
	}
}

// OP-10: a change ends the sessions that nobody uses as well, and tells who
// listens.
func TestOP_10_sweep(t *testing.T) {
	e := newEnv(t)
	anna, bo := e.user("anna", "viewer"), e.user("bo", "viewer")
	e.set(anna, bo)
	a, b := e.begin("anna"), e.begin("bo")
	ended, forget := e.Watch(a)
	defer forget()
	other, forgetOther := e.Watch(b)
	e.set(bo)
	e.Sweep(t.Context())
	select {
	case <-ended:
	default:
		t.Error("who listens is not told")
	}
	e.set(anna, bo)
	if e.alive(a) || !e.alive(b) {
		t.Error("the wrong session was ended")
	}
	select {
	case <-other:
		t.Error("another one is told")
	default:
	}
	forgetOther()
	if _, err := e.SignOut(t.Context(), b); err != nil || e.alive(b) {
		t.Error(err)
	}
}

// OP-10: a set-up link is good for an hour.
func TestOP_10_setup_link_expires(t *testing.T) {
	e := newEnv(t)
	token, ok := e.NewSetupToken()
	if !ok {
		t.Fatal("no token")
	}
	e.pass(time.Hour)
	if _, err := e.SetUp(t.Context(), here, token.Reveal(), "anna", secret.New(right)); !errors.Is(err, signin.ErrWrongToken) {
		t.Error(err)
	}
	token, _ = e.NewSetupToken()
	e.pass(59 * time.Minute)
	s, err := e.SetUp(t.Context(), here, token.Reveal(), "anna", secret.New(right))
	if err != nil || s.Role != "gateway-admin" || !e.alive(s.Token.Reveal()) {
		t.Error(err)
	}
}
