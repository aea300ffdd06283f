package catalog

import (
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
	// byFirst has, for each first character that a pattern begins with, those
	// that can match a name with that one; rest is for other names. Most names
	// that are in no entry are ruled out by it.
	byFirst map[byte][]*glob
	rest    []*glob
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

func (g *glob) match(n string) bool {
	switch {
	case g.head && g.tail:
		return strings.Contains(n, g.literal)
	case g.head:
		return strings.HasSuffix(n, g.literal)
	}
	return strings.HasPrefix(n, g.literal)
}

func (g *glob) matchAny(names []string) bool {
	for _, n := range names {
		if g.match(n) {
			return true
		}
	}
	return false
}

// rank orders the patterns: more literal characters first, then those for one
// vendor, then as they came.
func (l *layer) rank() {
	if l.byFirst != nil {
		return
	}
	for k, e := range l.exact { // names that Vertex writes with an @
		if at, ok := atDate(k.name); ok && l.exact[vendorName{k.vendor, at}] == nil {
			l.exact[vendorName{k.vendor, at}] = e
		}
	}
	slices.SortStableFunc(l.globs, func(a, b *glob) int {
		if d := utf8.RuneCountInString(b.literal) - utf8.RuneCountInString(a.literal); d != 0 {
			return d
		}
		return strings.Compare(vendorRank(a), vendorRank(b))
	})
	l.byFirst = map[byte][]*glob{}
	for _, g := range l.globs {
		if !g.head {
			l.byFirst[g.literal[0]] = nil
		}
	}
	for _, g := range l.globs {
		if g.head {
			l.rest = append(l.rest, g)
		}
		for c := range l.byFirst {
			if g.head || g.literal[0] == c {
				l.byFirst[c] = append(l.byFirst[c], g)
			}
		}
	}
}

func vendorRank(g *glob) string {
	if g.entry.model.Vendor == "" {
		return "1"
	}
	return "0"
}

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
	if f.n == 1 {
		var ok bool
		if globs, ok = l.byFirst[f.list[0][0]]; !ok {
			globs = l.rest
		}
	}
	for _, g := range globs {
		if v := g.entry.model.Vendor; (v == "" || v == vendor) && g.matchAny(f.all()) {
			yield(g.entry)
		}
	}
}
