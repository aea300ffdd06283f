package resource

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The codes of problems.
const (
	CodeInvalid          = "invalid"
	CodeConflict         = "conflict"
	CodeNameTaken        = "name_taken"
	CodeMissingReference = "missing_reference"
	CodeNotBuilt         = "not_built"
	CodeSecret           = "secret"
)

// maxNameChars bounds model names, aliases and patterns, in characters.
const maxNameChars = 256

// plainName is what names look like that are not free text.
var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// simpleKey is a map key that a path shows without quotes.
var simpleKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// checker collects the problems of one object.
type checker struct {
	object Ref
	ps     []Problem
}

func newChecker(m *Meta) *checker {
	return &checker{object: Ref{Kind: m.Kind, Name: m.Name}}
}

// add notes that the field at path breaks one of the object's own limits.
func (c *checker) add(path, format string, args ...any) {
	c.code(CodeInvalid, path, format, args...)
}

// code notes a problem with a code of its own.
func (c *checker) code(code, path, format string, args ...any) {
	c.ps = append(c.ps, Problem{Code: code, Object: c.object, Path: path, Message: fmt.Sprintf(format, args...)})
}

// err notes err, if there is one, at path.
func (c *checker) err(path string, err error) {
	if err != nil {
		c.add(path, "%s", err.Error())
	}
}

// JoinPath appends a field to a path: JoinPath("strategy", "type") is
// "strategy.type", and a key that is no plain word is quoted, as in
// `modelAliases["gpt-4.1"]`.
func JoinPath(path, field string) string {
	if !simpleKey.MatchString(field) {
		return path + "[" + strconv.Quote(field) + "]"
	}
	if path == "" {
		return field
	}
	return path + "." + field
}

// IndexPath appends a place in a list to a path: "members[1]".
func IndexPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// CheckName tells what is wrong with the name of a Provider, Route or Key, or
// of anything else whose names are plain.
func CheckName(name string) error {
	if name == "" {
		return errors.New("the name is missing")
	}
	if !plainName.MatchString(name) {
		return fmt.Errorf("%s is no name: write 1 to 63 of a-z 0-9 . _ - beginning with a letter or digit%s",
			quote(name), plainSuggestion(name))
	}
	return nil
}

// plainSuggestion offers a name of the right form, when one is close.
func plainSuggestion(name string) string {
	s := strings.Map(func(r rune) rune {
		if r == ' ' || r == '/' || r == ':' {
			return '-'
		}
		return r
	}, strings.ToLower(strings.TrimSpace(name)))
	s = strings.TrimLeft(s, "._-")
	if !plainName.MatchString(s) {
		return ""
	}
	return ", such as " + quote(s)
}

// CheckText tells what is wrong with a free text of 1 to limit printable
// characters, such as the name of a team.
func CheckText(s string, limit int) error {
	n := utf8.RuneCountInString(s)
	switch {
	case s == "":
		return fmt.Errorf("is empty; write 1 to %d characters", limit)
	case !utf8.ValidString(s):
		return errors.New("is not valid UTF-8")
	case n > limit:
		return fmt.Errorf("has %d characters; at most %d are allowed", n, limit)
	}
	if i, r := unprintable(s); i > 0 {
		return fmt.Errorf("has the unprintable character %U at place %d; remove it", r, i)
	}
	return nil
}

// CheckModelName tells what is wrong with an exact model name: one that a
// client asks for, an alias, or one that a provider receives.
func CheckModelName(s string) error {
	if err := CheckText(s, maxNameChars); err != nil {
		return fmt.Errorf("the model name %w", err)
	}
	if strings.Contains(s, "*") {
		return fmt.Errorf("%s has a *; write one exact model name", quote(s))
	}
	return nil
}

// unprintable finds the first character that can't be printed: its place,
// from 1, and itself; 0 if there is none.
func unprintable(s string) (place int, bad rune) {
	for _, r := range s {
		place++
		if !unicode.IsPrint(r) {
			return place, r
		}
	}
	return 0, 0
}

// quote shows a text in a message, shortened.
func quote(s string) string {
	const limit = 64
	if utf8.RuneCountInString(s) > limit {
		s = string([]rune(s)[:limit]) + "…"
	}
	return strconv.Quote(s)
}

// oneOf notes a value that is not in a list.
func oneOf[T ~string](c *checker, path string, v T, allowed ...T) {
	if !slices.Contains(allowed, v) {
		c.add(path, "%s is not known; write %s", quote(string(v)), orList(allowed))
	}
}

// orList renders "a, b or c".
func orList[T ~string](vs []T) string {
	words := make([]string, len(vs))
	for i, v := range vs {
		words[i] = string(v)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// between notes a number outside lo to hi.
func between[T cmp.Ordered](c *checker, path string, v, lo, hi T) {
	if !(v >= lo && v <= hi) { // written so that NaN is refused
		c.add(path, "%v is out of range; write %v to %v", v, lo, hi)
	}
}

// orderedKeys gives the keys of a map in order, so that messages are stable.
func orderedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// uniqueFold notes each entry of a list that repeats an earlier one, without
// regard to case.
func uniqueFold(c *checker, path string, vs []string) {
	first := make(map[string]int, len(vs))
	for i, v := range vs {
		key := strings.ToLower(v)
		if j, ok := first[key]; ok {
			c.add(IndexPath(path, i), "%s repeats %s; remove one of them", quote(v), IndexPath(path, j))
			continue
		}
		first[key] = i
	}
}

// patterns notes what is wrong with a list of patterns.
func patterns(c *checker, path string, ps []string) {
	routePatterns(c, path, ps)
	uniqueFold(c, path, ps)
}

// routePatterns is patterns for those of one route, which may overlap, and so
// be the same (RT-PAT-1).
func routePatterns(c *checker, path string, ps []string) {
	for i, p := range ps {
		c.err(IndexPath(path, i), CheckPattern(p))
	}
}

// names notes what is wrong with a list of plain names.
func names(c *checker, path string, ns []string) {
	for i, n := range ns {
		c.err(IndexPath(path, i), CheckName(n))
	}
	uniqueFold(c, path, ns)
}
