package dataplane

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// eachAnswer runs a test for every endpoint, plain and, where it can,
// streamed. body asks for that.
func eachAnswer(t *testing.T, f func(t *testing.T, e *llm.Endpoint, stream bool, body string)) {
	t.Helper()
	for _, e := range formats.Endpoints() {
		t.Run(string(e.ID)+"_plain", func(t *testing.T) { f(t, e, false, endpointBody(t, e, endpointModel(t, e.Format))) })
		if e.Stream {
			t.Run(string(e.ID)+"_streamed", func(t *testing.T) { f(t, e, true, streamBody(t, e, endpointModel(t, e.Format))) })
		}
	}
}

// streamBody asks for a stream.
func streamBody(t *testing.T, e *llm.Endpoint, model string) string {
	t.Helper()
	body := endpointBody(t, e, model)
	streamed := strings.Replace(body, `"stream":false`, `"stream":true`, 1)
	if streamed == body {
		t.Fatalf("the test body of %s has no stream member", e.ID)
	}
	return streamed
}

// sentHeaders are client headers of every sort; their values are canaries.
func sentHeaders() []string {
	var out []string
	for _, name := range []string{
		// may pass somewhere
		"Accept", "User-Agent", "X-Stainless-Lang", "X-Stainless-Retry-Count", "X-Stainless-New-One", "Idempotency-Key", "X-Request-Id",
		"Traceparent", "Tracestate", "Session-Id", "Thread-Id", "X-Session-Id", "X-Session-Affinity", "X-Client-Request-Id",
		"Anthropic-Version", "Anthropic-Beta", "X-App", "X-Claude-Code-Session-Id", "X-Claude-Code-Agent-Id", "X-Claude-Code-New-One", "Openai-Beta",
		// never
		"X-Stainless", "X-Claude-1p-Request-Class", "Anthropic-Dangerous-Direct-Browser-Access", "Anthropic-Workspace-Id", "Anthropic-User-Profile-Id",
		"Openai-Organization", "Openai-Project", "Chatgpt-Account-Id", "Originator", "Version", "X-Codex-Window-Id", "X-Goog-Api-Client", "X-Server-Timeout",
		"Baggage", "Cookie", "Cookie2", "Origin", "Referer", "From", "Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Cf-Connecting-Ip",
		"X-Interlock-Key-Id", "X-Interlock-Request-Id", "X-Interlock-Provider", "X-Team", "X-Project", "X-Anything", "X-Amz-Security-Token", "X-Amz-Date",
		"X-Http-Method-Override", "Sec-Fetch-Mode", "Accept-Language", "Accept-Charset", "Authorization2", "X-Auth-Token", "X-Api-Key-2",
		"If-None-Match", "Range", "Max-Forwards", "Cache-Control", "Pragma", "Access-Control-Request-Method",
		// hop by hop
		"Keep-Alive", "Proxy-Authorization", "Proxy-Authenticate", "Proxy-Connection", "Te", "Upgrade",
	} {
		out = append(out, name+": canary-"+strings.ToLower(name))
	}
	return append(out, "Accept-Encoding: gzip, deflate, br, zstd")
}

func TestRQ_HDR_1_R104_requests_carry_listed_headers_only(t *testing.T) {
	gw := startDuo(t, "")
	eachAnswer(t, func(t *testing.T, e *llm.Endpoint, stream bool, body string) {
		fake := gw.fake(e.Format)
		fake.Reset()
		req := gw.Request(t, "POST", e.Paths[0], body, sentHeaders()...)
		if got := gw.Send(t, req); got.Status != 200 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		wantForwarded(t, e.Format, req.Header, stream, &fake.Records()[0])
	})
	t.Run("without_any_header_of_the_client", func(t *testing.T) {
		eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
			fake := gw.fake(e.Format)
			fake.Reset()
			body := endpointBody(t, e, endpointModel(t, e.Format))
			got := rawExchange(t, gw.Server, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nX-Interlock-Key: %s\r\nContent-Length: %d\r\n\r\n%s", e.Paths[0], gwtest.Key, len(body), body))
			if got.Status != 200 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
			rec := fake.Records()[0]
			wantForwarded(t, e.Format, http.Header{"Content-Type": {"application/json"}, "User-Agent": {"interlock"}}, false, &rec)
		})
	})
	t.Run("repeated_lines", func(t *testing.T) {
		e := formats.Endpoints()[0]
		gw.claude.Reset()
		gw.Post(t, e.Paths[0], endpointBody(t, e, "claude-test"), "Anthropic-Beta: one,two", "Anthropic-Beta: three", "anthropic-version: 2026-10-21")
		h := gw.claude.Records()[0].Headers
		if !slices.Equal(h["Anthropic-Beta"], []string{"one,two", "three"}) || !slices.Equal(h["Anthropic-Version"], []string{"2026-10-21"}) {
			t.Errorf("%v", h)
		}
	})
}

