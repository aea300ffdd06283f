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
	for i := range p.Candidates {
		c := &p.Candidates[i]
		fmt.Fprintf(&b, "try %-4d %s via %s as %s%s (%s)\n", i+1, c.Provider, c.Route, c.WireModel, c.with(), c.reason())
	}
	switch {
	case len(p.Candidates) < 2 || p.Failover:
	case p.NoRetry:
		b.WriteString("         only one is dialled, once: the client wants no fallback\n")
	default:
		b.WriteString("         only one is dialled: this endpoint does not fail over\n")
	}
	return b.String()
}

// with names a credential that is not what one expects.
func (c *Candidate) with() string {
	switch {
	case c.Fallback:
		return " with its own key"
	case c.Credential.ours():
		return ""
	}
	return " with " + c.Credential.Whose()
}

// reason says why a candidate is where it is, and what its state means there.
func (c *Candidate) reason() string {
	why := c.Why
	if c.State != Healthy && why != string(c.State) {
		why += "; " + string(c.State)
	}
	switch {
	case c.State.Dialled():
		return why
	case c.Fallback:
		return why + ": not dialled"
	}
	return why + ": dialled only if nobody else was"
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
