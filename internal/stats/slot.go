package stats

import (
	"math"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
)

const (
	// maxNames bounds the models and providers that a slot tells apart.
	maxNames = 64
	// others is what the rest counts as.
	others = "(others)"
)

// slot are the counts of one span of time.
type slot struct {
	start     int64 // in seconds since 1970; 0 is unused
	sums      Figures
	durations [durations]uint32
	models    map[string]*share
	providers map[string]*share
}

// share are the counts of one name.
type share struct {
	requests, errors, tokens int64
	cost                     float64
}

func (s *share) add(o *share) {
	s.requests += o.requests
	s.errors += o.errors
	s.tokens += o.tokens
	s.cost += o.cost
}

// begin makes a slot an empty one of another time. It keeps its maps.
func (s *slot) begin(start int64) {
	clear(s.models)
	clear(s.providers)
	*s = slot{start: start, models: s.models, providers: s.providers}
}

// count adds one request.
func (s *slot) count(r *audit.Record, cost float64, priced bool) {
	f := &s.sums
	f.Requests++
	one := share{requests: 1}
	switch r.Outcome {
	case audit.OutcomeError:
		f.Errors++
		one.errors = 1
	case audit.OutcomeDeny:
		f.Refusals++
	case audit.OutcomeCanceled:
		f.Canceled++
	case audit.OutcomeAllow:
		s.durations[durationIndex(time.Duration(r.Duration))]++
	}
	if r.FailedOver() {
		f.Failovers++
	}
	u := &r.Usage
	one.tokens = u.Input + u.CachedRead + u.CachedWrite + u.Output
	f.Tokens.add(Tokens{u.Input, u.CachedRead, u.CachedWrite, u.Output})
	switch {
	case one.tokens == 0:
	case priced:
		f.CostUSD += cost
		one.cost = cost
	default:
		f.Unpriced++
	}
	if r.RouteName != "" { // a name that nobody serves is not a model
		named(&s.models, r.RequestedModel, &one)
	}
	if r.Provider != "" {
		named(&s.providers, r.Provider, &one)
	}
}

// merge adds another slot.
func (s *slot) merge(o *slot) {
	f := &s.sums
	f.Requests += o.sums.Requests
	f.Errors += o.sums.Errors
	f.Refusals += o.sums.Refusals
	f.Canceled += o.sums.Canceled
	f.Failovers += o.sums.Failovers
	f.Unpriced += o.sums.Unpriced
	f.CostUSD += o.sums.CostUSD
	f.Tokens.add(o.sums.Tokens)
	for i, n := range o.durations {
		s.durations[i] += n
	}
	for name, n := range o.models {
		named(&s.models, name, n)
	}
	for name, n := range o.providers {
		named(&s.providers, name, n)
	}
}

// figures are the counts with their percentiles.
func (s *slot) figures() Figures {
	f := s.sums
	f.P50Ms, f.P95Ms = s.percentile(0.50), s.percentile(0.95)
	return f
}

func (t *Tokens) add(o Tokens) {
	t.Input += o.Input
	t.CachedRead += o.CachedRead
	t.CachedWrite += o.CachedWrite
	t.Output += o.Output
}

// named adds to the counts of a name.
func named(to *map[string]*share, name string, n *share) {
	s := (*to)[name]
	if s == nil {
		if *to == nil {
			*to = map[string]*share{}
		}
		if name = strings.Clone(name); len(*to) >= maxNames && name != others {
			named(to, others, n)
			return
		}
		s = &share{}
		(*to)[name] = s
	}
	s.add(n)
}

// Durations are counted in steps of a quarter of a power of two, from 1 ms to
// 17 minutes.
const (
	durations   = 81
	perDoubling = 4
)

func durationIndex(d time.Duration) int {
	ms := float64(d) / float64(time.Millisecond)
	if ms <= 1 {
		return 0
	}
	return min(int(math.Log2(ms)*perDoubling)+1, durations-1)
}

// percentile is the middle of the step that a share of the requests is in or
// below.
func (s *slot) percentile(p float64) float64 {
	all := uint64(0)
	for _, n := range s.durations {
		all += uint64(n)
	}
	if all == 0 {
		return 0
	}
	rank := uint64(math.Ceil(p * float64(all)))
	for i, n := range s.durations {
		if rank <= uint64(n) {
			return math.Round(100*math.Exp2((float64(i)-0.5)/perDoubling)) / 100
		}
		rank -= uint64(n)
	}
	return 0
}
