package dryrun

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// World is what the question is asked about.
type World struct {
	// Live is the configuration.
	Live *snapshot.Live
	// Board is the run-time state; nil is a calm one.
	Board Board
	// Pins shows what a session keeps, without a use of it; nil shows nothing.
	Pins func(ctx context.Context, session string) (map[routing.RouteID]routing.Pin, error)
	Now  time.Time
	// TieResponses is the setting that requests of /v1/responses never fail
	// over.
	TieResponses bool
	// Draft: Live is not in use.
	Draft bool
}

// Board is the run-time state: looking changes nothing.
type Board interface {
	routing.View
	// Peek is the next turn of a route.
	Peek(routing.RouteID) uint64
}

// Resolve answers the question. Its error is a *FieldError, or what kept the
// pins of the session from being read.
func Resolve(ctx context.Context, w World, r *Request) (*Answer, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	key, err := w.key(r.Key)
	if err != nil {
		return nil, err
	}
	seed := r.Seed
	if seed == 0 {
		seed = rand.Uint64N(MaxSeed) + 1 //nolint:gosec // it chooses members, not secrets
	}
	in, err := w.input(ctx, r, key)
	if err != nil {
		return nil, err
	}
	in.Dice = newDice(seed, w.Board)
	new(routing.Trace).Start(in) // as the gateway does: the decision sees no more than a record holds
	plan := routing.Decide(w.Live.Routing, in)
	a := &Answer{
		Model: Model{Requested: r.Model, Alias: plan.Alias}, Route: plan.Route, Endpoint: in.Query.Endpoint.ID, Plan: plan, Explanation: plan.Explain(),
		Candidates: append([]routing.Candidate{}, plan.Candidates...), Excluded: exclusions(plan), Refusal: plan.Refusal,
		Next: walk(plan, r.Failures), Draft: w.Draft, Seed: seed, Unknown: r.unknown(w.Live.Routing.Providers()),
	}
	a.Warnings = append(append([]string{}, r.warnings()...), a.Unknown...)
	if len(plan.Candidates) > 0 {
		a.Model.WireModel = plan.Candidates[0].WireModel
	}
	if refused := turnedAway(key, w.Now); refused != nil { // before anything is decided
		a.Refusal = refused
		a.Warnings = append(a.Warnings, "the key is turned away before the decision; the plan is what it would be otherwise")
	}
	if r.CallerCredential && key != nil && key.Type == auth.TypeVirtual {
		a.Warnings = append(a.Warnings, "callerCredential: a virtual key has a credential of its own, or uses the organisation's; what its caller brings is not used")
	}
	if n := len(a.Next); n < len(r.Failures) {
		a.Warnings = append(a.Warnings, fmt.Sprintf("failures: %d of %d happen; then nothing more is dialled", n, len(r.Failures)))
	}
	a.Warnings = append(a.Warnings, w.about(plan.Route)...)
	a.Served = a.Refusal == nil
	return a, nil
}

// key finds the key with a name; nil for no name.
func (w *World) key(name string) (*auth.Key, error) {
	if name == "" {
		return nil, nil
	}
	k, ok := w.Live.Keys.Named(name)
	if !ok {
		return nil, wrong("key", "no key %q admits anybody: there is none of this name, it is switched off, or it has no secret", name)
	}
	return k, nil
}

// turnedAway is the refusal of a key that admits nobody; nil if it does.
func turnedAway(k *auth.Key, now time.Time) *routing.Refusal {
	switch {
	case k == nil:
	case k.Away(now) != "":
		return &routing.Refusal{
			Status: 401, Code: "invalid_api_key", Policy: "auth",
			Message: fmt.Sprintf("the key %q %s", k.Name, k.Away(now)),
		}
	case k.Closed() != "":
		return &routing.Refusal{
			Status: 400, Code: "MODEL_DENIED", Policy: "model-scope",
			Message: k.Closed(),
		}
	}
	return nil
}

// input builds what the decision reads, but for the dice.
func (w *World) input(ctx context.Context, r *Request, key *auth.Key) (*routing.Input, error) {
	h := r.header()
	e := w.endpoint(r)
	caller := auth.Caller{Key: key, Own: r.CallerCredential && (key == nil || key.Type != auth.TypeVirtual)}
	in := &routing.Input{
		Query: routing.Query{
			Endpoint: e, Model: r.Model, Stream: r.Stream, Session: r.session(h), Tokens: r.PromptTokens, LongContext: wire.WantsLongContext(h), NoFallback: wire.WantsNoFallback(h), Tied: r.tied(e, w.TieResponses),
			Caller: caller.Facts(),
		},
		Facts:  routing.Facts{Now: w.Now},
		Assume: routing.Assume{Down: providerIDs(r.Assume.Down), Parked: providerIDs(r.Assume.Parked)},
	}
	if w.Board != nil {
		in.View = w.Board
	}
	if w.Pins != nil && in.Query.Session != "" {
		pins, err := w.Pins(ctx, caller.PinKey(in.Query.Session))
		if err != nil {
			return nil, fmt.Errorf("read what the session has pinned: %w", err)
		}
		in.Facts.Pins = pins
	}
	return in, nil
}

