package catalog

import (
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
)

// FuzzClassify drives every vendor's rows with any answer.
func FuzzClassify(f *testing.F) {
	vendors := all(f, mustLoad(f))
	for _, v := range vendors {
		for _, x := range examplesOf(f, v) {
			f.Add(uint8(0), x.Status, "retry-after", "1", []byte(x.Body), x.Stream)
		}
	}
	f.Fuzz(func(t *testing.T, pick uint8, status int, name, value string, body []byte, stream bool) {
		v := vendors[int(pick)%len(vendors)]
		a := &failure.Answer{Status: status, Header: map[string][]string{name: {value}, "date": nil}, Body: body, Stream: stream, Echo: []string{value, name}, Now: ExampleNow()}
		got, why := v.Classifier().Explain(a)
		if !got.Category.Valid() || why == "" {
			t.Errorf("category %q by %q", got.Category, why)
		}
		if got.RetryAfter < 0 || got.RetryAfter > 24*time.Hour || (!got.HasRetryAfter && got.RetryAfter != 0) {
			t.Errorf("retry after %s (%v)", got.RetryAfter, got.HasRetryAfter)
		}
		if got.ContextLength && got.Category != failure.RequestError {
			t.Errorf("contextLength with %s", got.Category)
		}
		if len(got.Code) > 64 {
			t.Errorf("code of %d characters", len(got.Code))
		}
		if again := v.Classifier().Classify(a); again != got {
			t.Errorf("first %v, then %v", got, again)
		}
	})
}
