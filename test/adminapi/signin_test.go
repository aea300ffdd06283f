package adminapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// browser keeps cookies like one, but can be told to send any.
type browser struct {
	*rig
	cookies map[string]string
	// plain sends no Content-Type of its own.
	plain bool
}

func (r *rig) browser() *browser { return &browser{rig: r, cookies: map[string]string{}} }

// send sends a request with the cookies and no token.
func (b *browser) send(method, path, body string, headers ...string) gwtest.Answer {
	b.t.Helper()
	req := b.Request(b.t, method, path, body, append([]string{"Authorization:"}, headers...)...)
	if b.plain {
		req.Header.Del("Content-Type")
	}
	for name, value := range b.cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	client := *b.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	for _, c := range resp.Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	raw, err := io.ReadAll(resp.Body)
	return gwtest.Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(raw), Err: err}
}

// api sends a request to the admin API.
func (b *browser) api(method, path, body string, headers ...string) gwtest.Answer {
	b.t.Helper()
	return b.send(method, "/api/v1"+path, body, headers...)
}

// want stops the test unless an answer has a status, and a code for an error.
func (b *browser) want(got gwtest.Answer, status int, code string) gwtest.Answer {
	b.t.Helper()
	var p problem
	if got.Status >= 400 {
		if err := json.Unmarshal([]byte(got.Body), &p); err != nil {
			b.t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	if got.Status != status || p.Code != code {
		b.t.Fatalf("%d %s, want %d %s", got.Status, got.Body, status, code)
	}
	return got
}

func credentials(name, password string) string {
	b, _ := json.Marshal(map[string]string{"name": name, "password": password})
	return string(b)
}

// signIn signs in, or stops the test.
func (b *browser) signIn(name, password string) gwtest.Answer {
	b.t.Helper()
	return b.want(b.api("POST", "/auth/sign-in", credentials(name, password)), 200, "")
}

// state is the answer of /auth/state.
type state struct {
	SetupRequired, PasswordSignIn bool
	OIDC                          struct {
		Enabled bool
		Name    string
	}
	Version string
	User    *struct{ Name, Role, Via string }
}

func (b *browser) state() state {
	b.t.Helper()
	var s state
	if err := json.Unmarshal([]byte(b.want(b.api("GET", "/auth/state", ""), 200, "").Body), &s); err != nil {
		b.t.Fatal(err)
	}
	return s
}

// person makes a user with a password.
func (r *rig) person(name, role, password string) {
	r.t.Helper()
	body := fmt.Sprintf(`{"password":%q}`, password)
	if role != "" {
		body = fmt.Sprintf(`{"password":%q,"role":%q}`, password, role)
	}
	got := r.Admin(r.t, "PUT", "/users/"+name, body)
	if got.Status != 200 && got.Status != 201 {
		r.t.Fatalf("%d %s", got.Status, got.Body)
	}
}

const rightPassword = "correct horse battery"

// OP-10: signing in, who is signed in, signing out.
func TestOP_10_sign_in(t *testing.T) {
	r := start(t, "")
	b := r.browser()
	if s := b.state(); s.User != nil || s.PasswordSignIn || !s.SetupRequired || s.OIDC.Enabled {
		t.Errorf("before anybody has a password: %+v", s)
	}
	r.person("anna", "gateway-admin", rightPassword)
	if s := b.state(); s.User != nil || !s.PasswordSignIn || s.SetupRequired {
		t.Errorf("with an administrator: %+v", s)
	}
	b.want(b.api("GET", "/auth/me", ""), 401, "unauthenticated")
	got := b.signIn("ANNA", rightPassword) // names are not case sensitive
	if want := `{"name":"user:anna","role":"gateway-admin","via":"password"}`; strings.TrimSpace(got.Body) != want {
		t.Errorf("%s", got.Body)
	}
	cookie := got.Header.Get("Set-Cookie")
	for _, part := range []string{"interlock_session=", "; HttpOnly", "; SameSite=Lax", "; Path=/"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("the cookie is %s", strings.Replace(cookie, b.cookies["interlock_session"], "…", 1))
		}
	}
	if strings.Contains(cookie, "Secure") || strings.Contains(cookie, "Domain") {
		t.Errorf("over http: %s", cookie)
	}
	if s := b.state(); s.User == nil || s.User.Name != "user:anna" || s.User.Via != "password" {
		t.Errorf("%+v", s.User)
	}
	if body := b.want(b.api("GET", "/auth/me", ""), 200, "").Body; strings.TrimSpace(body) != strings.TrimSpace(got.Body) {
		t.Error(body)
	}
	b.want(b.api("PUT", "/teams/platform", `{"description":"made in the console"}`), 201, "")
	var events struct {
		Items []struct {
			Admin struct{ Actor, Summary string }
		}
	}
	r.call("GET", "/audit-events?kind=admin&limit=5", "", 200, &events)
	said := fmt.Sprint(events.Items)
	if !strings.Contains(said, `user:anna create Team "platform"`) || !strings.Contains(said, "user:anna sign in to the console with a password") {
		t.Error(said)
	}

	old := b.cookies["interlock_session"]
	out := b.want(b.api("POST", "/auth/sign-out", ""), 204, "")
	if !strings.Contains(out.Header.Get("Set-Cookie"), "Max-Age=0") || len(b.cookies) != 0 {
		t.Errorf("%v", out.Header)
	}
	b.cookies["interlock_session"] = old
	b.want(b.api("GET", "/auth/me", ""), 401, "unauthenticated")
	b.want(b.api("POST", "/auth/sign-out", ""), 204, "")
}

// OP-10: a token says who calls as well, and a header with a wrong one is not
// made good by a cookie.
func TestOP_10_tokens_and_sessions(t *testing.T) {
	r := start(t, "")
	r.person("anna", "viewer", rightPassword)
	b := r.browser()
	b.signIn("anna", rightPassword)
	var me struct{ Name, Role, Via string }
	r.call("GET", "/auth/me", "", 200, &me)
	if me.Via != "token" || me.Role != "gateway-admin" || !strings.HasPrefix(me.Name, "token:") {
		t.Errorf("%+v", me)
	}
	b.want(b.api("GET", "/auth/me", "", "Authorization: Bearer wrong"), 401, "unauthenticated")
	b.want(b.api("GET", "/auth/me", "", "Authorization: Basic "+b.cookies["interlock_session"]), 401, "unauthenticated")
	b.want(b.api("GET", "/auth/me", "", "Authorization: Bearer "+b.cookies["interlock_session"]), 401, "unauthenticated")

	// The data plane takes no session: neither as a cookie nor as a key.
	for _, headers := range [][]string{{}, {"Authorization: Bearer " + b.cookies["interlock_session"]}, {"X-Api-Key: " + b.cookies["interlock_session"]}} {
		if got := b.send("POST", "/v1/chat/completions", chatOf("x"), headers...); got.Status != 401 {
			t.Errorf("%v: %d %s", headers, got.Status, got.Body)
		}
		if got := b.send("GET", "/v1/models", "", headers...); got.Status != 401 {
			t.Errorf("%v: %d", headers, got.Status)
		}
	}
}

// OP-10: whatever is wrong, the answer is the same.
func TestOP_10_wrong_credentials(t *testing.T) {
	r := start(t, "")
	r.person("anna", "viewer", rightPassword)
	r.person("guest", "", rightPassword)
	r.call("PUT", "/users/nopassword", `{"role":"gateway-admin"}`, 201, nil)
	r.person("off", "viewer", rightPassword)
	r.call("PUT", "/users/off", `{"role":"viewer","enabled":false}`, 200, nil)
	b := r.browser()
	var bodies []string
	for _, c := range [][2]string{
		{"anna", "correct horse batterY"},
		{"anna", rightPassword + " "},
		{"nobody", rightPassword},
		{"nopassword", rightPassword},
		{"off", rightPassword},
		{"guest", "wrong password"},
		{"anna", strings.Repeat("x", 5000)},
		{strings.Repeat("n", 5000), rightPassword},
		{"anna\x00", rightPassword},
		{"nopassword", "\x00"},
	} {
		got := b.want(b.api("POST", "/auth/sign-in", credentials(c[0], c[1])), 401, "wrong_credentials")
		bodies = append(bodies, got.Body)
		if got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%q: %v", c[0], got.Header)
		}
	}
	for _, body := range bodies {
		if body != bodies[0] {
			t.Errorf("%s differs from %s", body, bodies[0])
		}
	}
	got := b.want(b.api("POST", "/auth/sign-in", credentials("guest", rightPassword)), 403, "no_role")
	if got.Header.Get("Set-Cookie") != "" || !strings.Contains(got.Body, "viewer") {
		t.Error(got.Body)
	}
	for body, code := range map[string]string{`{}`: "invalid", `{"name":"anna"}`: "invalid", `{"name":"anna","password":"x","remember":true}`: "invalid", `[]`: "invalid", `{"name":1}`: "invalid"} {
		b.want(b.api("POST", "/auth/sign-in", body), 400, code)
	}
	for _, text := range []string{rightPassword, "correct horse batterY"} {
		if strings.Contains(r.Log.String(), text) {
			t.Error("the log has a password")
		}
	}
}