// Headers that concern one connection, and those that
// the Connection header names, end at the gateway.
func TestRQ_HDR_1_hop_by_hop(t *testing.T) {
	gw := startDuo(t, "")
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		fake := gw.fake(e.Format)
		fake.Reset()
		body := endpointBody(t, e, endpointModel(t, e.Format))
		got := rawExchange(t, gw.Server, "POST "+e.Paths[0]+" HTTP/1.1\r\nHost: client.example\r\nAuthorization: Bearer "+gwtest.Key+"\r\n"+
			"Connection: close, X-Session-Id, x-stainless-lang\r\nX-Session-Id: canary\r\nX-Stainless-Lang: canary\r\nX-Stainless-Os: kept\r\n"+
			"Keep-Alive: timeout=5\r\nProxy-Connection: canary\r\nProxy-Authorization: Basic canary\r\nTE: trailers\r\nTrailer: X-Stainless-Sum\r\n"+
			"Transfer-Encoding: chunked\r\n\r\n"+
			fmt.Sprintf("%x\r\n%s\r\n0\r\nX-Stainless-Sum: canary\r\n\r\n", len(body), body))
		if got.Status != 200 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		rec := fake.Records()[0]
		if raw := strings.Join(rec.RawHeaders, "\n"); strings.Contains(raw, "canary") || strings.Contains(raw, "client.example") {
			t.Error(raw)
		}
		wantForwarded(t, e.Format, http.Header{"Content-Type": {"application/json"}, "User-Agent": {"interlock"}, "X-Stainless-Os": {"kept"}}, false, &rec)
	})
}

// Google and Amazon refuse uploads without a length, and a
// body that the gateway rebuilt has the length of the new one.
func TestRQ_HDR_4_R42_requests_have_a_length(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.Start(t, fake.Anthropic("a", "modelAliases: {claude-long: x, claude-short: "+strings.Repeat("long-", 20)+"}"), fake.OpenAI("b"))
	eachAnswer(t, func(t *testing.T, e *llm.Endpoint, stream bool, body string) {
		for name, req := range map[string]*http.Request{
			"as_sent":       gw.Request(t, "POST", e.Paths[0], body),
			"R42_chunked":   withoutLength(gw.Request(t, "POST", e.Paths[0], body)),
			"gzip":          gw.Request(t, "POST", e.Paths[0], asGzip(t, body), "Content-Encoding: gzip"),
			"longer_model":  gw.Request(t, "POST", e.Paths[0], strings.Replace(body, "claude-test", "claude-short", 1)),
			"shorter_model": withoutLength(gw.Request(t, "POST", e.Paths[0], strings.Replace(body, "claude-test", "claude-long", 1))),
		} {
			t.Run(name, func(t *testing.T) {
				fake.Reset()
				if got := gw.Send(t, req); got.Status != 200 {
					t.Fatalf("%d %s", got.Status, got.Body)
				}
				rec := fake.Records()[0]
				if rec.Chunked || !slices.Equal(rec.Headers["Content-Length"], []string{strconv.Itoa(rec.WireBytes)}) || rec.Body == nil {
					t.Errorf("chunked %t, length %q of %d bytes", rec.Chunked, rec.Headers["Content-Length"], rec.WireBytes)
				}
				if enc := rec.Headers["Content-Encoding"]; enc != nil {
					t.Errorf("the plain body is said to be %s", enc)
				}
			})
		}
	})
}

