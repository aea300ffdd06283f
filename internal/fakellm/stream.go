package fakellm

import (
	"net/http"
	"time"
)

// settle is the pause before a connection is broken: a TCP reset throws away
// what the other end has not read yet, and the frames before the fault must
// arrive.
const settle = 30 * time.Millisecond

// defaultPingGap is how often keep-alives come without gap_ms.
const defaultPingGap = 100 * time.Millisecond

// sink takes the frames of a stream.
type sink interface {
	// write sends p at once, false after a failure.
	write(p []byte) bool
	// gone is closed when the client has left.
	gone() <-chan struct{}
	// cut breaks the connection.
	cut(how string)
}

// httpSink is the body of an HTTP answer.
type httpSink struct{ c *call }

func (s httpSink) write(p []byte) bool   { return s.c.write(p) && s.c.flush() }
func (s httpSink) gone() <-chan struct{} { return s.c.r.Context().Done() }
func (s httpSink) cut(how string)        { s.c.cut(how) }

// wantsStream decides about a request that asked, or did not ask, for a stream.
func (c *call) wantsStream(asked bool) bool { return asked && c.rule.Action != ActionJSONForStream }

// stream answers with frames.
func (c *call) stream(fr framing, frames []frame) {
	c.w.Header().Set("Cache-Control", "no-cache")
	c.head(http.StatusOK, fr.contentType())
	out := httpSink{c}
	if c.play(out, fr, frames) {
		if t := fr.trailer(); t != nil {
			c.complete = out.write(t)
		}
	}
}

// play sends frames and the faults between them; true when all went out.
func (c *call) play(out sink, fr framing, frames []frame) bool {
	u := c.rule
	sent := 0
	defer func() { c.edit(func(r *Record) { r.Frames += sent }) }()
	if u.Action == ActionTricklePings {
		if out.write(nil) { // the head
			c.tricklePings(out, c.ping(fr))
		}
		return false
	}
	gap := time.Duration(u.GapMS) * time.Millisecond
	for i := range frames {
		f := &frames[i]
		if u.Action == ActionPreambleError && !f.preamble {
			c.streamError(out, fr, sent)
			return false
		}
		if i == u.After && c.breakStream(out, fr, sent) {
			return false
		}
		c.buf = f.encode(c.buf[:0], fr, i == 0)
		if !out.write(c.buf) {
			return false
		}
		sent++
		c.complete = i == len(frames)-1 && fr.trailer() == nil
		if gap > 0 && !c.complete && !c.pauseUntil(out.gone(), gap) {
			c.note("client left mid-stream")
			return false
		}
	}
	return true
}

// breakStream does what the rule wants after After frames; true ends the
// stream.
func (c *call) breakStream(out sink, fr framing, sent int) bool {
	u := c.rule
	switch u.Action {
	case ActionInject:
		return !out.write([]byte(u.Raw))
	case ActionStall:
		if out.write(nil) {
			c.silence(out.gone())
			c.note("client left a stalled stream")
		}
		return true
	case ActionCut:
		if out.write(nil) && (u.GapMS > 0 || c.pauseUntil(out.gone(), settle)) {
			out.cut(u.Cut)
		}
		return true
	case ActionSSEError:
		if u.Raw != "" {
			c.note("sse_error")
			c.complete = out.write([]byte(u.Raw))
			return true
		}
		c.streamError(out, fr, sent)
		return true
	default: // what the others do is done
	}
	return false
}

// streamError sends the dialect's error event and ends the stream.
func (c *call) streamError(out sink, fr framing, sent int) {
	c.note(string(c.rule.Action))
	if c.rule.Action == ActionPreambleError && fr == sseNamed && c.shape() == shapeAnthropic {
		if !out.write(c.ping(fr)) {
			return
		}
	}
	e := c.fault(statusOverloaded)
	switch fr {
	case awsInvoke, awsTyped:
		typ := c.rule.Type
		if typ == "" {
			typ = "throttlingException"
		}
		c.complete = out.write(appendAWS(nil, awsException(typ), mustJSON(e.object())))
	default:
		name, data := e.event(sent)
		f := frame{name: name, data: mustJSON(data)}
		c.complete = out.write(append(f.encode(nil, fr, sent == 0), fr.trailer()...))
	}
}

// ping is a keep-alive: an event where the dialect has one, else a comment.
// Event streams of AWS and WebSockets have neither.
func (c *call) ping(fr framing) []byte {
	f := frame{name: "ping", data: []byte(`{"type":"ping"}`)}
	switch {
	case fr == sseNamed && c.shape() == shapeAnthropic, fr == awsInvoke:
		return f.encode(nil, fr, false)
	case fr == sseNamed, fr == sseData:
		return []byte(": ping\n\n")
	case fr == jsonArray:
		return []byte("\r\n")
	}
	return nil
}

func (c *call) tricklePings(out sink, ping []byte) {
	gap := time.Duration(c.rule.GapMS) * time.Millisecond
	if gap == 0 {
		gap = defaultPingGap
	}
	for c.pauseUntil(out.gone(), gap) {
		if !out.write(ping) {
			return
		}
	}
	c.note("client left a stream of keep-alives")
}

// json sends a plain answer, or what a rule leaves of it.
func (c *call) json(status int, v any) {
	const contentType = "application/json"
	body := mustJSON(v)
	out := httpSink{c}
	switch u := c.rule; {
	case u.Action == ActionTricklePings:
		c.head(status, contentType)
		if out.write(nil) {
			c.tricklePings(out, []byte("\n")) // blank before a JSON text: allowed, and done by some
		}
	case u.Action == ActionCut && u.Cut == CutEnd:
		c.head(status, contentType)
		c.complete = c.write(body[:len(body)/2])
	case u.Action == ActionCut, u.Action == ActionStall:
		c.w.Header().Set("Content-Length", intText(len(body)))
		c.head(status, contentType)
		if !out.write(body[:len(body)/2]) {
			return
		}
		if u.Action == ActionStall {
			c.silence(out.gone())
		} else if c.pause(settle) {
			c.cut(u.Cut)
		}
	default:
		c.send(status, contentType, body)
	}
}
