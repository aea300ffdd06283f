package anthropic

import "github.com/interlock-gateway/interlock/internal/wire"

// errorType maps a status to the vendor's error type.
func errorType(e *wire.Error) string {
	switch e.Status {
	case 401:
		return "authentication_error"
	case 402:
		return "billing_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 409:
		return "conflict_error"
	case 413:
		return "request_too_large"
	case 429:
		if e.Code == "upstream_quota" || e.Code == "budget_exceeded" {
			return "billing_error"
		}
		return "rate_limit_error"
	case 503:
		if e.Code == "UPSTREAM_POOL_EXHAUSTED" || e.Code == "gateway_overloaded" {
			return "overloaded_error"
		}
	case 504:
		return "timeout_error"
	case 529:
		return "overloaded_error"
	}
	if e.Status < 500 {
		return "invalid_request_error"
	}
	return "api_error"
}

func appendError(b []byte, e *wire.Error) []byte {
	b = append(b, `{"type":"error","error":{"type":`...)
	b = wire.AppendString(b, errorType(e))
	b = append(b, `,"message":`...)
	b = wire.AppendString(b, e.Text())
	b = append(b, `,"code":`...)
	b = wire.AppendString(b, e.Code)
	b = append(b, `},"request_id":`...)
	b = wire.AppendString(b, e.RequestID)
	return append(b, '}')
}

func appendStreamError(b []byte, e *wire.Error) []byte {
	b = append(b, "event: error\ndata: "...)
	b = appendError(b, e)
	return append(b, "\n\n"...)
}