// OP-10: guessing is limited, by name and by address, also at once; others are
// not in the way.
func TestOP_10_guessing_is_limited(t *testing.T) {
	r := start(t, "")
	r.person("anna", "viewer", rightPassword)
	r.person("bo", "viewer", rightPassword)
	var all sync.WaitGroup
	var mu sync.Mutex
	counts := map[int]int{}
	for i := range 30 {
		all.Go(func() {
			b := r.browser()
			got := b.api("POST", "/auth/sign-in", credentials("Anna", fmt.Sprintf("a wrong guess %d", i)))
			mu.Lock()
			defer mu.Unlock()
			counts[got.Status]++
			if got.Status == 429 && (got.Header.Get("Retry-After") == "" || !strings.Contains(got.Body, "too_many_attempts")) {
				t.Errorf("%v %s", got.Header, got.Body)
			}
		})
	}
	all.Wait()
	if counts[401] != 10 || counts[429] != 20 {
		t.Errorf("%v", counts)
	}
	b := r.browser()
	b.want(b.api("POST", "/auth/sign-in", credentials("anna", rightPassword)), 429, "too_many_attempts")
	b.signIn("bo", rightPassword)
	for i := range 100 {
		got := b.api("POST", "/auth/sign-in", credentials(fmt.Sprintf("nobody-%d", i), "a wrong guess"))
		if got.Status == 429 {
			if i < 30 {
				t.Errorf("after %d", i)
			}
			return
		}
	}
	t.Error("one address may guess for ever")
}

