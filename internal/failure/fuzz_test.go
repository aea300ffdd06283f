package failure

import (
	"testing"
	"time"
)

// FuzzRetryAfter looks for a time that is negative, over a day, or not the
// same twice. (FuzzClassify, over all vendors' rows, is in package catalog.)
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"17", "0", "-1", "1.5", "Mon, 30 Nov 2026 12:00:30 GMT", "6m0s", "1796043600", "1796043600000", "2026-11-30T12:00:20Z", "try again in 2 days", "1e400", "NaN"} {
		f.Add(s, s, s, int64(1796040000))
	}
	c, err := Compile([]Signal{
		{ID: "a", Status: []int{402}, Category: QuotaExhausted, Reset: &Reset{Header: []string{"x-until"}, Buckets: true}},
		{ID: "b", Status: []int{503}, Category: Overloaded, Reset: &Reset{Text: &TextTime{Match: `(\S+ \S+)`, Layout: time.DateTime, Zone: "+08:00", ElseZone: "UTC"}}},
		{ID: "c", Status: []int{420}, Category: RateLimit, Reset: &Reset{Override: true, Midnight: "+08:00"}},
	}, Generic{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, one, two, text string, now int64) {
		h := map[string][]string{
			"retry-after": {one}, "date": {two}, "retry-after-ms": {two}, "x-until": {one},
			"x-ratelimit-remaining": {"0"}, "x-ratelimit-reset": {two},
		}
		for _, status := range []int{402, 408, 420, 429, 503} {
			a := &Answer{Status: status, Header: h, Body: []byte(text), Now: time.Unix(now%(1<<40), 0)}
			got := c.Classify(a)
			if got.RetryAfter < 0 || got.RetryAfter > MaxRetryAfter || (!got.HasRetryAfter && got.RetryAfter != 0) {
				t.Errorf("%d: %s (%v)", status, got.RetryAfter, got.HasRetryAfter)
			}
			if got.Category == RateLimit && got.HasRetryAfter && got.RetryAfter == 0 {
				t.Error("RT-FO-6: a rate limit with no wait")
			}
			if again := c.Classify(a); again != got {
				t.Errorf("first %v, then %v", got, again)
			}
		}
	})
}
