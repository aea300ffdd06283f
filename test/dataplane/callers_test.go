package dataplane

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// places are where clients put credentials.
func places() []string {
	return []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "?key", "X-Interlock-Key"}
}

// put makes a header, or a query, of a credential at a place.
func put(place, credential string) (header, query string) {
	switch place {
	case "?key":
		return "", "key=" + credential
	case "Authorization":
		return "Authorization: Bearer " + credential, ""
	}
	return place + ": " + credential, ""
}

// presented is a request with credentials at places.
func (r *rig) presented(t *testing.T, at map[string]string, more ...string) gwtest.Answer {
	t.Helper()
	headers, path := append([]string{"Authorization:"}, more...), r.way.path
	for _, p := range places() {
		if at[p] == "" {
			continue
		}
		h, q := put(p, at[p])
		if h != "" {
			headers = append(headers, h)
		}
		if q != "" {
			path += "?" + q
		}
	}
	return r.Post(t, path, r.way.ask(r.way.stream), headers...)
}

// mixed has a member of each kind, the passthrough one first.
func mixed(t *testing.T, w *way, more ...string) *rig {
	t.Helper()
	return newRig(t, w, "", append(more, w.pass("pass"), w.org("ours"), w.org("other"), w.pool("", "pass", "ours", "other"), virtual("other"),
		"kind: Key\nname: mine\ntype: pat\nsecret: ilk_test_of_a_person_00000001\nowner: {user: ann}", "kind: User\nname: ann")...)
}

// TestRQ_CRED_table: every place of our key with every place of a foreign
// credential, and each of them alone.
func TestRQ_CRED_table(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := mixed(t, w)
		for _, ours := range places() {
			for _, foreign := range append(places(), "") {
				if ours == foreign {
					continue
				}
				t.Run(ours+"_beside_"+foreign, func(t *testing.T) {
					r.script(t)
					got := r.presented(t, map[string]string{ours: gwtest.Key, foreign: w.callerKey()}, "Cookie: a=sess_1", "X-Interlock-Team: x")
					by, credential := "ours", "own"
					if ours == "X-Interlock-Key" && foreign != "" {
						by, credential = "pass", "caller"
					}
					r.wantServed(t, got, by, 1)
					r.wantCredentials(t, by+":"+credential)
					rec := r.record(t, got)
					if rec.Credential != credential || rec.Caller.Source != "service" || rec.Caller.Key != "test" || tries(&rec) != by+":"+credential+":allow" {
						t.Errorf("credential %q, caller %+v, attempts %s", rec.Credential, rec.Caller, tries(&rec))
					}
				})
			}
		}
	})
}

// TestRQ_CRED_only_a_foreign_credential: a stranger is let in by the setting
// alone, and stays one.
func TestRQ_CRED_only_a_foreign_credential(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		closed, open := mixed(t, w), mixed(t, w, anonymous)
		for _, place := range places() {
			t.Run(place, func(t *testing.T) {
				credential := map[string]string{place: w.callerKey()}
				closed.script(t)
				closed.wantCode(t, closed.presented(t, credential), 401, "invalid_api_key")
				closed.wantDials(t)

				open.script(t)
				got := open.presented(t, credential)
				if place == "X-Interlock-Key" { // never a provider's
					open.wantCode(t, got, 401, "invalid_api_key")
					open.wantDials(t)
					return
				}
				open.wantServed(t, got, "pass", 1)
				open.wantCredentials(t, "pass:caller")
				rec := open.record(t, got)
				if rec.Credential != "caller" || rec.Caller != (audit.Caller{Source: "passthrough"}) {
					t.Errorf("credential %q, caller %+v", rec.Credential, rec.Caller)
				}
			})
		}
	})
}

// TestRQ_CRED_who_is_nobody: what our header or a key of ours says counts, and
// what is wrong with it is not made good by a credential beside it, nor by the
// setting for strangers.
func TestRQ_CRED_who_is_nobody(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		for name, more := range map[string][]string{"closed": nil, "open": {anonymous}} {
			t.Run(name, func(t *testing.T) {
				r := mixed(t, w, append(more, moreKeys()...)...)
				for name, at := range map[string]map[string]string{
					"nothing":                                   {},
					"signature_alone":                           {"X-Api-Key": foreignSigV4},
					"unknown_key_beside_a_foreign_one":          {"X-Interlock-Key": unknownKey, "Authorization": w.callerKey()},
					"expired_key_beside_a_foreign_one":          {"X-Interlock-Key": expiredKey, "X-Api-Key": w.callerKey()},
					"disabled_key_beside_a_foreign_one":         {"Authorization": disabledKey, "X-Api-Key": w.callerKey()},
					"unknown_session_beside_a_foreign_one":      {"X-Interlock-Key": sessionKey, "Authorization": w.callerKey()},
					"foreign_in_our_header_and_another":         {"X-Interlock-Key": foreignOpenAI, "Authorization": w.callerKey()},
					"unknown_key_in_our_header_and_a_good_one":  {"X-Interlock-Key": unknownKey, "Authorization": gwtest.Key},
					"unknown_key_in_a_query_beside_foreign_one": {"?key": unknownKey, "Authorization": w.callerKey()},
				} {
					got := r.presented(t, at)
					if e := r.way.mustError(t, got.Body); got.Status != 401 || e.code() != "invalid_api_key" {
						t.Errorf("%s: %d %s", name, got.Status, got.Body)
					}
				}
				r.wantDials(t)
			})
		}
	})
}

