package gateway

import (
	"context"
	"sync/atomic"
	"time"
)

// errTimeout is the cause of a context that a watchdog cancelled.
type errTimeout struct{ what string }

func (e *errTimeout) Error() string { return e.what }

// watchdog bounds the waits of one attempt: for the answer's head, for the
// first content, and for each further byte. It cancels the attempt's context
// with an *errTimeout. One timer serves them all; expect only stores when it
// is due, and the timer looks when it fires.
type watchdog struct {
	cancel context.CancelCauseFunc
	start  time.Time
	due    atomic.Int64 // nanoseconds after start; 0 is never
	what   atomic.Pointer[string]
	total  time.Duration // bound of the whole attempt; 0 is none
	timer  *time.Timer
}

func newWatchdog(cancel context.CancelCauseFunc, total time.Duration) *watchdog {
	d := &watchdog{cancel: cancel, start: time.Now(), total: total}
	return d
}

// expect says that something must happen within d; zero is no bound. what
// names the limit in the failure.
func (w *watchdog) expect(d time.Duration, what *string) {
	due := time.Since(w.start) + d
	if d == 0 {
		due = 0
	}
	w.until(due, what)
}

// until is expect with a time after the attempt's start.
func (w *watchdog) until(due time.Duration, what *string) {
	if w.total > 0 && (due == 0 || due > w.total) {
		due, what = w.total, &whatTotal
	}
	w.what.Store(what)
	before := time.Duration(w.due.Swap(int64(due)))
	switch {
	case due == 0:
	case w.timer == nil:
		w.timer = time.AfterFunc(due-time.Since(w.start), w.fire)
	case before == 0 || due < before:
		w.timer.Reset(due - time.Since(w.start)) // sooner than it would look
	}
}

func (w *watchdog) fire() {
	due := time.Duration(w.due.Load())
	if due == 0 {
		return
	}
	if left := due - time.Since(w.start); left > 0 {
		w.timer.Reset(left)
		return
	}
	w.cancel(&errTimeout{*w.what.Load()})
}

// stop ends the watch.
func (w *watchdog) stop() {
	w.due.Store(0)
	if w.timer != nil {
		w.timer.Stop()
	}
}

// The limits by name.
var (
	whatHeader  = "no answer came within timeouts.responseHeaderMs"
	whatIdle    = "nothing came within timeouts.streamIdleMs"
	whatContent = "no content came within timeouts.responseHeaderMs plus timeouts.streamIdleMs"
	whatTotal   = "the attempt took longer than timeouts.totalMs"
	whatElapsed = "no content came within llmProxy.retry.maxElapsedMs"
	whatAfter   = "the answer was complete"
)
