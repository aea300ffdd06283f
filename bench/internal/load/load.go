// Package load drives one HTTP endpoint and measures what comes back.
//
// Closed loop: each of Concurrency connections sends its next request when
// the last one is answered. This finds the highest throughput.
//
// Open loop: requests are due at a fixed rate whether or not earlier ones
// have been answered, and latency counts from the moment a request was due,
// so that a stalled server is charged for the requests it kept waiting
// ("coordinated omission" does not hide them).
package load

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/hist"
	"github.com/interlock-gateway/interlock/bench/internal/procstat"
)

// Config describes one run.
type Config struct {
	URL         string         `json:"url"`
	API         API            `json:"api"`
	Headers     []string       `json:"-"` // "Name: value"
	Body        []byte         `json:"-"`
	Stream      bool           `json:"stream"`
	Concurrency int            `json:"concurrency"` // in an open loop, the most requests in flight
	Rate        float64        `json:"rate"`        // requests a second; 0 for a closed loop
	Warmup      time.Duration  `json:"-"`
	Duration    time.Duration  `json:"-"`
	Timeout     time.Duration  `json:"-"`
	Grace       time.Duration  `json:"-"` // how long an open loop may work off its backlog after the end; 0 is DefaultGrace
	Watch       map[string]int `json:"-"` // processes (with children) to measure: name -> PID
}

// Result is the report of one run. Times are in microseconds.
type Result struct {
	Label string `json:"label,omitempty"`
	Config
	Seconds   float64 `json:"seconds"`
	BodyBytes int     `json:"body_bytes"`

	Requests    int64            `json:"requests"` // completed in the measured time
	AllRequests int64            `json:"all_requests"`
	RPS         float64          `json:"rps"`
	Errors      int64            `json:"errors"`
	ErrorKinds  map[string]int64 `json:"error_kinds,omitempty"`
	BytesIn     int64            `json:"bytes_in"`
	Connections int              `json:"connections"` // opened, warm-up included

	Latency *hist.Summary `json:"latency_us"`           // from when the request was due
	Service *hist.Summary `json:"service_us,omitempty"` // from when it was sent (open loop)
	TTFB    *hist.Summary `json:"ttfb_us,omitempty"`    // to the first byte of a stream's body
	Events  int64         `json:"events,omitempty"`
	// EventsSeen are the events that arrived in the measured time, of whatever
	// request. CPU time is measured over the same time, so their quotient is
	// right even for streams longer than the run.
	EventsSeen int64         `json:"events_seen,omitempty"`
	Gap        *hist.Summary `json:"gap_us,omitempty"`     // between events of a stream
	Transit    *hist.Summary `json:"transit_us,omitempty"` // of a stamped event, from the mock to here

	Processes map[string]Process `json:"processes"`
	Host      HostLoad           `json:"host"`
}

// Process is what one watched process used during the measured time.
type Process struct {
	CPUPerRequest float64 `json:"cpu_us_per_request"`
	CPUSeconds    float64 `json:"cpu_seconds"`
	RSSBefore     float64 `json:"rss_mib_before"`
	RSSMax        float64 `json:"rss_mib_max"`
	Threads       int     `json:"threads"`
}

// HostLoad tells how busy the machine was, and with what.
type HostLoad struct {
	CPUs  int     `json:"cpus"`
	Busy  float64 `json:"busy_percent"`  // of all CPUs
	Other float64 `json:"other_percent"` // busy with neither this program nor a watched one
	Steal float64 `json:"steal_percent"`
}

// DefaultGrace is how long after the end an open loop still works off its
// backlog. What is left then counts as failed.
const DefaultGrace = 5 * time.Second

// worker is the state of one connection.
type worker struct {
	client                 client
	latency, service, ttfb hist.Histogram
	stream                 streamStats
	discard                streamStats // for requests outside the measured time
	completed, bytes       int64
	all                    int64 // completed, whenever
	errs                   map[string]int64
}

// Run performs one run.
func Run(cfg Config) (*Result, error) {
	if cfg.Concurrency < 1 || cfg.Duration <= 0 {
		return nil, errors.New("concurrency and duration must be positive")
	}
	if cfg.Grace == 0 {
		cfg.Grace = DefaultGrace
	}
	req, err := newRequest(&cfg, cfg.Body)
	if err != nil {
		return nil, err
	}
	watch := map[string]int{"loadgen": syscall.Getpid()}
	for name, pid := range cfg.Watch {
		if _, err := procstat.Read(pid); err != nil {
			return nil, fmt.Errorf("process %q: %w", name, err)
		}
		watch[name] = pid
	}

	began := time.Now()
	from, to := began.Add(cfg.Warmup), began.Add(cfg.Warmup+cfg.Duration)
	workers := make([]*worker, cfg.Concurrency)
	for i := range workers {
		workers[i] = &worker{client: client{req: req, timeout: cfg.Timeout, from: from, to: to}, errs: map[string]int64{}}
	}

	var wg sync.WaitGroup
	if cfg.Rate > 0 {
		due := make(chan time.Time, 1<<16)
		go schedule(due, began, to, cfg.Rate)
		for _, w := range workers {
			wg.Go(func() {
				for t := range due {
					if time.Since(to) > cfg.Grace {
						w.errs["not sent: too far behind"]++
						continue
					}
					w.one(t, from, to)
				}
			})
		}
	} else {
		for _, w := range workers {
			wg.Go(func() {
				for t := time.Now(); t.Before(to); t = time.Now() {
					if !w.one(t, from, to) {
						time.Sleep(time.Millisecond) // do not spin on a dead server
					}
				}
			})
		}
	}
	m := watchProcesses(watch, from, to)
	wg.Wait()
	return report(cfg, workers, m), nil
}

