package dataplane

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/fakellm"
)

// A vendor's error repeats what the caller wrote. A caller who writes a vendor's
// words for used-up credit parks nobody's provider.
func TestRT_PARK_a_callers_own_words_park_nothing(t *testing.T) {
	names := []string{
		"limit will reset at 2026-12-02 05:49:31", "credit balance is too low", "usage limit reached", "resource_exhausted",
		`x - {"error":{"type":"billing_error","code":"insufficient_quota"}}`,
	}
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, breakerAt(5, 60), w.org("a"), w.org("b"), w.pool("", "a", "b"))
		asNext := func(t *testing.T) {
			t.Helper()
			r.script(t)
			got := r.ask(t)
			r.wantServed(t, got, "a", 1)
			if rec := r.record(t, got); skips(&rec) != "" {
				t.Errorf("skips %s", skips(&rec))
			}
		}
		for _, words := range names {
			t.Run("a_model/"+strings.Fields(words)[0], func(t *testing.T) {
				model := strings.TrimSuffix(w.pattern, "*") + words
				message := map[string]string{"anthropic": "model: " + model, "openai": "The model `" + model + "` does not exist"}[w.kind]
				rule := fakellm.Rule{Action: "status", Status: http.StatusNotFound, Body: errorBody(w, "not_found_error", message)}
				r.script(t, at("a", rule), at("b", rule))
				for range 6 { // more than the breaker lets pass
					if got := r.send(t, model); got.Status != http.StatusNotFound {
						t.Errorf("%d %s", got.Status, got.Body)
					}
				}
				asNext(t)
			})
			t.Run("a_value/"+strings.Fields(words)[0], func(t *testing.T) {
				message := map[string]string{"anthropic": words + ": Extra inputs are not permitted", "openai": "Invalid value: '" + words + "'. Supported values are: 'system' and 'user'."}[w.kind]
				r.script(t, at("a", fakellm.Rule{Action: "status", Status: http.StatusBadRequest, Body: errorBody(w, "invalid_request_error", message)}))
				for range 6 {
					if got := r.ask(t); got.Status != http.StatusBadRequest {
						t.Errorf("%d %s", got.Status, got.Body)
					}
				}
				asNext(t)
			})
		}
	})
}

// errorBody is an error of the way's vendor.
func errorBody(w *way, kind, message string) string {
	if w.kind == "openai" {
		return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`, message)
	}
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, message)
}
