package hotpath

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// work is one step of the hot path. prepare makes what it needs and returns the
// step itself, which can be repeated any number of times.
type work struct {
	name    string
	prepare func(tb testing.TB) func()
}

func works() []work {
	var all []work
	for _, part := range [][]work{routingWorks(), wireWorks(), recordWorks(), stateWorks(), dialWorks(), requestWorks()} {
		all = append(all, part...)
	}
	return all
}

func BenchmarkHotPath(b *testing.B) {
	for _, w := range works() {
		b.Run(w.name, func(b *testing.B) {
			step := w.prepare(b)
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// budget is the most that a step may allocate.
type budget struct{ allocs, bytes float64 }

func TestMemoryStaysWithinTheBudget(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates, and drops what is pooled; make test runs this without it as well")
	}
	budgets := readBudgets(t)
	for _, w := range works() {
		most, ok := budgets[w.name]
		delete(budgets, w.name)
		t.Run(w.name, func(t *testing.T) {
			if !ok {
				t.Fatalf("bench/budget.txt has no line %q", w.name)
			}
			got := cost(w.prepare(t))
			t.Logf("%s: %.1f allocs/op, %.0f B/op; the budget is %.0f and %.0f", w.name, got.allocs, got.bytes, most.allocs, most.bytes)
			// Half an allocation a request is one that is amortised, such as
			// of a map that grows.
			if got.allocs >= most.allocs+0.5 || got.bytes > most.bytes {
				t.Errorf("%.1f allocs/op and %.0f B/op are over the budget of %.0f and %.0f; if they are worth it, change bench/budget.txt and say why in the commit",
					got.allocs, got.bytes, most.allocs, most.bytes)
			}
		})
	}
	for name := range budgets {
		t.Errorf("bench/budget.txt has a line %q, and there is no such step", name)
	}
}

// cost is what a step allocates in all goroutines, since a dial works in several. It is
// the lowest of some tries: what else the process does can only add.
func cost(step func()) budget {
	const warm, tries, each = 50, 4, 100
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
	for range warm {
		step()
	}
	var best budget
	for i := range tries {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range each {
			step()
		}
		runtime.ReadMemStats(&after)
		c := budget{float64(after.Mallocs-before.Mallocs) / each, float64(after.TotalAlloc-before.TotalAlloc) / each}
		if i == 0 || c.allocs < best.allocs || c.allocs == best.allocs && c.bytes < best.bytes {
			best = c
		}
	}
	return best
}

func readBudgets(t *testing.T) map[string]budget {
	t.Helper()
	text, err := os.ReadFile("../budget.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]budget{}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		var name string
		var b budget
		if _, err := fmt.Sscan(line, &name, &b.allocs, &b.bytes); err != nil {
			t.Fatalf("bench/budget.txt: %q: %v", line, err)
		}
		out[name] = b
	}
	return out
}
