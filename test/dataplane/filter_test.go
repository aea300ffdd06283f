package dataplane

import (
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/fakellm"
)

// long is a prompt of about so many tokens.
func long(tokens int) string { return strings.Repeat("abc ", tokens) }

// ceiling is a key with restrictions, and the header of its caller.
func ceiling(lines ...string) (document, header string) {
	const secret = "ilk_test_with_ceilings_000001"
	return "kind: Key\nname: bounded\ntype: service\nsecret: " + secret + "\n" + strings.Join(lines, "\n"), "Authorization: Bearer " + secret
}

// A member whose window is too small is left out, unless nobody knows its size
// or the estimate is close.
func TestRT_FILTER_context_window(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("small", "contextWindows: {"+w.model+": 1000}"), w.org("large", "contextWindows: {"+w.model+": 5000}"), w.org("unknown"),
			w.pool("", "small", "large", "unknown"))
		ask := func(text string) []string {
			r.script(t)
			if got := r.Post(t, w.path, w.body(w.model, text, w.stream)); got.Status != 200 {
				t.Errorf("%d %s", got.Status, got.Body)
			}
			return r.dialled()
		}
		for _, c := range []struct {
			name string
			text string
			want string
		}{
			{"fits", long(900), "small"},
			{"within_a_tenth", long(1050), "small"},
			{"too_long_for_the_small_one", long(1200), "large"},
			{"too_long_for_both", long(6000), "unknown"},
			{"media_do_not_count", strings.Repeat("iVBORw0KGgo", 4000), "small"},
		} {
			want := c.want
			if w.count { // counting is how a client finds out
				want = "small"
			}
			if got := ask(c.text); len(got) != 1 || got[0] != want {
				t.Errorf("%s: dialled %v, want %s", c.name, got, want)
			}
		}
	})
}

// The window of a wire model counts, and a Model document's where the provider
// says nothing.
func TestRT_FILTER_where_windows_come_from(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("wire", "modelAliases: {"+w.model+": wire-1}", "contextWindows: {wire-1: 1000}"),
			w.org("documented", "modelAliases: {"+w.model+": wire-2}"), w.org("overridden", "modelAliases: {"+w.model+": wire-2}", "contextWindows: {wire-2: 9000}"),
			"kind: Model\nname: wire-2\ncontextWindow: 2000", w.pool("", "wire", "documented", "overridden"))
		for tokens, want := range map[int]string{500: "wire", 1500: "documented", 5000: "overridden"} {
			r.script(t)
			r.wantServed(t, r.Post(t, w.path, w.body(w.model, long(tokens), w.stream)), want, 1)
		}
	})
}

// A prompt that fits nobody is refused in words that help, and nobody is
// dialled.
func TestER_CTX(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("a", "contextWindows: {"+w.model+": 1000}"), w.org("b", "contextWindows: {"+w.model+": 2000}"), w.pass("p"), w.pool("", "a", "b", "p"))
		got := r.Post(t, w.path, w.body(w.model, long(4000), w.stream))
		e := r.wantCode(t, got, 400, "context_length_exceeded")
		if !strings.Contains(e.Message, "2000") || !strings.Contains(e.Message, "40") || got.Header.Get("X-Should-Retry") != "false" {
			t.Errorf("%v %s", got.Header, e.Message)
		}
		r.wantDials(t)
		if rec := r.record(t, got); rec.Outcome != audit.OutcomeDeny || rec.Policy != "context-window" || rec.RouteName != "pool" {
			t.Errorf("%+v", rec)
		}
	})
}

// A model of another kind is refused before anybody is dialled: by its name,
// and by the name that it stands for.
func TestER_KIND(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		prefix := strings.TrimSuffix(w.pattern, "*")
		r := newRig(t, w, "", w.org("a", "modelAliases: {"+prefix+"hidden: vectors-3}"),
			w.pool("aliases: [{name: smart, wireModels: {a: vectors-3}}, {name: fine, wireModels: {a: "+w.model+"}}]", "a"),
			"kind: Model\nname: "+prefix+"vectors\nmodality: embedding", "kind: Model\nname: vectors-3\nmodality: embedding", "kind: Model\nname: "+w.model+"\nmodality: chat")
		for _, model := range []string{prefix + "vectors", strings.ToUpper(prefix) + "VECTORS", prefix + "hidden", "smart"} {
			got := r.send(t, model)
			e := r.wantCode(t, got, 400, "model_not_supported")
			if !strings.Contains(e.Message, model) || got.Header.Get("X-Should-Retry") != "false" {
				t.Errorf("%s: %s", model, e.Message)
			}
		}
		r.wantDials(t)
		r.wantServed(t, r.ask(t), "a", 1)
		r.wantServed(t, r.send(t, "fine"), "a", 1)
		r.wantServed(t, r.send(t, prefix+"unheard-of"), "a", 1)
	})
}

