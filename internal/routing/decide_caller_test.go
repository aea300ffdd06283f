package routing

import (
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// asked is a request of the tests, changed by options.
func asked(model string, options ...func(*Input)) *Input {
	in := &Input{Query: Query{Endpoint: messages, Model: model}, Facts: Facts{Now: noon}}
	for _, o := range options {
		o(in)
	}
	return in
}

func own(in *Input) { in.Query.Caller.Own = true }

func virtual(id ProviderID) func(*Input) { return func(in *Input) { in.Query.Caller.Virtual = id } }

func ceilings(c Ceilings) func(*Input) { return func(in *Input) { in.Query.Caller.Ceilings = &c } }

func asking(e *llm.Endpoint) func(*Input) { return func(in *Input) { in.Query.Endpoint = e } }

// narrow is a provider with a context window of 100 tokens.
func narrow(p *Provider) *Provider {
	out := *p
	out.Windows = map[string]int{"m": 100}
	return &out
}

func tokens(n int) func(*Input) { return func(in *Input) { in.Query.Tokens = n } }

func session(id string) func(*Input) { return func(in *Input) { in.Query.Session = id } }

// sees gives a request a run-time state.
func sees(w world) func(*Input) { return func(in *Input) { in.View = &w } }

func turn(n uint64) func(*Input) { return func(in *Input) { in.Dice = &dice{turn: n} } }

// brief writes candidates as "provider/credential", with "!" behind those that
// serve as fallback, "=model" where the wire model is another and ":state"
// where they are not healthy; or the refusal.
func brief(p *Plan) string {
	var b strings.Builder
	if p.Refusal != nil {
		return p.Refusal.Code
	}
	for i, c := range p.Candidates {
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(string(c.Provider) + "/" + string(c.Credential))
		if c.Fallback {
			b.WriteString("!")
		}
		if c.WireModel != p.Model {
			b.WriteString("=" + c.WireModel)
		}
		if c.State != Healthy {
			b.WriteString(":" + string(c.State))
		}
	}
	return b.String()
}

func strategyOf(id string) func(*Route) {
	return func(r *Route) {
		k, _ := StrategyByID(id)
		r.Strategy = k.New(DefaultStrategyOptions())
	}
}

func orgKeyFallback(r *Route) { r.OrgKeyFallback = true }

func crossProvider(r *Route) { r.CrossProvider = true }

func named(name string, wire ...string) func(*Route) {
	return func(r *Route) {
		a := Alias{Name: name, WireModels: map[ProviderID]string{}}
		for i := 0; i < len(wire); i += 2 {
			a.WireModels[ProviderID(wire[i])] = wire[i+1]
		}
		r.Aliases = append(r.Aliases, a)
	}
}

func with(r *Route, options ...func(*Route)) *Route {
	for _, o := range options {
		o(r)
	}
	return r
}

func globalPassthrough(c *Config) { c.GlobalPassthrough = true }

func knows(models table) func(*Config) { return func(c *Config) { c.Table = exactly(models) } }

// exactly knows models by their exact names.
type exactly table

func (t exactly) Model(vendor, name string) ModelInfo {
	if m, ok := t[vendor+"/"+name]; ok {
		return m
	}
	return t["/"+name]
}

func window(n int) func(*Provider) { return func(p *Provider) { p.Windows = map[string]int{"m": n} } }

func unreadable(p *Provider) { p.NoKey = true }

func TestDecide_for_each_kind_of_caller(t *testing.T) {
	a, b, c := provider("a"), provider("b"), provider("c")
	pass, pass2 := provider("pass", noKey), provider("pass2", noKey)
	foreign := provider("foreign", family("zai"), alias("m", "glm"))
	for _, row := range []struct {
		name    string
		objects []any
		in      *Input
		want    string
	}{
		// RT-FILTER: credential mode.
		{"RQ-CRED without a credential of its own only org-key members serve", []any{route(t, "r", "m", pass, a)}, asked("m"), "a/own"},
		{"RQ-CRED with one only passthrough members serve", []any{route(t, "r", "m", a, pass)}, asked("m", own), "pass/caller"},
		{"RQ-CRED a virtual key's credential replaces the member's key", []any{route(t, "r", "m", a, b)}, asked("m", virtual("b")), "a/own b/virtual"},
		{"RQ-CRED a virtual key's credential serves where the member's key can't be read", []any{route(t, "r", "m", provider("a", unreadable), b)}, asked("m", virtual("a")), "a/virtual b/own"},
		{"ER-MODE a caller's own credential and no passthrough member", []any{route(t, "r", "m", a, b)}, asked("m", own), "NO_ROUTE"},
		{"ER-MODE no org-key member", []any{route(t, "r", "m", pass, pass2)}, asked("m"), "NO_ROUTE"},
		{"ER-MODE a virtual key does not take passthrough members of others", []any{route(t, "r", "m", pass)}, asked("m", virtual("b")), "NO_ROUTE"},
		{"ER-NOKEY the only key can't be read", []any{route(t, "r", "m", provider("a", unreadable))}, asked("m"), "NO_UPSTREAM_KEY"},
		{"ER-NOKEY beside members for other callers", []any{route(t, "r", "m", pass, provider("a", unreadable))}, asked("m"), "NO_UPSTREAM_KEY"},
		{"ER-NOKEY not when another member is left out for its own reason", []any{route(t, "r", "m", provider("a", unreadable), provider("b", drained))}, asked("m"), "no_eligible_provider"},
		{"ER-NOKEY the others serve", []any{route(t, "r", "m", provider("a", unreadable), b)}, asked("m"), "b/own"},
		{"RQ-CRED-2 a missing key never lets the caller's credential through", []any{route(t, "r", "m", provider("a", unreadable))}, asked("m", own), "NO_ROUTE"},

		// RT-FILTER: families.
		{"RT-FILTER another family needs allowCrossProvider", []any{route(t, "r", "m", a, foreign)}, asked("m"), "a/own"},
		{"RT-FILTER another family with it", []any{with(route(t, "r", "m n", a, foreign), crossProvider)}, asked("m"), "a/own foreign/own=glm"},
		{"RT-FILTER another family needs a name of its own", []any{with(route(t, "r", "m n", a, foreign), crossProvider)}, asked("n"), "a/own"},
		{"RT-FILTER an alias is such a name", []any{with(route(t, "r", "m", a, foreign), crossProvider, named("al", "a", "m", "foreign", "glm-5"))}, asked("al"), "a/own=m foreign/own=glm-5"},
		{"RT-FILTER another family needs a key of its own", []any{with(route(t, "r", "m", pass, provider("foreign", noKey, family("zai"), alias("m", "glm"))), crossProvider)}, asked("m", own), "pass/caller"},
		{"RT-FILTER a member without a family is of any", []any{route(t, "r", "m", provider("none", family("")), a)}, asked("m"), "none/own a/own"},
		{"RT-FILTER the first family is the route's", []any{route(t, "r", "m", provider("none", family("")), foreign, a)}, asked("m"), "none/own foreign/own=glm"},

		// RT-FILTER: ceilings (AC-CEIL), data handling, windows.
		{"RT-FILTER allowed providers", []any{route(t, "r", "m", a, b, c)}, asked("m", ceilings(Ceilings{Providers: []ProviderID{"c", "b"}})), "b/own c/own"},
		{"RT-FILTER allowed residencies", []any{route(t, "r", "m", a, provider("b", residesIn("eu")))}, asked("m", ceilings(Ceilings{Residencies: []string{"eu", "on-prem"}})), "b/own"},
		{"AC-CEIL a key demands zero data retention", []any{route(t, "r", "m", a, provider("b", promises(DataHandling{ZeroDataRetention: true})))}, asked("m", ceilings(Ceilings{Data: DataHandling{ZeroDataRetention: true}})), "b/own"},
		{"AC-CEIL a key demands that nothing is trained on", []any{route(t, "r", "m", provider("b", promises(DataHandling{ZeroDataRetention: true})), provider("c", promises(DataHandling{NoPromptTraining: true})))}, asked("m", ceilings(Ceilings{Data: DataHandling{NoPromptTraining: true}})), "c/own"},
		{"AC-CEIL a jurisdiction is equal without case", []any{route(t, "r", "m", provider("b", promises(DataHandling{Jurisdiction: "EU"})), provider("c", promises(DataHandling{Jurisdiction: "EU-West"})))}, asked("m", ceilings(Ceilings{Data: DataHandling{Jurisdiction: "eu"}})), "b/own"},
		{"AC-CEIL what is not demanded may be promised", []any{route(t, "r", "m", provider("b", promises(DataHandling{true, true, "eu"})))}, asked("m", ceilings(Ceilings{})), "b/own"},
		{"AC-CEIL the settings demand it of everybody", []any{route(t, "r", "m", a, provider("b", promises(DataHandling{ZeroDataRetention: true}))), func(c *Config) { c.Data.ZeroDataRetention = true }}, asked("m"), "b/own"},
		{"AC-CEIL none widens another", []any{route(t, "r", "m", a, provider("b", residesIn("eu")))}, asked("m", ceilings(Ceilings{Providers: []ProviderID{"a"}, Residencies: []string{"eu"}})), "no_eligible_provider"},
		{"AC-CEIL a virtual key's credential does not widen its ceilings", []any{route(t, "r", "m", a, b)}, asked("m", virtual("a"), ceilings(Ceilings{Providers: []ProviderID{"b"}})), "b/own"},
		{"ER-CTX 1.1 windows fit", []any{route(t, "r", "m", provider("a", window(100)))}, asked("m", tokens(110)), "a/own"},
		{"ER-CTX more do not", []any{route(t, "r", "m", provider("a", window(100)))}, asked("m", tokens(111)), "context_length_exceeded"},
		{"ER-CTX a larger window serves", []any{route(t, "r", "m", provider("a", window(100)), provider("b", window(200)))}, asked("m", tokens(150)), "b/own"},
		{"ER-CTX an unknown window is never too small", []any{route(t, "r", "m", provider("a", window(100)), b)}, asked("m", tokens(1e9)), "b/own"},
		{"ER-CTX a member with room that is left out for another reason does not count", []any{route(t, "r", "m", provider("a", window(100)), provider("b", drained))}, asked("m", tokens(150)), "context_length_exceeded"},
		{"ER-CTX counting a prompt does not need a window", []any{route(t, "r", "m", provider("a", window(100)))}, asked("m", tokens(150), asking(countTokens)), "a/own"},
		{"ER-CTX the catalogue's window of the wire model", []any{route(t, "r", "m", provider("a", alias("m", "w")), b), knows(table{"/w": {Window: 50}, "/m": {Window: 500}})}, asked("m", tokens(150)), "b/own"},
		{"ER-CTX a provider's own window goes before the catalogue's", []any{route(t, "r", "m", provider("a", window(200)), b), knows(table{"/m": {Window: 50}})}, asked("m", tokens(150)), "a/own"},

		// ER-KIND.
		{"ER-KIND a model of another kind", []any{route(t, "r", "*", a), knows(table{"/emb": {Modality: "embedding"}})}, asked("emb"), "model_not_supported"},
		{"ER-KIND of what is not known nothing is said", []any{route(t, "r", "*", a), knows(table{"/emb": {Modality: "embedding"}})}, asked("m"), "a/own"},
		{"ER-KIND an alias is judged by its model", []any{with(route(t, "r", "*", a), named("al", "a", "emb")), knows(table{"/emb": {Modality: "embedding"}})}, asked("al"), "model_not_supported"},
		{"ER-KIND a vendor's model of another kind", []any{route(t, "r", "*", provider("a", func(p *Provider) { p.Vendor = "v" })), knows(table{"v/m": {Modality: "embedding"}, "/m": {Modality: "chat"}})}, asked("m"), "model_not_supported"},
		{"ER-KIND by the first that it has", []any{with(route(t, "r", "*", b, a), named("al", "a", "emb")), knows(table{"/emb": {Modality: "embedding"}})}, asked("al"), "model_not_supported"},
		{"ER-KIND and not by its own name", []any{with(route(t, "r", "*", a), named("emb", "a", "m")), knows(table{"/emb": {Modality: "embedding"}, "/m": {Modality: "chat"}})}, asked("emb"), "a/own=m"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := Decide(build(t, row.objects...), row.in)
			if got := brief(p); got != row.want {
				t.Errorf("got  %s\nwant %s\n%s", got, row.want, p.Explain())
			}
		})
	}
}