// TestRQ_CRED_SigV4: a signature says nothing, and is never sent on.
func TestRQ_CRED_SigV4(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := mixed(t, w, anonymous)
		got := r.ask(t, "Authorization: "+foreignSigV4, "X-Interlock-Key: "+gwtest.Key, "X-Amz-Security-Token: canary", "X-Amz-Date: 20261130T000000Z")
		r.wantServed(t, got, "ours", 1)
		r.wantCredentials(t, "ours:own")
		if all := observed(&r.fake.Records()[0]); strings.Contains(all, "AWS4") || strings.Contains(all, "canary") || strings.Contains(all, "X-Amz") {
			t.Error(all)
		}
	})
}

// TestRQ_CRED_virtual_keys: they are callers of the organisation; their
// credential is for one provider, and nothing beside them counts.
func TestRQ_CRED_virtual_keys(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.pass("pass"), w.org("first"), w.org("second"), w.pool("", "pass", "first", "second"), virtual("first"), anonymous)
		for _, place := range places() {
			for _, beside := range []string{"", "Authorization", "X-Api-Key"} {
				if place == beside {
					continue
				}
				r.script(t)
				got := r.presented(t, map[string]string{place: virtualSecret, beside: w.callerKey()})
				r.wantServed(t, got, "first", 1)
				r.wantCredentials(t, "first:virtual")
				if rec := r.record(t, got); rec.Credential != "virtual" || rec.Caller.Source != "virtual" || rec.Caller.Key != "virt" {
					t.Errorf("%s beside %q: %q %+v", place, beside, rec.Credential, rec.Caller)
				}
			}
		}
		if w.count {
			return
		}
		t.Run("RT-FO-5_the_next_member_has_its_own", func(t *testing.T) {
			r.script(t, fails("first", 500))
			got := r.ask(t, "Authorization: Bearer "+virtualSecret)
			r.wantServed(t, got, "second", 2)
			r.wantCredentials(t, "first:virtual second:own")
			if rec := r.record(t, got); rec.Credential != "own" || tries(&rec) != "first:virtual:server_error second:own:allow" {
				t.Errorf("%q %s", rec.Credential, tries(&rec))
			}
		})
	})
	t.Run("a_passthrough_member_may_be_the_one", func(t *testing.T) {
		w := ways()[0]
		r := newRig(t, w, "", w.pass("pass"), w.pool("", "pass"), virtual("pass"))
		r.wantServed(t, r.ask(t, "Authorization: Bearer "+virtualSecret), "pass", 1)
		r.wantCredentials(t, "pass:virtual")
	})
}

// TestRQ_CRED_sources: the source is the server's word, whatever a client says.
func TestRQ_CRED_sources(t *testing.T) {
	r := mixed(t, ways()[0], anonymous)
	for secret, want := range map[string]audit.Caller{
		gwtest.Key:                      {Key: "test", Source: "service"},
		"ilk_test_of_a_person_00000001": {Key: "mine", Source: "pat", User: "ann"},
		virtualSecret:                   {Key: "virt", Source: "virtual"},
		foreignAnthropic:                {Source: "passthrough"},
	} {
		got := r.ask(t, "Authorization: Bearer "+secret, "X-Interlock-Source: session", "X-Interlock-User: root")
		if rec := r.record(t, got); rec.Caller != want {
			t.Errorf("%+v, want %+v", rec.Caller, want)
		}
	}
}

// ownHeaders are for the vendor that a credential is of, and for nobody else.
func ownHeaders() []string {
	return []string{"Openai-Organization: theirs", "Openai-Project: theirs", "Chatgpt-Account-Id: theirs", "Originator: theirs", "Version: theirs", "X-Codex-Window-Id: theirs"}
}

// TestRQ_HDR_1_headers_of_an_account go with the caller's own credential, and
// not with another one in the same request.
func TestRQ_HDR_1_headers_of_an_account(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		settings := map[string][]string{"openai": {"openai: {organization: org-ours}"}}[w.kind]
		r := newRig(t, w, "", w.pass("pass"), w.org("ours", settings...), w.pool("orgKeyFallbackForCallerCredentials: true", "pass", "ours"))
		r.script(t, fails("pass", 500))
		r.wantServed(t, r.ask(t, w.own(ownHeaders()...)...), "ours", 2)
		r.wantCredentials(t, "pass:caller ours:own")
		recs := r.fake.Records()
		for _, h := range ownHeaders() {
			name, _, _ := strings.Cut(h, ":")
			got, want := strings.Join(recs[0].Headers[name], "|"), ""
			if w.kind == "openai" {
				want = "theirs"
			}
			if got != want {
				t.Errorf("%s at the passthrough member: %q, want %q", name, got, want)
			}
		}
		if strings.Contains(observed(&recs[1]), "theirs") {
			t.Errorf("with our key: %s", observed(&recs[1]))
		}
		r.script(t)
		r.wantServed(t, r.ask(t, ownHeaders()...), "ours", 1)
		if all := observed(&r.fake.Records()[0]); strings.Contains(all, "theirs") {
			t.Error(all)
		}
	})
}

