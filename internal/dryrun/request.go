package dryrun

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// Request is the question.
type Request struct {
	// Model is the model as a client would write it.
	Model string `json:"model"`
	// Endpoint is chat_completions, messages or count_tokens. Left out it is
	// messages for a model whose route's first member speaks
	// anthropic-messages, else chat_completions.
	Endpoint string `json:"endpoint,omitempty"`
	Stream   bool   `json:"stream,omitempty"`
	// Key names a key: its ceilings and its virtual credential count. Left out,
	// the caller has a key without restrictions.
	Key string `json:"key,omitempty"`
	// Caller is not used by this version.
	Caller *Caller `json:"caller,omitempty"`
	// Headers are the client's. Those that the decision reads are
	// x-interlock-session, with the other names of a session, and
	// x-interlock-no-fallback.
	Headers map[string]string `json:"headers,omitempty"`
	// Params are fields of the body. Those that name a session are read.
	Params map[string]any `json:"params,omitempty"`
	// PromptTokens is the size of the prompt; 0 is unknown.
	PromptTokens int `json:"promptTokens,omitempty" minimum:"0"`
	// PII supposes personal data in the prompt. It is not used by this version.
	PII bool `json:"pii,omitempty"`
	// BudgetUsed is what is spent of a budget, in USD. It is not used by this
	// version.
	BudgetUsed *float64 `json:"budgetUsed,omitempty"`
	// TokensUsed is what is used of a token limit. It is not used by this
	// version.
	TokensUsed *int64 `json:"tokensUsed,omitempty"`
	// CallerCredential: the caller brings a provider's credential of its own.
	CallerCredential bool `json:"callerCredential,omitempty"`
	// Session is the id of a session, as x-interlock-session would have it.
	Session string `json:"session,omitempty"`
	Assume  Assume `json:"assume,omitzero"`
	// Failures are categories of failures, in the order in which the candidates
	// that are dialled would end with them.
	Failures []failure.Category `json:"failures,omitempty"`
	// Seed makes what is drawn at random the same as in the answer that
	// reported it; 0 or left out chooses one. At most 2^53-1.
	Seed uint64 `json:"seed,omitempty" maximum:"9007199254740991"`
}

// MaxSeed is the largest seed: the largest whole number that every JSON reader
// keeps.
const MaxSeed = 1<<53 - 1

// Caller is whom the caller belongs to.
type Caller struct {
	User       string `json:"user,omitempty"`
	Team       string `json:"team,omitempty"`
	Department string `json:"department,omitempty"`
	Workload   string `json:"workload,omitempty"`
}

// Assume are the what-ifs.
type Assume struct {
	// Down are providers whose circuit breaker counts as open.
	Down []string `json:"down,omitempty"`
	// Parked are providers that count as parked for exhausted quota.
	Parked []string `json:"parked,omitempty"`
	// IgnoreGrantRoute is not used by this version: there are no grants.
	IgnoreGrantRoute bool `json:"ignoreGrantRoute,omitempty"`
}

// IsZero tells whether nothing is supposed.
func (a Assume) IsZero() bool { return len(a.Down)+len(a.Parked) == 0 && !a.IgnoreGrantRoute }

// FieldError says which field of a Request is wrong, and why.
type FieldError struct {
	// Field is the path, such as assume.down[0].
	Field   string
	Message string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Message }

func wrong(field, format string, args ...any) error {
	return &FieldError{Field: field, Message: fmt.Sprintf(format, args...)}
}

// Bounds on what a question may hold: it is answered while requests are served.
const maxFailures = 100

// Check says what is wrong with a question by itself. Its error is a
// *FieldError.
func (r *Request) Check() error {
	switch {
	case r.Model == "":
		return wrong("model", "name the model as a client would write it")
	case utf8.RuneCountInString(r.Model) > wire.MaxModelChars:
		return wrong("model", "it has more than %d characters, and a request with it is refused", wire.MaxModelChars)
	case resource.LooksSecret(r.Model):
		return wrong("model", "it holds a key instead of a model's name; check where it comes from, and rotate the key if it was sent elsewhere")
	case r.PromptTokens < 0:
		return wrong("promptTokens", "it can't be negative")
	case r.Seed > MaxSeed:
		return wrong("seed", "it can be at most %d", uint64(MaxSeed))
	case len(r.Failures) > maxFailures:
		return wrong("failures", "there are more than %d", maxFailures)
	}
	for i, c := range r.Failures {
		if !c.Valid() {
			return wrong(fmt.Sprintf("failures[%d]", i), "%q is not a failure category; they are %s", c, join(failure.Categories()))
		}
	}
	if r.Endpoint != "" && endpoint(r.Endpoint) == nil {
		return wrong("endpoint", "%q is not an endpoint of this version; they are %s", r.Endpoint, join(Endpoints()))
	}
	return nil
}

