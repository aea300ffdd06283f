package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/auth/issuer"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/store"
)

// OIDC is an issuer of sign-ins.
type OIDC struct {
	Issuer, ClientID string
	// ClientSecret is empty for a public client; PKCE is used in any case.
	ClientSecret secret.String
	// RoleClaim is the claim, or the path to it, whose values give the role.
	RoleClaim                 string
	AdminValues, ViewerValues []string
}

const (
	// FlowTime is how long somebody may take at the issuer.
	FlowTime = 10 * time.Minute
	// issuerTimeout bounds one request to the issuer.
	issuerTimeout = 10 * time.Second
	// issuerPause is between two tries to reach one that is away.
	issuerPause = 3 * time.Second
	// maxExchanges bounds sign-ins that are being finished.
	maxExchanges = 16
	// flowPlace is what the state of a sign-in is sealed for.
	flowPlace = "console/oidc"
	// maxName bounds a name, in characters.
	maxName = 120
)

// Reasons why a sign-in at the issuer comes to nothing. Compare with errors.Is.
var (
	// ErrFlow says that the answer of the issuer belongs to no sign-in that this
	// browser began, or comes too late.
	ErrFlow = errors.New("this sign-in was not begun here, or it took too long")
	// ErrIssuer says that the issuer refused, or sent what can't be trusted.
	ErrIssuer = errors.New("the OpenID issuer did not sign the user in")
	// ErrIssuerAway says that the issuer can't be reached.
	ErrIssuerAway = errors.New("the OpenID issuer can't be reached")
)

// relyingParty is this gateway as a client of an issuer.
type relyingParty struct {
	OIDC

	name  string // of the issuer, for people
	stamp string
	box   *secret.Box
	now   func() time.Time
	http  *http.Client
	slots chan struct{}

	mu       sync.Mutex
	provider *oidc.Provider // nil until the issuer was reached
	scopes   []string
	failed   time.Time
	why      error
}

func newRelyingParty(o *OIDC, box *secret.Box, now func() time.Time) *relyingParty {
	rp := &relyingParty{OIDC: *o, name: o.Issuer, box: box, now: now, http: issuer.Client(o.Issuer, issuerTimeout), slots: make(chan struct{}, maxExchanges)}
	if u, err := url.Parse(o.Issuer); err == nil && u.Host != "" {
		rp.name = u.Hostname()
	}
	// Other rules, other sessions: what let somebody in may not do so any more.
	rp.stamp = stamp(slices.Concat([]string{o.Issuer, o.ClientID, o.RoleClaim, "admin"}, o.AdminValues, []string{"viewer"}, o.ViewerValues)...)
	return rp
}

// flow is the state of a sign-in. The browser keeps it, sealed.
type flow struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	Redirect string    `json:"r"`
	ReturnTo string    `json:"t"`
	Until    time.Time `json:"u"`
}

// StartOIDC begins a sign-in: location is the page of the issuer to go to, and
// sealed what the browser has to bring back. redirect is where the issuer sends
// the browser, and returnTo where FinishOIDC does.
func (s *Service) StartOIDC(ctx context.Context, redirect, returnTo string) (location, sealed string, err error) {
	if s.oidc == nil {
		return "", "", ErrNoOIDC
	}
	config, _, err := s.oidc.client(ctx, redirect)
	if err != nil {
		return "", "", err
	}
	f := flow{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		Redirect: redirect, ReturnTo: returnTo, Until: s.now().Add(FlowTime),
	}
	b, err := json.Marshal(f)
	if err != nil {
		return "", "", err
	}
	location = config.AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier))
	return location, s.oidc.box.Seal(secret.New(string(b)), flowPlace), nil
}

// Callback is what comes back from the issuer.
type Callback struct {
	// Sealed is what StartOIDC gave to the browser.
	Sealed      string
	State, Code string
	// Issuer is the parameter iss, where the issuer sends it.
	Issuer string
	// Error is the issuer's reason for not signing in.
	Error string
}

