package dataplane

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// wireOf is the model that a provider read.
func wireOf(t *testing.T, rec *fakellm.Record) string {
	t.Helper()
	var v struct{ Model string }
	if err := json.Unmarshal(rec.Raw, &v); err != nil {
		t.Fatalf("%v: %s", err, rec.Raw)
	}
	return v.Model
}

// wires are the dials since the last script and the model that each member
// read, such as "a=m1 b=m2".
func (r *rig) wires(t *testing.T) string {
	t.Helper()
	var out []string
	for _, rec := range r.fake.Records() {
		out = append(out, memberOf(&rec)+"="+wireOf(t, &rec))
	}
	return strings.Join(out, " ")
}

// What holds for a model holds for its alias: who is dialled, how often, what
// each of them reads and what comes of it.
func TestRT_ALIAS_1_R13_R14_alias_and_model_take_the_same_way(t *testing.T) {
	quota := fakellm.Rule{Action: "status", Status: 402, Message: "Insufficient credits"}
	cases := map[string]func(a, b, c string) []fakellm.Rule{
		"all_work":    func(_, _, _ string) []fakellm.Rule { return nil },
		"first_fails": func(a, _, _ string) []fakellm.Rule { return []fakellm.Rule{fails(a, 500)} },
		"two_fail":    func(a, b, _ string) []fakellm.Rule { return []fakellm.Rule{fails(a, 429), fails(b, 503)} },
		"all_fail": func(a, b, c string) []fakellm.Rule {
			return []fakellm.Rule{fails(a, 500), fails(b, 500), fails(c, 503)}
		},
		"first_is_broke": func(a, _, _ string) []fakellm.Rule { return []fakellm.Rule{at(a, quota)} },
		"rejected":       func(a, _, _ string) []fakellm.Rule { return []fakellm.Rule{fails(a, 400)} },
		"wrong_key":      func(a, b, _ string) []fakellm.Rule { return []fakellm.Rule{fails(a, 401), fails(b, 404)} },
		"last_is_retried": func(a, b, c string) []fakellm.Rule {
			return []fakellm.Rule{fails(a, 500), fails(b, 500), at(c, fakellm.Rule{Action: "reset", Times: 1})}
		},
	}
	eachWay(t, func(t *testing.T, w *way) {
		// Two sets of members and a route for each case: failures leave marks.
		var docs []string
		for name := range cases {
			for _, set := range []string{"model-", "alias-"} {
				var members []string
				wires := map[string]string{}
				for _, m := range []string{"a", "b", "c"} {
					member := set + m + "-" + strings.ReplaceAll(name, "_", "-")
					members, wires[member] = append(members, member), "wire-"+m
					docs = append(docs, w.org(member, "modelAliases: {"+set+name+": wire-"+m+"}"))
				}
				list, err := json.Marshal(wires)
				if err != nil {
					t.Fatal(err)
				}
				docs = append(docs, gwtest.Route(set+strings.ReplaceAll(name, "_", "-"), `"`+set+name+`"`, members...)+
					fmt.Sprintf("\naliases: [{name: Org/Chat-%s%s, wireModels: %s}]", set, name, list))
			}
		}
		r := newRig(t, w, "llmProxy: {circuitBreaker: {failureThreshold: 2}, retry: {baseDelayMs: 0}}", docs...)
		for name, rules := range cases {
			t.Run(name, func(t *testing.T) {
				// What is asked by the model at one set is asked by the alias at
				// the other.
				ask := func(set, model string) (way, status, attempts, wire string, rec audit.Record) {
					members := strings.ReplaceAll(name, "_", "-")
					r.script(t, rules(set+"a-"+members, set+"b-"+members, set+"c-"+members)...)
					got := r.send(t, model)
					rec = r.record(t, got)
					plain := strings.NewReplacer(set, "", "-"+members, "")
					for _, seen := range r.fake.Records() {
						if strings.Contains(strings.ToLower(string(seen.Raw)), "org/chat") {
							t.Errorf("R14: the alias left: %s", seen.Raw)
						}
					}
					if rec.RequestedModel != model {
						t.Errorf("requested %q, want %q", rec.RequestedModel, model)
					}
					return plain.Replace(r.wires(t) + " | " + tries(&rec) + " | " + skips(&rec)), fmt.Sprint(got.Status),
						got.Header.Get("X-Interlock-Attempts"), got.Header.Get("X-Interlock-Model") + " " + rec.ServedModel, rec
				}
				for i := range 4 { // the third finds open breakers
					spelling := []func(string) string{strings.ToLower, strings.ToUpper, strings.Clone, strings.ToTitle}[i]
					way1, status1, attempts1, wire1, _ := ask("model-", "model-"+name)
					way2, status2, attempts2, wire2, rec := ask("alias-", spelling("Org/Chat-alias-"+name))
					if way1 != way2 || status1 != status2 || attempts1 != attempts2 || wire1 != wire2 {
						t.Errorf("request %d: the alias: %s, %s, %s dials, %s; the model: %s, %s, %s dials, %s", i, way2, status2, attempts2, wire2, way1, status1, attempts1, wire1)
					}
					if rec.RouteName != "alias-"+strings.ReplaceAll(name, "_", "-") {
						t.Errorf("route %q", rec.RouteName)
					}
				}
			})
		}
	})
}

