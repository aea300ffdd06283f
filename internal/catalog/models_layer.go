package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// layer is a set of entries of one origin. It is read-only after rank.
type layer struct {
	// builtIn marks the entries of the embedded files.
	builtIn bool
	exact   map[vendorName]*entry
	// globs are in the order in which they are asked.
	globs []*glob
	// byFirst has, for each first byte of a name, the patterns that can match
	// it: most names that are in no entry are ruled out by it. It is empty
	// before rank.
	byFirst [][]*glob
}

// vendorName is a name in lower case, and the vendor it is for or "".
type vendorName struct{ vendor, name string }

type entry struct{ answer }

// glob is a compiled pattern: literal characters in lower case that a name
// begins with, ends with or, if both ends are open, contains.
type glob struct {
	entry      *entry
	literal    string
	head, tail bool // a star stands there
}

func newLayer(builtIn bool) *layer {
	return &layer{builtIn: builtIn, exact: map[vendorName]*entry{}}
}

// add puts an entry in under its name and aliases, and tells a name that is
// taken; the entry that was there stays.
func (l *layer) add(e *entry, aliases []string) (taken string) {
	name := strings.ToLower(e.model.Name)
	if g, ok := parseGlob(name); ok {
		g.entry = e
		for _, o := range l.globs {
			if *o == (glob{o.entry, g.literal, g.head, g.tail}) && o.entry.model.Vendor == e.model.Vendor {
				return name
			}
		}
		l.globs = append(l.globs, &g)
		return ""
	}
	for _, n := range append([]string{name}, aliases...) {
		n = strings.ToLower(n)
		k := vendorName{e.model.Vendor, n}
		if l.exact[k] != nil {
			return n
		}
		l.exact[k] = e
	}
	return ""
}

// parseGlob compiles a name in lower case that begins or ends with a star.
func parseGlob(name string) (glob, bool) {
	lit, head := strings.CutPrefix(name, "*")
	lit, tail := strings.CutSuffix(lit, "*")
	if !head && !tail {
		return glob{}, false
	}
	if lit == "" {
		head, tail = true, true // "*" and "**" are the same
	}
	return glob{literal: lit, head: head, tail: tail}, true
}

// vendors is 1 if the pattern is for one vendor, 0 if it is for all.
func (g *glob) vendors() int { return min(1, len(g.entry.model.Vendor)) }

func (g *glob) isFor(vendor string) bool {
	v := g.entry.model.Vendor
	return v == "" || v == vendor
}

// match tells whether the pattern matches any form of a name.
func (g *glob) match(f *forms) bool {
	switch {
	case g.head && g.tail:
		return strings.Contains(f.list[0], g.literal) // the others are parts of it
	case g.head:
		for _, n := range f.tails.all() {
			if strings.HasSuffix(n, g.literal) {
				return true
			}
		}
	default:
		for _, n := range f.heads.all() {
			if n[0] == g.literal[0] && strings.HasPrefix(n, g.literal) {
				return true
			}
		}
	}
	return false
}

// rank makes the layer ready: it orders the patterns, more literal characters
// first, then those for one vendor, then by the alphabet: what is decided must not
// depend on the order in which entries came.
func (l *layer) rank() {
	if l.byFirst != nil {
		return
	}
	for k, e := range maps.Clone(l.exact) { // names that Vertex writes with an @
		if at, ok := atDate(k.name); ok && l.exact[vendorName{k.vendor, at}] == nil {
			l.exact[vendorName{k.vendor, at}] = e
		}
	}
	slices.SortStableFunc(l.globs, func(a, b *glob) int {
		return cmp.Or(
			cmp.Compare(utf8.RuneCountInString(b.literal), utf8.RuneCountInString(a.literal)),
			cmp.Compare(b.vendors(), a.vendors()),
			strings.Compare(a.literal, b.literal),
			strings.Compare(strings.ToLower(a.entry.model.Name), strings.ToLower(b.entry.model.Name)),
			strings.Compare(a.entry.model.Vendor, b.entry.model.Vendor),
		)
	})
	var open []*glob
	starts := map[byte]bool{}
	for _, g := range l.globs {
		if g.head {
			open = append(open, g)
		} else {
			starts[g.literal[0]] = true
		}
	}
	l.byFirst = make([][]*glob, 256)
	for c := range l.byFirst {
		l.byFirst[c] = open
		if starts[byte(c)] {
			l.byFirst[c] = slices.DeleteFunc(slices.Clone(l.globs), func(g *glob) bool { return !g.head && g.literal[0] != byte(c) })
		}
	}
}

// startingLike lists the patterns that can match a name by its first byte.
func (l *layer) startingLike(name string) []*glob { return l.byFirst[name[0]] }

// eachExact gives the entries for a name and its other forms, those for the
// vendor first.
func (l *layer) eachExact(vendor string, f *forms, yield func(*entry)) {
	if vendor != "" {
		for _, n := range f.all() {
			if e := l.exact[vendorName{vendor, n}]; e != nil {
				yield(e)
			}
		}
	}
	for _, n := range f.all() {
		if e := l.exact[vendorName{"", n}]; e != nil {
			yield(e)
		}
	}
}

// eachGlob gives the entries whose pattern matches any form of a name.
func (l *layer) eachGlob(vendor string, f *forms, yield func(*entry)) {
	globs := l.globs
	if f.heads.n == 1 {
		globs = l.startingLike(f.list[0])
	}
	for _, g := range globs {
		if g.isFor(vendor) && g.match(f) {
			yield(g.entry)
		}
	}
}
