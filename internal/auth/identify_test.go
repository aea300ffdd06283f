package auth_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/auth"
)

const (
	team    = "ilk_team_0123456789abcdef0123"
	virtual = "ilk_virtual_0123456789abcdef0123"
	expired = "ilk_expired_0123456789abcdef0123"
	unknown = "ilk_unknown_0123456789abcdef0123"
	foreign = "sk-ant-api03-of-the-caller"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func keys(t *testing.T) *auth.Keys {
	t.Helper()
	var b auth.KeysBuilder
	for secret, k := range map[string]*auth.Key{
		team:    {Name: "team", Type: "service"},
		virtual: {Name: "virtual", Type: "virtual"},
		expired: {Name: "expired", Type: "pat", Expires: now},
	} {
		if taken := b.Add(secret, k); taken != "" {
			t.Fatal(taken)
		}
	}
	return b.Build()
}

func request(headers ...string) *http.Request {
	path := "/v1/messages"
	r := httptest.NewRequest(http.MethodPost, path, nil)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == "key" {
			r.URL.RawQuery = "key=" + value
			continue
		}
		r.Header.Add(name, value)
	}
	return r
}

// RQ-CRED: who a request's credentials make of its sender.
func TestIdentify_RQ_CRED(t *testing.T) {
	cases := []struct {
		name      string
		headers   []string
		anonymous bool
		want      string // key, source and whether it brings its own credential, or a word of the refusal
	}{
		{"Interlock key as bearer", []string{"Authorization: Bearer " + team}, false, "team service"},
		{"as x-api-key", []string{"X-Api-Key: " + team}, false, "team service"},
		{"as api-key", []string{"Api-Key: " + team}, false, "team service"},
		{"as x-goog-api-key", []string{"X-Goog-Api-Key: " + team}, false, "team service"},
		{"in the query", []string{"key: " + team}, false, "team service"},
		{"in the header of our own", []string{"X-Interlock-Key: " + team}, false, "team service"},
		{"as bearer in the header of our own", []string{"X-Interlock-Key: Bearer " + team}, false, "team service"},
		{"beside a foreign one, which is ignored", []string{"Authorization: Bearer " + team, "X-Api-Key: " + foreign}, false, "team service"},
		{"the other way round", []string{"Authorization: Bearer " + foreign, "X-Api-Key: " + team}, false, "team service"},
		{"a caller with its own credential", []string{"X-Interlock-Key: " + team, "Authorization: Bearer " + foreign}, false, "team service own"},
		{"in any header", []string{"X-Interlock-Key: " + team, "X-Goog-Api-Key: " + foreign}, false, "team service own"},
		{"a virtual key never brings one", []string{"X-Interlock-Key: " + virtual, "X-Api-Key: " + foreign}, false, "virtual virtual"},
		{"two Interlock keys are no foreign credential", []string{"X-Interlock-Key: " + team, "Authorization: Bearer " + virtual}, false, "team service"},
		{"a signature is none", []string{"X-Interlock-Key: " + team, "Authorization: AWS4-HMAC-SHA256 Credential=AKIA/x"}, false, "team service"},
		{"a signature alone", []string{"Authorization: AWS4-HMAC-SHA256 Credential=AKIA/x"}, true, "AWS signature"},
		{"only foreign", []string{"Authorization: Bearer " + foreign}, false, "not an Interlock key"},
		{"only foreign, and that is enough", []string{"Authorization: Bearer " + foreign}, true, " passthrough own"},
		{"foreign in the query", []string{"key: AIzaSomething"}, true, " passthrough own"},
		{"nothing", nil, true, "no key was sent"},
		{"an empty one", []string{"Authorization: Bearer "}, true, "no key was sent"},
		{"an unknown key", []string{"Authorization: Bearer " + unknown}, false, "not known"},
		{"an unknown key is nobody anonymous", []string{"X-Interlock-Key: " + unknown, "X-Api-Key: " + foreign}, true, "not known"},
		{"an expired key", []string{"X-Api-Key: " + expired}, true, "expired on"},
		{"our header with something else", []string{"X-Interlock-Key: " + foreign}, true, "does not hold an Interlock key"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			caller, err := auth.Identify(keys(t), nil, request(c.headers...), auth.Rules{Anonymous: c.anonymous}, now)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), foreign) || strings.Contains(err.Error(), unknown) {
					t.Errorf("refused: %v, want %q", err, c.want)
				}
				return
			}
			got := " " + caller.Source
			if caller.Key != nil {
				got = caller.Key.Name + got
			}
			if caller.Own {
				got += " own"
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// RQ-CRED-1: what may be passed on is the caller's own credential, never an
// Interlock key, a signature or a cookie.
func TestForeign_RQ_CRED_1(t *testing.T) {
	r := request("X-Interlock-Key: "+team, "Authorization: Bearer "+foreign, "X-Api-Key: "+virtual, "Api-Key: k", "Cookie: s=1", "X-Goog-Api-Key:  ")
	want := http.Header{"Authorization": {"Bearer " + foreign}, "Api-Key": {"k"}}
	if d := cmp.Diff(want, auth.Foreign(r, nil)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	r = request("key: AIzaSomething", "X-Interlock-Key: "+team)
	if got := auth.Foreign(r, nil).Get("X-Goog-Api-Key"); got != "AIzaSomething" {
		t.Errorf("of the query: %q", got)
	}
	r = request("Authorization: AWS4-HMAC-SHA256 Credential=AKIA/x")
	if got := auth.Foreign(r, nil); len(got) != 0 {
		t.Errorf("a signature is passed on: %v", got)
	}
}
