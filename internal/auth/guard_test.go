package auth

import (
	"net/netip"
	"testing"
	"time"
)

// RQ-2: twenty failures in a minute, wherever the minute begins.
func TestGuard_RQ_2_twenty_in_any_minute(t *testing.T) {
	var g Guard
	addr, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	start := time.Unix(1_800_000_000, 0)
	fail := func(at time.Duration, n int, want time.Duration) {
		t.Helper()
		for i := range n {
			if wait := g.Fail(addr, start.Add(at)); wait != want {
				t.Fatalf("failure %d after %v: wait %v, want %v", i, at, wait, want)
			}
		}
	}
	fail(0, 1, 0)
	fail(57*time.Second, 19, 0)
	fail(59*time.Second, 3, time.Second)
	fail(60500*time.Millisecond, 1, 0) // the first one is over
	fail(60500*time.Millisecond, 5, 56500*time.Millisecond)
	fail(117*time.Second, 19, 0)
	fail(117*time.Second, 1, 3500*time.Millisecond)
	if wait := g.Fail(other, start.Add(117*time.Second)); wait != 0 {
		t.Errorf("another address waits %v", wait)
	}
	g.Fail(other, start.Add(10*time.Minute))
	if n := len(g.addrs); n != 1 {
		t.Errorf("%d addresses are remembered, want the one that failed last", n)
	}
}

// One host owns a whole /64, and an IPv4 address has two spellings.
func TestGuard_RQ_2_counts_hosts(t *testing.T) {
	for name, pair := range map[string][2]string{"v6": {"2001:db8::1", "2001:db8::ffff:1"}, "v4": {"192.0.2.1", "::ffff:192.0.2.1"}} {
		var g Guard
		now := time.Unix(1_800_000_000, 0)
		for i := range maxFailures {
			g.Fail(netip.MustParseAddr(pair[i%2]), now)
		}
		if g.Fail(netip.MustParseAddr(pair[0]), now) == 0 || g.Fail(netip.MustParseAddr(pair[1]), now) == 0 {
			t.Errorf("%s: two spellings of a host are counted apart", name)
		}
	}
}
