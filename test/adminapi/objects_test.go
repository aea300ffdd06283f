package adminapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// RS-PROV-4: a provider that is in use can't be deleted, and the refusal names
// every user: routes, those that are off as well, and keys that hold a
// credential for it or name it in their ceiling.
func TestRS_PROV_4_a_provider_in_use(t *testing.T) {
	a := gwtest.NewFake(t)
	gw := start(t, "", a.OpenAI("main"), a.OpenAI("spare"), a.OpenAI("free"),
		gwtest.Route("one", `"gpt-*"`, "main", "spare"), gwtest.Route("two", `"other-*"`, "main")+"\nenabled: false",
		"kind: Key\nname: held\ntype: virtual\nproviderCredential: {provider: main, apiKey: sk-of-the-holder}\nsecret: ilk_test_of_a_virtual_key_1",
		"kind: Key\nname: ceiling\ntype: service\nallowedProviders: [main]\nsecret: ilk_test_of_a_service_key_1")
	p := gw.refused("DELETE", "/providers/main", "", 409, "in_use")
	var users []string
	for _, r := range p.Refs {
		users = append(users, r.Kind+" "+r.Name)
	}
	slices.Sort(users)
	if got := strings.Join(users, ", "); got != "Key ceiling, Key held, Route one, Route two" {
		t.Errorf("%s: %s", got, p.Detail)
	}
	for _, name := range []string{`Route "one"`, `Route "two"`, `Key "held"`, `Key "ceiling"`} {
		if !strings.Contains(p.Detail, name) {
			t.Errorf("%s is not in %q", name, p.Detail)
		}
	}
	gw.refused("DELETE", "/providers/main?dryRun=true", "", 409, "in_use")

	// The same is in sight before.
	var o struct {
		UsedBy []struct{ Kind, Name string }
	}
	gw.call("GET", "/providers/main", "", 200, &o)
	if got := fmt.Sprint(o.UsedBy); got != "[{Route one} {Route two} {Key ceiling} {Key held}]" {
		t.Error(got)
	}
	var page struct {
		Items []struct {
			Name   string
			UsedBy []struct{ Kind, Name string }
		}
	}
	gw.call("GET", "/providers", "", 200, &page)
	for _, x := range page.Items {
		if x.UsedBy == nil || (x.Name == "free") != (len(x.UsedBy) == 0) {
			t.Errorf("%+v", x)
		}
	}

	// Once nobody uses it, it goes.
	gw.call("DELETE", "/routes/one", "", 204, nil)
	gw.refused("DELETE", "/providers/main", "", 409, "in_use")
	gw.call("DELETE", "/routes/two", "", 204, nil)
	if p := gw.refused("DELETE", "/providers/main", "", 409, "in_use"); len(p.Refs) != 2 {
		t.Errorf("%+v", p)
	}
	gw.call("DELETE", "/keys/held", "", 204, nil)
	gw.refused("DELETE", "/providers/main", "", 409, "in_use")
	gw.call("PUT", "/keys/ceiling", `{"type":"service"}`, 200, nil)
	gw.call("DELETE", "/providers/main", "", 204, nil)
}

// AP: what a save has no effect with is said at once, as the compiler sees it in
// the whole configuration, and stays in sight.
func TestAP_saves_carry_warnings(t *testing.T) {
	a := gwtest.NewFake(t)
	gw := start(t, "", a.OpenAI("oai"), a.Anthropic("claude"), a.OpenAI("off", "enabled: false"))
	const route = `{"modelPatterns":["gpt-*"],"members":[{"provider":"oai"},{"provider":"claude"},{"provider":"off"}],"orgKeyFallbackForCallerCredentials":true}`
	check := func(what string, warnings []string) {
		t.Helper()
		text := strings.Join(warnings, "\n")
		for _, want := range []string{`members[1].provider: the provider "claude" is of the family anthropic`, `members[2].provider: the provider "off" is disabled`, "orgKeyFallbackForCallerCredentials: "} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %s", what, want, text)
			}
		}
	}
	type answer struct{ Warnings []string }
	var planned, saved, read answer
	gw.call("PUT", "/routes/r?dryRun=true", route, 200, &planned)
	check("a dry run", planned.Warnings)
	gw.call("PUT", "/routes/r", route, 201, &saved)
	check("a save", saved.Warnings)
	gw.call("GET", "/routes/r", "", 200, &read)
	check("a read", read.Warnings)
	gw.call("PUT", "/routes/r", route, 200, &saved) // changes nothing
	check("the same again", saved.Warnings)
	var page struct{ Items []answer }
	gw.call("GET", "/routes?q=gpt-*&sort=-name", "", 200, &page)
	check("a list", page.Items[0].Warnings)

	// Another object can end the reason.
	gw.call("PUT", "/providers/off", strings.ReplaceAll(`{"type":"openai","baseUrl":"URL/v1"}`, "URL", a.URL), 200, nil)
	gw.call("GET", "/routes/r", "", 200, &read)
	if text := strings.Join(read.Warnings, "\n"); strings.Contains(text, "disabled") || !strings.Contains(text, "family") {
		t.Error(text)
	}
}

// AP: the routes that Interlock makes are shown with their members, and the dry
// run names them.
func TestAP_family_routes(t *testing.T) {
	a := gwtest.NewFake(t)
	gw := start(t, "", a.Anthropic("one"), a.Anthropic("two"), gwtest.Route("r", `"other-*"`, "one", "two"))
	var o struct {
		Tag     string
		Members []struct{ Provider, State, CredentialMode string }
	}
	gw.call("GET", "/routes/anthropic-family", "", 200, &o)
	if got := fmt.Sprint(o); got != "{implicit [{one healthy org-key} {two healthy org-key}]}" {
		t.Error(got)
	}
	if got := gw.resolve(`{"model":"claude-sonnet-4-6"}`); got.Plan.Route != "anthropic-family" || got.Endpoint != "messages" || got.Candidates[0].Provider != "one" {
		t.Errorf("%+v", got)
	}
	if got := gw.upstreams().route("anthropic-family"); got != "implicit one 2: one=healthy two=healthy" {
		t.Error(got)
	}
	gw.refused("DELETE", "/routes/anthropic-family", "", 409, "read_only")
}
