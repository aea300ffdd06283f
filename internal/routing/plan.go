package routing

import (
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
)

// Input is everything that Decide reads besides the Snapshot.
type Input struct {
	Query Query
}

// Query is what the client asks for.
type Query struct {
	Endpoint *llm.Endpoint
	Model    string
	Stream   bool
}

// Plan is the decision and its reasons. It is a value: it can be stored,
// shown, compared and replayed.
type Plan struct {
	Revision uint64 `json:"revision"`
	// Model is the requested model as the client wrote it.
	Model string `json:"model"`
	// Route is the chosen route; empty when none was found.
	Route RouteID `json:"route"`
	Steps []Step  `json:"steps"`
	// Candidates are in try order.
	Candidates []Candidate `json:"candidates"`
	// Refusal is set exactly when there is no candidate.
	Refusal *Refusal `json:"refusal,omitempty"`
	// Failover: later candidates may serve after a failure.
	Failover bool `json:"failover"`

	stepBuf      [8]Step
	candidateBuf [4]Candidate
}

// Candidate is a member that could serve the request.
type Candidate struct {
	Route     RouteID    `json:"route"`
	Provider  ProviderID `json:"provider"`
	WireModel string     `json:"wireModel"`
	Residency string     `json:"residency"`
	// Strategy and Why say what put the candidate at its place.
	Strategy string `json:"strategy"`
	Why      string `json:"why"`
}

// Stage is the part of a decision that a step belongs to.
type Stage string

// The stages, in the order of a plan.
const (
	StageRoute    Stage = "route"
	StageMember   Stage = "member"
	StageStrategy Stage = "strategy"
	StageRefusal  Stage = "refusal"
)

// Step is one reason. Prose is made from it only when somebody looks.
type Step struct {
	Stage Stage `json:"stage"`
	// Code says what was found, such as "picked" or "credential-mode".
	Code string `json:"code"`
	// Subject is the route, provider or model that the step is about.
	Subject string `json:"subject"`
	Detail  string `json:"detail,omitempty"`
}

// Action is what follows a failed attempt.
type Action uint8

const (
	// Next dials the candidate after this one.
	Next Action = iota
	// Return gives this failure to the client: it would fail the same
	// everywhere.
	Return
	// Exhausted means that the failure asks for another candidate and none
	// is left, or the endpoint dials only one.
	Exhausted
)

func (a Action) String() string {
	switch a {
	case Next:
		return "next"
	case Return:
		return "return"
	default:
		return "exhausted"
	}
}

// After says what follows when candidate i failed. Pure.
func (p *Plan) After(i int, f failure.Failure) Action {
	if !retryable(f.Category) {
		return Return
	}
	if !p.Failover || i+1 >= len(p.Candidates) {
		return Exhausted
	}
	return Next
}

// retryable tells whether another member could do better.
func retryable(c failure.Category) bool {
	switch c {
	case failure.Connection, failure.Timeout, failure.ServerError, failure.Overloaded,
		failure.RateLimit, failure.QuotaExhausted, failure.Auth, failure.ModelUnavailable:
		return true
	case failure.RequestError, failure.ContentFilter, failure.Canceled:
		return false
	}
	return false
}

func (p *Plan) step(stage Stage, code, subject, detail string) {
	p.Steps = append(p.Steps, Step{stage, code, subject, detail})
}
