package routing

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Pattern is a compiled model pattern: an exact name, or literal characters
// with one "*" at the start, at the end, or both. Matching ignores case.
type Pattern struct {
	text    string // as written
	literal string // lower case, without the stars
	kind    patternKind
	runes   int // characters of literal
}

type patternKind uint8

const (
	exact     patternKind = iota
	prefixed              // literal*
	suffixed              // *literal
	contained             // *literal*, and "*" itself
)

// exactSpecificity is above every glob.
const exactSpecificity = math.MaxInt32

// ParsePattern compiles a pattern. It refuses an empty one and a "*" that is
// neither first nor last.
func ParsePattern(text string) (Pattern, error) {
	if text == "" {
		return Pattern{}, fmt.Errorf("a model pattern is empty; write a model name or a glob such as \"claude-*\"")
	}
	lit := strings.ToLower(text)
	p := Pattern{text: text}
	lit, head := strings.CutPrefix(lit, "*")
	lit, tail := strings.CutSuffix(lit, "*")
	if text == "*" {
		tail = true
	}
	if strings.Contains(lit, "*") {
		return Pattern{}, fmt.Errorf("pattern %q has a \"*\" inside; only one at the start, at the end, or both is allowed", text)
	}
	switch {
	case head && tail:
		p.kind = contained
	case head:
		p.kind = suffixed
	case tail:
		p.kind = prefixed
	}
	if lit == "" {
		p.kind = contained // "*" and "**" match everything
	}
	p.literal, p.runes = lit, utf8.RuneCountInString(lit)
	return p, nil
}

// String gives the pattern as it was written.
func (p Pattern) String() string { return p.text }

// IsExact tells whether the pattern is a plain name.
func (p Pattern) IsExact() bool { return p.kind == exact }

// Specificity orders patterns: exact beats any glob, and among globs more
// literal characters win.
func (p Pattern) Specificity() int {
	if p.kind == exact {
		return exactSpecificity
	}
	return p.runes
}

// Match tells whether the pattern matches a model name in any case.
func (p Pattern) Match(model string) bool { return p.matchLower(strings.ToLower(model)) }

func (p Pattern) matchLower(m string) bool {
	switch p.kind {
	case exact:
		return m == p.literal
	case prefixed:
		return strings.HasPrefix(m, p.literal)
	case suffixed:
		return strings.HasSuffix(m, p.literal)
	default:
		return strings.Contains(m, p.literal)
	}
}

// Overlaps tells whether some model name matches both patterns: exact
// intersection of the two languages, not a guess.
func (p Pattern) Overlaps(q Pattern) bool {
	if p.kind > q.kind {
		p, q = q, p
	}
	switch {
	case p.kind == exact:
		return q.matchLower(p.literal)
	case p.kind == prefixed && q.kind == prefixed:
		return strings.HasPrefix(p.literal, q.literal) || strings.HasPrefix(q.literal, p.literal)
	case p.kind == suffixed && q.kind == suffixed:
		return strings.HasSuffix(p.literal, q.literal) || strings.HasSuffix(q.literal, p.literal)
	default:
		// A free end on both sides that face each other: the two literals
		// joined in the right order match both (prefix+suffix,
		// prefix+inner, inner+suffix, inner+inner).
		return true
	}
}

// Conflicts tells whether two patterns overlap at equal specificity, so that
// nothing could say which one a model belongs to.
func (p Pattern) Conflicts(q Pattern) bool {
	return p.Specificity() == q.Specificity() && p.Overlaps(q)
}

// Equal tells whether two patterns are the same but for case.
func (p Pattern) Equal(q Pattern) bool { return p.kind == q.kind && p.literal == q.literal }

// key makes patterns that are Equal the same map key.
func (p Pattern) key() Pattern { return Pattern{literal: p.literal, kind: p.kind} }