// providerHeaders are answer headers of a provider that must not reach the
// client.
func providerHeaders() map[string]string {
	h := map[string]string{}
	for _, name := range []string{
		"Set-Cookie", "Server", "Alt-Svc", "Via", "Cf-Ray", "X-Powered-By", "Strict-Transport-Security", "Www-Authenticate", "Location", "Refresh", "Link", "Etag",
		"Openai-Organization", "Openai-Project", "Openai-Version", "Openai-Processing-Ms", "Anthropic-Organization-Id", "Anthropic-Workspace-Id",
		"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Requests", "Anthropic-Ratelimit-Requests-Limit",
		"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Unified-Status", "Anthropic-Priority-Input-Tokens-Limit",
		"X-Interlock-Provider", "X-Interlock-Request-Id", "X-Interlock-Warning", "X-Interlock-Anything", "Access-Control-Allow-Origin", "X-Envoy-Upstream-Service-Time",
		"Anthropic-Fast-Output-Tokens-Remaining", "Proxy-Authenticate", "Keep-Alive", "Trailer", "Upgrade", "Content-Disposition", "X-Anything",
	} {
		h[name] = "canary"
	}
	return h
}

func TestRQ_HDR_2_answers_carry_listed_headers_only(t *testing.T) {
	gw := startDuo(t, "")
	passes := map[string]string{
		"Content-Type": "application/json; canary=no", "Request-Id": "req_1", "X-Request-Id": "req_2", "Retry-After": "7", "X-Should-Retry": "false",
	}
	eachAnswer(t, func(t *testing.T, e *llm.Endpoint, stream bool, body string) {
		for name, rule := range map[string]fakellm.Rule{
			"success": {},
			"error":   {Action: "status", Status: 422},
		} {
			t.Run(name, func(t *testing.T) {
				rule.Headers = providerHeaders()
				for k, v := range passes {
					if k != "Content-Type" || name == "error" || !stream {
						rule.Headers[k] = v
					}
				}
				gw.fake(e.Format).Rules(t, rule)
				got := gw.Post(t, e.Paths[0], body)
				for k, want := range passes {
					if k == "Content-Type" && name == "success" && stream {
						want = "text/event-stream; charset=utf-8"
					}
					if v := got.Header[k]; !slices.Equal(v, []string{want}) {
						t.Errorf("%s: %q, want %q", k, v, want)
					}
				}
				may := []string{"Date", "Content-Length"}
				if stream {
					may = append(may, "Cache-Control", "X-Accel-Buffering")
				}
				for k, v := range got.Header {
					if strings.Contains(strings.Join(v, ""), "canary") && k != "Content-Type" {
						t.Errorf("%s: %q reached the client", k, v)
					}
					if passes[k] == "" && !slices.Contains(may, k) && !strings.HasPrefix(k, "X-Interlock-") {
						t.Errorf("%s: %q is not on the list", k, v)
					}
				}
			})
		}
	})
}

func TestRQ_HDR_2_retry_after_is_at_most_59(t *testing.T) {
	gw := startDuo(t, "")
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		body := endpointBody(t, e, endpointModel(t, e.Format))
		for _, c := range []struct{ name, sent, sentMS, want, wantMS string }{
			{"small", "7", "", "7", ""},
			{"zero", "0", "", "0", ""},
			{"59", "59", "", "59", ""},
			{"60", "60", "", "59", ""},
			{"an_hour", "3600", "", "59", ""},
			{"more_than_an_integer", "99999999999999999999999", "", "59", ""},
			{"fraction", "1.2", "", "2", ""},
			{"fraction_near_the_cap", "59.5", "", "59", ""},
			{"negative", "-5", "", "", ""},
			{"text", "soon", "", "", ""},
			{"not_a_number", "NaN", "", "", ""},
			{"date_long_past", "Wed, 21 Oct 2015 07:28:00 GMT", "", "0", ""},
			{"date_far_ahead", "Wed, 21 Oct 2099 07:28:00 GMT", "", "59", ""},
			{"milliseconds", "", "1500", "", "1500"},
			{"many_milliseconds", "", "3600000", "", "59000"},
			{"both", "90", "90000", "59", "59000"},
		} {
			t.Run(c.name, func(t *testing.T) {
				rule := fakellm.Rule{Action: "status", Status: 429, Headers: map[string]string{}}
				if c.sent != "" {
					rule.Headers["Retry-After"] = c.sent
				}
				if c.sentMS != "" {
					rule.Headers["Retry-After-Ms"] = c.sentMS
				}
				gw.fake(e.Format).Rules(t, rule)
				got := gw.Post(t, e.Paths[0], body)
				if got.Status != 429 {
					t.Fatalf("%d %s", got.Status, got.Body)
				}
				if v := strings.Join(got.Header["Retry-After"], "|"); v != c.want {
					t.Errorf("retry-after %q, want %q", v, c.want)
				}
				if v := strings.Join(got.Header["Retry-After-Ms"], "|"); v != c.wantMS {
					t.Errorf("retry-after-ms %q, want %q", v, c.wantMS)
				}
			})
		}
	})
}