func join[T ~string](list []T) string {
	var names []string
	for _, v := range list {
		names = append(names, string(v))
	}
	return strings.Join(names, ", ")
}

// Endpoints are the endpoints that a question can name.
func Endpoints() []llm.EndpointID {
	var out []llm.EndpointID
	for _, e := range formats.Endpoints() {
		out = append(out, e.ID)
	}
	return out
}

func endpoint(id string) *llm.Endpoint {
	for _, e := range formats.Endpoints() {
		if string(e.ID) == id {
			return e
		}
	}
	return nil
}

// EndpointOf is the endpoint that a provider of a wire format serves a plain
// request at; nil for a format that this version does not have.
func EndpointOf(f llm.Format) *llm.Endpoint {
	if f == llm.AnthropicMessages {
		return endpoint(string(llm.Messages))
	}
	for _, e := range formats.Endpoints() {
		if e.Format == f {
			return e
		}
	}
	return nil
}

// header is the client's, in canonical form.
func (r *Request) header() http.Header {
	h := http.Header{}
	for name, v := range r.Headers {
		h.Set(name, v)
	}
	if r.Session != "" {
		h.Set("X-Interlock-Session", r.Session)
	}
	return h
}

// envelope is a body with the fields that the question names.
func (r *Request) envelope() *wire.Envelope {
	e := &wire.Envelope{}
	body := map[string]any{"model": "m"}
	for name, v := range r.Params {
		if name != "model" && name != "stream" {
			body[name] = v
		}
	}
	if b, err := json.Marshal(body); err == nil {
		_ = wire.ReadEnvelope(e, b, wire.NewNames(), false) // what is no body has no session
	}
	return e
}

// session is the hash of the session that the gateway would find in the headers
// or in the fields of the body.
func (r *Request) session(h http.Header) string {
	return wire.SessionHash(wire.SessionID(h, r.envelope()))
}

// tied tells whether the fields of the body, or the setting always, tie the
// request to one candidate.
func (r *Request) tied(e *llm.Endpoint, always bool) bool {
	for _, f := range formats.All() {
		if f.ID == e.Format && f.Tied != nil {
			tied, _ := f.Tied(r.envelope())
			return tied || always
		}
	}
	return false
}

// warnings name what the question has and the decision does not read.
func (r *Request) warnings() []string {
	var out []string
	unused := func(field string, there bool) {
		if there {
			out = append(out, field+": not used by this version")
		}
	}
	unused("caller", r.Caller != nil)
	for name, v := range r.Params {
		one := Request{Params: map[string]any{name: v}}
		unused("params."+name, one.session(nil) == "" && !one.tied(endpoint(string(llm.Responses)), false))
	}
	slices.Sort(out)
	unused("pii", r.PII)
	unused("budgetUsed", r.BudgetUsed != nil)
	unused("tokensUsed", r.TokensUsed != nil)
	unused("assume.ignoreGrantRoute", r.Assume.IgnoreGrantRoute)
	for _, name := range headerNames(r.Headers) {
		if !isRead(name, r.Headers[name]) {
			out = append(out, "headers."+name+": the decision does not read it")
		}
	}
	return out
}

// unknown names what is supposed of providers that are not there.
func (r *Request) unknown(providers []*routing.Provider) []string {
	var out []string
	for _, list := range []struct {
		field string
		names []string
	}{{"assume.down", r.Assume.Down}, {"assume.parked", r.Assume.Parked}} {
		for i, name := range list.names {
			if !slices.ContainsFunc(providers, func(p *routing.Provider) bool { return string(p.ID) == name }) {
				out = append(out, fmt.Sprintf("%s[%d]: there is no provider %q in use", list.field, i, name))
			}
		}
	}
	return out
}

func headerNames(h map[string]string) []string {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// isRead tells whether a decision reads a header with this value.
func isRead(name, value string) bool {
	h := http.Header{}
	h.Set(name, value)
	one := Request{}
	return http.CanonicalHeaderKey(name) == "X-Interlock-No-Fallback" || wire.WantsLongContext(h) || one.session(h) != ""
}

func providerIDs(names []string) []routing.ProviderID {
	var out []routing.ProviderID
	for _, n := range names {
		out = append(out, routing.ProviderID(n))
	}
	return out
}

// ParseParam reads a value of Params as the command line has it: JSON, or else
// text.
func ParseParam(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	return text
}