// Vectors of two models can't be compared: the model is that of the first
// member that can serve, whatever the strategy says and however it fares.
func TestDecide_RT_FILTER_one_model(t *testing.T) {
	embed := &llm.Endpoint{ID: llm.Embeddings, Method: "POST", Format: llm.AnthropicMessages, Failover: true, OneModel: true, Counts: true, ModelKind: "embedding"}
	a, b, c := provider("a", alias("m", "x")), provider("b", alias("m", "y")), provider("c", alias("m", "x"))
	broken := sees(world{health: map[ProviderID]Health{"a": {OpenUntil: noon.Add(time.Minute)}}})
	for _, row := range []struct {
		name string
		r    any
		in   *Input
		want string
	}{
		{"others with the model", route(t, "r", "m", a, b, c), asked("m", asking(embed)), "a/own=x c/own=x"},
		{"a broken first", route(t, "r", "m", a, b, c), asked("m", asking(embed), broken), "c/own=x a/own=x:circuit_open"},
		{"a broken first alone", route(t, "r", "m", a, b), asked("m", asking(embed), broken), "a/own=x:circuit_open"},
		{"the strategy", with(route(t, "r", "m", a, b), strategyOf("round-robin")), asked("m", asking(embed), turn(1)), "a/own=x"},
		{"priority", route(t, "r", "m", Member{Provider: a, Priority: 1}, b), asked("m", asking(embed)), "b/own=y"},
		{"fallback only", route(t, "r", "m", fallback(a), b), asked("m", asking(embed)), "b/own=y"},
		{"a first that can't serve", route(t, "r", "m", provider("a", alias("m", "x"), drained), b, c), asked("m", asking(embed)), "b/own=y"},
		{"another endpoint", route(t, "r", "m", a, b), asked("m"), "a/own=x b/own=y"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := Decide(build(t, row.r), row.in)
			if got := brief(p); got != row.want {
				t.Errorf("got  %s\nwant %s\n%s", got, row.want, p.Explain())
			}
		})
	}
}

