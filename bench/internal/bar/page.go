package bar

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/interlock-gateway/interlock/bench/internal/suite"
)

// Meta says where and how figures came about.
type Meta struct {
	Date    string `json:"date"`
	Command string `json:"command"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	Nginx   string `json:"nginx"` // empty if it was left out
	Kernel  string `json:"kernel"`
	CPU     string `json:"cpu"`
	CPUs    int    `json:"cpus"`
	LoadAvg string `json:"load_average"` // when the figures were written up
	// Rounds and Seconds are of each run.
	Rounds  int     `json:"rounds"`
	Seconds float64 `json:"seconds"`
	// Undisturbed runs are those in which other work took at most MaxOther
	// percent of the machine.
	MaxOther    float64 `json:"max_other_percent"`
	Runs        int     `json:"runs"`
	Undisturbed int     `json:"undisturbed"`
	Failed      int     `json:"failed"` // runs with errors or without an answer; their figures do not count
}

// Results is the file that a measurement leaves.
type Results struct {
	Meta    Meta           `json:"meta"`
	Rows    []Row          `json:"rows"`
	Records []suite.Record `json:"records"`
}

// AppendJSON writes one row and one record a line, so that the file stays small
// and two of them can be compared.
func (r *Results) AppendJSON(b []byte) ([]byte, error) {
	meta, err := json.MarshalIndent(r.Meta, "", "  ")
	if err != nil {
		return nil, err
	}
	b = append(append(append(b, `{"meta": `...), meta...), ",\n\"rows\": "...)
	if b, err = appendLines(b, r.Rows); err != nil {
		return nil, err
	}
	b = append(b, ",\n\"records\": "...)
	if b, err = appendLines(b, r.Records); err != nil {
		return nil, err
	}
	return append(b, "}\n"...), nil
}

func appendLines[T any](b []byte, all []T) ([]byte, error) {
	b = append(b, '[')
	for i := range all {
		line, err := json.Marshal(&all[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, '\n'), line...)
	}
	return append(b, "\n]"...), nil
}

// Read reads the records of a suite.
func Read(in io.Reader) ([]suite.Record, error) {
	var recs []suite.Record
	for dec := json.NewDecoder(in); ; {
		var r suite.Record
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			return recs, nil
		} else if err != nil {
			return nil, err
		}
		recs = append(recs, r)
	}
}

// Count fills in what the records themselves say.
func (m *Meta) Count(recs []suite.Record) {
	for i := range recs {
		r := &recs[i]
		m.Rounds = max(m.Rounds, r.Round+1)
		if r.Run == nil {
			continue
		}
		m.Runs++
		if m.Seconds == 0 || r.Run.Seconds < m.Seconds { // a scenario may have a longer time of its own
			m.Seconds = r.Run.Seconds
		}
		if r.Run.Host.Other <= m.MaxOther {
			m.Undisturbed++
		}
		if r.Run.Errors > 0 || r.Run.Requests == 0 {
			m.Failed++
		}
	}
}

// What one needs at least for a result: fewer or shorter runs show that
// everything works.
const (
	leastRounds  = 5
	leastSeconds = 3
)

// Text is the generated part of the page.
func Text(m *Meta, rows []Row) string {
	var b strings.Builder
	if m.Rounds < leastRounds || m.Seconds < leastSeconds || m.Undisturbed*2 < m.Runs {
		b.WriteString("**A quick look or a disturbed machine, not a result.** Do not quote these figures.\n\n")
	}
	fmt.Fprintf(&b, "`%s` on %s, commit `%s`, %s%s, %s, %d × %s: %d rounds of %.3g s, medians.\n", m.Command, m.Date, m.Commit, m.Go, also(m.Nginx), m.Kernel, m.CPUs, m.CPU, m.Rounds, m.Seconds)
	fmt.Fprintf(&b, "%d of %d runs were undisturbed: other work took at most %.0f %% of the machine.", m.Undisturbed, m.Runs, m.MaxOther)
	if m.Failed > 0 {
		fmt.Fprintf(&b, " %d runs had errors or no answer, and do not count.", m.Failed)
	}
	b.WriteString("\n\n")
	b.WriteString("| work | floor | nginx | Interlock, bare | Interlock, routes | ratio, bare / routes | spread | bar | met? |\n|---|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for i := range rows {
		b.WriteString(rows[i].line())
	}
	return b.String()
}

func also(s string) string {
	if s == "" {
		return ", no nginx"
	}
	return ", " + s
}

func (r *Row) line() string {
	own, bareCell := cell(r.Figures[r.subject]), cell(r.Figures[bare])
	if r.base != floor { // the base is not a column
		own = cell(r.Figures[r.base]) + " → " + own
	}
	ratio, spread := "–", "–"
	if r.Ratio != nil {
		ratio, spread = fmt.Sprintf("%.2f", r.Ratio.Median), fmt.Sprintf("%.2f–%.2f", r.Ratio.Min, r.Ratio.Max)
		if r.Bare != nil {
			ratio = fmt.Sprintf("%.2f / %s", r.Bare.Median, ratio)
		}
	}
	met, limit := "–", "–"
	if r.Bar != "" {
		met, limit = "not measured", r.Bar
	}
	if r.Met != nil {
		met = map[bool]string{true: "yes", false: "**no**"}[*r.Met]
	}
	return "| " + strings.Join([]string{r.Work, cell(r.Figures[floor]), cell(r.Figures[nginx]), bareCell, own, ratio, spread, limit, met}, " | ") + " |\n"
}

func cell(f *Figure) string {
	if f == nil {
		return "–"
	}
	return suite.Number(f.Median)
}

// Markers enclose the generated part of the page; what is outside is written
// by people.
const (
	begin = "<!-- bench:begin: written by `make bench` -->\n"
	end   = "<!-- bench:end -->\n"
)

// Replace puts a text between the markers of a page.
func Replace(page, text string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	_, after, found := strings.Cut(rest, end)
	if !ok || !found {
		return "", fmt.Errorf("the page has no lines %q and %q around the generated part", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + "\n" + text + "\n" + end + after, nil
}
