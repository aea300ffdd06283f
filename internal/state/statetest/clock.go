package statetest

import (
	"sync"
	"time"
)

// Clock is a clock that moves when it is told to.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts a clock at some moment in a minute.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 12, 1, 9, 30, 20, 123456789, time.UTC)}
}

// Now is the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
