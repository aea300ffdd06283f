package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/routing"
)

// step is one of failures.json: a failing, or a category alone.
type step struct{ failing }

func (f *step) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &f.Category) //nolint:wrapcheck // a test
	}
	return json.Unmarshal(b, &f.failing) //nolint:wrapcheck // a test
}

// walk fails the candidates one after the other, as the gateway goes through
// them, and notes what follows. The last one is retried in place once, as by
// default.
func walk(t *testing.T, p *routing.Plan, failures []step) string {
	t.Helper()
	if len(failures) == 0 {
		return ""
	}
	w := walker{p: p}
	i := w.admit(0)
	if i < 0 {
		fmt.Fprintf(&w.b, "first    nobody can be dialled%s, so they are after all\n", w.skips())
		w.forced = true
		i = w.admit(0)
	}
	retried := false
	for at, f := range failures {
		if i < 0 {
			t.Fatalf("failures.json has more failures than attempts:\n%s", w.b.String())
		}
		what := string(f.Category)
		if f.Status != 0 {
			what = fmt.Sprintf("%s (%d)", what, f.Status)
		}
		fmt.Fprintf(&w.b, "if       %s fails with %s: ", p.Candidates[i].Provider, what)
		action, next := p.After(i, f.failure()), -1
		w.dials++
		if action == routing.Next {
			if next = w.admit(i + 1); next < 0 {
				action = routing.Exhausted
			}
		}
		switch {
		case action == routing.Exhausted && !w.forced && !retried && p.RetryInPlace(f.failure()):
			retried, next = true, i
			w.b.WriteString("dial it once more\n")
		case action == routing.Next:
			fmt.Fprintf(&w.b, "next, %s%s\n", p.Candidates[next].Provider, w.skips())
		case action == routing.Return:
			w.b.WriteString("return this failure\n")
		default:
			fmt.Fprintf(&w.b, "nobody is left%s\n", w.skips())
		}
		if i = next; i < 0 && at < len(failures)-1 {
			t.Fatalf("failures.json has more failures than attempts:\n%s", w.b.String())
		}
	}
	return w.b.String()
}

// walker goes through the candidates of a plan.
type walker struct {
	p      *routing.Plan
	b      strings.Builder
	dials  int
	forced bool     // the state of candidates does not count
	later  []string // who was skipped
}

// admit finds the next candidate that is dialled, or -1.
func (w *walker) admit(i int) int {
	for ; i < len(w.p.Candidates); i++ {
		c := &w.p.Candidates[i]
		if c.Fallback && (w.forced || w.dials == 0) {
			return -1
		}
		if w.forced || c.State.Dialled() {
			return i
		}
		w.later = append(w.later, fmt.Sprintf("%s is %s", c.Provider, c.State))
	}
	return -1
}

// skips names those that were skipped since it was last asked.
func (w *walker) skips() string {
	if len(w.later) == 0 {
		return ""
	}
	text := " (" + strings.Join(w.later, ", ") + ")"
	w.later = nil
	return text
}
