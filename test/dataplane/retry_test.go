package dataplane

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
)

// retrying is settings with so many retries in place and no wait before them;
// failures leave no mark.
func retrying(n int) string {
	return fmt.Sprintf("llmProxy: {circuitBreaker: {enabled: false, maxRetryAfterSeconds: 0}, retry: {maxRetries: %d, baseDelayMs: 0}}", n)
}

// repeat is a member n times.
func repeat(member string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = member
	}
	return out
}

// Which failures of the last candidate are worth another try in place.
func TestRT_FO_3_which_failures_are_repeated(t *testing.T) {
	cases := []struct {
		name  string
		rule  fakellm.Rule
		again bool
		only  string
	}{
		{name: "reset", rule: fakellm.Rule{Action: "reset"}, again: true},
		{name: "502", rule: fakellm.Rule{Action: "status", Status: 502}, again: true},
		{name: "503", rule: fakellm.Rule{Action: "status", Status: 503}, again: true},
		{name: "504", rule: fakellm.Rule{Action: "status", Status: 504}, again: true},
		{name: "502_of_a_proxy", rule: fakellm.Rule{Action: "status", Status: 502, Shape: "html"}, again: true},
		{name: "cut_before_content", rule: fakellm.Rule{Action: "cut", Cut: "fin", After: 1}, again: true},
		{name: "503_with_retry_after", rule: fakellm.Rule{Action: "status", Status: 503, Headers: map[string]string{"Retry-After": "1"}}},
		{name: "502_with_retry_after_ms", rule: fakellm.Rule{Action: "status", Status: 502, Headers: map[string]string{"Retry-After-Ms": "10"}}},
		{name: "500", rule: fakellm.Rule{Action: "status", Status: 500}},
		{name: "501", rule: fakellm.Rule{Action: "status", Status: 505}},
		{name: "529", rule: fakellm.Rule{Action: "status", Status: 529}},
		{name: "429", rule: fakellm.Rule{Action: "status", Status: 429}},
		{name: "429_zero", rule: fakellm.Rule{Action: "status", Status: 429, Headers: map[string]string{"Retry-After": "0"}}},
		{name: "402", rule: fakellm.Rule{Action: "status", Status: 402, Message: "Insufficient credits"}},
		{name: "400", rule: fakellm.Rule{Action: "status", Status: 400}},
		{name: "401", rule: fakellm.Rule{Action: "status", Status: 401}},
		{name: "404_of_a_model", rule: fakellm.Rule{Action: "status", Status: 404, Message: "model: m"}},
		{name: "408", rule: fakellm.Rule{Action: "status", Status: 408}},
		{name: "409", rule: fakellm.Rule{Action: "status", Status: 409}},
		{name: "no_answer_in_time", rule: fakellm.Rule{Action: "hang"}},
		{name: "no_content_in_time", rule: fakellm.Rule{Action: "stall", After: 1}, only: "stream"},
	}
	eachWay(t, func(t *testing.T, w *way) {
		one := newRig(t, w, retrying(1), w.org("a", limits(200, 200)...), w.pool("", "a"))
		two := newRig(t, w, retrying(1), w.org("z"), w.org("a", limits(200, 200)...), w.pool("", "z", "a"))
		for _, c := range cases {
			if c.only != "" && c.only != kindOf(w.stream) {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				n := 1
				if c.again {
					n = 2
				}
				one.script(t, at("a", c.rule))
				got := one.ask(t)
				one.wantDials(t, repeat("a", n)...)
				if got.Status < 400 {
					t.Errorf("%d %s", got.Status, got.Body)
				}
				wantHeaders(t, got.Header, "a", n)
				if rec := one.record(t, got); rec.Retries != n-1 || len(rec.Attempts) != n || rec.Attempts[n-1].Retry != c.again {
					t.Errorf("retries %d: %s", rec.Retries, tries(&rec))
				}
				if c.again { // and the second try may serve
					rule := at("a", c.rule)
					rule.Times = 1
					one.script(t, rule)
					got := one.ask(t)
					one.wantServed(t, got, "a", 2)
					if rec := one.record(t, got); rec.Retries != 1 || !strings.HasSuffix(tries(&rec), "a:own:retry:allow") {
						t.Errorf("retries %d: %s", rec.Retries, tries(&rec))
					}
				}
				if w.count {
					return
				}
				// Earlier candidates are not repeated, the last one is.
				two.script(t, fails("z", 503), at("a", c.rule))
				got = two.ask(t)
				two.wantDials(t, append([]string{"z"}, repeat("a", n)...)...)
				wantHeaders(t, got.Header, "a", n+1)
			})
		}
	})
}

