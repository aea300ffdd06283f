package issuertest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// Paths of an issuer that people sign in at.
const (
	Authorize = "/authorize"
	TokenPath = "/token"
	UserInfo  = "/userinfo"
)

// Login makes an issuer one that people sign in at: with an authorization code
// for one use, PKCE and a nonce. Everybody who comes is the user that it has.
type Login struct {
	*Issuer

	ClientID, ClientSecret string

	tb    testing.TB
	key   *Key
	mu    sync.Mutex
	user  map[string]any
	info  map[string]any
	codes map[string]url.Values
	// change spoils an ID token on its way.
	change func(claims map[string]any)
	// seen is the newest request for the page.
	seen url.Values
}

// NewLogin starts such an issuer.
func NewLogin(tb testing.TB) *Login {
	tb.Helper()
	key := NewKey(tb, "login", "RS256")
	l := &Login{Issuer: New(tb, key), ClientID: "interlock", ClientSecret: "the secret of the client", tb: tb, key: key, codes: map[string]url.Values{}}
	l.Handle(Discovery, func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200, map[string]any{
			"issuer": l.URL, "jwks_uri": l.URL + Keys, "authorization_endpoint": l.URL + Authorize, "token_endpoint": l.URL + TokenPath, "userinfo_endpoint": l.URL + UserInfo,
			"id_token_signing_alg_values_supported": []string{"RS256"}, "scopes_supported": []string{"openid", "email", "profile", "groups"},
		})
	})
	l.Handle(Authorize, l.authorize)
	l.Handle(TokenPath, l.token)
	l.Handle(UserInfo, l.userInfo)
	return l
}

// User sets who comes, by claims, and what only the user info says.
func (l *Login) User(claims, info map[string]any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.user, l.info = claims, info
}

// Spoil changes the claims of ID tokens; nil changes nothing.
func (l *Login) Spoil(change func(claims map[string]any)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.change = change
}

// Asked is the newest request for the page.
func (l *Login) Asked() url.Values {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen
}

func (l *Login) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	code := rand.Text()
	l.mu.Lock()
	l.codes[code], l.seen = q, q
	l.mu.Unlock()
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {l.URL}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (l *Login) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	l.mu.Lock()
	asked := l.codes[r.PostForm.Get("code")]
	delete(l.codes, r.PostForm.Get("code"))
	user, change := l.user, l.change
	l.mu.Unlock()
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	switch {
	case id != l.ClientID || secret != l.ClientSecret:
		writeJSON(w, 401, map[string]any{"error": "invalid_client"})
		return
	case asked == nil, asked.Get("code_challenge_method") != "S256", asked.Get("code_challenge") != b64(sum[:]), asked.Get("redirect_uri") != r.PostForm.Get("redirect_uri"):
		writeJSON(w, 400, map[string]any{"error": "invalid_grant", "error_description": "a secret that must not be shown"})
		return
	}
	claims := l.Claims(l.ClientID, map[string]any{"nonce": asked.Get("nonce")})
	maps.Copy(claims, user)
	if change != nil {
		change(claims)
	}
	writeJSON(w, 200, map[string]any{"access_token": "access-token-of-the-tests", "token_type": "Bearer", "expires_in": 300, "id_token": l.key.Sign(l.tb, claims)})
}

func (l *Login) userInfo(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.Header.Get("Authorization"), "access-token-of-the-tests") {
		writeJSON(w, 401, map[string]any{"error": "invalid_token"})
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	info := map[string]any{"sub": "someone"}
	maps.Copy(info, l.info)
	writeJSON(w, 200, info)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