// OP-10: a session is new at each sign-in, and the one before it is over.
func TestOP_10_no_session_can_be_fixed(t *testing.T) {
	r := start(t, "")
	r.person("anna", "viewer", rightPassword)
	b := r.browser()
	for _, planted := range []string{"x", strings.Repeat("A", 43), "", strings.Repeat("A", 42) + "="} {
		b.cookies["interlock_session"] = planted
		b.signIn("anna", rightPassword)
		if b.cookies["interlock_session"] == planted || len(b.cookies["interlock_session"]) != 43 {
			t.Fatal("a planted session was taken")
		}
		other := r.browser()
		other.cookies["interlock_session"] = planted
		other.want(other.api("GET", "/auth/me", ""), 401, "unauthenticated")
	}
	first := b.cookies["interlock_session"]
	b.signIn("anna", rightPassword)
	if b.cookies["interlock_session"] == first {
		t.Error("the session stayed the same")
	}
	other := r.browser()
	other.cookies["interlock_session"] = first
	other.want(other.api("GET", "/auth/me", ""), 401, "unauthenticated")
	// Of two cookies one is not ours.
	got := other.api("GET", "/auth/me", "", "Cookie: interlock_session=x; interlock_session="+b.cookies["interlock_session"])
	b.want(got, 401, "unauthenticated")
	b.want(b.api("GET", "/auth/me", ""), 200, "")
}

// OP-10: sessions end at once with what they came of.
func TestOP_10_sessions_end_with_their_reason(t *testing.T) {
	for name, change := range map[string]func(r *rig){
		"password by PUT":  func(r *rig) { r.person("anna", "gateway-admin", "another password") },
		"the same again":   func(r *rig) { r.person("anna", "gateway-admin", rightPassword) },
		"password alone":   func(r *rig) { r.call("PUT", "/users/anna/password", `{"password":"another password"}`, 204, nil) },
		"password removed": func(r *rig) { r.call("PUT", "/users/anna", `{"role":"gateway-admin","password":null}`, 200, nil) },
		"role removed":     func(r *rig) { r.call("PUT", "/users/anna", `{}`, 200, nil) },
		"switched off":     func(r *rig) { r.call("PUT", "/users/anna", `{"role":"gateway-admin","enabled":false}`, 200, nil) },
		"deleted":          func(r *rig) { r.call("DELETE", "/users/anna", "", 204, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "")
			r.person("anna", "gateway-admin", rightPassword)
			b := r.browser()
			b.signIn("anna", rightPassword)
			before := r.revision()
			change(r)
			token := b.cookies["interlock_session"]
			b.want(b.api("GET", "/auth/me", ""), 401, "unauthenticated")
			b.want(b.api("PUT", "/teams/x", `{}`), 401, "unauthenticated")
			// Nor does an older version of the configuration bring it back.
			r.call("POST", fmt.Sprintf("/config-versions/%d/restore", before), "", 200, nil)
			b.cookies["interlock_session"] = token
			b.want(b.api("GET", "/auth/me", ""), 401, "unauthenticated")
			if name == "password by PUT" || name == "password alone" {
				b.want(b.api("POST", "/auth/sign-in", credentials("anna", rightPassword)), 401, "wrong_credentials")
				b.signIn("anna", "another password")
			}
		})
	}
}

