package anthropic

import (
	"bytes"
	"encoding/json"

	"github.com/interlock-gateway/interlock/internal/wire"
)

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

// AppendStreamError is the format's: an error event does not depend on what came
// before it.
func (s *stream) AppendStreamError(b []byte, e *wire.Error) []byte { return appendStreamError(b, e) }

// AppendFailed renders a provider's error event as "event: error" with the
// vendor's object in it. The official SDKs raise an error at that name alone:
// at the end of any other event they take the answer for whole
// (@anthropic-ai/sdk 1.14.0, measured 2026-12). One that is so already stays as
// it is.
func (s *stream) AppendFailed(b []byte, ev *wire.Event) []byte {
	if string(ev.Name) == "error" && isVendors(ev.Data) {
		return append(b, ev.Raw...)
	}
	b = append(b, "event: error\ndata: "...)
	b = append(b, bytes.ReplaceAll(s.ErrorBody(ev), []byte("\n"), []byte("\ndata: "))...)
	return append(b, "\n\n"...)
}

// ErrorBody renders a provider's error event as an error body, with the
// provider's words.
func (*stream) ErrorBody(ev *wire.Event) []byte {
	if isVendors(ev.Data) {
		return bytes.Clone(ev.Data)
	}
	e := wire.ReadProviderError(ev.Data)
	if e.Type == "" {
		e.Type = "api_error"
	}
	b := wire.AppendString([]byte(`{"type":"error","error":{"type":`), e.Type)
	b = wire.AppendString(append(b, `,"message":`...), e.Message)
	if e.Code != nil {
		b = append(append(b, `,"code":`...), e.Code...)
	}
	b = append(b, '}')
	var v struct {
		RequestID string `json:"request_id"`
	}
	if json.Unmarshal(ev.Data, &v) == nil && v.RequestID != "" {
		b = wire.AppendString(append(b, `,"request_id":`...), v.RequestID)
	}
	return append(b, '}')
}

// isVendors tells the vendor's own error object from those of compatible
// vendors.
func isVendors(data []byte) bool {
	var v struct {
		Type  string `json:"type"`
		Error struct {
			Type    string  `json:"type"`
			Message *string `json:"message"`
		} `json:"error"`
	}
	return json.Unmarshal(data, &v) == nil && v.Type == "error" && v.Error.Type != "" && v.Error.Message != nil
}