func residesIn(residency string) func(*Provider) {
	return func(p *Provider) { p.Residency = residency }
}

func promises(d DataHandling) func(*Provider) { return func(p *Provider) { p.Data = d } }

func TestDecide_RT_GP_and_RT_OKF(t *testing.T) {
	a, b, c := provider("a"), provider("b"), provider("c")
	pass, pass2 := provider("pass", noKey), provider("pass2", noKey)
	open := func(ids ...ProviderID) func(*Input) {
		w := world{health: map[ProviderID]Health{}}
		for _, id := range ids {
			w.health[id] = Health{OpenUntil: noon.Add(time.Minute)}
		}
		return sees(w)
	}
	gp := globalPassthrough
	for _, row := range []struct {
		name    string
		objects []any
		in      *Input
		want    string
	}{
		{"RT-GP the first member takes the caller's credential", []any{route(t, "r", "m", a, b), gp}, asked("m", own), "a/caller"},
		{"RT-GP when it counts tokens as well", []any{route(t, "r", "m", a), gp}, asked("m", own, asking(countTokens)), "a/caller"},
		{"RT-GP beside passthrough members", []any{route(t, "r", "m", a, pass, b), gp}, asked("m", own), "a/caller pass/caller"},
		{"RT-GP off", []any{route(t, "r", "m", a, b)}, asked("m", own), "NO_ROUTE"},
		{"RT-GP of a provider's own route", []any{provider("z", serves(t, "m")), gp}, asked("m", own), "z/caller"},
		{"RT-GP not for other endpoints", []any{route(t, "r", "m", provider("o", openAI)), gp}, asked("m", own, asking(chat)), "NO_ROUTE"},
		{"RT-GP not for a caller without a credential", []any{route(t, "r", "m", a), gp}, asked("m"), "a/own"},
		{"RT-GP never for a virtual key", []any{route(t, "r", "m", a, b), gp}, asked("m", virtual("b")), "a/own b/virtual"},
		{"RT-GP never on a member of a cloud", []any{route(t, "r", "m", provider("a", func(p *Provider) { p.NoPassthrough = true })), gp}, asked("m", own), "NO_ROUTE"},
		{"RT-GP only the first that is configured, though it is disabled", []any{with(route(t, "r", "m", b), func(r *Route) { r.First = "a" }), gp}, asked("m", own), "NO_ROUTE"},
		{"RT-GP a first member that the ceilings exclude leaves the role to nobody", []any{route(t, "r", "m", a, b), gp}, asked("m", own, ceilings(Ceilings{Providers: []ProviderID{"b"}})), "NO_ROUTE"},
		{"RT-GP a missing alias puts another first", []any{with(route(t, "r", "m", a, b), named("al", "b", "x")), gp}, asked("al", own), "NO_ROUTE"},
		{"RT-GP ER-CTX a prompt that is too long is said, since the client can shorten it", []any{route(t, "r", "m", narrow(a), b), gp}, asked("m", own, tokens(200)), "context_length_exceeded"},
		{"RT-GP the strategy puts another first", []any{with(route(t, "r", "m", a, b), strategyOf("round-robin")), gp}, asked("m", own, turn(1)), "NO_ROUTE"},
		{"RT-GP the strategy starts on it", []any{with(route(t, "r", "m", a, b), strategyOf("round-robin")), gp}, asked("m", own, turn(2)), "a/caller"},
		{"RT-GP what inherits because the strategy starts on it goes first", []any{with(route(t, "r", "m", a, b, pass), strategyOf("round-robin")), gp}, asked("m", own, turn(3)), "a/caller pass/caller"},
		{"RT-GP a pin puts another first", []any{with(route(t, "r", "m", a, pass), strategyOf("lowest-latency")), gp}, asked("m", own, session("5e55"), pinned("r", "pass")), "pass/caller"},
		{"RT-GP a pin on it", []any{with(route(t, "r", "m", a, pass), strategyOf("lowest-latency")), gp}, asked("m", own, session("5e55"), pinned("r", "a")), "a/caller pass/caller"},
		{"RT-GP priority puts another first", []any{route(t, "r", "m", Member{Provider: a, Priority: 1}, pass), gp}, asked("m", own), "pass/caller"},
		{"RT-GP a fallback-only member is never first", []any{route(t, "r", "m", fallback(a)), gp}, asked("m", own), "NO_ROUTE"},
		{"RT-GP a broken one has the role and comes after healthy ones", []any{route(t, "r", "m", a, pass), gp}, asked("m", own, open("a")), "pass/caller a/caller:circuit_open"},

		{"RT-OKF passthrough members first, then org-key members", []any{with(route(t, "r", "m", a, pass, b, pass2), orgKeyFallback)}, asked("m", own), "pass/caller pass2/caller a/own! b/own!"},
		{"RT-OKF off", []any{route(t, "r", "m", a, pass)}, asked("m", own), "pass/caller"},
		{"RT-OKF not for other callers", []any{with(route(t, "r", "m", a, pass, b), orgKeyFallback)}, asked("m"), "a/own b/own"},
		{"RT-OKF needs a passthrough member", []any{with(route(t, "r", "m", a, b), orgKeyFallback)}, asked("m", own), "NO_ROUTE"},
		{"RT-OKF a passthrough member that is skipped is no failure", []any{with(route(t, "r", "m", a, provider("pass", noKey, drained)), orgKeyFallback)}, asked("m", own), "no_eligible_provider"},
		{"RT-OKF then the answer is the one with the setting off", []any{with(route(t, "r", "m", provider("a", window(9)), provider("pass", noKey, drained)), orgKeyFallback)}, asked("m", own, tokens(99)), "no_eligible_provider"},
		{"RT-OKF and so it is without the setting", []any{route(t, "r", "m", provider("a", window(9)), provider("pass", noKey, drained))}, asked("m", own, tokens(99)), "no_eligible_provider"},
		{"RT-OKF a key that can't be read is left out", []any{with(route(t, "r", "m", provider("a", unreadable), pass, b), orgKeyFallback)}, asked("m", own), "pass/caller b/own!"},
		{"RT-OKF a broken passthrough member stays before healthy fallbacks", []any{with(route(t, "r", "m", a, pass), orgKeyFallback)}, asked("m", own, open("pass")), "pass/caller:circuit_open a/own!"},
		{"RT-OKF the strategy orders only passthrough members", []any{with(route(t, "r", "m", a, b, pass, pass2), orgKeyFallback, strategyOf("round-robin"))}, asked("m", own, turn(1)), "pass2/caller pass/caller a/own! b/own!"},
		{"RT-OKF health orders the fallbacks", []any{with(route(t, "r", "m", a, b, pass), orgKeyFallback)}, asked("m", own, open("a")), "pass/caller b/own! a/own!:circuit_open"},
		{"RT-OKF under global passthrough a first member that goes first is not repeated with its own key", []any{with(route(t, "r", "m", a, b, pass), orgKeyFallback), gp}, asked("m", own), "a/caller pass/caller b/own!"},
		{"RT-OKF when the strategy starts elsewhere it is one of the fallbacks", []any{with(route(t, "r", "m", a, c, pass), orgKeyFallback, strategyOf("round-robin")), gp}, asked("m", own, turn(2)), "pass/caller a/own! c/own!"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := Decide(build(t, row.objects...), row.in)
			if got := brief(p); got != row.want {
				t.Errorf("got  %s\nwant %s\n%s", got, row.want, p.Explain())
			}
		})
	}
}

func pinned(r RouteID, id ProviderID) func(*Input) {
	return func(in *Input) { in.Facts.Pins = map[RouteID]Pin{r: {Start: id}} }
}
