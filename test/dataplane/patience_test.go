package dataplane

import (
	"testing"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// TestRT_CB_RT_FO_4_a_client_without_patience_opens_no_breaker: the time that
// the client gives, and the time that all attempts share, say nothing about a
// provider; else one caller could take it from all others.
func TestRT_CB_RT_FO_4_a_client_without_patience_opens_no_breaker(t *testing.T) {
	slow, spare := gwtest.NewFake(t), gwtest.NewFake(t)
	slow.Rules(t, fakellm.Rule{Action: fakellm.ActionHang, Times: 3})
	s := gwtest.StartWith(t, gwtest.Config{
		Settings:  "llmProxy: {circuitBreaker: {failureThreshold: 2}, retry: {maxRetries: 0}}",
		Documents: []string{slow.OpenAI("slow"), spare.OpenAI("spare"), gwtest.Route("r", "m", "slow", "spare")},
	})
	for range 3 {
		got := s.Post(t, "/v1/chat/completions", gwtest.Chat("m", false), "X-Stainless-Timeout: 0.05")
		if got.Status != 504 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	got := s.Post(t, "/v1/chat/completions", gwtest.Chat("m", false))
	if got.Status != 200 || got.Header.Get("X-Interlock-Provider") != "slow" {
		t.Errorf("%d by %s: the breaker opened", got.Status, got.Header.Get("X-Interlock-Provider"))
	}
}
