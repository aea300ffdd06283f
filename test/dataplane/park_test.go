package dataplane

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// inFuture is a time that a test may look for, to the minute.
func inFuture(d time.Duration) time.Time { return time.Now().UTC().Add(d).Truncate(time.Minute) }

// wantUntil compares the end of a state; it is exact, without jitter, but for
// the time that a request takes.
func wantUntil(t *testing.T, got, want time.Time) {
	t.Helper()
	if d := got.Sub(want); d < -time.Second || d > 5*time.Second {
		t.Errorf("until %v, want %v", got.UTC(), want.UTC())
	}
}

// Money that is used up parks a provider until it says, in whatever status and
// words it says so. The second request does not contact it.
func TestRT_PARK_R01_until_the_vendors_time(t *testing.T) {
	date := inFuture(5 * time.Hour)
	limit := "You have reached your specified API usage limits. You will regain access on " + date.Format("2006-01-02 at 15:04") + " UTC."
	later := inFuture(26 * 24 * time.Hour)
	body := func(message string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, message)
	}
	far := strings.ReplaceAll(limit, date.Format("2006-01-02 at 15:04"), later.Format("2006-01-02 at 15:04"))
	cases := []struct {
		name   string
		rule   fakellm.Rule
		status int
		until  time.Duration // from now; 0 is date
		vendor string        // of the dialect, if it matters
	}{
		{name: "400_regain_access", rule: fakellm.Rule{Action: "status", Status: 400, Body: body(limit)}, status: 400, vendor: "anthropic"},
		{name: "429_regain_access", rule: fakellm.Rule{Action: "status", Status: 429, Body: body(limit)}, status: 429, vendor: "anthropic"},
		{name: "400_regain_access_in_weeks_is_a_day", rule: fakellm.Rule{Action: "status", Status: 400, Body: body(far)}, status: 400, until: 24 * time.Hour, vendor: "anthropic"},
		{name: "400_credit_balance", rule: fakellm.Rule{Action: "status", Status: 400, Body: body("Your credit balance is too low to access the Anthropic API.")}, status: 400, until: 15 * time.Minute, vendor: "anthropic"},
		{name: "402", rule: fakellm.Rule{Action: "status", Status: 402, Message: "Insufficient credits"}, status: 402, until: 15 * time.Minute},
		{name: "402_bare", rule: fakellm.Rule{Action: "status", Status: 402, Shape: "empty"}, status: 402, until: 15 * time.Minute},
		{name: "402_with_retry_after", rule: fakellm.Rule{Action: "status", Status: 402, Headers: map[string]string{"Retry-After": "7200"}}, status: 402, until: 2 * time.Hour},
		{name: "402_with_a_day_and_more", rule: fakellm.Rule{Action: "status", Status: 402, Headers: map[string]string{"Retry-After": "9999999"}}, status: 402, until: 24 * time.Hour},
		{name: "429_insufficient_quota", rule: fakellm.Rule{Action: "status", Status: 429, Type: "insufficient_quota", Code: "insufficient_quota"}, status: 429, until: 15 * time.Minute},
		{name: "200_with_an_error_object", rule: fakellm.Rule{Action: "error_200", Status: 402, Type: "insufficient_quota", Code: "insufficient_quota"}, until: 15 * time.Minute},
	}
	eachChat(t, func(t *testing.T, w *way) {
		docs := []string{w.org("b")}
		for i, c := range cases { // a provider each, in a route of its own
			a := fmt.Sprintf("a%d", i)
			docs = append(docs, w.org(a), gwtest.Route("r"+a, `"`+c.name+`"`, a, "b"))
		}
		r := newRig(t, w, breakerAt(5, 30), docs...)
		for i, c := range cases {
			if c.vendor != "" && c.vendor != w.kind {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				a := fmt.Sprintf("a%d", i)
				r.script(t, at(a, c.rule))
				start := time.Now()
				first := r.send(t, c.name)
				r.wantServed(t, first, "b", 2)
				if rec := r.record(t, first); rec.Attempts[0].Category != "quota_exhausted" {
					t.Errorf("%s", tries(&rec))
				}
				got := r.send(t, c.name)
				r.wantServed(t, got, "b", 1)
				r.wantDials(t, a, "b", "b")
				rec := r.record(t, got)
				status := c.status
				if status == 0 && len(rec.Skips) > 0 {
					status = rec.Skips[0].Status
				}
				if want := fmt.Sprintf("%s:parked:quota_exhausted:%d", a, status); skips(&rec) != want {
					t.Fatalf("skips %q, want %q", skips(&rec), want)
				}
				want := date
				if c.until > 0 {
					want = start.Add(c.until)
				}
				wantUntil(t, rec.Skips[0].Until, want)
				events := r.Admin(t, "GET", "/audit-events?kind=event&provider="+a, "").Body
				if !strings.Contains(events, `"park"`) || !strings.Contains(events, "quota_exhausted") {
					t.Errorf("no event: %s", events)
				}
			})
		}
	})
	t.Run("a_plain_400_parks_nothing", func(t *testing.T) {
		eachChat(t, func(t *testing.T, w *way) {
			r := newRig(t, w, breakerAt(1, 30), w.org("a"), w.org("b"), w.pool("", "a", "b"))
			r.script(t, fails("a", 400))
			for range 2 {
				if got := r.ask(t); got.Status != 400 {
					t.Errorf("%d", got.Status)
				}
			}
			r.wantDials(t, "a", "a")
		})
	})
}

