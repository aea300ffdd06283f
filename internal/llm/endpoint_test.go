package llm_test

import (
	"testing"

	"github.com/interlock-gateway/interlock/internal/llm"
)

func TestEndpoint_takes_models_for_chat_unless_it_says_otherwise(t *testing.T) {
	for kind, want := range map[string]string{"": "chat", "chat": "chat", "embedding": "embedding"} {
		if got := (&llm.Endpoint{ModelKind: kind}).Modality(); got != want {
			t.Errorf("%q: %q", kind, got)
		}
	}
}
