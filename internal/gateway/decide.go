package gateway

import (
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// decide makes the decision of this request and notes what it read.
func (ex *exchange) decide() {
	in := routing.Input{
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
	if ex.g.opt.Board != nil {
		in.View, in.Dice = ex.g.opt.Board, ex.g.opt.Board
	}
	if ex.g.opt.Pins != nil && in.Query.Session != "" && ex.live.Routing.NeedsPins() {
		pins, err := ex.g.opt.Pins.Load(ex.r.Context(), ex.caller.PinKey(in.Query.Session))
		if err != nil { // unpinned is worse for the cache only
			ex.g.opt.Log.Warn("what a session has pinned could not be read", "requestId", ex.id, "error", err)
		}
		in.Facts.Pins = pins
	}
	live := in
	ex.trace.Start(&in)
	ex.plan = routing.Decide(ex.live.Routing, &in)
	ex.trace.End(ex.plan)
	if !ex.plan.ExcludedByWindow() {
		return
	}
	// Media in the body are no text: it takes a look at every byte to know how
	// much they are, so that is done only when it could matter.
	exact := wire.EstimateTokens(ex.envelope.Body(), 0)
	if exact == live.Query.Tokens {
		return
	}
	live.Query.Tokens = exact
	if live.Dice != nil && len(ex.trace.Turns) > 0 {
		live.Dice = sameTurn{live.Dice, ex.trace.Turns[0]}
	}
	ex.trace.Start(&live)
	ex.plan = routing.Decide(ex.live.Routing, &live)
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
