package failure

import (
	"testing"
	"time"
)

func TestFailure_String(t *testing.T) {
	for want, f := range map[string]Failure{
		"rate_limit (429, retry in 17s)":         {Category: RateLimit, Status: 429, RetryAfter: 17 * time.Second, HasRetryAfter: true},
		"quota_exhausted (402, retry now)":       {Category: QuotaExhausted, Status: 402, HasRetryAfter: true},
		"request_error (400, prompt too long)":   {Category: RequestError, Status: 400, ContextLength: true},
		"timeout":                                {Category: Timeout},
		"server_error (500)":                     {Category: ServerError, Status: 500, Code: "not_shown"},
		"quota_exhausted (429, retry in 1h0m0s)": {Category: QuotaExhausted, Status: 429, RetryAfter: time.Hour, HasRetryAfter: true},
	} {
		if got := f.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
