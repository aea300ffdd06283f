package catalog

import "github.com/interlock-gateway/interlock/internal/llm"

// The modalities that a model can have. An empty one is not known.
const (
	ModalityChat      = "chat"
	ModalityEmbedding = "embedding"
	ModalityImage     = "image"
	ModalityAudio     = "audio"
	ModalityRerank    = "rerank"
)

// Model is an entry of the table of models, and what Find tells of a name. A
// field that is zero is not known: in an entry that an administrator wrote it
// is left out, so that the next entry below that matches has its say.
type Model struct {
	// Name is a model name, or a pattern with a "*" at the start, at the end
	// or both. Case does not count.
	Name string
	// Vendor is the catalogue's id of the only vendor that the entry is for;
	// empty is every vendor. Prices can differ between hosts of one model.
	Vendor string
	// Modality is one of the constants of that name, or empty.
	Modality string
	// Family is empty if it is not known.
	Family llm.Family
	// ContextWindow is the longest prompt in tokens, with the answer for
	// vendors that count both; 0 is not known.
	ContextWindow int
	// MaxOutputTokens is the longest answer in tokens; 0 is not known.
	MaxOutputTokens int
	// Prices are list prices for prompts that are not long in the sense of
	// Above.
	Prices Prices
	// Above are the prices of long prompts. They count only in an entry that
	// has an input or output price.
	Above Tier
	// Source says where the prices are from, or the rest if no price is
	// known. It is text for people.
	Source string
	// Observed is the day on which the source was read, YYYY-MM-DD; empty for
	// an administrator's entry that does not say.
	Observed string
	// Estimated: the prices are those of the model's own vendor, and the
	// vendor that was asked for has a list of its own, which is not in the
	// table. Find sets it.
	Estimated bool
}

// Prices are list prices in USD for a million tokens.
type Prices struct {
	Input  Price
	Output Price
	// CacheRead is for a token of the prompt that came out of the vendor's
	// cache; CacheWrite5m and CacheWrite1h for one that was put there to be
	// kept for five minutes or an hour. They are no fixed part of Input at any
	// vendor, so one that is not known can't be computed.
	CacheRead    Price
	CacheWrite5m Price
	CacheWrite1h Price
}

// Tier are the prices of a request whose whole prompt, cached tokens included,
// is longer than Tokens. They are for all of its tokens, not only for those
// above. Tokens is 0 if a model has one price for every length.
type Tier struct {
	Tokens int
	Prices
}

// Price is an amount of USD for a million tokens, 0 or more. The zero Price is
// not known, which is not the same as free: a price that is taken for 0 would
// let a request past every budget.
type Price struct {
	USD   float64
	Known bool
}

// USD is a price that is known; USD(0) is free.
func USD(amount float64) Price { return Price{USD: amount, Known: true} }

// PriceOf is the price behind a pointer as documents have it; nil is not known.
func PriceOf(amount *float64) Price {
	if amount == nil {
		return Price{}
	}
	return USD(*amount)
}

// ListPrice is what the strategy lowest-cost compares, in USD for a million
// tokens. It is known if both prices are; an embedding model has no output, so
// its input price is enough.
func (m *Model) ListPrice() (input, output float64, known bool) {
	p := &m.Prices
	known = p.Input.Known && (p.Output.Known || m.Modality == ModalityEmbedding)
	if !known {
		return 0, 0, false
	}
	return p.Input.USD, p.Output.USD, true
}

// or keeps a price that is known and takes the other one's place if not.
func (p Price) or(other Price) Price {
	if p.Known {
		return p
	}
	return other
}

// none tells that not a single price is known.
func (p *Prices) none() bool { return *p == Prices{} }

// main tells that the price of plain tokens is known, at least one way.
func (p *Prices) main() bool { return p.Input.Known || p.Output.Known }

// fill takes prices that are not known from another list.
func (p *Prices) fill(o *Prices) {
	p.Input = p.Input.or(o.Input)
	p.Output = p.Output.or(o.Output)
	p.CacheRead = p.CacheRead.or(o.CacheRead)
	p.CacheWrite5m = p.CacheWrite5m.or(o.CacheWrite5m)
	p.CacheWrite1h = p.CacheWrite1h.or(o.CacheWrite1h)
}
