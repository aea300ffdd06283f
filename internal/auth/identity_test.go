package auth_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/auth"
)

// issued are the tokens of a trusted issuer, by their text.
type issued map[string]issuedToken

type issuedToken struct {
	id  *auth.Identity
	err error
}

func (i issued) Recognise(credential string) auth.Token {
	if t, ok := i[credential]; ok {
		return t
	}
	return nil
}

func (t issuedToken) Verify(context.Context) (*auth.Identity, error) { return t.id, t.err }

const (
	anna    = "eyJh.anna.x"
	bob     = "eyJh.bob.x"
	stale   = "eyJh.stale.x"
	away    = "eyJh.away.x"
	unknJWT = "eyJh.unknown.x"
)

func tokens() issued {
	return issued{
		anna:  {id: &auth.Identity{Issuer: "github", User: "anna"}},
		bob:   {id: &auth.Identity{Issuer: "github", User: "bob"}},
		stale: {err: &auth.Error{Message: "the token expired"}},
		away:  {err: &auth.UnavailableError{Message: "the issuer is away", RetryAfter: time.Second}},
	}
}

// RQ-CRED: what tokens of trusted issuers make of their sender, alone and
// beside other credentials.
func TestIdentify_RQ_CRED_tokens(t *testing.T) {
	for _, c := range []struct {
		name      string
		headers   []string
		anonymous bool
		want      string // user or key, source and whether it brings its own credential, or a word of the refusal
	}{
		{"as bearer", []string{"Authorization: Bearer " + anna}, false, "anna github"},
		{"as x-api-key", []string{"X-Api-Key: " + anna}, false, "anna github"},
		{"as api-key", []string{"Api-Key: " + anna}, false, "anna github"},
		{"as x-goog-api-key", []string{"X-Goog-Api-Key: " + anna}, false, "anna github"},
		{"in the query", []string{"key: " + anna}, false, "anna github"},
		{"the first of two", []string{"X-Api-Key: " + bob, "Authorization: Bearer " + anna}, false, "anna github"},
		{"beside a foreign one", []string{"Authorization: Bearer " + foreign, "X-Api-Key: " + anna}, true, "anna github"},
		{"beside a signature", []string{"Authorization: AWS4-HMAC-SHA256 Credential=AKIA/x", "X-Api-Key: " + anna}, false, "anna github"},
		{"an Interlock key wins", []string{"Authorization: Bearer " + anna, "X-Api-Key: " + team}, false, "team service"},
		{"also one that is refused", []string{"Authorization: Bearer " + anna, "X-Api-Key: " + expired}, false, "expired on"},
		{"it is no credential of its own", []string{"X-Interlock-Key: " + team, "Authorization: Bearer " + anna}, false, "team service"},
		{"but a third one is", []string{"X-Interlock-Key: " + team, "Authorization: Bearer " + anna, "X-Api-Key: " + foreign}, false, "team service own"},
		{"a wrong one", []string{"Authorization: Bearer " + stale}, false, "token expired"},
		{"a wrong one is nobody anonymous", []string{"Authorization: Bearer " + stale, "X-Api-Key: " + foreign}, true, "token expired"},
		{"a wrong one before a good one", []string{"Authorization: Bearer " + stale, "X-Api-Key: " + anna}, false, "token expired"},
		{"one that can't be verified", []string{"Authorization: Bearer " + away}, true, "is away"},
		{"not in our own header", []string{"X-Interlock-Key: " + anna}, false, "does not hold an Interlock key"},
		{"one of somebody else", []string{"Authorization: Bearer " + unknJWT}, false, "auth.trustedIssuers"},
		{"one of somebody else is a foreign credential", []string{"Authorization: Bearer " + unknJWT}, true, " passthrough own"},
		{"and one beside our key", []string{"X-Interlock-Key: " + team, "Authorization: Bearer " + unknJWT}, false, "team service own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			caller, err := auth.Identify(keys(t), tokens(), request(c.headers...), auth.Rules{Anonymous: c.anonymous}, now)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "eyJ") {
					t.Errorf("refused: %v, want %q", err, c.want)
				}
				if _, ok := errors.AsType[*auth.UnavailableError](err); ok != strings.Contains(c.want, "away") {
					t.Errorf("got %T", err)
				}
				return
			}
			got := " " + caller.Source
			if caller.Key != nil {
				got = caller.Key.Name + got
			}
			if caller.Identity != nil {
				got = caller.Identity.User + got
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

// RQ-CRED-1: a trusted issuer's token is for us, wherever it stands.
func TestForeign_RQ_CRED_1_tokens(t *testing.T) {
	r := request("X-Interlock-Key: "+team, "Authorization: Bearer "+stale, "X-Api-Key: "+anna, "X-Api-Key: "+foreign, "Api-Key: "+away, "key: "+bob)
	if d := cmp.Diff(http.Header{"X-Api-Key": {foreign}}, auth.Foreign(r, tokens())); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := auth.Foreign(request("key: "+bob), tokens()); len(got) > 0 {
		t.Errorf("of the query: %v", got)
	}
	r = request("Authorization: Bearer " + unknJWT)
	if got := auth.Foreign(r, tokens()).Get("Authorization"); got != "Bearer "+unknJWT {
		t.Errorf("of somebody else: %q", got)
	}
}

// RQ-CRED-1: the same for a token that is not written as it should be.
func TestIdentify_RQ_CRED_1_oddly_written_tokens(t *testing.T) {
	for line, place := range oddly(anna) {
		if got := auth.Foreign(request(line), tokens()); len(got) > 0 {
			t.Errorf("%q is passed on: %v", line, got)
		}
		for _, beside := range [][]string{nil, {"X-Interlock-Key: " + team}} {
			_, err := auth.Identify(keys(t), tokens(), request(append(beside, line)...), auth.Rules{Anonymous: true}, now)
			if err == nil || !strings.Contains(err.Error(), place) || strings.Contains(err.Error(), anna) {
				t.Errorf("%q beside %q: %v", line, beside, err)
			}
		}
	}
	for _, line := range []string{"X-Api-Key: Bearer " + anna, "Authorization: Bearer\t" + anna, "key: Bearer%20" + anna} {
		caller, err := auth.Identify(keys(t), tokens(), request(line), auth.Rules{Anonymous: true}, now)
		if err != nil || caller.Identity == nil || caller.Own {
			t.Errorf("%q: %+v %v", line, caller, err)
		}
	}
}
