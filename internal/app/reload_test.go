package app_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// TestBY_5_a_restart_changes_nothing: in both modes, whatever form the
// secrets have; also for objects that the API changed.
func TestBY_5_a_restart_changes_nothing(t *testing.T) {
	for _, mode := range []string{"seed", "enforce"} {
		t.Run(mode, func(t *testing.T) {
			fake := gwtest.NewFake(t)
			dir := t.TempDir()
			docs := []string{fake.OpenAI("a"), fake.Anthropic("b"), gwtest.Route("r", "gpt-5", "a"), "kind: Settings\nname: settings\nunknownModelStatus: 404", "kind: Team\nname: Blue"}
			s := server(t, dir, mode, docs...)
			admin(t, s, 201, "POST", "/keys", `{"name":"made","type":"service"}`)
			admin(t, s, 201, "PUT", "/providers/mine", `{"type":"openai","baseUrl":"http://127.0.0.1:9/v1","apiKey":"sk-of-the-api-0001"}`)
			export, want := admin(t, s, 200, "GET", "/export", "").Body, revision(t, s)
			for range 3 {
				stop(t, s)
				s = server(t, dir, mode, docs...)
				if got := revision(t, s); got != want {
					t.Fatalf("a restart made version %d of %d", got, want)
				}
				if got := admin(t, s, 200, "GET", "/export", "").Body; got != export {
					t.Errorf("a restart changed the objects:\n%s\n%s", export, got)
				}
				s.Reload(t, config(dir, mode, docs...))
				if got := revision(t, s); got != want {
					t.Fatalf("a reload made version %d of %d", got, want)
				}
				ask(t, s, 200)
				if v := records(t, s)[0].ConfigVersion; int64(v) != want {
					t.Errorf("a record says version %d, want %d", v, want)
				}
			}
		})
	}
}

// TestBY_5_reload_enforces: what the file changes, adds and drops is in use
// after a reload, and the API cannot change it.
func TestBY_5_reload_enforces(t *testing.T) {
	a, b := gwtest.NewFake(t), gwtest.NewFake(t)
	dir := t.TempDir()
	s := server(t, dir, "enforce", a.OpenAI("a"), b.OpenAI("b"), gwtest.Route("r", "gpt-5", "a"))
	if got := ask(t, s, 200).Header.Get("X-Interlock-Provider"); got != "a" {
		t.Errorf("served by %s", got)
	}
	got := admin(t, s, 409, "PUT", "/providers/a", `{"type":"openai"}`)
	if !strings.Contains(got.Body, "read_only") || !strings.Contains(got.Body, "resources.yaml:") {
		t.Errorf("a change by the API: %s", got.Body)
	}
	s.Reload(t, config(dir, "enforce", b.OpenAI("b"), gwtest.Route("r", "gpt-5", "b")))
	if got := ask(t, s, 200).Header.Get("X-Interlock-Provider"); got != "b" {
		t.Errorf("served by %s", got)
	}
	admin(t, s, 404, "GET", "/providers/a", "")
	if got := field(t, s, "/providers/b", "managedBy"); got != "file" {
		t.Errorf("managed by %v", got)
	}
	// Back to seed: released at once, without a restart.
	s.Reload(t, config(dir, "seed", b.OpenAI("b"), gwtest.Route("r", "gpt-5", "b")))
	if got := field(t, s, "/providers/b", "managedBy"); got != "api" {
		t.Errorf("managed by %v", got)
	}
	admin(t, s, 200, "PUT", "/routes/r", `{"modelPatterns":["gpt-5","other-6"],"members":[{"provider":"b"}]}`)
	// And to enforce again: taken over at once.
	s.Reload(t, config(dir, "enforce", b.OpenAI("b"), gwtest.Route("r", "gpt-5", "b")))
	if got := s.Post(t, chatPath, gwtest.Chat("other-6", false)); got.Status == 200 {
		t.Error("the file was not enforced")
	}
	var changes []string
	for _, r := range records(t, s) {
		if r.Kind == audit.KindAdmin {
			changes = append(changes, r.Admin.Actor+" "+r.Admin.Summary)
		}
	}
	if len(changes) != 5 || !strings.HasPrefix(changes[0], "file:interlock.yaml ") || !strings.HasPrefix(changes[1], "token:6789 ") {
		t.Errorf("recorded are\n%s", strings.Join(changes, "\n"))
	}
}

