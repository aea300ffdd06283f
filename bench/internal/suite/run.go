package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/load"
	"github.com/interlock-gateway/interlock/bench/internal/procstat"
)

// Run runs everything and writes one JSON record a line to out. progress
// gets a line for people. A target that fails does not stop the others; the
// failures come back at the end.
//
// Within a round the targets of one scenario follow each other at once, so that
// a slow spell of the machine falls on all of them, and each is started for it,
// so that none carries memory or work over from another scenario.
func (s *Suite) Run(ctx context.Context, out, progress io.Writer) error {
	r := &runner{suite: s, enc: json.NewEncoder(out), progress: progress}
	var failures []error
	for round := range s.Rounds {
		for i := range s.Scenarios {
			for j := range s.Targets {
				sc, t := &s.Scenarios[i], &s.Targets[j]
				if !sc.includes(t) {
					continue
				}
				err := r.pair(ctx, t, sc, round)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err != nil {
					fmt.Fprintf(progress, "%-12s round %d: %v\n", t.Name, round, err)
					failures = append(failures, fmt.Errorf("%s, round %d, %s: %w", t.Name, round, sc.Name, err))
				}
			}
		}
	}
	return errors.Join(failures...)
}

func (sc *Scenario) includes(t *Target) bool {
	if sc.Starts > 0 && len(t.Command) == 0 {
		return false // the mock itself has no start of its own
	}
	return sc.Targets == nil || slices.Contains(sc.Targets, t.Name)
}

type runner struct {
	suite    *Suite
	enc      *json.Encoder
	progress io.Writer
}

// pair takes one target through one scenario.
func (r *runner) pair(ctx context.Context, t *Target, sc *Scenario, round int) error {
	s := r.suite
	mock, _, err := launch(ctx, s.Mock.Command, nil, "", func() bool { return get(s.Mock.URL + "/healthz") })
	if err != nil {
		return fmt.Errorf("mock: %w", err)
	}
	defer mock.stop()
	if err := clean(t); err != nil {
		return err
	}
	for nth := range max(1, sc.Starts) {
		var p *process
		if len(t.Command) > 0 {
			if p, err = r.start(ctx, t, sc, round, nth); err != nil {
				return err
			}
		}
		if sc.Starts == 0 {
			err = r.load(ctx, t, sc, round, mock, p)
		}
		if p != nil {
			p.stop()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// clean deletes what an earlier start has left.
func clean(t *Target) error {
	for _, f := range t.Fresh {
		if err := os.RemoveAll(f); err != nil {
			return err
		}
	}
	return nil
}

// start launches a target and records what that cost.
func (r *runner) start(ctx context.Context, t *Target, sc *Scenario, round, nth int) (*process, error) {
	probe, err := load.ChatBody(load.OpenAI, t.Model, 512, false)
	if err != nil {
		return nil, err
	}
	env := maps.Clone(t.Env)
	if t.Profile && r.suite.ProfileDir != "" {
		if env == nil {
			env = map[string]string{}
		}
		env["BENCH_PROFILE"] = profileFile(r.suite.ProfileDir, t, sc, round)
	}
	p, took, err := launch(ctx, t.Command, env, t.Dir, func() bool { return post(t, probe) })
	if err != nil {
		return nil, err
	}
	time.Sleep(time.Duration(r.suite.Settle))
	st := &Start{Nth: nth, ReadyMS: float64(took.Microseconds()) / 1000}
	if u, err := procstat.ReadTree(p.cmd.Process.Pid); err == nil {
		st.IdleRSSMiB = float64(u.RSS) / (1 << 20)
	}
	if fi, err := os.Stat(t.Binary); err == nil {
		st.BinaryMiB = float64(fi.Size()) / (1 << 20)
	}
	if err := r.enc.Encode(Record{Target: t.Name, Round: round, Scenario: sc.Name, Start: st}); err != nil {
		p.stop()
		return nil, err
	}
	if sc.Starts > 0 {
		fmt.Fprintf(r.progress, "%-12s round %d: %-16s start %d: ready in %.1f ms, %.1f MiB idle\n", t.Name, round, sc.Name, nth+1, st.ReadyMS, st.IdleRSSMiB)
	}
	return p, nil
}

// profileFile names a profile after what it shows.
func profileFile(dir string, t *Target, sc *Scenario, round int) string {
	name := strings.NewReplacer(" ", "-", "/", "-").Replace(fmt.Sprintf("%s_%s_%d.prof", t.Name, sc.Name, round))
	return filepath.Join(dir, name)
}

// load measures a target under load, once more if the machine was disturbed.
// p is nil for the mock itself.
func (r *runner) load(ctx context.Context, t *Target, sc *Scenario, round int, mock, p *process) error {
	s := r.suite
	if err := setDefaults(s.Mock.URL, sc.Mock); err != nil {
		return err
	}
	watch := map[string]int{"mock": mock.cmd.Process.Pid}
	if p != nil {
		watch["target"] = p.cmd.Process.Pid
		if t.Profile && s.ProfileDir != "" {
			if err := p.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
				return fmt.Errorf("begin a profile: %w", err)
			}
		}
	}
	for try := 0; ; try++ {
		s.Quiet.wait(ctx)
		w := beginWhole(watch["target"])
		res, err := s.run(t, sc, watch)
		if err != nil {
			return err
		}
		rec := Record{Target: t.Name, Round: round, Scenario: sc.Name, Run: res, Whole: w.end(ctx, res.AllRequests)}
		if err := r.enc.Encode(rec); err != nil {
			return err
		}
		fmt.Fprintln(r.progress, line(t.Name, round, sc.Name, res))
		if s.Quiet.MaxOther == 0 || res.Host.Other <= s.Quiet.MaxOther || try >= s.Quiet.Retries {
			return nil
		}
	}
}

func (s *Suite) run(t *Target, sc *Scenario, watch map[string]int) (*load.Result, error) {
	body, err := load.ChatBody(load.OpenAI, t.Model, sc.Size, sc.Stream)
	if err != nil {
		return nil, err
	}
	duration := s.Duration
	if sc.Duration > 0 {
		duration = sc.Duration
	}
	return load.Run(load.Config{
		URL: t.URL, API: load.OpenAI, Headers: t.Headers, Body: body, Stream: sc.Stream,
		Concurrency: sc.Concurrency, Rate: sc.Rate,
		Warmup: time.Duration(s.Warmup), Duration: time.Duration(duration), Timeout: 30 * time.Second,
		Watch: watch,
	})
}

func line(target string, round int, scenario string, r *load.Result) string {
	return fmt.Sprintf("%-12s round %d: %-16s %8.0f rps  p50 %8.0f us  p99 %8.0f us  cpu %7.1f us  rss %6.0f MiB  errors %d  other cpu %.0f%%",
		target, round, scenario, r.RPS, of(r.Latency).P50, of(r.Latency).P99, r.Processes["target"].CPUPerRequest, r.Processes["target"].RSSMax, r.Errors, r.Host.Other)
}
