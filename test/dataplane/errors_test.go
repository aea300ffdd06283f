package dataplane

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/gateway"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// golden is a gateway-made error body as clients of the format know it, byte
// for byte.
func (d *dialect) golden(typ, code, message, id string) string {
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	if d.name == "anthropic" {
		return `{"type":"error","error":{"type":"` + typ + `","message":` + quoted(code+": "+message) + `,"code":"` + code + `"},"request_id":"` + id + `"}`
	}
	return `{"error":{"message":` + quoted(code+": "+message) + `,"type":"` + typ + `","code":"` + code + `","param":null}}`
}

// requestIDHeader carries the request id on gateway-made errors.
func (d *dialect) requestIDHeader() string {
	if d.name == "anthropic" {
		return "Request-Id"
	}
	return "X-Request-Id"
}

// wantGolden compares a gateway-made error. typ is Anthropic's type and
// OpenAI's.
func (d *dialect) wantGolden(t *testing.T, got gwtest.Answer, status int, typ [2]string, code, message, retry string) {
	t.Helper()
	id := got.Header.Get("X-Interlock-Request-Id")
	typeOf := typ[1]
	if d.name == "anthropic" {
		typeOf = typ[0]
	}
	if want := d.golden(typeOf, code, message, id); got.Status != status || got.Body != want {
		t.Errorf("%d\n%s\nwant %d\n%s", got.Status, got.Body, status, want)
	}
	d.mustError(t, got.Body)
	if got.Err != nil {
		t.Errorf("the body ended with %v", got.Err)
	}
	for name, want := range map[string]string{
		"Content-Type":      "application/json",
		"Content-Length":    fmt.Sprint(len(got.Body)),
		"X-Interlock-Error": code,
		"X-Should-Retry":    retry,
		d.requestIDHeader(): id,
	} {
		if v := got.Header.Get(name); v != want {
			t.Errorf("%s is %q, want %q", name, v, want)
		}
	}
	if id == "" {
		t.Error("no request id")
	}
}

// single is a gateway with one member, called first.
func single(t *testing.T, d *dialect, more ...string) (*gwtest.Server, *gwtest.Fake) {
	t.Helper()
	f := gwtest.NewFake(t)
	return serve(t, d.provider(f.URL, "first", more...), d.route("first")), f
}

// TestER_ONE_passes_on: the provider's own status and body, byte for byte, for
// the only candidate.
func TestER_ONE_passes_on(t *testing.T) {
	const odd = "{ \"error\" : {\"message\":\"caf\\u00e9 <b>\" , \"zz\":1e3},\n\"extra\":[] }\n"
	eachDialect(t, func(t *testing.T, d *dialect) {
		gw, f := single(t, d)
		for _, c := range []struct {
			name   string
			rule   fakellm.Rule
			body   string
			typ    string
			reason string // x-interlock-error
		}{
			{"400", fakellm.Rule{Status: 400, Body: odd}, odd, "application/json", "request_error"},
			{"422", fakellm.Rule{Status: 422, Body: odd}, odd, "application/json", "request_error"},
			{"404", fakellm.Rule{Status: 404, Body: odd}, odd, "application/json", "model_unavailable"},
			{"409", fakellm.Rule{Status: 409, Body: odd}, odd, "application/json", "server_error"},
			{"429", fakellm.Rule{Status: 429, Body: odd}, odd, "application/json", "rate_limit"},
			{"500", fakellm.Rule{Status: 500, Body: odd}, odd, "application/json", "server_error"},
			{"503", fakellm.Rule{Status: 503, Body: odd}, odd, "application/json", "server_error"},
			{"529", fakellm.Rule{Status: 529, Body: odd}, odd, "application/json", "overloaded"},
			{"502_of_a_proxy", fakellm.Rule{Status: 502, Shape: "html"}, "<html><body><h1>Bad Gateway</h1></body></html>", "text/html", "server_error"},
			{"500_without_a_body", fakellm.Rule{Status: 500, Shape: "empty"}, "", "text/plain", "server_error"},
			{"code_of_the_provider", fakellm.Rule{Status: 400, Body: `{"error":{"message":"no","code":"their_code"}}`}, `{"error":{"message":"no","code":"their_code"}}`, "application/json", "their_code"},
		} {
			for _, stream := range both() {
				t.Run("ER-ONE_"+c.name+"_"+kindOf(stream), func(t *testing.T) {
					c.rule.Action = "status"
					f.Rules(t, c.rule)
					got := gw.Post(t, d.path, d.ask(stream))
					if got.Status != c.rule.Status || got.Body != c.body || got.Err != nil {
						t.Errorf("%d %q, want %d %q", got.Status, got.Body, c.rule.Status, c.body)
					}
					if ct := got.Header.Get("Content-Type"); !strings.HasPrefix(ct, c.typ) {
						t.Errorf("content type %q", ct)
					}
					if got.Header.Get("Content-Length") != fmt.Sprint(len(c.body)) {
						t.Errorf("Content-Length %q for %d bytes", got.Header.Get("Content-Length"), len(c.body))
					}
					if e := got.Header.Get("X-Interlock-Error"); e != c.reason {
						t.Errorf("x-interlock-error %q, want %q", e, c.reason)
					}
					if id := got.Header.Get(d.requestIDHeader()); c.rule.Shape == "" && !strings.HasPrefix(id, "req_fake") {
						t.Errorf("the provider's request id is %q", id)
					}
					wantHeaders(t, got.Header, "first", 1)
				})
			}
		}
	})
}