// FinishOIDC checks what came back from the issuer and begins a session.
func (s *Service) FinishOIDC(ctx context.Context, c Callback) (started *Started, returnTo string, err error) {
	if s.oidc == nil {
		return nil, "", ErrNoOIDC
	}
	f, err := s.oidc.open(c)
	if err != nil {
		return nil, "", err
	}
	if c.Error != "" {
		return nil, "", fmt.Errorf("%w: it says %q", ErrIssuer, shortened(c.Error))
	}
	if c.Issuer != "" && c.Issuer != s.oidc.Issuer {
		return nil, "", fmt.Errorf("%w: the answer is of another issuer", ErrIssuer)
	}
	select {
	case s.oidc.slots <- struct{}{}:
		defer func() { <-s.oidc.slots }()
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	claims, err := s.oidc.exchange(ctx, f, c.Code)
	if err != nil {
		return nil, "", err
	}
	name, err := nameOf(claims)
	if err != nil {
		return nil, "", err
	}
	role, err := s.oidc.role(claims)
	if err != nil {
		return nil, "", err
	}
	if role == "" {
		s.log.WarnContext(ctx, "the OpenID issuer knows somebody who has no role here", "user", name, "roleClaim", s.oidc.RoleClaim)
		return nil, "", ErrNoRole
	}
	started, err = s.begin(ctx, store.Session{Name: name, Via: ViaOIDC, Role: role, Stamp: s.oidc.stamp}, role)
	return started, f.ReturnTo, err
}

// open reads the state that the browser brought back.
func (rp *relyingParty) open(c Callback) (*flow, error) {
	text, err := rp.box.Open(c.Sealed, flowPlace)
	if err != nil {
		return nil, ErrFlow
	}
	var f flow
	if err := json.Unmarshal([]byte(text.Reveal()), &f); err != nil {
		return nil, ErrFlow
	}
	if !rp.now().Before(f.Until) || subtle.ConstantTimeCompare([]byte(f.State), []byte(c.State)) != 1 {
		return nil, ErrFlow
	}
	return &f, nil
}

// client finds out where the issuer's pages are, once.
func (rp *relyingParty) client(ctx context.Context, redirect string) (*oauth2.Config, *oidc.Provider, error) {
	rp.mu.Lock()
	defer rp.mu.Unlock()
	if rp.provider == nil {
		if rp.why != nil && rp.now().Sub(rp.failed) < issuerPause {
			return nil, nil, rp.why
		}
		// Another request must not fail because this one's client left.
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), issuerTimeout)
		defer cancel()
		p, err := oidc.NewProvider(oidc.ClientContext(short, rp.http), rp.Issuer)
		if err != nil {
			rp.failed, rp.why = rp.now(), fmt.Errorf("%w: %w", ErrIssuerAway, err)
			return nil, nil, rp.why
		}
		rp.provider, rp.why = p, nil
		rp.scopes = scopesOf(p, rp.RoleClaim)
	}
	return &oauth2.Config{
		ClientID: rp.ClientID, ClientSecret: rp.ClientSecret.Reveal(), Endpoint: rp.provider.Endpoint(), RedirectURL: redirect, Scopes: rp.scopes,
	}, rp.provider, nil
}

// scopesOf asks for the scope of the role claim where the issuer has one.
func scopesOf(p *oidc.Provider, claim string) []string {
	scopes := []string{oidc.ScopeOpenID, "profile", "email"}
	var has struct {
		Scopes []string `json:"scopes_supported"`
	}
	if p.Claims(&has) != nil {
		return scopes
	}
	for _, name := range []string{"groups", "roles", claim} {
		if slices.Contains(has.Scopes, name) && !slices.Contains(scopes, name) {
			scopes = append(scopes, name)
		}
	}
	return scopes
}

// exchange gets the ID token for a code, and gives its claims.
func (rp *relyingParty) exchange(ctx context.Context, f *flow, code string) (issuer.Object, error) {
	config, provider, err := rp.client(ctx, f.Redirect)
	if err != nil {
		return nil, err
	}
	ctx = oidc.ClientContext(ctx, rp.http)
	token, err := config.Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return nil, exchangeFailed(err)
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, fmt.Errorf("%w: its answer has no ID token", ErrIssuer)
	}
	id, err := provider.VerifierContext(ctx, &oidc.Config{ClientID: rp.ClientID, Now: rp.now}).Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIssuer, err)
	}
	var claims issuer.Object
	if err := id.Claims(&claims); err != nil {
		return nil, fmt.Errorf("%w: its ID token can't be read", ErrIssuer)
	}
	if err := rp.checkClaims(claims, f.Nonce); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIssuer, err)
	}
	if values, err := claims.Texts(rp.RoleClaim); err == nil && len(values) == 0 {
		return rp.withUserInfo(ctx, provider, token, claims)
	}
	return claims, nil
}