// What keeps each member from serving is named, one by one.
func TestER_NOPROV_says_why_of_each_member(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		key, header := ceiling("allowedProviders: [eu-1, eu-2, us-1, trained, drained]", "allowedResidencies: [eu]", "dataHandling: {zeroDataRetention: true, jurisdiction: SE}")
		promise := func(zdr bool, where string) string {
			return fmt.Sprintf("dataHandling: {zeroDataRetention: %t, noPromptTraining: true, jurisdiction: %s}", zdr, where)
		}
		docs := []string{
			w.org("elsewhere", "residency: eu", promise(true, "SE")), w.org("us-1", "residency: us", promise(true, "SE")), w.org("trained", "residency: eu", promise(false, "SE")),
			w.org("drained", "residency: eu", promise(true, "SE"), "drained: true"), w.org("eu-1", "residency: eu", promise(true, "DE")), w.pass("keyless"), key,
		}
		members := []string{"elsewhere", "us-1", "trained", "drained", "eu-1", "keyless"}
		r := newRig(t, w, "", append(docs, w.org("eu-2", "enabled: false"), w.pool("", append(members, "eu-2")...))...)
		got := r.ask(t, header)
		e := r.wantCode(t, got, 503, "no_eligible_provider")
		for _, want := range []string{
			"elsewhere: provider-not-allowed", "us-1: residency", "trained: data-handling", "drained: drained", "eu-1: data-handling", "keyless: credential-mode", "zero data retention", "jurisdiction",
		} {
			if !strings.Contains(e.Message, want) {
				t.Errorf("%q is not in %s", want, e.Message)
			}
		}
		if rec := r.record(t, got); rec.Outcome != audit.OutcomeDeny || rec.Policy != "no-eligible-provider" || got.Header.Get("X-Should-Retry") != "false" {
			t.Errorf("%+v", rec)
		}
		r.wantDials(t)
		// Other callers are not concerned, and the drained one gets nothing.
		r.script(t, fails("elsewhere", 404), fails("us-1", 404), fails("trained", 404), fails("eu-1", 404))
		r.ask(t)
		if d := strings.Join(r.dialled(), " "); w.count && d != "elsewhere" || !w.count && d != "elsewhere us-1 trained eu-1" {
			t.Errorf("dialled %s", d)
		}
		// With one that may serve, it does: also when others would be first.
		r = newRig(t, w, "", append(docs, w.org("eu-2", "residency: eu", promise(true, "se")), w.pool("", append(members, "eu-2")...))...)
		r.wantServed(t, r.ask(t, header), "eu-2", 1)
	})
}

// The installation's own demand holds for everybody.
func TestRT_FILTER_data_handling_of_the_settings(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, "", w.org("a"), w.org("b", "dataHandling: {noPromptTraining: true}"), w.pass("p"), w.pool("", "a", "b", "p"),
			"kind: Settings\nname: settings\nrequireDataHandling: {noPromptTraining: true}")
		r.wantServed(t, r.ask(t), "b", 1)
		e := r.wantCode(t, r.ask(t, w.own()...), 503, "no_eligible_provider")
		if !strings.Contains(e.Message, "p: data-handling") {
			t.Error(e.Message)
		}
	})
}

