package admin

import (
	"context"
	"errors"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
)

// Sizes of bodies.
const (
	maxBody   = 1 << 20
	maxImport = 16 << 20
	// readBody is how long a body may take to arrive.
	readBody = 30 * time.Second
)

// operation is one operation of the API with all that the guard, the handler
// and the document need.
type operation struct {
	huma.Operation
	role Role
	// public: everybody may call it. It has no role.
	public bool
	// body describes the request's body; nil is none. It is read raw.
	body         *huma.Schema
	optionalBody bool
	// lenient: parameters that are not known are ignored.
	lenient bool
	// yaml: the body may be YAML instead.
	yaml bool
	// accepts: Accept chooses the form of the answer; elsewhere it is JSON.
	accepts bool
	// answers are the statuses of success; a nil content is no body.
	answers map[int]map[string]*huma.MediaType
	errors  []int
}

// Keys of an operation's metadata.
const (
	roleKey    = "role"
	acceptsKey = "accepts"
	lenientKey = "lenient"
	publicKey  = "public"
)

// jsonBody describes a JSON answer.
func jsonBody(s *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: s}}
}

// register declares one operation.
func register[I, O any](s *server, op operation, handle func(context.Context, *I) (*O, error)) {
	op.Metadata = map[string]any{roleKey: op.role, acceptsKey: op.accepts, lenientKey: op.lenient, publicKey: op.public}
	op.Extensions = map[string]any{"x-role": string(op.role)}
	if op.public {
		op.Extensions["x-role"] = "public"
		op.Security = []map[string][]string{{}} // none is needed
	}
	op.Responses = map[string]*huma.Response{}
	op.SkipValidateBody = true // it is read strictly where it is used
	if op.body != nil {
		op.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{}}
		if op.MaxBodyBytes == 0 {
			op.MaxBodyBytes = maxBody
		}
		op.MaxBodyBytes++ // huma refuses the limit itself
		op.BodyReadTimeout = readBody
	}
	huma.Register(s.api, op.Operation, func(ctx context.Context, in *I) (*O, error) {
		bodyRead(ctx)
		out, err := handle(ctx, in)
		if err != nil {
			return nil, s.problem(ctx, err, resource.Ref{})
		}
		return out, nil
	})
	s.document(&op)
}

// document replaces what huma derived of the bodies, which it sees raw.
func (s *server) document(op *operation) {
	if op.body != nil {
		op.RequestBody.Content = jsonBody(op.body)
		if op.yaml {
			op.RequestBody.Content[yamlType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
		}
		op.RequestBody.Required = !op.optionalBody
	}
	headers := map[string]*huma.Param{}
	for status, r := range op.Responses {
		if len(r.Headers) > 0 {
			headers = r.Headers
		}
		delete(op.Responses, status)
	}
	delete(headers, "Content-Type")
	for status, content := range op.answers {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: content, Headers: headers}
	}
	failed := slices.Concat(op.errors, []int{http.StatusBadRequest, http.StatusServiceUnavailable})
	if !op.public {
		failed = append(failed, http.StatusUnauthorized, http.StatusForbidden)
	}
	if op.body != nil {
		failed = append(failed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	for _, status := range failed {
		op.Responses[strconv.Itoa(status)] = s.problemResponse(status)
	}
}

// problemResponse describes an answer that is an error, once for the whole
// document.
func (s *server) problemResponse(status int) *huma.Response {
	all := s.api.OpenAPI().Components.Responses
	name := strings.ReplaceAll(http.StatusText(status), " ", "")
	if all[name] == nil {
		all[name] = &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: schemaOf[Problem](s)}},
		}
	}
	return &huma.Response{Ref: "#/components/responses/" + name}
}

