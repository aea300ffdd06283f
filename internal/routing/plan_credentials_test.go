package routing

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/failure"
)

// planOf makes a plan from candidates that are written as brief writes them:
// "caller own! virtual own".
func planOf(text string, options ...func(*Plan)) *Plan {
	p := &Plan{Failover: true}
	for c := range strings.FieldsSeq(text) {
		credential, fallback := strings.CutSuffix(c, "!")
		p.Candidates = append(p.Candidates, Candidate{Credential: Credential(credential), Fallback: fallback})
	}
	for _, o := range options {
		o(p)
	}
	return p
}

func okf(p *Plan) { p.orgKeyFallback = true }

func once(p *Plan) { p.Failover = false }

// What follows a failure of the first candidate depends on whose credential it
// was dialled with.
func TestAfter_by_credential(t *testing.T) {
	others := []failure.Category{failure.Connection, failure.Timeout, failure.ServerError, failure.Overloaded, failure.RateLimit, failure.ModelUnavailable}
	for _, row := range []struct {
		name                string
		p                   *Plan
		quota, auth, others Action
	}{
		{"RT-FO-QUOTA RT-FO-AUTH the organisation's own moves on", planOf("own own"), Next, Next, Next},
		{"RT-FO-QUOTA RT-FO-AUTH the organisation's own is exhausted at the end", planOf("own"), Exhausted, Exhausted, Exhausted},
		{"RT-FO-QUOTA RT-FO-AUTH a caller's own is returned if only it is left", planOf("caller caller"), Return, Return, Next},
		{"RT-FO-QUOTA RT-FO-AUTH a caller's own is returned at the end", planOf("caller"), Return, Return, Exhausted},
		{"RT-FO-QUOTA RT-FO-AUTH a caller's own moves on to one with a key of its own", planOf("caller own"), Next, Next, Next},
		{"RT-FO-QUOTA RT-FO-AUTH wherever that one is", planOf("caller caller own"), Next, Next, Next},
		{"RT-FO-QUOTA RT-FO-AUTH a virtual key's moves on to one with a key of its own", planOf("virtual own"), Next, Next, Next},
		{"RT-FO-QUOTA RT-FO-AUTH a virtual key's is returned at the end", planOf("virtual"), Return, Return, Exhausted},
		{"RT-OKF quota moves on to the fallbacks, a refused key is returned", planOf("caller own!", okf), Next, Return, Next},
		{"RT-OKF over further passthrough members", planOf("caller caller own!", okf), Next, Return, Next},
		{"RT-OKF without a fallback left", planOf("caller caller", okf), Return, Return, Next},
		{"RT-OKF is for callers' own credentials: a virtual key's moves on", planOf("virtual own", okf), Next, Next, Next},
		{"RT-OKF and so does the organisation's own", planOf("own own", okf), Next, Next, Next},
		{"RT-OKF a fallback is the organisation's own", planOf("own! own!", okf), Next, Next, Next},
		{"RT-FO-11 without failover the organisation's own is exhausted", planOf("own own", once), Exhausted, Exhausted, Exhausted},
		{"RT-FO-11 and another's is returned", planOf("caller own", once), Return, Return, Exhausted},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := row.p.After(0, failure.Failure{Category: failure.QuotaExhausted}); got != row.quota {
				t.Errorf("quota: %v, want %v", got, row.quota)
			}
			if got := row.p.After(0, failure.Failure{Category: failure.Auth}); got != row.auth {
				t.Errorf("auth: %v, want %v", got, row.auth)
			}
			for _, c := range others {
				if got := row.p.After(0, failure.Failure{Category: c}); got != row.others {
					t.Errorf("%s: %v, want %v", c, got, row.others)
				}
			}
			for _, c := range []failure.Category{failure.RequestError, failure.ContentFilter, failure.Canceled} {
				if got := row.p.After(0, failure.Failure{Category: c}); got != Return {
					t.Errorf("%s: %v, want return", c, got)
				}
			}
		})
	}
}

