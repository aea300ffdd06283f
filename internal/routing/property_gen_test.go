package routing

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/llm"
)

const letters = "ab-"

// pool are the model names that configurations and requests share, so that they
// meet.
var pool = []string{"a", "b", "ab", "A-", "ba", "W", "x", "claude-a"}

// noon is about when the requests of the properties come.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// world is all that a decision reads at run time, and the table of models.
type world struct {
	health  map[ProviderID]Health
	cooling map[string]time.Time // by provider/wire model, like the others
	latency map[string]sampled
	load    map[string]Load
}

func key(id ProviderID, wire string) string { return string(id) + "/" + known(wire) }

// known is the name of the pool under which something is known of a model: of
// every model something may be known.
func known(model string) string {
	sum := 0
	for _, b := range []byte(strings.ToLower(model)) {
		sum += int(b)
	}
	return pool[sum%len(pool)]
}

func (w *world) Health(id ProviderID) Health { return w.health[id] }

func (w *world) CoolingUntil(id ProviderID, wire string) time.Time { return w.cooling[key(id, wire)] }

func (w *world) Load(id ProviderID, wire string) Load { return w.load[key(id, wire)] }

func (w *world) Latency(id ProviderID, wire string, stream bool, window time.Duration) (time.Duration, int) {
	l := w.latency[key(id, wire)]
	if stream {
		l.n -= int(window / time.Hour)
	}
	return l.p95, l.n
}

// table knows models by "vendor/name", or "/name" for all vendors.
type table map[string]ModelInfo

func (t table) Model(vendor, name string) ModelInfo {
	name = known(name)
	if m, ok := t[vendor+"/"+name]; ok {
		return m
	}
	return t["/"+name]
}

// dice roll what they are told, then 0.
type dice struct {
	draws []uint64
	turn  uint64
	took  int
}

func (d *dice) Draw() uint64 {
	if len(d.draws) == 0 {
		return 0
	}
	v := d.draws[0]
	d.draws = d.draws[1:]
	return v
}

func (d *dice) Turn(RouteID) uint64 {
	d.took++
	return d.turn
}

// question is a request, which can be asked any number of times.
type question struct {
	in    Input
	draws []uint64
	turn  uint64
}

func (q *question) ask() *Input {
	in := q.in
	in.Dice = &dice{draws: q.draws, turn: q.turn}
	return &in
}

func (q *question) String() string {
	return fmt.Sprintf("%+v at %s, %+v, draws %v, turn %d", q.in.Query, q.in.Query.Endpoint.ID, q.in.Facts, q.draws, q.turn)
}

// one in n times it is so.
func one(t *rapid.T, n int, what string) bool { return die(t, n, what) == n-1 }

// die is a number less than n, each as likely as the others: rapid's own
// numbers are mostly small ones, and rules meet in large configurations.
func die(t *rapid.T, n int, what string) int {
	v := 0
	for range 7 {
		v <<= 1
		if rapid.Bool().Draw(t, what) {
			v++
		}
	}
	return v % n
}

func pick[T any](t *rapid.T, what string, list ...T) T { return list[die(t, len(list), what)] }

// genConfig draws a configuration without conflicts.
func genConfig(t *rapid.T) Config {
	name := rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 1, 4, -1)
	c := Config{
		Revision:           7,
		UnknownModelStatus: pick(t, "unknown model status", 0, 404, 503),
		Models:             rapid.SliceOfN(name, 0, 4).Draw(t, "models"),
		Table:              genTable(t),
		GlobalPassthrough:  rapid.Bool().Draw(t, "global passthrough"),
		Families:           []FamilyRoute{{AnthropicFamily, mustPatterns("claude-*", "a*")}, {OpenAIFamily, mustPatterns("gpt-*", "*b")}},
	}
	if one(t, 12, "data handling is demanded") {
		c.Data = genData(t)
	}
	for i := range pick(t, "providers", 1, 3, 4, 5, 6, 6) {
		c.Providers = append(c.Providers, genProvider(t, i))
	}
	for i := range die(t, 6, "routes") {
		if r := genRoute(t, i, c.Providers); Conflicts(append(slices.Clone(c.Routes), r)) == nil {
			c.Routes = append(c.Routes, r)
		}
	}
	genAliases(t, c.Routes)
	return c
}

