package dataplane

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// foreign are credentials that no Interlock server issued, as clients have
// them lying around.
const (
	foreignAnthropic = "sk-ant-api03-foreign-canary"
	foreignOpenAI    = "sk-proj-foreign-canary"
	foreignSigV4     = "AWS4-HMAC-SHA256 Credential=AKIAFOREIGNCANARY/20261130/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=f0e1gncanary"
	foreignGoogle    = "AIzaForeignCanary"
)

// presentation is a way to present a key.
type presentation struct {
	name    string
	query   string
	headers []string
	// own: the caller brings its own credential by it.
	own bool
}

func presentations() []presentation {
	k := gwtest.Key
	return []presentation{
		{"bearer", "", []string{"Authorization: Bearer " + k}, false},
		{"bearer_in_small_letters", "", []string{"Authorization: bearer " + k}, false},
		{"x-api-key", "", []string{"X-Api-Key: " + k}, false},
		{"api-key", "", []string{"Api-Key: " + k}, false},
		{"x-goog-api-key", "", []string{"X-Goog-Api-Key: " + k}, false},
		{"query", "?key=" + k, nil, false},
		{"query_among_others", "?beta=true&key=" + k + "&alt=sse", nil, false},
		{"x-interlock-key_alone", "", []string{"X-Interlock-Key: " + k}, false},
		{"x-interlock-key_and_foreign_bearer", "", []string{"X-Interlock-Key: " + k, "Authorization: Bearer " + foreignOpenAI}, true},
		{"x-interlock-key_and_foreign_x-api-key", "", []string{"X-Interlock-Key: " + k, "X-Api-Key: " + foreignAnthropic}, true},
		{"x-interlock-key_and_SigV4", "", []string{"X-Interlock-Key: " + k, "Authorization: " + foreignSigV4, "X-Amz-Security-Token: canary-session-token"}, false},
		{"x-interlock-key_and_foreign_query", "?key=" + foreignGoogle, []string{"X-Interlock-Key: " + k}, true},
		{"x-interlock-key_and_basic", "", []string{"X-Interlock-Key: " + k, "Authorization: Basic Y2FuYXJ5OmNhbmFyeQ=="}, true},
		{"bearer_and_x-api-key", "", []string{"Authorization: Bearer " + k, "X-Api-Key: " + k}, false},
		{"bearer_and_foreign_x-api-key", "", []string{"Authorization: Bearer " + k, "X-Api-Key: " + foreignAnthropic}, false},
		{"foreign_bearer_and_x-api-key", "", []string{"Authorization: Bearer " + foreignOpenAI, "X-Api-Key: " + k}, false},
		{"foreign_bearer_and_query", "?key=" + k, []string{"Authorization: Bearer " + foreignOpenAI}, false},
		{"everything_at_once", "?key=" + k, []string{
			"X-Interlock-Key: " + k, "Authorization: Bearer " + foreignOpenAI, "X-Api-Key: " + foreignAnthropic, "Api-Key: canary-azure", "X-Goog-Api-Key: " + foreignGoogle,
		}, true},
	}
}

// canaries are the words that must not reach a provider: our keys, and
// whatever the presentations and noise hold.
func canaries() []string {
	return []string{"ilk_", "sess_", "canary", "Canary", "CANARY", "AKIA", "Y2FuYXJ5", "X-Interlock", "x-interlock"}
}

// noise are headers that clients and proxies add and that say who somebody is.
func noise() []string {
	return []string{
		"Cookie: interlock_session=sess_canary; other=canary", "X-Interlock-User: canary", "X-Interlock-Team: canary", "Proxy-Authorization: Basic Y2FuYXJ5",
		"X-Forwarded-For: 10.0.0.1, canary", "X-Forwarded-Authorization: Bearer canary", "X-Auth-Request-Access-Token: canary", "X-Csrf-Token: canary",
		"X-Amz-Content-Sha256: canary", "Chatgpt-Account-Id: canary", "Openai-Organization: canary", "Baggage: user=canary", "Referer: http://x/?key=canary",
	}
}

