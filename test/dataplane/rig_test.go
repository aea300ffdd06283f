package dataplane

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// way is one way to ask: a format, streamed or not, or a count. What holds for
// routing holds on all of them.
type way struct {
	*dialect
	name          string
	path          string
	stream, count bool
}

func ways() []*way {
	a, o, r := dialects()[0], dialects()[1], dialects()[2]
	return []*way{
		{dialect: a, name: "messages_plain", path: a.path},
		{dialect: a, name: "messages_streamed", path: a.path, stream: true},
		{dialect: a, name: "count_tokens", path: a.path + "/count_tokens", count: true},
		{dialect: o, name: "chat_plain", path: o.path},
		{dialect: o, name: "chat_streamed", path: o.path, stream: true},
		{dialect: r, name: "responses_plain", path: r.path},
		{dialect: r, name: "responses_streamed", path: r.path, stream: true},
	}
}

// eachWay runs a test in every way; short runs leave out two that have much in
// common with others.
func eachWay(t *testing.T, f func(t *testing.T, w *way)) {
	t.Helper()
	for _, w := range ways() {
		if testing.Short() && !w.count && w.stream != (w.kind == "anthropic") {
			continue
		}
		t.Run(w.name, func(t *testing.T) { f(t, w) })
	}
}

// chats are the ways that fail over; two of the four in short runs.
func chats() []*way {
	return slices.DeleteFunc(ways(), func(w *way) bool { return w.count || testing.Short() && w.stream != (w.kind == "anthropic") })
}

// eachChat runs a test in every way that fails over.
func eachChat(t *testing.T, f func(t *testing.T, w *way)) {
	t.Helper()
	for _, w := range chats() {
		t.Run(w.name, func(t *testing.T) { f(t, w) })
	}
}

// chatAtOnce is eachChat for tests that mostly wait.
func chatAtOnce(t *testing.T, f func(t *testing.T, w *way)) {
	t.Helper()
	all := chats()
	concurrently(len(all), len(all), func(i int) { t.Run(all[i].name, func(t *testing.T) { f(t, all[i]) }) })
}

// theFake stands for the URL of a rig's provider in documents.
const theFake = "http://the.fake"

// org is a Provider with a key of the organisation.
func (w *way) org(name string, more ...string) string {
	return w.pass(name, append([]string{"apiKey: " + w.key + name}, more...)...)
}

// pass is a Provider without a key: a passthrough member.
func (w *way) pass(name string, more ...string) string {
	return strings.Join(append([]string{
		"kind: Provider", "name: " + name, "type: " + w.kind, "baseUrl: " + theFake + "/" + name + w.base, "allowInsecure: true",
	}, more...), "\n")
}

// pool is a Route with these members, in order; more are its other lines.
func (w *way) pool(more string, members ...string) string { return w.route(members...) + "\n" + more }

// callerKey is the credential that a caller brings along.
func (w *way) callerKey() string {
	if w.dialect.name == "anthropic" {
		return foreignAnthropic
	}
	return foreignOpenAI
}

// own are headers of a caller that brings its own credential.
func (w *way) own(more ...string) []string {
	return append([]string{"Authorization:", "X-Interlock-Key: " + gwtest.Key, w.keyHeader + ": " + w.keyPrefix + w.callerKey()}, more...)
}

// rig is a whole server. All of its providers are one fake, each under a path
// with its name: so there is one list of dials, in their order.
type rig struct {
	*gwtest.Server
	way   *way
	fake  *gwtest.Fake
	names []string
	// config is what it was started with.
	config gwtest.Config
}

var providerName = regexp.MustCompile(`(?m)^kind: Provider\nname: (\S+)$`)

// newRig starts one. Each member works and says its name.
func newRig(t *testing.T, w *way, settings string, documents ...string) *rig {
	t.Helper()
	r := &rig{way: w, fake: gwtest.NewFake(t)}
	for i, d := range documents {
		if m := providerName.FindStringSubmatch(d); m != nil {
			r.names = append(r.names, m[1])
		}
		documents[i] = strings.ReplaceAll(d, theFake, r.fake.URL)
	}
	r.config = gwtest.Config{Settings: settings, Documents: documents, Admin: true, Dir: t.TempDir()}
	r.Server = gwtest.StartWith(t, r.config)
	r.script(t)
	return r
}

