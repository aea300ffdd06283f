package gateway

import (
	"net/http"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/wire"
)

const (
	// noRoom is what a client is told that comes when bodies hold all the memory
	// that they may.
	noRoom = "the bodies of running requests take all the memory that they may; repeat this one in a moment"
	// jsonLength is how many bytes a character can become in a JSON text.
	jsonLength = 6
	// peekLimit bounds what is read of a body before anybody is authenticated.
	peekLimit = 64 << 10
	// peekTime and lastBody bound how long such a body, or one that nobody
	// wants, may take.
	peekTime = 2 * time.Second
	lastBody = 5 * time.Second
)

// overloaded is ER-LOAD: there is room for others, not for this one. It does
// not wait for room.
func overloaded(message string) refusal {
	return refusal{status: 503, code: "gateway_overloaded", message: message, retry: true, retryAfter: time.Second}
}

// receive reads the client's body, or answers why it can't be read.
func (ex *exchange) receive() bool {
	buf, err := ex.g.bodies.get(ex.r.ContentLength, false)
	if err == nil {
		if err = readBody(buf, ex.r, ex.g.opt.MaxBodyBytes); err != nil {
			buf.release()
		}
	}
	if err != nil {
		ex.refuseBody(err)
		return false
	}
	if ex.r.ContentLength != 0 {
		// The limit of the body's arrival is no limit of the answer.
		_ = http.NewResponseController(ex.w).SetReadDeadline(time.Time{})
	}
	ex.read = true
	ex.body = buf.payload()
	return true
}

// dropBody gives the client's body back once nobody will be sent it again: a
// stream may go on for an hour after that. What the envelope knows by place in
// it is gone as well.
func (ex *exchange) dropBody() {
	if ex.body == nil {
		return
	}
	ex.envelope = wire.Envelope{Model: ex.envelope.Model, Stream: ex.envelope.Stream}
	ex.body.Release()
	ex.body = nil
}

// dropCopy gives back the body of the running attempt, if it has one of its own.
func (ex *exchange) dropCopy() {
	if ex.copied != nil {
		ex.copied.Release()
		ex.copied = nil
	}
}

// peekModel reads the model's name where nobody can be authenticated: of a small
// body that is there.
func (ex *exchange) peekModel() string {
	if ex.r.ContentLength <= 0 || ex.r.ContentLength > peekLimit {
		return ""
	}
	_ = http.NewResponseController(ex.w).SetReadDeadline(time.Now().Add(peekTime)) // a writer without one is a test's
	buf, err := ex.g.bodies.get(ex.r.ContentLength, false)
	if err != nil {
		return ""
	}
	defer buf.release()
	if readBody(buf, ex.r, peekLimit) != nil {
		return ""
	}
	ex.read = true
	var e wire.Envelope
	_ = wire.ReadEnvelope(&e, buf.b, ex.format.Known, true) // only to name the model
	ex.envelope.Model, ex.envelope.Stream = e.Model, e.Stream
	return e.Model
}

// leaveBody ends the connection after the answer, if there is a body that was
// not read: its rest is not worth it, and who sends it slowly would hold the
// connection, and before that the answer.
func leaveBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 || r.ProtoMajor != 1 {
		return
	}
	w.Header()["Connection"] = []string{"close"}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lastBody)) // a writer without one is a test's
}

// overloaded ends a request for whose next step there is no room: it is the
// gateway's fault and nobody else's.
func (d *dialing) overloaded() (bool, attempt) {
	ex := d.ex
	ex.attempts = append(ex.attempts, attempt{
		candidate: d.c, failure: failure.Failure{Category: failure.Canceled}, note: noRoom, retry: ex.retry,
		start: ex.dialled.Sub(ex.began), duration: ex.g.opt.Now().Sub(ex.dialled),
	})
	e := ex.gatewayError(503, "gateway_overloaded", noRoom)
	if ex.settle(ending{outcome: audit.OutcomeError, status: 503, code: e.Code}) != nil {
		ex.failUnrecorded()
		return true, attempt{}
	}
	ex.out.fail(func() {
		h := ex.w.Header()
		h["Retry-After"] = []string{"1"}
		ex.routingHeaders(h, d.c)
		ex.writeError(503, e)
	}, func() []byte { return ex.streamError(e) })
	return true, attempt{}
}