// TestOP_6_reload_refused: a file that conflicts with what the API owns
// changes nothing and is reported with its place.
func TestOP_6_reload_refused(t *testing.T) {
	a := gwtest.NewFake(t)
	dir := t.TempDir()
	s := server(t, dir, "enforce", a.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	admin(t, s, 201, "PUT", "/providers/mine", `{"type":"openai","baseUrl":"http://127.0.0.1:9/v1"}`)
	before := revision(t, s)
	bad := config(dir, "enforce", a.OpenAI("a"), gwtest.Route("r", "gpt-7", "a"), gwtest.Route("mine", "gpt-6", "a"))
	bad.Settings += "\nllmProxy: {exposeRoutingHeaders: id-only}\ntelemetry: {logLevel: debug}"
	s.Reload(t, bad)
	logged(t, s, "was not reloaded")
	for _, want := range []string{"resources.yaml:", `Route \"mine\" name`, `Provider \"mine\"`} {
		if !strings.Contains(s.Log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, s.Log)
		}
	}
	if got := ask(t, s, 200).Header.Get("X-Interlock-Provider"); got != "a" || revision(t, s) != before || strings.Contains(s.Log.String(), `"DEBUG"`) {
		t.Errorf("something of it is in use: version %d, provider %q", revision(t, s), got)
	}
}

// TestRT_PAT_3_the_file_is_told_its_own_place: a route of the file that claims
// what a route of the API has is reported where the file says it.
func TestRT_PAT_3_the_file_is_told_its_own_place(t *testing.T) {
	a := gwtest.NewFake(t)
	dir := t.TempDir()
	s := server(t, dir, "enforce", a.OpenAI("a"), gwtest.Route("mine", "x-*", "a"))
	admin(t, s, 201, "PUT", "/routes/zz", `{"modelPatterns":["q-*"],"members":[{"provider":"a"}]}`)
	s.Reload(t, config(dir, "enforce", a.OpenAI("a"), gwtest.Route("mine", "q-*", "a")))
	logged(t, s, "was not reloaded")
	for _, want := range []string{"resources.yaml:", `Route \"mine\" modelPatterns[0]`, `route \"zz\"`} {
		if !strings.Contains(s.Log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, s.Log)
		}
	}
}

// TestBY_5_the_file_drops_what_is_used: the log says what the file leaves out
// and who uses it.
func TestBY_5_the_file_drops_what_is_used(t *testing.T) {
	a := gwtest.NewFake(t)
	dir := t.TempDir()
	s := server(t, dir, "enforce", a.OpenAI("a"), a.OpenAI("b"))
	admin(t, s, 201, "PUT", "/routes/zz", `{"modelPatterns":["q-*"],"members":[{"provider":"a"}]}`)
	s.Reload(t, config(dir, "enforce", a.OpenAI("b")))
	logged(t, s, `no longer has can't be deleted: Provider \"a\" is used by Route \"zz\"`)
}

