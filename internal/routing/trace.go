package routing

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Trace is what a decision read besides the snapshot, the endpoint, the model
// and the caller's key: with it the decision can be made again. It records
// while a decision runs (it is the decision's View and Dice then), and answers
// from the record later. What was calm, such as a closed breaker, is not noted:
// a Trace without a note of something says that it was calm.
//
// Its JSON form is kept beside the audit record. It holds no prompt and no
// credential.
type Trace struct {
	Now time.Time `json:"now,omitzero"`
	// Session is the hash of the session id.
	Session    string `json:"session,omitempty"`
	Tokens     int    `json:"tokens,omitempty"`
	Own        bool   `json:"own,omitempty"`
	NoFallback bool   `json:"noFallback,omitempty"`
	Tied       bool   `json:"tied,omitempty"`
	// LongContext is Query.LongContext.
	LongContext bool `json:"longContext,omitempty"`
	// NoKey are the providers of the route whose key could not be read.
	NoKey []ProviderID `json:"noKey,omitempty"`
	// Pins are what the session had.
	Pins map[RouteID]Pin `json:"pins,omitempty"`

	Healths   []seenHealth  `json:"health,omitempty"`
	Coolings  []seenCooling `json:"cooling,omitempty"`
	Latencies []seenLatency `json:"latency,omitempty"`
	Loads     []seenLoad    `json:"load,omitempty"`
	Draws     []uint64      `json:"draws,omitempty"`
	Turns     []uint64      `json:"turns,omitempty"`

	view View
	dice Dice
	// drawn counts what was answered from the record.
	drawn int
}

type (
	seenHealth struct {
		Provider    ProviderID `json:"provider"`
		OpenUntil   time.Time  `json:"openUntil,omitzero"`
		ParkedUntil time.Time  `json:"parkedUntil,omitzero"`
		Probing     bool       `json:"probing,omitempty"`
		Limit       int        `json:"limit,omitempty"`
		Running     int        `json:"running,omitempty"`
	}
	seenCooling struct {
		Provider  ProviderID `json:"provider"`
		WireModel string     `json:"wireModel"`
		Until     time.Time  `json:"until"`
	}
	seenLatency struct {
		Provider  ProviderID    `json:"provider"`
		WireModel string        `json:"wireModel"`
		P95       time.Duration `json:"p95Ns"`
		N         int           `json:"n"`
	}
	seenLoad struct {
		Provider  ProviderID    `json:"provider"`
		WireModel string        `json:"wireModel"`
		InFlight  int           `json:"inFlight,omitempty"`
		Latency   time.Duration `json:"latencyNs,omitempty"`
		Success   float64       `json:"success,omitempty"`
	}
)

// Start makes the trace record a decision on in, which reads from in's own
// View and Dice through it.
func (t *Trace) Start(in *Input) {
	*t = Trace{
		Now: wall(in.Facts.Now), Session: in.Query.Session, Tokens: in.Query.Tokens, Own: in.Query.Caller.Own, NoFallback: in.Query.NoFallback, Tied: in.Query.Tied, LongContext: in.Query.LongContext,
		Pins: in.Facts.Pins, view: in.View, dice: in.Dice,
		Healths: t.Healths[:0], Coolings: t.Coolings[:0], Latencies: t.Latencies[:0], Loads: t.Loads[:0], Draws: t.Draws[:0], Turns: t.Turns[:0],
	}
	if t.view == nil {
		t.view = calm{}
	}
	if t.dice == nil {
		t.dice = calm{}
	}
	in.View, in.Dice = t, t
}

// Apply sets what the trace recorded in an input that names the endpoint, the
// model and the key's part of the caller.
func (t *Trace) Apply(in *Input) {
	in.Query.Session, in.Query.Tokens, in.Query.NoFallback = t.Session, t.Tokens, t.NoFallback
	in.Query.Caller.Own, in.Query.Tied, in.Query.LongContext = t.Own, t.Tied, t.LongContext
	in.Assume.NoKey = t.NoKey
	in.Facts = Facts{Now: t.Now, Pins: t.Pins}
	in.View, in.Dice = t, t
	t.view, t.dice, t.drawn = nil, nil, 0
}

// End notes what the plan tells of keys that could not be read: another
// compilation of the same configuration may read them.
func (t *Trace) End(p *Plan) {
	for i := range p.Steps {
		if p.Steps[i].Code == codeNoKey {
			t.NoKey = append(t.NoKey, ProviderID(p.Steps[i].Subject))
		}
	}
}

// ParseTrace reads the JSON form.
func ParseTrace(b []byte) (*Trace, error) {
	t := &Trace{}
	if len(b) == 0 {
		return t, nil
	}
	if err := json.Unmarshal(b, t); err != nil {
		return nil, fmt.Errorf("read the facts of a decision: %w", err)
	}
	return t, nil
}

