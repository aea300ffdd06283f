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
	lengths   []length // longest first
}

// length is a byte length of literals in use. starts is a filter of how they
// start: few places in a model start a literal, and asking the filter costs
// less than reading the map.
type length struct {
	n      int
	starts [64]uint64
}

func (l *length) mark(literal string) {
	h := startHash(literal)
	l.starts[h/64] |= 1 << (h % 64)
}

func (l *length) mayHold(literal string) bool {
	h := startHash(literal)
	return l.starts[h/64]&(1<<(h%64)) != 0
}

// startHash mixes the first three bytes into twelve bits.
func startHash(s string) uint32 {
	var v uint32
	for i := range min(3, len(s)) {
		v = v<<8 | uint32(s[i])
	}
	return v * 0x9e3779b1 >> 20
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
	i, found := slices.BinarySearchFunc(g.lengths, len(p.literal), func(l length, n int) int { return n - l.n })
	if !found {
		g.lengths = slices.Insert(g.lengths, i, length{n: len(p.literal)})
	}
	g.lengths[i].mark(p.literal)
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
func (x *index) find(m string) hit { //nolint:gocognit // three loops over one table; in pieces it is slower and no clearer
	if r := x.exact[m]; r != nil {
		return hit{exactSpecificity, r}
	}
	h := hit{specificity: -1}
	for k := range x.globs {
		g := &x.globs[k]
		for i := range g.lengths {
			l := &g.lengths[i]
			if l.n > len(m) {
				continue
			}
			if l.n < h.specificity {
				break // a literal has at most as many characters as bytes
			}
			switch patternKind(k) + prefixed { //nolint:exhaustive // exact names have a map of their own
			case prefixed:
				h.take(m[:l.n], g.byLiteral)
			case suffixed:
				h.take(m[len(m)-l.n:], g.byLiteral)
			case contained:
				for i := 0; i+l.n <= len(m); i++ {
					if l.mayHold(m[i : i+l.n]) {
						h.take(m[i:i+l.n], g.byLiteral)
					}
					if l.n == 0 {
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
		for _, r := range routes {
			if !slices.Contains(h.routes, r) {
				h.routes = append(slices.Clip(h.routes), r) // never write into the index
			}
		}
	}
}