// one sends a request that was due at t.
func (w *worker) one(t, from, to time.Time) bool {
	inside := !t.Before(from) && t.Before(to)
	stats := &w.discard
	if inside {
		stats = &w.stream
	}
	o := w.client.do(stats)
	w.all++
	if o.done.After(from) && !o.done.After(to) {
		w.completed++
		w.bytes += o.bytes
	}
	if !inside {
		return o.err == nil
	}
	if o.err != nil {
		w.errs[errorKind(o.err)]++
		return false
	}
	w.latency.Record(int64(o.done.Sub(t)))
	w.service.Record(int64(o.done.Sub(o.sent)))
	if w.client.req.stream {
		w.ttfb.Record(int64(o.firstByte.Sub(t)))
	}
	return true
}

func errorKind(err error) string {
	var status statusError
	var op *net.OpError
	switch {
	case errors.As(err, &status), errors.Is(err, errIncomplete):
		return err.Error()
	case errors.As(err, &op) && op.Timeout():
		return "timeout"
	case errors.As(err, &op):
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}

func report(cfg Config, workers []*worker, m *measurement) *Result {
	res := &Result{
		Config: cfg, Seconds: cfg.Duration.Seconds(), BodyBytes: len(cfg.Body),
		ErrorKinds: map[string]int64{}, Processes: map[string]Process{},
	}
	total := &worker{}
	for _, w := range workers {
		w.client.close()
		total.latency.Merge(&w.latency)
		total.service.Merge(&w.service)
		total.ttfb.Merge(&w.ttfb)
		total.stream.gap.Merge(&w.stream.gap)
		total.stream.transit.Merge(&w.stream.transit)
		res.Events += w.stream.events
		res.EventsSeen += w.client.eventsSeen
		res.Requests += w.completed
		res.AllRequests += w.all
		res.BytesIn += w.bytes
		res.Connections += w.client.opened
		for kind, n := range w.errs {
			res.ErrorKinds[kind] += n
			res.Errors += n
		}
	}
	res.RPS = float64(res.Requests) / m.seconds
	res.Latency = total.latency.Summary()
	if cfg.Rate > 0 {
		res.Service = total.service.Summary()
	}
	res.TTFB = total.ttfb.Summary()
	res.Gap = total.stream.gap.Summary()
	res.Transit = total.stream.transit.Summary()

	var known time.Duration
	for name, p := range m.processes {
		cpu := p.after.CPU - p.before.CPU
		known += cpu
		out := Process{
			CPUSeconds: cpu.Seconds(), Threads: p.after.Threads,
			RSSBefore: mib(p.before.RSS), RSSMax: mib(p.maxRSS),
		}
		if res.Requests > 0 {
			out.CPUPerRequest = cpu.Seconds() * 1e6 / float64(res.Requests)
		}
		res.Processes[name] = out
	}
	busy := m.hostAfter.Busy - m.hostBefore.Busy
	all := m.seconds * float64(m.hostAfter.CPUs) / 100
	res.Host = HostLoad{
		CPUs:  m.hostAfter.CPUs,
		Busy:  busy.Seconds() / all,
		Other: max(0, (busy-known).Seconds()/all),
		Steal: (m.hostAfter.Steal - m.hostBefore.Steal).Seconds() / all,
	}
	return res
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// measurement is what was read from /proc around the measured time.
type measurement struct {
	seconds               float64
	hostBefore, hostAfter procstat.Host
	processes             map[string]*watched
}

type watched struct {
	before, after procstat.Usage
	maxRSS        int64
}

// watchProcesses samples until to. Errors are not fatal: a target that dies
// shows up as failed requests.
func watchProcesses(pids map[string]int, from, to time.Time) *measurement {
	time.Sleep(time.Until(from))
	m := &measurement{processes: map[string]*watched{}}
	start := time.Now()
	m.hostBefore, _ = procstat.ReadHost()
	for name, pid := range pids {
		u, _ := procstat.ReadTree(pid)
		m.processes[name] = &watched{before: u, after: u, maxRSS: u.RSS}
	}
	for now := time.Now(); now.Before(to); now = time.Now() {
		time.Sleep(min(200*time.Millisecond, to.Sub(now)))
		for name, pid := range pids {
			if u, err := procstat.ReadTree(pid); err == nil {
				w := m.processes[name]
				w.after = u
				w.maxRSS = max(w.maxRSS, u.RSS)
			}
		}
	}
	m.hostAfter, _ = procstat.ReadHost()
	m.seconds = time.Since(start).Seconds()
	return m
}
