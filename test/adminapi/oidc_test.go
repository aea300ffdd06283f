package adminapi

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/testutil/issuertest"
)

var (
	regexpState = regexp.MustCompile(`state=[^&]*`)
	regexpCode  = regexp.MustCompile(`code=[^&]*`)
)

const oidcValues = `roleClaim: "realm.groups", adminValues: [platform, root], viewerValues: [staff]`

// startOIDC runs a server whose people sign in at an issuer.
func startOIDC(t *testing.T, l *issuertest.Login, values string) *rig {
	t.Helper()
	return &rig{gwtest.StartWith(t, gwtest.Config{
		Admin: true, Documents: withAdmin(), Env: map[string]string{"OIDC_SECRET": l.ClientSecret},
		Auth: fmt.Sprintf("oidc: {issuer: %q, clientId: %q, clientSecret: env:OIDC_SECRET, %s}", l.URL, l.ClientID, values),
	}), t}
}

// groups are the claims of somebody in some groups.
func groups(names ...any) map[string]any {
	return map[string]any{"email": "anna@example.com", "email_verified": true, "realm": map[string]any{"groups": names}}
}

// follow goes to the issuer and gives where that sends the browser.
func follow(t *testing.T, l *issuertest.Login, location string) string {
	t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(location)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	client.CloseIdleConnections()
	if resp.StatusCode != 302 {
		t.Fatalf("the issuer answers %d", resp.StatusCode)
	}
	return resp.Header.Get("Location")
}

// through signs in at the issuer, and gives the last answer.
func (b *browser) through(l *issuertest.Login, returnTo string) gwtest.Answer {
	b.t.Helper()
	begin := b.api("GET", "/auth/oidc/start?returnTo="+url.QueryEscape(returnTo), "")
	if begin.Status != 302 || !strings.HasPrefix(begin.Header.Get("Location"), l.URL) {
		b.t.Fatalf("%d %v", begin.Status, begin.Header)
	}
	back := follow(b.t, l, begin.Header.Get("Location"))
	return b.send("GET", strings.TrimPrefix(back, b.URL), "")
}

// OP-10: code and PKCE, state and nonce, roles by a claim.
func TestOP_10_oidc(t *testing.T) {
	l := issuertest.NewLogin(t)
	r := startOIDC(t, l, oidcValues)
	b := r.browser()
	if s := b.state(); !s.OIDC.Enabled || s.OIDC.Name != "127.0.0.1" || s.SetupRequired {
		t.Errorf("%+v", s)
	}
	for _, c := range []struct {
		user, info map[string]any
		name, role string
	}{
		{groups("other", "platform"), nil, "user:anna@example.com", "gateway-admin"},
		{groups("staff"), nil, "user:anna@example.com", "viewer"},
		{groups("staff", "root"), nil, "user:anna@example.com", "gateway-admin"},
		{map[string]any{"preferred_username": "bo", "email": "bo@example.com", "email_verified": false, "realm.groups": "staff"}, nil, "user:bo", "viewer"},
		{map[string]any{}, groups("staff"), "user:anna@example.com", "viewer"},
		{map[string]any{"email": "x@example.com"}, map[string]any{"realm": map[string]any{"groups": []string{"root"}}}, "user:someone", "gateway-admin"},
	} {
		l.User(c.user, c.info)
		b := r.browser()
		done := b.through(l, "/console/routes?tab=2#x")
		if done.Status != 302 || done.Header.Get("Location") != "/console/routes?tab=2#x" || b.cookies["interlock_session"] == "" || b.cookies["interlock_oidc"] != "" {
			t.Fatalf("%+v: %d %v", c, done.Status, done.Header)
		}
		if s := b.state(); s.User == nil || s.User.Name != c.name || s.User.Role != c.role || s.User.Via != "oidc" {
			t.Errorf("%+v: %+v", c, s.User)
		}
	}
	asked := l.Asked()
	if asked.Get("code_challenge_method") != "S256" || asked.Get("nonce") == "" || asked.Get("state") == "" || asked.Get("scope") != "openid profile email groups" ||
		asked.Get("redirect_uri") != r.URL+"/api/v1/auth/oidc/callback" {
		t.Errorf("%v", asked)
	}
	var events struct {
		Items []struct {
			Admin struct{ Actor, Summary string }
		}
	}
	r.call("GET", "/audit-events?kind=admin&limit=1", "", 200, &events)
	if fmt.Sprint(events.Items) != "[{{user:someone sign in to the console through the OpenID issuer}}]" {
		t.Error(events.Items)
	}
}

