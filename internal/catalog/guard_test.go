package catalog

import (
	"testing"

	"github.com/interlock-gateway/interlock/internal/failure"
)

// "Quota" alone says nothing: many vendors use the word for a minute's limit.
// Parking a provider for that would take it away for a quarter of an hour.
func TestGuard_BY_8_bare_quota_never_means_exhausted(t *testing.T) {
	bodies := []string{
		`{"error":{"message":"quota"}}`,
		`{"error":{"message":"Quota limit, try later","type":"rate_limit_error"}}`,
		`{"error":{"message":"You are over your quota for requests per minute","code":"rate_limit_exceeded"}}`,
		`{"error":{"message":"Request quota exceeded: 60 requests per minute","code":"request_quota_exceeded"}}`,
		`{"error":{"message":"too fast","type":"quota"}}`,
		`{"message":"Tokens per minute limit exceeded","param":"quota","code":"token_quota_exceeded"}`,
		`{"error":{"message":"Rate limit reached. See https://aka.ms/oai/quotaincrease","code":"429"}}`,
		`[{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}]`,
		`{"error":{"code":429,"message":"Quota exceeded for quota metric 'Generate Content API requests per minute' and limit 'GenerateContent request limit per minute for a region'","status":"RESOURCE_EXHAUSTED"}}`,
		`Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model`,
	}
	for _, v := range all(t, mustLoad(t)) {
		for _, body := range bodies {
			x := Example{Status: 429, Body: body}
			f, why := v.Classifier().Explain(x.Answer())
			if v.ID == "copilot" && f.Category == failure.QuotaExhausted {
				continue // "quota exceeded" is the plan's allowance there
			}
			if f.Category != failure.RateLimit {
				t.Errorf("%s: %s by %s for %s", v.ID, f, why, body)
			}
		}
	}
}

func TestGuard_BY_8_gemini_minute_and_day(t *testing.T) {
	minute := `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},{"retryDelay":"7s"}]}}`
	day := `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]},{"retryDelay":"7s"}]}}`
	c := mustLoad(t)
	// Its own entry, none, and proxies that put the body into theirs.
	for _, v := range []*Vendor{vendor(t, c, "gemini"), vendor(t, c, "vertex"), vendor(t, c, "litellm"), vendor(t, c, "openrouter"), generic(t, c)} {
		for _, stream := range []bool{false, true} {
			x := Example{Status: 429, Body: minute, Stream: stream}
			if f := v.Classifier().Classify(x.Answer()); f.Category != failure.RateLimit || f.RetryAfter.Seconds() != 7 {
				t.Errorf("%s: a minute's limit: %s", v.ID, f)
			}
			x.Body = day
			if f := v.Classifier().Classify(x.Answer()); f.Category != failure.QuotaExhausted || f.RetryAfter.Hours() != 20 {
				t.Errorf("%s: a day's limit: %s; want until midnight in California", v.ID, f)
			}
		}
	}
}

func TestGuard_BY_8_cerebras_request_quota_is_a_minute(t *testing.T) {
	c := mustLoad(t)
	x := Example{Status: 429, Body: `{"message":"Requests per minute limit exceeded - too many requests sent.","type":"too_many_requests_error","param":"quota","code":"request_quota_exceeded"}`}
	for _, v := range []*Vendor{vendor(t, c, "cerebras"), generic(t, c)} {
		if f := v.Classifier().Classify(x.Answer()); f.Category != failure.RateLimit || f.HasRetryAfter {
			t.Errorf("%s: %s", v.ID, f)
		}
	}
}

// R01: a deployment that is out of money answers 400 or 402.
func TestGuard_R01_out_of_money_in_a_400_and_a_402(t *testing.T) {
	c := mustLoad(t)
	for _, v := range []*Vendor{vendor(t, c, "anthropic"), vendor(t, c, "litellm"), generic(t, c)} {
		x := Example{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-11-30 at 18:00 UTC."}}`}
		if f := v.Classifier().Classify(x.Answer()); f.Category != failure.QuotaExhausted || f.RetryAfter.Hours() != 6 {
			t.Errorf("%s: a cap in a 400: %s", v.ID, f)
		}
		x.Body = `{"type":"error","error":{"type":"invalid_request_error","message":"messages: at least one message is required"}}`
		if f := v.Classifier().Classify(x.Answer()); f.Category != failure.RequestError || f.HasRetryAfter {
			t.Errorf("%s: a plain 400: %s", v.ID, f)
		}
	}
	for _, v := range all(t, c) {
		for _, body := range []string{"", `{"error":{"code":402,"message":"Insufficient credits"}}`} {
			x := Example{Status: 402, Body: body}
			if f := v.Classifier().Classify(x.Answer()); f.Category != failure.QuotaExhausted {
				t.Errorf("%s: a 402: %s", v.ID, f)
			}
		}
	}
}

// R08: Vertex sends neither Retry-After nor a reset.
func TestGuard_R08_a_bare_429_is_a_rate_limit_everywhere(t *testing.T) {
	for _, v := range all(t, mustLoad(t)) {
		for _, after := range []string{"", "soon", "-5", "0", "Mon, 30 Nov 2026 11:00:00 GMT"} {
			x := Example{Status: 429, Headers: map[string]string{"retry-after": after}}
			if f := v.Classifier().Classify(x.Answer()); f.Category != failure.RateLimit || f.HasRetryAfter {
				t.Errorf("%s, Retry-After %q: %s", v.ID, after, f)
			}
		}
		x := Example{Status: 429, Headers: map[string]string{"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}}
		if f := v.Classifier().Classify(x.Answer()); f.Category != failure.RateLimit || f.RetryAfter.Seconds() != 30 {
			t.Errorf("%s, a date in 30 s: %s", v.ID, f)
		}
	}
}
