package wire

import (
	"bytes"
	"encoding/json"
)

// ProviderError is what a provider says of a failure in an event of a stream.
type ProviderError struct {
	// Message is never empty.
	Message string
	Type    string
	// Code is JSON, a text or a number; nil if there is none.
	Code []byte
	// Metadata is a JSON object without line ends, OpenRouter's; nil without
	// one.
	Metadata []byte
}

// ReadProviderError reads an error in the forms that providers use in a stream:
// an object or a text under "error"; the error of a choice (OpenRouter) or of a
// response; a flat one; or plain text.
func ReadProviderError(data []byte) ProviderError {
	type holder struct {
		Error json.RawMessage `json:"error"`
	}
	var v struct {
		Error    json.RawMessage `json:"error"`
		Response holder          `json:"response"`
		Choices  []holder        `json:"choices"`
	}
	_ = json.Unmarshal(data, &v) // what has the expected type is read all the same
	forms := [][]byte{v.Error, v.Response.Error}
	for _, c := range v.Choices {
		forms = append(forms, c.Error)
	}
	var found ProviderError
	for _, raw := range append(forms, data) {
		e := providerError(raw)
		if found.Message == "" && (e.Message != "" || found.Type == "" && found.Code == nil) {
			found = e
		}
	}
	if text := bytes.TrimSpace(data); found.Message == "" && !json.Valid(text) {
		found.Message = string(text)
	}
	if found.Message == "" {
		found.Message = "the provider reported an error without a message"
	}
	return found
}

// providerError reads an error object, or a text.
func providerError(raw []byte) (e ProviderError) {
	var v struct {
		Message  string          `json:"message"`
		Type     string          `json:"type"`
		Code     json.RawMessage `json:"code"` // some vendors write a number
		Metadata json.RawMessage `json:"metadata"`
	}
	if json.Unmarshal(raw, &e.Message) == nil {
		return e
	}
	_ = json.Unmarshal(raw, &v) // what has the expected type is read all the same
	e.Message, e.Type = v.Message, v.Type
	if e.Type == "error" { // the event's, in a flat one
		e.Type = ""
	}
	if c := v.Code; len(c) > 0 && (c[0] == '"' || c[0] == '-' || '0' <= c[0] && c[0] <= '9') {
		e.Code = c
	}
	if m := v.Metadata; len(m) > 0 && m[0] == '{' {
		var b bytes.Buffer
		if json.Compact(&b, m) == nil {
			e.Metadata = b.Bytes()
		}
	}
	return e
}

// CodeText is the code as a text; empty if there is none.
func (e *ProviderError) CodeText() string {
	var s string
	if json.Unmarshal(e.Code, &s) != nil {
		return string(e.Code)
	}
	return s
}
