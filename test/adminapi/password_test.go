package adminapi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// OP-10, BY-17: a password is written and never read: not in answers, exports,
// versions, the audit, the log or on the disk.
func TestOP_10_BY_17_passwords_are_write_only(t *testing.T) {
	dir := t.TempDir()
	r := &rig{gwtest.StartWith(t, gwtest.Config{Admin: true, Dir: dir, Documents: withAdmin()}), t}
	const first, second = "the very first password", "the very second password"
	var shown struct {
		HasPassword bool
		Password    *string
	}
	r.call("PUT", "/users/anna", `{"role":"viewer"}`, 201, &shown)
	if shown.HasPassword {
		t.Error("a user without a password has one")
	}
	r.person("anna", "viewer", first)
	r.person("anna", "viewer", second)
	r.call("GET", "/users/anna", "", 200, &shown)
	if !shown.HasPassword || shown.Password != nil {
		t.Errorf("%+v", shown)
	}
	// What was shown can be sent back, and keeps it.
	r.call("PUT", "/users/anna", r.Admin(t, "GET", "/users/anna", "").Body, 200, &shown)
	b := r.browser()
	b.signIn("anna", second)

	n := r.revision()
	var all []string
	for _, path := range []string{
		"/users/anna", "/users", "/export", "/export?format=json", "/audit-events?limit=500", "/audit-events?format=csv", "/config-versions",
		fmt.Sprintf("/config-versions/%d", n), fmt.Sprintf("/config-versions/%d/diff?to=%d", n-1, n), fmt.Sprintf("/config-versions/%d", n-1),
	} {
		all = append(all, r.Admin(t, "GET", path, "").Body)
	}
	all = append(all, r.Admin(t, "PUT", "/users/anna?dryRun=true", `{"role":"viewer","password":"`+first+`"}`).Body, r.Log.String())
	diff := r.Admin(t, "GET", fmt.Sprintf("/config-versions/%d", n), "").Body
	if !strings.Contains(diff, "*** (changed)") {
		t.Errorf("the change does not show: %s", diff)
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range all {
		for _, secret := range []string{first, second, "argon2id"} {
			if strings.Contains(text, secret) {
				t.Errorf("text %d has %q", i, secret)
			}
		}
	}
}

// OP-10, BY-17: masks are refused, null removes, documents have none.
func TestOP_10_BY_17_what_a_password_can_be(t *testing.T) {
	r := start(t, "")
	b := r.browser()
	for _, password := range []string{"env:SOME_VARIABLE", "file:/etc/passwd", "$argon2id$v=19$m=19456,t=2,p=1$aaaa$aaaa", "lösenord på svenska 🔑", strings.Repeat("å", 256), "with spaces  "} {
		r.person("anna", "viewer", password)
		b.signIn("anna", password)
	}
	for password, code := range map[string]string{
		"***": "secret", "*** (changed)": "secret", "sealed:v1:aaaa:bbbb": "secret", "123456789": "invalid", strings.Repeat("å", 257): "invalid", "tab\tin the middle": "invalid",
	} {
		p := r.refused("PUT", "/users/anna", fmt.Sprintf(`{"role":"viewer","password":%q}`, password), 400, code)
		if len(p.Errors) != 1 || p.Errors[0].Path != "password" || strings.Contains(p.Errors[0].Message, password) {
			t.Errorf("%q: %+v", password, p)
		}
	}
	r.refused("PUT", "/users/anna?dryRun=true", `{"password":"short"}`, 400, "invalid")
	r.refused("POST", "/users", `{"name":"x","password":"short"}`, 400, "invalid")
	r.call("POST", "/users", `{"name":"x","role":"viewer","password":"long enough to be one"}`, 201, nil)
	b.signIn("x", "long enough to be one")
	r.call("PUT", "/users/x", `{"role":"viewer","password":null}`, 200, nil)
	b.want(b.api("POST", "/auth/sign-in", credentials("x", "long enough to be one")), 401, "wrong_credentials")
	p := r.refused("POST", "/import", `{"documents":[{"kind":"User","name":"y","password":"long enough to be one"}]}`, 400, "invalid")
	if len(p.Errors) != 1 || p.Errors[0].Path != "documents[0].password" || !strings.Contains(p.Errors[0].Message, "set-password") {
		t.Errorf("%+v", p)
	}
	// An import without one keeps it.
	r.person("anna", "viewer", rightPassword)
	r.call("POST", "/import", `{"documents":[{"kind":"User","name":"anna","role":"viewer","groups":["a"]}]}`, 200, nil)
	b.signIn("anna", rightPassword)
}

// OP-10: a file has no passwords.
func TestOP_10_documents_have_no_passwords(t *testing.T) {
	_, err := gwtest.Load(t, gwtest.Config{Documents: []string{"kind: User\nname: anna\npassword: the password of anna"}})
	if err == nil || !strings.Contains(err.Error(), "interlock users set-password") || strings.Contains(err.Error(), "the password of anna") {
		t.Errorf("%v", err)
	}
}
