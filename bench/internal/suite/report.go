package suite

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-gateway/interlock/bench/internal/hist"
	"github.com/interlock-gateway/interlock/bench/internal/load"
)

// ReportOptions choose what a report is made of.
type ReportOptions struct {
	// MaxOther leaves out runs in which other work took more percent of the
	// machine; where every run was disturbed more, the quietest one counts.
	MaxOther float64
	// Baseline names the target that the others are compared with; without a
	// name there is no table of ratios.
	Baseline string
}

// Report reads records and writes one Markdown table per scenario, each
// value the median over the undisturbed runs, and a table of ratios.
func Report(in io.Reader, out io.Writer, opts ReportOptions) error {
	d, err := readRecords(in)
	if err != nil {
		return err
	}
	if opts.Baseline != "" && !slices.Contains(d.targets, opts.Baseline) {
		return fmt.Errorf("no results of the baseline %q", opts.Baseline)
	}
	for k, rs := range d.runs {
		d.runs[k] = quiet(rs, opts.MaxOther)
	}
	w := &markdown{out: out}
	d.startTable(w)
	for _, sc := range d.scenarios {
		d.scenarioTable(w, sc)
	}
	if opts.Baseline != "" {
		d.ratioTable(w, opts.Baseline)
	}
	return w.err
}

// results are the records of a file, by what they belong to.
type results struct {
	targets, scenarios []string // in order of appearance
	runs               map[runKey][]*load.Result
	started            []string // in order of appearance
	starts             map[string][]*Start
}

type runKey struct{ scenario, target string }

func readRecords(in io.Reader) (*results, error) {
	d := &results{runs: map[runKey][]*load.Result{}, starts: map[string][]*Start{}}
	for dec := json.NewDecoder(in); ; {
		var r Record
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			return d, nil
		} else if err != nil {
			return nil, err
		}
		if !slices.Contains(d.targets, r.Target) {
			d.targets = append(d.targets, r.Target)
		}
		if r.Start != nil {
			name := r.Target
			if r.Start.Nth > 0 {
				name += ", again"
			}
			if d.starts[name] == nil {
				d.started = append(d.started, name)
			}
			d.starts[name] = append(d.starts[name], r.Start)
		}
		if r.Run != nil {
			if !slices.Contains(d.scenarios, r.Scenario) {
				d.scenarios = append(d.scenarios, r.Scenario)
			}
			k := runKey{r.Scenario, r.Target}
			d.runs[k] = append(d.runs[k], r.Run)
		}
	}
}

// metric is one column.
type metric struct {
	name   string
	stream bool // only means something for streams
	value  func(*load.Result) float64
}

// The metrics that ratios are taken of too.

func cpuPerRequest() metric {
	return metric{"CPU us/req", false, func(r *load.Result) float64 { return r.Processes["target"].CPUPerRequest }}
}

func cpuPerChunk() metric { return metric{"CPU us/chunk", true, CPUPerChunk} }

// CPUPerChunk is the target's CPU time, in microseconds, over all stream events
// that arrived meanwhile.
func CPUPerChunk(r *load.Result) float64 {
	return r.Processes["target"].CPUSeconds * 1e6 / float64(max(1, r.EventsSeen))
}

func latencyP50() metric {
	return metric{"p50 us", false, func(r *load.Result) float64 { return of(r.Latency).P50 }}
}

func latencyP99() metric {
	return metric{"p99 us", false, func(r *load.Result) float64 { return of(r.Latency).P99 }}
}

func rssMax() metric {
	return metric{"RSS max MiB", false, func(r *load.Result) float64 { return r.Processes["target"].RSSMax }}
}

func columns(stream bool) []metric {
	all := []metric{
		{"rps", false, func(r *load.Result) float64 { return r.RPS }},
		latencyP50(),
		latencyP99(),
		{"p99.9 us", false, func(r *load.Result) float64 { return of(r.Latency).P999 }},
		{"TTFB p50 us", true, func(r *load.Result) float64 { return of(r.TTFB).P50 }},
		{"chunk transit p50 us", true, func(r *load.Result) float64 { return of(r.Transit).P50 }},
		{"chunk transit p99 us", true, func(r *load.Result) float64 { return of(r.Transit).P99 }},
		cpuPerChunk(),
		cpuPerRequest(),
		rssMax(),
		{"mock+loadgen CPU us/req", false, func(r *load.Result) float64 {
			return r.Processes["mock"].CPUPerRequest + r.Processes["loadgen"].CPUPerRequest
		}},
		{"errors", false, func(r *load.Result) float64 { return float64(r.Errors) }},
		{"other CPU %", false, func(r *load.Result) float64 { return r.Host.Other }},
	}
	return slices.DeleteFunc(all, func(m metric) bool { return m.stream && !stream })
}

