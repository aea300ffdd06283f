package store_test

import (
	"testing"

	"github.com/interlock-gateway/interlock/internal/store"
)

func TestNameKey(t *testing.T) {
	for _, tc := range []struct {
		kind, a, b string
		same       bool
	}{
		{"Route", "Chat", "chat", false},
		{"Provider", "a", "a", true},
		{"Key", "CI", "ci", false},
		{"Model", "GPT", "gpt", false},
		{"Team", "Platform", "platform", true},
		{"Department", "ÄRZTE", "ärzte", true},
		{"User", "ann", "Ann", true},
		{"RoutingRule", "Gold tier", "gold Tier", true},
		{"Team", "a", "b", false},
		{"team", "A", "a", false},
	} {
		if same := store.NameKey(tc.kind, tc.a) == store.NameKey(tc.kind, tc.b); same != tc.same {
			t.Errorf("%s %q and %q: %v", tc.kind, tc.a, tc.b, same)
		}
	}
}
