package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
)

// execute dials the candidates in order until one serves, and answers.
func (ex *exchange) execute() {
	ctx, cancel := context.WithCancelCause(ex.r.Context())
	defer cancel(nil)
	var ping []byte
	if ex.envelope.Stream && ex.endpoint.Stream {
		ping = ex.format.KeepAlive
	}
	ex.out = newClientWriter(ex.w, ping, ex.g.opt.KeepAlive, ex.earlyHead, func(err error) { cancel(err) })
	defer ex.out.end()

	deadline := time.Time{}
	if limit := ex.g.tune.Load().maxElapsed; limit > 0 {
		deadline = time.Now().Add(limit)
	}
	for i := range ex.plan.Candidates {
		c := &ex.plan.Candidates[i]
		ex.dialled = ex.g.opt.Now()
		ex.dials++
		served, at := ex.dial(ctx, c, deadline)
		if served {
			return
		}
		at.start, at.duration = ex.dialled.Sub(ex.began), ex.g.opt.Now().Sub(ex.dialled)
		ex.attempts = append(ex.attempts, at)
		switch at.failure.Category {
		case failure.Canceled:
			ex.canceled(ctx, c)
			return
		case failure.Auth:
			ex.alert(c, at.failure)
		default:
		}
		next := ex.plan.After(i, at.failure)
		if next == routing.Next && !deadline.IsZero() && !time.Now().Before(deadline) {
			next = routing.Exhausted
		}
		if next != routing.Next {
			ex.failed(next)
			return
		}
		ex.g.opt.Log.Info("attempt failed, trying the next member", "requestId", ex.id, "provider", c.Provider,
			"category", at.failure.Category, "status", at.failure.Status)
	}
}

// earlyHead prepares the headers of a 200 that only carries keep-alives: who
// will serve is not known yet.
func (ex *exchange) earlyHead(h http.Header) { streamHeaders(h) }

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
		}, func() []byte { return ex.format.AppendStreamError(nil, e) })
		return
	}
	_ = ex.settle(ending{outcome: audit.OutcomeCanceled, status: 499, category: string(failure.Canceled)}) // logged; there is nobody to tell
}
