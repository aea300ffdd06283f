// Package suite runs the same scenarios against several targets in turn and
// puts the results side by side.
package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/load"
)

// Suite is the content of a suite file.
type Suite struct {
	Mock      Mock       `json:"mock"`
	Targets   []Target   `json:"targets"`
	Scenarios []Scenario `json:"scenarios"`
	Warmup    Duration   `json:"warmup"`
	Duration  Duration   `json:"duration"`
	Rounds    int        `json:"rounds"`
	Settle    Duration   `json:"settle"` // after a start, before idle memory is read
	Quiet     Quiet      `json:"quiet"`
	// ProfileDir receives CPU profiles of the targets that can make them.
	ProfileDir string `json:"-"`
}

// Quiet is for machines shared with other work: a run waits for a quiet
// moment, and is repeated when the machine did not stay quiet.
type Quiet struct {
	MaxOther float64  `json:"max_other_percent"` // 0 turns this off
	Wait     Duration `json:"wait"`              // longest wait for a quiet moment before a run
	Retries  int      `json:"retries"`
	Pause    Duration `json:"pause"` // before each run, so that the others get their turn
}

// Mock is the fake upstream that all targets forward to.
type Mock struct {
	Command []string `json:"command"`
	URL     string   `json:"url"` // its base, without a path
}

// Target is one server under test; with no command, the mock itself.
type Target struct {
	Name    string            `json:"name"`
	Command []string          `json:"command"`
	Env     map[string]string `json:"env"`
	Dir     string            `json:"dir"`
	Fresh   []string          `json:"fresh"`  // files to delete before each start
	Binary  string            `json:"binary"` // for the size column
	URL     string            `json:"url"`
	Model   string            `json:"model"`
	Headers []string          `json:"headers"`
	// Profile: it takes SIGUSR1 as the beginning of a CPU profile, which it
	// writes into the file that BENCH_PROFILE names. See cmd/profiled.
	Profile bool `json:"profile"`
}

// Scenario is one kind of load.
type Scenario struct {
	Name        string   `json:"name"`
	Concurrency int      `json:"concurrency"`
	Rate        float64  `json:"rate"`
	Size        int      `json:"size"`
	Stream      bool     `json:"stream"`
	Mock        string   `json:"mock"` // mock defaults while this runs
	Duration    Duration `json:"duration"`
	// Targets are the names of those that it is for; nil is for all.
	Targets []string `json:"targets"`
	// Starts makes it a scenario without load: each target is started so often
	// on the same files, and only what starting costs is recorded.
	Starts int `json:"starts"`
}

// Duration reads "5s" from JSON.
type Duration time.Duration

// UnmarshalText parses a duration such as 1m30s.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// Record is one line of a results file: a run, or one start of a target.
type Record struct {
	Target   string       `json:"target"`
	Round    int          `json:"round"`
	Scenario string       `json:"scenario,omitempty"`
	Run      *load.Result `json:"run,omitempty"`
	Start    *Start       `json:"start,omitempty"`
	Whole    *Whole       `json:"whole,omitempty"`
}

// Whole is what a target used from before a run until it had no more to do.
// A server that puts work off would look cheap in the measured time alone.
type Whole struct {
	CPUSeconds  float64 `json:"cpu_seconds"`
	TailSeconds float64 `json:"tail_cpu_seconds"` // after the load had ended
	Requests    int64   `json:"requests"`
}

// Start is what starting a target cost.
type Start struct {
	Nth        int     `json:"nth"`      // counts starts on the same files, from 0
	ReadyMS    float64 `json:"ready_ms"` // from exec to the first answered chat request
	IdleRSSMiB float64 `json:"idle_rss_mib"`
	BinaryMiB  float64 `json:"binary_mib"`
}

// Load reads a suite file.
func Load(path string) (*Suite, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &Suite{Warmup: Duration(time.Second), Duration: Duration(4 * time.Second), Rounds: 3, Settle: Duration(2 * time.Second)}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}
