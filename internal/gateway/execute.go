package gateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
)

// execute dials the candidates until one serves, and answers.
func (ex *exchange) execute() {
	ctx, broken, ping := ex.r.Context(), func(error) {}, []byte(nil)
	if ex.envelope.Stream && ex.endpoint.Stream {
		ping = ex.format.KeepAlive
		inner, cancel := context.WithCancelCause(ctx) // a keep-alive can find out that the client left
		defer cancel(nil)
		ctx, broken = inner, cancel
	}
	ex.out = newClientWriter(ex.w, ping, ex.g.opt.KeepAlive, streamHeaders, broken)
	defer ex.out.end()
	defer ex.giveBack()

	d := &ex.dispatch
	*d = dispatch{ex: ex, ctx: ctx, tune: ex.g.tune.Load()}
	d.setDeadline()
	if d.run() || ex.dials > 0 {
		return
	}
	// A route never fails without trying: nobody was dialled, so those that
	// were skipped are, whatever their state.
	d.forced = true
	d.run()
}

// dispatch goes through the candidates of one request.
type dispatch struct {
	ex       *exchange
	ctx      context.Context
	tune     *Tunables
	deadline time.Time // of the first content; zero is none
	limit    *string   // names what set the deadline
	forced   bool      // the state of candidates does not count
}

// setDeadline bounds the time to first content over all attempts (RT-FO-4): by
// the setting, and by what the client's SDK says it will wait.
func (d *dispatch) setDeadline() {
	limit := d.tune.MaxElapsed
	d.limit = &whatElapsed
	if s := stainlessTimeout(d.ex.r.Header["X-Stainless-Timeout"]); s > 0 {
		// At least a moment: less would round to 0, which is no bound.
		if client := max(time.Duration(s*float64(time.Second)), time.Millisecond); limit <= 0 || client < limit {
			limit, d.limit = client, &whatClient
		}
	}
	if limit > 0 {
		d.deadline = time.Now().Add(limit)
	}
}

// stainlessTimeout is how many seconds an SDK says that it waits; 0 if it does
// not say.
func stainlessTimeout(values []string) float64 {
	if len(values) == 0 {
		return 0
	}
	s, err := strconv.ParseFloat(values[0], 64)
	if err != nil || !(s > 0 && s < 1e6) {
		return 0
	}
	return s
}

// over tells whether there is no time for an attempt that starts after a wait.
func (d *dispatch) over(wait time.Duration) bool {
	return !d.deadline.IsZero() && !time.Now().Add(wait).Before(d.deadline)
}

// patience is what is left of the time to first content; 0 is no bound.
func (d *dispatch) patience() time.Duration {
	if d.deadline.IsZero() {
		return 0
	}
	return max(time.Until(d.deadline), 1)
}

// run dials candidates in order. It answers false if it could dial none.
func (d *dispatch) run() bool {
	ex := d.ex
	i, ok := d.admit(0)
	for retries := 0; ok; {
		at, ended := d.dial(i, retries > 0)
		if ended {
			return true
		}
		action := ex.plan.After(i, at.failure)
		if action == routing.Next && d.over(0) {
			action = routing.Exhausted
		}
		next := -1
		if action == routing.Next {
			if j, ok := d.admit(i + 1); ok {
				next = j
			} else {
				action = routing.Exhausted
			}
		}
		switch {
		case next >= 0:
			ex.g.opt.Log.Info("attempt failed, trying the next member", "requestId", ex.id, "provider", ex.plan.Candidates[i].Provider,
				"category", at.failure.Category, "status", at.failure.Status)
			i, retries = next, 0
		case action == routing.Exhausted && d.again(i, at.failure, retries):
			retries++
		case d.ctx.Err() != nil: // the client left while the next try was waited for
			ex.canceled(d.ctx, &ex.plan.Candidates[i])
			return true
		default:
			ex.failed(action)
			return true
		}
	}
	return false
}

// admit finds the next candidate from i on that may be dialled, and takes its
// permit.
func (d *dispatch) admit(i int) (int, bool) {
	ex := d.ex
	for ; i < len(ex.plan.Candidates); i++ {
		c := &ex.plan.Candidates[i]
		// Fallback is for failures of the caller's credential: if those members
		// were only skipped, the answer is the one without it (RT-OKF).
		if c.Fallback && (d.forced || ex.dials == 0) {
			return 0, false
		}
		if d.take(c) {
			return i, true
		}
	}
	return 0, false
}

// take asks for a candidate's permit, and notes it as skipped without one.
func (d *dispatch) take(c *routing.Candidate) bool {
	ex := d.ex
	if ex.g.opt.Board == nil {
		return true
	}
	p, why, ok := ex.g.opt.Board.AdmitFor(c.Provider, c.WireModel, c.Credential == routing.CredentialOwn, d.forced, d.patience())
	if ok {
		ex.permit, ex.permitted = p, true
		return true
	}
	if !ex.skipped(c) {
		ex.skips = append(ex.skips, skip{c, why})
	}
	return false
}