// Health implements View.
func (t *Trace) Health(id ProviderID) Health {
	if t.view != nil {
		h := t.view.Health(id)
		h.OpenUntil, h.ParkedUntil = wall(h.OpenUntil), wall(h.ParkedUntil)
		if h.calm(t.Now) {
			return Health{}
		}
		t.Healths = append(t.Healths, seenHealth{id, h.OpenUntil, h.ParkedUntil, h.Probing, h.Limit, h.Running})
		return h
	}
	for _, h := range t.Healths {
		if h.Provider == id {
			return Health{h.OpenUntil, h.ParkedUntil, h.Probing, h.Limit, h.Running}
		}
	}
	return Health{}
}

// wall is a time without what JSON can't hold: a decision must not see more of
// it than its record has.
func wall(t time.Time) time.Time { return t.Round(0).UTC() }

// calm tells whether a decision sees nothing in a provider's health.
func (h Health) calm(now time.Time) bool {
	return !h.OpenUntil.After(now) && !h.ParkedUntil.After(now) && !h.Probing && (h.Limit <= 0 || h.Running < h.Limit)
}

// CoolingUntil implements View.
func (t *Trace) CoolingUntil(id ProviderID, wireModel string) time.Time {
	if t.view != nil {
		until := wall(t.view.CoolingUntil(id, wireModel))
		if !until.After(t.Now) {
			return time.Time{}
		}
		t.Coolings = append(t.Coolings, seenCooling{id, wireModel, until})
		return until
	}
	for _, c := range t.Coolings {
		if c.Provider == id && c.WireModel == wireModel {
			return c.Until
		}
	}
	return time.Time{}
}

// Latency implements View. What was answered once stays so within a decision.
func (t *Trace) Latency(id ProviderID, wireModel string, stream bool, window time.Duration) (time.Duration, int) {
	for _, l := range t.Latencies {
		if l.Provider == id && l.WireModel == wireModel {
			return l.P95, l.N
		}
	}
	if t.view == nil {
		return 0, 0
	}
	p95, n := t.view.Latency(id, wireModel, stream, window)
	t.Latencies = append(t.Latencies, seenLatency{id, wireModel, p95, n})
	return p95, n
}

// Load implements View.
func (t *Trace) Load(id ProviderID, wireModel string) Load {
	for _, l := range t.Loads {
		if l.Provider == id && l.WireModel == wireModel {
			return Load{l.InFlight, l.Latency, l.Success}
		}
	}
	if t.view == nil {
		return Load{}
	}
	l := t.view.Load(id, wireModel)
	if math.IsNaN(l.Success) || math.IsInf(l.Success, 0) {
		l.Success = 1 // JSON has no word for it, and strategies take it for unknown
	}
	t.Loads = append(t.Loads, seenLoad{id, wireModel, l.InFlight, l.Latency, l.Success})
	return l
}

// Draw implements Dice.
func (t *Trace) Draw() uint64 {
	if t.dice != nil {
		v := t.dice.Draw()
		t.Draws = append(t.Draws, v)
		return v
	}
	if t.drawn >= len(t.Draws) {
		return 0
	}
	t.drawn++
	return t.Draws[t.drawn-1]
}

// Turn implements Dice. A decision takes at most one turn.
func (t *Trace) Turn(r RouteID) uint64 {
	if t.dice != nil {
		v := t.dice.Turn(r)
		t.Turns = append(t.Turns, v)
		return v
	}
	if len(t.Turns) == 0 {
		return 0
	}
	return t.Turns[0]
}

// AppendJSON appends the JSON form, or nothing if there is nothing to note.
// The common notes are written by hand, since this is on the path of every
// request.
func (t *Trace) AppendJSON(b []byte) []byte {
	// That nothing was known had to be noted for a second look only.
	t.Latencies = slices.DeleteFunc(t.Latencies, func(l seenLatency) bool { return l.P95 == 0 && l.N == 0 })
	t.Loads = slices.DeleteFunc(t.Loads, func(l seenLoad) bool { return l == seenLoad{Provider: l.Provider, WireModel: l.WireModel} })
	state := t.LongContext || len(t.NoKey)+len(t.Healths)+len(t.Coolings)+len(t.Latencies)+len(t.Loads)+len(t.Pins) > 0
	if state {
		if full, err := json.Marshal(t); err == nil { // it can fail for no value that is in there
			return append(b, full...)
		}
	}
	at := len(b)
	if t.Session != "" {
		b = append(append(append(b, `,"session":"`...), t.Session...), '"') // hexadecimal
	}
	if t.Tokens != 0 {
		b = strconv.AppendInt(append(b, `,"tokens":`...), int64(t.Tokens), 10)
	}
	if t.Own {
		b = append(b, `,"own":true`...)
	}
	if t.NoFallback {
		b = append(b, `,"noFallback":true`...)
	}
	if t.Tied {
		b = append(b, `,"tied":true`...)
	}
	b = appendNumbers(b, `,"draws":[`, t.Draws)
	b = appendNumbers(b, `,"turns":[`, t.Turns)
	if len(b) == at {
		return b
	}
	b[at] = '{' // in place of the first comma
	return append(b, '}')
}

func appendNumbers(b []byte, name string, list []uint64) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(b, name...)
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, v, 10)
	}
	return append(b, ']')
}
