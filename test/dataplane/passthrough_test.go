package dataplane

import (
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/fakellm"
)

const (
	global   = "kind: Settings\nname: settings\nglobalPassthrough: true"
	fallback = "orgKeyFallbackForCallerCredentials: true"
)

// wantMode is ER-MODE for a caller with its own credential.
func (r *rig) wantMode(t *testing.T, headers ...string) {
	t.Helper()
	r.script(t)
	e := r.wantCode(t, r.ask(t, headers...), 503, "NO_ROUTE")
	r.wantDials(t)
	for _, word := range []string{r.way.model, `"pool"`, "brings its own credential", "passthrough member"} {
		if !strings.Contains(e.Message, word) {
			t.Errorf("the message does not name %s: %s", word, e.Message)
		}
	}
}

// Each kind of caller at a route that has members of the other kind only.
func TestER_MODE_both_kinds_of_caller(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		org := newRig(t, w, "", w.org("a"), w.org("b"), w.pool("", "a", "b"))
		org.wantMode(t, w.own()...)
		got := org.ask(t, w.own()...)
		if rec := org.record(t, got); rec.Outcome != audit.OutcomeDeny || rec.Policy != "no-route" || got.Header.Get("X-Should-Retry") != "false" {
			t.Errorf("%+v", rec)
		}
		own := newRig(t, w, "", w.pass("a"), w.pass("b"), w.pool("", "a", "b"))
		e := own.wantCode(t, own.ask(t), 503, "NO_ROUTE")
		if !strings.Contains(e.Message, "org-key member") || !strings.Contains(e.Message, `"pool"`) {
			t.Error(e.Message)
		}
		own.wantDials(t)
		own.wantServed(t, own.ask(t, w.own()...), "a", 1)
	})
}

// Global passthrough is for the Messages endpoints, and for the first member.
func TestRT_GP_the_first_member_takes_the_callers_credential(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("a"), w.org("b"), w.pool("", "a", "b"), global, virtual("b"))
		if w.kind != "anthropic" {
			r.wantMode(t, w.own()...)
			return
		}
		got := r.ask(t, w.own()...)
		r.wantServed(t, got, "a", 1)
		r.wantCredentials(t, "a:caller")
		if rec := r.record(t, got); rec.Credential != "caller" || rec.CredentialFallback {
			t.Errorf("%+v", rec)
		}
		t.Run("not_for_callers_of_the_organisation", func(t *testing.T) {
			r.script(t)
			r.wantServed(t, r.ask(t), "a", 1)
			r.wantServed(t, r.ask(t, "X-Goog-Api-Key: "+w.callerKey()), "a", 1)
			r.wantCredentials(t, "a:own a:own")
		})
		t.Run("never_for_a_virtual_key", func(t *testing.T) {
			r.script(t)
			r.wantServed(t, r.ask(t, "X-Interlock-Key: "+virtualSecret, "Authorization: Bearer "+w.callerKey()), "a", 1)
			r.wantCredentials(t, "a:own")
		})
		t.Run("its_failure_moves_to_nobody", func(t *testing.T) {
			r.script(t, fails("a", 500))
			if got := r.ask(t, w.own()...); got.Status != 500 {
				t.Errorf("%d %s", got.Status, got.Body)
			}
			r.wantCredentials(t, "a:caller")
		})
		t.Run("off_without_the_setting", func(t *testing.T) {
			newRig(t, w, "", w.org("a"), w.pool("", "a")).wantMode(t, w.own()...)
		})
	})
}