func mustPatterns(texts ...string) []Pattern {
	out := make([]Pattern, len(texts))
	for i, s := range texts {
		p, err := ParsePattern(s)
		if err != nil {
			panic(err)
		}
		out[i] = p
	}
	return out
}

func genTable(t *rapid.T) table {
	out := table{}
	for _, n := range pool {
		for _, vendor := range []string{"", "v"} {
			if one(t, 3, "known") {
				out[vendor+"/"+n] = ModelInfo{
					Modality: pick(t, "modality", "", "chat", "chat", "chat", "chat", "embedding"),
					Window:   pick(t, "window", 0, 10, 20, 31),
					Input:    pick(t, "input", 0, 0.1, 0.2, 3, math.NaN(), -1, math.Inf(1)),
					Output:   pick(t, "output", 0, 0.2, 0.3, 15),
					Priced:   rapid.Bool().Draw(t, "priced"),
				}
			}
		}
	}
	return out
}

func genData(t *rapid.T) DataHandling {
	return DataHandling{
		ZeroDataRetention: rapid.Bool().Draw(t, "zero data retention"),
		NoPromptTraining:  rapid.Bool().Draw(t, "no prompt training"),
		Jurisdiction:      pick(t, "jurisdiction", "", "eu", "EU", "us"),
	}
}

func genProvider(t *rapid.T, i int) *Provider {
	p := provider(fmt.Sprintf("p%d", i))
	p.OrgKey = !one(t, 3, "passthrough")
	p.NoKey = p.OrgKey && one(t, 10, "no key")
	p.Drained = one(t, 12, "drained")
	p.Family = pick(t, "family", llm.FamilyAnthropic, llm.FamilyAnthropic, llm.FamilyAnthropic, llm.FamilyAnthropic, llm.FamilyAnthropic, llm.FamilyNone, llm.FamilyOpenAI)
	p.Format = llm.AnthropicMessages
	if one(t, 8, "speaks another format") {
		p.Format = llm.OpenAIChat
	}
	p.Vendor = pick(t, "vendor", "", "v")
	p.Residency = pick(t, "residency", "global", "eu", "us")
	p.Data = DataHandling{true, true, "eu"}
	if one(t, 5, "other promises") {
		p.Data = genData(t)
	}
	p.NoPassthrough = one(t, 6, "no passthrough")
	if rapid.Bool().Draw(t, "family route") {
		p.FamilyRoute = map[llm.Family]RouteID{llm.FamilyAnthropic: AnthropicFamily, llm.FamilyOpenAI: OpenAIFamily}[p.Family]
	}
	p.Patterns = rapid.SliceOfN(smallPattern(letters), 0, 3).Draw(t, "patterns")
	p.WireModels = map[string]string{}
	p.Windows = map[string]int{}
	p.Names = rapid.SliceOfN(rapid.SampledFrom(pool), 0, 2).Draw(t, "static models")
	for _, n := range pool {
		if one(t, 4, "provider alias") {
			p.WireModels[strings.ToLower(n)] = pick(t, "wire model", pool...)
			p.Names = append(p.Names, n)
		}
		if one(t, 8, "window override") {
			p.Windows[strings.ToLower(n)] = pick(t, "window", 0, 5, 25)
		}
	}
	return p
}

func genStrategy(t *rapid.T) Strategy {
	return pick(t, "strategy", Strategies()...).New(StrategyOptions{
		Window:      pick(t, "window", []time.Duration{time.Minute, 5 * time.Hour}...),
		MinRequests: 1 + die(t, 5, "min requests"),
		Exploration: pick(t, "exploration", 0, 0.05, 0.5, 0.5),
	})
}