// TestER_ONE_retry_advice: what the provider says about repeating passes, but
// never a minute or more.
func TestER_ONE_retry_advice(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		gw, f := single(t, d)
		in90 := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
		for _, c := range []struct{ name, header, sent, want string }{
			{"seconds", "Retry-After", "17", "17"},
			{"a_fraction_rounds_up", "Retry-After", "0.2", "1"},
			{"capped", "Retry-After", "3600", "59"},
			{"capped_at_exactly", "Retry-After", "60", "59"},
			{"huge", "Retry-After", "1e300", "59"},
			{"date_capped", "Retry-After", in90, "59"},
			{"garbage_is_dropped", "Retry-After", "tomorrow", ""},
			{"negative_is_dropped", "Retry-After", "-3", ""},
			{"not_a_number_is_dropped", "Retry-After", "NaN", ""},
			{"milliseconds", "Retry-After-Ms", "1500", "1500"},
			{"milliseconds_capped", "Retry-After-Ms", "9000000", "59000"},
			{"should_retry_true", "X-Should-Retry", "true", "true"},
			{"should_retry_false", "X-Should-Retry", "false", "false"},
		} {
			for _, status := range []int{429, 503} {
				t.Run(fmt.Sprintf("ER-ONE_%s_%d", c.name, status), func(t *testing.T) {
					f.Rules(t, fakellm.Rule{Action: "status", Status: status, Headers: map[string]string{c.header: c.sent}})
					got := gw.Post(t, d.path, d.ask(false))
					if v := got.Header.Get(c.header); got.Status != status || v != c.want {
						t.Errorf("%d, %s: %q, want %q", got.Status, c.header, v, c.want)
					}
				})
			}
		}
	})
}