// A time of 0, or one that is past, lets the next request probe; one probe that
// works ends the park, one that does not begins it again.
func TestRT_PARK_probes(t *testing.T) {
	chatAtOnce(t, func(t *testing.T, w *way) {
		quota := func(after string) fakellm.Rule {
			rule := fakellm.Rule{Action: "status", Status: 402, Message: "Insufficient credits"}
			if after != "" {
				rule.Headers = map[string]string{"Retry-After": after}
			}
			return at("a", rule)
		}
		for name, after := range map[string]string{"zero": "0", "past": "Mon, 02 Jan 2006 15:04:05 GMT"} {
			r := newRig(t, w, breakerAt(1, 30), w.org("a"), w.org("b"), w.pool("", "a", "b"))
			r.script(t, quota(after))
			for range 3 {
				r.wantServed(t, r.ask(t), "b", 2)
			}
			if r.script(t); t.Failed() {
				t.Errorf("with a time of %s", name)
			}
			r.wantServed(t, r.ask(t), "a", 1)
		}
		t.Run("after_its_time", func(t *testing.T) {
			r := newRig(t, w, breakerAt(1, 30), w.org("a"), w.org("b"), w.pool("", "a", "b"))
			r.script(t, quota("1"))
			r.wantServed(t, r.ask(t), "b", 2)
			r.wantServed(t, r.ask(t), "b", 1)
			r.script(t, quota("600"))
			before := time.Now()
			eventually(t, 10*time.Second, "a probe", func() bool { return r.ask(t).Header.Get("X-Interlock-Attempts") == "2" })
			probed := time.Now()
			got := r.ask(t)
			r.wantServed(t, got, "b", 1)
			rec := r.record(t, got)
			// Some time between, however busy the machine is.
			if until := rec.Skips[0].Until; until.Before(before.Add(10*time.Minute-time.Second)) || until.After(probed.Add(10*time.Minute)) {
				t.Errorf("until %v, probed between %v and %v", until.UTC(), before.UTC(), probed.UTC())
			}
		})
	})
}

// With everybody parked, they are tried after all; the answer of one that has
// money again serves.
func TestRT_PARK_RT_ORDER_all_parked(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, breakerAt(5, 30), w.org("a"), w.org("b"), w.pool("", "a", "b"))
		broke := fakellm.Rule{Action: "status", Status: 402, Message: "Insufficient credits"}
		r.script(t, at("a", broke), at("b", broke))
		if got := r.ask(t); got.Status != 429 || got.Header.Get("X-Interlock-Error") != "UPSTREAM_POOL_EXHAUSTED" {
			t.Errorf("%d %s", got.Status, got.Body)
		}
		r.script(t, at("a", broke), at("b", broke))
		got := r.ask(t)
		r.wantDials(t, "a", "b")
		if rec := r.record(t, got); got.Status != 429 || tries(&rec) != "a:own:quota_exhausted b:own:quota_exhausted" {
			t.Errorf("%d %s", got.Status, tries(&rec))
		}
		r.script(t, at("a", broke))
		r.wantServed(t, r.ask(t), "b", 2)
	})
}

