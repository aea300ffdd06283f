package dataplane

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// hashed is what the record keeps of a session id.
func hashed(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// withMembers adds top-level members to a request body.
func withMembers(body string, members ...string) string {
	return strings.TrimSuffix(body, "}") + "," + strings.Join(members, ",") + "}"
}

const (
	uuidA = "0a0a0a0a-1111-4222-8333-444444444444"
	uuidB = "0b0b0b0b-1111-4222-8333-444444444444"
)

// Where clients put their session, the first of them counts, and what is no
// session is none.
func TestRT_STRAT_session_sources(t *testing.T) {
	long := strings.Repeat("s", 200)
	claude := func(user string) string { return fmt.Sprintf(`"metadata":{"user_id":%q}`, user) }
	cases := []struct {
		name    string
		headers []string
		members []string
		want    string
	}{
		{name: "none"},
		{name: "ours", headers: []string{"X-Interlock-Session: one"}, want: "one"},
		{name: "x-session-id", headers: []string{"X-Session-ID: one"}, want: "one"},
		{name: "claude_code_header", headers: []string{"X-Claude-Code-Session-Id: " + uuidA}, want: uuidA},
		{name: "claude_code_sub_agent", headers: []string{"X-Claude-Code-Session-Id: " + uuidA, "X-Claude-Code-Agent-Id: " + uuidB}, want: uuidA},
		{name: "claude_code_user_id", members: []string{claude(`{"device_id":"d","account_uuid":"","session_id":"` + uuidA + `"}`)}, want: uuidA},
		{name: "claude_code_old_user_id", members: []string{claude("user_" + strings.Repeat("0", 64) + "_account__session_" + uuidA)}, want: uuidA},
		{name: "codex_thread-id", headers: []string{"Thread-Id: one", "Session-Id: two"}, want: "one"},
		{name: "codex_session-id", headers: []string{"Session-Id: one"}, want: "one"},
		{name: "codex_session_id", headers: []string{"session_id: one"}, want: "one"},
		{name: "codex_conversation_id", headers: []string{"conversation_id: one"}, want: "one"},
		{name: "opencode_affinity", headers: []string{"X-Session-Affinity: one"}, want: "one"},
		{name: "opencode_session", headers: []string{"X-Opencode-Session: one"}, want: "one"},
		{name: "copilot_client", headers: []string{"X-Client-Session-Id: one"}, want: "one"},
		{name: "copilot_vscode", headers: []string{"Vscode-Sessionid: one"}, want: "one"},
		{name: "x-request-session", headers: []string{"X-Request-Session: one"}, want: "one"},
		{name: "helicone", headers: []string{"Helicone-Session-Id: one"}, want: "one"},
		{name: "litellm", headers: []string{"X-Litellm-Session-Id: one"}, want: "one"},
		{name: "portkey", headers: []string{"X-Portkey-Trace-Id: one"}, want: "one"},
		{name: "prompt_cache_key", members: []string{`"prompt_cache_key":"one"`}, want: "one"},
		{name: "metadata.session_id", members: []string{`"metadata":{"session_id":"one"}`}, want: "one"},
		{name: "session_id_in_the_body", members: []string{`"session_id":"one"`}, want: "one"},
		{name: "conversation_id_in_the_body", members: []string{`"conversation_id":"one"`}, want: "one"},

		{name: "ours_before_all", headers: []string{"X-Claude-Code-Session-Id: two", "X-Interlock-Session: one", "Session-Id: three"}, members: []string{`"prompt_cache_key":"four"`}, want: "one"},
		{name: "a_clients_own_before_prompt_cache_key", members: []string{`"prompt_cache_key":"two"`, claude(`{"session_id":"` + uuidA + `"}`)}, want: uuidA},
		{name: "200_characters", headers: []string{"X-Interlock-Session: " + long}, want: long},
		{name: "201_characters_are_none", headers: []string{"X-Interlock-Session: " + long + "s"}},
		{name: "the_next_after_one_that_is_too_long", headers: []string{"X-Interlock-Session: " + long + "s", "Session-Id: two"}, want: "two"},
		{name: "not_ASCII", headers: []string{"X-Interlock-Session: \u00e4"}},
		{name: "a_user_is_no_session", members: []string{`"user":"ann"`, claude("ann")}},
		{name: "a_request_id_is_no_session", headers: []string{"X-Client-Request-Id: one", "X-Request-Id: two"}},
		{name: "not_text", members: []string{`"prompt_cache_key":7`}},
	}
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("a"), w.org("b"), w.org("c"), w.org("d"), w.pool("strategy: {type: round-robin}", "a", "b", "c", "d"))
		first := map[string]string{}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				seen := map[string]bool{}
				for i := range 4 {
					body := w.body(w.model, fmt.Sprintf("turn %d", i), w.stream)
					if len(c.members) > 0 {
						body = withMembers(body, c.members...)
					}
					got := r.Post(t, w.path, body, c.headers...)
					if got.Status != 200 {
						t.Fatalf("%d %s", got.Status, got.Body)
					}
					seen[got.Header.Get("X-Interlock-Provider")] = true
					rec := r.record(t, got)
					if rec.SessionHash != hashed(c.want) {
						t.Errorf("session %q, want that of %q", rec.SessionHash, c.want)
					}
					if byHash := rec.StrategyReason == "the session's hash"; byHash != (c.want != "") {
						t.Errorf("reason %q", rec.StrategyReason)
					}
					if p := got.Header.Get("X-Interlock-Provider"); c.want != "" && first[c.want] == "" {
						first[c.want] = p
					} else if c.want != "" && first[c.want] != p {
						t.Errorf("the session %q is at %s and was at %s", c.want, p, first[c.want])
					}
				}
				if c.want == "" && len(seen) != 4 || c.want != "" && len(seen) != 1 {
					t.Errorf("session %q at %v", c.want, seen)
				}
			})
		}
	})
}

