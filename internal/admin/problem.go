package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/auth/password"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

// retryAfter is how many seconds a client should wait after a 503.
const retryAfter = "5"

// Problem is every answer that is an error, in the form of RFC 9457.
type Problem struct {
	// Type is always about:blank; Code tells problems apart.
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Code is machine-readable and stable, such as invalid, in_use or stale.
	Code string `json:"code"`
	// Detail says in words what happened and what to do.
	Detail string `json:"detail"`
	// Errors are the single fields that are wrong.
	Errors []FieldError `json:"errors,omitempty"`
	// Refs are the other objects that take part, such as the users of what
	// was to be deleted.
	Refs []resource.Ref `json:"refs,omitempty"`

	headers http.Header
	seen    map[resource.Ref]bool // Refs: there can be thousands
}

// FieldError is one thing that is wrong with a request.
type FieldError struct {
	// Path is the field, relative to the object, such as
	// members[0].provider; query.limit for a parameter.
	Path    string `json:"path"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
	// Object is whose field it is.
	Object *resource.Ref `json:"object,omitempty"`
	// Line is set for text with lines, from 1.
	Line int `json:"line,omitempty"`
	// Column counts characters, from 1.
	Column int `json:"column,omitempty"`
}

// Error is the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header { return p.headers }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// fault makes a problem.
func fault(status int, code, format string, args ...any) *Problem {
	p := &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: fmt.Sprintf(format, args...), headers: http.Header{}}
	switch status {
	case http.StatusServiceUnavailable:
		p.headers.Set("Retry-After", retryAfter)
	case http.StatusUnauthorized:
		p.headers.Set("WWW-Authenticate", `Bearer realm="interlock"`)
	}
	return p
}

// invalid is a problem with one field or parameter.
func invalid(path, format string, args ...any) *Problem {
	message := fmt.Sprintf(format, args...)
	p := fault(http.StatusBadRequest, "invalid", "%s: %s", path, message)
	if path == "" {
		p.Detail = message
	}
	p.Errors = []FieldError{{Path: path, Message: message, Code: "invalid"}}
	return p
}

// write sends a problem outside of huma.
func (p *Problem) write(w http.ResponseWriter) {
	h := w.Header()
	maps.Copy(h, p.headers)
	h.Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(p) // nobody is left to tell
}

// problem turns any error into what a client may see. target is the object
// that the request is about; it is not repeated among the refs.
func (s *server) problem(ctx context.Context, err error, target resource.Ref) *Problem {
	var p *Problem
	var refused *control.Error
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &refused):
		return refusal(refused, target)
	case errors.Is(err, password.ErrBusy):
		return busy()
	case errors.Is(err, errForged):
		return forged()
	case errors.Is(err, store.ErrNotFound):
		return fault(http.StatusNotFound, "not_found", "it is not there")
	case errors.Is(err, store.ErrConflict):
		return fault(http.StatusConflict, "conflict", "%s conflicts with another object, such as one whose name differs only in case", target)
	case errors.Is(err, store.ErrUnavailable):
		return fault(http.StatusServiceUnavailable, "store_unavailable", "the store can't be reached now; try again")
	case ctx.Err() != nil:
		return fault(http.StatusServiceUnavailable, "canceled", "the request was canceled")
	}
	return s.internal(ctx, err)
}

// internal logs a fault of ours and says only where to find it. It is a 503: no
// fault of ours is for a client to take as final (RQ-503).
func (s *server) internal(ctx context.Context, err error) *Problem {
	id := requestID(ctx)
	s.log.ErrorContext(ctx, "the admin API failed", "requestId", id, "error", err)
	return fault(http.StatusServiceUnavailable, "internal", "an internal error; try again, and if it stays, the log of the server has more under the request id %s", id)
}

// refusal shows a refused change.
func refusal(e *control.Error, target resource.Ref) *Problem {
	p := fault(e.Status, e.Code, "%s", e.Detail)
	for _, problem := range e.Problems {
		p.add(problem, target, "")
	}
	if len(p.Errors) == 1 && !strings.Contains(p.Detail, p.Errors[0].Message) {
		p.Detail += ": " + p.Errors[0].Message
	}
	return p
}

// add shows one problem; prefix is put before the path of the target's fields.
func (p *Problem) add(x resource.Problem, target resource.Ref, prefix string) {
	e := FieldError{Path: prefix + x.Path, Message: x.Message, Code: x.Code}
	if prefix != "" && x.Path != "" && !strings.HasPrefix(x.Path, "[") {
		e.Path = prefix + "." + x.Path
	}
	if x.Object.Kind != "" {
		e.Object = &x.Object
	}
	if x.Pos != nil {
		e.Line, e.Column = x.Pos.Line, x.Pos.Column
	}
	p.Errors = append(p.Errors, e)
	for _, r := range slices.Concat([]resource.Ref{x.Object}, x.Refs) {
		if r.Kind != "" && r.Name != "" && r != target && !p.seen[r] {
			if p.seen == nil {
				p.seen = map[resource.Ref]bool{}
			}
			p.seen[r] = true
			p.Refs = append(p.Refs, r)
		}
	}
}

// problems shows what is wrong with a body.
func problems(list resource.Problems, target resource.Ref) *Problem {
	return refusal(&control.Error{Status: http.StatusBadRequest, Code: list[0].Code, Detail: "the request is refused", Problems: list}, target)
}

// newHumaError replaces huma's own form of errors, which come from parameters
// and from reading the body.
func newHumaError(status int, message string, errs ...error) huma.StatusError {
	switch status {
	case http.StatusUnprocessableEntity:
		status = http.StatusBadRequest
	case http.StatusInternalServerError: // handlers give problems; what is left is reading the body
		return fault(http.StatusBadRequest, "unreadable", "the body could not be read to its end")
	case http.StatusRequestEntityTooLarge:
		return fault(status, "too_large", "the body is too large; send at most 1 MiB, or 16 MiB to import")
	}
	code := "invalid"
	if status != http.StatusBadRequest {
		code = strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_")
	}
	p := fault(status, code, "%s", message)
	for _, err := range errs {
		var d huma.ErrorDetailer
		if errors.As(err, &d) { // without its value, which may be a secret
			p.Errors = append(p.Errors, FieldError{Path: d.ErrorDetail().Location, Message: d.ErrorDetail().Message, Code: code})
		}
	}
	if len(p.Errors) == 1 {
		p.Detail = p.Errors[0].Path + ": " + p.Errors[0].Message
	}
	return p
}
