package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/load"
	"github.com/interlock-gateway/interlock/bench/internal/procstat"
)

// Run runs everything and writes one JSON record a line to out. progress
// gets a line for people. A target that fails does not stop the others; the
// failures come back at the end.
func (s *Suite) Run(ctx context.Context, out, progress io.Writer) error {
	enc := json.NewEncoder(out)
	var failures []error
	for round := range s.Rounds {
		for i := range s.Targets {
			if err := s.target(ctx, &s.Targets[i], round, enc, progress); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				fmt.Fprintf(progress, "%-12s round %d: %v\n", s.Targets[i].Name, round, err)
				failures = append(failures, fmt.Errorf("%s, round %d: %w", s.Targets[i].Name, round, err))
			}
		}
	}
	return errors.Join(failures...)
}

func (s *Suite) target(ctx context.Context, t *Target, round int, enc *json.Encoder, progress io.Writer) error {
	mock, _, err := launch(ctx, s.Mock.Command, nil, "", func() bool { return get(s.Mock.URL + "/healthz") })
	if err != nil {
		return fmt.Errorf("mock: %w", err)
	}
	defer mock.stop()
	watch := map[string]int{"mock": mock.cmd.Process.Pid}
	probe, err := load.ChatBody(load.OpenAI, t.Model, 512, false)
	if err != nil {
		return err
	}
	if len(t.Command) > 0 {
		for _, f := range t.Fresh {
			if err := os.RemoveAll(f); err != nil {
				return err
			}
		}
		p, took, err := launch(ctx, t.Command, t.Env, t.Dir, func() bool { return post(t, probe) })
		if err != nil {
			return err
		}
		defer p.stop()
		time.Sleep(time.Duration(s.Settle))
		pid := p.cmd.Process.Pid
		watch["target"] = pid
		st := &Start{ReadyMS: float64(took.Microseconds()) / 1000}
		if u, err := procstat.ReadTree(pid); err == nil {
			st.IdleRSSMiB = float64(u.RSS) / (1 << 20)
		}
		if fi, err := os.Stat(t.Binary); err == nil {
			st.BinaryMiB = float64(fi.Size()) / (1 << 20)
		}
		if err := enc.Encode(Record{Target: t.Name, Round: round, Start: st}); err != nil {
			return err
		}
		fmt.Fprintf(progress, "%-12s round %d: ready in %.1f ms, %.1f MiB idle\n", t.Name, round, st.ReadyMS, st.IdleRSSMiB)
	}
	for i := range s.Scenarios {
		sc := &s.Scenarios[i]
		if t.skips(sc.Name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := setDefaults(s.Mock.URL, sc.Mock); err != nil {
			return err
		}
		for try := 0; ; try++ {
			s.Quiet.wait(ctx)
			res, err := s.scenario(t, sc, watch)
			if err != nil {
				return err
			}
			if err := enc.Encode(Record{Target: t.Name, Round: round, Scenario: sc.Name, Run: res}); err != nil {
				return err
			}
			fmt.Fprintln(progress, line(t.Name, round, sc.Name, res))
			if s.Quiet.MaxOther == 0 || res.Host.Other <= s.Quiet.MaxOther || try >= s.Quiet.Retries {
				break
			}
		}
	}
	return nil
}

// wait returns once the machine has been quiet for half a second, or when
// the time for that is up. The target and the mock are idle meanwhile.
func (q *Quiet) wait(ctx context.Context) {
	time.Sleep(time.Duration(q.Pause))
	if q.MaxOther == 0 {
		return
	}
	look := min(500*time.Millisecond, time.Duration(q.Wait))
	end := time.Now().Add(time.Duration(q.Wait))
	for ctx.Err() == nil && time.Now().Before(end) {
		before, err := procstat.ReadHost()
		if err != nil {
			return
		}
		time.Sleep(look)
		after, err := procstat.ReadHost()
		if err != nil {
			return
		}
		busy := (after.Busy - before.Busy).Seconds() / look.Seconds() / float64(after.CPUs)
		if busy*100 <= q.MaxOther {
			return
		}
	}
}

func (s *Suite) scenario(t *Target, sc *Scenario, watch map[string]int) (*load.Result, error) {
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

func (t *Target) skips(scenario string) bool {
	for _, p := range t.Skip {
		if strings.HasPrefix(scenario, p) {
			return true
		}
	}
	return false
}

func line(target string, round int, scenario string, r *load.Result) string {
	return fmt.Sprintf("%-12s round %d: %-16s %8.0f rps  p50 %8.0f us  p99 %8.0f us  cpu %7.1f us  rss %6.0f MiB  errors %d  other cpu %.0f%%",
		target, round, scenario, r.RPS, of(r.Latency).P50, of(r.Latency).P99, r.Processes["target"].CPUPerRequest, r.Processes["target"].RSSMax, r.Errors, r.Host.Other)
}
