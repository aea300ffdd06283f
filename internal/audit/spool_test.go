package audit

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/llm"
)

func sample() *Record {
	return &Record{
		Kind: KindRequest, Time: time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC), RequestID: "01M8PWPPSDPD9QXG9CHKAC9V0J",
		Outcome: OutcomeAllow, Status: 200, Caller: Caller{Key: "ci", Team: "platform", Source: "service"},
		Endpoint: "chat_completions", ClientFormat: "openai-chat", Stream: true, RequestedModel: "gpt-5", ServedModel: "gpt-5", WireModel: "gpt-5-2026",
		RouteName: "chat", Provider: "openai-b", Residency: "eu", Strategy: "failover", StrategyReason: "first in order", Credential: "own",
		Attempts: []Attempt{
			{Provider: "openai-a", WireModel: "gpt-5", Outcome: OutcomeError, Category: "rate_limit", Status: 429, Start: Millis(time.Millisecond), Duration: Millis(20 * time.Millisecond)},
			{Provider: "openai-b", WireModel: "gpt-5-2026", Outcome: OutcomeAllow, Status: 200, Start: Millis(21 * time.Millisecond), Duration: Millis(900 * time.Millisecond)},
		},
		Usage: llm.Usage{Input: 1200, CachedRead: 800, Output: 300, Reasoning: 100}, TTFT: Millis(120500 * time.Microsecond), Duration: Millis(921 * time.Millisecond), ConfigVersion: 42,
	}
}

// RS-AUDIT: what the hot path writes by hand is what encoding/json reads.
func TestRecord_RS_AUDIT_reads_back_equal(t *testing.T) {
	text := rapid.OneOf(rapid.StringN(0, 20, -1), rapid.SampledFrom([]string{"", "a\"b\\c", "new\nline", "\x01", "å日本", "\u2028"}))
	ms := rapid.Custom(func(t *rapid.T) Millis {
		return Millis(time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "us")) * time.Microsecond)
	})
	rapid.Check(t, func(t *rapid.T) {
		want := *full()
		for _, f := range []*string{&want.RequestID, &want.Policy, &want.Code, &want.Category, &want.Caller.Key, &want.Caller.User, &want.Endpoint, &want.RequestedModel, &want.Message} {
			*f = text.Filter(func(s string) bool { return !containsNUL(s) }).Draw(t, "text")
		}
		want.Duration, want.TTFT = ms.Draw(t, "duration"), ms.Draw(t, "ttft")
		want.Usage.CachedWrite = rapid.Int64Range(0, 1e12).Draw(t, "tokens")
		if rapid.Bool().Draw(t, "bare") {
			want.Attempts, want.Usage, want.Caller, want.Skips, want.Tags, want.Facts, want.Admin = nil, llm.Usage{}, Caller{}, nil, nil, nil, nil
		}
		var got Record
		if err := json.Unmarshal(want.AppendJSON(nil), &got); err != nil {
			t.Fatalf("%s: %v", want.AppendJSON(nil), err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	})
}

func containsNUL(s string) bool {
	for _, r := range s {
		if r == 0 {
			return true
		}
	}
	return false
}

func BenchmarkAppend(b *testing.B) {
	s, err := OpenSpool(SpoolOptions{Dir: b.TempDir(), MaxPending: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := sample()
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Append(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	r := sample()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = r.AppendJSON(buf[:0])
	}
}
