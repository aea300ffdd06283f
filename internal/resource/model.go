package resource

import "time"

// Model is an entry of the model catalogue. Its name is a model name or a
// pattern.
type Model struct {
	Meta
	// Modality is chat (default), embedding, image, audio or rerank.
	Modality        string     `json:"modality,omitempty"`
	Family          string     `json:"family,omitempty"`
	ContextWindow   int        `json:"contextWindow,omitempty"`
	MaxOutputTokens int        `json:"maxOutputTokens,omitempty"`
	Prices          *Prices    `json:"prices,omitempty"`
	Deprecated      *time.Time `json:"deprecated,omitempty"`
}

// Prices are USD per million tokens.
type Prices struct {
	Input        *float64 `json:"input,omitempty"`
	Output       *float64 `json:"output,omitempty"`
	CacheRead    *float64 `json:"cacheRead,omitempty"`
	CacheWrite5m *float64 `json:"cacheWrite5m,omitempty"`
	CacheWrite1h *float64 `json:"cacheWrite1h,omitempty"`
}

const maxPrice = 1_000_000

// Check reports what is wrong with the catalogue entry by itself.
func (m *Model) Check() []Problem {
	c := newChecker(&m.Meta)
	c.err("name", CheckPattern(m.Name))
	if m.Modality != "" {
		oneOf(c, "modality", m.Modality, "chat", "embedding", "image", "audio", "rerank")
	}
	if m.Family != "" {
		c.err("family", CheckName(m.Family))
	}
	between(c, "contextWindow", m.ContextWindow, 0, maxContextWindow)
	between(c, "maxOutputTokens", m.MaxOutputTokens, 0, maxContextWindow)
	if m.Prices == nil {
		return c.ps
	}
	for _, p := range []struct {
		path string
		usd  *float64
	}{
		{"prices.input", m.Prices.Input},
		{"prices.output", m.Prices.Output},
		{"prices.cacheRead", m.Prices.CacheRead},
		{"prices.cacheWrite5m", m.Prices.CacheWrite5m},
		{"prices.cacheWrite1h", m.Prices.CacheWrite1h},
	} {
		if p.usd != nil && !(*p.usd >= 0 && *p.usd <= maxPrice) { // so that NaN is refused
			c.add(p.path, "the price %v is out of range; write 0 to 1,000,000 USD per million tokens", *p.usd)
		}
	}
	return c.ps
}
