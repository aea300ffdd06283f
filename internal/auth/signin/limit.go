package signin

import (
	"hash/maphash"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Limits of guessing, in a window of time.
const (
	limitWindow   = 10 * time.Minute
	limitPerName  = 10
	limitPerAddr  = 60 // one address can be a whole office
	limitCounters = 8192
)

// limiter counts attempts by name and by address. Its tables have a fixed size:
// names and addresses are hashed with a seed that nobody knows, and those that
// meet share a counter. So strangers can neither take memory nor push a counter
// out.
type limiter struct {
	seed  maphash.Seed
	mu    sync.Mutex
	names [limitCounters]counter
	addrs [limitCounters]counter
}

type counter struct {
	start time.Time // of the window
	n     int
}

func newLimiter() *limiter { return &limiter{seed: maphash.MakeSeed()} }

// begin counts an attempt before it is made, so that many at once are no way
// around. If it may not be made it says how long to wait.
func (l *limiter) begin(name string, addr netip.Addr, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	byName, byAddr := l.counters(name, addr)
	if wait := max(byName.wait(now, limitPerName), byAddr.wait(now, limitPerAddr)); wait > 0 {
		return wait
	}
	byName.n++
	byAddr.n++
	return 0
}

// forgive takes an attempt back that was no wrong guess.
func (l *limiter) forgive(name string, addr netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	byName, byAddr := l.counters(name, addr)
	byName.n = max(byName.n-1, 0)
	byAddr.n = max(byAddr.n-1, 0)
}

func (l *limiter) counters(name string, addr netip.Addr) (byName, byAddr *counter) {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() { // one host owns a whole /64
		p, _ := addr.Prefix(64)
		addr = p.Addr()
	}
	return &l.names[maphash.String(l.seed, strings.ToLower(name))%limitCounters], &l.addrs[maphash.Comparable(l.seed, addr)%limitCounters]
}

// wait is how long the window still is, if it is used up.
func (c *counter) wait(now time.Time, most int) time.Duration {
	if now.Sub(c.start) >= limitWindow || now.Before(c.start) {
		*c = counter{start: now}
	}
	if c.n < most {
		return 0
	}
	return limitWindow - now.Sub(c.start)
}