// TestER_ONE_replaced: what concerns the organisation and not the caller has
// the gateway's own words.
func TestER_ONE_replaced(t *testing.T) {
	const (
		auth    = `the provider "first" refused the organisation's key (%d); an administrator must check its apiKey`
		quota   = `the quota or credit of the provider "first" is used up`
		noReply = `the provider "first" gave no usable answer (%s)`
		late    = `the provider "first" did not answer in time`
	)
	var (
		api     = [2]string{"api_error", "server_error"}
		billing = [2]string{"billing_error", "insufficient_quota"}
		timeout = [2]string{"timeout_error", "server_error"}
	)
	cases := []struct {
		name    string
		rule    fakellm.Rule
		only    string
		status  int
		typ     [2]string
		code    string
		message string
		retry   string
	}{
		{"401", fakellm.Rule{Action: "status", Status: 401}, "", 502, api, "upstream_auth", fmt.Sprintf(auth, 401), "false"},
		{"403", fakellm.Rule{Action: "status", Status: 403}, "", 502, api, "upstream_auth", fmt.Sprintf(auth, 403), "false"},
		{"401_in_a_200", fakellm.Rule{Action: "error_200", Body: `{"error":{"message":"bad key","code":401}}`}, "", 502, api, "upstream_auth", fmt.Sprintf(auth, 401), "false"},
		{"402", fakellm.Rule{Action: "status", Status: 402}, "", 429, billing, "upstream_quota", quota, "false"},
		{"quota_429", fakellm.Rule{Action: "status", Status: 429, Type: "insufficient_quota", Code: "insufficient_quota"}, "", 429, billing, "upstream_quota", quota, "false"},
		{"reset", fakellm.Rule{Action: "reset"}, "", 502, api, "upstream_unreachable", fmt.Sprintf(noReply, "the connection failed"), "true"},
		{"cut", fakellm.Rule{Action: "cut", Cut: "fin", After: 1}, "", 502, api, "upstream_unreachable", fmt.Sprintf(noReply, "the connection closed before the answer was whole"), "true"},
		{"not_JSON", fakellm.Rule{Action: "error_200", Body: "<html></html>"}, "plain", 502, api, "upstream_unreachable", fmt.Sprintf(noReply, "the answer was not a JSON object"), "true"},
		{"not_a_stream", fakellm.Rule{Action: "json_for_stream"}, "stream", 502, api, "upstream_unreachable", fmt.Sprintf(noReply, "the answer was not an event stream"), "true"},
		{"ends_early", fakellm.Rule{Action: "cut", Cut: "end", After: 1}, "stream", 502, api, "upstream_unreachable", fmt.Sprintf(noReply, "the stream ended before the answer was complete"), "true"},
		{"redirect", fakellm.Rule{Action: "status", Status: 307, Headers: map[string]string{"Location": "/"}}, "", 502, api, "upstream_unreachable", fmt.Sprintf(noReply, "it answered with status 307, which is not followed; check its baseUrl"), "true"},
		{"408", fakellm.Rule{Action: "status", Status: 408}, "", 504, timeout, "upstream_timeout", late, "true"},
		{"hang", fakellm.Rule{Action: "hang"}, "", 504, timeout, "upstream_timeout", late + " (no answer came within timeouts.responseHeaderMs)", "true"},
	}
	eachDialect(t, func(t *testing.T, d *dialect) {
		gw, f := single(t, d)
		slow, hung := single(t, d, limits(100, 3_600_000)...)
		for _, c := range cases {
			for _, stream := range both() {
				if c.only != "" && c.only != kindOf(stream) {
					continue
				}
				t.Run("ER-ONE_"+c.name+"_"+kindOf(stream), func(t *testing.T) {
					gw := gw
					f.Rules(t, c.rule)
					if c.rule.Action == "hang" {
						gw = slow
						hung.Rules(t, c.rule)
					}
					got := gw.Post(t, d.path, d.ask(stream))
					d.wantGolden(t, got, c.status, c.typ, c.code, c.message, c.retry)
					wantHeaders(t, got.Header, "first", 1)
				})
			}
		}
		t.Run("ER-ONE_403_that_is_not_about_a_key", func(t *testing.T) {
			// Agents answer any 403 by asking for a sign-in, so a bot challenge
			// in front of a provider is none either.
			f.Rules(t, fakellm.Rule{Action: "status", Status: 403, Shape: "html"})
			for _, stream := range both() {
				d.wantGolden(t, gw.Post(t, d.path, d.ask(stream)), 502, api, "upstream_unreachable",
					fmt.Sprintf(noReply, "it answered with status 403; check its baseUrl"), "true")
			}
		})
		t.Run("ER-ONE_refused", func(t *testing.T) {
			gw := serve(t, d.provider("http://"+closedPort(t), "first"), d.route("first"))
			d.wantGolden(t, gw.Post(t, d.path, d.ask(true)), 502, api, "upstream_unreachable", fmt.Sprintf(noReply, "the connection was refused"), "true")
		})
		t.Run("ER-ONE_quota_names_a_time", func(t *testing.T) {
			f.Rules(t, fakellm.Rule{Action: "status", Status: 402, Headers: map[string]string{"Retry-After": "7200"}})
			got := gw.Post(t, d.path, d.ask(true))
			d.wantGolden(t, got, 429, billing, "upstream_quota", quota, "false")
			if v := got.Header.Get("Retry-After"); v != "59" {
				t.Errorf("Retry-After %q", v)
			}
		})
	})
}

// TestER_ONE_a_refused_key_in_a_400: some vendors answer a wrong key with a
// status that would be the caller's fault.
func TestER_ONE_a_refused_key_in_a_400(t *testing.T) {
	d := dialects()[1]
	f := gwtest.NewFake(t)
	provider := strings.Replace(d.provider(f.URL, "first", "vendor: xai"), "type: openai", "type: openai-compatible", 1)
	gw := serve(t, provider, d.route("first"))
	f.Rules(t, fakellm.Rule{Action: "status", Status: 400, Body: `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***st."}`})
	d.wantGolden(t, gw.Post(t, d.path, d.ask(true)), 502, [2]string{"", "server_error"}, "upstream_auth",
		`the provider "first" refused the organisation's key (400); an administrator must check its apiKey`, "false")
}