// observed is everything that a provider received, as text.
func observed(r *fakellm.Record) string {
	var b strings.Builder
	fmt.Fprintln(&b, r.Method, r.Path, r.RawPath, r.Query, r.Host)
	for _, line := range r.RawHeaders {
		fmt.Fprintln(&b, line)
	}
	for k, v := range r.Headers {
		fmt.Fprintln(&b, k, v)
	}
	b.Write(r.Raw)
	return b.String()
}

// wantClean checks that a provider received its own credential and no other.
func wantClean(t *testing.T, f llm.Format, r *fakellm.Record) {
	t.Helper()
	all := observed(r)
	for _, c := range canaries() {
		if i := strings.Index(all, c); i >= 0 {
			t.Errorf("the provider received %q: …%s…", c, all[max(0, i-40):min(len(all), i+40)])
		}
	}
	own := map[string]string{"Authorization": "", "X-Api-Key": "", "Api-Key": "", "X-Goog-Api-Key": "", "Cookie": "", "Proxy-Authorization": ""}
	if f == llm.AnthropicMessages {
		own["X-Api-Key"] = "sk-ant-key-of-claude-home"
	} else {
		own["Authorization"] = "Bearer sk-key-of-gpt-home"
	}
	for k, want := range own {
		if got := strings.Join(r.Headers[k], "|"); got != want {
			t.Errorf("%s is %q, want %q", k, got, want)
		}
	}
}

func TestRQ_CRED_1_R102_no_credential_of_the_client_is_forwarded(t *testing.T) {
	gw := startDuo(t, "telemetry: {logLevel: debug}")
	eachAnswer(t, func(t *testing.T, e *llm.Endpoint, _ bool, body string) {
		for _, path := range e.Paths {
			for _, p := range presentations() {
				t.Run(strings.ReplaceAll(strings.Trim(path, "/"), "/", "_")+"/RQ-CRED_"+p.name, func(t *testing.T) {
					fake := gw.fake(e.Format)
					fake.Reset()
					req := gw.Request(t, "POST", path+p.query, body, append(append([]string{"Authorization:"}, p.headers...), noise()...)...)
					got := gw.Send(t, req)
					recs := fake.Records()
					if p.own { // ER-MODE: the only member has a key of the organisation
						wantRefusal(t, got, e.Format, 503, "NO_ROUTE")
						if len(recs) != 0 {
							t.Errorf("%d requests", len(recs))
						}
						return
					}
					if got.Status != 200 {
						t.Fatalf("%d %s", got.Status, got.Body)
					}
					if len(recs) != 1 {
						t.Fatalf("%d requests", len(recs))
					}
					wantClean(t, e.Format, &recs[0])
				})
			}
		}
	})
	t.Run("R99_nor_logged", func(t *testing.T) {
		log := gw.Log.String()
		if log == "" {
			t.Fatal("nothing was logged at debug level, so nothing is proven")
		}
		for _, secret := range []string{gwtest.Key, "canary", "sk-ant-key-of", "sk-key-of"} {
			if strings.Contains(log, secret) {
				t.Errorf("the log holds %q", secret)
			}
		}
	})
}

// Claude Code sends both headers when it has both: the bearer token counts.
func TestRQ_CRED_bearer_wins(t *testing.T) {
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		gw := startDuo(t, "telemetry: {logLevel: debug}", moreKeys()...)
		body := endpointBody(t, e, endpointModel(t, e.Format))
		if got := gw.Post(t, e.Paths[0], body, "Authorization: Bearer "+futureKey, "X-Api-Key: "+gwtest.Key); got.Status != 200 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		if got := gw.Post(t, e.Paths[0], body, "Authorization: Bearer "+expiredKey, "X-Api-Key: "+gwtest.Key); got.Status != 401 {
			t.Errorf("%d: a key that is refused must not fall back to another identity", got.Status)
		}
		if err := gw.Stop(); err != nil { // everything is logged then
			t.Fatal(err)
		}
		if log := gw.Log.String(); !strings.Contains(log, `"key":"future"`) || strings.Contains(log, `"key":"test"`) {
			t.Error(log)
		}
	})
}

