package routing

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// scan is what find promises, by looking at every pattern.
func scan(patterns []Pattern, owner []int32, m string) hit {
	h := hit{specificity: -1}
	for i, p := range patterns {
		if !p.matchLower(m) {
			continue
		}
		switch s := p.Specificity(); {
		case s > h.specificity:
			h = hit{s, []int32{owner[i]}}
		case s == h.specificity && !slices.Contains(h.routes, owner[i]):
			h.routes = append(h.routes, owner[i])
		}
	}
	slices.Sort(h.routes)
	return h
}

func TestFind_agrees_with_a_scan_of_all_patterns(t *testing.T) {
	const alphabet = "ab-é"
	name := rapid.StringOfN(rapid.RuneFrom([]rune(alphabet)), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(smallPattern(alphabet), 0, 30).Draw(t, "patterns")
		var x index
		owner := make([]int32, len(all))
		for i, p := range all {
			owner[i] = int32(rapid.IntRange(0, 9).Draw(t, "route"))
			x.add(p, owner[i])
		}
		for range 20 {
			m := name.Draw(t, "model")
			for range 2 { // a look-up must not change the index
				got, want := x.find(m), scan(all, owner, m)
				if !slices.Equal(slices.Sorted(slices.Values(got.routes)), want.routes) || got.specificity != want.specificity {
					t.Fatalf("%q among %v of %v: %+v, want %+v", m, all, owner, got, want)
				}
			}
		}
	})
}

func TestFind_agrees_with_a_scan_for_long_names_and_many_patterns(t *testing.T) {
	all := manyPatterns(t, 3000)
	owner := make([]int32, len(all))
	var x index
	for i, p := range all {
		owner[i] = int32(i)
		x.add(p, owner[i])
	}
	hits := 0
	for i, p := range all[:600] {
		m := strings.Repeat("k", i%7) + p.literal + all[i+1].literal
		got, want := x.find(m), scan(all, owner, m)
		if !slices.Equal(slices.Sorted(slices.Values(got.routes)), want.routes) || got.specificity != want.specificity {
			t.Fatalf("%q: %+v, want %+v", m, got, want)
		}
		if want.specificity > 0 {
			hits++
		}
	}
	if hits < 100 {
		t.Errorf("only %d names match something: the test says little", hits)
	}
}

// A list in the index may have room behind its end. A tie that wrote there
// would write into what other requests read.
func TestFind_never_writes_into_the_index(t *testing.T) {
	var x index
	for i := range int32(3) {
		x.add(pattern(t, "a*"), i)
	}
	x.add(pattern(t, "*b"), 7)
	if h := x.find("ab"); !slices.Equal(h.routes, []int32{0, 1, 2, 7}) {
		t.Fatalf("%v", h.routes)
	}
	list := x.globs[0].byLiteral["a"]
	if cap(list) == len(list) {
		t.Fatal("the list has no room: the test says nothing")
	}
	if behind := list[:len(list)+1][len(list)]; behind != 0 {
		t.Errorf("%d was written behind the list", behind)
	}
}

func TestFind_allocates_nothing(t *testing.T) {
	var x index
	for i, p := range patterns(t, "claude-*", "*-mini-4", "*a*", "gpt-5", "*") {
		x.add(p, int32(i))
	}
	for _, m := range []string{"claude-aaaa", "gpt-5", "zzz", "banana"} {
		if n := testing.AllocsPerRun(50, func() { x.find(m) }); n > 0 {
			t.Errorf("%q: %v allocations", m, n)
		}
	}
}
