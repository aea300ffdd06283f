package routing

import (
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
)

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
	// NoRetry: the client wants the one candidate dialled once.
	NoRetry bool `json:"noRetry,omitempty"`
	// Alias: the requested model is an alias of the route.
	Alias bool `json:"alias,omitempty"`
	// KeepStart: the session's start is to be remembered (AffinityRemembered).
	KeepStart bool `json:"keepStart,omitempty"`

	orgKeyFallback bool // of the route
	stepBuf        [8]Step
	candidateBuf   [4]Candidate
}

// Candidate is a member that could serve the request.
type Candidate struct {
	Route     RouteID    `json:"route"`
	Provider  ProviderID `json:"provider"`
	WireModel string     `json:"wireModel"`
	Residency string     `json:"residency"`
	// Credential is whose credential the provider gets.
	Credential Credential `json:"credential"`
	// Fallback: it is dialled with its own key after members that took the
	// caller's credential failed (RT-OKF).
	Fallback bool `json:"credentialFallback,omitempty"`
	// State is what the decision knew of the provider's health, and Until when
	// that ends.
	State State     `json:"state"`
	Until time.Time `json:"until,omitzero"`
	// Strategy and Why say what put the candidate at its place.
	Strategy string `json:"strategy"`
	Why      string `json:"why"`
}

// Credential is whose credential a candidate is dialled with. The values are
// public.
type Credential string

// The credentials.
const (
	CredentialOwn     Credential = "own"     // the organisation's
	CredentialCaller  Credential = "caller"  // what the caller brings
	CredentialVirtual Credential = "virtual" // what the caller's virtual key holds
)

// Whose names the credential in a sentence.
func (c Credential) Whose() string {
	switch c {
	case CredentialCaller:
		return "the caller's own credential"
	case CredentialVirtual:
		return "the virtual key's provider credential"
	case CredentialOwn:
	}
	return "the organisation's key"
}

// ours tells whether the organisation answers for the credential.
func (c Credential) ours() bool { return c != CredentialCaller && c != CredentialVirtual }

// State is the health of a candidate. The values are public.
type State string

// The states, from the best to the worst.
const (
	Healthy State = "healthy"
	// Recovering: it came back a moment ago and has all the requests that it
	// may have for now.
	Recovering State = "recovering"
	Cooling    State = "cooling"
	Open       State = "circuit_open"
	Parked     State = "parked"
)

// class orders states: an open and a parked candidate are equally bad.
func (s State) class() int {
	switch s {
	case Recovering:
		return 1
	case Cooling:
		return 2
	case Open, Parked:
		return 3
	case Healthy:
	}
	return 0
}

// Dialled tells whether a candidate in this state is dialled when it is
// reached.
func (s State) Dialled() bool { return s.class() < Open.class() }

// Stage is the part of a decision that a step belongs to.
type Stage string

// The stages, in the order of a plan.
const (
	StageRoute    Stage = "route"
	StageMember   Stage = "member"
	StageState    Stage = "state"
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
	switch {
	case !retryable(f.Category):
		return Return
	case !p.Candidates[i].Credential.ours() && !p.worthMoving(i, f.Category):
		return Return
	case !p.Failover || i+1 >= len(p.Candidates):
		return Exhausted
	}
	return Next
}

// worthMoving tells whether another candidate could do better after a failure
// of a credential that is not the organisation's (RT-FO-QUOTA, RT-FO-AUTH).
func (p *Plan) worthMoving(i int, c failure.Category) bool {
	if c != failure.QuotaExhausted && c != failure.Auth {
		return true
	}
	if c == failure.Auth && p.orgKeyFallback && p.Candidates[i].Credential == CredentialCaller {
		return false // the caller must learn of it
	}
	for j := i + 1; j < len(p.Candidates); j++ {
		if p.Candidates[j].Credential.ours() {
			return p.Failover
		}
	}
	return false
}

// RetryInPlace tells whether the last candidate may be dialled once more after
// a failure (RT-FO-3): a connection that broke, or a 502, 503 or 504 that names
// no time. Never when no answer came in time.
func (p *Plan) RetryInPlace(f failure.Failure) bool {
	if p.NoRetry || f.HasRetryAfter {
		return false
	}
	switch f.Category {
	case failure.Connection:
		return true
	case failure.ServerError, failure.Overloaded:
		return f.Status == 502 || f.Status == 503 || f.Status == 504
	default:
		return false
	}
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

// ExcludedByWindow tells whether a context window kept a member from serving.
func (p *Plan) ExcludedByWindow() bool {
	for i := range p.Steps {
		if p.Steps[i].Code == codeWindow {
			return true
		}
	}
	return false
}
