package dataplane

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// recordOf reads the audit record of a request through the admin API. It waits
// for one that is settled after its client has left.
func recordOf(t *testing.T, gw *gwtest.Server, requestID string) audit.Record {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		got := gw.Admin(t, http.MethodGet, "/decisions/"+requestID, "")
		if got.Status == http.StatusOK {
			var d struct{ Record audit.Record }
			if err := json.Unmarshal([]byte(got.Body), &d); err != nil {
				t.Fatalf("%s: %v", got.Body, err)
			}
			return d.Record
		}
		if time.Now().After(deadline) {
			t.Fatalf("no record of %s: %d %s", requestID, got.Status, got.Body)
		}
	}
}

// The record that the gateway itself writes, for every way a request can end.
func TestRS_AUDIT_OP_6_every_request_leaves_its_record(t *testing.T) {
	a, b := gwtest.NewFake(t), gwtest.NewFake(t)
	gw := gwtest.StartWith(t, gwtest.Config{Admin: true, Documents: []string{
		a.OpenAI("first"), b.OpenAI("second", "residency: eu"), gwtest.Route("chat", `"gpt-*"`, "first", "second"),
		"kind: Department\nname: it", "kind: Team\nname: platform\ndepartment: it",
		"kind: Key\nname: ours\ntype: service\nteam: platform\nsecret: ilk_test_of_the_platform_team_1",
	}})
	const path = "/v1/chat/completions"
	ask := func(t *testing.T, body string, headers ...string) (gwtest.Answer, audit.Record) {
		t.Helper()
		got := gw.Post(t, path, body, headers...)
		return got, recordOf(t, gw, got.Header.Get("X-Interlock-Request-Id"))
	}

	t.Run("RQ-12_usage_that_comes_after_the_finish_reason", func(t *testing.T) {
		a.Rules(t, fakellm.Rule{GapMS: 30, Reply: &fakellm.Reply{Text: "hello", Usage: &fakellm.Usage{Input: 100, CacheRead: 40, Output: 30}}})
		body := `{"model":"gpt-5","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`
		got, rec := ask(t, body, "Authorization: Bearer ilk_test_of_the_platform_team_1")
		if got.Status != 200 || rec.Outcome != audit.OutcomeAllow || rec.Status != 200 || rec.Usage.Output != 30 || rec.Usage.CachedRead != 40 || rec.Usage.Input != 100 {
			t.Errorf("%d, %+v", got.Status, rec)
		}
		if c := rec.Caller; c.Key != "ours" || c.Team != "platform" || c.Department != "it" || c.Source != "service" {
			t.Errorf("caller %+v", c)
		}
		if !rec.Stream || rec.TTFT <= 0 || rec.Duration < rec.TTFT || rec.ServedModel != "gpt-5" || rec.Provider != "first" || rec.RouteName != "chat" || len(rec.Attempts) != 1 {
			t.Errorf("%+v", rec)
		}
	})
	t.Run("RT-FO-AUTH_failover_with_an_alert_event", func(t *testing.T) {
		a.Rules(t, fakellm.Rule{Action: "status", Status: 401})
		_, rec := ask(t, gwtest.Chat("gpt-5", false))
		if rec.Outcome != audit.OutcomeAllow || len(rec.Attempts) != 2 || rec.Attempts[0].Category != "auth" || rec.Attempts[0].Status != 401 ||
			rec.Attempts[1].Outcome != audit.OutcomeAllow || rec.Provider != "second" || rec.Residency != "eu" {
			t.Errorf("%+v", rec)
		}
		events := gw.Admin(t, http.MethodGet, "/audit-events?kind=event&provider=first", "")
		if !strings.Contains(events.Body, rec.RequestID) || !strings.Contains(events.Body, "refused the organisation's key") {
			t.Errorf("no alert: %s", events.Body)
		}
	})
	t.Run("refused", func(t *testing.T) {
		got, rec := ask(t, gwtest.Chat("unheard-of", false))
		if got.Status != 503 || rec.Outcome != audit.OutcomeDeny || rec.Policy != "no-route" || rec.Code != "NO_ROUTE" || rec.RequestedModel != "unheard-of" || len(rec.Attempts) != 0 {
			t.Errorf("%d %+v", got.Status, rec)
		}
	})
	t.Run("RQ-STREAM-1_broken_off", func(t *testing.T) {
		a.Rules(t, fakellm.Rule{Action: "cut", After: 4, Cut: "rst"})
		_, rec := ask(t, gwtest.Chat("gpt-5", true))
		if rec.Outcome != audit.OutcomeError || rec.Category != "connection" || rec.Status != 502 || len(rec.Attempts) != 1 || rec.TTFT <= 0 {
			t.Errorf("%+v", rec)
		}
	})
	t.Run("all_failed", func(t *testing.T) {
		a.Rules(t, fakellm.Rule{Action: "status", Status: 500})
		b.Rules(t, fakellm.Rule{Action: "status", Status: 500})
		got, rec := ask(t, gwtest.Chat("gpt-5", true))
		if got.Status != 500 || rec.Outcome != audit.OutcomeError || rec.Code != "UPSTREAM_POOL_EXHAUSTED" || len(rec.Attempts) != 2 {
			t.Errorf("%d %+v", got.Status, rec)
		}
	})
	t.Run("RQ-CANCEL_the_client_left", func(t *testing.T) {
		a.Rules(t, fakellm.Rule{Action: "stall", After: 4})
		ctx, leave := context.WithCancel(t.Context())
		resp, err := gw.Client.Do(gw.Request(t, http.MethodPost, path, gwtest.Chat("gpt-5", true)).WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		leave()
		resp.Body.Close()
		rec := recordOf(t, gw, resp.Header.Get("X-Interlock-Request-Id"))
		if rec.Outcome != audit.OutcomeCanceled || rec.Status != 499 || len(rec.Attempts) != 1 || rec.Attempts[0].Outcome != audit.OutcomeCanceled {
			t.Errorf("%+v", rec)
		}
	})
}

// Without any configuration nothing is granted, and the refusal names the
// model; it is no 401, which would make agents ask for a sign-in.
func TestER_NOTLOADED_AC_GRANT_6(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil { // a folder can't be here
		t.Fatal(err)
	}
	gw := gwtest.StartWith(t, gwtest.Config{Settings: fmt.Sprintf("storage: {url: %q, dataDir: %q}", "sqlite:"+filepath.Join(dir, "file", "db"), filepath.Join(dir, "data"))})
	for path, body := range map[string]string{"/v1/chat/completions": gwtest.Chat("gpt-5", true), "/v1/messages": gwtest.Message("gpt-5", false)} {
		got := gw.Post(t, path, body)
		if got.Status != 400 || got.Header.Get("X-Interlock-Error") != "MODEL_DENIED" || got.Header.Get("Retry-After") == "" || !strings.Contains(got.Body, `gpt-5`) {
			t.Errorf("%s: %d %v %s", path, got.Status, got.Header, got.Body)
		}
	}
	if got := gw.Do(t, http.MethodGet, "/readyz", ""); got.Status != 503 {
		t.Errorf("ready without a configuration: %d", got.Status)
	}
}

// A restriction that this version can't enforce must not be ignored.
func TestRS_ORG_a_key_with_a_restriction_that_is_not_enforced_admits_nobody(t *testing.T) {
	a := gwtest.NewFake(t)
	gw := gwtest.Start(t, a.OpenAI("only"), "kind: Key\nname: ceiling\ntype: service\nallowedModels: [\"gpt-5-mini\"]\nsecret: ilk_test_with_a_ceiling_0001")
	got := gw.Post(t, "/v1/chat/completions", gwtest.Chat("gpt-5", false), "Authorization: Bearer ilk_test_with_a_ceiling_0001")
	if got.Status != 400 || got.Header.Get("X-Interlock-Error") != "MODEL_DENIED" || !strings.Contains(got.Body, "allowedModels") || a.Requests() != 0 {
		t.Errorf("%d %s, the provider was asked %d times", got.Status, got.Body, a.Requests())
	}
}
