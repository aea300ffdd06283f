package gateway

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// stallLimit is how long a client may take nothing of what is sent to it:
	// without a limit one that never reads holds its request for ever.
	stallLimit = 120 * time.Second
	// writePiece is what is written at once, so that a slow client makes
	// progress within the limit.
	writePiece = 256 << 10
	// lastMoment is what a client has to take the end of an answer whose time is
	// over.
	lastMoment = time.Second
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
	w  http.ResponseWriter
	rc http.ResponseController
	// ping is sent after every period of silence; empty where the format has
	// no keep-alive.
	ping   []byte
	period time.Duration
	// head prepares the headers of an early 200.
	head func(http.Header)
	// broken is called once when a keep-alive cannot be written.
	broken func(error)
	// hurried: the time for the whole answer is over.
	hurried atomic.Bool

	mu    sync.Mutex
	state writerState
	sent  bool      // the status line
	last  time.Time // of the last write
	timer *time.Timer
	err   error // of the first failed write
	// stall is stallLimit, or 0 if it can't be set; bounded is when it was set.
	stall   time.Duration
	bounded time.Time
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
	c := &clientWriter{w: w, ping: ping, period: period, head: head, broken: broken, rc: *http.NewResponseController(w), stall: stallLimit}
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
	for len(p) > 0 && c.err == nil {
		n := min(len(p), writePiece)
		c.bound()
		_, c.err = c.w.Write(p[:n])
		p = p[n:]
	}
	if c.err != nil {
		return
	}
	if err := c.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		c.err = err
	}
	if c.timer != nil {
		c.last = time.Now()
	}
}

// bound sets the time by which the client must have taken something. It is
// not set anew for every write, since that costs more than a small write
// does. The server lifts it after the answer.
func (c *clientWriter) bound() {
	now := time.Now()
	if c.stall <= 0 || now.Sub(c.bounded) < c.stall/100 || c.hurried.Load() {
		return
	}
	c.bounded = now
	if c.rc.SetWriteDeadline(now.Add(c.stall)) != nil {
		c.stall = 0 // a writer without one is a test's
	}
	if c.hurried.Load() { // meanwhile, from the watchdog's goroutine
		_ = c.rc.SetWriteDeadline(now.Add(lastMoment))
	}
}

// hurry ends a write that the client blocks, soon. It takes no lock: the
// blocked write holds it.
func (c *clientWriter) hurry() {
	c.hurried.Store(true)
	_ = c.rc.SetWriteDeadline(time.Now().Add(lastMoment)) // a writer without one is a test's
}

// fail ends the answer. In state held real writes it with a status of its
// own; after that the event that inStream returns is the last that is sent.
func (c *clientWriter) fail(real func(), inStream func() []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.state {
	case held:
		c.state, c.sent = ended, true
		c.bound()
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
