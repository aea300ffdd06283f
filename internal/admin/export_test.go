package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// Contract checks answers against the OpenAPI document, more strictly than
// the document itself: a field that it does not name is an error.
func Contract() (func(method, path string, status int, contentType string, body []byte) error, error) {
	s, err := build(Options{})
	if err != nil {
		return nil, err
	}
	doc := s.api.OpenAPI()
	for _, schema := range doc.Components.Schemas.Map() {
		strict(schema)
	}
	var mu sync.Mutex // validating prepares schemas
	return func(method, path string, status int, contentType string, body []byte) error {
		op := operationOf(doc, method, path)
		if op == nil {
			return fmt.Errorf("%s %s is no operation", method, path)
		}
		r := op.Responses[fmt.Sprint(status)]
		if r == nil {
			return fmt.Errorf("%s: the status %d is not described", op.OperationID, status)
		}
		if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
			r = doc.Components.Responses[name]
		}
		media, _, _ := strings.Cut(contentType, ";")
		if len(r.Content) == 0 && len(body) == 0 {
			return nil
		}
		content := r.Content[media]
		if content == nil {
			return fmt.Errorf("%s: the content type %q is not described for %d", op.OperationID, media, status)
		}
		if !strings.HasSuffix(media, "json") || media == "application/x-ndjson" {
			return nil
		}
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			return fmt.Errorf("%s: the body is not JSON: %w", op.OperationID, err)
		}
		mu.Lock()
		defer mu.Unlock()
		strict(content.Schema)
		res := &huma.ValidateResult{}
		huma.Validate(doc.Components.Schemas, content.Schema, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, v, res)
		if len(res.Errors) > 0 {
			return fmt.Errorf("%s: the answer %d is not as described: %v", op.OperationID, status, res.Errors)
		}
		return nil
	}, nil
}

func strict(s *huma.Schema) {
	if s.Type == huma.TypeObject && s.Properties != nil && s.AdditionalProperties == nil {
		s.AdditionalProperties = false
	}
	s.PrecomputeMessages()
}

func operationOf(doc *huma.OpenAPI, method, path string) *huma.Operation {
	parts := strings.Split(strings.TrimPrefix(path, Prefix), "/")
	for template, item := range doc.Paths {
		want := strings.Split(template, "/")
		match := len(want) == len(parts)
		for i := 0; match && i < len(want); i++ {
			match = want[i] == parts[i] || strings.HasPrefix(want[i], "{")
		}
		if match {
			return map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodDelete: item.Delete}[method]
		}
	}
	return nil
}

// Operation is one operation of the document, for tests that call all of them.
type Operation struct {
	ID, Method, Path string
	Role             Role
	Body, Public     bool
}

// Operations lists all operations of the document.
func Operations() ([]Operation, error) {
	s, err := build(Options{})
	if err != nil {
		return nil, err
	}
	var out []Operation
	for path, item := range s.api.OpenAPI().Paths {
		for method, op := range map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "DELETE": item.Delete, "PATCH": item.Patch, "HEAD": item.Head, "OPTIONS": item.Options} {
			if op != nil {
				role, _ := op.Metadata[roleKey].(Role)
				out = append(out, Operation{op.OperationID, method, Prefix + path, role, op.RequestBody != nil, op.Metadata[publicKey] == true})
			}
		}
	}
	return out, nil
}

// Fuzzed parts.
var (
	ReadObject = readObject
	IfMatch    = ifMatch
)

// WriteYAML is writeYAML.
var WriteYAML = writeYAML

// Enums are the values of fields with a fixed choice.
func (r Resource) Enums() map[string][]string { return r.enums }