// TestER_ONE_the_key_is_scrubbed: some providers quote the key that they
// refuse, and debug proxies whole requests.
func TestER_ONE_the_key_is_scrubbed(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		gw, f := single(t, d)
		key := d.key + "first"
		echo := `{"type":"error","error":{"type":"invalid_request_error","message":"header ` + key + ` and again ` + key + `"}}`
		for name, r := range map[string]fakellm.Rule{
			"status":               {Action: "status", Status: 400, Body: echo},
			"status_text":          {Action: "status", Status: 500, Body: "dump: " + key},
			"auth":                 {Action: "status", Status: 401, Body: echo},
			"error_in_200":         {Action: "error_200", Body: echo},
			"event_before_content": {Action: "sse_error", Raw: "event: error\ndata: " + echo + "\n\n"},
			"event_after_content":  {Action: "sse_error", After: 5, Raw: "event: error\ndata: " + echo + "\n\n"},
		} {
			for _, stream := range both() {
				if !stream && r.Action == "sse_error" {
					continue
				}
				t.Run(name+"_"+kindOf(stream), func(t *testing.T) {
					f.Rules(t, r)
					got := gw.Post(t, d.path, d.ask(stream))
					if strings.Contains(got.Body, key) || strings.Contains(fmt.Sprint(got.Header), key) {
						t.Errorf("the key is in the answer: %s", got.Body)
					}
					if name != "auth" && !strings.Contains(got.Body, "***") {
						t.Errorf("nothing was scrubbed: %d %s", got.Status, got.Body)
					}
					if strings.Contains(gw.Log.String(), key) {
						t.Error("the key is in the log")
					}
				})
			}
		}
	})
}

// poolMember is one member of an exhausted pool.
type poolMember struct {
	rule     fakellm.Rule
	category string
}