// interlockHeaders are the x-interlock-* headers of an answer but the request
// id, which is checked to be one.
func interlockHeaders(t *testing.T, h http.Header) map[string]string {
	t.Helper()
	out := map[string]string{}
	for k, v := range h {
		name, ok := strings.CutPrefix(k, "X-Interlock-")
		if !ok {
			continue
		}
		if len(v) != 1 {
			t.Errorf("%s is there %d times", k, len(v))
		}
		if name != "Request-Id" {
			out[strings.ToLower(name)] = v[0]
		}
	}
	if id := h.Get("X-Interlock-Request-Id"); len(id) != 26 || strings.Trim(id, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") != "" {
		t.Errorf("request id %q", id)
	}
	return out
}

// wantInterlock compares them.
func wantInterlock(t *testing.T, got gwtest.Answer, want map[string]string) {
	t.Helper()
	have := interlockHeaders(t, got.Header)
	for k, v := range want {
		if have[k] != v {
			t.Errorf("x-interlock-%s: %q, want %q", k, have[k], v)
		}
	}
	for k, v := range have {
		if _, ok := want[k]; !ok {
			t.Errorf("x-interlock-%s: %q is not expected", k, v)
		}
	}
}

// startRouted has routes of two members, of which the first can be scripted.
func startRouted(t *testing.T, settings string) (*gwtest.Server, *gwtest.Fake) {
	t.Helper()
	first, second := gwtest.NewFake(t), gwtest.NewFake(t)
	return gwtest.StartWith(t, gwtest.Config{Settings: settings, Documents: []string{
		first.Anthropic("a1", "residency: eu", `modelAliases: {claude-test: "modèle-é 100%"}`), second.Anthropic("a2", "residency: us"),
		gwtest.Route("claude", `"claude-*"`, "a1", "a2"),
		first.OpenAI("o1", "residency: eu", `modelAliases: {gpt-test: "模型"}`), second.OpenAI("o2", "residency: us"),
		gwtest.Route("gpt", `"gpt-*"`, "o1", "o2"),
	}}), first
}

