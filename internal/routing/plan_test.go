package routing

import (
	"testing"

	"github.com/interlock-gateway/interlock/internal/failure"
)

// RT-FO: what follows a failure of the first of three candidates.
func TestAfter(t *testing.T) {
	three := &Plan{Failover: true, Candidates: make([]Candidate, 3)}
	for _, c := range []struct {
		name string
		f    failure.Failure
		want Action
	}{
		{"RT-FO-NET a connection or TLS error", failure.Failure{Category: failure.Connection}, Next},
		{"RT-FO-TIME a time-out", failure.Failure{Category: failure.Timeout}, Next},
		{"RT-FO-TIME status 408", failure.Failure{Category: failure.Timeout, Status: 408}, Next},
		{"RT-FO-5XX a server error", failure.Failure{Category: failure.ServerError, Status: 500}, Next},
		{"RT-FO-5XX status 409", failure.Failure{Category: failure.ServerError, Status: 409}, Next},
		{"RT-FO-5XX an error inside a 200", failure.Failure{Category: failure.ServerError, Status: 200}, Next},
		{"RT-FO-5XX an overload", failure.Failure{Category: failure.Overloaded, Status: 529}, Next},
		{"RT-FO-429 a rate limit with a time", failure.Failure{Category: failure.RateLimit, Status: 429, RetryAfter: 17e9, HasRetryAfter: true}, Next},
		{"RT-FO-429 a rate limit without a time (RT-FO-6)", failure.Failure{Category: failure.RateLimit, Status: 429}, Next},
		{"RT-FO-QUOTA an exhausted quota", failure.Failure{Category: failure.QuotaExhausted, Status: 402}, Next},
		{"RT-FO-AUTH a refused key", failure.Failure{Category: failure.Auth, Status: 401}, Next},
		{"RT-FO-AUTH a forbidden one", failure.Failure{Category: failure.Auth, Status: 403}, Next},
		{"RT-FO-404 a model that the provider lacks", failure.Failure{Category: failure.ModelUnavailable, Status: 404}, Next},
		{"RT-FO-4XX another request error", failure.Failure{Category: failure.RequestError, Status: 400}, Return},
		{"RT-FO-4XX a prompt that is too long", failure.Failure{Category: failure.RequestError, Status: 400, ContextLength: true}, Return},
		{"RT-FO-4XX a content filter", failure.Failure{Category: failure.ContentFilter, Status: 400}, Return},
		{"RQ-CANCEL a client that left", failure.Failure{Category: failure.Canceled}, Return},
		{"an unknown category", failure.Failure{Category: "new"}, Return},
		{"no category", failure.Failure{}, Return},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range three.Candidates {
				want := c.want
				if want == Next && i == len(three.Candidates)-1 {
					want = Exhausted
				}
				if got := three.After(i, c.f); got != want {
					t.Errorf("after candidate %d: %v, want %v", i, got, want)
				}
			}
			only := &Plan{Failover: false, Candidates: make([]Candidate, 3)}
			want := c.want
			if want == Next {
				want = Exhausted
			}
			if got := only.After(0, c.f); got != want {
				t.Errorf("RT-FO-1 at an endpoint that does not fail over: %v, want %v", got, want)
			}
		})
	}
}

func TestAfter_knows_every_category(t *testing.T) {
	final := map[failure.Category]bool{failure.RequestError: true, failure.ContentFilter: true, failure.Canceled: true}
	p := &Plan{Failover: true, Candidates: make([]Candidate, 2)}
	for _, c := range failure.Categories() {
		if got := p.After(0, failure.Failure{Category: c}); (got == Return) != final[c] {
			t.Errorf("%s: %v", c, got)
		}
	}
}

// A request that fails everywhere dials each candidate once and stops.
func TestAfter_walks_the_candidates_once(t *testing.T) {
	s := build(t, route(t, "r", "*", provider("a"), fallback(provider("b")), provider("c")))
	for _, c := range []struct {
		name     string
		endpoint *Plan
		want     int
	}{
		{"messages", decide(s, messages, "m"), 3},
		{"RT-FO-2 count_tokens dials one", decide(s, countTokens, "m"), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dials := 0
			for i := range c.endpoint.Candidates {
				dials++
				if c.endpoint.After(i, failure.Failure{Category: failure.Overloaded}) != Next {
					break
				}
			}
			if dials != c.want {
				t.Errorf("%d dials, want %d", dials, c.want)
			}
		})
	}
}

func TestAction_has_names(t *testing.T) {
	for a, want := range map[Action]string{Next: "next", Return: "return", Exhausted: "exhausted"} {
		if a.String() != want {
			t.Errorf("%d is %q", a, a)
		}
	}
}
