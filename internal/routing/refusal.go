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
func (s *Snapshot) noMember(p *Plan, r *Route) *Refusal {
	mode, noKey := true, true
	var why, names []string
	for _, st := range p.Steps {
		if st.Stage != StageMember {
			continue
		}
		mode = mode && st.Code == "credential-mode"
		noKey = noKey && st.Code == "no-key"
		names = append(names, fmt.Sprintf("%q", st.Subject))
		why = append(why, fmt.Sprintf("%s: %s (%s)", st.Subject, st.Code, st.Detail))
	}
	if mode { // ER-MODE, also for a route without members
		return &Refusal{
			Status: 503, Code: "NO_ROUTE", Policy: "no-route",
			Message: fmt.Sprintf("route %q, which serves the model %q, has no member with a key of the organisation, and this caller brings no credential of its own. Give one of its providers an apiKey",
				r.ID, p.Model),
		}
	}
	if noKey { // ER-NOKEY
		return &Refusal{
			Status: 503, Code: "NO_UPSTREAM_KEY", Policy: "no-upstream-key",
			Message: fmt.Sprintf("the organisation's key of the provider %s can't be read, and no other member of route %q can serve the model %q; an administrator must check its apiKey",
				strings.Join(names, ", "), r.ID, p.Model),
		}
	}
	return &Refusal{ // ER-NOPROV
		Status: 503, Code: "no_eligible_provider", Policy: "no-eligible-provider",
		Message: fmt.Sprintf("no member of route %q can serve the model %q: %s", r.ID, p.Model, strings.Join(why, "; ")),
	}
}

// closest finds the pattern with the smallest edit distance between its
// literal characters and the model. Ties go to the first route by name.
func (s *Snapshot) closest(model string) (*Route, string) {
	var route *Route
	var text string
	best := math.MaxInt
	d := newDistance(clip(strings.ToLower(model)))
	for _, r := range s.routes {
		for _, p := range r.Patterns {
			if n := d.to(clip(p.literal)); n < best {
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

func familyOf(model string) llm.Family { return llm.FamilyOfModel(model) }
