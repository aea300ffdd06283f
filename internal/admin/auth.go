package admin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/interlock-gateway/interlock/internal/secret"
)

// Role is what a principal may do.
type Role string

// The roles. Every operation asks for one.
const (
	// RoleAdmin reads and writes everything.
	RoleAdmin Role = "gateway-admin"
	// RoleViewer reads everything but secrets.
	RoleViewer Role = "viewer"
)

// may tells whether a principal with this role may do what asks for need.
func (r Role) may(need Role) bool {
	switch r {
	case RoleAdmin:
		return true
	case RoleViewer:
		return need == RoleViewer
	}
	return false
}

// Principal is who calls.
type Principal struct {
	// Name is the actor in the audit, such as "token:1a2b".
	Name string
	Role Role
	// Via is how they are known; empty is by a token.
	Via string
}

// ErrUnauthenticated says that the request has no credential, or a wrong one. Any other
// error of Options.Auth is a fault of ours and never answered with 401.
var ErrUnauthenticated = errors.New("not authenticated")

// Token is an admin token.
type Token struct {
	Secret secret.String
	Role   Role
}

// Tokens authenticates requests by bearer admin tokens. The tokens can be
// replaced while requests are served.
type Tokens struct {
	list atomic.Pointer[[]hashedToken]
}

type hashedToken struct {
	hash [sha256.Size]byte
	who  Principal
}

// NewTokens makes a Tokens with some tokens.
func NewTokens(tokens ...Token) *Tokens {
	t := &Tokens{}
	t.Replace(tokens...)
	return t
}

// Replace makes these the tokens that count. A token without a value counts
// for nothing.
func (t *Tokens) Replace(tokens ...Token) {
	list := make([]hashedToken, 0, len(tokens))
	for _, k := range tokens {
		if k.Secret.IsZero() {
			continue
		}
		name := "token"
		if last := k.Secret.Last4(); last != "" {
			name += ":" + last
		}
		list = append(list, hashedToken{sha256.Sum256([]byte(k.Secret.Reveal())), Principal{Name: name, Role: k.Role}})
	}
	t.list.Store(&list)
}

// Authenticate tells who sends a request. It compares hashes in constant time
// with every token, so that the time says nothing about any of them.
func (t *Tokens) Authenticate(r *http.Request) (Principal, error) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return Principal{}, ErrUnauthenticated
	}
	scheme, value, found := strings.Cut(values[0], " ")
	value = strings.TrimSpace(value)
	if !found || !strings.EqualFold(scheme, "Bearer") || value == "" {
		return Principal{}, ErrUnauthenticated
	}
	sum := sha256.Sum256([]byte(value))
	who, known := Principal{}, 0
	for _, k := range *t.list.Load() {
		if subtle.ConstantTimeCompare(sum[:], k.hash[:]) == 1 {
			who, known = k.who, 1
		}
	}
	if known == 0 {
		return Principal{}, ErrUnauthenticated
	}
	return who, nil
}

type principalKey struct{}

func withPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// principal is who calls; the guard has put it into the context.
func principal(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}
