package gateway

import (
	"context"
	"sync"
	"time"
)

// timeoutError is the cause of a context that a watchdog cancelled.
type timeoutError struct{ what string }

func (e *timeoutError) Error() string { return e.what }

// watchdog bounds the waits of one attempt: for the answer's head, for the
// first content, and for each further byte. It cancels the attempt's context
// with an *timeoutError. One timer serves them all: moving a limit further away
// only notes it, and the timer looks again when it fires.
type watchdog struct {
	cancel context.CancelCauseFunc
	start  time.Time
	total  time.Duration // bound of the whole attempt; 0 is none

	mu    sync.Mutex
	due   time.Duration // after start; 0 is never
	wake  time.Duration // when the timer looks; 0 is not set
	what  *string       // names the limit in the failure
	timer *time.Timer
	// late is called as well when the total passes; nil is nothing.
	late func()
}

func newWatchdog(cancel context.CancelCauseFunc, total time.Duration) *watchdog {
	return &watchdog{cancel: cancel, start: time.Now(), total: total}
}

// elapsed is the time since the attempt's start.
func (w *watchdog) elapsed() time.Duration { return time.Since(w.start) }

// expect says that something must happen within d; zero is no bound.
func (w *watchdog) expect(d time.Duration, what *string) {
	now := w.elapsed()
	if d == 0 {
		w.until(now, 0, what)
		return
	}
	w.until(now, now+d, what)
}

// until is expect with a time after the attempt's start; now is elapsed().
func (w *watchdog) until(now, due time.Duration, what *string) {
	if w.total > 0 && (due == 0 || due > w.total) {
		due, what = w.total, &whatTotal
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due, w.what = due, what
	if due == 0 || w.wake != 0 && w.wake <= due {
		return
	}
	w.wake = due
	if w.timer == nil {
		w.timer = time.AfterFunc(due-now, w.fire)
	} else {
		w.timer.Reset(due - now)
	}
}

func (w *watchdog) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake = 0
	if w.due == 0 {
		return
	}
	if left := w.due - w.elapsed(); left > 0 {
		w.wake = w.due
		w.timer.Reset(left)
		return
	}
	w.cancel(&timeoutError{*w.what})
	if w.late != nil && w.what == &whatTotal {
		w.late()
	}
}

// onTotal sets what else happens when the total passes, if there is one.
func (w *watchdog) onTotal(late func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = late
}

// stop ends the watch.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due = 0
	if w.timer != nil {
		w.timer.Stop()
	}
}

// The limits by name; variables, since a watchdog keeps their address.
//
//nolint:gochecknoglobals // constants that have an address
var (
	whatHeader  = "no answer came within timeouts.responseHeaderMs"
	whatIdle    = "nothing came within timeouts.streamIdleMs"
	whatContent = "no content came within timeouts.responseHeaderMs plus timeouts.streamIdleMs"
	whatTotal   = "the attempt took longer than timeouts.totalMs"
	whatElapsed = "no content came within llmProxy.retry.maxElapsedMs"
	whatClient  = "no content came within the time that the client waits (x-stainless-timeout)"
	whatAfter   = "the answer was complete"
)