// TestER_POOL: several failures become one error that names them.
func TestER_POOL(t *testing.T) {
	status := func(n int, category string) poolMember {
		return poolMember{fakellm.Rule{Action: "status", Status: n}, category}
	}
	limited := func(after string) poolMember {
		m := status(429, "rate_limit")
		if after != "" {
			m.rule.Headers = map[string]string{"Retry-After": after}
		}
		return m
	}
	quota := poolMember{fakellm.Rule{Action: "status", Status: 429, Type: "insufficient_quota", Code: "insufficient_quota"}, "quota_exhausted"}
	reset := poolMember{fakellm.Rule{Action: "reset"}, "connection"}
	var (
		api     = [2]string{"api_error", "server_error"}
		limit   = [2]string{"rate_limit_error", "rate_limit_error"}
		busy    = [2]string{"overloaded_error", "server_error"}
		missing = [2]string{"not_found_error", "invalid_request_error"}
	)
	cases := []struct {
		name    string
		members []poolMember
		status  int
		typ     [2]string
		retry   string // Retry-After; its presence means that a retry helps
	}{
		{"shared_500", []poolMember{status(500, "server_error"), status(500, "server_error")}, 500, api, ""},
		{"shared_503", []poolMember{status(503, "server_error"), status(503, "server_error")}, 503, busy, ""},
		{"shared_529", []poolMember{status(529, "overloaded"), status(529, "overloaded")}, 529, busy, ""},
		{"shared_404", []poolMember{status(404, "model_unavailable"), status(404, "model_unavailable")}, 404, missing, ""},
		{"mixed", []poolMember{status(500, "server_error"), status(502, "server_error")}, 503, busy, ""},
		{"three", []poolMember{status(500, "server_error"), status(429, "rate_limit"), reset}, 503, busy, ""},
		{"two_of_three_shared", []poolMember{status(500, "server_error"), status(500, "server_error"), status(502, "server_error")}, 503, busy, ""},
		{"challenges_403", []poolMember{{fakellm.Rule{Action: "status", Status: 403, Shape: "html"}, "server_error"}, {fakellm.Rule{Action: "status", Status: 403, Shape: "html"}, "server_error"}}, 503, busy, ""},
		{"our_keys_401_403", []poolMember{status(401, "auth"), status(403, "auth")}, 502, api, ""},
		{"no_answer", []poolMember{reset, reset}, 503, busy, ""},
		{"all_limited", []poolMember{limited("7"), limited("3"), limited("30")}, 429, limit, "3"},
		{"all_limited_capped", []poolMember{limited("90"), limited("3600")}, 429, limit, "59"},
		{"all_limited_without_a_time_RT-FO-6", []poolMember{limited(""), limited("soon")}, 429, limit, "5"},
		{"all_limited_one_without_a_time_RT-FO-6", []poolMember{limited("30"), limited("")}, 429, limit, "5"},
		{"limited_and_quota", []poolMember{limited("7"), quota}, 429, limit, ""},
		{"all_quota", []poolMember{quota, quota}, 429, limit, ""},
	}
	eachDialect(t, func(t *testing.T, d *dialect) {
		names := []string{"one", "two", "three"}
		for n := 2; n <= 3; n++ {
			f := gwtest.NewFake(t)
			docs := []string{d.route(names[:n]...)}
			for _, m := range names[:n] {
				docs = append(docs, d.provider(f.URL, m))
			}
			gw := serve(t, docs...)
			for _, c := range cases {
				if len(c.members) != n {
					continue
				}
				for _, stream := range both() {
					t.Run("ER-POOL_"+c.name+"_"+kindOf(stream), func(t *testing.T) {
						f.Reset()
						message := fmt.Sprintf(`every member of the route "pool" failed for the model %q: `, d.model)
						var rules []fakellm.Rule
						var listed []string
						for i, m := range c.members {
							rules = append(rules, d.of(names[i], m.rule))
							listed = append(listed, names[i]+": "+m.category)
						}
						f.Rules(t, rules...)
						got := gw.Post(t, d.path, d.ask(stream))
						retry := "false"
						if c.retry != "" {
							retry = ""
						}
						d.wantGolden(t, got, c.status, c.typ, "UPSTREAM_POOL_EXHAUSTED", message+strings.Join(listed, "; "), retry)
						if v := got.Header.Get("Retry-After"); v != c.retry {
							t.Errorf("Retry-After %q, want %q", v, c.retry)
						}
						wantHeaders(t, got.Header, names[n-1], n)
						if order := d.dialled(f); !slices.Equal(order, names[:n]) {
							t.Errorf("dialled %v", order)
						}
					})
				}
			}
		}
		t.Run("ER-POOL_timeouts", func(t *testing.T) {
			p := newPair(t, d, limits(100, 3_600_000)...)
			p.a.Rules(t, fakellm.Rule{Action: "hang"})
			p.b.Rules(t, fakellm.Rule{Action: "status", Status: 503})
			got, _, _ := p.ask(t, true)
			d.wantGolden(t, got, 503, busy, "UPSTREAM_POOL_EXHAUSTED",
				fmt.Sprintf(`every member of the route "pool" failed for the model %q: first: timeout; second: server_error`, d.model), "false")
		})
		t.Run("ER-ONE_after_another_failed", func(t *testing.T) {
			// The second failure is one that is returned: it is the answer.
			p := newPair(t, d)
			p.a.Rules(t, fakellm.Rule{Action: "status", Status: 500})
			p.b.Rules(t, fakellm.Rule{Action: "status", Status: 400, Body: `{"error":"no"}`})
			got, _, _ := p.ask(t, true)
			if got.Status != 400 || got.Body != `{"error":"no"}` {
				t.Errorf("%d %s", got.Status, got.Body)
			}
			wantHeaders(t, got.Header, "second", 2)
		})
	})
}

// TestER_NOROUTE names the model, the closest route and what to do.
func TestER_NOROUTE(t *testing.T) {
	const message = `no route serves the model %q; the closest is route "pool" with the pattern %q. ` +
		`Ask for a model that a route serves, or add this one to a route's modelPatterns`
	eachDialect(t, func(t *testing.T, d *dialect) {
		f := gwtest.NewFake(t)
		docs := []string{d.provider(f.URL, "first"), d.route("first")}
		for _, c := range []struct {
			name, settings string
			status         int
			typ            [2]string
			code           string
		}{
			{"by_default", "", 503, [2]string{"api_error", "server_error"}, "NO_ROUTE"},
			{"unknownModelStatus_503", "kind: Settings\nname: settings\nunknownModelStatus: 503", 503, [2]string{"api_error", "server_error"}, "NO_ROUTE"},
			{"unknownModelStatus_404", "kind: Settings\nname: settings\nunknownModelStatus: 404", 404, [2]string{"not_found_error", "invalid_request_error"}, "model_not_found"},
		} {
			t.Run("ER-NOROUTE_"+c.name, func(t *testing.T) {
				all := docs
				if c.settings != "" {
					all = append(slices.Clip(all), c.settings)
				}
				gw := serve(t, all...)
				for _, stream := range both() {
					// Close to the pattern, with a name that JSON must escape.
					model := strings.TrimSuffix(d.pattern, "-*") + "_\"é"
					got := gw.Post(t, d.path, d.body(model, "hi", stream))
					d.wantGolden(t, got, c.status, c.typ, c.code, fmt.Sprintf(message, model, d.pattern), "false")
				}
			})
		}
		if n := f.Requests(); n != 0 {
			t.Errorf("the provider was dialled %d times", n)
		}
	})
}