// revision is the newest configuration version.
func (r *rig) revision() int {
	r.t.Helper()
	var list struct{ Items []struct{ Version int } }
	r.call("GET", "/config-versions?limit=1", "", 200, &list)
	return list.Items[0].Version
}

// OP-10: another role counts at once.
func TestOP_10_a_role_changes_in_a_running_session(t *testing.T) {
	r := start(t, "")
	r.person("anna", "gateway-admin", rightPassword)
	b := r.browser()
	b.signIn("anna", rightPassword)
	b.want(b.api("PUT", "/teams/one", `{}`), 201, "")
	r.call("PUT", "/users/anna", `{"role":"viewer"}`, 200, nil)
	b.want(b.api("GET", "/teams/one", ""), 200, "")
	b.want(b.api("PUT", "/teams/two", `{}`), 403, "forbidden")
}

// OP-10: a session outlives a restart of the server.
func TestOP_10_sessions_survive_a_restart(t *testing.T) {
	dir := t.TempDir()
	serve := func() *rig {
		return &rig{gwtest.StartWith(t, gwtest.Config{Admin: true, Dir: dir, Documents: withAdmin()}), t}
	}
	r := serve()
	r.person("anna", "viewer", rightPassword)
	b := r.browser()
	b.signIn("anna", rightPassword)
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	b.rig = serve()
	b.want(b.api("GET", "/auth/me", ""), 200, "")
}

// OP-10: what a form of another site can send is refused, in old browsers too.
func TestOP_10_cross_site_requests(t *testing.T) {
	r := start(t, "")
	r.person("anna", "gateway-admin", rightPassword)
	b := r.browser()
	b.signIn("anna", rightPassword)
	for _, media := range []string{"application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", "application/yaml", "application/jsonx", "text/plain; application/json"} {
		b.want(b.api("PUT", "/teams/x", `{}`, "Content-Type: "+media), 403, "cross_site")
		b.want(b.api("POST", "/auth/sign-in", credentials("anna", rightPassword), "Content-Type: "+media), 403, "cross_site")
		b.want(b.api("POST", "/auth/sign-out", "", "Content-Type: "+media), 403, "cross_site")
		b.want(b.api("POST", "/auth/setup", `{}`, "Content-Type: "+media), 403, "cross_site")
	}
	for _, headers := range [][]string{{"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"}, {"Origin: https://evil.example"}} {
		b.want(b.api("PUT", "/teams/x", `{}`, headers...), 403, "cross_site")
		b.want(b.api("POST", "/auth/sign-out", "", headers...), 403, "cross_site")
	}
	b.plain = true
	b.want(b.api("DELETE", "/teams/x", ""), 403, "cross_site")
	b.want(b.api("DELETE", "/teams/x", "", "X-Interlock-Csrf: 0"), 403, "cross_site")
	b.want(b.api("DELETE", "/teams/x", "", "X-Interlock-Csrf: 1"), 404, "not_found")
	b.want(b.api("POST", "/import", "kind: Team\nname: x\n", "X-Interlock-Csrf: 1", "Content-Type: application/yaml"), 200, "")
	b.want(b.api("POST", "/auth/sign-out", "", "X-Interlock-Csrf: 1"), 204, "")
}

// OP-10: behind https the cookie says so.
func TestOP_10_cookies_over_https(t *testing.T) {
	r := start(t, "server: {listen: 127.0.0.1:0, publicUrl: https://gateway.example}")
	r.person("anna", "viewer", rightPassword)
	b := r.browser()
	got := b.signIn("anna", rightPassword)
	cookie := got.Header.Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-interlock_session=") || !strings.Contains(cookie, "; Secure") || !strings.Contains(cookie, "; Path=/") || strings.Contains(cookie, "Domain") {
		t.Error(cookie)
	}
	b.want(b.api("GET", "/auth/me", ""), 200, "")
	plain := r.browser()
	plain.cookies["interlock_session"] = b.cookies["__Host-interlock_session"]
	plain.want(plain.api("GET", "/auth/me", ""), 401, "unauthenticated")
	if page := plain.send("GET", "/console/", ""); page.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS")
	}
}
