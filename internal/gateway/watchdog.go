package gateway

import (
	"context"
	"slices"
	"sync"
	"time"
)

// timeoutError is the cause of a context that a watchdog cancelled.
type timeoutError struct{ what string }

func (e *timeoutError) Error() string { return e.what }

// watchdog is the context of one attempt, and bounds its waits: for the
// answer's head, for the first content, and for each further byte. It ends with
// a *timeoutError when a limit passes, and with the parent's cause when that
// ends. One timer serves all limits: moving one further away only notes it, and
// the timer looks again when it fires.
//
// A context of the standard library beside a timer does the same for three more
// allocations and a map entry in every request (bench/hotpath).
type watchdog struct {
	context.Context // the request's; its values and its deadline are the attempt's
	unhook          func() bool
	start           time.Time
	total           time.Duration // bound of the whole attempt; 0 is none

	mu    sync.Mutex
	due   time.Duration // after start; 0 is never
	wake  time.Duration // when the timer looks; 0 is not set
	what  *string       // names the limit in the failure
	timer *time.Timer
	// late is called as well when the total passes; nil is nothing.
	late func()

	err   error         // why the attempt is over; nil while it runs
	done  chan struct{} // made when somebody asks for it
	hooks []*hook
	first [1]*hook // of hooks: there is mostly one
}

// hook is a function that waits for the end.
type hook struct {
	dog *watchdog
	f   func()
}

// newWatchdog begins an attempt. Whoever does calls end.
func newWatchdog(parent context.Context, total time.Duration) *watchdog {
	w := &watchdog{Context: parent, start: time.Now(), total: total}
	w.hooks = w.first[:0]
	w.unhook = context.AfterFunc(parent, w.abandoned)
	return w
}

// abandoned: the request is over.
func (w *watchdog) abandoned() { w.over(context.Cause(w.Context)) }

// end ends the attempt, if nothing has yet.
func (w *watchdog) end() {
	w.unhook()
	w.stop()
	w.over(context.Canceled)
}

func (w *watchdog) over(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.overLocked(why)
}

func (w *watchdog) overLocked(why error) {
	if w.err != nil {
		return
	}
	w.err = why
	if w.done != nil {
		close(w.done)
	}
	for _, h := range w.hooks {
		go h.f()
	}
	w.hooks = nil
}

// Err implements context.Context. It is the cause as well, so that
// context.Cause finds it.
func (w *watchdog) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.Context.Err() != nil {
		w.overLocked(context.Cause(w.Context)) // before abandoned gets to run
	}
	return w.err
}

// Done implements context.Context.
func (w *watchdog) Done() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done == nil {
		w.done = make(chan struct{})
		if w.err != nil {
			close(w.done)
		}
	}
	return w.done
}

// AfterFunc calls f in a goroutine of its own once the attempt is over, as
// context.AfterFunc does, which uses it.
func (w *watchdog) AfterFunc(f func()) (stop func() bool) {
	h := &hook{w, f}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		go f()
	} else {
		w.hooks = append(w.hooks, h)
	}
	return h.stop
}

// stop takes the hook back; it answers false if the function was called.
func (h *hook) stop() bool {
	h.dog.mu.Lock()
	defer h.dog.mu.Unlock()
	i := slices.Index(h.dog.hooks, h)
	if i >= 0 {
		h.dog.hooks = slices.Delete(h.dog.hooks, i, i+1)
	}
	return i >= 0
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
	w.overLocked(&timeoutError{*w.what})
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

// stop ends the watch; the attempt goes on.
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
