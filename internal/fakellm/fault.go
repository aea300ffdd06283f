package fakellm

import (
	"encoding/json"
	"net/http"
	"time"
)

// statusOverloaded is Anthropic's own status.
const statusOverloaded = 529

// shape is the dialect of errors for this request.
func (c *call) shape() string {
	if c.rule.Shape != "" {
		return c.rule.Shape
	}
	return c.ep.shape
}

// fault is an error to send.
type fault struct {
	shape              string
	status             int
	typ, code, message string
	response           object // of shapeResponseFailed
}

// fault is the one that the rule scripts; status is used when it has none.
func (c *call) fault(status int) fault {
	u := c.rule
	f := fault{shape: c.shape(), status: u.Status, typ: u.Type, code: u.Code, message: u.Message}
	if f.status == 0 {
		f.status = status
	}
	if f.message == "" {
		f.message = "scripted fault " + http.StatusText(f.status)
	}
	if f.shape == shapeResponseFailed {
		f.response = c.responseObject(time.Now().Unix(), "failed", []any{}, nil)
		f.response["error"] = object{"code": f.codeOrType(), "message": f.message}
	}
	return f
}

func (c *call) sendFault(status int) {
	f := c.fault(status)
	if body := []byte(c.rule.Body); len(body) > 0 {
		contentType := "application/json"
		if !json.Valid(body) {
			contentType = "text/plain; charset=utf-8"
		}
		c.send(f.status, contentType, body)
		return
	}
	c.sendShaped(f)
}

// sendError sends an error that no rule scripts.
func (c *call) sendError(status int, message string) {
	c.sendShaped(fault{shape: c.shape(), status: status, message: message})
}

func (c *call) sendShaped(f fault) {
	switch f.shape {
	case shapeEmpty:
		c.send(f.status, "text/plain", nil)
		return
	case shapeHTML:
		c.send(f.status, "text/html", []byte("<html><body><h1>"+http.StatusText(f.status)+"</h1></body></html>"))
		return
	case shapePlain:
		c.send(f.status, "text/plain", []byte(f.message))
		return
	case shapeBedrock:
		c.w.Header().Set("X-Amzn-Errortype", f.bedrockType())
	}
	c.send(f.status, "application/json", mustJSON(f.object()))
}

// sendError200 puts the status into the body alone, where OpenRouter has it as
// a number.
func (c *call) sendError200() {
	if body := []byte(c.rule.Body); len(body) > 0 {
		c.send(http.StatusOK, "application/json", body)
		return
	}
	f := c.fault(http.StatusBadGateway)
	o := f.object()
	if e, ok := o["error"].(object); ok && e["code"] == nil && f.shape == shapeOpenAI {
		e["code"] = f.status
	}
	c.send(http.StatusOK, "application/json", mustJSON(o))
}

// object is a JSON object in a dialect that the tests of a gateway look into
// too little to need a type.
type object = map[string]any

// object is the error as the dialect's body has it.
func (f fault) object() object {
	typ := f.typ
	switch f.shape {
	case shapeAnthropic:
		if typ == "" {
			typ = anthropicType(f.status)
		}
		return object{"type": "error", "error": object{"type": typ, "message": f.message}, "request_id": "req_fake"}
	case shapeGoogle:
		if typ == "" {
			typ = googleStatus(f.status)
		}
		return object{"error": object{"code": f.status, "message": f.message, "status": typ}}
	case shapeBedrock:
		return object{"message": f.message}
	}
	if typ == "" {
		typ = openAIType(f.status)
	}
	if f.response != nil {
		return f.response
	}
	return object{"error": object{"message": f.message, "type": typ, "param": nil, "code": f.codeOrNil()}}
}

// event is the error as a stream event, its name and data; sent frames came
// before.
func (f fault) event(sent int) (name string, data object) {
	switch {
	case f.response != nil:
		return "response.failed", object{"type": "response.failed", "sequence_number": sent, "response": f.response}
	case f.shape == shapeResponses:
		return "error", object{"type": "error", "code": f.codeOrType(), "message": f.message, "param": nil, "sequence_number": sent}
	}
	return "error", f.object()
}

func (f fault) codeOrType() string {
	for _, s := range []string{f.code, f.typ} {
		if s != "" {
			return s
		}
	}
	return openAIType(f.status)
}

func (f fault) codeOrNil() any {
	if f.code == "" {
		return nil
	}
	return f.code
}

func anthropicType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusConflict:
		return "conflict_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case statusOverloaded:
		return "overloaded_error"
	}
	if status < http.StatusInternalServerError {
		return "invalid_request_error"
	}
	return "api_error"
}

func openAIType(status int) string {
	switch {
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status < http.StatusInternalServerError:
		return "invalid_request_error"
	}
	return "server_error"
}

func googleStatus(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusPaymentRequired, http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable, statusOverloaded:
		return "UNAVAILABLE"
	case http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED"
	}
	return "INTERNAL"
}

func (f fault) bedrockType() string {
	if f.typ != "" {
		return f.typ
	}
	switch f.status {
	case http.StatusBadRequest:
		return "ValidationException"
	case http.StatusUnauthorized:
		return "UnrecognizedClientException"
	case http.StatusForbidden:
		return "AccessDeniedException"
	case http.StatusNotFound:
		return "ResourceNotFoundException"
	case http.StatusTooManyRequests:
		return "ThrottlingException"
	case http.StatusServiceUnavailable:
		return "ServiceUnavailableException"
	}
	return "InternalServerException"
}
