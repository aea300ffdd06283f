package state

import "time"

// How a provider that came back gets its traffic back (BY-13).
const (
	rampStep      = 2 // requests at once, and more after each success
	rampSuccesses = 20
	rampFor       = time.Minute
)

// ramp is the recovery of a provider: what failed under all of its traffic may
// fail again if all of it comes back at once. One client that sends one
// request after the other is never above the limit.
type ramp struct {
	until     time.Time // zero: none
	successes int
}

// on tells whether a recovery began and did not end by successes.
func (r *ramp) on() bool { return !r.until.IsZero() }

func (r *ramp) start(now time.Time) { *r = ramp{until: now.Add(rampFor)} }

func (r *ramp) success() {
	if !r.on() {
		return
	}
	if r.successes++; r.successes >= rampSuccesses {
		*r = ramp{}
	}
}

// limit is how many requests may run at once; 0 is no limit.
func (r *ramp) limit(now time.Time) int {
	if !r.until.After(now) {
		return 0
	}
	return rampStep + rampStep*r.successes
}
