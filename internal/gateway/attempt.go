package gateway

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/upstream"
)

const (
	// maxErrorBody bounds a provider's error body.
	maxErrorBody = 1 << 20
	// maxAnswer bounds an answer that is not a stream; it is read whole
	// before anything is sent, so that one that breaks off can fail over.
	maxAnswer = 64 << 20
)

// dialing is one attempt under way.
type dialing struct {
	ex     *exchange
	c      *routing.Candidate
	target *upstream.Target
	dog    *watchdog // the attempt's context
	// caller is the caller's own credential, if that is what was sent.
	caller http.Header
	// latest is the time after the attempt's start by which content must
	// come, and why names that limit; 0 is none.
	latest time.Duration
	why    *string
	// last is the limit that holds however the provider announces its work.
	last    time.Duration
	lastWhy *string
}

// dial makes one attempt. served means that the client has its answer, be it
// one that broke off; otherwise the attempt says what failed. Every attempt
// starts from the client's original request.
func (ex *exchange) dial(run *dispatch, c *routing.Candidate) (served bool, at attempt) {
	d := &ex.dialing
	*d = dialing{ex: ex, c: c, target: ex.live.Targets[c.Provider]}
	d.dog = newWatchdog(run.ctx, d.target.Timeouts.Total)
	defer d.dog.end()
	head, what := d.target.Timeouts.ResponseHeader, &whatHeader
	if left := time.Until(run.deadline); !run.deadline.IsZero() && (head == 0 || left < head) {
		head, what = max(left, 1), run.limit
	}
	d.dog.expect(head, what)

	if !d.target.Serves(ex.endpoint.ID) {
		return d.estimate() // the decision let in only what can be estimated
	}
	body := ex.body
	if c.WireModel != ex.envelope.Model {
		buf, err := ex.g.bodies.sized(int64(len(body.Bytes())+jsonLength*len(c.WireModel)), true)
		if err != nil {
			return d.overloaded()
		}
		buf.b = ex.envelope.AppendWithModel(buf.b, c.WireModel)
		body = buf.payload()
		ex.copied = body
		defer ex.dropCopy()
	}
	resp, err := d.target.Send(d.dog, d.call(body))
	if err != nil {
		return false, d.broken(err)
	}
	defer resp.Body.Close()
	d.limitContent(run.deadline, run.limit)
	return d.answer(resp)
}

// call makes the request of this attempt, with the one credential that the
// plan names.
func (d *dialing) call(body *upstream.Payload) *upstream.Call {
	ex := d.ex
	call := &upstream.Call{Endpoint: ex.endpoint, Header: ex.r.Header, Body: body, Stream: ex.envelope.Stream}
	if ex.r.URL.RawQuery != "" {
		call.Query = ex.r.URL.Query()
	}
	switch d.c.Credential {
	case routing.CredentialCaller:
		d.caller = auth.Foreign(ex.r, ex.g.opt.Issuers)
		call.Caller = d.caller
	case routing.CredentialVirtual:
		call.Virtual = ex.caller.Key.Credential
	case routing.CredentialOwn:
	}
	return call
}

// virtual is the credential of the caller's virtual key, if that is what was
// sent.
func (d *dialing) virtual() secret.String {
	if d.c.Credential == routing.CredentialVirtual {
		return d.ex.caller.Key.Credential
	}
	return secret.String{}
}

// scrub takes stored credentials out of a provider's words. The caller's own may
// stay in what only the caller gets.
func (d *dialing) scrub(b []byte) []byte { return d.target.Scrub(b, d.virtual()) }

// classify says what kind of failure an answer is, in words that can be kept.
func (d *dialing) classify(resp *http.Response, body []byte, event bool) failure.Failure {
	sent := append(auth.Bare(d.caller), d.virtual())
	return d.target.Classify(&failure.Answer{
		Status: resp.StatusCode, Header: resp.Header, Body: body, Stream: event, Echo: d.named(), Now: d.ex.g.opt.Now(),
	}, sent...)
}