func genRoute(t *rapid.T, i int, providers []*Provider) *Route {
	r := &Route{
		ID: RouteID(fmt.Sprintf("r%d", i)), Strategy: genStrategy(t), Patterns: rapid.SliceOfN(smallPattern(letters), 1, 3).Draw(t, "patterns"),
		OrgKeyFallback: rapid.Bool().Draw(t, "org-key fallback"), CrossProvider: rapid.Bool().Draw(t, "cross provider"),
	}
	for _, p := range rapid.Permutation(providers).Draw(t, "members")[:min(pick(t, "members", 0, 2, 3, 4, 5, 6, 6, 6), len(providers))] {
		r.Members = append(r.Members, Member{
			Provider: p, FallbackOnly: one(t, 4, "fallback only"), Weight: die(t, 4, "weight"),
			Priority: pick(t, "priority", 0, 0, 0, 1),
		})
	}
	if len(r.Members) > 0 && !one(t, 6, "the first is disabled") {
		r.First = r.Members[0].Provider.ID
	}
	return r
}

// genAliases gives routes aliases that no other route has as a name.
func genAliases(t *rapid.T, routes []*Route) {
	taken := map[string]RouteID{}
	for _, r := range routes {
		for _, p := range r.Patterns {
			if p.IsExact() {
				taken[strings.ToLower(p.String())] = r.ID
			}
		}
	}
	given := map[string]bool{}
	for _, r := range routes {
		for _, n := range rapid.SliceOfN(rapid.SampledFrom([]string{"Al", "a", "AB", "org/al", "x"}), 0, 2).Draw(t, "aliases") {
			lower := strings.ToLower(n)
			if other, ok := taken[lower]; ok && other != r.ID || given[lower] {
				continue
			}
			given[lower] = true
			a := Alias{Name: n, WireModels: map[ProviderID]string{}}
			for _, m := range r.Members {
				if !one(t, 4, "no wire model") {
					a.WireModels[m.Provider.ID] = pick(t, "wire model", pool...)
				}
			}
			r.Aliases = append(r.Aliases, a)
		}
	}
}

// genWorld draws a run-time state; most of it is calm.
func genWorld(t *rapid.T, providers []*Provider) *world {
	w := &world{health: map[ProviderID]Health{}, cooling: map[string]time.Time{}, latency: map[string]sampled{}, load: map[string]Load{}}
	soon := func(what string) time.Time {
		return noon.Add(pick(t, what, -time.Minute, 0, 1, 20*time.Second, 90*time.Second))
	}
	for _, p := range providers {
		if one(t, 3, "health") {
			var h Health
			if rapid.Bool().Draw(t, "opened") {
				h.OpenUntil = soon("open until")
			}
			if rapid.Bool().Draw(t, "parked") {
				h.ParkedUntil = soon("parked until")
			}
			h.Probing = one(t, 4, "probing")
			h.Limit, h.Running = pick(t, "limit", 0, 0, 1, 2, -1), die(t, 3, "running")
			w.health[p.ID] = h
		}
		for _, wire := range pool {
			if one(t, 8, "cooling") {
				w.cooling[string(p.ID)+"/"+wire] = soon("cooling until")
			}
			if !one(t, 4, "no latency") {
				w.latency[string(p.ID)+"/"+wire] = sampled{
					p95: pick(t, "p95", []time.Duration{0, -1, 1, time.Millisecond, time.Millisecond, time.Second, time.Second, time.Second, time.Second, math.MaxInt64}...),
					n:   pick(t, "n", 0, -1, 3, 20, 20, 20, 20, 20, math.MaxInt),
				}
			}
			if one(t, 2, "load") {
				w.load[string(p.ID)+"/"+wire] = Load{
					InFlight: rapid.IntRange(-1, 3).Draw(t, "in flight"),
					Latency:  pick(t, "latency", []time.Duration{0, -1, 1, time.Second, math.MaxInt64}...),
					Success:  pick(t, "success", 0, 1, 0.5, 0.001, -1, 7, math.NaN(), math.Inf(1), math.Inf(-1)),
				}
			}
		}
	}
	return w
}

// genModel draws a model that patterns often match, or one with a family.
func genModel(t *rapid.T) string {
	return rapid.OneOf(
		rapid.SampledFrom(pool),
		rapid.StringOfN(rapid.RuneFrom([]rune(letters+"AB")), 1, 6, -1),
		rapid.SampledFrom([]string{"gpt-b", "a-claude-b", "AL", "org/Al", "claude-x"}),
	).Draw(t, "model")
}

