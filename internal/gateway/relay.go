package gateway

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// The preamble that is held back is bounded by a base and a multiple of the
// request: Responses sends the instructions and tools back in each of two
// events, and what a client writes in UTF-8 can come back in escapes three
// times as long.
const (
	heldBase = 1 << 20
	heldEcho = 6
)

// grace is how long the end of the connection is waited for after the answer
// was complete, so that it can be used again.
const grace = 5 * time.Second

// streamBuffers are the read buffers of streams.
var streamBuffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// relaying is the state of one stream.
type relaying struct {
	*dialing
	resp    *http.Response
	events  *wire.EventStream
	reader  wire.StreamReader
	event   wire.Event // a field, so that not each event is allocated
	holding []byte     // preamble that was not sent
	begun   bool       // content was sent
}

// relay passes a stream through. Whole events only are sent, so that what
// follows a break, an error event, stands on its own.
func (d *dialing) relay(resp *http.Response) (bool, attempt) {
	buf, _ := streamBuffers.Get().(*[]byte)
	r := &relaying{dialing: d, resp: resp, events: wire.NewEventStream(*buf), reader: d.ex.format.NewStream(&d.ex.envelope)}
	defer func() {
		if b := r.events.Buffer(); cap(b) <= maxPooled {
			*buf = b
			streamBuffers.Put(buf)
		}
	}()
	r.expect()
	for {
		n, err := r.events.Fill(resp.Body)
		if n > 0 {
			r.dog.expect(0, &whatIdle) // a client that reads slowly is not a silent provider
			if done, served, at := r.pass(); done {
				return served, at
			}
			r.expect()
		}
		if err != nil {
			return r.ended(err)
		}
	}
}

// expect sets the next limit; after the end marker only the connection's end
// is waited for.
func (r *relaying) expect() {
	if r.reader.Complete() {
		r.dog.expect(grace, &whatAfter)
		return
	}
	if p, ok := r.reader.(wire.Progress); ok && p.Working() {
		r.latest, r.why = r.last, r.lastWhy
	}
	r.await(r.begun)
}

// pass sends the events that are whole, in one write. done means that the
// attempt is over.
func (r *relaying) pass() (done, served bool, at attempt) {
	for {
		var ok bool
		if r.event, ok = r.events.Next(); !ok {
			break
		}
		switch r.reader.Kind(&r.event) {
		case wire.Failed:
			t := r.events.Taken()
			return r.errorEvent(t[:len(t)-len(r.event.Raw)], &r.event)
		case wire.Content:
			if !r.begun {
				r.begin()
			}
		case wire.Preamble:
		}
	}
	out := r.events.Taken()
	if len(r.holding) > 0 || !r.begun {
		r.holding = append(r.holding, out...)
		out = r.holding
	}
	switch {
	case !r.begun && len(out) > heldBase+heldEcho*len(r.ex.envelope.Body()):
		return true, false, attempt{
			candidate: r.c, failure: failure.Failure{Category: failure.ServerError, Status: r.resp.StatusCode},
			note: "the stream has no content after " + strconv.Itoa(len(out)>>20) + " MiB",
		}
	case !r.begun || len(out) == 0:
		return false, false, attempt{}
	}
	r.holding = nil
	if r.reader.Last() && !r.settle() {
		return true, true, attempt{}
	}
	if err := r.ex.out.send(out); err != nil {
		return true, false, attempt{candidate: r.c, failure: failure.Failure{Category: failure.Canceled}}
	}
	return false, false, attempt{}
}

// settle records the request before its end marker goes out; false means that
// it could not and the client was told so.
func (r *relaying) settle() bool {
	if r.ex.settle(ending{outcome: audit.OutcomeAllow, status: r.resp.StatusCode, served: r.c, usage: r.reader.Usage()}) == nil {
		return true
	}
	r.ex.failUnrecorded()
	return false
}

