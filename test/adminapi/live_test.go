package adminapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// listener reads server-sent events.
type listener struct {
	t     *testing.T
	lines chan string
	stop  context.CancelFunc
	resp  *http.Response
}

// listen opens the stream of events.
func (b *browser) listen(headers ...string) *listener {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	req := b.Request(b.t, "GET", "/api/v1/events", "", append([]string{"Authorization:"}, headers...)...).WithContext(ctx)
	for name, value := range b.cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := b.Client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	l := &listener{t: b.t, lines: make(chan string, 1000), stop: cancel, resp: resp}
	go func() {
		defer close(l.lines)
		defer resp.Body.Close()
		for in := bufio.NewScanner(resp.Body); in.Scan(); {
			l.lines <- in.Text()
		}
	}()
	b.t.Cleanup(l.close)
	if resp.StatusCode == 200 {
		if first, ok := <-l.lines; !ok || first != ": connected" {
			b.t.Fatalf("it begins with %q", first)
		}
	}
	return l
}

func (l *listener) close() {
	l.stop()
	for range l.lines { // until the reader has ended
	}
}

// next is the data of the next event of a kind; false when the stream ends.
func (l *listener) next(kind string, into any) bool {
	l.t.Helper()
	for line := range l.lines {
		if line != "event: "+kind {
			continue
		}
		data := strings.TrimPrefix(<-l.lines, "data: ")
		if err := json.Unmarshal([]byte(data), into); err != nil {
			l.t.Fatalf("%v: %s", err, data)
		}
		return true
	}
	return false
}

// UI: live pages hear of versions, requests and the health of providers.
func TestUI_AP_events(t *testing.T) {
	a, b := gwtest.NewFake(t), gwtest.NewFake(t)
	r := start(t, "llmProxy: {circuitBreaker: {failureThreshold: 1}, retry: {maxRetries: 0}}", a.OpenAI("first"), b.OpenAI("second"), gwtest.Route("gpt", `"gpt-*"`, "first", "second"))
	r.person("anna", "viewer", rightPassword)
	page := r.browser()
	page.signIn("anna", rightPassword)
	l := page.listen()
	if l.resp.StatusCode != 200 || l.resp.Header.Get("Content-Type") != "text/event-stream" || l.resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", l.resp.StatusCode, l.resp.Header)
	}
	var config struct{ Version int }
	r.call("PUT", "/teams/x", `{}`, 201, nil)
	if !l.next("config", &config) || config.Version != r.revision() {
		t.Errorf("%+v", config)
	}
	_, id := r.ask("/v1/chat/completions", chatOf("gpt-1"))
	var request struct {
		Row struct {
			ID, Kind, RequestID, Provider string
			Usage                         map[string]int
		}
		Dropped int
	}
	if !l.next("request", &request) || request.Row.RequestID != id || request.Row.Kind != "request" || request.Row.Provider != "first" || request.Dropped != 0 {
		t.Errorf("%+v", request)
	}
	var list struct{ Items []json.RawMessage }
	r.call("GET", "/audit-events?requestId="+id+"&kind=request", "", 200, &list)
	if len(list.Items) != 1 || !strings.Contains(string(list.Items[0]), `"id":"`+request.Row.ID+`"`) {
		t.Errorf("the audit has %s", list.Items)
	}
	a.Rules(t, fakellm.Rule{Action: fakellm.ActionStatus, Status: 500})
	r.ask("/v1/chat/completions", chatOf("gpt-1"))
	var health struct {
		Provider, Event, Breaker  string
		BreakerUntil, ParkedUntil time.Time
		State                     map[string]any
	}
	if !l.next("health", &health) || health.Provider != "first" || health.Event != "breaker_open" || health.Breaker != "open" || health.BreakerUntil.IsZero() || health.State["name"] != "first" {
		t.Errorf("%+v", health)
	}
	r.call("POST", "/providers/second/park", `{"seconds":60}`, 200, nil)
	if !l.next("health", &health) || health.Provider != "second" || health.Event != "park" || health.ParkedUntil.IsZero() {
		t.Errorf("%+v", health)
	}
}

// UI: of many requests at once a few are shown, with the number of the others.
func TestUI_AP_events_are_throttled(t *testing.T) {
	a := gwtest.NewFake(t)
	r := start(t, "", a.OpenAI("first"), gwtest.Route("gpt", `"gpt-*"`, "first"))
	l := r.browser().listen("Authorization: Bearer " + gwtest.AdminToken)
	const n = 150
	for range n {
		r.ask("/v1/chat/completions", chatOf("gpt-1"))
	}
	seen, shown := 0, 0
	began := time.Now()
	for seen < n {
		var request struct{ Dropped int }
		if !l.next("request", &request) {
			t.Fatal("the stream ended")
		}
		seen += 1 + request.Dropped
		shown++
	}
	if most := 20 * (int(time.Since(began).Seconds()) + 2); seen != n || shown > most {
		t.Errorf("%d requests are known of, %d were shown, at most %d may be", seen, shown, most)
	}
}

