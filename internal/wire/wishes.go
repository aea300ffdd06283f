package wire

import "strings"

// WantsNoFallback tells whether a client wants one candidate dialled.
func WantsNoFallback(h map[string][]string) bool { return isTrue(h["X-Interlock-No-Fallback"]) }

// WantsExplanation tells whether a client asks for the decision in a header.
func WantsExplanation(h map[string][]string) bool { return isTrue(h["X-Interlock-Explain"]) }

// isTrue reads a switch that a client may send as a header.
func isTrue(values []string) bool {
	return len(values) > 0 && strings.EqualFold(strings.TrimSpace(values[0]), "true")
}

// WantsLongContext tells whether a client asks for a context of a million
// tokens by a beta header (Anthropic's context-1m).
func WantsLongContext(h map[string][]string) bool {
	for _, v := range h["Anthropic-Beta"] {
		if strings.Contains(v, "context-1m") {
			return true
		}
	}
	return false
}
