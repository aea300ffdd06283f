package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/store"
)

// Row is one audit event as the API, the export and the console show it. The
// names are public.
type Row struct {
	// ID is unique and orders rows of one record: seq.0 is the newest.
	ID             string    `json:"id"`
	Time           time.Time `json:"time"`
	RequestID      string    `json:"requestId,omitempty"`
	Kind           string    `json:"kind"`
	Outcome        string    `json:"outcome,omitempty"`
	Policy         string    `json:"policy,omitempty"`
	Code           string    `json:"code,omitempty"`
	Status         int       `json:"status,omitempty"`
	Category       string    `json:"category,omitempty"`
	Caller         Caller    `json:"caller,omitzero"`
	SessionHash    string    `json:"sessionHash,omitempty"`
	Endpoint       string    `json:"endpoint,omitempty"`
	ClientFormat   string    `json:"clientFormat,omitempty"`
	Stream         bool      `json:"stream,omitempty"`
	RequestedModel string    `json:"requestedModel,omitempty"`
	ServedModel    string    `json:"servedModel,omitempty"`
	WireModel      string    `json:"wireModel,omitempty"`
	RouteName      string    `json:"routeName,omitempty"`
	PoolName       string    `json:"poolName,omitempty"`
	Provider       string    `json:"provider,omitempty"`
	Residency      string    `json:"residency,omitempty"`
	Attempt        int       `json:"attempt,omitempty"`
	Attempts       int       `json:"attempts,omitempty"`
	Retries        int       `json:"retries,omitempty"`
	SkipReason     string    `json:"skipReason,omitempty"`
	Until          time.Time `json:"until,omitzero"`
	Failover       bool      `json:"failover,omitempty"`
	Tags           []string  `json:"tags,omitempty"`
	Strategy       string    `json:"routeStrategy,omitempty"`
	StrategyReason string    `json:"routeStrategyReason,omitempty"`
	Credential     string    `json:"credential,omitempty"`
	// CredentialFallback: the organisation's key served after the caller's own
	// credential had failed.
	CredentialFallback bool         `json:"credentialFallback,omitempty"`
	Usage              llm.Usage    `json:"usage,omitzero"`
	Estimated          bool         `json:"estimated,omitempty"`
	TTFT               Millis       `json:"ttftMs,omitempty"`
	Duration           Millis       `json:"durationMs,omitempty"`
	ConfigVersion      uint64       `json:"configVersion,omitempty"`
	Admin              *AdminChange `json:"admin,omitempty"`
	Message            string       `json:"message,omitempty"`
}

// Rows expands a stored record: the request's row first, as the newest, then
// its refusal, then its attempts from the last to the first.
func Rows(rec store.Record) ([]Row, error) {
	var r Record
	if err := json.Unmarshal(rec.Data, &r); err != nil {
		return nil, fmt.Errorf("read the audit record %d: %w", rec.Seq, err)
	}
	id := func(i int) string { return strconv.FormatInt(rec.Seq, 10) + "." + strconv.Itoa(i) }
	base := Row{
		ID: id(0), Time: r.Time, RequestID: r.RequestID, Kind: r.Kind, SessionHash: r.SessionHash, Outcome: r.Outcome, Policy: r.Policy, Code: r.Code,
		Status: r.Status, Category: r.Category, Caller: r.Caller, Endpoint: r.Endpoint, ClientFormat: r.ClientFormat, Stream: r.Stream,
		RequestedModel: r.RequestedModel, ServedModel: r.ServedModel, WireModel: r.WireModel, RouteName: r.RouteName, PoolName: r.RouteName,
		Provider: r.Provider, Residency: r.Residency, Attempts: len(r.Attempts), Retries: r.Retries, Failover: r.failedOver(len(r.Attempts)), Tags: r.Tags,
		Strategy: r.Strategy, StrategyReason: r.StrategyReason, Credential: r.Credential, CredentialFallback: r.CredentialFallback,
		Usage: r.Usage, Estimated: r.Estimated, TTFT: r.TTFT, Duration: r.Duration, ConfigVersion: r.ConfigVersion, Admin: r.Admin, Message: r.Message, Until: r.Until,
	}
	rows := []Row{base}
	if r.Kind != KindRequest {
		return rows, nil
	}
	if r.Outcome == OutcomeDeny || r.Outcome == OutcomeError && len(r.Attempts) == 0 && r.Code != "" {
		denial := base
		denial.ID, denial.Kind = id(len(rows)), "denial"
		rows = append(rows, denial)
	}
	for i := range slices.Backward(r.Attempts) {
		rows = append(rows, attemptRow(&base, &r, i, id(len(rows))))
	}
	for i := range r.Skips {
		rows = append(rows, skipRow(&base, &r, &r.Skips[i], id(len(rows))))
	}
	return rows, nil
}

// FailedOver tells whether another candidate than the first one dialed served
// the request, or tried to.
func (r *Record) FailedOver() bool { return r.failedOver(len(r.Attempts)) }

// failedOver tells whether one of the first n attempts went to another
// candidate than the first.
func (r *Record) failedOver(n int) bool {
	for i := 1; i < n; i++ {
		if !r.Attempts[i].Retry {
			return true
		}
	}
	return false
}

// attemptRow shows one dial with what it shares with its request.
func attemptRow(base *Row, r *Record, i int, id string) Row {
	a := &r.Attempts[i]
	started := r.Time.Add(-time.Duration(r.Duration))
	row := *base
	row.ID, row.Kind, row.Time = id, "attempt", started.Add(time.Duration(a.Start+a.Duration))
	row.Outcome, row.Policy, row.Code, row.Status, row.Category = a.Outcome, "", a.Code, a.Status, a.Category
	row.WireModel, row.Provider, row.Residency = a.WireModel, a.Provider, a.Residency
	row.Attempt, row.Retries, row.Failover = i+1, 0, r.failedOver(i+1)
	row.Strategy, row.StrategyReason = a.Strategy, a.StrategyReason
	if a.Credential != "" { // records of the first versions have one for all
		row.Credential = a.Credential
	}
	row.CredentialFallback, row.Tags = a.CredentialFallback, nil
	if a.CredentialFallback {
		row.Tags = []string{TagOrgKeyFallback}
	}
	row.Usage, row.Estimated, row.TTFT, row.Duration = llm.Usage{}, false, 0, a.Duration
	row.Admin, row.Message, row.Until = nil, "", time.Time{}
	return row
}

// code tells a park for used up quota from one by an administrator.
func (s *Skip) code() string {
	if s.Category == string(failure.QuotaExhausted) {
		return "quota_parked"
	}
	return s.Reason
}

// skipRow shows a candidate that was not dialled.
func skipRow(base *Row, r *Record, s *Skip, id string) Row {
	row := *base
	row.ID, row.Kind, row.Time = id, "skip", r.Time.Add(-time.Duration(r.Duration))
	row.Outcome, row.Policy, row.Code, row.Status, row.Category = "", "", s.code(), s.Status, s.Category
	row.WireModel, row.Provider, row.Residency = s.WireModel, s.Provider, s.Residency
	row.SkipReason, row.Until = s.Reason, s.Until
	row.Retries, row.Failover, row.Tags = 0, false, nil
	row.Strategy, row.StrategyReason, row.Credential, row.CredentialFallback = "", "", "", false
	row.Usage, row.Estimated, row.TTFT, row.Duration = llm.Usage{}, false, 0, 0
	row.Admin, row.Message = nil, ""
	return row
}
