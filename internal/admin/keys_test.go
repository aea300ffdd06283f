package admin_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// admits tells whether the gateway lets the holder of a secret in now.
func (e *env) admits(secret string) bool {
	k, ok := e.live.Load().Keys.Lookup(secret)
	return ok && (k.Expires.IsZero() || e.now().Before(k.Expires))
}

func (e *env) createKey(name string) (id, secret string) {
	e.t.Helper()
	e.admin("PUT", "/teams/platform", map[string]any{})
	a := e.admin("POST", "/keys", map[string]any{"name": name, "type": "service", "team": "platform"}).want(201)
	return a.field("id"), a.field("secret")
}

// RS-KEY-1: the secret is shown once; only a hash is stored.
func TestRS_KEY_1_the_secret_is_shown_once(t *testing.T) {
	e := newEnv(t)
	a := e.admin("POST", "/keys", map[string]any{"name": "ci", "type": "service"}).want(201)
	id, secret := a.field("id"), a.field("secret")
	if !strings.HasPrefix(secret, "ilk_") || len(secret) < 40 || a.header.Get("Location") != "/api/v1/keys/"+id || a.field("last4") != secret[len(secret)-4:] {
		t.Errorf("%v %s", a.header, a.body)
	}
	if !e.admits(secret) {
		t.Error("the key does not work")
	}
	_, other := e.createKey("other")
	if other == secret {
		t.Error("two keys have one secret")
	}
	for _, path := range []string{
		"/keys", "/keys/ci", "/keys/" + id, "/export", "/export?format=json", "/config-versions", "/config-versions/1", "/config-versions/2", "/config-versions/0/diff",
		"/audit-events", "/audit-events?format=csv", "/audit-events?format=ndjson",
	} {
		if b := e.get(path).body; bytes.Contains(b, []byte(secret)) || bytes.Contains(b, []byte(secret[4:])) {
			t.Errorf("%s shows the secret", path)
		}
	}
	if strings.Contains(e.logged.String(), secret) {
		t.Error("the log has the secret")
	}
	state, err := e.store.Load(t.Context())
	if err != nil || len(state.Keys) != 2 {
		t.Fatal(state, err)
	}
	for _, d := range state.Documents {
		if bytes.Contains(d.Spec, []byte("ilk_")) {
			t.Errorf("stored: %s", d.Spec)
		}
	}
	// Nobody chooses a secret through the API.
	for _, tc := range []struct{ method, path, body string }{
		{"POST", "/keys", `{"name":"mine","type":"service","secret":"ilk_a_secret_of_my_own_choice"}`},
		{"POST", "/keys", `{"name":"mine","type":"service","secret":"env:CI_KEY"}`},
		{"PUT", "/keys/ci", `{"type":"service","secret":"ilk_a_secret_of_my_own_choice"}`},
		{"PUT", "/keys/ci", `{"type":"service","secret":"env:CI_KEY"}`},
	} {
		e.admin(tc.method, tc.path, tc.body).want(400).errorAt("secret")
	}
}

// Keys are found by id and by name; PUT changes rights and leaves the secret.
func TestAP_keys_by_id_or_name(t *testing.T) {
	e := newEnv(t)
	id, secret := e.createKey("ci")
	if e.get("/keys/ci").field("id") != id || e.get("/keys/"+id).field("name") != "ci" {
		t.Error("id and name differ")
	}
	e.admin("PUT", "/keys/"+id, map[string]any{"type": "pat", "agent": "new"}, "If-Match", `"1"`).want(200)
	if got := e.get("/keys/ci"); got.field("agent") != "new" || got.field("id") != id || got.field("active") != "true" || !e.admits(secret) {
		t.Errorf("%s", got.body)
	}
	e.admin("PUT", "/keys/"+id, map[string]any{"name": "renamed", "type": "pat"}).code(400, "invalid").errorAt("name")
	e.admin("PUT", "/keys/"+id, map[string]any{"type": "pat"}, "If-None-Match", "*").code(412, "stale")
	e.admin("PUT", "/keys/"+id, map[string]any{"type": "pat"}, "If-Match", `"9"`).code(412, "stale")
	// A key that is named like the id of another does not stand in front of it.
	e.createKey(id)
	if got := e.get("/keys/" + id).field("name"); got != "ci" {
		t.Errorf("the id of ci finds %q", got)
	}
	e.admin("PUT", "/keys/ci", map[string]any{"type": "pat", "enabled": false}).want(200)
	if e.admits(secret) || e.get("/keys/ci").field("active") != "false" {
		t.Error("a key that is switched off works")
	}
}

