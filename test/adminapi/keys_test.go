package adminapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// key is a key as the API shows it.
type key struct {
	Name, Secret, EndsAt, Last4 string
	Active                      bool
	Warnings                    []string
}

// newKey makes a key and gives its secret.
func (r *rig) newKey(body string) string {
	r.t.Helper()
	var k key
	r.call("POST", "/keys", body, 201, &k)
	return k.Secret
}

func (r *rig) key(name string) key {
	r.t.Helper()
	var k key
	r.call("GET", "/keys/"+name, "", 200, &k)
	return k
}

// with sends a small request with a key.
func (r *rig) with(secret string, headers ...string) gwtest.Answer {
	r.t.Helper()
	return r.Post(r.t, "/v1/chat/completions", chatOf("gpt-x"), append([]string{"Authorization: Bearer " + secret}, headers...)...)
}

// RS-ORG: a key of somebody who is disabled is refused as a disabled key is, and
// the refusal says why. Whoever disables them is told how many keys that closes.
func TestRS_ORG_keys_of_the_disabled(t *testing.T) {
	a := gwtest.NewFake(t)
	gw := start(t, "", a.OpenAI("main"), gwtest.Route("one", `"gpt-*"`, "main"))
	gw.call("PUT", "/departments/IT", `{}`, 201, nil)
	gw.call("PUT", "/teams/Platform", `{"department":"it"}`, 201, nil)
	gw.call("PUT", "/teams/Other", `{}`, 201, nil)
	gw.call("PUT", "/users/boss", `{"role":"gateway-admin","team":"platform"}`, 201, nil)
	keys := map[string]string{
		"of-user": `"owner":{"user":"BOSS"}`, "of-team": `"owner":{"team":"platform"}`, "in-team": `"team":"platform"`, "of-both": `"owner":{"team":"other"},"team":"platform"`,
		"of-dept": `"owner":{"department":"it"}`, "of-nobody": `"labels":{"a":"b"}`,
	}
	for name, whose := range keys {
		keys[name] = gw.newKey(`{"name":"` + name + `","type":"pat",` + whose + `}`)
	}
	closed := func(when string, want ...string) {
		t.Helper()
		for name, secret := range keys {
			why := ""
			for i := 0; i < len(want); i += 2 {
				if want[i] == name {
					why = want[i+1]
				}
			}
			got := gw.with(secret, "X-Interlock-Explain: true")
			if (got.Status == 200) != (why == "") || !strings.Contains(got.Body, strings.ReplaceAll(why, `"`, `\"`)) {
				t.Errorf("%s, %s: %d %s, want %q", when, name, got.Status, got.Body, why)
			}
			if why != "" && (got.Status != 401 || got.Header.Get("X-Interlock-Error") != "invalid_api_key" || got.Header.Get("X-Interlock-Decision") != "") {
				t.Errorf("%s, %s: %d %v", when, name, got.Status, got.Header)
			}
			k := gw.key(name)
			if k.Active != (why == "") || why != "" && !strings.Contains(strings.Join(k.Warnings, "\n"), why) {
				t.Errorf("%s, %s is shown as %+v", when, name, k)
			}
			dry := gw.resolve(`{"model":"gpt-x","key":"` + name + `"}`)
			if dry.Served != (why == "") || why != "" && (dry.Refusal.Status != 401 || !strings.Contains(dry.Refusal.Message, why)) {
				t.Errorf("%s, %s: the dry run says %+v", when, name, dry.Refusal)
			}
		}
	}
	warned := func(path, body, want string) {
		t.Helper()
		var o struct{ Warnings []string }
		gw.call("PUT", path+"?dryRun=true", body, 200, &o)
		if !strings.Contains(strings.Join(o.Warnings, "\n"), want) {
			t.Errorf("the dry run of %s warns of %q, want %q", path, o.Warnings, want)
		}
		gw.call("PUT", path, body, 200, &o)
		if !strings.Contains(strings.Join(o.Warnings, "\n"), want) {
			t.Errorf("%s warns of %q, want %q", path, o.Warnings, want)
		}
	}
	closed("all are on")
	warned("/users/boss", `{"role":"gateway-admin","team":"platform","enabled":false}`, "enabled: while it is disabled 1 key admits nobody: of-user")
	closed("the user is off", "of-user", `its user "boss" is disabled`)
	gw.call("PUT", "/users/boss", `{"role":"gateway-admin","team":"platform"}`, 200, nil)
	warned("/teams/Platform", `{"department":"it","enabled":false}`, "enabled: while it is disabled 4 keys admit nobody: in-team, of-both, of-team, of-user")
	off := `its team "Platform" is disabled`
	closed("the team is off", "of-user", off, "of-team", off, "in-team", off, "of-both", off)
	gw.call("PUT", "/teams/Platform", `{"department":"it"}`, 200, nil)
	gw.call("PUT", "/teams/Other", `{"enabled":false}`, 200, nil)
	closed("the owner's team is off", "of-both", `its team "Other" is disabled`)
	gw.call("PUT", "/teams/Other", `{}`, 200, nil)
	warned("/departments/IT", `{"enabled":false}`, "enabled: while it is disabled 5 keys admit nobody")
	off = `its department "IT" is disabled`
	closed("the department is off", "of-user", off, "of-team", off, "in-team", off, "of-both", off, "of-dept", off)
	gw.call("PUT", "/departments/IT", `{}`, 200, nil)
	closed("all are on again")
}

// ER-AUTH: what an expired key is told helps: a rotation would not.
func TestER_AUTH_an_expired_key(t *testing.T) {
	a := gwtest.NewFake(t)
	gw := start(t, "", a.OpenAI("main"), gwtest.Route("one", `"gpt-*"`, "main"))
	old := gw.newKey(`{"name":"old","type":"service","expiresAt":"2020-01-01T00:00:00Z"}`)
	got := gw.with(old)
	if got.Status != http.StatusUnauthorized || !strings.Contains(got.Body, "expired on 2020-01-01; ask an administrator to set a later expiresAt") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	replaced := gw.newKey(`{"name":"ci","type":"service"}`)
	gw.call("POST", "/keys/ci/rotate", `{"overlapSeconds":0}`, 201, nil)
	got = gw.with(replaced)
	if got.Status != http.StatusUnauthorized || !strings.Contains(got.Body, "was given another secret") || strings.Contains(got.Body, "rotate") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}