// limitContent sets the limit of the time to the first content.
func (d *dialing) limitContent(deadline time.Time, limit *string) {
	t := d.target.Timeouts
	if t.ResponseHeader > 0 && t.StreamIdle > 0 {
		d.latest, d.why = t.ResponseHeader+t.StreamIdle, &whatContent
	}
	if deadline.IsZero() {
		return
	}
	d.last, d.lastWhy = max(deadline.Sub(d.dog.start), 1), limit
	if d.latest == 0 || d.last < d.latest {
		d.latest, d.why = d.last, limit
	}
}

// await sets the next limit: silence, and before content also the time to it.
func (d *dialing) await(begun bool) {
	now, due, what := d.dog.elapsed(), time.Duration(0), &whatIdle
	if idle := d.target.Timeouts.StreamIdle; idle > 0 {
		due = now + idle
	}
	if !begun && d.latest > 0 && (due == 0 || d.latest < due) {
		due, what = d.latest, d.why
	}
	d.dog.until(now, due, what)
}

// answer sorts an answer: a failure, a stream, or a whole body.
func (d *dialing) answer(resp *http.Response) (bool, attempt) {
	d.await(false)
	d.target.ScrubHeader(resp.Header, d.virtual()) // request ids pass to the client
	switch {
	case resp.StatusCode >= 300 || resp.StatusCode < 200:
		return d.refused(resp)
	case !d.ex.envelope.Stream || !d.ex.endpoint.Stream:
		return d.whole(resp)
	case isEventStream(resp.Header):
		return d.relay(resp)
	}
	return false, d.notAStream(resp)
}

func isEventStream(h http.Header) bool {
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err != nil && h.Get("Content-Type") == "" || t == "text/event-stream"
}

// broken makes the record of an attempt that ended in a transport error: a
// client that left, a limit that passed, or the network.
func (d *dialing) broken(err error) attempt {
	at := attempt{candidate: d.c}
	var limit *timeoutError
	var encoding *upstream.EncodingError
	switch why := d.dog.Err(); {
	case errors.As(why, &limit):
		at.failure = failure.Failure{Category: failure.Timeout}
		at.note = limit.what
		// With content, the total measures the answer's length and the client's
		// pace as much as the provider's.
		at.cut = limit.what == whatClient || limit.what == whatElapsed && d.ex.dials > 1 ||
			limit.what == whatTotal && !d.ex.content.IsZero()
	case why != nil: // the client left, or the gateway stops
		at.failure = failure.Failure{Category: failure.Canceled}
	case errors.As(err, &encoding):
		at.failure, at.note = failure.Failure{Category: failure.ServerError, Status: http.StatusOK}, err.Error()
	default:
		at.failure = failure.FromTransport(err, false)
		at.note = transportNote(err)
	}
	return at
}

// transportNote describes a network error without addresses.
func transportNote(err error) string {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection closed before the answer was whole"
	case strings.Contains(err.Error(), "connection refused"):
		return "the connection was refused"
	case strings.Contains(err.Error(), "no such host"):
		return "its host name does not resolve"
	case strings.Contains(err.Error(), "x509") || strings.Contains(err.Error(), "tls:"):
		return "the TLS handshake failed"
	}
	return "the connection failed"
}

// refused makes the record of an answer with an error status.
func (d *dialing) refused(resp *http.Response) (bool, attempt) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil && d.dog.Err() != nil {
		return false, d.broken(err)
	}
	if d.cannotCount(resp.StatusCode, body) {
		return d.estimate()
	}
	f := d.classify(resp, body, false)
	return false, attempt{candidate: d.c, failure: f, answer: &answer{resp.StatusCode, resp.Header, d.scrub(body)}}
}