// Nobody has the role when the first configured member is not the one that the
// request starts on.
func TestRT_GP_nobody_else_inherits(t *testing.T) {
	for _, w := range ways()[:3] {
		t.Run(w.name, func(t *testing.T) {
			for name, c := range map[string]struct {
				docs  []string
				model string
			}{
				"disabled_first_member": {docs: []string{w.org("a", "enabled: false"), w.org("b"), w.pool("", "a", "b")}},
				"drained_first_member":  {docs: []string{w.org("a", "drained: true"), w.org("b"), w.pool("", "a", "b")}},
				"fallback_only_first":   {docs: []string{w.org("a"), w.org("b"), w.pool("", "a, fallbackOnly: true", "b")}},
				"priority_of_another":   {docs: []string{w.org("a"), w.org("b"), w.pool("", "a, priority: 2", "b, priority: 1")}},
				"weight_of_another":     {docs: []string{w.org("a"), w.org("b"), w.pool("strategy: {type: weighted}", "a, weight: 0", "b, weight: 1")}},
				"alias_missing_on_the_first": {
					docs:  []string{w.org("a"), w.org("b"), w.pool("aliases: [{name: smart, wireModels: {b: claude-b}}]", "a", "b")},
					model: "smart",
				},
				"a_cheaper_one": {docs: []string{
					w.org("a", "modelAliases: {claude-test: claude-dear}"), w.org("b", "modelAliases: {claude-test: claude-cheap}"),
					w.pool("strategy: {type: lowest-cost}", "a", "b"), priced("claude-dear", 10), priced("claude-cheap", 1),
				}},
			} {
				t.Run(name, func(t *testing.T) {
					r := newRig(t, w, "", append(c.docs, global)...)
					model := c.model
					if model == "" {
						model = w.model
					}
					if got := r.send(t, model, w.own()...); got.Status != 503 {
						t.Errorf("%d %s", got.Status, got.Body)
					}
					r.wantDials(t)
				})
			}
			t.Run("round_robin_takes_turns", func(t *testing.T) {
				r := newRig(t, w, "", w.org("a"), w.org("b"), w.pool("strategy: {type: round-robin}", "a", "b"), global)
				for i := range 6 {
					if want := []int{200, 503}[i%2]; r.ask(t, w.own()...).Status != want {
						t.Errorf("request %d is not answered with %d", i, want)
					}
				}
				r.wantCredentials(t, "a:caller a:caller a:caller")
			})
			t.Run("an_alias_of_the_first", func(t *testing.T) {
				r := newRig(t, w, "", w.org("a"), w.org("b"), w.pool("aliases: [{name: smart, wireModels: {a: claude-a, b: claude-b}}]", "a", "b"), global)
				r.wantServed(t, r.send(t, "smart", w.own()...), "a", 1)
				r.wantCredentials(t, "a:caller")
			})
		})
	}
}

// Whoever the strategy starts on, our key never leaves for a caller with its
// own, and the first member has the role only when it goes first.
func TestRT_GP_the_strategy_puts_another_first(t *testing.T) {
	w := ways()[0]
	r := newRig(t, w, noBreaker, w.org("a"), w.org("b"), w.pass("c"), w.pool("strategy: {type: round-robin}", "a", "b", "c"), global)
	for i := range 12 {
		r.script(t, fails("c", 500))
		r.ask(t, w.own()...)
		dials := r.dialled()
		for c := range strings.FieldsSeq(r.credentials(t)) {
			if !strings.HasSuffix(c, ":caller") {
				t.Errorf("request %d: %s", i, c)
			}
		}
		if at := slices.Index(dials, "a"); at > 0 {
			t.Errorf("request %d: another was first, and yet the first inherited: %v", i, dials)
		}
	}
}