// A rate limit with a time puts its deployment last for exactly that time;
// other models of the provider are not concerned.
func TestRT_COOL_R08_a_429_always_moves_on(t *testing.T) {
	date := time.Now().UTC().Add(4 * time.Minute)
	cases := []struct {
		name, header, value string
		wait                time.Duration
	}{
		{"bare", "", "", 5 * time.Second},
		{"garbage", "Retry-After", "soon", 5 * time.Second},
		{"empty", "Retry-After", "", 5 * time.Second},
		{"negative", "Retry-After", "-7", 5 * time.Second},
		{"zero", "Retry-After", "0", 5 * time.Second},
		{"not_a_number", "Retry-After", "NaN", 5 * time.Second},
		{"infinite", "Retry-After", "Inf", 5 * time.Second},
		{"past_date", "Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT", 5 * time.Second},
		{"date", "Retry-After", date.Format(http.TimeFormat), 0},
		{"seconds", "Retry-After", "37", 37 * time.Second},
		{"fraction", "Retry-After", "12.5", 12500 * time.Millisecond},
		{"milliseconds", "Retry-After-Ms", "21500", 21500 * time.Millisecond},
		{"more_than_allowed", "Retry-After", "7200", 300 * time.Second},
	}
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, breakerAt(100, 30), w.org("a"), w.org("b"), w.pool("", "a", "b"))
		prefix := strings.TrimSuffix(w.pattern, "*")
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				rule, model := fakellm.Rule{Action: "status", Status: 429}, prefix+c.name
				if c.header != "" {
					rule.Headers = map[string]string{c.header: c.value}
				}
				r.script(t, at("a", rule))
				end := time.Now().Add(c.wait)
				if c.name == "date" {
					end = date
				}
				r.wantServed(t, r.send(t, model), "b", 2)
				got := r.send(t, model)
				r.wantServed(t, got, "b", 1) // it comes last now
				if until := r.coolingUntil(t, got, "a"); until.IsZero() {
					t.Error("it does not cool")
				} else {
					wantUntil(t, until, end)
				}
				// Reached, it is dialled: it is not left alone.
				r.script(t, fails("b", 404))
				r.wantServed(t, r.send(t, model), "a", 2)
				r.wantDials(t, "b", "a")
				// Another model has a limit of its own.
				r.script(t)
				r.wantServed(t, r.send(t, prefix+"other"), "a", 1)
			})
		}
	})
}

// coolingUntil is what the decision of an answer knew of a provider.
func (r *rig) coolingUntil(t *testing.T, got gwtest.Answer, provider string) time.Time {
	t.Helper()
	rec := r.record(t, got)
	var facts struct {
		Cooling []struct {
			Provider string
			Until    time.Time
		}
	}
	mustJSON(t, string(rec.Facts), &facts)
	for _, c := range facts.Cooling {
		if c.Provider == provider {
			return c.Until
		}
	}
	return time.Time{}
}

// A cooldown ends by itself, and only then does its member come first again.
func TestRT_COOL_R05_not_before_its_time(t *testing.T) {
	chatAtOnce(t, func(t *testing.T, w *way) {
		r := newRig(t, w, breakerAt(1, 30), w.org("a"), w.org("b"), w.pool("", "a", "b"))
		r.script(t, fails("a", 429, "Retry-After: 2"))
		start := time.Now()
		r.wantServed(t, r.ask(t), "b", 2)
		r.script(t)
		pace := time.NewTicker(20 * time.Millisecond)
		defer pace.Stop()
		for range pace.C {
			before := time.Since(start) // the decision is later than this
			if by := r.ask(t).Header.Get("X-Interlock-Provider"); by == "a" {
				if time.Since(start) < 2*time.Second {
					t.Errorf("it served after %v", time.Since(start))
				}
				return
			} else if by != "b" || before > 2500*time.Millisecond {
				t.Fatalf("%q serves after %v", by, before)
			}
		}
	})
}

// maxRetryAfterSeconds of 0 ignores what providers ask for.
func TestRT_COOL_switched_off(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "llmProxy: {circuitBreaker: {maxRetryAfterSeconds: 0}}", w.org("a"), w.org("b"), w.pool("", "a", "b"))
		r.script(t, fails("a", 429, "Retry-After: 60"))
		for range 3 {
			r.wantServed(t, r.ask(t), "b", 2)
		}
	})
}

// Healthy ones first, then cooling ones, then open and parked ones; priority,
// fallback-only and the strategy count within each of these.
func TestRT_ORDER_health_before_everything_else(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, breakerAt(1, 60), w.org("open"), w.org("cool"), w.org("parked"), w.org("last"), w.org("late"),
			w.pool("", "open", "cool", "parked", "last, fallbackOnly: true", "late, priority: 3"))
		r.script(t, fails("open", 500), fails("cool", 429, "Retry-After: 60"), at("parked", fakellm.Rule{Action: "status", Status: 402}))
		// By priority, then the one that is for fallback only.
		got := r.ask(t)
		r.wantServed(t, got, "last", 4)
		r.wantDials(t, "open", "cool", "parked", "last")
		// A healthy one of a worse priority comes before one that cools.
		r.script(t, fails("last", 400))
		got = r.ask(t)
		r.wantDials(t, "last")
		rec := r.record(t, got)
		if skips(&rec) != "open:circuit_open:server_error:500 parked:parked:quota_exhausted:402" {
			t.Error(skips(&rec))
		}
		r.script(t, fails("last", 500), fails("late", 500), fails("cool", 500))
		got = r.ask(t)
		r.wantDials(t, "last", "late", "cool")
		e := r.wantCode(t, got, 500, "UPSTREAM_POOL_EXHAUSTED")
		if !strings.Contains(e.Message, "open: circuit_open (skipped)") || !strings.Contains(e.Message, "parked: parked (skipped)") {
			t.Error(e.Message)
		}
	})
}