// exchangeFailed says why there is no token, without what the issuer repeats.
func exchangeFailed(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if refused.Response != nil && refused.Response.StatusCode >= 500 {
			return fmt.Errorf("%w: it answered %d", ErrIssuerAway, refused.Response.StatusCode)
		}
		return fmt.Errorf("%w: it refused the code with %q", ErrIssuer, shortened(refused.ErrorCode))
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%w: %w", ErrIssuerAway, err)
	}
	return fmt.Errorf("%w: its answer to the code can't be read", ErrIssuer)
}

// checkClaims checks once more what the library does, by exact names: it reads
// claims in any case of letters.
func (rp *relyingParty) checkClaims(claims issuer.Object, nonce string) error {
	have, err := claims.Text("nonce")
	if err != nil || subtle.ConstantTimeCompare([]byte(have), []byte(nonce)) != 1 {
		return errors.New("its ID token was made for another sign-in")
	}
	if iss, err := claims.Text("iss"); err != nil || iss != rp.Issuer {
		return errors.New("its ID token is of another issuer")
	}
	if !claims.IsFor(rp.ClientID) {
		return errors.New("its ID token is for another client")
	}
	if azp, err := claims.Text("azp"); err != nil || azp != "" && azp != rp.ClientID {
		return errors.New("its ID token was made for another client")
	}
	if sub, err := claims.Text("sub"); err != nil || sub == "" {
		return errors.New("its ID token does not say who the user is")
	}
	return nil
}

// withUserInfo adds what the issuer says of a user elsewhere, for an ID token
// without the role claim.
func (rp *relyingParty) withUserInfo(ctx context.Context, p *oidc.Provider, token *oauth2.Token, claims issuer.Object) (issuer.Object, error) {
	if p.UserInfoEndpoint() == "" {
		return claims, nil
	}
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, fmt.Errorf("%w: it does not say more of the user: %w", ErrIssuerAway, err)
	}
	var more issuer.Object
	if err := info.Claims(&more); err != nil {
		return nil, fmt.Errorf("%w: what it says of the user can't be read", ErrIssuer)
	}
	mine, _ := claims.Text("sub")
	if sub, err := more.Text("sub"); err != nil || sub != mine {
		return nil, fmt.Errorf("%w: what it says is of another user", ErrIssuer)
	}
	maps.Copy(more, claims) // what is signed counts
	return more, nil
}

// role is what the claims give; empty for nothing.
func (rp *relyingParty) role(claims issuer.Object) (string, error) {
	values, err := claims.Texts(rp.RoleClaim)
	if err != nil {
		return "", fmt.Errorf("%w: its token %w", ErrIssuer, err)
	}
	has := func(wanted []string) bool {
		return slices.ContainsFunc(values, func(v string) bool { return slices.Contains(wanted, v) })
	}
	switch {
	case has(rp.AdminValues):
		return auth.RoleAdmin, nil
	case has(rp.ViewerValues):
		return "viewer", nil
	}
	return "", nil
}

// nameOf is what the audit calls a user: the e-mail address if the issuer vouches
// for it, or the login, or the subject.
func nameOf(claims issuer.Object) (string, error) {
	for _, claim := range []string{"email", "preferred_username", "sub"} {
		if claim == "email" && string(claims["email_verified"]) != "true" {
			continue
		}
		name, err := claims.Text(claim)
		name = strings.TrimSpace(name)
		if err == nil && name != "" && len([]rune(name)) <= maxName {
			return name, nil
		}
	}
	return "", fmt.Errorf("%w: its token has no name of the user that can be shown", ErrIssuer)
}

func shortened(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) > 100 {
		s = strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}