// As often as the setting says, and no more.
func TestRT_FO_3_maxRetries(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		for n := range 4 {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				r := newRig(t, w, retrying(n), w.org("a"), w.pool("", "a"))
				r.script(t, fails("a", 503))
				got := r.ask(t)
				r.wantDials(t, repeat("a", n+1)...)
				wantHeaders(t, got.Header, "a", n+1)
				if rec := r.record(t, got); got.Status != 503 || rec.Retries != n {
					t.Errorf("%d, retries %d", got.Status, rec.Retries)
				}
				// The kinds of failure may change on the way.
				r.script(t, at("a", fakellm.Rule{Action: "reset", Times: 1}), at("a", fakellm.Rule{Action: "status", Status: 503, Times: 1}), fails("a", 429))
				if got := r.ask(t); n >= 2 && got.Status != 429 {
					t.Errorf("%d %s", got.Status, got.Body)
				}
				r.wantDials(t, repeat("a", min(n, 2)+1)...)
			})
		}
	})
}

// The waits are drawn from a doubled base.
func TestRT_FO_3_waits(t *testing.T) {
	w := ways()[0]
	r := newRig(t, w, "llmProxy: {circuitBreaker: {enabled: false}, retry: {maxRetries: 3, baseDelayMs: 40}}", w.org("a"), w.pool("", "a"))
	r.script(t, fails("a", 503))
	least, most := time.Hour, time.Duration(0)
	for range 8 {
		start := time.Now()
		r.ask(t)
		least, most = min(least, time.Since(start)), max(most, time.Since(start))
	}
	// Full jitter: up to 40 + 80 + 160 ms, and never the same.
	if most < 40*time.Millisecond || most > 280*time.Millisecond+2*time.Second || most-least < 10*time.Millisecond {
		t.Errorf("between %v and %v", least, most)
	}
}

// A retry that would begin when the breaker has just opened is not made.
func TestRT_FO_3_RT_CB_not_past_an_open_breaker(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "llmProxy: {circuitBreaker: {failureThreshold: 2, cooldownSeconds: 60}, retry: {maxRetries: 3, baseDelayMs: 0}}", w.org("a"), w.pool("", "a"))
		r.script(t, fails("a", 503))
		if got := r.ask(t); got.Status != 503 || got.Header.Get("X-Interlock-Error") == "UPSTREAM_POOL_EXHAUSTED" {
			t.Errorf("%d %s", got.Status, got.Body)
		}
		r.wantDials(t, "a", "a")
		// Forced past it, nothing is repeated.
		r.ask(t)
		r.wantDials(t, "a", "a", "a")
	})
}