// OP-10: a stream ends with its session, with the role, with the server, and is
// nobody's without one.
func TestOP_10_streams_end_with_the_session(t *testing.T) {
	for name, end := range map[string]func(*rig, *browser){
		"sign-out":     func(_ *rig, b *browser) { b.want(b.api("POST", "/auth/sign-out", ""), 204, "") },
		"new password": func(r *rig, _ *browser) { r.person("anna", "viewer", "another password") },
		"no role":      func(r *rig, _ *browser) { r.call("PUT", "/users/anna", `{}`, 200, nil) },
		"deleted":      func(r *rig, _ *browser) { r.call("DELETE", "/users/anna", "", 204, nil) },
		"the end":      func(r *rig, _ *browser) { _ = r.Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "")
			r.person("anna", "viewer", rightPassword)
			b := r.browser()
			b.signIn("anna", rightPassword)
			l := b.listen()
			began := time.Now()
			end(r, b)
			var none any
			if l.next("nothing", &none) || time.Since(began) > 8*time.Second {
				t.Errorf("it ended after %v", time.Since(began))
			}
		})
	}
	r := start(t, "")
	if l := r.browser().listen(); l.resp.StatusCode != 401 {
		t.Errorf("nobody gets %d", l.resp.StatusCode)
	}
}

// UI: one person can't take all streams.
func TestUI_AP_events_are_limited(t *testing.T) {
	r := start(t, "")
	b := r.browser()
	for i := range 17 {
		l := b.listen("Authorization: Bearer " + gwtest.AdminToken)
		if want := map[bool]int{true: 200, false: 429}[i < 16]; l.resp.StatusCode != want {
			t.Fatalf("stream %d: %d", i, l.resp.StatusCode)
		}
	}
}

// stats is what the test looks at.
type statsAnswer struct {
	Window        string
	BucketSeconds int
	Since         time.Time
	Totals        struct {
		Requests, Errors, Refusals, Failovers, Unpriced int
		Tokens                                          struct{ Input, Output int }
		CostUSD                                         float64
		P50Ms, P95Ms                                    float64
	}
	Series            []struct{ Requests int }
	Models, Providers []struct {
		Name             string
		Requests, Errors int
	}
}

// UI: the figures of an overview, before and after a restart.
func TestUI_AP_stats(t *testing.T) {
	a, b := gwtest.NewFake(t), gwtest.NewFake(t)
	c := gwtest.Config{Admin: true, Dir: t.TempDir(), Settings: "llmProxy: {retry: {maxRetries: 0}}", Documents: withAdmin(
		a.OpenAI("first"), b.OpenAI("second"), gwtest.Route("gpt", `"gpt-*", "priceless-*"`, "first", "second"),
		"kind: Model\nname: gpt-*\nprices: {input: 1000, output: 2000}")}
	r := &rig{gwtest.StartWith(t, c), t}
	for range 5 {
		r.ask("/v1/chat/completions", chatOf("gpt-1"))
	}
	r.ask("/v1/chat/completions", chatOf("priceless-1"))
	r.ask("/v1/chat/completions", chatOf("unheard-of"))
	a.Rules(t, fakellm.Rule{Action: fakellm.ActionStatus, Status: 503, Times: 1})
	r.ask("/v1/chat/completions", chatOf("gpt-1"))
	check := func(what, window string) statsAnswer {
		t.Helper()
		var s statsAnswer
		r.call("GET", "/stats?window="+window, "", 200, &s)
		f := s.Totals
		if f.Requests != 8 || f.Failovers != 1 || f.Refusals+f.Errors != 1 || f.Unpriced != 1 || f.P50Ms <= 0 || f.P95Ms < f.P50Ms || f.Tokens.Input == 0 {
			t.Errorf("%s, %s: %+v", what, window, f)
		}
		if len(s.Models) != 2 || s.Models[0].Name != "gpt-1" || s.Models[0].Requests != 6 || len(s.Providers) != 2 || s.Providers[0].Name != "first" {
			t.Errorf("%s, %s: %+v %+v", what, window, s.Models, s.Providers)
		}
		if len(s.Series) > 120 || s.Window != window {
			t.Errorf("%s, %s: %d buckets", what, window, len(s.Series))
		}
		return s
	}
	first := check("live", "1h")
	if want := float64(first.Totals.Tokens.Input)/8*7*0.001 + float64(first.Totals.Tokens.Output)/8*7*0.002; first.Totals.CostUSD < want*0.8 || first.Totals.CostUSD > want*1.2 {
		t.Errorf("%v USD, about %v were expected", first.Totals.CostUSD, want)
	}
	check("live", "24h")
	check("live", "7d")
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	r = &rig{gwtest.StartWith(t, c), t}
	before := time.Now()
	for deadline := before.Add(10 * time.Second); ; {
		var s statsAnswer
		r.call("GET", "/stats", "", 200, &s)
		if s.Since.Before(before.Add(-24*time.Hour)) && s.Window == "24h" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("whole since %v", s.Since)
		}
	}
	again := check("after a restart", "7d")
	if fmt.Sprint(again.Totals) != fmt.Sprint(first.Totals) {
		t.Errorf("%+v, before %+v", again.Totals, first.Totals)
	}
	r.refused("GET", "/stats?window=2h", "", 400, "invalid")
}
