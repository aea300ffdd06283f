package openaichat

import (
	"bytes"
	"encoding/json"

	"github.com/interlock-gateway/interlock/internal/wire"
)

// errorType maps a status to the vendor's error type.
func errorType(e *wire.Error) string {
	switch {
	case e.Status == 429 && (e.Code == "upstream_quota" || e.Code == "budget_exceeded"):
		return "insufficient_quota"
	case e.Status == 429:
		return "rate_limit_error"
	case e.Status < 500:
		return "invalid_request_error"
	}
	return "server_error"
}

func appendError(b []byte, e *wire.Error) []byte {
	b = append(b, `{"error":{"message":`...)
	b = wire.AppendString(b, e.Text())
	b = append(b, `,"type":`...)
	b = wire.AppendString(b, errorType(e))
	b = append(b, `,"code":`...)
	b = wire.AppendString(b, e.Code)
	return append(b, `,"param":null}}`...)
}

func appendStreamError(b []byte, e *wire.Error) []byte {
	b = append(b, "data: "...)
	b = appendError(b, e)
	return append(b, "\n\n"...)
}

// AppendStreamError is the format's: an error event does not depend on what came
// before it.
func (s *stream) AppendStreamError(b []byte, e *wire.Error) []byte { return appendStreamError(b, e) }

// AppendFailed renders a provider's error event as a chunk with an "error" at
// its top. The official SDKs raise an error at that alone: at the end of any
// other chunk they take the answer for whole (openai 6.49.0, measured 2026-12).
// One that is so already stays as it is.
func (s *stream) AppendFailed(b []byte, ev *wire.Event) []byte {
	if isVendors(ev.Data) {
		return append(b, ev.Raw...)
	}
	b = append(b, "data: "...)
	b = append(b, s.ErrorBody(ev)...)
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
		e.Type = "server_error"
	}
	b := wire.AppendString([]byte(`{"error":{"message":`), e.Message)
	b = wire.AppendString(append(b, `,"type":`...), e.Type)
	b = append(b, `,"code":`...)
	if e.Code != nil {
		b = wire.AppendString(b, e.CodeText()) // strict decoders take no number
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"param":null`...)
	if e.Metadata != nil {
		b = append(append(b, `,"metadata":`...), e.Metadata...)
	}
	return append(b, "}}"...)
}

// isVendors tells an error where the vendor has it from those of compatible
// vendors.
func isVendors(data []byte) bool {
	var v struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(data, &v) // choices may be of any type
	return len(v.Error) > 0 && v.Error[0] == '{'
}
