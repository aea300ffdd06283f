package upstream

import (
	"net/http"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/secret"
)

// OP-9: a code is cut after a number of characters, and a key in it with it.
func TestScrubCode_OP_9(t *testing.T) {
	const key = "sk-ant-0123456789abcdef"
	for code, want := range map[string]string{
		"":                              "",
		"rate_limit_error":              "rate_limit_error",
		key:                             "***",
		"bad_" + key + "_" + key:        "bad_***_***",
		"bad key " + key[:12]:           "bad key ***",
		"bad key " + key[:7]:            "bad key " + key[:7], // no more than the vendor's prefix
		key + " or " + key[:len(key)-1]: "*** or ***",
	} {
		if got := scrubCode(code, key); got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
	if got := scrubCode("code", ""); got != "code" {
		t.Error(got)
	}
}

// OP-9: servers write JSON in several ways.
func TestScrub_OP_9_spellings(t *testing.T) {
	target := &Target{apiKey: secret.New("key/of&the<org>")}
	virtual := secret.New("virtual+key")
	for _, s := range []string{"key/of&the<org>", `key\/of&the<org>`, `key/of\u0026the\u003corg\u003e`, "virtual+key"} {
		if got := string(target.Scrub([]byte(`{"message":"bad `+s+`"}`), virtual)); got != `{"message":"bad ***"}` {
			t.Errorf("%s: %s", s, got)
		}
	}
	if got := string((&Target{}).Scrub([]byte("nothing"), secret.String{})); got != "nothing" {
		t.Error(got)
	}
}

// OP-9: it runs on every answer.
func TestScrubHeader_OP_9(t *testing.T) {
	target := &Target{apiKey: secret.New("sk-of-the-organisation")}
	h := http.Header{"X-Request-Id": {"req-sk-of-the-organisation", "sk-of-the-key"}, "Content-Type": {"application/json"}}
	target.ScrubHeader(h, secret.New("sk-of-the-key"))
	if got := strings.Join(h["X-Request-Id"], "|"); got != "req-***|***" {
		t.Error(got)
	}
	if n := testing.AllocsPerRun(100, func() { target.ScrubHeader(h, secret.String{}) }); n > 0 {
		t.Errorf("%v allocations where nothing is to do", n)
	}
	short := &Target{apiKey: secret.New("json")} // keys of local servers are any word
	if short.ScrubHeader(h, secret.String{}); h.Get("Content-Type") != "application/json" {
		t.Error(h)
	}
}
