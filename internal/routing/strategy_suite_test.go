package routing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// samples is a View and a ModelTable of what the tests say.
type samples struct {
	calm
	latency map[string]sampled // by "provider/wire model", "/stream" behind it for streams
	load    map[string]Load    // by "provider/wire model"
	models  map[string]ModelInfo
	window  time.Duration // the last that was asked for
}

func (s *samples) Latency(id ProviderID, wire string, stream bool, window time.Duration) (time.Duration, int) {
	s.window = window
	key := string(id) + "/" + wire
	if stream {
		key += "/stream"
	}
	return s.latency[key].p95, s.latency[key].n
}

func (s *samples) Load(id ProviderID, wire string) Load { return s.load[string(id)+"/"+wire] }

func (s *samples) Model(vendor, name string) ModelInfo { return s.models[vendor+"/"+name] }

// script rolls what it is told, then 0, and counts what was asked.
type script struct {
	draws       []uint64
	turn        uint64
	drawn, took int
}

func (d *script) Draw() uint64 {
	d.drawn++
	if d.drawn > len(d.draws) {
		return 0
	}
	return d.draws[d.drawn-1]
}

func (d *script) Turn(RouteID) uint64 {
	d.took++
	d.turn++
	return d.turn - 1
}

// chance is even, and the same in each run.
type chance struct {
	*rand.PCG
	turn uint64
}

func newChance() *chance { return &chance{PCG: rand.NewPCG(22, 7)} }

func (d *chance) Draw() uint64 { return d.Uint64() }

func (d *chance) Turn(RouteID) uint64 {
	d.turn++
	return d.turn - 1
}

// optionsOf makes an option for each weight: providers a, b, … that receive m.
func optionsOf(weights ...int) []Option {
	out := make([]Option, len(weights))
	for i, w := range weights {
		name := string(rune('a' + i%26))
		if i >= 26 {
			name += fmt.Sprint(i / 26)
		}
		out[i] = Option{Member: Member{Provider: provider(name), Weight: w}, Index: i, WireModel: "m", State: Healthy}
	}
	return out
}

// tables are all that strategies read.
type tables interface {
	View
	ModelTable
}

func choiceOf(s tables, dice Dice) *Choice {
	return &Choice{Route: &Route{ID: "r"}, Query: &Query{Endpoint: messages, Model: "m"}, View: s, Models: s, dice: dice}
}

// startsOf counts where n requests start.
func startsOf(s Strategy, options []Option, view tables, dice Dice, n int) []int {
	counts := make([]int, len(options))
	for range n {
		i, _ := s.Start(options, choiceOf(view, dice))
		counts[i]++
	}
	return counts
}

// fits is a chi-square test of counts against weights. What is in proportion
// fails it once in ten thousand times, and these tests' chance is the same in
// each run.
func fits(counts []int, weights ...int) error {
	n, total, freedom := 0, 0, -1
	for i := range counts {
		n += counts[i]
		total += weights[i]
		if weights[i] > 0 {
			freedom++
		}
	}
	chi := 0.0
	for i, w := range weights {
		if w == 0 {
			if counts[i] > 0 {
				return fmt.Errorf("%d on a member of weight 0", counts[i])
			}
			continue
		}
		want := float64(n) * float64(w) / float64(total)
		chi += (float64(counts[i]) - want) * (float64(counts[i]) - want) / want
	}
	// Wilson and Hilferty's approximation of the quantile at 1/10,000.
	f := float64(freedom)
	bound := f * math.Pow(1-2/(9*f)+3.72*math.Sqrt(2/(9*f)), 3)
	if chi > bound {
		return fmt.Errorf("%v is not in proportion to %v: chi-square %.1f is over %.1f", counts, weights, chi, bound)
	}
	return nil
}