// notAStream: the client waits for events and the provider sent something
// else, an error object or a page of a proxy. No client can read that.
func (d *dialing) notAStream(resp *http.Response) attempt {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil {
		return d.broken(err)
	}
	if a, ok := d.ex.format.ReadAnswer(body); a.Error && ok {
		return d.errorIn200(resp, body, false)
	}
	return attempt{
		candidate: d.c, failure: failure.Failure{Category: failure.ServerError, Status: resp.StatusCode},
		note: "the answer was not an event stream",
	}
}

// errorIn200 makes the record of an error object that came with status 200,
// whole or as an event.
func (d *dialing) errorIn200(resp *http.Response, body []byte, event bool) attempt {
	f := d.classify(resp, body, event)
	status := f.Status
	if status < 400 {
		status = statusOf(f.Category)
	}
	h := resp.Header.Clone()
	h.Set("Content-Type", "application/json")
	return attempt{candidate: d.c, failure: f, answer: &answer{status, h, d.scrub(d.errorBody(body))}}
}

// named lists what the caller named and a provider's error may repeat.
func (d *dialing) named() []string { return []string{d.ex.envelope.Model, d.c.WireModel} }

// statusOf is the status of an error for which the provider gave none.
func statusOf(c failure.Category) int {
	switch c {
	case failure.RateLimit, failure.QuotaExhausted:
		return http.StatusTooManyRequests
	case failure.Overloaded:
		return http.StatusServiceUnavailable
	case failure.ModelUnavailable:
		return http.StatusNotFound
	case failure.RequestError, failure.ContentFilter:
		return http.StatusBadRequest
	case failure.Timeout:
		return http.StatusGatewayTimeout
	case failure.Connection, failure.ServerError, failure.Auth, failure.Canceled:
		return http.StatusBadGateway
	}
	return http.StatusBadGateway
}

// whole serves an answer that is not a stream: it is read to its end before
// the first byte goes out.
func (d *dialing) whole(resp *http.Response) (bool, attempt) {
	buf, err := d.ex.g.bodies.get(resp.ContentLength, true)
	if err != nil {
		return d.overloaded()
	}
	defer buf.release()
	err = buf.fill(&watchedReader{r: resp.Body, d: d}, resp.ContentLength, maxAnswer)
	switch {
	case errors.Is(err, errNoRoom):
		return d.overloaded()
	case err != nil && !errors.Is(err, errTooLarge):
		return false, d.broken(err)
	}
	d.dog.stop() // a client that reads slowly is not a silent provider
	if err != nil {
		// The request asks for too much: it would be paid at every member, and
		// would blame them all.
		return false, attempt{candidate: d.c, failure: failure.Failure{Category: failure.RequestError, Status: resp.StatusCode}, note: tooLong}
	}
	body := buf.b
	told, ok := d.ex.format.ReadAnswer(body)
	switch {
	case !ok:
		return false, attempt{candidate: d.c, failure: failure.Failure{Category: failure.ServerError, Status: resp.StatusCode}, note: "the answer was not a JSON object"}
	case told.Error:
		return false, d.errorIn200(resp, body, false)
	}
	if d.ex.settle(ending{outcome: audit.OutcomeAllow, status: resp.StatusCode, served: d.c, usage: told.Usage}) != nil {
		d.ex.failUnrecorded()
		return true, attempt{}
	}
	d.ex.out.begin(resp.StatusCode, func(h http.Header) {
		h["Content-Type"] = []string{"application/json"} // unless the provider says
		copyHeaders(h, resp.Header, d.c)
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
		d.ex.routingHeaders(h, d.c)
	})
	if err := d.ex.out.send(body); err != nil {
		return false, attempt{candidate: d.c, failure: failure.Failure{Category: failure.Canceled}}
	}
	return true, attempt{}
}

// watchedReader tells the watchdog of every byte. Blanks keep a connection
// alive and are no content: some vendors send them for as long as they like.
type watchedReader struct {
	r     io.Reader
	d     *dialing
	begun bool
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if n > 0 {
		w.begun = w.begun || len(bytes.TrimLeft(p[:n], " \t\r\n")) > 0
		w.d.await(w.begun)
	}
	return n, err
}
