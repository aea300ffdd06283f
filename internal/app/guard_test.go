package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// OP-9: what lets an administrator in is never sent to a provider: not through
// its variable, not through its file or a link to it, and not when a reload
// made it one.
func TestOP_9_an_admin_token_is_no_providers_key(t *testing.T) {
	fake, dir := gwtest.NewFake(t), t.TempDir()
	second := filepath.Join(dir, "second-token")
	link := filepath.Join(dir, "link")
	if err := os.WriteFile(second, []byte("second-token-of-the-tests-012345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(second, link); err != nil {
		t.Fatal(err)
	}
	with := func(tokens string) gwtest.Config {
		c := config(dir, "seed", fake.OpenAI("a"), gwtest.Route("r", "gpt-*", "a"))
		c.Admin, c.Env = false, map[string]string{"PLANTED_ADMIN": "another-token-of-the-tests-0123"}
		c.Settings += "\nauth: {adminTokens: [" + tokens + "]}"
		return c
	}
	s := gwtest.StartWith(t, with(`"file:`+second+`"`))
	as := "Authorization: Bearer second-token-of-the-tests-012345"
	put := func(ref string) gwtest.Answer {
		t.Helper()
		return s.Admin(t, "PUT", "/providers/p", `{"type":"openai","baseUrl":"http://127.0.0.1:9/v1","apiKey":"`+ref+`"}`, as)
	}
	for _, ref := range []string{"file:" + second, "file:" + link, "file:" + dir + "/../" + filepath.Base(dir) + "/second-token", "env:INTERLOCK_ADMIN_TOKEN", "env:INTERLOCK_MASTER_KEY"} {
		if got := put(ref); got.Status != 400 || !strings.Contains(got.Body, "secret of the gateway itself") {
			t.Errorf("%s: %d %s", ref, got.Status, got.Body)
		}
	}
	if got := put("env:PLANTED_ADMIN"); got.Status != 201 { // it is none yet
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	s.Reload(t, with(`"file:`+second+`", "env:PLANTED_ADMIN"`))
	if got := put("env:PLANTED_ADMIN"); got.Status != 200 && got.Status != 400 || !strings.Contains(got.Body, "secret of the gateway itself") {
		t.Errorf("after a reload: %d %s", got.Status, got.Body)
	}
	if !strings.Contains(s.Log.String(), "its key can't be read, so requests are not sent to it: env:PLANTED_ADMIN is a secret of the gateway itself") {
		t.Errorf("the provider that has it is still dialled:\n%s", s.Log)
	}
	s.Reload(t, with(`"file:`+second+`"`)) // and it is one no more
	if got := put("env:PLANTED_ADMIN"); got.Status != 200 || strings.Contains(got.Body, "gateway itself") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}
