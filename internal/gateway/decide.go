package gateway

import (
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// decide makes the decision of this request and notes what it read.
func (ex *exchange) decide() {
	in := &ex.input
	*in = routing.Input{
		Query: routing.Query{
			Endpoint: ex.endpoint, Model: ex.envelope.Model, Stream: ex.envelope.Stream,
			Session:     wire.SessionHash(wire.SessionID(ex.r.Header, &ex.envelope)),
			Tokens:      len(ex.envelope.Body()) / 4,
			LongContext: wire.WantsLongContext(ex.r.Header),
			NoFallback:  wire.WantsNoFallback(ex.r.Header),
			Tied:        ex.tied(),
			Caller:      ex.caller.Facts(),
		},
		Facts: routing.Facts{Now: ex.g.opt.Now()},
	}
	if ex.g.opt.Pins != nil && in.Query.Session != "" && ex.live.Routing.NeedsPins() {
		pins, err := ex.g.opt.Pins.Load(ex.r.Context(), ex.caller.PinKey(in.Query.Session))
		if err != nil { // unpinned is worse for the cache only
			ex.g.opt.Log.Warn("what a session has pinned could not be read", "requestId", ex.id, "error", err)
		}
		in.Facts.Pins = pins
	}
	var view routing.View
	var dice routing.Dice
	if ex.g.opt.Board != nil {
		view, dice = ex.g.opt.Board, ex.g.opt.Board
	}
	ex.decideWith(view, dice)
	if !ex.plan.ExcludedByWindow() {
		return
	}
	// Media in the body are no text: it takes a look at every byte to know how
	// much they are, so that is done only when it could matter.
	exact := wire.EstimateTokens(ex.envelope.Body(), 0)
	if exact == in.Query.Tokens {
		return
	}
	in.Query.Tokens = exact
	if dice != nil && len(ex.trace.Turns) > 0 {
		dice = sameTurn{dice, ex.trace.Turns[0]}
	}
	ex.decideWith(view, dice)
}

// decideWith decides on the input, and notes what that reads.
func (ex *exchange) decideWith(view routing.View, dice routing.Dice) {
	ex.input.View, ex.input.Dice = view, dice
	ex.trace.Start(&ex.input)
	ex.plan = ex.decider.Decide(ex.live.Routing, &ex.input)
	ex.trace.End(ex.plan)
}

// sameTurn gives a request that is decided twice the turn that it has already.
type sameTurn struct {
	routing.Dice
	turn uint64
}

func (s sameTurn) Turn(routing.RouteID) uint64 { return s.turn }

// tied tells whether one candidate only is to be dialled: the request refers to
// what its maker keeps, or the installation wants it so for this format.
func (ex *exchange) tied() bool {
	if ex.format.Tied == nil {
		return false
	}
	if ex.g.tune.Load().TieResponses {
		return true
	}
	tied, _ := ex.format.Tied(&ex.envelope)
	return tied
}
