package llm

// Usage counts the tokens of one answer. Input does not include what was read
// from or written to a prompt cache; Output includes Reasoning.
type Usage struct {
	Input       int64 `json:"input,omitempty"`
	CachedRead  int64 `json:"cachedRead,omitempty"`
	CachedWrite int64 `json:"cachedWrite,omitempty"`
	Output      int64 `json:"output,omitempty"`
	Reasoning   int64 `json:"reasoning,omitempty"`
}
