package wire_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/wire"
)

// session reads the session of a request with these headers and body.
func session(t *testing.T, body string, headers ...string) string {
	t.Helper()
	h := http.Header{}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	if body == "" {
		body = `{"model":"m"}`
	}
	var e wire.Envelope
	if err := wire.ReadEnvelope(&e, []byte(body), wire.NewNames("model"), true); err != nil {
		t.Fatal(err)
	}
	return wire.SessionID(h, &e)
}

const uuid = "0b9ac2e2-6b1f-4d41-8a5e-0d6a7c1f9e01"

// Where clients name their session: a header of ours, those of known clients,
// fields of the body, prompt_cache_key last; never the content.
func TestSessionID(t *testing.T) {
	cases := []struct {
		name, body string
		headers    []string
		want       string
	}{
		{"nothing", `{"model":"m","messages":[{"role":"user","content":"hi"}],"user":"u1"}`, nil, ""},
		{"our own header", "", []string{"x-interlock-session: s1"}, "s1"},
		{"our own before a client's", "", []string{"x-claude-code-session-id: c", "x-interlock-session: s1"}, "s1"},
		{"Claude Code's header", "", []string{"x-claude-code-session-id: " + uuid}, uuid},
		{"Claude Code's metadata", `{"model":"m","metadata":{"user_id":"{\"device_id\":\"d\",\"account_uuid\":\"\",\"session_id\":\"` + uuid + `\"}"}}`, nil, uuid},
		{"Claude Code's older metadata", `{"model":"m","metadata":{"user_id":"user_abc_account__session_` + uuid + `"}}`, nil, uuid},
		{"a user is no session", `{"model":"m","metadata":{"user_id":"user_abc"}}`, nil, ""},
		{"metadata of another shape", `{"model":"m","metadata":["session_id"]}`, nil, ""},
		{"user_id that is no text", `{"model":"m","metadata":{"user_id":{"session_id":"x"}}}`, nil, ""},
		{"half an object in user_id", `{"model":"m","metadata":{"user_id":"{\"session_id\":\"x\""}}`, nil, ""},
		{"a session in metadata", `{"model":"m","metadata":{"session_id":"s2"}}`, nil, "s2"},
		{"Codex", "", []string{"session-id: " + uuid}, uuid},
		{"Codex's thread", "", []string{"session-id: b", "thread-id: a"}, "a"},
		{"older Codex", "", []string{"conversation_id: a"}, "a"},
		{"OpenCode", "", []string{"x-session-affinity: a"}, "a"},
		{"Copilot", "", []string{"vscode-sessionid: a"}, "a"},
		{"the cache key", `{"model":"m","prompt_cache_key":"k"}`, nil, "k"},
		{"the cache key is the last", `{"model":"m","prompt_cache_key":"k","session_id":"s"}`, nil, "s"},
		{"a conversation", `{"model":"m","conversation":{"id":"conv_1"}}`, nil, "conv_1"},
		{"Claude Code's metadata before a gateway's header", `{"model":"m","metadata":{"user_id":"{\"session_id\":\"` + uuid + `\"}"}}`, []string{"x-litellm-session-id: l"}, uuid},
		{"a header before the body", `{"model":"m","prompt_cache_key":"k"}`, []string{"x-session-id: s"}, "s"},
		{"200 characters", "", []string{"x-interlock-session: " + strings.Repeat("a", 200)}, strings.Repeat("a", 200)},
		{"too long, so the next", `{"model":"m","prompt_cache_key":"k"}`, []string{"x-interlock-session: " + strings.Repeat("a", 201)}, "k"},
		{"not ASCII", "", []string{"x-interlock-session: å"}, ""},
		{"blank", "", []string{"x-interlock-session:  "}, ""},
		{"a number", `{"model":"m","prompt_cache_key":7}`, nil, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := session(t, c.body, c.headers...); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSessionHash(t *testing.T) {
	a, b := wire.SessionHash("a"), wire.SessionHash("b")
	if a == b || len(a) != 32 || strings.Trim(a, "0123456789abcdef") != "" {
		t.Errorf("%q and %q", a, b)
	}
	if wire.SessionHash("") != "" {
		t.Error("no session has a hash")
	}
}

// RT-FILTER: media do not count as prompt; everything else does.
func TestEstimateTokens_RT_FILTER(t *testing.T) {
	prose := strings.Repeat("It was the best of times, it was the worst of times. ", 400)
	media := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA+/", 4000)
	text := `{"messages":[{"role":"user","content":"` + prose + `"}]}`
	cases := []struct {
		name, body string
		enough     int
		want       int
	}{
		{"prose", text, 0, len(text) / 4},
		{"not looked at", `{"data":"` + media + `"}`, 1 << 20, (len(media) + 11) / 4},
		{"media", `{"data":"` + media + `"}`, 0, 11 / 4},
		{"a data URL", `{"url":"data:image/png;base64,` + media + `"}`, 0, (10 + 22) / 4},
		{"media and prose", `{"data":"` + media + `","text":"` + prose + `"}`, 0, (len(prose) + 20) / 4},
		{"prose with escapes", `{"t":"` + strings.Repeat(`say \"aaaa\" and `, 200) + `"}`, 0, (200*len(`say \"aaaa\" and `) + 8) / 4},
		{"a short token", `{"t":"` + media[:400] + `"}`, 0, (400 + 8) / 4},
		{"nothing", ``, 0, 0},
		{"half a text", `{"t":"` + media, 0, (len(media) + 6) / 4},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := wire.EstimateTokens([]byte(c.body), c.enough)
			if got < c.want-8 || got > c.want+8 {
				t.Errorf("got %d, want about %d", got, c.want)
			}
		})
	}
}

func BenchmarkSessionID(b *testing.B) {
	var e wire.Envelope
	body := []byte(`{"model":"m","messages":[],"stream":true}`)
	if err := wire.ReadEnvelope(&e, body, wire.NewNames("model"), true); err != nil {
		b.Fatal(err)
	}
	h := http.Header{"Content-Type": {"application/json"}, "X-Claude-Code-Session-Id": {uuid}}
	b.ReportAllocs()
	for b.Loop() {
		wire.SessionHash(wire.SessionID(h, &e))
	}
}

func BenchmarkEstimateTokens(b *testing.B) {
	body := []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat("It was the best of times. ", 8000) + `"}]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		wire.EstimateTokens(body, 0)
	}
}

func FuzzEstimateTokens(f *testing.F) {
	f.Add(`{"a":"b\\\"c"}`)
	f.Fuzz(func(t *testing.T, body string) {
		if n := wire.EstimateTokens([]byte(body), 0); n < 0 || n > len(body)/4 {
			t.Errorf("%d tokens in %d bytes", n, len(body))
		}
	})
}
