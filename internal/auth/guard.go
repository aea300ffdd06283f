package auth

import (
	"net/netip"
	"sync"
	"time"
)

// Limits of the Guard.
const (
	// maxFailures is how many wrong keys one address may send in a window.
	maxFailures = 20
	window      = time.Minute
	// maxAddrs bounds the memory that strangers can take.
	maxAddrs = 50_000
)

// Guard slows down guessing: after maxFailures failures in a minute from one
// address its further failures are told to wait. Valid keys from there still
// pass, since one address can be a whole office. It is touched only on
// failures, so it costs served requests nothing.
type Guard struct {
	mu     sync.Mutex
	start  time.Time // of the window
	counts map[netip.Addr]int
}

// Fail notes a failure and returns how long the address must wait, or 0.
func (g *Guard) Fail(addr netip.Addr, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.counts == nil || now.Sub(g.start) >= window {
		g.start, g.counts = now, map[netip.Addr]int{}
	}
	if addr.Is6() && !addr.Is4In6() {
		p, _ := addr.Prefix(64) // one host owns a whole /64
		addr = p.Addr()
	}
	addr = addr.Unmap()
	if _, known := g.counts[addr]; !known && len(g.counts) >= maxAddrs {
		return 0
	}
	g.counts[addr]++
	if g.counts[addr] <= maxFailures {
		return 0
	}
	return window - now.Sub(g.start)
}