// TestRQ_HDR_2_rate_limit_headers are the affair of the holder of the
// credential: the organisation's stay with it.
func TestRQ_HDR_2_rate_limit_headers(t *testing.T) {
	limits := []string{"Anthropic-Ratelimit-Requests-Remaining: 7", "Anthropic-Ratelimit-Unified-Status: allowed", "X-Ratelimit-Remaining-Tokens: 9"}
	eachWay(t, func(t *testing.T, w *way) {
		// No cooldowns, which would change the order of the members.
		r := newRig(t, w, "llmProxy: {circuitBreaker: {maxRetryAfterSeconds: 0}}", w.pass("pass"), w.org("ours"), w.pool("", "pass", "ours"), virtual("ours"))
		for status, retry := range map[int]string{200: "", 429: "4", 400: ""} {
			headers := append(slices.Clone(limits), "Set-Cookie: a=b", "Anthropic-Organization-Id: org", "Openai-Organization: org")
			if retry != "" {
				headers = append(headers, "Retry-After: "+retry)
			}
			var rules []fakellm.Rule
			for _, name := range r.names {
				rule := fails(name, status, headers...)
				if status == 200 {
					rule.Action, rule.Status, rule.Reply = "", 0, says(name)
				}
				rules = append(rules, rule)
			}
			for caller, asks := range map[string][]string{"own": w.own(), "organisation": nil, "virtual": {"Authorization: Bearer " + virtualSecret}} {
				r.script(t, rules...)
				got := r.ask(t, asks...)
				if got.Status != status || got.Header.Get("Retry-After") != retry {
					t.Errorf("%s: %d, retry-after %q, want %d and %q: %s", caller, got.Status, got.Header.Get("Retry-After"), status, retry, got.Body)
				}
				for _, h := range limits {
					k, v, _ := strings.Cut(h, ": ")
					want := ""
					if caller == "own" {
						want = v
					}
					if g := got.Header.Get(k); g != want {
						t.Errorf("%s, status %d: %s is %q, want %q", caller, status, k, g, want)
					}
				}
				for _, k := range []string{"Set-Cookie", "Anthropic-Organization-Id", "Openai-Organization"} {
					if got.Header.Get(k) != "" {
						t.Errorf("%s: %s passed", caller, k)
					}
				}
			}
		}
	})
}

// TestR83_a_subscription_token_passes_untouched: on every path, also when it
// is renewed between two requests, and it is never logged or kept.
func TestR83_a_subscription_token_passes_untouched(t *testing.T) {
	for _, w := range ways()[:3] {
		t.Run(w.name, func(t *testing.T) {
			r := newRig(t, w, "telemetry: {logLevel: debug}", w.pass("max"), w.pool("", "max"))
			for i := range 3 {
				token := fmt.Sprintf("sk-ant-oat01-token-%d-canary", i)
				r.script(t, at("max", fakellm.Rule{Headers: map[string]string{"X-Echo": token}, Reply: says("max")}))
				got := r.ask(t, "Authorization:", "X-Interlock-Key: "+gwtest.Key, "Authorization: Bearer "+token, "Anthropic-Beta: oauth-2025-04-20")
				r.wantServed(t, got, "max", 1)
				rec := r.fake.Records()[0]
				if a := rec.Headers["Authorization"]; !slices.Equal(a, []string{"Bearer " + token}) || rec.Headers["X-Api-Key"] != nil || rec.Headers.Get("Anthropic-Beta") != "oauth-2025-04-20" {
					t.Errorf("%v", rec.Headers)
				}
				if d := r.Admin(t, "GET", "/decisions/"+got.Header.Get("X-Interlock-Request-Id"), ""); strings.Contains(d.Body, "canary") {
					t.Error(d.Body)
				}
			}
			if err := r.Stop(); err != nil {
				t.Fatal(err)
			}
			if log := r.Log.String(); !strings.Contains(log, `"status":200`) || strings.Contains(log, "canary") {
				t.Errorf("the log: %s", clipped(log))
			}
		})
	}
}

// TestRQ_CRED_2_nothing_stands_in_for_a_key: a member without a key is not
// dialled for a caller of the organisation, whatever it sends along.
func TestRQ_CRED_2_nothing_stands_in_for_a_key(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.pass("pass"), w.pool("", "pass"))
		e := r.wantCode(t, r.ask(t, "Api-Key: "+foreignAnthropic), 503, "NO_ROUTE")
		r.wantDials(t)
		for _, word := range []string{w.model, `"pool"`, "org-key member", "no credential of its own"} {
			if !strings.Contains(e.Message, word) {
				t.Errorf("the message does not name %s: %s", word, e.Message)
			}
		}
	})
}