// begin commits to this attempt.
func (r *relaying) begin() {
	r.begun, r.ex.stream = true, r.reader
	r.ex.dropBody() // no other attempt follows
	r.ex.dropCopy()
	r.ex.permit.Answered()
	r.ex.content = r.ex.g.opt.Now()
	if r.target.Timeouts.Total > 0 {
		r.dog.onTotal(r.ex.out.hurry) // no other member follows
	}
	r.ex.out.begin(r.resp.StatusCode, func(h http.Header) {
		streamHeaders(h)
		copyHeaders(h, r.resp.Header, r.c)
		if h["Content-Type"] == nil {
			h["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
		}
		r.ex.routingHeaders(h, r.c)
	})
}

// errorEvent: before content it is a failure like any other; after it, the
// provider's own event ends the answer.
// before is what came ahead of it in the same read.
func (r *relaying) errorEvent(before []byte, ev *wire.Event) (done, served bool, at attempt) {
	at = r.errorIn200(r.resp, ev.Data, true)
	if !r.begun {
		return true, false, at
	}
	if len(before) > 0 {
		_ = r.ex.out.send(append(r.holding, before...)) // a client that left shows in the next write as well
	}
	raw := r.scrub(r.failedEvent(ev))
	r.brokeOff(&at, at.answer.status)
	r.ex.out.fail(func() {}, func() []byte { return raw })
	return true, true, at
}

// ended: the stream is over, whole or not.
func (r *relaying) ended(err error) (bool, attempt) {
	eof := errors.Is(err, io.EOF)
	if eof {
		if over, served, at := r.tail(); over {
			return served, at
		}
	}
	if r.reader.Complete() {
		r.settle() // it tells the client itself when it can't
		return true, attempt{}
	}
	at := r.broken(err)
	canceled := at.failure.Category == failure.Canceled
	if eof && !canceled {
		at.failure = failure.Failure{Category: failure.ServerError, Status: r.resp.StatusCode}
		at.note = "the stream ended before the answer was complete"
	}
	if !r.begun || canceled {
		return false, at
	}
	e := r.ex.attemptError(&at)
	r.brokeOff(&at, e.Status)
	r.ex.out.fail(func() {}, func() []byte { return r.ex.streamError(e) })
	return true, at
}

// errorBody is a provider's error object, of an event or with status 200, as the
// body of an answer.
func (d *dialing) errorBody(data []byte) []byte {
	if s, ok := d.ex.format.NewStream(&d.ex.envelope).(wire.StreamErrors); ok {
		return s.ErrorBody(&wire.Event{Data: data, HasData: true})
	}
	return bytes.Clone(data)
}

// failedEvent is the provider's error event as it goes to the client.
func (r *relaying) failedEvent(ev *wire.Event) []byte {
	if s, ok := r.reader.(wire.StreamErrors); ok {
		return s.AppendFailed(nil, ev)
	}
	return ev.Raw
}

// tail looks at a last event without its blank line: it may hold the end
// marker, or an error. over means that it settled the attempt.
func (r *relaying) tail() (over, served bool, at attempt) {
	last := r.events.Rest()
	if len(last.Raw) == 0 {
		return false, false, attempt{}
	}
	if r.reader.Complete() {
		_ = r.reader.Kind(&last) // it may be the last event, or hold the usage
		if r.settle() {
			_ = r.ex.out.send(last.Raw) // a client that left is nobody's error
		}
		return true, true, attempt{}
	}
	switch r.reader.Kind(&last) {
	case wire.Failed:
		last.Raw = append(bytes.Clone(last.Raw), "\n\n"...) // clients drop an event that is not whole
		return r.errorEvent(nil, &last)
	case wire.Content:
		if !r.reader.Complete() {
			return false, false, attempt{} // half an event; it is not sent
		}
		if !r.begun {
			r.begin()
		}
		if r.settle() {
			_ = r.ex.out.send(append(r.holding, last.Raw...)) // a client that left is nobody's error
		}
		return true, true, attempt{}
	case wire.Preamble:
	}
	return false, false, attempt{}
}

// brokeOff records an answer that failed after its first content. That it
// could not be kept changes nothing: the answer ends with an error anyway.
func (r *relaying) brokeOff(at *attempt, status int) {
	r.ex.done(at.blame())
	at.start, at.duration, at.retry = r.ex.dialled.Sub(r.ex.began), r.ex.g.opt.Now().Sub(r.ex.dialled), r.ex.retry
	r.ex.attempts = append(r.ex.attempts, *at)
	_ = r.ex.settle(ending{outcome: audit.OutcomeError, status: status, code: at.failure.Code, category: string(at.failure.Category), usage: r.reader.Usage()})
	r.ex.g.opt.Log.Warn("a stream broke off after content was sent", "requestId", r.ex.id, "provider", r.c.Provider,
		"category", at.failure.Category, "status", at.failure.Status, "note", at.note)
}
