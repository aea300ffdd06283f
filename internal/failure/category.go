package failure

import "time"

// Category is the public enum of failures. The values appear in the API, the
// audit and in error messages.
type Category string

// The categories.
const (
	Connection       Category = "connection"
	Timeout          Category = "timeout"
	ServerError      Category = "server_error"
	Overloaded       Category = "overloaded"
	RateLimit        Category = "rate_limit"
	QuotaExhausted   Category = "quota_exhausted"
	Auth             Category = "auth"
	ModelUnavailable Category = "model_unavailable"
	RequestError     Category = "request_error"
	ContentFilter    Category = "content_filter"
	Canceled         Category = "canceled"
)

// Categories lists the enum in the order of the documents.
func Categories() []Category {
	return []Category{
		Connection, Timeout, ServerError, Overloaded, RateLimit, QuotaExhausted,
		Auth, ModelUnavailable, RequestError, ContentFilter, Canceled,
	}
}

// Valid says whether c is one of the enum's values.
func (c Category) Valid() bool {
	switch c {
	case Connection, Timeout, ServerError, Overloaded, RateLimit, QuotaExhausted,
		Auth, ModelUnavailable, RequestError, ContentFilter, Canceled:
		return true
	}
	return false
}

// Failure is what one attempt ended in.
type Failure struct {
	Category Category
	// Status is the provider's HTTP status; 0 when no answer came. For an
	// error inside a 200 stream or body it is the status that the error
	// stands for, where the vendor gives one, else 200.
	Status int
	// Code is the provider's own machine-readable code or type, at most 64
	// characters of plain ASCII; empty if it sent none.
	Code string
	// ContextLength marks a RequestError that says the prompt is too long
	// for the model: a member with a larger window could serve it.
	ContextLength bool
	// RetryAfter is how long the provider asks to wait, from the moment of
	// the answer; zero means at once. It is valid only if HasRetryAfter.
	RetryAfter    time.Duration
	HasRetryAfter bool
}
