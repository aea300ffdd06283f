package auth_test

import (
	"encoding/base64"
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
		{"a scheme alone", []string{"Authorization: Bearer"}, true, "no key was sent"},
		{"a scheme alone elsewhere", []string{"X-Api-Key: bearer", "Api-Key: Bearer Bearer", "Authorization: Basic"}, true, "no key was sent"},
		{"a scheme alone is no own credential", []string{"X-Interlock-Key: " + team, "Authorization: Bearer"}, true, "team service"},
		{"a query that can't be a header", []string{"key: a%0d%0ab"}, true, "no key was sent"},
		{"a signature in small letters", []string{"Authorization: aws4-hmac-sha256 Credential=AKIA/x"}, true, "AWS signature"},
		{"a signature of several regions", []string{"Authorization: AWS4-ECDSA-P256-SHA256 Credential=AKIA/x"}, true, "AWS signature"},
		{"bearer in x-api-key", []string{"X-Api-Key: Bearer " + team}, true, "team service"},
		{"bearer and a tab", []string{"Authorization: Bearer\t" + team}, true, "team service"},
		{"bearer twice", []string{"Authorization: Bearer  bearer " + team}, true, "team service"},
		{"bearer in the query", []string{"key: Bearer%20" + team}, true, "team service"},
		{"bearer and a tab in our header", []string{"X-Interlock-Key: Bearer\t" + team}, true, "team service"},
		{"something odd is ignored beside our key in a common place", []string{"Authorization: Token " + virtual, "X-Api-Key: " + team}, true, "team service"},
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

// oddly are ways to write a credential that are not read, by the name of their
// place in a message.
func oddly(credential string) map[string]string {
	basic := base64.StdEncoding.EncodeToString([]byte(credential + ":"))
	return map[string]string{
		"Authorization: Token " + credential:                "authorization",
		"Authorization: Basic " + credential:                "authorization",
		"Authorization: Basic " + basic:                     "authorization",
		"Authorization: Bearer \"" + credential + "\"":      "authorization",
		"Authorization: Bearer foo, Bearer " + credential:   "authorization",
		"Authorization: Token token=" + credential:          "authorization",
		"Authorization: Bearer a.b.c, Bearer " + credential: "authorization",
		"Authorization: Bearer\xa0" + credential:            "authorization",
		"X-Api-Key: '" + credential + "'":                   "x-api-key",
		"Api-Key: key " + credential:                        "api-key",
		"X-Goog-Api-Key: user:" + credential:                "x-goog-api-key",
		"key: %22" + credential + "%22":                     "the query parameter key",
	}
}

// RQ-CRED-1: an Interlock key that is not written as it should be is a mistake
// that its sender hears of, and never somebody else's credential.
func TestIdentify_RQ_CRED_1_oddly_written_keys(t *testing.T) {
	odd := oddly(team)
	odd["Authorization: Bearer"+team] = "authorization"
	odd["X-Api-Key: Ilk_in_capitals"] = "x-api-key"
	odd["X-Api-Key: x, sess_0123456789abcdef"] = "x-api-key"
	odd["Authorization: Bearer eyJh.ilk_0123456789.x"] = "authorization"
	for line, place := range odd {
		if got := auth.Foreign(request(line), nil); len(got) > 0 {
			t.Errorf("%q is passed on: %v", line, got)
		}
		for _, beside := range [][]string{nil, {"X-Interlock-Key: " + team}, {"X-Interlock-Key: " + virtual, "Cookie: a"}} {
			_, err := auth.Identify(keys(t), nil, request(append(beside, line)...), auth.Rules{Anonymous: true}, now)
			if err == nil || !strings.Contains(err.Error(), place) || strings.Contains(err.Error(), team) {
				t.Errorf("%q beside %q: %v", line, beside, err)
			}
		}
	}
}

// A token of somebody else has four characters of ours somewhere by chance now
// and then; nobody could tell why it is refused.
func TestIdentify_RQ_CRED_chance_in_a_JWT(t *testing.T) {
	jwt := "eyJhbGciOi.eyJailk_5sess_9.c-ilk_ab"
	r := request("Authorization: Bearer " + jwt)
	caller, err := auth.Identify(keys(t), nil, r, auth.Rules{Anonymous: true}, now)
	if err != nil || !caller.Own || auth.Foreign(r, nil).Get("Authorization") != "Bearer "+jwt {
		t.Errorf("%+v %v", caller, err)
	}
}

// OP-9: what has to be looked for in what comes back.
func TestBare_OP_9(t *testing.T) {
	got := map[string]bool{}
	for _, s := range auth.Bare(http.Header{"Authorization": {"Bearer\tsk-a"}, "X-Api-Key": {"sk-b"}, "Api-Key": {"Token sk-c"}}) {
		got[s.Reveal()] = true
	}
	if d := cmp.Diff(map[string]bool{"sk-a": true, "sk-b": true, "sk-c": true}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
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
	for _, line := range []string{
		"Authorization: AWS4-HMAC-SHA256 Credential=AKIA/x", "Authorization: aws4-hmac-sha256 Credential=AKIA/x", "Authorization: Bearer", "key: a%0ab",
	} {
		if got := auth.Foreign(request(line), nil); len(got) != 0 {
			t.Errorf("%s is passed on: %v", line, got)
		}
	}
}