func TestRQ_HDR_3_routing_headers(t *testing.T) {
	gw, first := startRouted(t, "")
	eachAnswer(t, func(t *testing.T, e *llm.Endpoint, _ bool, body string) {
		model := endpointModel(t, e.Format)
		route, p1, p2, wire := "claude", "a1", "a2", "mod%C3%A8le-%C3%A9 100%25"
		if e.Format != llm.AnthropicMessages {
			route, p1, p2, wire = "gpt", "o1", "o2", "%E6%A8%A1%E5%9E%8B"
		}
		t.Run("first_member", func(t *testing.T) {
			first.Rules(t)
			wantInterlock(t, gw.Post(t, e.Paths[0], body), map[string]string{
				"route": route, "provider": p1, "model": wire, "attempts": "1", "fallbacks": "0", "residency": "eu",
			})
		})
		t.Run("failover", func(t *testing.T) {
			if !e.Failover || e.OneModel {
				t.Skip("one candidate, or one wire model, only")
			}
			first.Rules(t, fakellm.Rule{Action: "status", Status: 500})
			wantInterlock(t, gw.Post(t, e.Paths[0], body), map[string]string{
				"route": route, "provider": p2, "model": model, "attempts": "2", "fallbacks": "1", "residency": "us",
			})
		})
		t.Run("error_of_the_provider", func(t *testing.T) {
			first.Rules(t, fakellm.Rule{Action: "status", Status: 422, Code: "too_odd"})
			got := gw.Post(t, e.Paths[0], body)
			code := "invalid_request_error" // Anthropic's errors have a type only
			if e.Format != llm.AnthropicMessages {
				code = "too_odd"
			}
			wantInterlock(t, got, map[string]string{
				"route": route, "provider": p1, "model": wire, "attempts": "1", "fallbacks": "0", "residency": "eu", "error": code,
			})
		})
		t.Run("refusal", func(t *testing.T) {
			got := gw.Post(t, e.Paths[0], strings.Replace(body, model, "unknown-model", 1))
			wantInterlock(t, got, map[string]string{"attempts": "0", "fallbacks": "0", "error": "NO_ROUTE"})
		})
		t.Run("the_client_can_set_none", func(t *testing.T) {
			first.Rules(t)
			got := gw.Post(t, e.Paths[0], body, "X-Interlock-Provider: evil", "X-Interlock-Error: evil", "X-Interlock-Request-Id: evil", "X-Interlock-Rule: evil")
			if s := fmt.Sprint(got.Header); got.Status != 200 || strings.Contains(s, "evil") {
				t.Error(s)
			}
		})
	})
}

func TestRQ_HDR_3_id_only(t *testing.T) {
	gw, first := startRouted(t, "llmProxy: {exposeRoutingHeaders: id-only}")
	eachAnswer(t, func(t *testing.T, e *llm.Endpoint, _ bool, body string) {
		model := endpointModel(t, e.Format)
		for name, c := range map[string]struct {
			rule   fakellm.Rule
			body   string
			status int
		}{
			"success":               {fakellm.Rule{}, body, 200},
			"error_of_the_provider": {fakellm.Rule{Action: "status", Status: 422, Code: "too_odd"}, body, 422},
			"our_key_is_refused":    {fakellm.Rule{Action: "status", Status: 401}, body, 0},
			"refusal":               {fakellm.Rule{}, strings.Replace(body, model, "unknown-model", 1), 503},
			"bad_body":              {fakellm.Rule{}, "{", 400},
		} {
			t.Run(name, func(t *testing.T) {
				first.Rules(t, c.rule)
				got := gw.Post(t, e.Paths[0], c.body)
				if c.status != 0 && got.Status != c.status {
					t.Errorf("%d %s", got.Status, got.Body)
				}
				wantInterlock(t, got, map[string]string{})
			})
		}
	})
}

// What the client is told about a body is true of the body it receives.
func TestRQ_HDR_4_R40_provider_compresses_unasked(t *testing.T) {
	gw := startDuo(t, "")
	eachAnswer(t, func(t *testing.T, e *llm.Endpoint, stream bool, body string) {
		fake := gw.fake(e.Format)
		fake.Rules(t)
		plain := gw.Post(t, e.Paths[0], body)
		fake.Rules(t, fakellm.Rule{Action: "gzip"})
		got := gw.Post(t, e.Paths[0], body, "Accept-Encoding: gzip, zstd")
		if got.Status != 200 || got.Err != nil || got.Header["Content-Encoding"] != nil {
			t.Fatalf("%d %v %v", got.Status, got.Err, got.Header)
		}
		if stream && got.Header["Content-Length"] != nil || !stream && got.Header.Get("Content-Length") != strconv.Itoa(len(got.Body)) {
			t.Errorf("length %q of %d bytes", got.Header["Content-Length"], len(got.Body))
		}
		if len(got.Body) < len(plain.Body)-8 || len(got.Body) > len(plain.Body)+8 { // ids differ
			t.Errorf("the answer is %q, uncompressed it was %q", got.Body, plain.Body)
		}
		wantWhole(t, e, stream, got)
	})
}

