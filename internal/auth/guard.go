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
	mu    sync.Mutex
	addrs map[netip.Addr]*failures
	swept time.Time
}

// failures are the last ones of an address.
type failures struct {
	times [maxFailures]int64 // a ring; nanoseconds since 1970
	next  int
}

// Fail notes a failure and returns how long the address must wait, or 0. A
// failure that is told to wait is not noted: it prolongs nothing.
func (g *Guard) Fail(addr netip.Addr, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if addr.Is6() && !addr.Is4In6() {
		p, _ := addr.Prefix(64) // one host owns a whole /64
		addr = p.Addr()
	}
	addr = addr.Unmap()
	g.sweep(now)
	f := g.addrs[addr]
	if f == nil {
		if len(g.addrs) >= maxAddrs {
			return 0
		}
		f = &failures{}
		g.addrs[addr] = f
	}
	oldest := &f.times[f.next]
	if wait := window - time.Duration(now.UnixNano()-*oldest); *oldest != 0 && wait > 0 {
		return wait
	}
	*oldest = now.UnixNano()
	f.next = (f.next + 1) % maxFailures
	return 0
}

// sweep forgets, once in a window, the addresses that did not fail in one.
func (g *Guard) sweep(now time.Time) {
	if g.addrs == nil {
		g.addrs, g.swept = map[netip.Addr]*failures{}, now
	}
	if now.Sub(g.swept) < window {
		return
	}
	g.swept = now
	for addr, f := range g.addrs {
		if last := f.times[(f.next+maxFailures-1)%maxFailures]; now.UnixNano()-last >= int64(window) {
			delete(g.addrs, addr)
		}
	}
}