// OP-10: who has no role is told so; what is wrong with a token lets nobody in.
func TestOP_10_oidc_refusals(t *testing.T) {
	l := issuertest.NewLogin(t)
	r := startOIDC(t, l, oidcValues)
	for name, c := range map[string]struct {
		user  map[string]any
		spoil func(map[string]any)
		code  string
	}{
		"no groups":           {map[string]any{}, nil, "no_role"},
		"other groups":        {groups("Staff", "platform2"), nil, "no_role"},
		"another nonce":       {groups("root"), func(c map[string]any) { c["nonce"] = "x" }, "oidc_failed"},
		"no nonce":            {groups("root"), func(c map[string]any) { delete(c, "nonce") }, "oidc_failed"},
		"a nonce in capitals": {groups("root"), func(c map[string]any) { c["NONCE"] = c["nonce"]; delete(c, "nonce") }, "oidc_failed"},
		"another audience":    {groups("root"), func(c map[string]any) { c["aud"] = "another"; c["AUD"] = "interlock" }, "oidc_failed"},
		"another party":       {groups("root"), func(c map[string]any) { c["aud"] = []string{"interlock", "x"}; c["azp"] = "x" }, "oidc_failed"},
		"another issuer":      {groups("root"), func(c map[string]any) { c["iss"] = "https://evil.example" }, "oidc_failed"},
		"an expired token":    {groups("root"), func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() }, "oidc_failed"},
		"nobody":              {groups("root"), func(c map[string]any) { delete(c, "sub") }, "oidc_failed"},
		"groups of no form":   {map[string]any{"realm.groups": []any{map[string]any{}}}, nil, "oidc_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			l.User(c.user, nil)
			l.Spoil(c.spoil)
			b := r.browser()
			b.t = t
			done := b.through(l, "/console/")
			if done.Status != 302 || done.Header.Get("Location") != "/console/sign-in?error="+c.code || len(b.cookies) != 0 {
				t.Errorf("%d %v, cookies %d", done.Status, done.Header, len(b.cookies))
			}
		})
	}
	if log := r.Log.String(); strings.Contains(log, "must not be shown") || strings.Contains(log, l.ClientSecret) || strings.Contains(log, "access-token-of-the-tests") {
		t.Error("the log has a secret")
	}
}

