package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/state"
	"github.com/interlock-gateway/interlock/internal/upstream"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// exchange is one request on its way. Each field is set by one step, named in
// its comment, and only read later.
type exchange struct {
	g        *Gateway
	format   *wire.Format  // accept
	endpoint *llm.Endpoint // accept
	w        http.ResponseWriter
	r        *http.Request
	id       string // accept

	live     *snapshot.Live    // accept
	caller   auth.Caller       // authenticate
	body     *upstream.Payload // receive
	read     bool              // receive: the client's body was read whole
	copied   *upstream.Payload // execute: the running attempt's own body
	envelope wire.Envelope     // envelope
	trace    routing.Trace     // decide
	plan     *routing.Plan     // decide
	attempts []attempt         // execute: those that failed
	skips    []skip            // execute
	out      *clientWriter     // execute
	stream   wire.StreamReader // execute: of the answer whose content was sent

	began     time.Time    // accept
	dialled   time.Time    // execute: the running or last attempt
	content   time.Time    // execute: first content of a stream
	dials     int          // execute
	retry     bool         // execute: the running attempt repeats the one before
	permit    state.Permit // execute: of the running attempt
	permitted bool         // execute: permit is to be given back
	estimated bool         // execute: the answer is a guess of the gateway
	settled   bool

	// Memory of the steps, so that a request takes it from the heap once.
	input    routing.Input
	decider  routing.Decider
	dispatch dispatch
	dialing  dialing
}

// attempt is the record of one dial that failed.
type attempt struct {
	candidate *routing.Candidate
	failure   failure.Failure
	// answer is what the provider said, when it is one that a client may
	// see; its body is bounded.
	answer *answer
	// note says in a few words what went wrong when there is no answer to
	// show.
	note string
	// start is from the arrival of the request.
	start, duration time.Duration
	// retry: it repeated the attempt before.
	retry bool
	// cut: the client's time was over, or that of all attempts of which earlier
	// ones took a part. Neither says anything about the provider.
	cut bool
}

