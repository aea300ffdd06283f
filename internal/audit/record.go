package audit

import (
	"encoding/json"
	"math"
	"time"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// Outcomes of a request.
const (
	OutcomeAllow    = "allow"
	OutcomeDeny     = "deny"
	OutcomeError    = "error"
	OutcomeCanceled = "canceled"
)

// Kinds of records. The API has more kinds of rows: a request record expands
// into request, attempt, skip and denial rows.
const (
	KindRequest = "request"
	KindAdmin   = "admin"
	KindEvent   = "event"
)

// Record is the record of one request, or of one event or change by an
// administrator. Empty fields are left out of its JSON form, whose names are
// public.
type Record struct {
	Kind      string    `json:"kind"`
	Time      time.Time `json:"time"` // of the end, in UTC with microseconds
	RequestID string    `json:"requestId,omitempty"`
	Outcome   string    `json:"outcome,omitempty"`
	Policy    string    `json:"policy,omitempty"`
	Code      string    `json:"code,omitempty"`
	Status    int       `json:"status,omitempty"`
	Category  string    `json:"category,omitempty"`
	Caller    Caller    `json:"caller,omitzero"`

	// SessionHash tells the requests of one session.
	SessionHash    string `json:"sessionHash,omitempty"`
	Endpoint       string `json:"endpoint,omitempty"`
	ClientFormat   string `json:"clientFormat,omitempty"`
	Stream         bool   `json:"stream,omitempty"`
	RequestedModel string `json:"requestedModel,omitempty"`
	ServedModel    string `json:"servedModel,omitempty"`
	WireModel      string `json:"wireModel,omitempty"`
	RouteName      string `json:"routeName,omitempty"`
	Provider       string `json:"provider,omitempty"`
	Residency      string `json:"residency,omitempty"`
	Strategy       string `json:"routeStrategy,omitempty"`
	StrategyReason string `json:"routeStrategyReason,omitempty"`
	// Credential is own (the organisation's), caller or virtual.
	Credential string `json:"credential,omitempty"`
	// CredentialFallback: the organisation's key served a caller whose own
	// credential had failed.
	CredentialFallback bool     `json:"credentialFallback,omitempty"`
	Tags               []string `json:"tags,omitempty"`
	// Retries counts the attempts that repeated the one before.
	Retries int `json:"retries,omitempty"`

	Attempts []Attempt `json:"attempts,omitempty"`
	Skips    []Skip    `json:"skips,omitempty"`
	Usage    llm.Usage `json:"usage,omitzero"`
	// Estimated: the usage, or the count that was asked for, is a guess of
	// the gateway.
	Estimated bool `json:"estimated,omitempty"`
	// TTFT is the time to the first content of a stream, and Duration to the
	// end, both from the arrival of the request.
	TTFT     Millis `json:"ttftMs,omitempty"`
	Duration Millis `json:"durationMs,omitempty"`
	// ConfigVersion is the revision that decided. With the endpoint, the
	// model and stream it is what replaying the decision needs.
	ConfigVersion uint64 `json:"configVersion,omitempty"`
	// Facts are what else the decision read (routing.Trace): no prompt and no
	// credential.
	Facts json.RawMessage `json:"facts,omitempty"`

	// Admin is set for kind admin.
	Admin *AdminChange `json:"admin,omitempty"`
	// Message is set for kind event, and Until if what it tells of ends.
	Message string    `json:"message,omitempty"`
	Until   time.Time `json:"until,omitzero"`
}

// Caller is who asked.
type Caller struct {
	Key        string `json:"key,omitempty"`
	User       string `json:"user,omitempty"`
	Team       string `json:"team,omitempty"`
	Department string `json:"department,omitempty"`
	Source     string `json:"source,omitempty"`
	Workload   string `json:"workload,omitempty"`
}

// Attempt is one dial.
type Attempt struct {
	Provider       string `json:"provider"`
	WireModel      string `json:"wireModel"`
	Residency      string `json:"residency,omitempty"`
	Strategy       string `json:"routeStrategy,omitempty"`
	StrategyReason string `json:"routeStrategyReason,omitempty"`
	Credential     string `json:"credential,omitempty"`
	// CredentialFallback: it is dialled with the organisation's key after the
	// caller's own credential failed.
	CredentialFallback bool `json:"credentialFallback,omitempty"`
	// Retry: it repeats the attempt before.
	Retry bool `json:"retry,omitempty"`
	// Outcome is allow for the attempt that served.
	Outcome string `json:"outcome"`
	// Category is empty for the attempt that served.
	Category string `json:"category,omitempty"`
	Code     string `json:"code,omitempty"`
	Status   int    `json:"status,omitempty"`
	// Start is from the arrival of the request.
	Start    Millis `json:"startMs"`
	Duration Millis `json:"durationMs"`
}

// Skip is a candidate that was not dialled because of its state.
type Skip struct {
	Provider  string `json:"provider"`
	WireModel string `json:"wireModel"`
	Residency string `json:"residency,omitempty"`
	// Reason is the state: circuit_open or parked.
	Reason string `json:"skipReason"`
	// Until is when the state ends.
	Until time.Time `json:"until,omitzero"`
	// Category and Status are of the failure that brought it about.
	Category string `json:"category,omitempty"`
	Status   int    `json:"status,omitempty"`
}

// TagOrgKeyFallback marks requests and attempts with CredentialFallback.
const TagOrgKeyFallback = "org-key-fallback"

// AdminChange is what an administrator did.
type AdminChange struct {
	Actor   string `json:"actor"`
	Summary string `json:"summary"`
	// Revision is the configuration version that came of it.
	Revision int64 `json:"revision,omitempty"`
	// Changes holds the objects before and after, secrets masked.
	Changes json.RawMessage `json:"changes,omitempty"`
}

// Millis is a duration that is written as milliseconds with three decimals at
// most.
type Millis time.Duration

// UnmarshalJSON reads milliseconds.
func (m *Millis) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*m = Millis(time.Duration(math.Round(f*1000)) * time.Microsecond)
	return nil
}

// MarshalJSON writes milliseconds.
func (m Millis) MarshalJSON() ([]byte, error) { return appendMillis(nil, m), nil }