// The values that tables hold when something went wrong, and some good ones.
var (
	oddFloats    = []float64{0, math.Copysign(0, -1), 1, 0.5, -1, 3.75, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64}
	oddDurations = []time.Duration{0, 1, -1, time.Millisecond, 420 * time.Millisecond, time.Hour, math.MaxInt64, math.MinInt64}
	oddCounts    = []int{0, 1, -1, 2, 19, 20, 21, 1000, math.MaxInt, math.MinInt}
	oddWeights   = []int{0, 0, 1, 2, 3, 1_000_000, -1, math.MaxInt, math.MinInt}
	oddBits      = []uint64{0, 1, 1 << 11, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
)

func oddFloat(t *rapid.T, name string) float64 {
	return rapid.OneOf(rapid.SampledFrom(oddFloats), rapid.Float64()).Draw(t, name)
}

// genOptions draws options with odd weights and samples of any kind, some
// members without any.
func genOptions(t *rapid.T) ([]Option, *samples) {
	s := &samples{latency: map[string]sampled{}, load: map[string]Load{}, models: map[string]ModelInfo{}}
	duration, count := rapid.SampledFrom(oddDurations), rapid.SampledFrom(oddCounts)
	options := optionsOf(rapid.SliceOfN(rapid.SampledFrom(oddWeights), 1, 20).Draw(t, "weights")...)
	for i := range options {
		o := &options[i]
		o.Provider.Vendor = string(o.Provider.ID)
		key := string(o.Provider.ID) + "/m"
		if rapid.Bool().Draw(t, "latency") {
			s.latency[key] = sampled{p95: duration.Draw(t, "p95"), n: count.Draw(t, "n")}
		}
		if rapid.Bool().Draw(t, "load") {
			s.load[key] = Load{InFlight: count.Draw(t, "in flight"), Latency: duration.Draw(t, "latency"), Success: oddFloat(t, "success")}
		}
		if rapid.Bool().Draw(t, "price") {
			s.models[key] = ModelInfo{Input: oddFloat(t, "input"), Output: oddFloat(t, "output"), Priced: rapid.Bool().Draw(t, "priced")}
		}
	}
	return options, s
}

// strategyProperty is what holds for each strategy, whatever the tables hold.
func strategyProperty(t *rapid.T) {
	options, s := genOptions(t)
	bits := rapid.OneOf(rapid.SampledFrom(oddBits), rapid.Uint64())
	rolls := script{draws: rapid.SliceOfN(bits, 0, 3).Draw(t, "draws"), turn: bits.Draw(t, "turn")}
	tuning := StrategyOptions{
		Window:      rapid.SampledFrom(oddDurations).Draw(t, "window"),
		MinRequests: rapid.SampledFrom(oddCounts).Draw(t, "min requests"),
		Exploration: oddFloat(t, "exploration"),
	}
	session := rapid.StringN(1, 12, -1).Draw(t, "session")
	pin := Pin{Start: options[len(options)-1].Provider.ID}
	for _, kind := range Strategies() {
		strategy := kind.New(tuning)
		affinity := strategy.Affinity()

		first, second := rolls, rolls
		i, why := strategy.Start(options, choiceOf(s, &first))
		if err := soundStart(affinity, options, i, why); err != nil {
			t.Fatalf("%s: %v", kind.ID, err)
		}
		if j, other := strategy.Start(options, choiceOf(s, &second)); j != i || other != why {
			t.Fatalf("%s: %d (%s), then %d (%s) of the same input", kind.ID, i, why, j, other)
		}
		if first.took > 1 || first.drawn > 2 {
			t.Fatalf("%s: took %d turns and %d draws", kind.ID, first.took, first.drawn)
		}

		i, why, ok := keep(affinity, options, session, pin)
		if ok == (affinity == AffinityNone) {
			t.Fatalf("%s: keeps a session: %v", kind.ID, ok)
		}
		if j, other, _ := keep(affinity, options, session, pin); j != i || other != why {
			t.Fatalf("%s: a session has %d (%s), then %d (%s)", kind.ID, i, why, j, other)
		}
		if ok {
			if err := soundStart(affinity, options, i, why); err != nil {
				t.Fatalf("%s: for a session, %v", kind.ID, err)
			}
		}
	}
}

// soundStart judges a start and its reason.
func soundStart(a Affinity, options []Option, i int, why string) error {
	if i < 0 || i >= len(options) {
		return fmt.Errorf("it starts on %d of %d", i, len(options))
	}
	if why == "" || strings.TrimSpace(why) != why || strings.Contains(why, "NaN") || strings.Contains(why, "Inf") || strings.Contains(why, "-") {
		return fmt.Errorf("it gives the reason %q", why)
	}
	if a != AffinityWeighted {
		return nil
	}
	if totalWeight(options) == 0 {
		if i != 0 || why != noWeights {
			return fmt.Errorf("it starts on %d of members without weight: %q", i, why)
		}
	} else if options[i].Weight <= 0 {
		return fmt.Errorf("it starts on %d, which has no weight: %q", i, why)
	}
	return nil
}

// Odd tables break no strategy (R22: counters without samples).
func TestRT_STRAT_FAILOVER_and_the_others_take_odd_tables(t *testing.T) {
	rapid.Check(t, strategyProperty)
}

func FuzzStrategyTables(f *testing.F) {
	dice := rand.NewChaCha8([32]byte{22})
	for _, n := range []int{0, 8, 512, 4096} {
		b := make([]byte, n)
		_, _ = dice.Read(b)
		f.Add(b)
	}
	f.Fuzz(rapid.MakeFuzz(strategyProperty))
}

// Through Decide: the start goes first and the others follow in member order,
// fallback-only ones last, whatever the strategy.
func TestRT_STRAT_FAILOVER_and_the_others_order_all_members(t *testing.T) {
	every := patterns(t, "*")
	rapid.Check(t, func(t *rapid.T) {
		options, s := genOptions(t)
		for i := range options {
			options[i].FallbackOnly = rapid.IntRange(0, 3).Draw(t, "fallback only") == 0
		}
		session := rapid.SampledFrom([]string{"", "5e55"}).Draw(t, "session")
		for _, kind := range Strategies() {
			r := &Route{ID: "r", Patterns: every, Strategy: kind.New(DefaultStrategyOptions())}
			c := Config{Routes: []*Route{r}, Table: s}
			var first, last []string
			for _, o := range options {
				c.Providers = append(c.Providers, o.Provider)
				r.Members = append(r.Members, o.Member)
				if o.FallbackOnly {
					last = append(last, string(o.Provider.ID))
				} else {
					first = append(first, string(o.Provider.ID))
				}
			}
			p := Decide(Build(c), &Input{Query: Query{Endpoint: messages, Model: "m", Session: session}, View: s, Dice: newChance()})
			var got []string
			for _, c := range p.Candidates {
				got = append(got, string(c.Provider))
			}
			if len(got) != len(options) {
				t.Fatalf("%s: %v of %d members", kind.ID, got, len(options))
			}
			want := slices.Clone(first)
			if len(want) > 0 {
				start := slices.Index(want, got[0])
				if start < 0 {
					t.Fatalf("%s: starts on %s, of %v", kind.ID, got[0], first)
				}
				want = append([]string{got[0]}, slices.Delete(want, start, start+1)...)
			}
			if want = append(want, last...); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, not %v", kind.ID, got, want)
			}
		}
	})
}

