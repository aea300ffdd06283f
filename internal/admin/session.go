package admin

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/netip"
	"strings"

	"github.com/interlock-gateway/interlock/internal/auth/signin"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/store"
)

// The cookies of the console, and the header that no form of another site can
// send.
const (
	sessionCookie = "interlock_session"
	flowCookie    = "interlock_oidc"
	csrfHeader    = "X-Interlock-Csrf"
)

// errForged says that a page of another site may have sent the request.
var errForged = errors.New("the request may be forged")

type (
	requestKey struct{}
	sessionKey struct{}
)

// request is the one that is being answered.
func request(ctx context.Context) *http.Request {
	r, _ := ctx.Value(requestKey{}).(*http.Request)
	return r
}

// session is the token of the session that a request came with; empty for one
// with an admin token.
func session(ctx context.Context) string {
	t, _ := ctx.Value(sessionKey{}).(secret.String)
	return t.Reveal()
}

// secure tells whether browsers reach the console over https.
func (s *server) secure(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(strings.ToLower(s.opt.PublicURL), "https://")
}

// cookieName is the name of a cookie. Over https its prefix keeps neighbouring
// hosts from setting it.
func (s *server) cookieName(r *http.Request, name string) string {
	if s.secure(r) {
		return "__Host-" + name
	}
	return name
}

// cookie writes a Set-Cookie header. A negative age removes the cookie.
func (s *server) cookie(r *http.Request, name, value string, age int) string {
	//nolint:gosec // Secure is for https only: browsers drop such a cookie over http, which is what loopback has
	c := &http.Cookie{Name: s.cookieName(r, name), Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.secure(r)}
	return c.String()
}

// sessionToken is the token in the cookie. Two cookies of the name are none:
// one of them is not ours.
func (s *server) sessionToken(r *http.Request) (string, bool) {
	list := r.CookiesNamed(s.cookieName(r, sessionCookie))
	if len(list) != 1 || list[0].Value == "" {
		return "", false
	}
	return list[0].Value, true
}

// who tells who sends a request. A request with Authorization is judged by that
// alone. token is set for a session.
func (s *server) who(r *http.Request) (p Principal, token string, err error) {
	if _, has := r.Header["Authorization"]; has || s.opt.SignIn == nil {
		p, err = s.opt.Auth(r)
		if p.Via == "" {
			p.Via = ViaToken
		}
		return p, "", err
	}
	token, ok := s.sessionToken(r)
	if !ok {
		return Principal{}, "", ErrUnauthenticated
	}
	id, err := s.opt.SignIn.Session(r.Context(), token)
	if errors.Is(err, signin.ErrNoSession) {
		return Principal{}, "", ErrUnauthenticated
	}
	if err != nil {
		return Principal{}, "", err
	}
	if !unforgeable(r) {
		return Principal{}, "", errForged
	}
	return personOf(id), token, nil
}

// personOf is somebody who signed in as a principal.
func personOf(id *signin.Identity) Principal {
	return Principal{Name: "user:" + id.Name, Role: Role(id.Role), Via: id.Via}
}

// unforgeable tells whether no form of another site can send such a request,
// even in a browser that does not say where it comes from: a form can neither
// have this media type nor a header of its own.
func unforgeable(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && media == "application/json" || r.Header.Get(csrfHeader) == "1"
}

func forged() *Problem {
	return fault(http.StatusForbidden, "cross_site", "a page of another site could have sent this request; send Content-Type: application/json or %s: 1", csrfHeader)
}

// address is where a request comes from.
func address(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.IPv6Unspecified()
	}
	return ap.Addr()
}

// recordPerson writes the audit record of what somebody did besides changing
// the configuration.
func (s *server) recordPerson(ctx context.Context, id *signin.Identity, summary string) {
	if s.opt.Audit == nil {
		return
	}
	e := control.Entry{Actor: personOf(id).Name, RequestID: requestID(ctx), Summary: summary, Changes: []store.Change{}}
	if err := s.opt.Audit(e); err != nil {
		s.log.ErrorContext(ctx, "a sign-in could not be recorded in the audit", "actor", e.Actor, "did", summary, "error", err)
	}
}