// TestOP_6_reload_settings: what SIGHUP can change of the settings, and what
// it says of the others.
func TestOP_6_reload_settings(t *testing.T) {
	a := gwtest.NewFake(t)
	dir := t.TempDir()
	s := server(t, dir, "seed", a.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	if strings.Contains(s.Log.String(), `"DEBUG"`) {
		t.Error("debug lines before")
	}
	next := config(dir, "seed", a.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	next.Settings += "\nllmProxy: {exposeRoutingHeaders: id-only}\ntelemetry: {logLevel: debug}\naudit: {retentionDays: 7}"
	s.Reload(t, next)
	got := ask(t, s, 200)
	if got.Header.Get("X-Interlock-Provider") != "" || got.Header.Get("X-Interlock-Request-Id") == "" {
		t.Errorf("headers: %v", got.Header)
	}
	logged(t, s, `"level":"DEBUG"`)
	logged(t, s, "audit.retentionDays")
	// The admin token comes from a file that changed.
	write(t, filepath.Join(dir, "other-token"), "another-token-of-the-tests-0123456789")
	next.Admin = false
	next.Settings += "\nauth: {adminTokens: [file:" + filepath.Join(dir, "other-token") + "]}"
	s.Reload(t, next)
	admin(t, s, 401, "GET", "/providers", "")
	admin(t, s, 200, "GET", "/providers", "", "Authorization: Bearer another-token-of-the-tests-0123456789")
}

// TestOP_6_reload_reads_secrets_again: behind references, in both modes; the
// version stays.
func TestOP_6_reload_reads_secrets_again(t *testing.T) {
	for _, mode := range []string{"seed", "enforce"} {
		t.Run(mode, func(t *testing.T) {
			fake := gwtest.NewFake(t)
			dir := t.TempDir()
			ref := filepath.Join(dir, "key")
			write(t, ref, "sk-behind-a-file-0001")
			c := config(dir, mode, "kind: Provider\nname: a\ntype: openai\nbaseUrl: "+fake.URL+"/v1\napiKey: file:"+ref, gwtest.Route("r", "gpt-5", "a"))
			s := gwtest.StartWith(t, c)
			received := func(want string) {
				t.Helper()
				ask(t, s, 200)
				all := fake.Records()
				if got := all[len(all)-1].Headers.Get("Authorization"); got != "Bearer "+want {
					t.Errorf("the provider received %q, want %q", got, want)
				}
			}
			received("sk-behind-a-file-0001")
			write(t, ref, "sk-behind-a-file-0002")
			received("sk-behind-a-file-0001")
			before := revision(t, s)
			s.Reload(t, c)
			received("sk-behind-a-file-0002")
			if got := revision(t, s); got != before {
				t.Errorf("version %d", got)
			}
			if v := records(t, s)[0].ConfigVersion; int64(v) != before {
				t.Errorf("a record says version %d, want %d", v, before)
			}
		})
	}
}

// TestRS_KEY_3_revoked_at_once: a key that is revoked through the API is
// refused by the next request; a rotated one works on.
func TestRS_KEY_3_revoked_at_once(t *testing.T) {
	fake := gwtest.NewFake(t)
	s := server(t, t.TempDir(), "seed", fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	use := func(secret string) int {
		t.Helper()
		return s.Post(t, chatPath, gwtest.Chat("gpt-5", false), "Authorization: Bearer "+secret).Status
	}
	made := func(path, body string) string {
		t.Helper()
		var k struct{ Secret string }
		if err := json.Unmarshal([]byte(admin(t, s, 201, "POST", path, body).Body), &k); err != nil {
			t.Fatal(err)
		}
		return k.Secret
	}
	for i := range 10 {
		name := fmt.Sprintf("ci%d", i)
		old := made("/keys", `{"name":"`+name+`","type":"service"}`)
		next := made("/keys/"+name+"/rotate", `{}`)
		if a, b := use(old), use(next); a != 200 || b != 200 {
			t.Fatalf("old %d, new %d", a, b)
		}
		admin(t, s, 204, "DELETE", "/keys/"+name, "")
		if a, b := use(old), use(next); a != 401 || b != 200 {
			t.Fatalf("after revoking the old one: old %d, new %d", a, b)
		}
	}
	// The test's own key names its secret in a document; it is revoked too.
	admin(t, s, 204, "DELETE", "/keys/test", "")
	if got := use(gwtest.Key); got != 401 {
		t.Errorf("status %d with a revoked key of a document", got)
	}
}
