package routing

import (
	"fmt"
	"strings"
)

// Explain renders the plan as text: one line a step, then the candidates in
// try order or the refusal. The text is the same in the dry run, the command
// line and the golden scenarios.
func (p *Plan) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model    %s (revision %d)\n", p.Model, p.Revision)
	for _, s := range p.Steps {
		if s.Stage == StageRefusal {
			fmt.Fprintf(&b, "refused  %d %s: %s\n", p.Refusal.Status, s.Code, s.Detail)
			continue
		}
		fmt.Fprintf(&b, "%-8s %-17s %s: %s\n", s.Stage, s.Code, s.Subject, s.Detail)
	}
	for i, c := range p.Candidates {
		fmt.Fprintf(&b, "try %-4d %s via %s as %s (%s)\n", i+1, c.Provider, c.Route, c.WireModel, c.Why)
	}
	if len(p.Candidates) > 1 && !p.Failover {
		b.WriteString("         only the first is dialled: this endpoint does not fail over\n")
	}
	return b.String()
}

// maxLine is the longest Line, in bytes: proxies refuse long headers.
const maxLine = 2048

// Line is Explain in one line, for a header.
func (p *Plan) Line() string {
	var b strings.Builder
	for line := range strings.Lines(p.Explain()) {
		if b.Len() > 0 {
			b.WriteString(" | ")
		}
		b.WriteString(strings.Join(strings.Fields(line), " "))
	}
	if b.Len() > maxLine {
		return b.String()[:maxLine] + "..."
	}
	return b.String()
}