// RS-KEY-2: rotating makes a successor; the predecessor works until its
// overlap ends.
func TestRS_KEY_2_rotation(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		overlap    time.Duration
	}{
		{"24 hours if left out", ``, 24 * time.Hour},
		{"24 hours if empty", `{}`, 24 * time.Hour},
		{"24 hours if null", `{"overlapSeconds":null}`, 24 * time.Hour},
		{"an hour", `{"overlapSeconds":3600}`, time.Hour},
		{"none", `{"overlapSeconds":0}`, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEnv(t)
			id, old := e.createKey("ci")
			var body any
			if tc.body != "" {
				body = tc.body
			}
			a := e.admin("POST", "/keys/"+id+"/rotate", body).want(201)
			next := a.field("secret")
			if a.field("name") != "ci-r2" || a.field("rotatedFrom") != "ci" || a.field("team") != "platform" || a.field("id") == id || !e.admits(next) {
				t.Errorf("%s", a.body)
			}
			if got := e.admits(old); got != (tc.overlap > 0) {
				t.Errorf("the old secret works: %t", got)
			}
			e.clock.Add(int64(max(0, tc.overlap-time.Minute)))
			if got := e.admits(old); got != (tc.overlap > 0) {
				t.Errorf("a minute before the end the old secret works: %t", got)
			}
			e.clock.Add(int64(2 * time.Minute))
			if e.admits(old) || !e.admits(next) || e.get("/keys/ci").field("active") != "false" || e.get("/keys/ci-r2").field("active") != "true" {
				t.Error("after the overlap the old secret works, or the new one does not")
			}
			if b := e.get("/keys/ci-r2").body; bytes.Contains(b, []byte(next)) {
				t.Errorf("%s", b)
			}
		})
	}
}

func TestRS_KEY_2_rotation_refuses(t *testing.T) {
	e := newEnv(t)
	id, secret := e.createKey("ci")
	for _, body := range []string{`{"overlapSeconds":-1}`, `{"overlapSeconds":1e12}`, `{"overlapSeconds":1.5}`, `{"overlapSeconds":"1"}`, `{"overlapSeconds":99999999999}`} {
		e.admin("POST", "/keys/ci/rotate", body).code(400, "invalid").errorAt("overlapSeconds")
	}
	for _, body := range []string{`{"overlap":1}`, `{"overlapSeconds":1,"overlapSeconds":2}`, `{"OverlapSeconds":1}`, `[]`, `{`, `{} {}`, `null`} {
		e.admin("POST", "/keys/ci/rotate", body).code(400, "invalid")
	}
	e.admin("POST", "/keys/none/rotate", `{}`).code(404, "not_found")
	e.admin("POST", "/keys/ci/rotate", `{}`, "If-Match", `"2"`).code(412, "stale")
	if a := e.admin("POST", "/keys/ci/rotate?dryRun=true", `{}`).want(200); bytes.Contains(a.body, []byte("ilk_")) {
		t.Errorf("a dry run shows a secret: %s", a.body)
	}
	if e.get("/keys/"+id).field("version") != "1" || !e.admits(secret) || len(e.get("/keys").object()["items"].([]any)) != 1 {
		t.Error("something was written")
	}
	e.admin("POST", "/keys/ci/rotate", `{}`, "If-Match", `"1"`).want(201)
}

