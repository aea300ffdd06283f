package stats_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/stats"
)

var noon = time.Date(2027, 3, 1, 12, 0, 30, 0, time.UTC)

type world struct {
	*stats.Stats
	now time.Time
}

func newWorld() *world {
	w := &world{now: noon}
	w.Stats = stats.New(stats.Options{Now: func() time.Time { return w.now }, Price: func(provider, model string, u *llm.Usage) (float64, bool) {
		return float64(u.Input+u.Output) / 1000, model != "unknown"
	}})
	return w
}

func request(outcome string, ms int) *audit.Record {
	return &audit.Record{
		Kind: audit.KindRequest, Outcome: outcome, RequestedModel: "gpt", WireModel: "gpt-1", RouteName: "gpt", Provider: "main",
		Duration: audit.Millis(time.Duration(ms) * time.Millisecond), Usage: llm.Usage{Input: 10, Output: 5, CachedRead: 2, CachedWrite: 1},
	}
}

func near(got, want float64) bool { return got > want*0.9 && got < want*1.1 } // within 10 %

func TestUI_stats_figures(t *testing.T) {
	w := newWorld()
	for i := 1; i <= 100; i++ {
		w.Add(request(audit.OutcomeAllow, 10*i))
	}
	failed := request(audit.OutcomeError, 60_000)
	failed.Usage, failed.Attempts = llm.Usage{}, []audit.Attempt{{Provider: "main"}, {Provider: "main", Retry: true}, {Provider: "other"}}
	failed.Provider = "other"
	w.Add(failed)
	refused := &audit.Record{Outcome: audit.OutcomeDeny, RequestedModel: "a model that nobody serves"}
	w.Add(refused)
	w.Add(&audit.Record{Outcome: audit.OutcomeCanceled, RouteName: "gpt", RequestedModel: "gpt", Attempts: []audit.Attempt{{}, {Retry: true}}})
	unpriced := request(audit.OutcomeAllow, 500)
	unpriced.WireModel = "unknown"
	w.Add(unpriced)
	a := w.Answer("1h")
	f := a.Totals
	if f.Requests != 104 || f.Errors != 1 || f.Refusals != 1 || f.Canceled != 1 || f.Failovers != 1 || f.Unpriced != 1 {
		t.Errorf("%+v", f)
	}
	if f.Tokens != (stats.Tokens{Input: 1010, CachedRead: 202, CachedWrite: 101, Output: 505}) || !near(f.CostUSD, 1.5) {
		t.Errorf("%+v", f)
	}
	if !near(f.P50Ms, 500) || !near(f.P95Ms, 950) {
		t.Errorf("p50 %v, p95 %v", f.P50Ms, f.P95Ms)
	}
	if len(a.Models) != 1 || a.Models[0].Name != "gpt" || a.Models[0].Requests != 103 || a.Models[0].Errors != 1 || len(a.Providers) != 2 || a.Providers[1].Name != "other" {
		t.Errorf("%+v %+v", a.Models, a.Providers)
	}
}

// UI: each window has its buckets, and what is old falls out.
func TestUI_stats_windows(t *testing.T) {
	w := newWorld()
	for range 8 * 24 * 6 { // a request each ten minutes for eight days
		w.Add(request(audit.OutcomeAllow, 100))
		w.now = w.now.Add(10 * time.Minute)
	}
	for _, tc := range []struct {
		window            string
		buckets, width, n int
	}{{"1h", 60, 60, 5}, {"24h", 96, 900, 24*6 - 1}, {"7d", 84, 7200, 7*24*6 - 12}} {
		a := w.Answer(tc.window)
		if len(a.Series) != tc.buckets || a.BucketSeconds != tc.width || a.Window != tc.window || !a.To.Equal(w.now) {
			t.Errorf("%s: %d buckets of %d", tc.window, len(a.Series), a.BucketSeconds)
		}
		if n := int(a.Totals.Requests); n < tc.n-1 || n > tc.n+1 {
			t.Errorf("%s: %d requests, not %d", tc.window, n, tc.n)
		}
		sum := int64(0)
		for i, b := range a.Series {
			sum += b.Requests
			if want := a.From.Add(time.Duration(i*tc.width) * time.Second); !b.Time.Equal(want) {
				t.Errorf("%s: bucket %d is at %v", tc.window, i, b.Time)
			}
		}
		if sum != a.Totals.Requests {
			t.Errorf("%s: buckets have %d, the sum is %d", tc.window, sum, a.Totals.Requests)
		}
	}
	w.now = w.now.Add(30 * 24 * time.Hour)
	for _, window := range stats.Windows() {
		if n := w.Answer(window).Totals.Requests; n != 0 {
			t.Errorf("%s: %d requests after a month", window, n)
		}
	}
}

// UI: what ended before the start is counted where it was.
func TestUI_stats_past(t *testing.T) {
	w := newWorld()
	for _, ago := range []time.Duration{time.Second, 59 * time.Minute, 2 * time.Hour, 30 * time.Hour, 8 * 24 * time.Hour} {
		r := request(audit.OutcomeAllow, 1)
		r.Time = noon.Add(-ago)
		w.AddPast(r)
	}
	w.Add(request(audit.OutcomeAllow, 1))
	for window, want := range map[string]int64{"1h": 3, "24h": 4, "7d": 5} {
		if n := w.Answer(window).Totals.Requests; n != want {
			t.Errorf("%s: %d", window, n)
		}
	}
	if !w.Answer("1h").Since.Equal(noon) {
		t.Error("since")
	}
	w.WholeSince(noon.Add(-time.Hour))
	if !w.Answer("1h").Since.Equal(noon.Add(-time.Hour)) {
		t.Error("since")
	}
}

// UI: clients choose names of models, and memory stays bounded.
func TestUI_stats_many_names(t *testing.T) {
	w := newWorld()
	for i := range 10_000 {
		r := request(audit.OutcomeAllow, 1)
		r.RequestedModel = fmt.Sprint("model-", i)
		w.Add(r)
		if i%100 == 0 {
			w.now = w.now.Add(time.Minute)
		}
	}
	a := w.Answer("24h")
	if a.Totals.Requests != 10_000 || len(a.Models) != 10 || a.Models[0].Name != "(others)" {
		t.Errorf("%+v", a.Models)
	}
}

func TestUI_stats_percentiles(t *testing.T) {
	for _, ms := range []int{1, 2, 3, 10, 99, 1000, 12345, 500_000} {
		w := newWorld()
		w.Add(request(audit.OutcomeAllow, ms))
		if f := w.Answer("1h").Totals; !near(f.P50Ms, float64(ms)) || f.P95Ms != f.P50Ms {
			t.Errorf("%d: %v %v", ms, f.P50Ms, f.P95Ms)
		}
	}
	w := newWorld()
	w.Add(request(audit.OutcomeAllow, 1_000_000_000))
	w.Add(request(audit.OutcomeAllow, 0))
	if f := w.Answer("1h").Totals; f.P95Ms < 500_000 || f.P50Ms > 1 {
		t.Errorf("%+v", f)
	}
}

func TestCounting_allocates_nothing(t *testing.T) {
	w := newWorld()
	r := request(audit.OutcomeAllow, 100)
	w.Add(r)
	if n := testing.AllocsPerRun(100, func() { w.Add(r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	w := newWorld()
	r := request(audit.OutcomeAllow, 100)
	for b.Loop() {
		w.Add(r)
	}
}