func (d *results) startTable(w *markdown) {
	if len(d.starts) == 0 {
		return
	}
	w.head("start", "target", "ready ms", "idle RSS MiB", "binary MiB")
	for _, name := range d.started {
		s := d.starts[name]
		w.row(name,
			Number(Median(s, func(s *Start) float64 { return s.ReadyMS })),
			Number(Median(s, func(s *Start) float64 { return s.IdleRSSMiB })),
			Number(Median(s, func(s *Start) float64 { return s.BinaryMiB })))
	}
}

func (d *results) scenarioTable(w *markdown, scenario string) {
	cols := columns(d.streams(scenario))
	head := []string{"target"}
	for _, m := range cols {
		head = append(head, m.name)
	}
	w.head(scenario, append(head, "runs")...)
	for _, t := range d.targets {
		rs := d.runs[runKey{scenario, t}]
		if rs == nil {
			continue
		}
		row := []string{t}
		for _, m := range cols {
			row = append(row, Number(Median(rs, m.value)))
		}
		w.row(append(row, strconv.Itoa(len(rs)))...)
	}
}

// ratioTable divides medians by those of the baseline. Both come from the same
// interleaved rounds, so a slow spell of the machine cancels out.
func (d *results) ratioTable(w *markdown, baseline string) {
	cols := []metric{cpuPerRequest(), cpuPerChunk(), latencyP50(), latencyP99(), rssMax()}
	head := []string{"scenario", "target"}
	for _, m := range cols {
		head = append(head, m.name)
	}
	w.head("ratios to "+baseline, head...)
	for _, sc := range d.scenarios {
		stream := d.streams(sc)
		base := d.runs[runKey{sc, baseline}]
		for _, t := range d.targets {
			rs := d.runs[runKey{sc, t}]
			if t == baseline || rs == nil || base == nil {
				continue
			}
			row := []string{sc, t}
			for _, m := range cols {
				row = append(row, ratio(m, stream, rs, base))
			}
			w.row(row...)
		}
	}
}

// ratio is a dash where there is nothing to divide: the direct target has no
// process of its own, and chunks are only in streams.
func ratio(m metric, stream bool, rs, base []*load.Result) string {
	a, b := Median(rs, m.value), Median(base, m.value)
	if a == 0 || b == 0 || m.stream && !stream {
		return "–"
	}
	return fmt.Sprintf("%.2f", a/b)
}

func (d *results) streams(scenario string) bool {
	for k, rs := range d.runs {
		if k.scenario == scenario && slices.ContainsFunc(rs, func(r *load.Result) bool { return r.Stream }) {
			return true
		}
	}
	return false
}

// markdown writes tables and remembers the first error.
type markdown struct {
	out io.Writer
	err error
	any bool
}

func (w *markdown) head(title string, cells ...string) {
	if w.any {
		w.print("\n")
	}
	w.any = true
	w.print("### %s\n\n", title)
	w.row(cells...)
	w.print("|---%s|\n", strings.Repeat("|--:", len(cells)-1))
}

func (w *markdown) row(cells ...string) { w.print("| %s |\n", strings.Join(cells, " | ")) }

func (w *markdown) print(format string, a ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, format, a...)
	}
}

// quiet picks the runs that other work disturbed little.
func quiet(rs []*load.Result, maxOther float64) []*load.Result {
	rs = slices.Clone(rs)
	slices.SortStableFunc(rs, func(a, b *load.Result) int { return cmp.Compare(a.Host.Other, b.Host.Other) })
	n := 1
	for n < len(rs) && rs[n].Host.Other <= maxOther {
		n++
	}
	return rs[:n]
}

// Median is the median of f over xs.
func Median[T any](xs []T, f func(T) float64) float64 {
	vals := make([]float64, len(xs))
	for i, x := range xs {
		vals[i] = f(x)
	}
	slices.Sort(vals)
	n := len(vals)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return vals[n/2]
	}
	return (vals[n/2-1] + vals[n/2]) / 2
}

// of makes an absent summary (every request failed) read as zeros.
func of(s *hist.Summary) hist.Summary {
	if s == nil {
		return hist.Summary{}
	}
	return *s
}

// Number writes a figure with about three digits.
func Number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
