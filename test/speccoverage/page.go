package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// page is docs/spec-ids.md.
type page struct {
	rows     []row
	known    map[string]bool
	finished map[int]bool
}

// row is one requirement.
type row struct {
	id, text string
	steps    []int // empty for "later" alone
}

// due tells whether a test must name the requirement: the first step that
// builds it is finished.
func (p *page) due(r row) bool { return len(r.steps) > 0 && p.finished[slices.Min(r.steps)] }

func (p *page) finishedText() string {
	if len(p.finished) == 0 {
		return "none"
	}
	var steps []int
	for n := range p.finished {
		steps = append(steps, n)
	}
	slices.Sort(steps)
	return strings.Trim(fmt.Sprint(steps), "[]")
}

func readPage(path string) (*page, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := parsePage(string(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

var rowLine = regexp.MustCompile(`^\| ([A-Z]{2}[A-Za-z0-9-]*) \| (.+) \| ([^|]+) \|$`)

func parsePage(text string) (*page, error) {
	p := &page{known: map[string]bool{}}
	for i, line := range strings.Split(text, "\n") {
		if v, ok := strings.CutPrefix(line, "finished:"); ok {
			steps, err := parseSteps(v, "none")
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			p.finished = map[int]bool{}
			for _, n := range steps {
				p.finished[n] = true
			}
			continue
		}
		m := rowLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		steps, err := parseSteps(m[3], "later")
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if p.known[m[1]] {
			return nil, fmt.Errorf("line %d: %s is there twice", i+1, m[1])
		}
		p.known[m[1]] = true
		p.rows = append(p.rows, row{m[1], m[2], steps})
	}
	switch {
	case p.finished == nil:
		return nil, fmt.Errorf(`no line "finished: none" or "finished: 1, 2"`)
	case len(p.rows) == 0:
		return nil, fmt.Errorf("no rows of the form | id | requirement | steps |")
	}
	return p, nil
}

// parseSteps reads "1, 10". The word stands for no number.
func parseSteps(text, word string) ([]int, error) {
	var steps []int
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == word {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a step: a number or %q is expected", part, word)
		}
		steps = append(steps, n)
	}
	return steps, nil
}
