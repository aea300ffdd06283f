package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// plan is what a change does, or would do.
type plan struct {
	Changes []control.Diff `json:"changes"`
	// Revision is the configuration version with the change.
	Revision int64 `json:"revision"`
}

// totals counts what a plan does.
type totals struct {
	Create int `json:"create"`
	Update int `json:"update"`
	Delete int `json:"delete"`
}

func (p *plan) totals() totals {
	var t totals
	for _, d := range p.Changes {
		switch d.Action {
		case "create":
			t.Create++
		case "delete":
			t.Delete++
		default:
			t.Update++
		}
	}
	return t
}

// String says it in words: "1 to create, 2 to update, 0 to delete".
func (t totals) String() string {
	return fmt.Sprintf("%d to create, %d to update, %d to delete", t.Create, t.Update, t.Delete)
}

// sort orders a plan for readers: what is new, what changes, what goes; in each
// by kind and name.
func (p *plan) sort() {
	actions := []string{"create", "update", "delete"}
	var kinds []string
	for _, k := range resource.Kinds() {
		kinds = append(kinds, k.Name)
	}
	slices.SortStableFunc(p.Changes, func(a, b control.Diff) int {
		return cmp.Or(
			cmp.Compare(slices.Index(actions, a.Action), slices.Index(actions, b.Action)),
			cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// printPlan says what a plan does, a line for each object and each field.
func (e *environment) printPlan(p *plan) {
	for _, d := range p.Changes {
		line := fmt.Sprintf("%s %s %q", d.Action, d.Kind, d.Name)
		switch d.Action {
		case "create":
			line = e.paint(green, line)
		case "delete":
			line = e.paint(red, line)
			if d.Kind == "Key" {
				line += " (revoked: its secrets never work again)"
			}
		default:
			line = e.paint(yellow, line)
		}
		fmt.Fprintln(e.out, line)
		if d.Action == "delete" {
			continue // everything of it goes
		}
		for _, f := range d.Fields {
			if d.Action == "create" {
				fmt.Fprintf(e.out, "  %s: %s\n", f.Path, showValue(f.After))
				continue
			}
			fmt.Fprintf(e.out, "  %s: %s → %s\n", f.Path, showValue(f.Before), showValue(f.After))
		}
	}
}

// showValue writes a value as JSON does, which tells "1" from 1. What could
// move the cursor of a terminal is escaped there.
func showValue(v any) string {
	if v == nil {
		return "(not set)"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "?"
	}
	return strings.TrimSpace(b.String())
}
