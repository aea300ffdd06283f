package gateway

import (
	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// ending is how a request ended.
type ending struct {
	outcome  string
	status   int
	code     string
	policy   string
	category string
	// served is the candidate whose answer the client gets; nil if none.
	served *routing.Candidate
	usage  llm.Usage
}

// settle records the request. It is called before the last bytes of the answer
// go out, so that no answer that ended is without its record; an answer whose
// record cannot be kept is not given. Only the first call counts.
func (ex *exchange) settle(e ending) error {
	if ex.settled {
		return nil
	}
	ex.settled = true
	ex.log(e.status, e.code)
	if ex.g.opt.Record == nil {
		return nil
	}
	rec := recordPool.get()
	defer recordPool.put(rec)
	ex.fill(rec, e)
	err := ex.g.opt.Record(rec)
	if err != nil {
		ex.g.opt.Log.Error("an audit record could not be kept; the request is not answered", "requestId", ex.id, "error", err)
	}
	return err
}

// fill writes what is known of the request into a record.
func (ex *exchange) fill(r *audit.Record, e ending) {
	now := ex.g.opt.Now()
	r.Kind, r.Time, r.RequestID = audit.KindRequest, now, ex.id
	r.Outcome, r.Policy, r.Code, r.Status, r.Category = e.outcome, e.policy, e.code, e.status, e.category
	if k := ex.caller.Key; k != nil {
		r.Caller = audit.Caller{Key: k.Name, Team: k.Team, Department: k.Department, User: k.User, Source: ex.caller.Source}
		r.Credential = "own" // the organisation's
	}
	r.Endpoint, r.ClientFormat = string(ex.endpoint.ID), string(ex.format.ID)
	r.Stream, r.RequestedModel = ex.envelope.Stream, ex.envelope.Model
	if p := ex.plan; p != nil {
		r.RouteName, r.ConfigVersion = string(p.Route), p.Revision
	} else if ex.live != nil {
		r.ConfigVersion = ex.live.Revision
	}
	for i := range ex.attempts {
		r.Attempts = append(r.Attempts, attemptRecord(&ex.attempts[i]))
	}
	last := e.served
	if last != nil {
		began := ex.dialled.Sub(ex.began)
		r.ServedModel = last.WireModel
		r.Attempts = append(r.Attempts, audit.Attempt{
			Provider: string(last.Provider), WireModel: last.WireModel, Residency: last.Residency, Strategy: last.Strategy, StrategyReason: last.Why,
			Outcome: audit.OutcomeAllow, Status: e.status, Start: audit.Millis(began), Duration: audit.Millis(now.Sub(ex.dialled)),
		})
	} else if n := len(ex.attempts); n > 0 {
		last = ex.attempts[n-1].candidate
	}
	if last != nil {
		r.WireModel, r.Provider, r.Residency = last.WireModel, string(last.Provider), last.Residency
		r.Strategy, r.StrategyReason = last.Strategy, last.Why
	}
	r.Usage = e.usage
	if !ex.content.IsZero() {
		r.TTFT = audit.Millis(ex.content.Sub(ex.began))
	}
	r.Duration = audit.Millis(now.Sub(ex.began))
}

func attemptRecord(at *attempt) audit.Attempt {
	c := at.candidate
	outcome := audit.OutcomeError
	if at.failure.Category == failure.Canceled {
		outcome = audit.OutcomeCanceled
	}
	return audit.Attempt{
		Provider: string(c.Provider), WireModel: c.WireModel, Residency: c.Residency, Strategy: c.Strategy, StrategyReason: c.Why,
		Outcome: outcome, Category: string(at.failure.Category), Code: at.failure.Code, Status: at.failure.Status,
		Start: audit.Millis(at.start), Duration: audit.Millis(at.duration),
	}
}

// alert records that a provider refused the organisation's key: somebody must
// act, although the request may be served by another member.
func (ex *exchange) alert(c *routing.Candidate, f failure.Failure) {
	ex.g.opt.Log.Error("a provider refused the organisation's key", "requestId", ex.id, "provider", c.Provider, "status", f.Status)
	if ex.g.opt.Record == nil {
		return
	}
	rec := &audit.Record{
		Kind: audit.KindEvent, Time: ex.g.opt.Now(), RequestID: ex.id, Outcome: audit.OutcomeError, Provider: string(c.Provider),
		Category: string(f.Category), Code: f.Code, Status: f.Status, WireModel: c.WireModel, RouteName: string(c.Route),
		Message: "the provider refused the organisation's key; check its apiKey",
	}
	if err := ex.g.opt.Record(rec); err != nil {
		ex.g.opt.Log.Error("an audit event could not be kept", "requestId", ex.id, "error", err)
	}
}

// unrecorded is what a client is told when its record could not be kept.
func (ex *exchange) unrecorded() *wire.Error {
	return ex.gatewayError(503, "gateway_unavailable", "the request could not be recorded, so it is not answered; repeat it in a moment")
}

// failUnrecorded ends an answer whose record could not be kept.
func (ex *exchange) failUnrecorded() {
	e := ex.unrecorded()
	ex.out.fail(func() {
		h := ex.w.Header()
		clear(h)
		h["X-Interlock-Request-Id"] = []string{ex.id}
		h["Retry-After"] = []string{"1"}
		ex.writeError(e.Status, e)
	}, func() []byte { return ex.format.AppendStreamError(nil, e) })
}
