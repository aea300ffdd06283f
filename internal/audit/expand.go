package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/store"
)

// Row is one audit event as the API, the export and the console show it. The
// names are public.
type Row struct {
	// ID is unique and orders rows of one record: seq.0 is the newest.
	ID             string       `json:"id"`
	Time           time.Time    `json:"time"`
	RequestID      string       `json:"requestId,omitempty"`
	Kind           string       `json:"kind"`
	Outcome        string       `json:"outcome,omitempty"`
	Policy         string       `json:"policy,omitempty"`
	Code           string       `json:"code,omitempty"`
	Status         int          `json:"status,omitempty"`
	Category       string       `json:"category,omitempty"`
	Caller         Caller       `json:"caller,omitzero"`
	Endpoint       string       `json:"endpoint,omitempty"`
	ClientFormat   string       `json:"clientFormat,omitempty"`
	Stream         bool         `json:"stream,omitempty"`
	RequestedModel string       `json:"requestedModel,omitempty"`
	ServedModel    string       `json:"servedModel,omitempty"`
	WireModel      string       `json:"wireModel,omitempty"`
	RouteName      string       `json:"routeName,omitempty"`
	PoolName       string       `json:"poolName,omitempty"`
	Provider       string       `json:"provider,omitempty"`
	Residency      string       `json:"residency,omitempty"`
	Attempt        int          `json:"attempt,omitempty"`
	Attempts       int          `json:"attempts,omitempty"`
	Failover       bool         `json:"failover,omitempty"`
	Strategy       string       `json:"routeStrategy,omitempty"`
	StrategyReason string       `json:"routeStrategyReason,omitempty"`
	Credential     string       `json:"credential,omitempty"`
	Usage          llm.Usage    `json:"usage,omitzero"`
	TTFT           Millis       `json:"ttftMs,omitempty"`
	Duration       Millis       `json:"durationMs,omitempty"`
	ConfigVersion  uint64       `json:"configVersion,omitempty"`
	Admin          *AdminChange `json:"admin,omitempty"`
	Message        string       `json:"message,omitempty"`
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
		ID: id(0), Time: r.Time, RequestID: r.RequestID, Kind: r.Kind, Outcome: r.Outcome, Policy: r.Policy, Code: r.Code,
		Status: r.Status, Category: r.Category, Caller: r.Caller, Endpoint: r.Endpoint, ClientFormat: r.ClientFormat, Stream: r.Stream,
		RequestedModel: r.RequestedModel, ServedModel: r.ServedModel, WireModel: r.WireModel, RouteName: r.RouteName, PoolName: r.RouteName,
		Provider: r.Provider, Residency: r.Residency, Attempts: len(r.Attempts), Failover: len(r.Attempts) > 1,
		Strategy: r.Strategy, StrategyReason: r.StrategyReason, Credential: r.Credential,
		Usage: r.Usage, TTFT: r.TTFT, Duration: r.Duration, ConfigVersion: r.ConfigVersion, Admin: r.Admin, Message: r.Message,
	}
	rows := []Row{base}
	if r.Kind != KindRequest {
		return rows, nil
	}
	if r.Outcome == OutcomeDeny {
		denial := base
		denial.ID, denial.Kind = id(len(rows)), "denial"
		rows = append(rows, denial)
	}
	for i := range slices.Backward(r.Attempts) {
		rows = append(rows, attemptRow(&base, &r, i, id(len(rows))))
	}
	return rows, nil
}

// attemptRow shows one dial with what it shares with its request.
func attemptRow(base *Row, r *Record, i int, id string) Row {
	a := &r.Attempts[i]
	started := r.Time.Add(-time.Duration(r.Duration))
	return Row{
		ID: id, Time: started.Add(time.Duration(a.Start + a.Duration)), RequestID: base.RequestID, Kind: "attempt",
		Outcome: a.Outcome, Code: a.Code, Status: a.Status, Category: a.Category, Caller: base.Caller,
		Endpoint: base.Endpoint, ClientFormat: base.ClientFormat, Stream: base.Stream, RequestedModel: base.RequestedModel,
		ServedModel: base.ServedModel, WireModel: a.WireModel, RouteName: base.RouteName, PoolName: base.PoolName, Provider: a.Provider, Residency: a.Residency,
		Attempt: i + 1, Attempts: base.Attempts, Failover: i > 0, Strategy: a.Strategy, StrategyReason: a.StrategyReason,
		Credential: base.Credential, Duration: a.Duration, ConfigVersion: base.ConfigVersion,
	}
}
