package routing

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// benchSnapshot has n routes of three members each, with the patterns that
// people write: vendors, versions, exact names.
func benchSnapshot(tb testing.TB, n int) *Snapshot {
	tb.Helper()
	c := Config{Revision: 1}
	for i := range n {
		members := make([]Member, 3)
		for j := range members {
			p := provider(fmt.Sprintf("p-%03d-%d", i, j))
			p.WireModels = map[string]string{"claude-opus-4-1": "anthropic.claude-opus-4-1-v1:0"}
			c.Providers = append(c.Providers, p)
			members[j] = Member{Provider: p, FallbackOnly: j == 2}
		}
		r := &Route{ID: RouteID(fmt.Sprintf("r-%03d", i)), Members: members, Strategy: failover{}}
		for _, s := range []string{fmt.Sprintf("vendor-%03d/*", i), fmt.Sprintf("*-tuned-%07d", i), fmt.Sprintf("model-%03d-2026-11", i)} {
			r.Patterns = append(r.Patterns, pattern(tb, s))
		}
		c.Routes = append(c.Routes, r)
	}
	c.Routes[0].Patterns = append(c.Routes[0].Patterns, pattern(tb, "claude-*"), pattern(tb, "claude-opus-*"))
	if conflicts := Conflicts(c.Routes); conflicts != nil {
		tb.Fatal(conflicts[0])
	}
	return Build(c)
}

// busy is a state with a sample of everything, some of it bad.
type busy struct{ everything }

func (busy) Health(id ProviderID) Health {
	if id[len(id)-1] == '1' {
		return Health{OpenUntil: noon.Add(time.Minute)}
	}
	return Health{}
}

func (busy) CoolingUntil(ProviderID, string) time.Time { return time.Time{} }

// realistic makes the first route of a benchmark's snapshot one with everything
// that costs something: a strategy, windows, ceilings and a model table.
func realistic(tb testing.TB, n int, strategy string) *Snapshot {
	tb.Helper()
	s := benchSnapshot(tb, n)
	s.table = everything{}
	with(s.routes[0], strategyOf(strategy), func(r *Route) {
		for i := range r.Members {
			r.Members[i].Weight = 3 - i
			r.Members[i].Provider.Windows = map[string]int{"claude-opus-4-1": 200_000}
		}
	})
	return s
}

// The decision must cost at most 15 µs and 30 allocations with 50 routes.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{5, 50, 500} {
		s := benchSnapshot(b, n)
		for name, model := range map[string]string{"served": "claude-opus-4-1", "no route": "llama-3.3-70b-instruct"} {
			b.Run(fmt.Sprintf("%d routes/%s", n, name), func(b *testing.B) { benchDecide(b, s, asked(model), name == "served") })
		}
	}
	for _, k := range Strategies() {
		s := realistic(b, 50, k.ID)
		b.Run("50 routes/"+k.ID, func(b *testing.B) { benchDecide(b, s, hard(asked("claude-opus-4-1")), true) })
		b.Run("50 routes/"+k.ID+" with a session", func(b *testing.B) {
			benchDecide(b, s, hard(asked("claude-opus-4-1", session("5e55105e55105e55105e55105e55105e"))), true)
		})
	}
	b.Run("50 routes/weighted with a session, recorded", func(b *testing.B) {
		s := realistic(b, 50, "weighted")
		var tr Trace
		var facts []byte
		b.ReportAllocs()
		for b.Loop() {
			in := hard(asked("claude-opus-4-1", session("5e55105e55105e55105e55105e55105e")))
			tr.Start(in)
			Decide(s, in)
			facts = tr.AppendJSON(facts[:0])
		}
	})
}

// hard gives a request everything that costs something.
func hard(in *Input) *Input {
	in.View, in.Dice, in.Query.Tokens = busy{}, newChance(), 12_000
	in.Query.Caller.Ceilings = &Ceilings{Residencies: []string{"eu", "us", "global"}, Data: DataHandling{}}
	return in
}

func benchDecide(b *testing.B, s *Snapshot, in *Input, served bool) {
	b.ReportAllocs()
	for b.Loop() {
		if p := Decide(s, in); (p.Refusal == nil) != served {
			b.Fatal(p.Explain())
		}
	}
}

// manyPatterns are a third each of prefix, suffix and substring globs.
func manyPatterns(tb testing.TB, n int) []Pattern {
	tb.Helper()
	dice := rand.New(rand.NewPCG(1, 2))
	out := make([]Pattern, n)
	for i := range out {
		b := make([]byte, 4+dice.IntN(21))
		for j := range b {
			b[j] = "abcdefghijklmnopqrstuvwxyz0123456789-"[dice.IntN(37)]
		}
		out[i] = pattern(tb, [3]string{string(b) + "*", "*" + string(b), "*" + string(b) + "*"}[i%3])
	}
	return out
}

// RT-PAT: a 40-character name over 10,000 routes in less than 20 µs.
func BenchmarkFind(b *testing.B) {
	patterns := manyPatterns(b, 10_000)
	var x index
	for i, p := range patterns {
		x.add(p, int32(i))
	}
	lit := patterns[len(patterns)/3*3-1].literal // a substring glob
	for name, model := range map[string]string{
		"no match":       "anthropic/claude-opus-4-1-20260805-large",
		"substring":      ("claude-" + lit + strings.Repeat("x", 40))[:40],
		"prefix":         (patterns[0].literal + strings.Repeat("x", 40))[:40],
		"no match, long": strings.Repeat("anthropic/claude-opus-4-1-20260805-large/", 6)[:240],
	} {
		b.Run(name, func(b *testing.B) {
			if want := name != "no match" && name != "no match, long"; want != (x.find(model).specificity >= 0) {
				b.Fatalf("%q: %+v", model, x.find(model))
			}
			b.ReportAllocs()
			for b.Loop() {
				x.find(model)
			}
		})
	}
}

// A client can ask for models that do not exist as often as it likes.
func BenchmarkNoRoute(b *testing.B) {
	c := Config{}
	for i, p := range manyPatterns(b, 10_000) {
		c.Routes = append(c.Routes, &Route{ID: RouteID(fmt.Sprint("r", i)), Patterns: []Pattern{p}, Strategy: failover{}})
	}
	s := Build(c)
	in := &Input{Query: Query{Endpoint: messages, Model: "anthropic/claude-opus-4-1-20260805-large"}}
	b.ReportAllocs()
	for b.Loop() {
		if Decide(s, in).Refusal == nil {
			b.Fatal("served")
		}
	}
}

// The catalogue has a few thousand names, most of which no route serves.
func BenchmarkModels(b *testing.B) {
	s := benchSnapshot(b, 50)
	for i := range 2000 {
		s.models = append(s.models, fmt.Sprintf("some-vendor/model-%04d-instruct", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(Models(s, Caller{}, endpoints)) == 0 {
			b.Fatal("none")
		}
	}
}
