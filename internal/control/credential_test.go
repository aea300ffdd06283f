package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/auth"
)

const virtual = `{"kind":"Key","name":"v","type":"virtual","providerCredential":{"provider":"a","apiKey":"` + planted + `"}}`

// used is what the holder of a secret sends to a provider.
func (e *env) used(secret string) *auth.Key {
	e.t.Helper()
	k, ok := e.live.Current().Keys.Lookup(secret)
	if !ok || k.Closed() != "" {
		e.t.Fatalf("the key admits nobody: %+v", k)
	}
	return k
}

// TestRS_KEY_2_a_stored_credential_goes_along: the successor of a virtual key
// holds the same credential, sealed for itself.
func TestRS_KEY_2_a_stored_credential_goes_along(t *testing.T) {
	e := newEnv(t)
	e.setenv("HELD", "sk-behind-a-reference-0001")
	e.put(provider("a"))
	e.createKey(virtual)
	next, _ := e.rotate("v", time.Hour)
	if k := e.used(next); k.Credential.Reveal() != planted || k.Virtual != "a" {
		t.Errorf("the successor has the credential of %s, not the one stored", k.Virtual)
	}
	if a, b := string(e.documents()["Key v"].Spec), string(e.documents()["Key v-r2"].Spec); strings.Contains(b, "PLANTED") || sealedIn(a) == "" || sealedIn(a) == sealedIn(b) {
		t.Errorf("stored are %s and %s", a, b)
	}
	third, _ := e.rotate("v-r2", 0)
	e.reload()
	if k := e.used(third); k.Credential.Reveal() != planted {
		t.Error("after a second rotation and a restart the credential is gone")
	}
	// A reference goes along as it is.
	e.createKey(strings.NewReplacer(`"v"`, `"w"`, planted, "env:HELD").Replace(virtual))
	next, _ = e.rotate("w", 0)
	if k := e.used(next); k.Credential.Reveal() != "sk-behind-a-reference-0001" {
		t.Error("the reference is gone")
	}
}

// sealedIn cuts the sealed text out of a spec.
func sealedIn(spec string) string {
	_, rest, _ := strings.Cut(spec, `"sealed:`)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

// TestBY_17_credential_of_a_virtual_key: it is shown as a provider's key is, and
// stays when it is left out, but not for another provider.
func TestBY_17_credential_of_a_virtual_key(t *testing.T) {
	e := newEnv(t)
	e.setenv("HELD", "sk-behind-a-reference-0001")
	e.put(provider("a"), provider("b"))
	secret, _ := e.createKey(virtual)
	if got := text(e.show("Key", "v")["providerCredential"]); got != "map[apiKeyLast4:4711 hasApiKey:true provider:a]" {
		t.Errorf("shown is %s", got)
	}
	left := `{"kind":"Key","name":"v","type":"virtual","labels":{"a":"b"},"providerCredential":{"provider":"a"}}`
	e.put(left)
	if k := e.used(secret); k.Credential.Reveal() != planted {
		t.Error("left out it is gone")
	}
	was := e.revision()
	for _, raw := range []string{
		`{"kind":"Key","name":"v","type":"virtual","providerCredential":{"provider":"b"}}`,
		`{"kind":"Key","name":"v","type":"virtual","providerCredential":{"provider":"b","hasApiKey":true,"apiKeyLast4":"4711"}}`,
		`{"kind":"Key","name":"v","type":"virtual","providerCredential":{"provider":"a","apiKey":null}}`,
		`{"kind":"Key","name":"new","type":"virtual","providerCredential":{"provider":"a"}}`,
	} {
		_, err := e.try(put(t, raw))
		ce := refused(t, err, 400, "invalid")
		if len(ce.Problems) != 1 || ce.Problems[0].Path != "providerCredential.apiKey" || strings.Contains(raw, `"b"`) != strings.Contains(ce.Error(), `is for the provider "a"; write the one for "b"`) {
			t.Errorf("%s: %v", raw, ce)
		}
	}
	if e.revision() != was || e.used(secret).Virtual != "a" {
		t.Error("a refused change did something")
	}
	e.put(`{"kind":"Key","name":"v","type":"virtual","providerCredential":{"provider":"b","apiKey":"env:HELD"}}`)
	if k := e.used(secret); k.Virtual != "b" || k.Credential.Reveal() != "sk-behind-a-reference-0001" {
		t.Errorf("it is for %s", k.Virtual)
	}
	if got := text(e.show("Key", "v")["providerCredential"]); got != "map[apiKey:env:HELD apiKeyLast4:0001 hasApiKey:true provider:b]" {
		t.Errorf("shown is %s", got)
	}
	// A reference does not follow either.
	_, err := e.try(put(t, `{"kind":"Key","name":"v","type":"virtual","providerCredential":{"provider":"a"}}`))
	refused(t, err, 400, "invalid", "write the one for")
}
