package routing

import (
	"slices"
	"unicode/utf8"
)

// index finds the routes with the most specific pattern for a model. Look-ups
// cost a few map reads per literal length in use, however many routes there
// are.
type index struct {
	exact map[string][]int32
	globs [3]globIndex // prefixed, suffixed, contained
}

// globIndex holds the globs of one kind by their literal.
type globIndex struct {
	byLiteral map[string][]int32
	lengths   []int // byte lengths of the literals in use, longest first
}

func (x *index) add(p Pattern, route int32) {
	if p.kind == exact {
		if x.exact == nil {
			x.exact = map[string][]int32{}
		}
		x.exact[p.literal] = appendNew(x.exact[p.literal], route)
		return
	}
	g := &x.globs[p.kind-prefixed]
	if g.byLiteral == nil {
		g.byLiteral = map[string][]int32{}
	}
	g.byLiteral[p.literal] = appendNew(g.byLiteral[p.literal], route)
	if !slices.Contains(g.lengths, len(p.literal)) {
		g.lengths = append(g.lengths, len(p.literal))
		slices.SortFunc(g.lengths, func(a, b int) int { return b - a })
	}
}

func appendNew(s []int32, v int32) []int32 {
	if slices.Contains(s, v) {
		return s
	}
	return append(s, v)
}

// hit is the outcome of a look-up.
type hit struct {
	specificity int // -1 when nothing matches
	routes      []int32
}

// find returns the routes whose best pattern for the lower-case model is the
// most specific of all. More than one only when they tie.
func (x *index) find(m string) hit {
	if r := x.exact[m]; r != nil {
		return hit{exactSpecificity, r}
	}
	h := hit{specificity: -1}
	for k := range x.globs {
		g := &x.globs[k]
		for _, n := range g.lengths {
			if n > len(m) {
				continue
			}
			if n < h.specificity {
				break // a literal has at most as many characters as bytes
			}
			switch patternKind(k) + prefixed {
			case prefixed:
				h.take(m[:n], g.byLiteral)
			case suffixed:
				h.take(m[len(m)-n:], g.byLiteral)
			case contained:
				for i := 0; i+n <= len(m); i++ {
					h.take(m[i:i+n], g.byLiteral)
					if n == 0 {
						break
					}
				}
			}
		}
	}
	return h
}

// take counts a literal that stands at the right place in the model.
func (h *hit) take(literal string, by map[string][]int32) {
	routes := by[literal]
	if routes == nil {
		return
	}
	switch n := utf8.RuneCountInString(literal); {
	case n > h.specificity:
		*h = hit{n, routes}
	case n == h.specificity:
		merged := slices.Clone(h.routes) // never write into the index
		for _, r := range routes {
			merged = appendNew(merged, r)
		}
		h.routes = merged
	}
}
