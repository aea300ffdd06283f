package adminapi

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/testutil/issuertest"
)

func setup(token, name, password string) string {
	b, _ := json.Marshal(map[string]string{"token": token, "name": name, "password": password})
	return string(b)
}

// OP-10: the link of the first start makes one administrator, once.
func TestOP_10_setup(t *testing.T) {
	r := &rig{gwtest.StartWith(t, gwtest.Config{Admin: true}), t}
	b := r.browser()
	b.want(b.api("POST", "/auth/setup", setup("", "anna", rightPassword)), 401, "wrong_token") // nobody has made a link yet
	first, ok := r.App.SetupToken()
	if !ok {
		t.Fatal("no link is made")
	}
	token, ok := r.App.SetupToken()
	if !ok || token.Equal(first) {
		t.Fatal("the second link is the first")
	}
	b.want(b.api("POST", "/auth/setup", setup(first.Reveal(), "anna", rightPassword)), 401, "wrong_token")
	b.want(b.api("POST", "/auth/setup", setup(token.Reveal()+"x", "anna", rightPassword)), 401, "wrong_token")
	// What is wrong with the rest does not use the link up.
	for body, field := range map[string]string{
		setup(token.Reveal(), "anna", "too short"): "password", setup(token.Reveal(), " ", rightPassword): "name", setup(token.Reveal(), "a\nb", rightPassword): "name",
		setup(token.Reveal(), "anna", "line\nbreaks in it"): "password", setup(token.Reveal(), "anna", strings.Repeat("x", 257)): "password",
	} {
		var p problem
		got := b.want(b.api("POST", "/auth/setup", body), 400, "invalid")
		if err := json.Unmarshal([]byte(got.Body), &p); err != nil || len(p.Errors) != 1 || p.Errors[0].Path != field {
			t.Errorf("%s: %s", field, got.Body)
		}
	}
	got := b.want(b.api("POST", "/auth/setup", setup(token.Reveal(), "Anna", rightPassword)), 200, "")
	if strings.TrimSpace(got.Body) != `{"name":"user:Anna","role":"gateway-admin","via":"password"}` {
		t.Error(got.Body)
	}
	b.want(b.api("PUT", "/teams/x", `{}`), 201, "")
	other := r.browser()
	other.want(other.api("POST", "/auth/setup", setup(token.Reveal(), "eve", rightPassword)), 409, "already_set_up")
	if _, ok := r.App.SetupToken(); ok {
		t.Error("another link is made")
	}
	if strings.Contains(r.Log.String(), token.Reveal()) {
		t.Error("the log has the token")
	}
	// Without its administrator the server can be set up again, not by the old link.
	r.call("DELETE", "/users/Anna", "", 204, nil)
	other.want(other.api("POST", "/auth/setup", setup(token.Reveal(), "eve", rightPassword)), 401, "wrong_token")
}

// OP-10: of many who come with the link at once, one is let in.
func TestOP_10_setup_at_once(t *testing.T) {
	r := &rig{gwtest.StartWith(t, gwtest.Config{Admin: true}), t}
	token, _ := r.App.SetupToken()
	var all sync.WaitGroup
	var made atomic.Int64
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		all.Go(func() {
			b := r.browser()
			if b.api("POST", "/auth/setup", setup(token.Reveal(), name, rightPassword)).Status == 200 {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("%d administrators", made.Load())
	}
}

// OP-10: the token can't be guessed.
func TestOP_10_setup_guessing_is_limited(t *testing.T) {
	r := &rig{gwtest.StartWith(t, gwtest.Config{Admin: true}), t}
	token, _ := r.App.SetupToken()
	b := r.browser()
	for i := range 60 {
		if got := b.api("POST", "/auth/setup", setup("a guess", "eve", rightPassword)); got.Status == 429 {
			if got.Header.Get("Retry-After") == "" || i < 5 {
				t.Errorf("after %d: %v", i, got.Header)
			}
			b.want(b.api("POST", "/auth/setup", setup(token.Reveal(), "eve", rightPassword)), 429, "too_many_attempts")
			return
		}
	}
	t.Error("it can be guessed for ever")
}

// OP-10: with an issuer there is a way in already.
func TestOP_10_no_setup_with_an_issuer(t *testing.T) {
	r := startOIDC(t, issuertest.NewLogin(t), oidcValues)
	if _, ok := r.App.SetupToken(); ok {
		t.Error("a link is made")
	}
	b := r.browser()
	b.want(b.api("POST", "/auth/setup", setup("", "eve", rightPassword)), 409, "already_set_up")
}

// OP-10, BY-5: somebody whom the file names gets a password, and keeps it when
// the file is applied again.
func TestOP_10_BY_5_setup_of_a_user_in_the_file(t *testing.T) {
	c := gwtest.Config{Admin: true, Dir: t.TempDir(), Settings: "resources: {mode: enforce, files: [resources.yaml]}", Documents: []string{
		"kind: User\nname: anna\nrole: gateway-admin", "kind: User\nname: bo\nrole: viewer",
	}}
	r := &rig{gwtest.StartWith(t, c), t}
	token, _ := r.App.SetupToken()
	b := r.browser()
	b.want(b.api("POST", "/auth/setup", setup(token.Reveal(), "bo", rightPassword)), 409, "read_only") // the file says what bo may do
	b.want(b.api("POST", "/auth/setup", setup(token.Reveal(), "ANNA", rightPassword)), 200, "")
	b.want(b.api("PUT", "/users/bo/password", `{"password":"the password of bo"}`), 204, "")
	b.want(b.api("PUT", "/users/bo", `{"password":"the password of bo"}`), 409, "read_only")
	b.want(b.api("PUT", "/users/nobody/password", `{"password":"the password of bo"}`), 404, "not_found")
	b.want(b.api("PUT", "/users/bo/password", `{"password":"short"}`), 400, "invalid")
	before := r.revision()
	r.Reload(t, c)
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	b.rig = &rig{gwtest.StartWith(t, c), t}
	if now := b.revision(); now != before {
		t.Errorf("a restart made version %d of %d", now, before)
	}
	b.want(b.api("GET", "/auth/me", ""), 200, "")
	bo := b.browser()
	bo.signIn("bo", "the password of bo")
}
