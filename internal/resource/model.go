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