// skip is a candidate that was not dialled because of its state.
type skip struct {
	candidate *routing.Candidate
	blocked   state.Blocked
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// refusal is a request that the gateway itself does not serve.
type refusal struct {
	status     int
	code       string
	message    string
	retry      bool          // the client may usefully repeat the request
	retryAfter time.Duration // with retry; 0 sends no header
	policy     string        // its name in the audit; empty for a request that is wrong, or a fault of ours
	unrecorded bool          // it is one of too many to keep
}

// serve takes the request along the path. Each step either goes on or has
// answered.
func (ex *exchange) serve() {
	g := ex.g
	if n := g.inFlight.Add(1); n > g.opt.MaxInFlight {
		g.inFlight.Add(-1)
		ex.refuse(overloaded("too many requests are running; repeat this one in a moment"))
		return
	}
	defer g.inFlight.Add(-1)
	if ex.live = g.opt.Live(); ex.live == nil {
		ex.refuse(notLoaded(ex.peekModel()))
		return
	}
	if !ex.authenticate() {
		return
	}
	if !ex.receive() {
		return
	}
	defer ex.dropBody()
	if err := wire.ReadEnvelope(&ex.envelope, ex.body.Bytes(), ex.format.Known, true); err != nil {
		ex.refuse(refusal{status: 400, code: "invalid_request", message: err.Error()})
		return
	}
	if resource.LooksSecret(ex.envelope.Model) {
		ex.envelope.Model = "***" // neither the log nor the answer may show it
		ex.refuse(refusal{status: 400, code: "invalid_request", message: "\"model\" holds a key instead of a model's name; check the client's settings, and rotate the key if this was sent elsewhere"})
		return
	}
	if g.opt.CanRecord != nil {
		if err := g.opt.CanRecord(); err != nil {
			ex.refuse(refusal{
				status: 503, code: "gateway_unavailable", unrecorded: true, retry: true, retryAfter: time.Second,
				message: "requests can't be recorded now, so they are not served; repeat this one in a moment",
			})
			return
		}
	}
	ex.decide()
	if rf := ex.plan.Refusal; rf != nil {
		ex.refuse(refusal{status: rf.Status, code: rf.Code, message: rf.Message, retry: rf.Retry, policy: rf.Policy})
		return
	}
	ex.execute()
}

// authenticate answers 401 for an unknown caller, and 503 where it can't be
// told now who is calling; nothing later runs for one.
func (ex *exchange) authenticate() bool {
	now := ex.g.opt.Now()
	caller, err := auth.Identify(ex.live.Keys, ex.g.opt.Issuers, ex.r, ex.live.Callers, now)
	if err == nil {
		ex.caller = caller
		if k := caller.Key; k != nil && k.Closed() != "" {
			ex.refuse(refusal{
				status: 400, code: "MODEL_DENIED", policy: "model-scope",
				message: k.Closed(),
			})
			return false
		}
		return true
	}
	if away, ok := errors.AsType[*auth.UnavailableError](err); ok {
		ex.refuse(refusal{
			status: 503, code: "gateway_unavailable", message: away.Message, retry: true, retryAfter: away.RetryAfter,
			unrecorded: ex.tooMany(&ex.g.unproven, now) > 0, // anybody can send what looks like a token
		})
		return false
	}
	if wait := ex.tooMany(&ex.g.guard, now); wait > 0 {
		ex.refuse(refusal{
			status: 429, code: "rate_limit_exceeded", message: "too many requests with a wrong key came from this address; wait, then check the key",
			retry: true, retryAfter: wait, policy: "auth", unrecorded: true,
		})
		return false
	}
	ex.refuse(refusal{status: 401, code: "invalid_api_key", message: err.Error(), policy: "auth"})
	return false
}

// tooMany counts a failure of the client's address; it returns how long the
// address has to wait, or 0.
func (ex *exchange) tooMany(guard *auth.Guard, now time.Time) time.Duration {
	ap, err := netip.ParseAddrPort(ex.r.RemoteAddr)
	if err != nil {
		return 0
	}
	return guard.Fail(ap.Addr(), now)
}

func (ex *exchange) refuseBody(err error) {
	var enc *encodingError
	switch {
	case errors.Is(err, errNoRoom):
		ex.refuse(overloaded(noRoom))
	case errors.Is(err, errTooLarge):
		ex.refuse(refusal{
			status: 413, code: "request_too_large",
			message: fmt.Sprintf("the request body is larger than %d bytes after decompression (server.maxBodyBytes)", ex.g.opt.MaxBodyBytes),
		})
	case errors.As(err, &enc):
		ex.refuse(refusal{status: 400, code: "invalid_request", message: enc.message})
	default: // the client went away or sent less than it said
		ex.refuse(refusal{status: 400, code: "invalid_request", message: "the request body ended early"})
	}
}

// refuse answers with a gateway-made error in the client's format.
func (ex *exchange) refuse(rf refusal) {
	h := ex.w.Header()
	if rf.retry && rf.retryAfter > 0 {
		h["Retry-After"] = []string{strconv.Itoa(retrySeconds(rf.retryAfter))}
	}
	if !rf.retry {
		h["X-Should-Retry"] = []string{"false"}
	}
	if !ex.read {
		leaveBody(ex.w, ex.r)
	}
	ex.routingHeaders(h, nil)
	e := &wire.Error{Status: rf.status, Code: rf.code, Message: rf.message, RequestID: ex.id}
	if !rf.unrecorded && ex.settle(ending{outcome: rf.outcome(), status: rf.status, code: rf.code, policy: rf.policy}) != nil {
		e = ex.unrecorded()
		h["Retry-After"] = []string{"1"}
		delete(h, "X-Should-Retry")
	}
	ex.writeError(e.Status, e)
}

// outcome in the audit: a refusal by a policy is a denial.
func (rf *refusal) outcome() string {
	if rf.policy != "" {
		return audit.OutcomeDeny
	}
	return audit.OutcomeError
}

// notLoaded is ER-NOTLOADED: without a valid configuration nobody is granted
// anything. It is a 400, since agents answer a 401 by asking for a sign-in.
func notLoaded(model string) refusal {
	what := "no model is"
	if model != "" {
		what = fmt.Sprintf("the model %q is not", clipText(model, 80))
	}
	return refusal{
		status: 400, code: "MODEL_DENIED", policy: "no-grant", retry: true, retryAfter: 5 * time.Second,
		message: what + " available: no valid configuration is loaded yet; repeat the request later, or see the server's log",
	}
}

// writeError sends an error object; the other headers are set already.
func (ex *exchange) writeError(status int, e *wire.Error) {
	h := ex.w.Header()
	if ex.g.tune.Load().ExposeRouting {
		h["X-Interlock-Error"] = []string{headerValue(e.Code)}
	}
	h[ex.format.RequestIDHeader] = []string{ex.id}
	body := ex.format.AppendError(nil, e)
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	ex.w.WriteHeader(status)
	_, _ = ex.w.Write(body) // a client that left is nobody's error
}

// streamError renders the event that ends a stream, wherever it is.
func (ex *exchange) streamError(e *wire.Error) []byte {
	r := ex.stream
	if r == nil {
		r = ex.format.NewStream(&ex.envelope) // it knows the request
	}
	if s, ok := r.(wire.StreamErrors); ok {
		return s.AppendStreamError(nil, e)
	}
	return ex.format.AppendStreamError(nil, e)
}

// retrySeconds is what a client is told: at least a second, at most 59, since
// agents give up on a minute and more.
func retrySeconds(d time.Duration) int {
	return int(min(max(1, (d+time.Second-1)/time.Second), 59))
}

// over ends the exchange. It turns a panic into an answer, or into a cut
// connection when the answer has begun: a client must not take half an answer
// for a whole one.
func (ex *exchange) over() {
	p := recover()
	if p == nil {
		exchanges.put(ex)
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	ex.g.opt.Log.Error("panic while serving a request", "requestId", ex.id, "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
	if ex.out != nil && !ex.out.untouched() {
		panic(http.ErrAbortHandler)
	}
	ex.refuse(refusal{status: 503, code: "gateway_unavailable", message: "the gateway failed on this request; the log has the request id", retry: true, retryAfter: time.Second})
}

// log writes one line about a request that was not served well. Served ones
// are at debug level.
func (ex *exchange) log(status int, code string) {
	level := ex.logLevel(status)
	if !ex.g.opt.Log.Enabled(ex.r.Context(), level) {
		return
	}
	ctx := context.WithoutCancel(ex.r.Context())
	key, user := "", ""
	if k := ex.caller.Key; k != nil {
		key = k.Name
	} else if id := ex.caller.Identity; id != nil {
		user = id.User
	}
	ex.g.opt.Log.LogAttrs(ctx, level, "request", slog.String("requestId", ex.id), slog.String("endpoint", string(ex.endpoint.ID)),
		slog.String("model", clipText(ex.envelope.Model, 80)), slog.String("key", key), slog.String("user", user), slog.String("source", ex.caller.Source),
		slog.Int("status", status), slog.String("code", code), slog.Int("attempts", ex.dials), ex.logPlan())
}

// logPlan is what was decided: the route and where the plan begins.
func (ex *exchange) logPlan() slog.Attr {
	if ex.plan == nil || len(ex.plan.Candidates) == 0 {
		return slog.Attr{}
	}
	c := &ex.plan.Candidates[0]
	return slog.Group("plan", "route", ex.plan.Route, "strategy", c.Strategy, "reason", c.Why, "provider", c.Provider, "wireModel", c.WireModel)
}
