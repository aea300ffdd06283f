// Package llm holds the vocabulary that every other package shares: names of
// wire formats, model families, client endpoints and token usage.
//
// It owns types only. It imports nothing but the standard library and has no
// behaviour beyond small look-ups, so any package may import it.
package llm