func genEndpoint(t *rapid.T) *llm.Endpoint {
	return pick(t, "endpoint", messages, messages, messages, messages, messages, messages, countTokens, chat)
}

func genCaller(t *rapid.T) Caller {
	var c Caller
	id := rapid.SampledFrom([]ProviderID{"p0", "p1", "p2", "p3", "p4", "p5", "gone"})
	switch die(t, 6, "caller") {
	case 0, 1:
		c.Own = true
	case 2:
		c.Virtual = id.Draw(t, "virtual")
	}
	if one(t, 3, "ceilings") {
		c.Ceilings = &Ceilings{}
		if rapid.Bool().Draw(t, "allowed providers") {
			c.Ceilings.Providers = rapid.SliceOfN(id, 1, 5).Draw(t, "providers")
		}
		if rapid.Bool().Draw(t, "allowed residencies") {
			c.Ceilings.Residencies = rapid.SliceOfN(rapid.SampledFrom([]string{"global", "eu", "us", "on-prem"}), 1, 3).Draw(t, "residencies")
		}
		if rapid.Bool().Draw(t, "data handling") {
			c.Ceilings.Data = genData(t)
		}
	}
	return c
}

func genQuestion(t *rapid.T, c Config, w *world) *question {
	q := &question{in: Input{
		Query: Query{
			Endpoint: genEndpoint(t), Model: genModel(t), Stream: rapid.Bool().Draw(t, "stream"), Caller: genCaller(t),
			Session:    pick(t, "session", "", "", "", "5e55", "cafe", "00"),
			Tokens:     pick(t, "tokens", 0, 0, 0, 5, 11, 12, 22, 23, 40),
			NoFallback: one(t, 6, "no fallback"),
		},
		Facts: Facts{Now: noon.Add(pick(t, "now", []time.Duration{0, 10 * time.Second, time.Minute, time.Hour}...))},
	}}
	if q.in.Query.Session != "" && len(c.Providers) > 0 && len(c.Routes) > 0 && rapid.Bool().Draw(t, "pinned") {
		q.in.Facts.Pins = map[RouteID]Pin{}
		for _, r := range c.Routes {
			q.in.Facts.Pins[r.ID] = Pin{Start: pick(t, "start", c.Providers...).ID}
		}
	}
	for range 1 + die(t, 5, "draws") {
		q.draws = append(q.draws, bits(t))
	}
	q.turn = pick(t, "turn", 0, 1, 2, 3, 4, 5, 6, bits(t))
	if !one(t, 8, "calm") {
		q.in.View = w
	}
	return q
}

// bits are odd ones, or any.
func bits(t *rapid.T) uint64 {
	return pick(t, "bits", append(oddBits, rapid.Uint64().Draw(t, "mixed")*0x9e3779b97f4a7c15)...)
}

// check draws configurations, and for each twenty questions. Without flags that
// are 2,000 pairs of a configuration and a question in each of the rounds; this
// makes a million:
//
//	go test ./internal/routing -run 'plainest|BY_2' -rapid.checks=50000 -timeout 1h
func check(t *testing.T, rounds int, property func(t *rapid.T, c Config, q *question)) {
	t.Helper()
	if checks := flag.Lookup("rapid.checks"); testing.Short() || checks.Value.String() != checks.DefValue {
		rounds = 1
	}
	for range rounds {
		if t.Failed() {
			return
		}
		rapid.Check(t, func(t *rapid.T) {
			c := genConfig(t)
			w := genWorld(t, c.Providers)
			for range 20 {
				property(t, c, genQuestion(t, c, w))
			}
		})
	}
}

// tally counts what a property met, so that a generator that never gets
// somewhere is noticed.
type tally map[string]int

func (n tally) expect(t *testing.T, what ...string) {
	t.Helper()
	if testing.Short() || t.Failed() {
		return // a few cases need not have everything
	}
	for _, w := range what {
		if n[w] == 0 {
			t.Errorf("never met: %s; the generator is broken", w)
		}
	}
	for _, w := range slices.Sorted(maps.Keys(n)) {
		t.Logf("%6d %s", n[w], w)
	}
}