// guard lets a request through to its operation: known, allowed, well formed.
func (s *server) guard(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	known := context.WithValue(context.WithValue(r.Context(), requestKey{}, r), writerKey{}, w)
	if public, _ := ctx.Operation().Metadata[publicKey].(bool); public {
		if !unforgeable(r) {
			forged().write(w)
			return
		}
	} else {
		who, token, p := s.admit(r, ctx.Operation())
		if p != nil {
			p.write(w)
			return
		}
		known = context.WithValue(withPrincipal(known, who), sessionKey{}, secret.New(token))
	}
	if p := wellFormed(r, ctx.Operation()); p != nil {
		p.write(w)
		return
	}
	if accepts, _ := ctx.Operation().Metadata[acceptsKey].(bool); !accepts {
		r.Header.Del("Accept") // huma would answer with any name of the form as Content-Type
	}
	if ctx.Operation().Metadata[lenientKey] == true {
		dropUnknown(r, ctx.Operation())
	}
	next(huma.WithContext(ctx, known))
}

// admit tells who calls, if they may.
func (s *server) admit(r *http.Request, op *huma.Operation) (who Principal, token string, p *Problem) {
	who, token, err := s.who(r)
	if errors.Is(err, ErrUnauthenticated) {
		return who, "", fault(http.StatusUnauthorized, "unauthenticated", "send a valid admin token as Authorization: Bearer TOKEN, or sign in to the console")
	}
	if err != nil {
		return who, "", s.problem(r.Context(), err, resource.Ref{})
	}
	need, ok := op.Metadata[roleKey].(Role)
	if !ok || !who.Role.may(need) {
		return who, "", fault(http.StatusForbidden, "forbidden", "this needs the role %s; %s has %q", need, who.Name, who.Role)
	}
	return who, token, nil
}

type writerKey struct{}

// bodyRead ends the limit of the body's arrival. It is no limit of the answer:
// when it passes, the server takes the client for gone and cancels the request.
func bodyRead(ctx context.Context) {
	if w, ok := ctx.Value(writerKey{}).(http.ResponseWriter); ok {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // one that has none needs none
	}
}

// dropUnknown takes the parameters out of a request that its operation does not
// have.
func dropUnknown(r *http.Request, op *huma.Operation) {
	query := r.URL.Query()
	maps.DeleteFunc(query, func(name string, _ []string) bool {
		return !slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "query" && p.Name == name })
	})
	r.URL.RawQuery = query.Encode()
}

// wellFormed refuses what huma would read in a forgiving way.
func wellFormed(r *http.Request, op *huma.Operation) *Problem {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return invalid("query", "the part after the ? is malformed")
	}
	for name, values := range query {
		if len(values) > 1 {
			return invalid("query."+name, "this parameter appears twice")
		}
	}
	for _, name := range []string{"dryRun", "prune", "portable"} {
		if query.Has(name) && query.Get(name) != "true" && query.Get(name) != "false" {
			return invalid("query."+name, "write true or false")
		}
	}
	if op.RequestBody == nil || r.ContentLength == 0 {
		return nil
	}
	if p := sendable(r.Header.Get("Content-Type"), op); p != nil {
		return p
	}
	if r.Header.Get("Content-Encoding") != "" {
		return fault(http.StatusUnsupportedMediaType, "unsupported_media_type", "send the body without Content-Encoding")
	}
	return nil
}

// Media types of bodies, besides JSON.
const (
	formType = "application/x-www-form-urlencoded"
	yamlType = "application/yaml"
)

// sendable refuses bodies of a media type that the operation does not take.
// What curl -d calls a form is read as what it should be.
func sendable(sent string, op *huma.Operation) *Problem {
	if sent == "" {
		return nil
	}
	media, params, err := mime.ParseMediaType(sent)
	charset := strings.ToLower(params["charset"])
	known := media == "application/json" || media == formType || isYAML(media) && op.RequestBody.Content[yamlType] != nil
	if err == nil && known && (charset == "" || charset == "utf-8") {
		return nil
	}
	takes := strings.Join(slices.Sorted(maps.Keys(op.RequestBody.Content)), " or ")
	return fault(http.StatusUnsupportedMediaType, "unsupported_media_type", "the body is %q; send %s", sent, takes)
}

func isYAML(media string) bool {
	return media == yamlType || media == "text/yaml" || media == "application/x-yaml" || media == "text/x-yaml"
}