// script forgets earlier dials and sets what the members do; those that no
// rule is for work.
func (r *rig) script(t *testing.T, rules ...fakellm.Rule) {
	t.Helper()
	r.fake.Reset()
	r.addRules(t, rules...)
}

// addRules is script without forgetting.
func (r *rig) addRules(t *testing.T, rules ...fakellm.Rule) {
	t.Helper()
	rules = slices.Clone(rules)
	for _, n := range r.names {
		rules = append(rules, at(n, fakellm.Rule{Reply: says(n)}))
	}
	r.fake.Rules(t, rules...)
}

// at is a rule for one member.
func at(name string, rule fakellm.Rule) fakellm.Rule {
	rule.Path = "^/" + name + "/"
	return rule
}

// fails is a rule for one member that answers with an error status.
func fails(name string, status int, headers ...string) fakellm.Rule {
	rule := fakellm.Rule{Action: "status", Status: status, Headers: map[string]string{}}
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		rule.Headers[k] = v
	}
	return at(name, rule)
}

// dialled are the members in the order of their dials since the last script.
func (r *rig) dialled() []string {
	out := []string{}
	for _, rec := range r.fake.Records() {
		out = append(out, memberOf(&rec))
	}
	return out
}

func memberOf(rec *fakellm.Record) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(rec.Path, "/"), "/")
	return name
}

// wantDials compares the members that were dialled since the last script.
func (r *rig) wantDials(t *testing.T, want ...string) {
	t.Helper()
	if got := r.dialled(); !slices.Equal(got, want) {
		t.Errorf("dialled %v, want %v", got, want)
	}
}

// send asks for a model.
func (r *rig) send(t *testing.T, model string, headers ...string) gwtest.Answer {
	t.Helper()
	return r.Post(t, r.way.path, r.way.body(model, "hi", r.way.stream), headers...)
}

// ask asks for the model of the route.
func (r *rig) ask(t *testing.T, headers ...string) gwtest.Answer {
	t.Helper()
	return r.send(t, r.way.model, headers...)
}

// record is the audit record of an answer.
func (r *rig) record(t *testing.T, got gwtest.Answer) audit.Record {
	t.Helper()
	return recordOf(t, r.Server, got.Header.Get("X-Interlock-Request-Id"))
}

// wantServed holds for a good answer of a member after so many dials.
func (r *rig) wantServed(t *testing.T, got gwtest.Answer, by string, attempts int) {
	t.Helper()
	if r.way.count {
		var v struct {
			InputTokens int `json:"input_tokens"`
		}
		if err := json.Unmarshal([]byte(got.Body), &v); err != nil || got.Status != 200 || v.InputTokens < 1 {
			t.Errorf("%d %v %s", got.Status, err, got.Body)
		}
	} else {
		r.way.wantWhole(t, got, r.way.stream, saidBy(by))
	}
	wantHeaders(t, got.Header, by, attempts)
}

// wantCode holds for an error of the gateway.
func (r *rig) wantCode(t *testing.T, got gwtest.Answer, status int, code string) *wireError {
	t.Helper()
	e := r.way.mustError(t, got.Body)
	if got.Status != status || got.Header.Get("X-Interlock-Error") != code {
		t.Errorf("%d %s, want %d %s: %s", got.Status, got.Header.Get("X-Interlock-Error"), status, code, got.Body)
	}
	return e
}

