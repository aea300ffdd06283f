package admin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/auth/signin"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
)

// noConsole is the answer of a server without sign-in.
func noConsole() *Problem {
	return fault(http.StatusServiceUnavailable, "no_sign_in", "this server lets nobody sign in; use an admin token")
}

func (s *server) authState(ctx context.Context, _ *struct{}) (*authStateOut, error) {
	out := &authStateOut{authState{Version: s.opt.Version}}
	if in := s.opt.SignIn; in != nil {
		out.Body.SetupRequired, out.Body.PasswordSignIn = in.SetupRequired(), in.HasPasswords()
		out.Body.OIDC = oidcState{Enabled: in.OIDCName() != "", Name: in.OIDCName()}
	}
	who, _, err := s.who(request(ctx))
	switch {
	case errors.Is(err, ErrUnauthenticated):
		return out, nil
	case err != nil:
		return nil, err
	}
	out.Body.User = meOf(who)
	return out, nil
}

func meOf(p Principal) *authMe { return &authMe{Name: p.Name, Role: p.Role, Via: p.Via} }

func (s *server) authMe(ctx context.Context, _ *struct{}) (*authMeOut, error) {
	return &authMeOut{*meOf(principal(ctx))}, nil
}

func (s *server) signIn(ctx context.Context, in *rawIn) (*signedIn, error) {
	if s.opt.SignIn == nil {
		return nil, noConsole()
	}
	var name, typed string
	if err := readObject(in.RawBody, map[string]any{"name": &name, "password": &typed}); err != nil {
		return nil, err
	}
	for field, value := range map[string]string{"name": name, "password": typed} {
		if value == "" {
			return nil, invalid(field, "it is missing")
		}
	}
	started, err := s.opt.SignIn.SignIn(ctx, address(request(ctx)), strings.TrimSpace(name), secret.New(typed))
	if err != nil {
		return nil, s.signInProblem(ctx, err)
	}
	return s.started(ctx, started, "sign in to the console with a password"), nil
}

// started is the answer with a new session. The one before it is over: its
// token may be known to others.
func (s *server) started(ctx context.Context, started *signin.Started, summary string) *signedIn {
	r := request(ctx)
	s.endOld(ctx, r)
	s.recordPerson(ctx, &started.Identity, summary)
	return &signedIn{
		SetCookie: []string{s.cookie(r, sessionCookie, started.Token.Reveal(), int(signin.FullTime/time.Second))},
		Body:      *meOf(personOf(&started.Identity)),
	}
}

// endOld ends the sessions that a request came with.
func (s *server) endOld(ctx context.Context, r *http.Request) {
	for _, c := range r.CookiesNamed(s.cookieName(r, sessionCookie)) {
		if _, err := s.opt.SignIn.SignOut(ctx, c.Value); err != nil {
			s.log.WarnContext(ctx, "the session before could not be ended", "error", err)
		}
	}
}

func (s *server) signOut(ctx context.Context, in *rawIn) (*signedOut, error) {
	if err := readOptional(in.RawBody, map[string]any{}); err != nil {
		return nil, err
	}
	r := request(ctx)
	out := &signedOut{SetCookie: []string{s.cookie(r, sessionCookie, "", -1)}}
	if s.opt.SignIn == nil {
		return out, nil
	}
	for _, c := range r.CookiesNamed(s.cookieName(r, sessionCookie)) {
		id, err := s.opt.SignIn.SignOut(ctx, c.Value)
		if err != nil {
			return nil, err
		}
		if id != nil {
			s.recordPerson(ctx, id, "sign out of the console")
		}
	}
	return out, nil
}

func (s *server) setUp(ctx context.Context, in *rawIn) (*signedIn, error) {
	if s.opt.SignIn == nil {
		return nil, noConsole()
	}
	var token, name, typed string
	if err := readObject(in.RawBody, map[string]any{"token": &token, "name": &name, "password": &typed}); err != nil {
		return nil, err
	}
	if name = strings.TrimSpace(name); name == "" {
		return nil, invalid("name", "it is missing")
	}
	started, err := s.opt.SignIn.SetUp(ctx, address(request(ctx)), token, name, secret.New(typed))
	if err != nil {
		return nil, s.signInProblem(ctx, err)
	}
	return s.started(ctx, started, "set up the console as its first administrator"), nil
}

