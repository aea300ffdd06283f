package failure

import (
	"strconv"
	"strings"
)

// String describes the failure in one short line that may be shown to anyone:
// "rate_limit (429, retry in 17s)". It holds nothing that the provider wrote.
func (f Failure) String() string {
	var notes []string
	if f.Status != 0 {
		notes = append(notes, strconv.Itoa(f.Status))
	}
	if f.ContextLength {
		notes = append(notes, "prompt too long")
	}
	if f.HasRetryAfter {
		if f.RetryAfter <= 0 {
			notes = append(notes, "retry now")
		} else {
			notes = append(notes, "retry in "+f.RetryAfter.String())
		}
	}
	if len(notes) == 0 {
		return string(f.Category)
	}
	return string(f.Category) + " (" + strings.Join(notes, ", ") + ")"
}