func TestRT_STRAT_FAILOVER_starts_on_the_first(t *testing.T) {
	options := optionsOf(0, 5, 9)
	for range 3 {
		if i, why := (failover{}).Start(options, choiceOf(&samples{}, newChance())); i != 0 || why != "first in order" {
			t.Errorf("starts on %d: %s", i, why)
		}
	}
	if _, _, ok := keep(failover{}.Affinity(), options, "s", Pin{Start: "b"}); ok {
		t.Error("a session keeps a member")
	}
}

// everything is a table that has a sample of everything and allocates nothing.
type everything struct{ calm }

func (everything) Latency(id ProviderID, _ string, _ bool, _ time.Duration) (time.Duration, int) {
	return time.Duration(id[0]) * time.Millisecond, 31
}

func (everything) Load(id ProviderID, _ string) Load {
	return Load{InFlight: int(id[0]) % 5, Latency: time.Duration(id[0]) * time.Millisecond, Success: 0.99}
}

func (everything) Model(string, string) ModelInfo {
	return ModelInfo{Input: 0.5, Output: 2, Priced: true}
}

// A start allocates the text of its reason at most.
func TestRT_STRAT_FAILOVER_and_the_others_allocate_little(t *testing.T) {
	options := optionsOf(3, 1, 2)
	for _, row := range []struct {
		strategy Strategy
		want     float64
	}{
		{failover{}, 0},
		{roundRobin{}, 1},
		{weighted{}, 1},
		{lowestCost{}, 1},
		{lowestLatency{DefaultStrategyOptions()}, 2}, // one is the time's text
		{leastLoaded{}, 0},
	} {
		c := choiceOf(everything{}, newChance())
		if got := testing.AllocsPerRun(100, func() { row.strategy.Start(options, c) }); got > row.want {
			t.Errorf("%s: a start allocates %v times, not %v", row.strategy.ID(), got, row.want)
		}
		if got := testing.AllocsPerRun(100, func() { keep(row.strategy.Affinity(), options, "5e55", Pin{Start: "c"}) }); got > 0 {
			t.Errorf("%s: keeping a session allocates %v times", row.strategy.ID(), got)
		}
	}
}

func BenchmarkStrategy(b *testing.B) {
	for _, n := range []int{3, 50} {
		weights := make([]int, n)
		for i := range weights {
			weights[i] = 1 + 7919*i%1_000_000
		}
		options := optionsOf(weights...)
		for _, kind := range Strategies() {
			s := kind.New(DefaultStrategyOptions())
			b.Run(fmt.Sprintf("%s/%d/start", kind.ID, n), func(b *testing.B) {
				c := choiceOf(everything{}, newChance())
				b.ReportAllocs()
				for b.Loop() {
					c.turned = false
					s.Start(options, c)
				}
			})
			if s.Affinity() == AffinityNone {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d/session", kind.ID, n), func(b *testing.B) {
				pin := Pin{Start: options[n-1].Provider.ID}
				b.ReportAllocs()
				for b.Loop() {
					keep(s.Affinity(), options, "5e55105e55105e55105e55105e55105e", pin)
				}
			})
		}
	}
}