// The requests of real clients stick, each with the session that it names.
func TestRT_STRAT_R78_sessions_of_real_clients(t *testing.T) {
	fakes := map[string]*gwtest.Fake{}
	var docs []string
	for _, d := range dialects() {
		var members []string
		for _, n := range []string{"a", "b", "c"} {
			name := d.name + "-" + n
			fakes[name] = gwtest.NewFake(t)
			docs, members = append(docs, d.provider(fakes[name].URL, name)), append(members, name)
		}
		docs = append(docs, gwtest.Route(d.name, fmt.Sprintf("%q", d.pattern), members...)+"\nstrategy: {type: round-robin}")
	}
	gw := gwtest.StartWith(t, gwtest.Config{Admin: true, Documents: docs})
	with, without := 0, 0
	for _, c := range captures(t) {
		e := c.endpoint()
		if e == nil || len(c.HTTP.Body) == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			body := strings.Replace(c.body(t), `"model":`+modelOf(t, c), fmt.Sprintf(`"model":%q`, endpointModel(t, e.Format)), 1)
			want := sessionOfCapture(t, c)
			seen := map[string]bool{}
			for range 3 {
				got := gw.Send(t, c.request(t, gw, body))
				if got.Status != 200 {
					t.Fatalf("%d %s", got.Status, got.Body)
				}
				rec := recordOf(t, gw, got.Header.Get("X-Interlock-Request-Id"))
				seen[rec.Provider] = true
				if rec.SessionHash != hashed(want) || rec.Outcome != audit.OutcomeAllow {
					t.Errorf("session %q, want that of %q", rec.SessionHash, want)
				}
			}
			if want != "" && len(seen) != 1 || want == "" && len(seen) != 3 {
				t.Errorf("session %q at %v", want, seen)
			}
			if want != "" {
				with++
			} else {
				without++
			}
		})
	}
	if with < 15 || without < 15 {
		t.Errorf("%d requests with a session and %d without", with, without)
	}
}

// modelOf is the model of a capture, as JSON text.
func modelOf(t *testing.T, c *capture) string {
	t.Helper()
	var v struct{ Model json.RawMessage }
	if err := json.Unmarshal(c.HTTP.Body, &v); err != nil {
		t.Fatal(err)
	}
	return string(v.Model)
}

// sessionOfCapture says by the specification's words what the session of a
// capture is: the data is looked at here again on purpose.
func sessionOfCapture(t *testing.T, c *capture) string {
	t.Helper()
	for _, name := range []string{"X-Session-Id", "X-Claude-Code-Session-Id", "Session-Id", "X-Session-Affinity"} {
		for k, v := range c.HTTP.Headers {
			if strings.EqualFold(k, name) {
				return v
			}
		}
	}
	return ""
}

// Sessions of two keys are apart where something is remembered of them.
func TestRT_STRAT_LATENCY_a_session_is_of_its_key(t *testing.T) {
	w := ways()[0]
	r := newRig(t, w, "", w.org("a"), w.org("b"), w.pool("strategy: {type: lowest-latency, minRequests: 1000}", "a", "b"),
		"kind: Key\nname: second\ntype: service\nsecret: ilk_test_of_a_second_key_0001")
	r.script(t, fails("a", 404))
	r.wantServed(t, r.ask(t, "X-Interlock-Session: one"), "b", 2)
	r.script(t)
	r.wantServed(t, r.ask(t, "X-Interlock-Session: one"), "b", 1)
	r.wantServed(t, r.ask(t, "X-Interlock-Session: one", "Authorization: Bearer ilk_test_of_a_second_key_0001"), "a", 1)
	r.wantServed(t, r.ask(t, "X-Interlock-Session: one"), "b", 1)
}
