package routing

import (
	"fmt"
	"math"
	"strings"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// Refusal is a request that is not served. The codes are public.
type Refusal struct {
	// Status is the HTTP status.
	Status int `json:"status"`
	// Code is what the client sees, such as NO_ROUTE.
	Code string `json:"code"`
	// Policy is the name in the audit.
	Policy string `json:"policy"`
	// Message says what happened, to which object, and what to change.
	Message string `json:"message"`
	// Retry: the client may usefully repeat the request.
	Retry bool `json:"retry"`
}

func (p *Plan) refuse(r *Refusal) {
	p.Refusal = r
	p.step(StageRefusal, r.Code, p.Model, r.Message)
}

// noRoute is ER-NOROUTE: no route's patterns match the model.
func (s *Snapshot) noRoute(model string) *Refusal {
	var b strings.Builder
	fmt.Fprintf(&b, "no route serves the model %q", model)
	if r, p := s.closest(model); r != nil {
		fmt.Fprintf(&b, "; the closest is route %q with the pattern %q", r.ID, p)
	} else {
		b.WriteString("; there is no route at all")
	}
	b.WriteString(". Ask for a model that a route serves, or add this one to a route's modelPatterns")
	if s.unknownModelStatus == 404 {
		return &Refusal{Status: 404, Code: "model_not_found", Policy: "no-route", Message: b.String()}
	}
	return &Refusal{Status: 503, Code: "NO_ROUTE", Policy: "no-route", Message: b.String()}
}

// tie is ER-TIE: implicit routes tie and no family decides.
func (s *Snapshot) tie(model string, routes []int32) *Refusal {
	names := make([]string, len(routes))
	for i, r := range routes {
		names[i] = fmt.Sprintf("%q", s.routes[r].ID)
	}
	return &Refusal{
		Status: 503, Code: "UPSTREAM_AMBIGUOUS", Policy: "upstream-ambiguous",
		Message: fmt.Sprintf("the routes %s serve the model %q equally well; create a route for it, or give the providers different modelPatterns",
			strings.Join(names, " and "), model),
	}
}

// noMember refuses a route that has no member left. The reasons are in the
// plan's steps.
func (d *decision) noMember() *Refusal {
	mode, noKey, window := true, true, false
	var why, keyless []string
	for _, st := range d.p.Steps {
		if st.Stage != StageMember || st.Code == "global-passthrough" {
			continue
		}
		mode = mode && st.Code == codeMode
		noKey = noKey && (st.Code == codeNoKey || st.Code == codeMode)
		window = window || st.Code == codeWindow
		if st.Code == codeNoKey {
			keyless = append(keyless, fmt.Sprintf("%q", st.Subject))
		}
		why = append(why, fmt.Sprintf("%s: %s (%s)", st.Subject, st.Code, st.Detail))
	}
	r, model := d.route, d.p.Model
	switch {
	case mode: // ER-MODE, also for a route without members
		return wrongMode(model, r.ID, d.in.Query.Caller.Own)
	case noKey: // ER-NOKEY
		return &Refusal{
			Status: 503, Code: "NO_UPSTREAM_KEY", Policy: "no-upstream-key",
			Message: fmt.Sprintf("the organisation's key of the provider %s can't be read, and no other member of route %q can serve the model %q; an administrator must check its apiKey",
				strings.Join(keyless, ", "), r.ID, model),
		}
	case window: // ER-CTX
		return &Refusal{
			Status: 400, Code: "context_length_exceeded", Policy: "context-window",
			// Agents make their history shorter where a message begins like this
			// (chapter 60, 3.7).
			Message: fmt.Sprintf("prompt is too long: %d tokens > %d maximum; that is an estimate, and the largest context window on route %q for the model %q; shorten the prompt, or ask for a model with a larger window",
				d.in.Query.Tokens, d.window, r.ID, model),
		}
	}
	return &Refusal{ // ER-NOPROV
		Status: 503, Code: "no_eligible_provider", Policy: "no-eligible-provider",
		Message: fmt.Sprintf("no member of route %q can serve the model %q: %s", r.ID, model, strings.Join(why, "; ")),
	}
}

// wrongMode is ER-MODE: no member takes the credential of such a caller.
func wrongMode(model string, route RouteID, own bool) *Refusal {
	caller, lacks := "this caller brings no credential of its own", "no member with a key of the organisation (an org-key member). Give one of its providers an apiKey"
	if own {
		caller, lacks = "this caller brings its own credential", "no member without a key (a passthrough member), which would take it. Send only the Interlock key, or add a provider without apiKey to the route"
	}
	return &Refusal{
		Status: 503, Code: "NO_ROUTE", Policy: "no-route",
		Message: fmt.Sprintf("%s, and route %q, which serves the model %q, has %s", caller, route, model, lacks),
	}
}

// wrongKind is ER-KIND.
func wrongKind(model, kind string, e *llm.Endpoint) *Refusal {
	return &Refusal{
		Status: 400, Code: "model_not_supported",
		Message: fmt.Sprintf("the model %q is a model for %s, and the endpoint %s takes models for %s; use another model or another endpoint", model, kind, e.ID, e.Modality()),
	}
}

// closest finds the pattern with the smallest edit distance between its
// literal characters and the model. Ties go to the first route by name.
func (s *Snapshot) closest(model string) (*Route, string) {
	var route *Route
	var text string
	best := math.MaxInt
	name := clip(strings.ToLower(model))
	d := newDistance(name)
	for _, r := range s.routes {
		for i := range r.Patterns {
			p := &r.Patterns[i]
			literal := clip(p.literal)
			if max(len(literal)-len(name), len(name)-len(literal)) >= best {
				continue // as many characters have to come or go at least
			}
			if n := d.to(literal); n < best {
				best, route, text = n, r, p.text
			}
		}
	}
	return route, text
}

// maxCompared is how many bytes of a name are compared for a hint; longer ones
// are told apart by their start.
const maxCompared = 64

func clip(s string) string { return s[:min(len(s), maxCompared)] }

// distance gives the Levenshtein distance in bytes between one clipped name
// and others. It is Myers' bit-vector algorithm, which takes a step for each
// byte of the other name: a client can ask for models that do not exist as
// often as it likes, and there may be thousands of patterns.
type distance struct {
	at [256]uint64 // for each byte, the places where the name has it
	n  int
}

func newDistance(name string) *distance {
	d := &distance{n: len(name)}
	for i := range len(name) {
		d.at[name[i]] |= 1 << i
	}
	return d
}

func (d *distance) to(other string) int {
	if d.n == 0 {
		return len(other)
	}
	// A column of the table, as the places where it goes up and down.
	up, down, last := ^uint64(0), uint64(0), uint64(1)<<(d.n-1)
	n := d.n
	for i := range len(other) {
		eq := d.at[other[i]]
		x := (eq&up + up) ^ up | eq
		rowUp, rowDown := down|^(x|up), up&x
		if rowUp&last != 0 {
			n++
		}
		if rowDown&last != 0 {
			n--
		}
		rowUp, rowDown = rowUp<<1|1, rowDown<<1
		up, down = rowDown|^(eq|down|rowUp), rowUp&(eq|down)
	}
	return n
}