// Two lines of one header: net/http's client sends both, and either may hold
// our key.
func TestRQ_CRED_two_lines_of_authorization(t *testing.T) {
	gw := startDuo(t, "")
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		for _, values := range [][]string{{"Bearer " + foreignOpenAI, "Bearer " + gwtest.Key}, {"Bearer " + gwtest.Key, "Bearer " + foreignOpenAI}} {
			fake := gw.fake(e.Format)
			fake.Reset()
			req := gw.Request(t, "POST", e.Paths[0], endpointBody(t, e, endpointModel(t, e.Format)))
			req.Header["Authorization"] = values
			if got := gw.Send(t, req); got.Status != 200 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
			wantClean(t, e.Format, &fake.Records()[0])
		}
	})
}

// The key must not leave with what fails either: with an error that is passed
// on, or through another member.
func TestRQ_CRED_1_R102_failures_hold_no_credential(t *testing.T) {
	// This provider repeats in its error whatever it received.
	parrot := scriptedProvider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "1")
		w.WriteHeader(422)
		_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q,"code":"odd","param":null}}`, fmt.Sprint(r.URL, r.Header))
	})
	gw := gwtest.Start(t, parrot.Anthropic("a"), parrot.OpenAI("b"))
	eachAnswer(t, func(t *testing.T, e *llm.Endpoint, _ bool, body string) {
		for _, p := range presentations() {
			got := gw.Send(t, gw.Request(t, "POST", e.Paths[0]+p.query, body, append(append([]string{"Authorization:"}, p.headers...), noise()...)...))
			if p.own { // ER-MODE
				wantRefusal(t, got, e.Format, 503, "NO_ROUTE")
			} else if got.Status != 422 || !strings.Contains(got.Body, "User-Agent") {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
			all := fmt.Sprint(got.Header) + got.Body
			for _, secret := range append(canaries(), "sk-ant-key-of-a", "sk-key-of-b") {
				if strings.Contains(got.Body, secret) || secret != "X-Interlock" && strings.Contains(all, secret) {
					t.Errorf("%s: the answer holds %q: %s", p.name, secret, got.Body)
				}
			}
		}
	})
}

// TestRQ_CRED_2: a provider without a key is never dialled for a caller of the
// organisation, and never with what the client happened to send.
func TestRQ_CRED_2_provider_without_a_key(t *testing.T) {
	fake := gwtest.NewFake(t)
	keyless := func(typ, name string) string {
		return "kind: Provider\nname: " + name + "\ntype: " + typ + "\nbaseUrl: " + fake.URL
	}
	// What stands beside our key in a header that has room for one only is
	// ignored: this is a caller of the organisation.
	withForeign := []string{
		"Authorization: Bearer " + gwtest.Key, "X-Api-Key: " + foreignAnthropic, "Api-Key: " + foreignOpenAI, "X-Goog-Api-Key: " + foreignGoogle,
	}
	for name, docs := range map[string][]string{
		"implicit_route": {keyless("anthropic", "a"), keyless("openai", "b")},
		"stored_route": {
			keyless("anthropic", "a"), keyless("openai", "b"), gwtest.Route("claude", `"claude-*"`, "a"), gwtest.Route("gpt", `"gpt-*"`, "b"),
		},
		"two_of_them": {
			keyless("anthropic", "a"), keyless("openai", "b"), keyless("anthropic", "a2"), keyless("openai", "b2"),
			gwtest.Route("claude", `"claude-*"`, "a", "a2"), gwtest.Route("gpt", `"gpt-*"`, "b", "b2"),
		},
	} {
		t.Run("ER-MODE_"+name, func(t *testing.T) {
			gw := gwtest.Start(t, docs...)
			eachAnswer(t, func(t *testing.T, e *llm.Endpoint, _ bool, body string) {
				for _, headers := range [][]string{nil, withForeign} {
					got := gw.Post(t, e.Paths[0], body, headers...)
					wantRefusal(t, got, e.Format, 503, "NO_ROUTE")
					if got.Header.Get("X-Should-Retry") != "false" {
						t.Error("repeating is of no use")
					}
				}
			})
			if n := fake.Requests(); n != 0 {
				t.Errorf("it was dialled %d times", n)
			}
		})
	}
	t.Run("beside_one_with_a_key", func(t *testing.T) {
		good := gwtest.NewFake(t)
		gw := gwtest.Start(t, keyless("anthropic", "a"), keyless("openai", "b"), good.Anthropic("claude-home"), good.OpenAI("gpt-home"),
			gwtest.Route("claude", `"claude-*"`, "a", "claude-home"), gwtest.Route("gpt", `"gpt-*"`, "b", "gpt-home"))
		eachAnswer(t, func(t *testing.T, e *llm.Endpoint, _ bool, body string) {
			good.Reset()
			got := gw.Post(t, e.Paths[0], body, withForeign...)
			if got.Status != 200 || got.Header.Get("X-Interlock-Attempts") != "1" {
				t.Fatalf("%d %v", got.Status, got.Header)
			}
			wantClean(t, e.Format, &good.Records()[0])
		})
		if n := fake.Requests(); n != 0 {
			t.Errorf("the one without a key was dialled %d times", n)
		}
	})
	t.Run("a_vendor_that_needs_none_gets_none", func(t *testing.T) {
		local := gwtest.NewFake(t)
		gw := gwtest.Start(t, "kind: Provider\nname: local\ntype: openai-compatible\nvendor: ollama\nbaseUrl: "+local.URL+"/v1",
			gwtest.Route("llama", `"llama-*"`, "local"))
		got := gw.Post(t, "/v1/chat/completions", gwtest.Chat("llama-3", false), withForeign...)
		if got.Status != 200 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		h := local.Records()[0].Headers
		if h["Authorization"] != nil || h["X-Api-Key"] != nil || strings.Contains(observed(&local.Records()[0]), "canary") {
			t.Errorf("%v", h)
		}
	})
}

// A redirect would carry the organisation's key, and the client's text, to
// wherever the provider says.
func TestRQ_CRED_1_redirects_are_not_followed(t *testing.T) {
	elsewhere := gwtest.NewFake(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		provider := scriptedProvider(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", elsewhere.URL+r.URL.Path)
			w.WriteHeader(status)
		})
		gw := gwtest.Start(t, provider.Anthropic("a"), provider.OpenAI("b"))
		gw.Client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			eachAnswer(t, func(t *testing.T, e *llm.Endpoint, _ bool, body string) {
				got := gw.Post(t, e.Paths[0], body)
				wantRefusal(t, got, e.Format, 502, "upstream_unreachable")
				if strings.Contains(fmt.Sprint(got.Header)+got.Body, elsewhere.URL) {
					t.Errorf("the client is told where: %v %s", got.Header, got.Body)
				}
			})
		})
	}
	if n := elsewhere.Requests(); n != 0 {
		t.Errorf("%d requests were sent there", n)
	}
}

// An OAuth token of Anthropic goes out as a bearer token with the beta that it
// needs, and what the client asked for stays beside it.
func TestRQ_CRED_oauth_token_of_a_provider(t *testing.T) {
	const token, beta = "sk-ant-oat01-token-of-ours", "oauth-2025-04-20"
	first, second := gwtest.NewFake(t), gwtest.NewFake(t)
	gw := gwtest.Start(t, "kind: Provider\nname: oauth\ntype: anthropic\nbaseUrl: "+first.URL+"\napiKey: "+token, second.Anthropic("claude-home"),
		gwtest.Route("claude", `"claude-*"`, "oauth", "claude-home"))
	for name, c := range map[string]struct{ sent, want []string }{
		"no_beta":       {nil, []string{beta}},
		"others":        {[]string{"Anthropic-Beta: one,two", "Anthropic-Beta: three"}, []string{"one,two", "three", beta}},
		"already_there": {[]string{"Anthropic-Beta: one," + beta + ",two"}, []string{"one," + beta + ",two"}},
	} {
		t.Run(name, func(t *testing.T) {
			first.Rules(t)
			first.Reset()
			if got := gw.Post(t, "/v1/messages", gwtest.Message("claude-test", false), append(c.sent, "X-Api-Key: "+foreignAnthropic)...); got.Status != 200 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
			h := first.Records()[0].Headers
			if strings.Join(h["Authorization"], "|") != "Bearer "+token || h["X-Api-Key"] != nil || strings.Join(h["Anthropic-Beta"], "|") != strings.Join(c.want, "|") {
				t.Errorf("%v", h)
			}
			first.Rules(t, fakellm.Rule{Action: "status", Status: 500})
			second.Reset()
			gw.Post(t, "/v1/messages", gwtest.Message("claude-test", false), c.sent...)
			wantClean(t, llm.AnthropicMessages, &second.Records()[0])
			sent := make([]string, len(c.sent))
			for i, s := range c.sent {
				sent[i] = strings.TrimPrefix(s, "Anthropic-Beta: ")
			}
			if got := second.Records()[0].Headers["Anthropic-Beta"]; strings.Join(got, "|") != strings.Join(sent, "|") {
				t.Errorf("the second member received %q of %q", got, sent)
			}
		})
	}
}

// Headers that a provider's configuration adds win over the client's.
func TestRQ_HDR_1_headers_of_the_provider_s_configuration(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.Start(t, fake.Anthropic("claude-home", "headers: {X-Session-Id: ours, X-Gateway-Zone: eu}"),
		fake.OpenAI("gpt-home", "headers: {X-Session-Id: ours, X-Gateway-Zone: eu}", "openai: {organization: org-ours, project: proj-ours}"))
	eachAnswer(t, func(t *testing.T, e *llm.Endpoint, _ bool, body string) {
		fake.Reset()
		got := gw.Post(t, e.Paths[0], body, "X-Session-Id: theirs", "X-Gateway-Zone: theirs", "OpenAI-Organization: org-theirs", "OpenAI-Project: proj-theirs")
		if got.Status != 200 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		rec := fake.Records()[0]
		want := map[string]string{"X-Session-Id": "ours", "X-Gateway-Zone": "eu"}
		if e.Format != llm.AnthropicMessages {
			want["Openai-Organization"], want["Openai-Project"] = "org-ours", "proj-ours"
		}
		for k, v := range want {
			if h := strings.Join(rec.Headers[k], "|"); h != v {
				t.Errorf("%s is %q, want %q", k, h, v)
			}
		}
		if strings.Contains(observed(&rec), "theirs") {
			t.Error(observed(&rec))
		}
	})
}

const (
	// No five characters of these are part of a word.
	expiredKey  = "ilk_qzvxwkjqzhgfvbxkqjwzpvkx1"
	disabledKey = "ilk_wqjzxkvbqpzgfhxkjvqwzpbx2"
	unknownKey  = "ilk_zkqvjxwbzpqhgfkxvjqzwbpk3"
	futureKey   = "ilk_vjqkzwxpqbzfghkvxjqwzkbp4"
	sessionKey  = "sess_xkzqjvwpbqzkxfghjvqwzkpb5"
)

// moreKeys are documents of keys of every state.
func moreKeys() []string {
	key := func(name, secret, more string) string {
		return "kind: Key\nname: " + name + "\ntype: service\nsecret: " + secret + "\n" + more
	}
	return []string{
		key("expired", expiredKey, "expiresAt: 2020-01-01T00:00:00Z"),
		key("disabled", disabledKey, "enabled: false"),
		key("future", futureKey, "expiresAt: 2999-01-01T00:00:00Z"),
	}
}

// badCredentials are headers that name no caller.
func badCredentials() map[string][]string {
	return map[string][]string{
		"none":                    {"Authorization:"},
		"empty_bearer":            {"Authorization: Bearer"},
		"unknown_bearer":          {"Authorization: Bearer " + unknownKey},
		"unknown_x-api-key":       {"Authorization:", "X-Api-Key: " + unknownKey},
		"unknown_x-interlock-key": {"Authorization:", "X-Interlock-Key: " + unknownKey},
		"expired":                 {"Authorization: Bearer " + expiredKey},
		"disabled":                {"Authorization: Bearer " + disabledKey},
		"foreign":                 {"Authorization: Bearer " + foreignOpenAI, "X-Api-Key: " + foreignAnthropic},
		"SigV4":                   {"Authorization: " + foreignSigV4},
		"session_of_nobody":       {"Authorization: Bearer " + sessionKey},
		"prefix_only":             {"Authorization: Bearer ilk_"},
		"key_with_more_behind":    {"Authorization: Bearer " + gwtest.Key + "x"},
		"key_cut_short":           {"Authorization: Bearer " + gwtest.Key[:len(gwtest.Key)-1]},
		"key_in_capital_letters":  {"Authorization: Bearer ilk_" + strings.ToUpper(gwtest.Key[4:])},
		"key_as_password":         {"Authorization: Basic " + gwtest.Key},
	}
}

// shows fails when a text holds eight characters in a row of a secret, beyond
// the prefix that says what sort it is. Eight, because the secrets of the tests
// count "0123456789" and the nanoseconds of a log line show five digits of that
// by chance about once in a hundred runs (they did, in CI).
func shows(t *testing.T, what, text string, secrets []string) {
	t.Helper()
	const run = 8
	for _, s := range secrets {
		for i := len("ilk_"); i+run <= len(s); i++ {
			if strings.Contains(text, s[i:i+run]) {
				t.Fatalf("%s shows %q of a credential: %s", what, s[i:i+run], text)
			}
		}
	}
}

func TestER_AUTH_keys_that_are_not_good(t *testing.T) {
	secrets := []string{unknownKey, expiredKey, disabledKey, gwtest.Key, foreignAnthropic, foreignOpenAI, sessionKey}
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		gw := startDuo(t, "telemetry: {logLevel: debug}", moreKeys()...) // one for each, for the guard against guessing counts
		body := endpointBody(t, e, endpointModel(t, e.Format))
		for name, headers := range badCredentials() {
			t.Run(name, func(t *testing.T) {
				got := gw.Post(t, e.Paths[0], body, headers...)
				err := wantRefusal(t, got, e.Format, 401, "invalid_api_key")
				if got.Header.Get("X-Should-Retry") != "false" {
					t.Error("Claude Code would repeat this for minutes")
				}
				want := map[llm.Format]string{llm.AnthropicMessages: "authentication_error", llm.OpenAIChat: "invalid_request_error", llm.OpenAIResponses: "invalid_request_error"}[e.Format]
				if err.Type != want {
					t.Errorf("type %q, want %q", err.Type, want)
				}
				shows(t, "the answer", fmt.Sprint(got.Header)+got.Body, secrets)
			})
		}
		if n := gw.contacted(); n != 0 {
			t.Errorf("a provider was contacted %d times", n)
		}
		shows(t, "the log", gw.Log.String(), secrets)
		t.Run("a_key_that_expires_later_is_good", func(t *testing.T) {
			if got := gw.Post(t, e.Paths[0], body, "Authorization: Bearer "+futureKey); got.Status != 200 {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	})
	t.Run("models", func(t *testing.T) {
		gw := startDuo(t, "", moreKeys()...)
		wantRefusal(t, gw.Do(t, "GET", "/v1/models", "", "Authorization: Bearer "+unknownKey), llm.OpenAIChat, 401, "invalid_api_key")
		wantRefusal(t, gw.Do(t, "GET", "/v1/models/claude-x", "", "Authorization: Bearer "+expiredKey), llm.OpenAIChat, 401, "invalid_api_key")
		wantRefusal(t, gw.Do(t, "GET", "/v1/models", "", "Authorization:", "Anthropic-Version: 2023-06-01"), llm.AnthropicMessages, 401, "invalid_api_key")
	})
}

// TestRQ_2_body_is_not_read: a stranger is told so before it has uploaded
// anything, and what it says about its body does not matter.
func TestRQ_2_body_of_an_unknown_caller_is_not_read(t *testing.T) {
	gw := startDuo(t, "")
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		head := "POST " + e.Paths[0] + " HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + unknownKey + "\r\n"
		t.Run("never_sent", func(t *testing.T) {
			conn := rawConn(t, gw.Server)
			if _, err := io.WriteString(conn, head+"Content-Length: 30000000\r\n\r\n{"); err != nil {
				t.Fatal(err)
			}
			r := bufio.NewReader(conn)
			wantRefusal(t, readAnswer(t, r), e.Format, 401, "invalid_api_key")
			if _, err := r.ReadByte(); err != io.EOF {
				t.Errorf("the connection is kept for a body that nobody wants: %v", err)
			}
		})
		t.Run("no_100_continue", func(t *testing.T) {
			got := rawExchange(t, gw.Server, head+"Content-Length: 30000000\r\nExpect: 100-continue\r\n\r\n")
			wantRefusal(t, got, e.Format, 401, "invalid_api_key")
		})
		t.Run("before_its_size_and_encoding", func(t *testing.T) {
			got := rawExchange(t, gw.Server, head+"Content-Length: 99999999999\r\nContent-Encoding: rot13\r\n\r\n")
			wantRefusal(t, got, e.Format, 401, "invalid_api_key")
		})
		t.Run("a_known_caller_gets_100_continue", func(t *testing.T) {
			conn := rawConn(t, gw.Server)
			body := endpointBody(t, e, endpointModel(t, e.Format))
			if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", e.Paths[0], gwtest.Key, len(body)); err != nil {
				t.Fatal(err)
			}
			r := bufio.NewReader(conn)
			if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100") {
				t.Fatalf("%v %q", err, line)
			}
			if _, err := r.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, body); err != nil {
				t.Fatal(err)
			}
			if got := readAnswer(t, r); got.Status != 200 {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	})
}

// fromAddress is a client that calls from another loopback address.
func fromAddress(t *testing.T, addr string) *http.Client {
	t.Helper()
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)}, Timeout: 5 * time.Second}
	if l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr+":0"); err != nil {
		t.Skipf("this machine has no %s: %v", addr, err)
	} else {
		_ = l.Close()
	}
	tr := &http.Transport{DialContext: d.DialContext}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func TestRQ_2_guessing_is_slowed_down(t *testing.T) {
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		gw := startDuo(t, "")
		body := endpointBody(t, e, endpointModel(t, e.Format))
		good := func(when string) {
			t.Helper()
			if got := gw.Post(t, e.Paths[0], body); got.Status != 200 {
				t.Errorf("a good key %s: %d %s", when, got.Status, got.Body)
			}
		}
		for i := range 20 {
			got := gw.Post(t, e.Paths[0], body, "Authorization: Bearer ilk_guess_number_"+strconv.Itoa(1000000+i))
			wantRefusal(t, got, e.Format, 401, "invalid_api_key")
			if i%7 == 0 {
				good("between failures")
			}
		}
		for range 3 {
			got := gw.Post(t, e.Paths[0], body, "Authorization: Bearer ilk_guess_number_2000000")
			wantRefusal(t, got, e.Format, 429, "rate_limit_exceeded")
			if s, err := strconv.Atoi(got.Header.Get("Retry-After")); err != nil || s < 1 || s > 59 {
				t.Errorf("retry-after %q", got.Header.Get("Retry-After"))
			}
			if got.Header.Get("X-Should-Retry") == "false" {
				t.Error("after the wait it may be repeated")
			}
			good("after too many failures from its address")
		}
		t.Run("model_lists_too", func(t *testing.T) {
			if got := gw.Do(t, "GET", "/v1/models", "", "Authorization: Bearer "+unknownKey); got.Status != 429 {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
		t.Run("other_addresses_are_not_concerned", func(t *testing.T) {
			resp, err := fromAddress(t, "127.0.0.2").Do(gw.Request(t, "POST", e.Paths[0], body, "Authorization: Bearer "+unknownKey, "X-Forwarded-For: 127.0.0.1"))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != 401 {
				t.Errorf("%d", resp.StatusCode)
			}
		})
	})
}