// OP-10: an answer counts once, in the browser that asked, with its own state.
func TestOP_10_oidc_answers_belong_to_a_browser(t *testing.T) {
	l := issuertest.NewLogin(t)
	l.User(groups("root"), nil)
	r := startOIDC(t, l, oidcValues)
	begin := func() (*browser, string) {
		b := r.browser()
		location := b.api("GET", "/auth/oidc/start", "").Header.Get("Location")
		return b, strings.TrimPrefix(follow(t, l, location), r.URL)
	}
	refused := func(what string, b *browser, path, code string) {
		t.Helper()
		got := b.send("GET", path, "")
		if got.Status != 302 || got.Header.Get("Location") != "/console/sign-in?error="+code || b.cookies["interlock_session"] != "" {
			t.Errorf("%s: %d %v", what, got.Status, got.Header)
		}
	}
	_, path := begin()
	refused("a browser that asked for nothing", r.browser(), path, "oidc_expired")
	other, _ := begin()
	refused("another browser", other, path, "oidc_expired")
	b, path := begin()
	forged := *b
	forged.cookies = map[string]string{"interlock_oidc": strings.Replace(b.cookies["interlock_oidc"], "sealed:v1:", "sealed:v1:0", 1)}
	refused("a forged state", &forged, path, "oidc_expired")
	b, path = begin()
	refused("a state that is left out", b, regexpState.ReplaceAllString(path, ""), "oidc_expired")
	b, path = begin()
	refused("an answer of another issuer", b, strings.Replace(path, "iss=", "iss=x", 1), "oidc_failed")
	b, path = begin()
	refused("an error", b, regexpCode.ReplaceAllString(path, "error=access_denied"), "oidc_failed")
	b, path = begin()
	refused("another code", b, regexpCode.ReplaceAllString(path, "code=x"), "oidc_failed")
	b, path = begin()
	flow := b.cookies["interlock_oidc"]
	if got := b.send("GET", path, ""); got.Header.Get("Location") != "/console/" {
		t.Fatalf("%v", got.Header)
	}
	again := r.browser()
	again.cookies["interlock_oidc"] = flow
	refused("an answer that was used", again, path, "oidc_failed")
}

// OP-10: a sign-in leads to pages of the console only.
func TestOP_10_oidc_leads_nowhere_else(t *testing.T) {
	l := issuertest.NewLogin(t)
	l.User(groups("root"), nil)
	r := startOIDC(t, l, oidcValues)
	for _, to := range []string{
		"https://evil.example/console/", "//evil.example/console/", "/\\evil.example", "\\\\evil.example", "/console/../../evil", "/api/v1/auth/sign-out", "javascript:alert(1)",
		"/consoles", "console/x", "/console//evil.example", "/console/\r\nSet-Cookie: a=b", "/console/" + strings.Repeat("x", 600),
	} {
		b := r.browser()
		got := b.through(l, to)
		if got.Header.Get("Location") != "/console/" {
			t.Errorf("%q leads to %q", to, got.Header.Get("Location"))
		}
	}
}

// OP-10: an issuer that is away stops neither the start nor other ways in, and
// is asked again.
func TestOP_10_oidc_issuer_is_away(t *testing.T) {
	l := issuertest.NewLogin(t)
	l.User(groups("root"), nil)
	var back atomic.Bool
	l.Handle(issuertest.Discovery, func(w http.ResponseWriter, _ *http.Request) {
		if !back.Load() {
			w.WriteHeader(500)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q,"authorization_endpoint":%q,"token_endpoint":%q,"id_token_signing_alg_values_supported":["RS256"]}`,
			l.URL, l.URL+issuertest.Keys, l.URL+issuertest.Authorize, l.URL+issuertest.TokenPath)
	})
	r := startOIDC(t, l, oidcValues)
	r.person("anna", "viewer", rightPassword)
	b := r.browser()
	if got := b.api("GET", "/auth/oidc/start", ""); got.Status != 302 || got.Header.Get("Location") != "/console/sign-in?error=oidc_unavailable" {
		t.Errorf("%d %v", got.Status, got.Header)
	}
	b.signIn("anna", rightPassword)
	back.Store(true)
	pace := time.NewTicker(100 * time.Millisecond)
	defer pace.Stop()
	for deadline := time.Now().Add(15 * time.Second); ; <-pace.C {
		got := r.browser().api("GET", "/auth/oidc/start", "")
		if strings.HasPrefix(got.Header.Get("Location"), l.URL) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is not asked again: %v", got.Header)
		}
	}
}

// OP-10: without an issuer the pages say so.
func TestOP_10_oidc_off(t *testing.T) {
	b := start(t, "").browser()
	for _, path := range []string{"/auth/oidc/start", "/auth/oidc/callback?code=x&state=y"} {
		if got := b.api("GET", path, ""); got.Status != 302 || got.Header.Get("Location") != "/console/sign-in?error=oidc_off" {
			t.Errorf("%s: %d %v", path, got.Status, got.Header)
		}
	}
}
