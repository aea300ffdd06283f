package dryrun

import (
	"fmt"
	"strings"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/routing"
)

// Answer is what would happen to a request.
type Answer struct {
	// Served: a provider would be asked. It is false exactly when there is a
	// refusal.
	Served bool  `json:"served"`
	Model  Model `json:"model"`
	// Route is the chosen route; empty when none was found.
	Route    routing.RouteID `json:"route"`
	Endpoint llm.EndpointID  `json:"endpoint"`
	// Plan is the decision of the live function, with every step.
	Plan *routing.Plan `json:"plan"`
	// Explanation is the plan in words, a line for each step.
	Explanation string `json:"explanation"`
	// Candidates are those of the plan: who would be tried, in order, and why
	// each is where it is.
	Candidates []routing.Candidate `json:"candidates"`
	// Excluded are the members of the route that can't serve the request.
	Excluded []Exclusion `json:"excluded"`
	// Refusal is the error that the client would get; absent if the request
	// would be served.
	Refusal *routing.Refusal `json:"refusal,omitempty"`
	// Next is what follows the assumed failures; absent without any.
	Next []After `json:"next,omitempty"`
	// Draft: the decision is on a configuration that is not in use.
	Draft bool `json:"draft,omitempty"`
	// Seed is what random numbers were made from.
	Seed uint64 `json:"seed"`
	// Unknown are what-ifs about providers that are not in use, which change
	// nothing; absent if there are none. Warnings have them too.
	Unknown []string `json:"unknown,omitempty"`
	// Warnings name what was asked and not used, and what of the configuration
	// does not take effect on this route.
	Warnings []string `json:"warnings"`
}

// Model is what becomes of the name that the client wrote.
type Model struct {
	Requested string `json:"requested"`
	// Alias: it is an alias of the route.
	Alias bool `json:"alias,omitempty"`
	// WireModel is the name that the first candidate would receive; empty
	// without one.
	WireModel string `json:"wireModel,omitempty"`
}

// Exclusion is a member that can't serve a request.
type Exclusion struct {
	Provider string `json:"provider"`
	// Code is the reason, such as credential-mode.
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

// After is what follows one assumed failure.
type After struct {
	// Provider is the candidate that failed.
	Provider routing.ProviderID `json:"provider"`
	Category failure.Category   `json:"category"`
	// Action is next, return or exhausted.
	Action string `json:"action" enum:"next,return,exhausted"`
	// Next is the candidate that is dialled then; empty if none is.
	Next routing.ProviderID `json:"next,omitempty"`
	// Retry: the candidate may be dialled again in its place first
	// (llmProxy.retry.maxRetries).
	Retry bool `json:"retry,omitempty"`
}

// exclusions are the members that a plan left out.
func exclusions(p *routing.Plan) []Exclusion {
	out := []Exclusion{}
	for _, s := range p.Steps {
		// This one is a member that stays in, with another credential.
		if s.Stage == routing.StageMember && s.Code != routing.CodeGlobalPassthrough {
			out = append(out, Exclusion{Provider: s.Subject, Code: s.Code, Reason: s.Detail})
		}
	}
	return out
}

// walk goes through the candidates as the gateway does when they fail one after
// the other.
func walk(p *routing.Plan, failures []failure.Category) []After {
	if len(failures) == 0 || len(p.Candidates) == 0 {
		return nil
	}
	forced := false
	i, ok := admitted(p, 0, true, false)
	if !ok { // a route never fails without trying
		forced = true
		i, ok = admitted(p, 0, true, true)
	}
	var out []After
	for _, c := range failures {
		if !ok {
			break
		}
		f := failure.Failure{Category: c}
		step := After{Provider: p.Candidates[i].Provider, Category: c}
		action, next := p.After(i, f), 0
		if action == routing.Next {
			if next, ok = admitted(p, i+1, false, forced); ok {
				step.Next = p.Candidates[next].Provider
			} else {
				action = routing.Exhausted
			}
		}
		step.Action, step.Retry = action.String(), action == routing.Exhausted && !forced && p.RetryInPlace(f)
		out = append(out, step)
		ok = action == routing.Next
		i = next
	}
	return out
}

// admitted finds the next candidate from i on that would be dialled. A fallback
// is for failures of the caller's credential, so it is never the first.
func admitted(p *routing.Plan, i int, first, forced bool) (int, bool) {
	for ; i < len(p.Candidates); i++ {
		c := &p.Candidates[i]
		if c.Fallback && (forced || first) {
			return 0, false
		}
		if forced || c.State.Dialled() {
			return i, true
		}
	}
	return 0, false
}

// Text is the answer for people: the explanation, which names who was left out,
// and what follows failures.
func (a *Answer) Text() string {
	var b strings.Builder
	b.WriteString(a.Explanation)
	if r := a.Refusal; r != nil && a.Plan.Refusal == nil {
		fmt.Fprintf(&b, "refused  %d %s: %s\n", r.Status, r.Code, r.Message)
	}
	for _, n := range a.Next {
		fmt.Fprintf(&b, "after    %-17s %s: %s", n.Category, n.Provider, n.Action)
		if n.Next != "" {
			fmt.Fprintf(&b, " %s", n.Next)
		}
		if n.Retry {
			b.WriteString(" (after a retry in place, if those are on)")
		}
		b.WriteByte('\n')
	}
	for _, w := range a.Warnings {
		fmt.Fprintf(&b, "warning  %s\n", w)
	}
	return b.String()
}
