package state

import (
	"slices"
	"time"
)

const (
	maxMinutes    = 1440 // the longest window of lowest-latency
	reportMinutes = 15   // what health pages show, and what is kept at least
	maxMerged     = 4    // windows of one series that are remembered as sums
)

// series is the latency of one deployment, minute by minute. Its deployment's
// lock guards it.
type series struct {
	minute  int64 // of current
	current histogram
	past    []pastMinute // oldest first
	merged  []merged
}

type pastMinute struct {
	minute int64
	counts packed
}

// merged is the sum of the past minutes of a window as of one minute, so that a
// look adds only the minute that runs.
type merged struct {
	at, minutes int64
	sum         histogram
}

// record counts one duration.
func (s *series) record(minute, keep int64, d time.Duration) {
	if minute > s.minute { // never back, even if the clock is
		s.turn(minute, keep)
	}
	s.current.n++
	s.current.counts[bucket(d)]++
}

// turn begins a minute.
func (s *series) turn(minute, keep int64) {
	if s.current.n > 0 {
		s.past = append(s.past, pastMinute{s.minute, s.current.pack()})
		s.current = histogram{}
	}
	old := 0
	for old < len(s.past) && s.past[old].minute < minute-keep {
		old++
	}
	s.past = slices.Delete(s.past, 0, old)
	s.minute = minute
	s.merged = s.merged[:0]
}

// p95 is the 95th percentile of a window of whole minutes and the one that
// runs, and how many there are in it.
func (s *series) p95(at, minutes int64) (p95 time.Duration, n int) {
	if s.minute < at-minutes {
		return 0, 0
	}
	sum := *s.window(at, minutes)
	sum.merge(&s.current)
	return sum.quantile(0.95), sum.n
}

// window is the sum of the past minutes of a window.
func (s *series) window(at, minutes int64) *histogram {
	for i := range s.merged {
		if m := &s.merged[i]; m.at == at && m.minutes == minutes {
			return &m.sum
		}
	}
	s.merged = slices.DeleteFunc(s.merged, func(m merged) bool { return m.at != at })
	if len(s.merged) >= maxMerged {
		s.merged = s.merged[:0]
	}
	s.merged = append(s.merged, merged{at: at, minutes: minutes})
	sum := &s.merged[len(s.merged)-1].sum
	s.addPast(sum, at, minutes)
	return sum
}

func (s *series) addPast(sum *histogram, at, minutes int64) {
	for i := range s.past {
		if s.past[i].minute >= at-minutes {
			sum.unpack(s.past[i].counts)
		}
	}
}

// addTo adds all of a window to a sum.
func (s *series) addTo(sum *histogram, at, minutes int64) {
	if s.minute >= at-minutes {
		s.addPast(sum, at, minutes)
		sum.merge(&s.current)
	}
}
