package stats

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/llm"
)

// topNames is how many models and providers an answer has.
const topNames = 10

// Options make a Stats.
type Options struct {
	// Price is what a request cost; known is false if no price is. It is called
	// one at a time and must be quick. nil knows none.
	Price func(provider, wireModel string, u *llm.Usage) (usd float64, known bool)
	Now   func() time.Time
}

// Stats counts requests. It is safe for concurrent use.
type Stats struct {
	opt Options

	mu    sync.Mutex
	since time.Time
	// minute is the one that runs; when it is over it goes into the rings.
	minute slot
	rings  []ring
}

// ring are the slots of a window.
type ring struct {
	name  string
	width int64 // seconds
	slots []slot
}

// New makes a Stats with nothing counted.
func New(o Options) *Stats {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Price == nil {
		o.Price = func(string, string, *llm.Usage) (float64, bool) { return 0, false }
	}
	return &Stats{opt: o, since: o.Now().UTC(), rings: []ring{
		{"1h", 60, make([]slot, 60)},
		{"24h", 15 * 60, make([]slot, 96)},
		{"7d", 2 * 60 * 60, make([]slot, 84)},
	}}
}

// Longest is the longest window.
const Longest = 7 * 24 * time.Hour

// slot is the slot of a time.
func (r *ring) slot(at int64) *slot {
	start := at - at%r.width
	s := &r.slots[start/r.width%int64(len(r.slots))]
	if s.start != start {
		s.begin(start)
	}
	return s
}

// covers tells whether a time is in the window.
func (r *ring) covers(at, now int64) bool {
	return at >= now-now%r.width-int64(len(r.slots)-1)*r.width && at <= now
}

// Add counts a request that just ended.
func (s *Stats) Add(r *audit.Record) {
	now := s.opt.Now().Unix()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(now)
	cost, priced := s.price(r)
	s.minute.count(r, cost, priced)
}

func (s *Stats) price(r *audit.Record) (float64, bool) {
	if r.Usage == (llm.Usage{}) {
		return 0, true
	}
	return s.opt.Price(r.Provider, r.WireModel, &r.Usage)
}

// turn puts the minute away when it is over.
func (s *Stats) turn(now int64) {
	start := now - now%60
	if s.minute.start == start {
		return
	}
	if s.minute.sums.Requests > 0 {
		for i := range s.rings {
			if r := &s.rings[i]; r.covers(s.minute.start, max(now, s.minute.start)) {
				r.slot(s.minute.start).merge(&s.minute)
			}
		}
	}
	s.minute.begin(start)
}

// AddPast counts a request that ended before this process started.
func (s *Stats) AddPast(r *audit.Record) {
	now, at := s.opt.Now().Unix(), r.Time.Unix()
	s.mu.Lock()
	defer s.mu.Unlock()
	cost, priced := s.price(r)
	for i := range s.rings {
		if ring := &s.rings[i]; ring.covers(at, now) {
			ring.slot(at).count(r, cost, priced)
		}
	}
}

// WholeSince notes that everything since a time is counted.
func (s *Stats) WholeSince(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = t.UTC()
}

// Windows are the names of the windows.
func Windows() []string { return []string{"1h", "24h", "7d"} }

// Answer shows a window: one of Windows.
func (s *Stats) Answer(window string) *Answer {
	at := s.opt.Now().UTC()
	now := at.Unix()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(now)
	r := &s.rings[0]
	for i := range s.rings {
		if s.rings[i].name == window {
			r = &s.rings[i]
		}
	}
	last := now - now%r.width
	first := last - int64(len(r.slots)-1)*r.width
	out := &Answer{
		Window: r.name, From: time.Unix(first, 0).UTC(), To: at, Since: s.since, BucketSeconds: int(r.width),
		Series: make([]Bucket, 0, len(r.slots)),
	}
	var all slot
	for start := first; start <= last; start += r.width {
		var one slot
		if have := &r.slots[start/r.width%int64(len(r.slots))]; have.start == start {
			one.merge(have)
		}
		if start == last {
			one.merge(&s.minute)
		}
		all.merge(&one)
		out.Series = append(out.Series, Bucket{Time: time.Unix(start, 0).UTC(), Figures: one.figures()})
	}
	out.Totals, out.Models, out.Providers = all.figures(), top(all.models), top(all.providers)
	return out
}

// top are the names with the most requests.
func top(names map[string]*share) []Share {
	out := make([]Share, 0, len(names))
	for name, n := range names {
		out = append(out, Share{Name: name, Requests: n.requests, Errors: n.errors, Tokens: n.tokens, CostUSD: n.cost})
	}
	slices.SortFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Name, b.Name))
	})
	return out[:min(len(out), topNames)]
}