// RS-KEY-3: a revoked key stops at once, and for ever.
func TestRS_KEY_3_revoking_is_final(t *testing.T) {
	e := newEnv(t)
	id, secret := e.createKey("ci")
	was := e.revision()
	e.admin("DELETE", "/keys/"+id, nil, "If-Match", `"2"`).code(412, "stale")
	e.admin("DELETE", "/keys/"+id+"?dryRun=true", nil).want(200)
	if !e.admits(secret) {
		t.Fatal("a refused revocation revoked it")
	}
	e.admin("DELETE", "/keys/"+id, nil, "If-Match", `"1"`).want(204)
	if e.admits(secret) {
		t.Error("the revoked key works")
	}
	e.admin("DELETE", "/keys/"+id, nil).code(404, "not_found")
	e.admin("POST", "/config-versions/"+itoa(was)+"/restore", nil).want(200)
	if e.admits(secret) || e.get("/keys/ci").field("active") != "false" {
		t.Error("a restore brought the secret of a revoked key back")
	}
	// Pruning an import revokes too.
	_, secret = e.createKey("two")
	was = e.revision()
	e.admin("POST", "/import?prune=true", `{"documents":[]}`).want(200)
	e.admin("POST", "/config-versions/"+itoa(was)+"/restore", nil).want(200)
	if e.admits(secret) {
		t.Error("a restore brought the secret of a pruned key back")
	}
}

// A key from a document has a reference for its secret: it is shown, and what
// GET answered can be sent back.
func TestAP_a_key_with_a_reference(t *testing.T) {
	e := newEnv(t)
	e.admin("POST", "/import", `{"documents":[{"kind":"Key","name":"ci","type":"service","secret":"env:CI_KEY"}]}`).want(200)
	const value = "ilk_from_the_environment_5678"
	got := e.get("/keys/ci")
	if got.field("secret") != "env:CI_KEY" || bytes.Contains(got.body, []byte(value)) || !e.admits(value) {
		t.Errorf("%s", got.body)
	}
	e.admin("PUT", "/keys/ci", got.body).want(200)
	e.admin("PUT", "/keys/ci", `{"type":"pat"}`).want(200)
	if !e.admits(value) {
		t.Error("a PUT without the secret removed it")
	}
	e.admin("PUT", "/keys/ci", `{"type":"pat","secret":null}`).want(200)
	if e.admits(value) || e.get("/keys/ci").object()["secret"] != nil {
		t.Error("null did not remove the secret")
	}
}

// BY-5: what a file owns is read-only here and says where it is.
func TestBY_5_file_owned_objects_are_read_only(t *testing.T) {
	e := newEnv(t)
	e.provider("own")
	e.enforce(`
kind: Provider
name: filed
type: openai-compatible
baseUrl: https://filed.example.com
apiKey: env:MAIN_KEY
---
kind: Route
name: filed-route
modelPatterns: ["gpt-*"]
members: [{provider: filed}]
---
kind: Key
name: filed-key
type: service
secret: env:CI_KEY
---
kind: Settings
name: settings
residencies: [sweden]
`)
	for _, path := range []string{"/providers/filed", "/routes/filed-route", "/keys/filed-key", "/settings"} {
		got := e.get(path)
		if got.field("managedBy") != "file" || !strings.HasPrefix(got.field("managedIn"), "resources.yaml:") {
			t.Errorf("%s", got.body)
		}
		changed := got.object()
		changed["enabled"] = false
		if path == "/settings" {
			changed = map[string]any{"residencies": []any{"norway"}}
		}
		a := e.admin("PUT", path, changed).code(409, "read_only")
		if !strings.Contains(a.problem().Detail, "resources.yaml") {
			t.Errorf("%s", a.body)
		}
		if path != "/settings" {
			e.admin("DELETE", path, nil).code(409, "read_only")
		}
		if string(e.get(path).body) != string(got.body) {
			t.Errorf("%s changed", path)
		}
	}
	e.admin("POST", "/keys/filed-key/rotate", nil).code(409, "read_only")
	e.admin("POST", "/import", `{"documents":[{"kind":"Route","name":"filed-route","modelPatterns":["o3"],"members":[]}]}`).code(409, "read_only")
	// An export holds them, and importing it changes nothing.
	was := e.revision()
	if c := e.admin("POST", "/import?prune=true", e.get("/export?format=json").body).want(200).changes(); len(c.Changes) != 0 || e.revision() != was {
		t.Errorf("%+v", c)
	}
	// Pruning and restoring leave them alone.
	e.admin("POST", "/import?prune=true", `{"documents":[]}`).want(200)
	e.admin("GET", "/providers/own", nil).code(404, "not_found")
	e.admin("POST", "/config-versions/1/restore", nil).want(200)
	if e.get("/providers/filed").field("managedBy") != "file" {
		t.Error("it is gone")
	}
	e.admin("GET", "/providers/own", nil).want(200)
}