// keyDocument is the key that gwtest adds to a server.
const keyDocument = "kind: Key\nname: test\ntype: service\nsecret: " + gwtest.Key

// inProcess builds a gateway as the server does, with options that the server
// has no settings for.
func inProcess(tb testing.TB, o gateway.Options, documents ...string) *gateway.Gateway {
	tb.Helper()
	loaded, err := gwtest.Load(tb, gwtest.Config{Documents: append(documents, keyDocument)})
	if err != nil {
		tb.Fatal(err)
	}
	live, err := app.Compile(loaded, 1)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		for _, target := range live.Targets {
			target.CloseIdle()
		}
	})
	o.Live = func() *snapshot.Live { return live }
	if o.Formats == nil {
		o.Formats = formats.All()
	}
	o.ExposeRouting = true
	return gateway.New(o)
}

// serve runs a gateway in process behind a real listener. It is the server but
// for its store, so it starts at once.
func serve(t *testing.T, documents ...string) *gwtest.Server {
	t.Helper()
	s, _ := serveWith(t, gateway.Options{}, documents...)
	return s
}

// serveWith is serve with options that a server has no settings for.
func serveWith(t *testing.T, o gateway.Options, documents ...string) (*gwtest.Server, *gateway.Gateway) {
	t.Helper()
	log := &gwtest.Buffer{}
	o.Log = slog.New(slog.NewJSONHandler(log, nil))
	g := inProcess(t, o, documents...)
	s := httptest.NewServer(g)
	tr := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 512}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		s.Close()
	})
	// A limit that does not work shall fail its test, not hang it.
	return &gwtest.Server{URL: s.URL, Client: &http.Client{Transport: tr, Timeout: time.Minute}, Log: log}, g
}

// panicky makes a format whose reader of streams panics: at once, or at the
// first event with content after the one that began the answer.
func panicky(d *dialect, after int) []*wire.Format {
	all := formats.All()
	for _, f := range all {
		if f.Endpoints[0].Paths[0] != d.path {
			continue
		}
		inner := f.NewStream
		f.NewStream = func(e *wire.Envelope) wire.StreamReader { return &panicReader{inner(e), after} }
	}
	return all
}

type panicReader struct {
	wire.StreamReader
	left int
}

func (p *panicReader) Kind(ev *wire.Event) wire.EventKind {
	k := p.StreamReader.Kind(ev)
	if k == wire.Content {
		if p.left == 0 {
			panic("a bug in a format")
		}
		p.left--
	}
	return k
}

// TestRQ_503_our_own_faults: a bug of ours is a 503 that may be repeated as
// long as nothing was sent, and a broken connection after that. It is never a
// good end.
func TestRQ_503_our_own_faults(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		f := gwtest.NewFake(t)
		f.Rules(t, fakellm.Rule{Reply: says("alpha"), GapMS: 5})
		t.Run("RQ-503_before_anything_was_sent", func(t *testing.T) {
			gw, _ := serveWith(t, gateway.Options{Formats: panicky(d, 0)}, d.provider(f.URL, "first"), d.route("first"))
			got := gw.Post(t, d.path, d.ask(true))
			e := d.mustError(t, got.Body)
			if got.Status != 503 || e.code() != "gateway_unavailable" || got.Header.Get("Retry-After") != "1" || got.Header.Get("X-Should-Retry") != "" {
				t.Errorf("%d %v %s", got.Status, got.Header, got.Body)
			}
		})
		t.Run("RQ-503_after_content", func(t *testing.T) {
			gw, _ := serveWith(t, gateway.Options{Formats: panicky(d, 2)}, d.provider(f.URL, "first"), d.route("first"))
			got := gw.Post(t, d.path, d.ask(true))
			if got.Err == nil || strings.Contains(got.Body, d.ends) {
				t.Errorf("the answer ended well: %d %s", got.Status, clipped(got.Body))
			}
		})
	})
}
