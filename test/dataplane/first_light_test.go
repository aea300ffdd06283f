package dataplane

import (
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

func TestFirstLight(t *testing.T) {
	a, b := gwtest.NewFake(t), gwtest.NewFake(t)
	gw := gwtest.Start(t, a.OpenAI("first"), b.OpenAI("second"), gwtest.Route("chat", `"gpt-*"`, "first", "second"))

	t.Run("a_stream_comes_through", func(t *testing.T) {
		got := gw.Post(t, "/v1/chat/completions", gwtest.Chat("gpt-5", true))
		if got.Status != 200 || !strings.HasSuffix(got.Body, "data: [DONE]\n\n") {
			t.Errorf("%d %s", got.Status, got.Body)
		}
		if p := got.Header.Get("X-Interlock-Provider"); p != "first" {
			t.Errorf("served by %q", p)
		}
	})
	t.Run("the_second_provider_serves_when_the_first_fails", func(t *testing.T) {
		a.Rules(t, fakellm.Rule{Action: "status", Status: 500})
		got := gw.Post(t, "/v1/chat/completions", gwtest.Chat("gpt-5", true))
		if got.Status != 200 || got.Header.Get("X-Interlock-Provider") != "second" || got.Header.Get("X-Interlock-Attempts") != "2" {
			t.Errorf("%d %v %s", got.Status, got.Header, got.Body)
		}
	})
}