// What a caller's own credential could not do, the organisation's does, if the
// route says so.
func TestRT_OKF_moves_on_to_the_organisation(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, noBreaker, w.org("o1"), w.pass("p1"), w.org("o2"), w.pass("p2"), w.pool(fallback, "o1", "p1", "o2", "p2"))
		for name, rule := range map[string]fakellm.Rule{
			"500": {Action: "status", Status: 500}, "529": {Action: "status", Status: 529}, "429": {Action: "status", Status: 429},
			"429_with_a_time": {Action: "status", Status: 429, Headers: map[string]string{"Retry-After": "9"}}, "reset": {Action: "reset"},
			"402_quota": {Action: "status", Status: 402, Message: "Insufficient credits"}, "404": {Action: "status", Status: 404}, "408": {Action: "status", Status: 408},
		} {
			t.Run("after_"+name, func(t *testing.T) {
				r.script(t, at("p1", rule), at("p2", rule))
				got := r.ask(t, w.own()...)
				r.wantServed(t, got, "o1", 3)
				r.wantCredentials(t, "p1:caller p2:caller o1:own")
				rec := r.record(t, got)
				if !rec.CredentialFallback || rec.Credential != "own" || !slices.Equal(rec.Tags, []string{"org-key-fallback"}) || !rec.Attempts[2].CredentialFallback || rec.Attempts[1].CredentialFallback {
					t.Errorf("%+v", rec)
				}
				rows := r.Admin(t, "GET", "/audit-events?requestId="+rec.RequestID, "")
				if !strings.Contains(rows.Body, "org-key-fallback") {
					t.Errorf("no tag: %s", rows.Body)
				}
			})
		}
		t.Run("in_member_order_when_one_of_ours_fails_too", func(t *testing.T) {
			r.script(t, fails("p1", 500), fails("p2", 500), fails("o1", 401))
			got := r.ask(t, w.own()...)
			r.wantServed(t, got, "o2", 4)
			r.wantCredentials(t, "p1:caller p2:caller o1:own o2:own")
		})
		t.Run("not_after_a_success", func(t *testing.T) {
			r.script(t, fails("p1", 500))
			got := r.ask(t, w.own()...)
			r.wantServed(t, got, "p2", 2)
			if rec := r.record(t, got); rec.CredentialFallback || len(rec.Tags) != 0 {
				t.Errorf("%+v", rec)
			}
		})
		t.Run("callers_of_the_organisation_are_not_concerned", func(t *testing.T) {
			r.script(t, fails("o1", 500))
			got := r.ask(t)
			r.wantServed(t, got, "o2", 2)
			if rec := r.record(t, got); rec.CredentialFallback || len(rec.Tags) != 0 {
				t.Errorf("%+v", rec)
			}
		})
	})
}

// What the caller must learn of is returned as it is.
func TestRT_OKF_RT_FO_AUTH_returned(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, noBreaker, w.pass("p1"), w.pass("p2"), w.org("o1"), w.pool(fallback, "p1", "p2", "o1"))
		for _, status := range []int{401, 403, 400, 413, 422} {
			rule := fails("p1", status, "X-Request-Id: theirs")
			rule.Message = "their own words"
			r.script(t, rule)
			got := r.ask(t, w.own()...)
			if got.Status != status || !strings.Contains(got.Body, "their own words") {
				t.Errorf("%d, want %d: %s", got.Status, status, got.Body)
			}
			r.wantCredentials(t, "p1:caller")
			wantHeaders(t, got.Header, "p1", 1)
			if log := r.Log.String(); strings.Contains(log, "refused the organisation's key") {
				t.Error("an alert about a key that is not ours")
			}
		}
	})
}

// A member that is only skipped did not fail: the answer is the one with the
// setting off.
func TestRT_OKF_a_skipped_member_is_no_failure(t *testing.T) {
	t.Run("breaker", func(t *testing.T) {
		// A caller's own credential opens no breaker. One that is open for
		// callers of the organisation concerns it where the member takes both.
		for _, w := range ways()[:2] {
			for name, more := range map[string]string{"on": fallback, "off": ""} {
				t.Run(w.name+"_"+name, func(t *testing.T) {
					r := newRig(t, w, "llmProxy: {circuitBreaker: {failureThreshold: 1}, retry: {maxRetries: 0}}",
						w.org("a"), w.org("o"), w.pass("p", "drained: true"), w.pool(more, "a", "o", "p"), global)
					r.script(t, fails("a", 500))
					r.wantServed(t, r.ask(t), "o", 2) // a is open now
					r.script(t, fails("a", 503))
					got := r.ask(t, w.own()...)
					if got.Status != 503 {
						t.Errorf("%d %s", got.Status, got.Body)
					}
					r.wantCredentials(t, "a:caller") // tried after all, and nobody else
					if rec := r.record(t, got); tries(&rec) != "a:caller:server_error" {
						t.Error(tries(&rec))
					}
				})
			}
		}
	})
	for name, line := range map[string]string{"drained": "drained: true", "residency": "residency: us"} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, w *way) {
				ceiling := "kind: Key\nname: eu\ntype: service\nsecret: ilk_test_of_the_eu_only_0001\nallowedResidencies: [eu, global]"
				with := newRig(t, w, "", w.pass("p1", line), w.org("o1"), w.pool(fallback, "p1", "o1"), ceiling)
				without := newRig(t, w, "", w.pass("p1", line), w.org("o1"), w.pool("", "p1", "o1"), ceiling)
				headers := w.own()
				headers[1] = "X-Interlock-Key: ilk_test_of_the_eu_only_0001"
				a, b := with.ask(t, headers...), without.ask(t, headers...)
				if a.Status != b.Status || a.Header.Get("X-Interlock-Error") != b.Header.Get("X-Interlock-Error") || a.Status != 503 {
					t.Errorf("with the setting %d %s, without %d %s", a.Status, a.Body, b.Status, b.Body)
				}
				with.wantDials(t)
			})
		})
	}
}