// signInProblem says why somebody is not let in.
func (s *server) signInProblem(ctx context.Context, err error) error {
	limit, limited := errors.AsType[*signin.LimitError](err)
	switch {
	case limited:
		return tooMany("too_many_attempts", limit.Wait, "%s", limit.Error())
	case errors.Is(err, signin.ErrWrong):
		return fault(http.StatusUnauthorized, "wrong_credentials", "the name or the password is wrong")
	case errors.Is(err, signin.ErrNoRole):
		return fault(http.StatusForbidden, "no_role", "the password is right, but the user has no role for the console; an administrator can give them the role viewer or gateway-admin")
	case errors.Is(err, signin.ErrSetUp):
		return fault(http.StatusConflict, "already_set_up", "there is an administrator already; sign in, or set a password with: interlock users set-password NAME --role gateway-admin")
	case errors.Is(err, signin.ErrWrongToken):
		return fault(http.StatusUnauthorized, "wrong_token", "this link was used, is older than an hour, or is of an earlier start of the server; restart the server for another one")
	}
	return s.problem(ctx, err, resource.Ref{Kind: "User"})
}

// tooMany is an answer that says when to come again.
func tooMany(code string, wait time.Duration, format string, args ...any) *Problem {
	p := fault(http.StatusTooManyRequests, code, format, args...)
	p.headers.Set("Retry-After", strconv.Itoa(max(int((wait+time.Second-1)/time.Second), 1)))
	return p
}

// busy is the answer while too many passwords are checked.
func busy() *Problem {
	p := fault(http.StatusServiceUnavailable, "busy", "too many passwords are checked at this moment; try again in a second")
	p.headers.Set("Retry-After", "1")
	return p
}

// Pages of the console.
const (
	consoleHome = "/console/"
	signInPage  = "/console/sign-in"
)

// maxReturn bounds the page to go back to: it is kept in a cookie.
const maxReturn = 512

// localPage is where to go after a sign-in: a page of the console, whatever
// somebody put into a link.
func localPage(to string) string {
	if to == "" || len(to) > maxReturn || strings.ContainsAny(to, "\\\x00\r\n\t") || strings.HasPrefix(to, "//") {
		return consoleHome
	}
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || u.Opaque != "" {
		return consoleHome
	}
	if clean := path.Clean(u.Path); clean != "/console" && !strings.HasPrefix(clean, "/console/") || strings.Contains(u.EscapedPath(), "//") {
		return consoleHome
	}
	return u.String()
}

// callback is the redirect URI of this server.
func (s *server) callback(r *http.Request) string {
	base := strings.TrimSuffix(s.opt.PublicURL, "/")
	if base == "" {
		base = "http://" + r.Host
		if r.TLS != nil {
			base = "https://" + r.Host
		}
	}
	return base + Prefix + "/auth/oidc/callback"
}

func (s *server) startOIDC(ctx context.Context, in *oidcStartIn) (*elsewhere, error) {
	r := request(ctx)
	if s.opt.SignIn == nil {
		return s.notSignedIn(ctx, signin.ErrNoOIDC), nil
	}
	location, flow, err := s.opt.SignIn.StartOIDC(ctx, s.callback(r), localPage(in.ReturnTo))
	if err != nil {
		return s.notSignedIn(ctx, err), nil
	}
	return &elsewhere{
		Status: http.StatusFound, Location: location,
		SetCookie: []string{s.cookie(r, flowCookie, flow, int(signin.FlowTime/time.Second))},
	}, nil
}

func (s *server) finishOIDC(ctx context.Context, in *oidcCallbackIn) (*elsewhere, error) {
	r := request(ctx)
	if s.opt.SignIn == nil {
		return s.notSignedIn(ctx, signin.ErrNoOIDC), nil
	}
	c := signin.Callback{State: in.State, Code: in.Code, Issuer: in.Issuer, Error: in.Error}
	if list := r.CookiesNamed(s.cookieName(r, flowCookie)); len(list) == 1 {
		c.Sealed = list[0].Value
	}
	started, to, err := s.opt.SignIn.FinishOIDC(ctx, c)
	if err != nil {
		return s.notSignedIn(ctx, err), nil
	}
	session := s.started(ctx, started, "sign in to the console through the OpenID issuer")
	return &elsewhere{Status: http.StatusFound, Location: localPage(to), SetCookie: append(session.SetCookie, s.cookie(r, flowCookie, "", -1))}, nil
}

// notSignedIn leads a browser to the page that explains why.
func (s *server) notSignedIn(ctx context.Context, err error) *elsewhere {
	code := "failed"
	switch {
	case errors.Is(err, signin.ErrNoRole):
		code = "no_role"
	case errors.Is(err, signin.ErrFlow):
		code = "oidc_expired"
	case errors.Is(err, signin.ErrIssuer):
		code = "oidc_failed"
	case errors.Is(err, signin.ErrIssuerAway):
		code = "oidc_unavailable"
	case errors.Is(err, signin.ErrNoOIDC):
		code = "oidc_off"
	}
	if code != "no_role" && code != "oidc_off" {
		s.log.WarnContext(ctx, "a sign-in through the OpenID issuer came to nothing", "code", code, "requestId", requestID(ctx), "error", err)
	}
	return &elsewhere{Status: http.StatusFound, Location: signInPage + "?error=" + code, SetCookie: []string{s.cookie(request(ctx), flowCookie, "", -1)}}
}
