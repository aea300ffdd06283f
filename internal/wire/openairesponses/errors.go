package openairesponses

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/interlock-gateway/interlock/internal/wire"
)

// errorType maps a status to the vendor's error type.
func errorType(e *wire.Error) string {
	switch {
	case e.Status == 429 && quota(e):
		return "insufficient_quota"
	case e.Status == 429:
		return "rate_limit_error"
	case e.Status < 500:
		return "invalid_request_error"
	}
	return "server_error"
}

func quota(e *wire.Error) bool { return e.Code == "upstream_quota" || e.Code == "budget_exceeded" }

// failureCode maps an error to the code of a response that failed. Codex
// decides by it (0.171.0, measured 2026-11): after invalid_prompt it stops and
// shows the message as it is; after insufficient_quota and
// context_length_exceeded it stops with a text of its own; after
// rate_limit_exceeded it waits as long as the message says ("try again in 2s");
// after any other it asks again, five times, and then shows the message.
func failureCode(e *wire.Error) string {
	switch {
	case e.Code == "context_length_exceeded":
		return e.Code
	case e.Status == 429 && quota(e):
		return "insufficient_quota"
	case e.Status == 429:
		return "rate_limit_exceeded"
	case e.Status == 408, e.Status == 409, e.Status >= 500: // may pass
		return "server_error"
	}
	return "invalid_prompt"
}

func appendError(b []byte, e *wire.Error) []byte {
	b = append(b, `{"error":`...)
	b = appendErrorObject(b, &errorObject{e.Text(), errorType(e), e.Code})
	return append(b, '}')
}

// appendStreamError renders the error as the first event of a stream. After
// others it comes from the reader: see stream.AppendStreamError.
func appendStreamError(b []byte, e *wire.Error) []byte {
	return new(stream).AppendStreamError(b, e)
}

// AppendStreamError renders a gateway-made error as the event that ends the
// stream which s has followed, with its response's id and sequence number.
func (s *stream) AppendStreamError(b []byte, e *wire.Error) []byte {
	id := s.id
	if id == "" {
		id = "resp_" + e.RequestID
	}
	return s.appendFailed(b, id, failureCode(e), &errorObject{e.Text(), errorType(e), e.Code})
}

// AppendFailed renders a provider's error event, of which Kind said that it
// failed, as a client is to get it after content. That is response.failed:
// Codex passes over every other error event and reports a lost connection. A
// response.failed stays as it is.
func (s *stream) AppendFailed(b []byte, ev *wire.Event) []byte {
	if string(typeOf(ev)) == "response.failed" {
		return append(b, ev.Raw...)
	}
	e := providerError(ev.Data)
	code := e.Code
	if code == "" {
		code = e.Type
	}
	if code == "" {
		code = "server_error"
	}
	s.next-- // it takes the place of ev
	id := s.id
	if id == "" { // nothing came before it
		id = "resp_failed"
	}
	return s.appendFailed(b, id, code, &e)
}

// ErrorBody renders a provider's error event as an error body: the SDKs read
// that from its member "error", which OpenAI's own events have not.
func (s *stream) ErrorBody(ev *wire.Event) []byte {
	var v struct{ Error struct{ Message string } }
	if json.Unmarshal(ev.Data, &v) == nil && v.Error.Message != "" {
		return bytes.Clone(ev.Data) // one of Chat Completions'
	}
	e := providerError(ev.Data)
	if e.Type == "" {
		e.Type = e.Code
	}
	if e.Type == "" {
		e.Type = "server_error"
	}
	return append(appendErrorObject([]byte(`{"error":`), &e), '}')
}

// errorObject is the vendor's error object.
type errorObject struct{ Message, Type, Code string }

func appendErrorObject(b []byte, o *errorObject) []byte {
	b = append(b, `{"message":`...)
	b = wire.AppendString(b, o.Message)
	b = append(b, `,"type":`...)
	b = wire.AppendString(b, o.Type)
	b = append(b, `,"code":`...)
	b = wire.AppendString(b, o.Code)
	return append(b, `,"param":null}`...)
}

// appendFailed renders response.failed with all that the SDKs' types require;
// strict decoders refuse an event with less. The error object at the top is not
// the vendor's: without it the official SDKs for Node and Go hand the event
// over like any other, and a program that waits for texts only takes the cut
// answer for a whole one (openai 6.49.0 and openai-go 3.99.0, measured 2026-11).
// created_at is unknown here: nothing in this package knows the time.
func (s *stream) appendFailed(b []byte, id, code string, o *errorObject) []byte {
	b = append(b, "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":"...)
	b = strconv.AppendInt(b, s.next, 10)
	b = append(b, `,"response":{"id":`...)
	b = wire.AppendString(b, id)
	b = append(b, `,"object":"response","created_at":0,"status":"failed","error":{"code":`...)
	b = wire.AppendString(b, code)
	b = append(b, `,"message":`...)
	b = wire.AppendString(b, o.Message)
	b = append(b, `},"incomplete_details":null,"instructions":null,"metadata":{},"model":`...)
	b = wire.AppendString(b, s.model)
	b = append(b, `,"output":[],"parallel_tool_calls":true,"temperature":null,"tool_choice":"auto","tools":[],"top_p":null,"usage":null},"error":`...)
	b = appendErrorObject(b, o)
	return append(b, "}\n\n"...)
}

// providerError reads an error in the forms that providers use in a stream.
func providerError(data []byte) errorObject {
	e := wire.ReadProviderError(data)
	return errorObject{Message: e.Message, Type: e.Type, Code: e.CodeText()}
}
