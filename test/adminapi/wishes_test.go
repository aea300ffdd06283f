package adminapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// BY-18: a client can have failover switched off for one request, as the dry run
// says, and an administrator's key sees the decision.
func TestBY_18_wishes_of_one_request(t *testing.T) {
	a, b, documents := pools(t)
	gw := start(t, "llmProxy: {circuitBreaker: {failureThreshold: 1000}, retry: {maxRetries: 3}}", documents...)
	for _, stream := range []bool{false, true} {
		for _, action := range []fakellm.Rule{{Action: fakellm.ActionStatus, Status: 503}, {Action: fakellm.ActionReset}} {
			a.Rules(t, action)
			before, others := a.Requests(), b.Requests()
			got := gw.Post(t, "/v1/chat/completions", gwtest.Chat("order-5", stream), "X-Interlock-No-Fallback: true")
			if got.Status < 500 || a.Requests() != before+1 || b.Requests() != others {
				t.Errorf("stream %t, %+v: %d after %d and %d dials", stream, action, got.Status, a.Requests()-before, b.Requests()-others)
			}
			if got = gw.Post(t, "/v1/chat/completions", gwtest.Chat("order-5", stream), "X-Interlock-No-Fallback: false"); got.Status != http.StatusOK {
				t.Errorf("stream %t, %+v: %d with failover", stream, action, got.Status)
			}
		}
	}
	said := gw.resolve(`{"model":"order-5","headers":{"x-interlock-no-fallback":"true"},"failures":["server_error"]}`)
	if said.Plan.Failover || len(said.Next) != 1 || said.Next[0].Action != "exhausted" || said.Next[0].Retry {
		t.Errorf("%+v", said.Next)
	}
	a.Rules(t)
	for key, want := range map[string]bool{adminKey: true, gwtest.Key: false} {
		got := gw.Post(t, "/v1/chat/completions", chatOf("order-5"), "Authorization: Bearer "+key, "X-Interlock-Explain: true")
		if line := got.Header.Get("X-Interlock-Decision"); strings.Contains(line, "try 1 first via order") != want || !want && line != "" {
			t.Errorf("%q", line)
		}
	}
}