// Whatever fails, a walk ends, dials each candidate once and none behind a
// failure that is returned; without failover it dials one.
func TestAfter_walks_any_plan_to_an_end(t *testing.T) {
	categories := failure.Categories()
	walks := map[Action]int{}
	check(t, 2, func(t *rapid.T, c Config, q *question) {
		p := Decide(Build(c), q.ask())
		for _, category := range categories {
			dials, last := 0, Next
			for i := range p.Candidates {
				dials++
				if last = p.After(i, failure.Failure{Category: category}); last != Next {
					break
				}
			}
			if len(p.Candidates) > 0 && last == Next || !p.Failover && dials > 1 {
				t.Fatalf("%s: %d dials, then %v\n%s", category, dials, last, p.Explain())
			}
			if dials > 1 && category == failure.Auth && p.Candidates[0].Credential == CredentialCaller {
				t.Fatalf("RT-FO-AUTH: a caller's own credential was refused, and %d were dialled\n%s", dials, p.Explain())
			}
			walks[last]++
		}
		if want := q.in.Query.Endpoint.Failover && !q.in.Query.NoFallback; p.Failover != want || p.NoRetry != q.in.Query.NoFallback {
			t.Fatalf("RT-FO-2, RT-FO-11: failover %v, no retry %v", p.Failover, p.NoRetry)
		}
	})
	if !testing.Short() && (walks[Return] == 0 || walks[Exhausted] == 0) {
		t.Errorf("%v: the generator is broken", walks)
	}
}

// RT-FO-3, RT-FO-11.
func TestRetryInPlace(t *testing.T) {
	for _, row := range []struct {
		name string
		f    failure.Failure
		want bool
	}{
		{"RT-FO-3 a connection that broke", failure.Failure{Category: failure.Connection}, true},
		{"RT-FO-3 status 502", failure.Failure{Category: failure.ServerError, Status: 502}, true},
		{"RT-FO-3 status 503", failure.Failure{Category: failure.ServerError, Status: 503}, true},
		{"RT-FO-3 status 503 that says overloaded", failure.Failure{Category: failure.Overloaded, Status: 503}, true},
		{"RT-FO-3 status 504", failure.Failure{Category: failure.ServerError, Status: 504}, true},
		{"RT-FO-3 not with a Retry-After", failure.Failure{Category: failure.ServerError, Status: 503, HasRetryAfter: true, RetryAfter: 1e9}, false},
		{"RT-FO-3 not with one of 0 either", failure.Failure{Category: failure.Overloaded, Status: 503, HasRetryAfter: true}, false},
		{"RT-FO-3 not status 500", failure.Failure{Category: failure.ServerError, Status: 500}, false},
		{"RT-FO-3 not status 409", failure.Failure{Category: failure.ServerError, Status: 409}, false},
		{"RT-FO-3 not status 529", failure.Failure{Category: failure.Overloaded, Status: 529}, false},
		{"RT-FO-3 not an error inside a 200", failure.Failure{Category: failure.ServerError, Status: 200}, false},
		{"RT-FO-3 never when no answer came in time", failure.Failure{Category: failure.Timeout}, false},
		{"RT-FO-3 whatever status says so", failure.Failure{Category: failure.Timeout, Status: 504}, false},
		{"RT-FO-3 never on 408", failure.Failure{Category: failure.Timeout, Status: 408}, false},
		{"RT-FO-3 never on 429", failure.Failure{Category: failure.RateLimit, Status: 429}, false},
		{"RT-FO-3 never on an exhausted quota", failure.Failure{Category: failure.QuotaExhausted, Status: 503}, false},
		{"RT-FO-3 never on 401", failure.Failure{Category: failure.Auth, Status: 401}, false},
		{"RT-FO-3 never on 404", failure.Failure{Category: failure.ModelUnavailable, Status: 404}, false},
		{"RT-FO-3 never on 400", failure.Failure{Category: failure.RequestError, Status: 400}, false},
		{"RT-FO-3 never on a cancel", failure.Failure{Category: failure.Canceled}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := (&Plan{}).RetryInPlace(row.f); got != row.want {
				t.Errorf("%v, want %v", got, row.want)
			}
			if (&Plan{NoRetry: true}).RetryInPlace(row.f) {
				t.Error("RT-FO-11 x-interlock-no-fallback: true was sent, and it is dialled again")
			}
		})
	}
}

// RT-ORDER.
func TestState_orders_candidates(t *testing.T) {
	order := []State{Healthy, Recovering, Cooling, Open}
	for i, s := range order {
		if s.class() != i || s.Dialled() != (s != Open) {
			t.Errorf("%s is %d, dialled %v", s, s.class(), s.Dialled())
		}
	}
	if Parked.class() != Open.class() || Parked.Dialled() {
		t.Error("parked is not as bad as open")
	}
	if !slices.IsSortedFunc(order, func(a, b State) int { return a.class() - b.class() }) {
		t.Error(order)
	}
}
