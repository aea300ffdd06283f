package catalog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
)

// specSignal is a line of spec chapter 60, section 3.6, with what it means here
// (vendor, want, contextLength, retryAfter) appended.
type specSignal struct {
	Name     string            `json:"name"`
	Vendor   string            `json:"vendor"`
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers"`
	Body     json.RawMessage   `json:"body"`
	BodyText string            `json:"body_text"`
	Stream   string            `json:"stream"`

	Want          failure.Category  `json:"want"`
	ContextLength bool              `json:"contextLength"`
	RetryAfter    *failure.Duration `json:"retryAfter"`
}

func specSignals(tb testing.TB) []specSignal {
	tb.Helper()
	b, err := os.ReadFile("testdata/signals.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	var list []specSignal
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var s specSignal
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			tb.Fatalf("%v in %s", err, lines.Bytes())
		}
		list = append(list, s)
	}
	return list
}

func (s *specSignal) answer() *failure.Answer {
	x := Example{Status: s.Status, Headers: s.Headers, Body: string(s.Body) + s.BodyText + s.Stream, Stream: s.Stream != ""}
	return x.Answer()
}

// checkFailure compares with what is wanted; nil means no usable time.
func checkFailure(t *testing.T, f failure.Failure, want failure.Category, contextLength bool, after *failure.Duration) {
	t.Helper()
	if f.Category != want || f.ContextLength != contextLength {
		t.Errorf("%s, contextLength %v; want %s, %v", f, f.ContextLength, want, contextLength)
	}
	switch {
	case after == nil && f.HasRetryAfter:
		t.Errorf("names a time, %s; want none", f.RetryAfter)
	case after != nil && (!f.HasRetryAfter || f.RetryAfter != time.Duration(*after)):
		t.Errorf("retry after %s (%v), want %s", f.RetryAfter, f.HasRetryAfter, time.Duration(*after))
	}
}

func TestSpecExamples_BY_8_each_line_of_section_3_6(t *testing.T) {
	c := mustLoad(t)
	list := specSignals(t)
	if len(list) != 31 {
		t.Fatalf("%d lines, want all 31 of the spec", len(list))
	}
	for _, s := range list {
		t.Run(s.Name, func(t *testing.T) {
			v := generic(t, c)
			if s.Vendor != "" {
				v = vendor(t, c, s.Vendor)
			}
			checkFailure(t, v.Classifier().Classify(s.answer()), s.Want, s.ContextLength, s.RetryAfter)
		})
	}
}

// A provider without a vendor, or a proxy in front of one, sends the same
// bodies. Only what needs the vendor to be known may read differently.
func TestSpecExamples_BY_8_without_a_vendor(t *testing.T) {
	needsVendor := map[string]failure.Category{
		"anthropic-sub": failure.RateLimit, // the headers of a subscription
		"groq-tpd":      failure.RateLimit, // with the right time all the same
		"xai-key":       failure.RequestError,
		"gemini-key":    failure.RequestError,
	}
	c := generic(t, mustLoad(t)).Classifier()
	for _, s := range specSignals(t) {
		want := s.Want
		if other, ok := needsVendor[s.Name]; ok {
			want = other
		}
		if f := c.Classify(s.answer()); f.Category != want {
			t.Errorf("%s: %s, want %s", s.Name, f, want)
		}
	}
}