// The client's own deadline bounds all attempts together, and so does the
// setting; the shorter one counts and is named.
func TestRT_FO_4_the_clients_deadline(t *testing.T) {
	settings := func(elapsed int) string {
		return fmt.Sprintf("llmProxy: {circuitBreaker: {enabled: false}, retry: {maxRetries: 3, baseDelayMs: 0, maxElapsedMs: %d}}", elapsed)
	}
	cases := []struct {
		name, header string
		elapsed      int
		limit        time.Duration
		names        string
	}{
		{"x-stainless-timeout", "1", 60_000, time.Second, "x-stainless-timeout"},
		{"a_fraction", "1.2", 60_000, 1200 * time.Millisecond, "x-stainless-timeout"},
		{"maxElapsedMs_is_shorter", "600", 1000, time.Second, "maxElapsedMs"},
		{"not_a_number", "soon", 1000, time.Second, "maxElapsedMs"},
		{"zero_is_no_deadline", "0", 1000, time.Second, "maxElapsedMs"},
		{"negative", "-3", 1000, time.Second, "maxElapsedMs"},
	}
	rigs := map[string][]*rig{} // before anything is timed
	for _, w := range chats() {
		for _, c := range cases {
			rigs[w.name] = append(rigs[w.name], newRig(t, w, settings(c.elapsed), w.org("a"), w.org("b"), w.pool("", "a", "b")))
		}
	}
	chatAtOnce(t, func(t *testing.T, w *way) {
		concurrently(len(cases), len(cases), func(i int) {
			c, r := cases[i], rigs[w.name][i]
			t.Run(c.name, func(t *testing.T) {
				// The first takes most of the time, the second would take more.
				r.script(t, at("a", fakellm.Rule{Action: "status", Status: 503, DelayMS: int(c.limit/time.Millisecond) / 4}), at("b", fakellm.Rule{Action: "hang"}))
				start := time.Now()
				got := r.ask(t, "X-Stainless-Timeout: "+c.header)
				if took := time.Since(start); took < c.limit || took > c.limit+2*time.Second {
					t.Errorf("ended after %v with a limit of %v", took, c.limit)
				}
				r.wantDials(t, "a", "b")
				if e := w.mustError(t, got.Body); !strings.Contains(e.Message, "timeout") {
					t.Errorf("%d %s", got.Status, got.Body)
				}
				// Alone: the error names the limit, and no retry begins after it.
				r.script(t, at("a", fakellm.Rule{Action: "hang"}))
				got = r.ask(t, "X-Stainless-Timeout: "+c.header)
				e := r.wantCode(t, got, 504, "upstream_timeout")
				if !strings.Contains(strings.ToLower(e.Message), strings.ToLower(c.names)) {
					t.Errorf("%s is not named: %s", c.names, e.Message)
				}
				r.wantDials(t, "a")
			})
		})
		t.Run("a_retry_that_comes_too_late_is_not_made", func(t *testing.T) {
			r := newRig(t, w, settings(500), w.org("a"), w.pool("", "a"))
			r.script(t, at("a", fakellm.Rule{Action: "status", Status: 503, DelayMS: 550}))
			r.ask(t)
			r.wantDials(t, "a")
		})
		t.Run("content_is_not_bounded", func(t *testing.T) {
			if !w.stream {
				return
			}
			r := newRig(t, w, settings(60_000), w.org("a"), w.pool("", "a"))
			r.script(t, at("a", fakellm.Rule{GapMS: 80, Reply: &fakellm.Reply{Chunks: 20, ChunkText: "alpha "}}))
			w.wantWhole(t, r.ask(t, "X-Stainless-Timeout: 1"), true, words(20))
		})
	})
}