// What an alias is: looked up before any pattern, each member with its own
// model, nobody else dialled, listed by its name.
func TestRT_ALIAS_resolution(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("a"), w.org("b"), w.org("c", "modelAliases: {served: of-the-provider}"), w.org("d"),
			w.pool("aliases: [{name: smart, wireModels: {a: wire-a, b: wire-b}}, {name: "+strings.TrimSuffix(w.pattern, "*")+"alias, wireModels: {b: wire-2}}, {name: served, wireModels: {c: of-the-alias}}]", "a", "b", "c"),
			gwtest.Route("other", `"sma*", "ser*"`, "d"), virtual("c"))
		t.Run("before_any_pattern", func(t *testing.T) {
			r.script(t)
			got := r.send(t, "SMART")
			r.wantServed(t, got, "a", 1)
			if r.wires(t) != "a=wire-a" || got.Header.Get("X-Interlock-Route") != "pool" || got.Header.Get("X-Interlock-Model") != "wire-a" {
				t.Errorf("%s %v", r.wires(t), got.Header)
			}
			r.script(t)
			r.wantServed(t, r.send(t, "smartest"), "d", 1)
		})
		t.Run("a_member_without_an_entry_is_left_out", func(t *testing.T) {
			r.script(t, fails("a", 400), fails("b", 500), fails("c", 400))
			got := r.send(t, strings.TrimSuffix(w.pattern, "*")+"alias")
			if got.Status != 500 || r.wires(t) != "b=wire-2" {
				t.Errorf("%d, %s", got.Status, r.wires(t))
			}
		})
		t.Run("the_alias_wins_over_the_provider", func(t *testing.T) {
			r.script(t)
			got := r.send(t, "served", "Authorization: Bearer "+virtualSecret)
			r.wantServed(t, got, "c", 1)
			if r.wires(t) != "c=of-the-alias" {
				t.Error(r.wires(t))
			}
			rec := r.record(t, got)
			if rec.RequestedModel != "served" || rec.ServedModel != "of-the-alias" || rec.Credential != "virtual" {
				t.Errorf("%+v", rec)
			}
		})
		t.Run("listed", func(t *testing.T) {
			for _, header := range []string{"Accept: */*", asAnthropic} {
				ids := listed(t, r.Do(t, "GET", "/v1/models?limit=1000", "", header))
				for _, name := range []string{"smart", "served", strings.TrimSuffix(w.pattern, "*") + "alias"} {
					if !slices.Contains(ids, name) {
						t.Errorf("%s is not listed: %v", name, ids)
					}
				}
				if slices.Contains(ids, "wire-a") {
					t.Errorf("a wire model is listed: %v", ids)
				}
			}
		})
	})
}

