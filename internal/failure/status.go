package failure

// The statuses that mean something here. This package does not import net/http,
// which also has no name for Anthropic's 529.
const (
	unauthorized       = 401
	paymentRequired    = 402
	forbidden          = 403
	notFound           = 404
	requestTimeout     = 408
	conflict           = 409
	preconditionFailed = 412
	tooManyRequests    = 429
	internalError      = 500
	unavailable        = 503
	overloaded         = 529
)

// byStatus is chapter 30's failover table, for an answer that no row knows.
// 424, 498, 499 and 504 mean more to some vendors than they say here: those
// have rows.
func (e *evidence) byStatus() Category {
	switch s := e.status; {
	case s == unauthorized:
		return Auth
	case s == forbidden && e.html:
		return ServerError // a bot challenge in front of the vendor, not the key
	case s == forbidden:
		return Auth
	case s == paymentRequired:
		return QuotaExhausted
	case s == notFound:
		return ModelUnavailable
	case s == requestTimeout:
		return Timeout
	case s == conflict:
		return ServerError
	case s == tooManyRequests:
		return RateLimit
	case s == overloaded:
		return Overloaded
	case s >= 400 && s <= 499:
		return RequestError
	}
	return ServerError // 5xx; a redirect (wrong URL); an error that names no status
}