// A client that wants no fallback gets the failure of one dial, whatever the
// phase; that of a stream that has begun is the same either way.
func TestRT_FO_11_R31_BY_18_no_fallback(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, retrying(3), w.org("a", limits(300, 300)...), w.org("b"), w.pool("", "a", "b"))
		none := "X-Interlock-No-Fallback: true"
		cases := map[string]fakellm.Rule{
			"500": {Action: "status", Status: 500}, "503": {Action: "status", Status: 503}, "429": {Action: "status", Status: 429, Headers: map[string]string{"Retry-After": "30"}}, "401": {Action: "status", Status: 401},
			"402": {Action: "status", Status: 402, Message: "Insufficient credits"}, "404": {Action: "status", Status: 404, Message: "model: m"},
			"reset": {Action: "reset"}, "silent": {Action: "hang"}, "not_an_answer": {Action: "error_200", Body: "<html>"},
		}
		if w.stream {
			cases["error_event_before_content"] = fakellm.Rule{Action: "preamble_error", Status: 529, Type: "overloaded_error"}
			cases["cut_before_content"] = fakellm.Rule{Action: "cut", Cut: "fin", After: 1}
			cases["silent_before_content"] = fakellm.Rule{Action: "stall", After: 1}
			cases["pings_only"] = fakellm.Rule{Action: "trickle_pings", GapMS: 20}
			cases["no_stream"] = fakellm.Rule{Action: "json_for_stream"}
		} else {
			cases["cut"] = fakellm.Rule{Action: "cut", Cut: "fin"}
		}
		for name, rule := range cases {
			t.Run(name, func(t *testing.T) {
				r.script(t, at("a", rule))
				got := r.ask(t, none)
				r.wantDials(t, "a")
				if got.Status < 400 {
					t.Errorf("%d %s", got.Status, got.Body)
				}
				if got.Header.Get("X-Interlock-Error") == "UPSTREAM_POOL_EXHAUSTED" {
					t.Error("there is no pool for it")
				}
				wantHeaders(t, got.Header, "a", 1)
				if rec := r.record(t, got); len(rec.Attempts) != 1 || rec.Retries != 0 {
					t.Error(tries(&rec))
				}
			})
		}
		if w.stream {
			t.Run("after_content", func(t *testing.T) {
				for _, h := range []string{none, "X-Interlock-No-Fallback: false"} {
					r.script(t, at("a", fakellm.Rule{Action: "cut", Cut: "fin", After: w.lead + 2, Reply: says("a")}))
					w.wantBroken(t, r.ask(t, h))
					r.wantDials(t, "a")
				}
			})
		}
		for _, value := range []string{"false", "0", "", "yes"} {
			r.script(t, fails("a", 500))
			if got := r.ask(t, "X-Interlock-No-Fallback: "+value); (got.Status == 200) == w.count {
				t.Errorf("%q: %d", value, got.Status)
			}
		}
		t.Run("a_healthy_one_is_dialled", func(t *testing.T) {
			r := newRig(t, w, breakerAt(1, 60), w.org("a"), w.org("b"), w.pool("", "a", "b"))
			r.script(t, fails("a", 500))
			r.ask(t) // opens it
			r.script(t, fails("b", 503))
			got := r.ask(t, none)
			r.wantDials(t, "b")
			if got.Status != 503 || got.Header.Get("X-Interlock-Error") == "UPSTREAM_POOL_EXHAUSTED" {
				t.Errorf("%d %v", got.Status, got.Header)
			}
		})
		t.Run("RT-OKF_neither", func(t *testing.T) {
			r := newRig(t, w, retrying(3), w.pass("p"), w.org("o"), w.pool(fallback, "p", "o"))
			r.script(t, fails("p", 503))
			if got := r.ask(t, w.own(none)...); got.Status != 503 {
				t.Errorf("%d", got.Status)
			}
			r.wantCredentials(t, "p:caller")
		})
	})
}

// Only the list of members is needed (R09), each is dialled once (R10), the
// last one again (RT-FO-3).
func TestRT_FO_R09_R10_with_all_defaults(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("a"), w.org("b"), w.org("c"), w.pool("", "a", "b", "c"))
		r.script(t, fails("a", 503))
		r.wantServed(t, r.ask(t), "b", 2)
		r.script(t, fails("a", 503), fails("b", 503), fails("c", 503))
		start := time.Now()
		got := r.ask(t)
		r.wantDials(t, "a", "b", "c", "c")
		r.wantCode(t, got, 503, "UPSTREAM_POOL_EXHAUSTED")
		wantHeaders(t, got.Header, "c", 4)
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