// Under global passthrough a first member that goes first serves with the
// caller's credential and is not asked again with its own key.
func TestRT_OKF_under_RT_GP(t *testing.T) {
	for _, w := range ways()[:2] {
		t.Run(w.name, func(t *testing.T) {
			r := newRig(t, w, noBreaker, w.org("a"), w.pass("p"), w.org("b"), w.pool(fallback, "a", "p", "b"), global)
			r.script(t, fails("a", 500), fails("p", 500))
			r.wantServed(t, r.ask(t, w.own()...), "b", 3)
			r.wantCredentials(t, "a:caller p:caller b:own")

			r = newRig(t, w, noBreaker, w.org("a"), w.pass("p"), w.org("b"), w.pool(fallback+"\nstrategy: {type: weighted}", "a, weight: 0", "p", "b, weight: 0"), global)
			r.script(t, fails("p", 500))
			r.wantServed(t, r.ask(t, w.own()...), "a", 2)
			r.wantCredentials(t, "p:caller a:own")
		})
	}
}

// Without the fallback, quota and a refused key of the caller move on to
// nobody who has no credential of its own.
func TestRT_FO_QUOTA_AUTH_of_a_callers_own_credential(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, noBreaker, w.pass("p1"), w.pass("p2"), w.org("o1"), w.pool("", "p1", "p2", "o1"))
		quota := at("p1", fakellm.Rule{Action: "status", Status: 429, Type: "insufficient_quota", Code: "insufficient_quota", Message: "their own words"})
		for name, rule := range map[string]fakellm.Rule{"RT-FO-QUOTA": quota, "RT-FO-AUTH_401": fails("p1", 401), "RT-FO-AUTH_403": fails("p1", 403)} {
			r.script(t, rule)
			got := r.ask(t, w.own()...)
			if got.Status != rule.Status {
				t.Errorf("%s: %d %s", name, got.Status, got.Body)
			}
			r.wantCredentials(t, "p1:caller")
		}
		r.script(t, fails("p1", 500)) // any other failure does
		r.wantServed(t, r.ask(t, w.own()...), "p2", 2)

		t.Run("RT-FO-10_RT-PARK_nothing_parks", func(t *testing.T) {
			r := newRig(t, w, "llmProxy: {circuitBreaker: {failureThreshold: 1}}", w.pass("p1"), w.pass("p2"), w.pool("", "p1", "p2"))
			for _, rule := range []fakellm.Rule{quota, fails("p1", 500), fails("p1", 429, "Retry-After: 60"), at("p1", fakellm.Rule{Action: "reset"})} {
				for range 3 {
					r.script(t, rule)
					got := r.ask(t, w.own()...)
					if d := r.dialled(); len(d) == 0 || d[0] != "p1" {
						t.Fatalf("%+v left a mark: %v", rule, d)
					}
					if rec := r.record(t, got); len(rec.Skips) != 0 {
						t.Errorf("%s", skips(&rec))
					}
				}
			}
		})
	})
}