// A coding agent's background model is served although no stored route has it.
func TestRT_IMPL_family_routes(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		other := dialects()[0]
		if w.kind == "anthropic" {
			other = dialects()[1]
		}
		foreign := other.provider(theFake+"/foreign", "foreign", "allowInsecure: true")
		model, family := strings.TrimSuffix(w.pattern, "*")+"background-mini", w.kind+"-family"
		t.Run("serves_what_no_stored_route_does", func(t *testing.T) {
			r := newRig(t, w, "", w.org("zz"), w.org("aa"), foreign, gwtest.Route("main", `"`+w.model+`"`, "zz"), gwtest.Route("second", `"other-*"`, "aa"))
			r.wantServed(t, r.ask(t), "zz", 1)
			r.script(t)
			got := r.send(t, model)
			r.wantServed(t, got, "aa", 1) // by name
			if got.Header.Get("X-Interlock-Route") != family {
				t.Errorf("route %q", got.Header.Get("X-Interlock-Route"))
			}
			if rec := r.record(t, got); rec.RouteName != family || rec.Strategy != "failover" || rec.WireModel != model {
				t.Errorf("%+v", rec)
			}
			if !w.count {
				r.script(t, fails("aa", 500))
				r.wantServed(t, r.send(t, model), "zz", 2)
			}
			r.script(t)
			if got := r.send(t, "no-such-model"); got.Status != 503 || got.Header.Get("X-Interlock-Error") != "NO_ROUTE" {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
		t.Run("any_stored_route_wins", func(t *testing.T) {
			for _, pattern := range []string{`"` + model + `"`, `"` + w.pattern + `"`, `"*"`} {
				r := newRig(t, w, "", w.org("aa"), w.org("zz"), gwtest.Route("stored", pattern, "zz"), gwtest.Route("another", `"x-*"`, "aa"))
				got := r.send(t, model)
				r.wantServed(t, got, "zz", 1)
				if got.Header.Get("X-Interlock-Route") != "stored" {
					t.Errorf("%s: route %q", pattern, got.Header.Get("X-Interlock-Route"))
				}
				// It fails closed rather than fall through (RT-PICK-1).
				r.script(t, fails("zz", 500))
				if got := r.send(t, model); got.Status != 500 {
					t.Errorf("%s: %d", pattern, got.Status)
				}
				r.wantDials(t, "zz")
			}
		})
		t.Run("loses_ties_against_a_providers_own_route", func(t *testing.T) {
			// "mm" is in no route, so it serves its family's patterns itself.
			r := newRig(t, w, "", w.org("aa"), w.org("mm"), gwtest.Route("stored", `"x-*"`, "aa"))
			got := r.send(t, model)
			r.wantServed(t, got, "mm", 1)
			if got.Header.Get("X-Interlock-Route") != "mm" {
				t.Errorf("route %q", got.Header.Get("X-Interlock-Route"))
			}
		})
		t.Run("by_specificity_against_others", func(t *testing.T) {
			// The own route of a vendor without a family serves anything.
			r := newRig(t, w, "", w.org("aa"), gwtest.Route("stored", `"x-*"`, "aa"), compatible("any"))
			got := r.send(t, model)
			r.wantServed(t, got, "aa", 1)
			if got.Header.Get("X-Interlock-Route") != family {
				t.Errorf("route %q", got.Header.Get("X-Interlock-Route"))
			}
		})
		t.Run("ER-TIE_of_two_own_routes", func(t *testing.T) {
			r := newRig(t, w, "", w.org("aa"), w.org("mm"))
			e := r.wantCode(t, r.send(t, model), 503, "UPSTREAM_AMBIGUOUS")
			if !strings.Contains(e.Message, `"aa"`) || !strings.Contains(e.Message, `"mm"`) {
				t.Error(e.Message)
			}
			r.wantDials(t)
		})
		t.Run("not_for_a_caller_with_its_own_credential", func(t *testing.T) {
			r := newRig(t, w, "", w.org("aa"), gwtest.Route("stored", `"x-*"`, "aa"))
			if got := r.send(t, model, w.own()...); got.Status != 503 || !strings.Contains(got.Body, "passthrough member") {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
		t.Run("for_one_when_a_member_takes_it", func(t *testing.T) {
			r := newRig(t, w, "", w.org("aa"), w.pass("bb"), gwtest.Route("stored", `"x-*"`, "aa", "bb"))
			r.wantServed(t, r.send(t, model, w.own()...), "bb", 1)
			r.wantCredentials(t, "bb:caller")
		})
	})
}

// compatible is a provider without a family.
func compatible(name string) string {
	return fmt.Sprintf("kind: Provider\nname: %s\ntype: openai-compatible\nbaseUrl: %s/%s/v1\napiKey: sk-key-of-%s\nallowInsecure: true", name, theFake, name, name)
}

// The members of another family are left out unless the route mixes families;
// that a request can be written for one does not make it serve.
func TestRT_FILTER_family(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		other := dialects()[0]
		if w.kind == "anthropic" {
			other = dialects()[1]
		}
		r := newRig(t, w, noBreaker, w.org("home"), other.provider(theFake+"/foreign"+other.base, "foreign", "allowInsecure: true"), w.pool("", "home", "foreign"))
		r.script(t, fails("home", 500))
		got := r.ask(t)
		if got.Status != 500 {
			t.Errorf("%d %s", got.Status, got.Body)
		}
		r.wantDials(t, "home")
		if rec := r.record(t, got); rec.Outcome != audit.OutcomeError || tries(&rec) != "home:own:server_error" {
			t.Errorf("%s", tries(&rec))
		}
	})
}