// enforce makes documents the file's.
func (e *env) enforce(text string) {
	e.t.Helper()
	if _, err := e.control.Enforce(e.t.Context(), "file:resources.yaml", documents(e.t, text)); err != nil {
		e.t.Fatal(err)
	}
}

// RS-PROV-4: a provider that a key's ceiling names is in use: without it the
// key would admit nobody. A name that was never a provider's is only warned of.
func TestRS_PROV_4_a_provider_in_a_ceiling_is_in_use(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	e.admin("POST", "/keys", `{"name":"ci","type":"service","allowedProviders":["none","main"]}`).want(201)
	users := []any{map[string]any{"kind": "Key", "name": "ci"}}
	if got := e.get("/providers/main").object()["usedBy"]; !reflect.DeepEqual(got, users) {
		t.Errorf("usedBy is %v", got)
	}
	a := e.admin("DELETE", "/providers/main", nil).code(409, "in_use")
	if p := a.problem(); len(p.Refs) != 1 || p.Refs[0].Name != "ci" || len(p.Errors) != 1 || p.Errors[0].Path != "allowedProviders[1]" {
		t.Errorf("%s", a.body)
	}
	e.admin("PUT", "/keys/ci", `{"type":"service","allowedProviders":["none"]}`).want(200)
	e.admin("DELETE", "/providers/main", nil).want(204)
}

// RS-AUDIT: the caller is written as the user, team and department are, not as
// the key refers to them, so that filters find it.
func TestRS_AUDIT_the_caller_is_spelled_as_its_objects(t *testing.T) {
	e := newEnv(t)
	e.admin("PUT", "/departments/IT", `{}`).want(201)
	e.admin("PUT", "/teams/Platform", `{"department":"it"}`).want(201)
	e.admin("PUT", "/users/Anna", `{"team":"platform"}`).want(201)
	for owner, want := range map[string][3]string{
		`"owner":{"user":"ANNA"}`:                       {"Anna", "Platform", "IT"},
		`"owner":{"user":"anna"},"team":"PLATFORM"`:     {"Anna", "Platform", "IT"},
		`"owner":{"team":"PLATFORM"}`:                   {"", "Platform", "IT"},
		`"owner":{"department":"it"}`:                   {"", "", "IT"},
		`"owner":{"department":"iT"},"team":"plaTform"`: {"", "Platform", "IT"},
	} {
		secret := e.admin("POST", "/keys", `{"name":"k","type":"pat",`+owner+`}`).want(201).field("secret")
		k, ok := e.live.Load().Keys.Lookup(secret)
		if got := [3]string{k.User, k.Team, k.Department}; !ok || got != want {
			t.Errorf("%s: the caller is %q, want %q", owner, got, want)
		}
		e.admin("DELETE", "/keys/k", nil).want(204)
	}
}

