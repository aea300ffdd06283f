package gateway

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// clientWriter is the one writer towards the client of a request. Dispatch and
// relay call it from the request's goroutine, its timer from another; the
// mutex keeps their bytes apart.
//
// States:
//
//	held       nothing was sent; a failure can still have a real status
//	keepAlive  200 and keep-alives were sent, no content; failover goes on,
//	           and a final failure is an event in the stream
//	content    content was sent; only this attempt may send more
//	ended      nothing more is sent
//
// The timer is armed only for streams. It is not reset on every write: it
// looks at the last write when it fires and sleeps for what is left.
type clientWriter struct {
	w     http.ResponseWriter
	flush func()
	// ping is sent after every period of silence; empty where the format has
	// no keep-alive.
	ping   []byte
	period time.Duration
	// head prepares the headers of an early 200.
	head func(http.Header)
	// broken is called once when a keep-alive cannot be written.
	broken func(error)

	mu    sync.Mutex
	state writerState
	sent  bool      // the status line
	last  time.Time // of the last write
	timer *time.Timer
	err   error // of the first failed write
}

type writerState uint8

const (
	held writerState = iota
	keepAlive
	content
	ended
)

// errEnded is the answer to a write after the end.
var errEnded = errors.New("the answer has ended")

// newClientWriter makes a writer in state held. With a ping it starts to
// count silence now.
func newClientWriter(w http.ResponseWriter, ping []byte, period time.Duration, head func(http.Header), broken func(error)) *clientWriter {
	c := &clientWriter{w: w, ping: ping, period: period, head: head, broken: broken, flush: func() {}}
	if f, ok := w.(http.Flusher); ok {
		c.flush = f.Flush
	}
	if len(ping) > 0 {
		c.mu.Lock() // a tick must find the timer set
		defer c.mu.Unlock()
		c.last = time.Now()
		c.timer = time.AfterFunc(period, c.tick)
	}
	return c
}

// tick runs when the timer fires.
func (c *clientWriter) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == ended || c.err != nil {
		return
	}
	if left := c.period - time.Since(c.last); left > 0 {
		c.timer.Reset(left)
		return
	}
	if c.state == held {
		c.head(c.w.Header())
		c.w.WriteHeader(http.StatusOK)
		c.state, c.sent = keepAlive, true
	}
	if c.write(c.ping); c.err != nil {
		c.broken(c.err)
		return
	}
	c.timer.Reset(c.period)
}

// begin enters state content: the caller commits to one attempt. In state
// held it sends the status with the headers that head sets; after an early
// 200 the headers are gone and head is not called. It reports whether the
// headers were sent now.
func (c *clientWriter) begin(status int, head func(http.Header)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.state == held
	if first {
		head(c.w.Header())
		c.w.WriteHeader(status)
		c.sent = true
	}
	if c.state != ended {
		c.state = content
	}
	return first
}

// send writes bytes of the answer and flushes them.
func (c *clientWriter) send(p []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == ended {
		return errEnded
	}
	c.write(p)
	return c.err
}

// write is called with the mutex held.
func (c *clientWriter) write(p []byte) {
	if c.err != nil {
		return
	}
	if _, c.err = c.w.Write(p); c.err == nil {
		c.flush()
	}
	if c.timer != nil {
		c.last = time.Now()
	}
}

// fail ends the answer. In state held real writes it with a status of its
// own; after that the event that inStream returns is the last that is sent.
func (c *clientWriter) fail(real func(), inStream func() []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.state {
	case held:
		c.state, c.sent = ended, true
		real()
	case keepAlive, content:
		c.state = ended
		c.write(inStream())
	case ended:
	}
	c.stop()
}

// end ends the answer; the ResponseWriter is not used after it returns.
func (c *clientWriter) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = ended
	c.stop()
}

func (c *clientWriter) stop() {
	if c.timer != nil {
		c.timer.Stop()
	}
}

// untouched tells whether nothing was sent yet.
func (c *clientWriter) untouched() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.sent
}
