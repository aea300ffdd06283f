package catalog

import (
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
)

// file is the first YAML document of a file; doc.go says what its fields mean.
type file struct {
	ID          string                    `json:"id"`
	Title       string                    `json:"title"`
	Types       []string                  `json:"types"`
	TakesVendor bool                      `json:"takesVendor"`
	Family      llm.Family                `json:"family"`
	Patterns    []string                  `json:"patterns"`
	Keyless     bool                      `json:"keyless"`
	Env         []string                  `json:"env"`
	Try         string                    `json:"try"`
	Source      string                    `json:"source"`
	Observed    string                    `json:"observed"`
	Formats     map[llm.Format]formatSpec `json:"formats"`
	Signals     []Signal                  `json:"signals"`
	StatusOf    map[string]int            `json:"statusOf"`

	examples []byte // the second document
}

// examples is the second YAML document of a file. Load does not parse it.
type examples struct {
	Tests []Example `json:"tests"`
}

type formatSpec struct {
	BaseURL  string     `json:"baseUrl"`
	Header   string     `json:"header"`
	Prefix   string     `json:"prefix"`
	Family   llm.Family `json:"family"`
	Patterns []string   `json:"patterns"`
}

// Signal is a row of failure data together with where it comes from.
type Signal struct {
	failure.Signal `yaml:",inline"`
	Source         string `json:"source"`
	// Observed is the day on which it was last checked, YYYY-MM-DD.
	Observed string `json:"observed"`
}

// Example is an answer of a vendor and what it means.
type Example struct {
	Name    string            `json:"name"`
	Signal  string            `json:"signal"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Stream  bool              `json:"stream"`

	Want          failure.Category `json:"want"`
	ContextLength bool             `json:"contextLength"`
	// RetryAfter is nil if the answer names no usable time.
	RetryAfter *failure.Duration `json:"retryAfter"`
}

// ExampleNow is the time at which examples are read.
func ExampleNow() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// Answer is the example as the classifier takes it.
func (x *Example) Answer() *failure.Answer {
	header := make(map[string][]string, len(x.Headers))
	for name, value := range x.Headers {
		header[name] = []string{value}
	}
	status := x.Status
	if status == 0 {
		status = 200
	}
	return &failure.Answer{Status: status, Header: header, Body: []byte(x.Body), Stream: x.Stream, Now: ExampleNow()}
}