// RS-KEY-2: the check of If-Match is part of the rotation, which gives the key a
// new version: the same If-Match does not rotate twice.
func TestRS_KEY_2_a_rotation_takes_an_ETag_once(t *testing.T) {
	e := newEnv(t)
	e.createKey("ci")
	tag := e.get("/keys/ci").header.Get("ETag")
	e.admin("POST", "/keys/ci/rotate?dryRun=true", `{}`, "If-Match", tag).want(200)
	e.admin("POST", "/keys/ci/rotate", `{}`, "If-Match", tag).want(201)
	for range 2 {
		a := e.admin("POST", "/keys/ci/rotate", `{}`, "If-Match", tag).code(412, "stale")
		if !strings.Contains(a.problem().Detail, `Key "ci" was changed meanwhile: it has version 2, not 1`) {
			t.Errorf("%s", a.body)
		}
	}
	got := e.get("/keys/ci")
	if got.header.Get("ETag") == tag || got.field("version") != "2" || got.object()["endsAt"] == nil || len(e.names("/keys?limit=9")) != 2 {
		t.Errorf("%v %s", got.header, got.body)
	}
	e.admin("PUT", "/keys/ci", `{"type":"pat"}`, "If-Match", tag).code(412, "stale")
	e.admin("POST", "/keys/ci/rotate", `{}`, "If-Match", got.header.Get("ETag")).want(201)
	e.admin("POST", "/keys/ci/rotate", `{}`, "If-Match", `"x"`).code(412, "stale")
	var wg sync.WaitGroup
	made := make([]int, 8)
	for i := range made {
		wg.Go(func() { made[i] = e.admin("POST", "/keys/ci-r2/rotate", `{}`, "If-Match", `"1"`).status })
	}
	wg.Wait()
	slices.Sort(made)
	if made[0] != 201 || made[1] != 412 || made[7] != 412 {
		t.Errorf("8 at once: %v", made)
	}
}

// RS-KEY-1: a document may have the secret of a key itself, in JSON and in YAML
// alike, and no answer has it afterwards. A key that is made here may not.
func TestRS_KEY_1_a_secret_in_a_document(t *testing.T) {
	const secret = "ilk_written_out_in_a_document"
	for _, doc := range []struct{ body, media string }{
		{`{"documents":[{"kind":"Key","name":"k","type":"pat","secret":"` + secret + `"}]}`, "application/json"},
		{"kind: Key\nname: k\ntype: pat\nsecret: " + secret, "application/yaml"},
	} {
		e := newEnv(t)
		if c := e.admin("POST", "/import?dryRun=true", doc.body, "Content-Type", doc.media).want(200).changes(); len(c.Changes) != 1 || e.admits(secret) {
			t.Errorf("%s: %+v", doc.media, c)
		}
		e.admin("POST", "/import", doc.body, "Content-Type", doc.media).want(200)
		if c := e.admin("POST", "/import", doc.body, "Content-Type", doc.media).want(200).changes(); len(c.Changes) != 0 || !e.admits(secret) {
			t.Errorf("%s: again: %+v", doc.media, c)
		}
		for _, path := range []string{"/keys/k", "/export", "/export?format=json", "/config-versions/1", "/config-versions/0/diff", "/audit-events"} {
			if b := e.get(path).body; bytes.Contains(b, []byte(secret)) || bytes.Contains(b, []byte("sha256")) {
				t.Errorf("%s: %s shows the secret: %s", doc.media, path, b)
			}
		}
		if got := e.get("/keys/k"); got.field("active") != "true" || got.field("last4") != "ment" || got.object()["secret"] != nil {
			t.Errorf("%s: %s", doc.media, got.body)
		}
		e.admin("PUT", "/keys/k", e.get("/keys/k").body).want(200)
		if e.revision() != 1 {
			t.Error("what GET answered is a change")
		}
		for _, wrong := range []string{"ilk_short", "hashed:sha256:" + strings.Repeat("ab", 32) + ":abab"} {
			e.admin("POST", "/import", strings.ReplaceAll(doc.body, secret, wrong), "Content-Type", doc.media).code(400, "invalid").errorAt("documents[0].secret")
		}
	}
}