// skipped tells whether a candidate is noted as skipped.
func (ex *exchange) skipped(c *routing.Candidate) bool {
	for i := range ex.skips {
		if ex.skips[i].candidate == c {
			return true
		}
	}
	return false
}

// dial makes one attempt. ended means that the request is over.
func (d *dispatch) dial(i int, retry bool) (at attempt, ended bool) {
	ex := d.ex
	c := &ex.plan.Candidates[i]
	ex.dialled, ex.retry = ex.g.opt.Now(), retry
	ex.dials++
	served, at := ex.dial(d, c)
	if served {
		return at, true
	}
	ex.done(at.blame())
	at.start, at.duration, at.retry = ex.dialled.Sub(ex.began), ex.g.opt.Now().Sub(ex.dialled), retry
	ex.attempts = append(ex.attempts, at)
	switch at.failure.Category {
	case failure.Canceled:
		ex.canceled(d.ctx, c)
		return at, true
	case failure.Auth:
		if c.Credential != routing.CredentialCaller {
			ex.alert(c, at.failure)
		}
	default:
	}
	return at, false
}

// again waits for the next try in place of the last candidate (RT-FO-3); false
// if there is none.
func (d *dispatch) again(i int, f failure.Failure, retries int) bool {
	ex := d.ex
	if d.forced || retries >= d.tune.Retry.Max || !ex.plan.RetryInPlace(f) {
		return false
	}
	wait := time.Duration(0)
	if most := d.tune.Retry.BaseDelay << retries; most > 0 {
		wait = rand.N(most) //nolint:gosec // full jitter wants no secrecy
	}
	if d.over(wait) {
		return false
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-d.ctx.Done():
		return false
	}
	return d.take(&ex.plan.Candidates[i])
}

// done gives the running attempt's permit back with what came of it.
func (ex *exchange) done(f failure.Failure) {
	if !ex.permitted {
		return
	}
	ex.permitted = false
	if f.Category == "" && ex.estimated {
		// It answers, which ends a probe; that it can't count is no success.
		f.Category = failure.RequestError
	}
	o := state.Outcome{Failure: f, Stream: ex.envelope.Stream && ex.endpoint.Stream}
	if f.Category == "" && ex.endpoint.Counts { // counting is no measure of answering
		if o.Latency = ex.g.opt.Now().Sub(ex.dialled); o.Stream && !ex.content.IsZero() {
			o.Latency = ex.content.Sub(ex.dialled)
		}
	}
	ex.permit.Done(o)
}

// blame is what a failure says about the provider's health: that a client has
// no patience or reads slowly, or that earlier attempts took the time, says
// nothing.
func (at *attempt) blame() failure.Failure {
	if at.cut {
		return failure.Failure{Category: failure.Canceled}
	}
	return at.failure
}

// giveBack gives back a permit that nothing came of.
func (ex *exchange) giveBack() { ex.done(failure.Failure{Category: failure.Canceled}) }

// streamHeaders are those of a stream, also of an early 200 that only carries
// keep-alives: who will serve is not known yet.
func streamHeaders(h http.Header) {
	h["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
	h["Cache-Control"] = []string{"no-cache"}
	h["X-Accel-Buffering"] = []string{"no"} // reverse proxies would collect events
}

// canceled ends a request whose client left, or that the shutdown cuts off.
// It counts against nobody.
func (ex *exchange) canceled(ctx context.Context, c *routing.Candidate) {
	if errors.Is(cause(ctx), shutdownError{}) {
		e := ex.gatewayError(503, "gateway_unavailable", "the gateway is shutting down; repeat the request")
		_ = ex.settle(ending{outcome: audit.OutcomeError, status: 503, code: e.Code}) // logged; the client is told of the shutdown either way
		ex.out.fail(func() {
			ex.w.Header()["Retry-After"] = []string{"1"}
			ex.routingHeaders(ex.w.Header(), c)
			ex.writeError(503, e)
		}, func() []byte { return ex.streamError(e) })
		return
	}
	_ = ex.settle(ending{outcome: audit.OutcomeCanceled, status: 499, category: string(failure.Canceled)}) // logged; there may be nobody to tell
	// One that has closed its side only still reads, and must not take what it
	// gets for a whole answer.
	e := ex.gatewayError(499, "client_closed_request", "the client closed the connection, or its side of it, before the answer; keep it open until then")
	ex.out.fail(func() { ex.writeError(499, e) }, func() []byte { return ex.streamError(e) })
}
