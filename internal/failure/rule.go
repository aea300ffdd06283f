package failure

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// rule is a compiled Signal.
type rule struct {
	Signal
	literals []string // entries of Match that are plain text
	match    *regexp.Regexp
	reset    *reset
}

// Compile checks and compiles the vendor's rows and, after them, the generic
// ones. The ids must be unique among both.
func Compile(vendor []Signal, generic Generic) (*Classifier, error) {
	shared := &Classifier{statusOf: make(map[string]int, len(generic.StatusOf))}
	for name, status := range generic.StatusOf {
		if status < 400 || status > 599 || name != strings.ToLower(name) {
			return nil, fmt.Errorf("statusOf %q: want a lower-case name and a status of 400 to 599", name)
		}
		shared.statusOf[name] = status
	}
	shared, err := shared.Before(generic.Signals)
	if err != nil {
		return nil, err
	}
	return shared.Before(vendor)
}

// Before makes a classifier that tries the rows before those of c.
func (c *Classifier) Before(rows []Signal) (*Classifier, error) {
	ids := map[string]bool{"": true, ByStatus: true}
	for _, r := range c.rules {
		ids[r.ID] = true
	}
	own := make([]*rule, 0, len(rows))
	for _, s := range rows {
		if ids[s.ID] {
			return nil, fmt.Errorf("signal %q: the id must be unique and not empty", s.ID)
		}
		ids[s.ID] = true
		r, err := compileRule(s)
		if err != nil {
			return nil, fmt.Errorf("signal %q: %w", s.ID, err)
		}
		own = append(own, r)
	}
	return &Classifier{rules: slices.Concat(own, c.rules), statusOf: c.statusOf}, nil
}

func compileRule(s Signal) (*rule, error) {
	r := &rule{Signal: s}
	if !r.conditional() && len(s.Status) == 0 {
		return nil, errors.New("no condition")
	}
	if err := r.checkMeaning(); err != nil {
		return nil, err
	}
	if err := r.lowerConditions(); err != nil {
		return nil, err
	}
	var err error
	var patterns []string
	for _, p := range s.Match {
		if regexp.QuoteMeta(p) == p && strings.ToLower(p) == p {
			r.literals = append(r.literals, p)
		} else {
			patterns = append(patterns, p)
		}
	}
	if len(patterns) > 0 {
		if r.match, err = compilePattern(strings.Join(patterns, "|")); err != nil {
			return nil, fmt.Errorf("match: %w", err)
		}
	}
	if s.Reset != nil {
		if r.reset, err = compileReset(*s.Reset); err != nil {
			return nil, fmt.Errorf("reset: %w", err)
		}
	}
	return r, nil
}

// conditional says whether the row has a condition besides the status.
func (r *rule) conditional() bool {
	return len(r.Type)+len(r.Code)+len(r.Word)+len(r.Name)+len(r.QuotaID)+len(r.Text)+len(r.Match)+len(r.Header) > 0
}

func (r *rule) checkMeaning() error {
	switch {
	case !r.Category.Valid():
		return fmt.Errorf("unknown category %q", r.Category)
	case r.ContextLength && r.Category != RequestError:
		return fmt.Errorf("contextLength goes with %s only", RequestError)
	case r.Reset != nil && !waits(r.Category):
		return fmt.Errorf("a reset goes with %s, %s and %s only", RateLimit, QuotaExhausted, Overloaded)
	}
	for _, status := range r.Status {
		if status < 100 || status > 599 {
			return fmt.Errorf("status %d", status)
		}
	}
	return nil
}

// lowerConditions puts the conditions in lower case and refuses an empty
// entry, which would match everything.
func (r *rule) lowerConditions() error {
	for _, list := range []*[]string{&r.Type, &r.Code, &r.Word, &r.Name, &r.QuotaID, &r.Text, &r.Not} {
		if slices.Contains(*list, "") || slices.Contains(r.Match, "") {
			return errors.New("empty entry in a condition")
		}
		*list = lower(*list)
	}
	header := make(map[string]string, len(r.Header))
	for name, value := range r.Header {
		if name == "" || value == "" {
			return errors.New("empty header condition")
		}
		header[strings.ToLower(name)] = value
	}
	r.Header = header
	return nil
}

var upperLiteral = regexp.MustCompile(`(?:^|[^\\])[A-Z]`)

// compilePattern compiles a pattern for lower-case text.
func compilePattern(p string) (*regexp.Regexp, error) {
	if upperLiteral.MatchString(p) {
		return nil, fmt.Errorf("%q: the text is lower case, so upper case never matches", p)
	}
	return regexp.Compile(p)
}

func (r *rule) matches(e *evidence) bool {
	text, ok := r.hears(e)
	return ok && r.statusMatches(e) &&
		oneOf(r.Type, e.lowTypes) && oneOf(r.Code, e.lowCodes) && oneOf(r.Word, e.lowWords) &&
		r.nameMatches(e) && r.quotaMatches(e, text) && r.headerMatches(e) &&
		(!r.Empty || e.empty) &&
		(len(r.Text) == 0 || containsAny(text, r.Text)) &&
		!containsAny(r.excludesIn(e), r.Not) &&
		r.textMatches(text) &&
		(r.LongerThan == 0 || e.asksLongerThan(r.LongerThan))
}

// statusMatches lets an error that names no status pass on its other fields.
func (r *rule) statusMatches(e *evidence) bool {
	if len(r.Status) == 0 || slices.Contains(r.Status, e.status) {
		return true
	}
	return e.status == 0 && r.conditional()
}

func (r *rule) nameMatches(e *evidence) bool {
	return len(r.Name) == 0 || oneOf(r.Name, e.lowTypes) || oneOf(r.Name, e.lowCodes) || oneOf(r.Name, e.lowWords)
}

func (r *rule) textMatches(text string) bool {
	return len(r.Match) == 0 || containsAny(text, r.literals) || (r.match != nil && r.match.MatchString(text))
}

// quotaMatches falls back to the text: a proxy may quote Google's body in a
// way that is not JSON any more.
func (r *rule) quotaMatches(e *evidence, text string) bool {
	if len(r.QuotaID) == 0 {
		return true
	}
	if len(e.lowQuotaIDs) == 0 {
		return containsAny(text, r.QuotaID)
	}
	return slices.ContainsFunc(e.lowQuotaIDs, func(id string) bool { return containsAny(id, r.QuotaID) })
}

func (r *rule) headerMatches(e *evidence) bool {
	for name, want := range r.Header {
		if got, ok := e.header[name]; !ok || (want != "*" && !strings.EqualFold(got, want)) {
			return false
		}
	}
	return true
}

// oneOf says whether a value is among those wanted; wanting none is no
// condition.
func oneOf(want, got []string) bool {
	return len(want) == 0 || slices.ContainsFunc(got, func(s string) bool { return slices.Contains(want, s) })
}

func containsAny(s string, fragments []string) bool {
	return slices.ContainsFunc(fragments, func(f string) bool { return strings.Contains(s, f) })
}