// Failover stays inside of what a caller may use (R86).
func TestRT_FILTER_R86_every_hop_is_within_the_ceilings(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		key, header := ceiling("allowedResidencies: [eu]")
		r := newRig(t, w, "", w.org("a", "residency: eu"), w.org("us", "residency: us"), w.org("b", "residency: eu"), w.pool("", "a", "us", "b"), key)
		r.script(t, fails("a", 500), fails("b", 500))
		if got := r.ask(t, header); got.Status != 500 {
			t.Errorf("%d %s", got.Status, got.Body)
		}
		r.wantDials(t, "a", "b")
		// Not even when all others are broken.
		broken := newRig(t, w, breakerAt(1, 60), w.org("a", "residency: eu"), w.org("us", "residency: us"), w.pool("", "a", "us"), key)
		broken.script(t, fails("a", 500))
		for range 3 {
			broken.ask(t, header)
		}
		broken.wantDials(t, "a", "a", "a")
		if got := broken.ask(t); got.Header.Get("X-Interlock-Provider") != "us" {
			t.Errorf("%v", got.Header)
		}
		// And the list of models is what can be called.
		none := newRig(t, w, "", w.org("us", "residency: us"), gwtestExact("only", w.model, "us"), key)
		if ids := listed(t, none.Do(t, "GET", "/v1/models", "", header)); strings.Contains(strings.Join(ids, " "), w.model) {
			t.Errorf("listed: %v", ids)
		}
		if ids := listed(t, none.Do(t, "GET", "/v1/models", "")); !strings.Contains(strings.Join(ids, " "), w.model) {
			t.Errorf("listed: %v", ids)
		}
	})
}

// gwtestExact is a route of one model.
func gwtestExact(name, model, member string) string {
	return "kind: Route\nname: " + name + "\nmodelPatterns: [" + model + "]\nmembers: [{provider: " + member + "}]"
}

// BY-18: the decision in a header, for keys of administrators alone.
func TestBY_18_explain(t *testing.T) {
	const admin = "ilk_test_of_an_administrator_1"
	people := []string{
		"kind: User\nname: root\nrole: gateway-admin", "kind: Key\nname: roots\ntype: pat\nsecret: " + admin + "\nowner: {user: root}",
		"kind: User\nname: eva\nrole: viewer", "kind: Key\nname: evas\ntype: pat\nsecret: ilk_test_of_a_viewer_00000001\nowner: {user: eva}",
	}
	asAdmin := "Authorization: Bearer " + admin
	eachWay(t, func(t *testing.T, w *way) {
		r := newRig(t, w, breakerAt(1, 60), append(people, w.org("first"), w.pass("keyless"), w.org("second"), w.pool("", "first", "keyless", "second"))...)
		const header, explain = "X-Interlock-Decision", "X-Interlock-Explain: true"
		got := r.ask(t, asAdmin, explain)
		r.wantServed(t, got, "first", 1)
		for _, word := range []string{w.model, "pool", "keyless", "credential-mode", "try 1 first", "try 2 second"} {
			if !strings.Contains(got.Header.Get(header), word) {
				t.Errorf("%q is not in %q", word, got.Header.Get(header))
			}
		}
		for name, headers := range map[string][]string{
			"an_ordinary_key": {explain}, "a_viewer": {explain, "Authorization: Bearer ilk_test_of_a_viewer_00000001"},
			"not_asked": {asAdmin}, "false": {asAdmin, "X-Interlock-Explain: false"},
		} {
			got := r.ask(t, headers...)
			r.wantServed(t, got, "first", 1)
			if h := got.Header.Get(header); h != "" {
				t.Errorf("%s: %q", name, h)
			}
		}
		t.Run("of_what_failed", func(t *testing.T) {
			r.script(t, fails("first", 400))
			if h := r.ask(t, asAdmin, explain).Header.Get(header); !strings.Contains(h, "try 1 first") {
				t.Errorf("%q", h)
			}
		})
		t.Run("of_a_refusal", func(t *testing.T) {
			r.script(t)
			got := r.send(t, "unheard-of", asAdmin, explain)
			if h := got.Header.Get(header); got.Status != 503 || !strings.Contains(h, "NO_ROUTE") {
				t.Errorf("%d %q", got.Status, h)
			}
			if h := r.send(t, "unheard-of", explain).Header.Get(header); h != "" {
				t.Errorf("an ordinary key gets %q", h)
			}
		})
		t.Run("of_the_state", func(t *testing.T) {
			r.script(t, fails("first", 500), at("second", fakellm.Rule{Reply: says("second")}))
			r.ask(t)
			if h := r.ask(t, asAdmin, explain).Header.Get(header); !strings.Contains(h, "circuit_open") || !strings.Contains(h, "try 1 second") {
				t.Errorf("%q", h)
			}
		})
		t.Run("not_forwarded", func(t *testing.T) {
			r.script(t)
			r.ask(t, asAdmin, explain)
			if d := r.credentials(t); d != "second:own" {
				t.Error(d)
			}
		})
	})
}