// An error that the provider compressed reaches the client plain,
// whether the gateway passes it on or writes its own.
func TestRQ_HDR_4_R40_compressed_error_bodies(t *testing.T) {
	message := strings.Repeat("a long message ", 20)
	bodies := map[llm.Format]string{
		llm.AnthropicMessages: `{"type":"error","error":{"type":"invalid_request_error","message":"` + message + `"}}`,
		llm.OpenAIChat:        `{"error":{"message":"` + message + `","type":"invalid_request_error","param":null,"code":"odd"}}`,
	}
	bodies[llm.OpenAIResponses] = bodies[llm.OpenAIChat]
	pack := map[string]func(*testing.T, string) string{"gzip": asGzip, "zstd": asZstd, "deflate": asZlib, "Deflate": asFlate}
	for enc, pack := range pack {
		for _, status := range []int{400, 401, 422, 429, 500} {
			provider := scriptedProvider(t, func(w http.ResponseWriter, r *http.Request) {
				body := bodies[llm.AnthropicMessages]
				if !strings.Contains(r.URL.Path, "messages") {
					body = bodies[llm.OpenAIChat]
				}
				packed := pack(t, body)
				w.Header().Set("Content-Encoding", enc)
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Length", strconv.Itoa(len(packed)))
				w.WriteHeader(status)
				_, _ = io.WriteString(w, packed)
			})
			gw := gwtest.Start(t, provider.Anthropic("a"), provider.OpenAI("b"))
			t.Run(fmt.Sprintf("%s_%d", enc, status), func(t *testing.T) {
				eachAnswer(t, func(t *testing.T, e *llm.Endpoint, _ bool, body string) {
					got := gw.Post(t, e.Paths[0], body, "Accept-Encoding: gzip, zstd")
					if got.Err != nil || got.Header["Content-Encoding"] != nil || got.Header.Get("Content-Length") != strconv.Itoa(len(got.Body)) ||
						got.Header.Get("Content-Type") != "application/json" {
						t.Errorf("%v %v", got.Err, got.Header)
					}
					if status == 401 {
						wantRefusal(t, got, e.Format, 502, "upstream_auth")
					} else if got.Status != status || got.Body != bodies[e.Format] {
						t.Errorf("%d %q", got.Status, got.Body)
					}
				})
			})
		}
	}
}

// The answer can't be used, so
// it is a failure of that provider and not of the request.
func TestRQ_HDR_4_encoding_that_cannot_be_decoded(t *testing.T) {
	broken := scriptedProvider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "rubbish")
	})
	lying := func(enc string) *gwtest.Fake {
		return scriptedProvider(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", enc)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"plain":true}`)
		})
	}
	gz, deflate := lying("gzip"), lying("deflate")
	good := gwtest.NewFake(t)
	gw := gwtest.Start(t, broken.Anthropic("a1"), gz.Anthropic("a2"), deflate.Anthropic("a3"), good.Anthropic("a4"), gwtest.Route("claude", `"claude-*"`, "a1", "a2", "a3", "a4"),
		broken.OpenAI("o1"), gz.OpenAI("o2"), deflate.OpenAI("o3"), good.OpenAI("o4"), gwtest.Route("gpt", `"gpt-*"`, "o1", "o2", "o3", "o4"))
	eachAnswer(t, func(t *testing.T, e *llm.Endpoint, stream bool, body string) {
		got := gw.Post(t, e.Paths[0], body)
		if !e.Failover {
			wantRefusal(t, got, e.Format, 502, "upstream_unreachable")
			if want := `the content encoding \"br\"`; !strings.Contains(got.Body, want) {
				t.Errorf("%s does not name the encoding", got.Body)
			}
			return
		}
		if got.Status != 200 || got.Header.Get("X-Interlock-Attempts") != "4" {
			t.Errorf("%d %v %s", got.Status, got.Header, got.Body)
		}
		wantWhole(t, e, stream, got)
	})
}

