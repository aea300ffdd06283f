// Package bar holds the performance bar: which figures count, against what,
// and how a results file is judged by them.
//
// A ratio is taken within each round, of two runs that were seconds apart, and
// its median over the rounds counts. The machines that this runs on drift by a
// third within an hour, which would be in a quotient of two medians.
package bar

import (
	"cmp"
	"slices"

	"github.com/interlock-gateway/interlock/bench/internal/hist"
	"github.com/interlock-gateway/interlock/bench/internal/suite"
)

// The names of the targets in suite.json.
const (
	direct = "direct"
	floor  = "floor"
	nginx  = "nginx"
	bare   = "bare"
	routes = "routes"
)

// Work is one row of the bar.
type Work struct {
	Name     string
	Scenario string
	// Value takes the figure out of a record; ok is false if it has none.
	Value func(*suite.Record) (v float64, ok bool)
	// OverDirect: what counts is the difference to the mock without anything
	// between.
	OverDirect bool
	// Subject is judged, against Base; empty are routes and floor.
	Subject, Base string
	// MaxRatio is the most that the ratio may be, and Max the figure itself; 0
	// is no bar.
	MaxRatio, Max float64
	// Unit is of Max.
	Unit string
}

func (w *Work) subject() string { return cmp.Or(w.Subject, routes) }
func (w *Work) base() string    { return cmp.Or(w.Base, floor) }

// Works are the rows, in the order of the page.
func Works() []Work {
	const small, tiny = "c16 0.5 KB", "1 connection"
	return []Work{
		{Name: "CPU µs per request, 0.5 KB, 16 connections", Scenario: small, Value: cpuPerRequest, MaxRatio: 1.5},
		{Name: "the same, with what is put off until after the load", Scenario: small, Value: cpuWhole},
		{Name: "CPU µs per request, 10 KB", Scenario: "c16 10 KB", Value: cpuPerRequest, MaxRatio: 1.2},
		{Name: "CPU µs per request, 200 KB", Scenario: "c16 200 KB", Value: cpuPerRequest, MaxRatio: 0.85},
		{Name: "CPU µs per stream chunk, 256 paced streams", Scenario: "256 paced streams", Value: cpuPerChunk, MaxRatio: 1.25},
		{Name: "latency added over direct, 1 connection, p50, µs", Scenario: tiny, Value: p50, OverDirect: true, MaxRatio: 1.1},
		{Name: "p99 at 1,000 requests/s, ms", Scenario: "open loop 1000/s", Value: p99ms, MaxRatio: 1.5},
		{Name: "RSS idle, MiB", Scenario: small, Value: idleRSS, Max: 40, Unit: "MiB"},
		{Name: "RSS at 64 × 10 KB, MiB", Scenario: "c64 10 KB", Value: maxRSS, Max: 80, Unit: "MiB"},
		{Name: "ready after start, 1,000 resources in the store, ms", Scenario: "start", Subject: "routes-1000", Value: readyAt(1), Max: 100, Unit: "ms"},
		{Name: "ready after the first start, 1,000 resources from the file, ms", Scenario: "start", Subject: "routes-1000", Value: readyAt(0)},
		{Name: "growth, 10 → 10,000 routes and keys, CPU µs per request, 0.5 KB", Scenario: "growth", Subject: "routes-10000", Base: "routes-10", Value: cpuPerRequest, MaxRatio: 1.1},
	}
}

func cpuPerRequest(r *suite.Record) (float64, bool) {
	if r.Run == nil {
		return 0, false
	}
	return r.Run.Processes["target"].CPUPerRequest, true
}

func cpuWhole(r *suite.Record) (float64, bool) {
	if r.Whole == nil || r.Whole.Requests == 0 {
		return 0, false
	}
	return r.Whole.CPUSeconds * 1e6 / float64(r.Whole.Requests), true
}

func cpuPerChunk(r *suite.Record) (float64, bool) {
	if r.Run == nil {
		return 0, false
	}
	return suite.CPUPerChunk(r.Run), true
}

func p50(r *suite.Record) (float64, bool) {
	return latency(r, func(s *hist.Summary) float64 { return s.P50 })
}

func p99ms(r *suite.Record) (float64, bool) {
	return latency(r, func(s *hist.Summary) float64 { return s.P99 / 1000 })
}

func latency(r *suite.Record, f func(*hist.Summary) float64) (float64, bool) {
	if r.Run == nil || r.Run.Latency == nil {
		return 0, false
	}
	return f(r.Run.Latency), true
}

func idleRSS(r *suite.Record) (float64, bool) {
	if r.Start == nil {
		return 0, false
	}
	return r.Start.IdleRSSMiB, true
}

func maxRSS(r *suite.Record) (float64, bool) {
	if r.Run == nil {
		return 0, false
	}
	return r.Run.Processes["target"].RSSMax, true
}

// readyAt is the time to the first answer of the nth start on the same files.
func readyAt(nth int) func(*suite.Record) (float64, bool) {
	return func(r *suite.Record) (float64, bool) {
		if r.Start == nil || r.Start.Nth != nth {
			return 0, false
		}
		return r.Start.ReadyMS, true
	}
}

// Figure sums up the rounds of one target.
type Figure struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Rounds int     `json:"rounds"`
}

func figure(vs []float64) *Figure {
	if len(vs) == 0 {
		return nil
	}
	return &Figure{suite.Median(vs, func(v float64) float64 { return v }), slices.Min(vs), slices.Max(vs), len(vs)}
}

// Row is one judged line.
type Row struct {
	Work    string             `json:"work"`
	Figures map[string]*Figure `json:"figures"`
	// Ratio is that of the subject to its base, and Bare that of the bare
	// configuration to the floor.
	Ratio *Figure `json:"ratio,omitempty"`
	Bare  *Figure `json:"bare_ratio,omitempty"`
	Bar   string  `json:"bar,omitempty"`
	// Met is empty where there is no bar or no figure.
	Met *bool `json:"met,omitempty"`

	subject, base string
}

// Judge makes the rows of a results file. Runs in which other work took more
// than maxOther percent of the machine are left out where enough others are
// left.
func Judge(recs []suite.Record, maxOther float64) []Row {
	var rows []Row
	for _, w := range Works() {
		row := Row{Work: w.Name, Figures: map[string]*Figure{}, Bar: w.bar(), subject: w.subject(), base: w.base()}
		rounds := w.collect(recs, maxOther)
		for _, t := range []string{floor, nginx, bare, row.subject, row.base} {
			row.Figures[t] = figure(rounds.of(t))
		}
		row.Ratio = figure(rounds.ratios(row.subject, row.base))
		if row.subject == routes {
			row.Bare = figure(rounds.ratios(bare, row.base))
		}
		row.Met = w.met(&row)
		rows = append(rows, row)
	}
	return rows
}

func (w *Work) met(r *Row) *bool {
	var met bool
	switch own := r.Figures[r.subject]; {
	case w.MaxRatio > 0 && r.Ratio != nil:
		met = r.Ratio.Median <= w.MaxRatio
	case w.Max > 0 && own != nil:
		met = own.Median <= w.Max
	default:
		return nil
	}
	return &met
}
