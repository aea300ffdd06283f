package gateway

import (
	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
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
	if e.outcome == audit.OutcomeAllow {
		ex.done(failure.Failure{}) // before the client can ask again
		ex.keepStart(e.served)
	}
	ex.note(e)
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
	} else if id := ex.caller.Identity; id != nil {
		r.Caller = audit.Caller{User: id.User, Workload: id.Workload, Source: ex.caller.Source}
	} else if ex.caller.Own {
		r.Caller = audit.Caller{Source: ex.caller.Source}
	}
	r.Endpoint, r.ClientFormat = string(ex.endpoint.ID), string(ex.format.ID)
	r.Stream, r.RequestedModel = ex.envelope.Stream, ex.envelope.Model
	if p := ex.plan; p != nil {
		r.RouteName, r.ConfigVersion = string(p.Route), p.Revision
		r.SessionHash, r.Facts = ex.trace.Session, ex.trace.AppendJSON(r.Facts)
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
			Credential: string(last.Credential), CredentialFallback: last.Fallback, Retry: ex.retry,
			Outcome: audit.OutcomeAllow, Status: e.status, Start: audit.Millis(began), Duration: audit.Millis(now.Sub(ex.dialled)),
		})
	} else if n := len(ex.attempts); n > 0 {
		last = ex.attempts[n-1].candidate
	}
	if last != nil {
		r.WireModel, r.Provider, r.Residency = last.WireModel, string(last.Provider), last.Residency
		r.Strategy, r.StrategyReason = last.Strategy, last.Why
		r.Credential, r.CredentialFallback = string(last.Credential), last.Fallback
	}
	for i := range r.Attempts {
		if r.Attempts[i].Retry {
			r.Retries++
		}
		if r.Attempts[i].CredentialFallback && len(r.Tags) == 0 {
			r.Tags = append(r.Tags, audit.TagOrgKeyFallback)
		}
	}
	ex.fillSkips(r)
	r.Usage, r.Estimated = e.usage, ex.estimated
	if !ex.content.IsZero() {
		r.TTFT = audit.Millis(ex.content.Sub(ex.began))
	}
	r.Duration = audit.Millis(now.Sub(ex.began))
}

// fillSkips notes the candidates that their state kept from being dialled, also
// those that were not reached because an earlier one served.
func (ex *exchange) fillSkips(r *audit.Record) {
	if ex.plan == nil {
		return
	}
	for i := range ex.plan.Candidates {
		c := &ex.plan.Candidates[i]
		why := state.Blocked{State: c.State, Until: c.Until}
		known := false
		for j := range ex.skips {
			if ex.skips[j].candidate == c {
				why, known = ex.skips[j].blocked, true
			}
		}
		if !known && c.State.Dialled() || attempted(r, c) {
			continue
		}
		if !known && ex.g.opt.Board != nil {
			if b, ok := ex.g.opt.Board.Blocked(c.Provider); ok {
				why = b
			}
		}
		r.Skips = append(r.Skips, audit.Skip{
			Provider: string(c.Provider), WireModel: c.WireModel, Residency: c.Residency,
			Reason: string(why.State), Until: why.Until, Category: string(why.Category), Status: why.Status,
		})
	}
}

// attempted tells whether a candidate was dialled.
func attempted(r *audit.Record, c *routing.Candidate) bool {
	for i := range r.Attempts {
		if r.Attempts[i].Provider == string(c.Provider) {
			return true
		}
	}
	return false
}

// note counts a request for which somebody was dialled, unless its client left.
// An answer that says that the request is wrong is a served one.
func (ex *exchange) note(e ending) {
	if ex.g.opt.Board == nil || ex.dials == 0 || e.outcome == audit.OutcomeCanceled {
		return
	}
	id := routing.ProviderID("")
	switch {
	case e.served != nil:
		id = e.served.Provider
	case e.category == string(failure.RequestError), e.category == string(failure.ContentFilter):
		id = ex.attempts[len(ex.attempts)-1].candidate.Provider
	}
	moved := len(ex.attempts) > 0 && (e.served == nil && ex.candidatesDialled() > 1 || e.served != nil && !ex.dialledOnce(e.served))
	ex.g.opt.Board.Note(ex.plan.Route, id, moved)
}

// keepStart remembers where a session started, for strategies that could not
// find it again.
func (ex *exchange) keepStart(served *routing.Candidate) {
	if !ex.plan.KeepStart || ex.g.opt.Pins == nil {
		return
	}
	err := ex.g.opt.Pins.Save(ex.r.Context(), ex.caller.PinKey(ex.trace.Session), ex.plan.Route, routing.Pin{Start: served.Provider}, pinTTL)
	if err != nil {
		ex.g.opt.Log.Warn("the start of a session could not be kept", "requestId", ex.id, "error", err)
	}
}

func attemptRecord(at *attempt) audit.Attempt {
	c := at.candidate
	outcome := audit.OutcomeError
	if at.failure.Category == failure.Canceled {
		outcome = audit.OutcomeCanceled
	}
	return audit.Attempt{
		Provider: string(c.Provider), WireModel: c.WireModel, Residency: c.Residency, Strategy: c.Strategy, StrategyReason: c.Why,
		Credential: string(c.Credential), CredentialFallback: c.Fallback, Retry: at.retry,
		Outcome: outcome, Category: string(at.failure.Category), Code: at.failure.Code, Status: at.failure.Status,
		Start: audit.Millis(at.start), Duration: audit.Millis(at.duration),
	}
}

// alert records that a provider refused a key that we keep: somebody must
// act, although the request may be served by another member.
func (ex *exchange) alert(c *routing.Candidate, f failure.Failure) {
	ex.g.opt.Log.Error("a provider refused a key", "requestId", ex.id, "provider", c.Provider, "credential", c.Credential, "status", f.Status)
	if ex.g.opt.Record == nil {
		return
	}
	rec := &audit.Record{
		Kind: audit.KindEvent, Time: ex.g.opt.Now(), RequestID: ex.id, Outcome: audit.OutcomeError, Provider: string(c.Provider),
		Category: string(f.Category), Code: f.Code, Status: f.Status, WireModel: c.WireModel, RouteName: string(c.Route),
		Credential: string(c.Credential), Message: "the provider refused " + c.Credential.Whose() + "; check its apiKey",
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
	}, func() []byte { return ex.streamError(e) })
}