// tries are the attempts of a record as text, such as
// "a:own:server_error a:own:retry:allow".
func tries(rec *audit.Record) string {
	out := make([]string, 0, len(rec.Attempts))
	for _, a := range rec.Attempts {
		s := a.Provider + ":" + a.Credential
		if a.CredentialFallback {
			s += ":fallback"
		}
		if a.Retry {
			s += ":retry"
		}
		if s += ":" + a.Category; a.Category == "" {
			s += a.Outcome
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// skips are the skipped candidates of a record as text, such as
// "a:parked:quota_exhausted:402".
func skips(rec *audit.Record) string {
	out := make([]string, 0, len(rec.Skips))
	for _, s := range rec.Skips {
		out = append(out, fmt.Sprintf("%s:%s:%s:%d", s.Provider, s.Reason, s.Category, s.Status))
	}
	return strings.Join(out, " ")
}

// credentialAt tells whose credential a member received: own, caller, virtual,
// or none. Anything else, or more than one, is an error; and so is whatever
// else only Interlock may know.
func (r *rig) credentialAt(t *testing.T, rec *fakellm.Record) string {
	t.Helper()
	all := observed(rec)
	for _, word := range []string{"ilk_", "sess_", "X-Interlock", "x-interlock", "Cookie"} {
		if strings.Contains(all, word) {
			t.Errorf("%s received %q: %s", memberOf(rec), word, all)
		}
	}
	found := []string{}
	for _, h := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"} {
		for _, v := range rec.Headers[h] {
			bare := strings.TrimPrefix(v, "Bearer ")
			switch bare {
			case r.way.key + memberOf(rec):
				found = append(found, "own")
			case r.way.callerKey():
				found = append(found, "caller")
			case virtualCredential:
				found = append(found, "virtual")
			default:
				found = append(found, h+"="+v)
			}
			// A caller's bearer token stays one, whatever the vendor's keys are in.
			if token := h == "Authorization" && v == "Bearer "+r.way.callerKey(); !token && (h != r.way.keyHeader || v != r.way.keyPrefix+bare) {
				t.Errorf("%s received %s: %s", memberOf(rec), h, v)
			}
		}
	}
	if strings.Contains(rec.Query, "key=") {
		t.Errorf("%s received the query %s", memberOf(rec), rec.Query)
	}
	if len(found) == 0 {
		return "none"
	}
	return strings.Join(found, "+")
}

// credentials are the dials since the last script and their credentials, such
// as "a:caller b:own".
func (r *rig) credentials(t *testing.T) string {
	t.Helper()
	var out []string
	for _, rec := range r.fake.Records() {
		out = append(out, memberOf(&rec)+":"+r.credentialAt(t, &rec))
	}
	return strings.Join(out, " ")
}

// wantCredentials compares them.
func (r *rig) wantCredentials(t *testing.T, want string) {
	t.Helper()
	if got := r.credentials(t); got != want {
		t.Errorf("credentials %q, want %q", got, want)
	}
}

// virtualCredential is the provider's key in the virtual key of the rigs.
const (
	virtualSecret     = "ilk_test_of_a_virtual_key_0001"
	virtualCredential = "sk-ant-of-the-virtual-key"
)

// virtual is a virtual key with a credential for one provider.
func virtual(provider string) string {
	return fmt.Sprintf("kind: Key\nname: virt\ntype: virtual\nsecret: %s\nproviderCredential: {provider: %s, apiKey: %s}", virtualSecret, provider, virtualCredential)
}

// anonymous are settings that let callers in without an Interlock key.
const anonymous = "kind: Settings\nname: settings\nallowAnonymousPassthrough: true"

// enforced are settings of a rig that reloads.
const enforced = "resources: {mode: enforce, files: [resources.yaml]}\n"

// reload does what SIGHUP does, with other documents; state stays.
func (r *rig) reload(t *testing.T, documents ...string) {
	t.Helper()
	for i, d := range documents {
		documents[i] = strings.ReplaceAll(d, theFake, r.fake.URL)
	}
	c := r.config
	c.Documents = documents
	r.Server.Reload(t, c)
}

// priced is a Model document with a price for a million tokens, in and out.
func priced(name string, usd float64) string {
	return fmt.Sprintf("kind: Model\nname: %s\nprices: {input: %g, output: %g}", name, usd, usd)
}

// mustJSON reads JSON, which may be empty.
func mustJSON(t *testing.T, text string, v any) {
	t.Helper()
	if text == "" {
		return
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
