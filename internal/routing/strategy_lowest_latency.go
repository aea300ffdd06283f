package routing

import (
	"strconv"
	"time"
)

// lowestLatency starts on the measured member with the lowest P95 of late, and
// sends a share of new sessions to members that are not measured yet.
type lowestLatency struct{ options StrategyOptions }

func (lowestLatency) ID() string { return "lowest-latency" }

func (lowestLatency) Affinity() Affinity { return AffinityRemembered }

// sampled is an option and what was measured of it.
type sampled struct {
	index int
	p95   time.Duration
	n     int
}

func (s lowestLatency) Start(options []Option, c *Choice) (int, string) {
	need := max(s.options.MinRequests, 1)
	best := sampled{index: -1}
	var buf [16]sampled
	rest := buf[:0] // not measured
	for i := range options {
		o := &options[i]
		p95, n := c.View.Latency(o.Provider.ID, o.WireModel, c.Query.Stream, s.options.Window)
		if p95 <= 0 {
			n = 0 // requests that took no time are counters without samples: no reason to be first
		}
		switch {
		case n < need:
			rest = append(rest, sampled{i, p95, max(n, 0)})
		case best.index < 0 || p95 < best.p95:
			best = sampled{i, p95, n}
		}
	}
	switch {
	case best.index < 0:
		return 0, "first in order: none is measured"
	// A high number explores, so that dice which always roll 0 show the rule
	// and not the exception.
	case len(rest) > 0 && unit(c.Draw()) > 1-s.options.Exploration:
		r := &rest[c.Turn()%uint64(len(rest))]
		return r.index, exploresText(r.n, need)
	}
	return best.index, p95Text(best.p95, best.n)
}

func exploresText(n, need int) string {
	var buf [64]byte
	b := strconv.AppendInt(append(buf[:0], "explores: "...), int64(n), 10)
	b = strconv.AppendInt(append(b, " of "...), int64(need), 10)
	return string(append(b, " requests measured"...))
}

func p95Text(p95 time.Duration, n int) string {
	var buf [64]byte
	if p95 > time.Millisecond {
		p95 = p95.Round(time.Millisecond)
	}
	b := append(append(buf[:0], "P95 "...), p95.String()...)
	b = strconv.AppendInt(append(b, " of "...), int64(n), 10)
	return string(append(b, " requests"...))
}