// endpoint is the one that is asked for, or the one that fits the route.
func (w *World) endpoint(r *Request) *llm.Endpoint {
	if r.Endpoint != "" {
		return endpoint(r.Endpoint)
	}
	chat := endpoint(string(llm.ChatCompletions))
	plan := routing.Decide(w.Live.Routing, &routing.Input{Query: routing.Query{Endpoint: chat, Model: r.Model}, Facts: routing.Facts{Now: w.Now}})
	route := w.Live.Routing.Route(plan.Route)
	if route == nil || len(route.Members) == 0 {
		return chat
	}
	if e := EndpointOf(route.Members[0].Provider.Format); e != nil {
		return e
	}
	return chat
}

// about are the compiler's warnings about a route and its members.
func (w *World) about(id routing.RouteID) []string {
	route := w.Live.Routing.Route(id)
	if route == nil {
		return nil
	}
	var out []string
	for _, p := range w.Live.Warnings {
		isRoute := p.Object.Kind == "Route" && p.Object.Name == string(id)
		isMember := p.Object.Kind == "Provider" && slices.ContainsFunc(route.Members, func(m routing.Member) bool { return string(m.Provider.ID) == p.Object.Name })
		if isRoute || isMember {
			out = append(out, warning(p))
		}
	}
	return out
}

func warning(p resource.Problem) string {
	at := p.Object.String()
	if p.Path != "" {
		at += " " + p.Path
	}
	return strings.TrimSpace(at) + ": " + p.Message
}

// dice are chance from a seed, and turns that are not taken.
type dice struct {
	rand  *rand.Rand
	board Board
}

func newDice(seed uint64, b Board) *dice {
	return &dice{rand: rand.New(rand.NewPCG(seed, seed)), board: b} //nolint:gosec // it chooses members, not secrets
}

// Draw implements routing.Dice.
func (d *dice) Draw() uint64 { return d.rand.Uint64() }

// Turn implements routing.Dice.
func (d *dice) Turn(r routing.RouteID) uint64 {
	if d.board == nil {
		return 0
	}
	return d.board.Peek(r)
}

// First is the candidate that a plain request to a route would try first now,
// and whether there is one. There is none for a route that would refuse, nor for
// one whose models are all served by other routes. A plain request has no session, no restriction and
// no size; it brings a credential of its own if only such requests are served.
// Nothing is left to chance, so that looking twice shows the same.
func First(w World, route *routing.Route) (routing.Candidate, bool) {
	if len(route.Members) == 0 {
		return routing.Candidate{}, false
	}
	e := EndpointOf(route.Members[0].Provider.Format)
	if e == nil {
		return routing.Candidate{}, false
	}
	in := &routing.Input{Query: routing.Query{Endpoint: e}, Facts: routing.Facts{Now: w.Now}, Dice: fixed{w.Board}}
	in.Query.Caller.Own = !slices.ContainsFunc(route.Members, func(m routing.Member) bool { return m.Provider.OrgKey })
	if w.Board != nil {
		in.View = w.Board
	}
	for _, model := range samples(route) {
		in.Query.Model = model
		if p := routing.Decide(w.Live.Routing, in); p.Route == route.ID {
			if len(p.Candidates) == 0 {
				continue
			}
			return p.Candidates[0], true
		}
	}
	return routing.Candidate{}, false
}

// samples are names of models that a route matches: those of its patterns,
// first those that no other route could take. Aliases come last, since not every
// member has to serve them.
func samples(r *routing.Route) []string {
	var exact, made []string
	for _, p := range r.Patterns {
		if p.IsExact() {
			exact = append(exact, p.String())
			continue
		}
		for _, part := range []string{"", "x", "-any-"} {
			made = append(made, strings.ReplaceAll(p.String(), "*", part))
		}
	}
	for _, a := range r.Aliases {
		made = append(made, a.Name)
	}
	return slices.DeleteFunc(append(exact, made...), func(s string) bool { return s == "" })
}

// fixed are turns that are not taken, and no chance.
type fixed struct{ board Board }

// Draw implements routing.Dice.
func (fixed) Draw() uint64 { return 0 }

// Turn implements routing.Dice.
func (f fixed) Turn(r routing.RouteID) uint64 {
	if f.board == nil {
		return 0
	}
	return f.board.Peek(r)
}