// The status of an error that can't be read says what it is: a request that is
// wrong is wrong everywhere.
func TestRQ_HDR_4_error_in_an_unknown_encoding(t *testing.T) {
	for status, served := range map[int]bool{400: false, 422: false, 429: true, 500: true, 503: true} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			broken := scriptedProvider(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", "br")
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, "rubbish")
			})
			good := gwtest.NewFake(t)
			gw := gwtest.Start(t, broken.Anthropic("a1"), good.Anthropic("a2"), gwtest.Route("claude", `"claude-*"`, "a1", "a2"))
			got := gw.Post(t, "/v1/messages", gwtest.Message("claude-test", true))
			if served != (got.Status == 200) || !served && (got.Status != status || got.Body != "" || got.Header["Content-Encoding"] != nil || got.Header["Content-Type"] != nil) {
				t.Errorf("%d %v %q", got.Status, got.Header, got.Body)
			}
		})
	}
}

// flushWriter is a compressing writer whose Flush sends what it has.
type flushWriter interface {
	io.WriteCloser
	Flush() error
}

// Each event reaches the client before the
// provider sends the next, compressed or not.
func TestRQ_HDR_4_R34_R37_stream_keeps_its_pace(t *testing.T) {
	events := map[llm.EndpointID][]string{
		llm.Messages: {
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}}\n\n" +
				"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
				"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"one\"}}\n\n",
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"two\"}}\n\n",
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		},
		llm.ChatCompletions: {
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n" +
				"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one\"},\"finish_reason\":null}]}\n\n",
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"two\"},\"finish_reason\":null}]}\n\n",
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		},
		llm.Responses: {
			"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n" +
				"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"one\"}\n\n",
			"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"two\"}\n\n",
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\"}}\n\n",
		},
	}
	open := map[string]func(w http.ResponseWriter) flushWriter{
		"gzip": func(w http.ResponseWriter) flushWriter { return gzip.NewWriter(w) },
		"zstd": func(w http.ResponseWriter) flushWriter {
			z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Error(err)
			}
			return z
		},
		"deflate": func(w http.ResponseWriter) flushWriter { return zlib.NewWriter(w) },
		"DEFLATE": func(w http.ResponseWriter) flushWriter { // without zlib's header, as some servers have it
			z, err := flate.NewWriter(w, flate.BestSpeed)
			if err != nil {
				t.Error(err)
			}
			return z
		},
		"": func(w http.ResponseWriter) flushWriter { return plainWriter{w} },
	}
	eachEndpoint(t, func(t *testing.T, e *llm.Endpoint) {
		if !e.Stream {
			t.Skip("no stream")
		}
		if len(events[e.ID]) != 3 {
			t.Fatalf("no events for %s: add them", e.ID)
		}
		for enc, open := range open {
			t.Run("encoding_"+enc, func(t *testing.T) {
				next := make(chan struct{})
				provider := scriptedProvider(t, func(w http.ResponseWriter, r *http.Request) {
					if enc != "" {
						w.Header().Set("Content-Encoding", enc)
					}
					w.Header().Set("Content-Type", "text/event-stream")
					z := open(w)
					for _, ev := range events[e.ID] {
						_, _ = io.WriteString(z, ev)
						_ = z.Flush()
						_ = http.NewResponseController(w).Flush()
						select {
						case <-next:
						case <-r.Context().Done():
							return
						}
					}
					_ = z.Close()
				})
				gw := gwtest.Start(t, provider.Anthropic("a"), provider.OpenAI("b"))
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // an event that is held back would be waited for
				defer cancel()
				req := gw.Request(t, "POST", e.Paths[0], streamBody(t, e, endpointModel(t, e.Format)), "Accept-Encoding: "+enc)
				resp, err := gw.Client.Do(req.WithContext(ctx))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if resp.Header.Get("Content-Encoding") != "" || resp.ContentLength != -1 {
					t.Errorf("%v", resp.Header)
				}
				r := bufio.NewReader(resp.Body)
				for _, ev := range events[e.ID] {
					got := make([]byte, len(ev))
					if _, err := io.ReadFull(r, got); err != nil || string(got) != ev {
						t.Fatalf("%v %q", err, got)
					}
					next <- struct{}{}
				}
				if rest, err := io.ReadAll(r); err != nil || len(rest) != 0 {
					t.Errorf("%v %q", err, rest)
				}
			})
		}
	})
}

type plainWriter struct{ io.Writer }

func (plainWriter) Flush() error { return nil }
func (plainWriter) Close() error { return nil }
