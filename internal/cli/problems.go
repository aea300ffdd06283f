package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// shownProblem is a problem as JSON shows it: flat, with its place first.
type shownProblem struct {
	File    string         `json:"file,omitempty"`
	Line    int            `json:"line,omitempty"`
	Column  int            `json:"column,omitempty"`
	Code    string         `json:"code"`
	Object  *resource.Ref  `json:"object,omitempty"`
	Path    string         `json:"path,omitempty"`
	Message string         `json:"message"`
	Refs    []resource.Ref `json:"refs,omitempty"`
}

// showProblems turns problems into what JSON shows; never null.
func showProblems(problems resource.Problems) []shownProblem {
	out := make([]shownProblem, 0, len(problems))
	for _, p := range problems {
		s := shownProblem{Code: p.Code, Path: p.Path, Message: p.Message, Refs: p.Refs}
		if p.Pos != nil {
			s.File, s.Line, s.Column = p.Pos.File, p.Pos.Line, p.Pos.Column
		}
		if p.Object.Kind != "" {
			s.Object = &p.Object
		}
		out = append(out, s)
	}
	return out
}

// sort puts problems and warnings in the order of the files.
func (s *documentSet) sort() {
	place := func(p resource.Problem) int {
		if p.Pos == nil {
			return -1
		}
		if n, known := s.order[absolute(p.Pos.File)]; known {
			return n
		}
		return len(s.order)
	}
	for _, list := range []resource.Problems{s.problems, s.warnings} {
		slices.SortStableFunc(list, func(a, b resource.Problem) int {
			if c := cmp.Compare(place(a), place(b)); c != 0 || a.Pos == nil || b.Pos == nil {
				return c
			}
			return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
		})
	}
}

// printProblems writes problems for people, one a line.
func (e *environment) printProblems(w io.Writer, problems, warnings resource.Problems) {
	for _, p := range problems {
		fmt.Fprintln(w, p.Error())
	}
	for _, p := range warnings {
		at := ""
		if p.Pos != nil {
			at, p.Pos = p.Pos.String()+": ", nil
		}
		fmt.Fprintf(w, "%s%s %s\n", at, e.paint(yellow, "warning:"), p.Error())
	}
}

// refuse ends a command whose documents have problems: for people on standard
// error, for programs as JSON.
func (e *environment) refuse(set *documentSet, json bool) error {
	set.sort()
	if json {
		if err := e.printJSON(map[string]any{"problems": showProblems(set.problems)}); err != nil {
			return err
		}
		return errReported
	}
	e.printProblems(e.err, set.problems, nil)
	fmt.Fprintf(e.err, "\ninterlock: %s in the documents; nothing was changed\n", count(len(set.problems), "problem"))
	return errReported
}
