package resource

import (
	"errors"
	"fmt"
	"strings"
)

// CheckPattern tells what is wrong with a model pattern. A pattern is an exact
// model name, or has one * at the start, at the end, or both; it has 1 to 256
// printable characters (RT-PAT-3).
func CheckPattern(p string) error {
	if p == "" {
		return errors.New(`the pattern is empty; write a model name, or a pattern such as "claude-*"`)
	}
	if err := CheckText(p, maxNameChars); err != nil {
		return fmt.Errorf("the pattern %w", err)
	}
	if strings.TrimSpace(p) != p {
		return fmt.Errorf("the pattern %s begins or ends with a space, so no model would match it; remove the space", quote(p))
	}
	if p == "**" {
		return errors.New(`the pattern "**" has one * too many; write "*" for every model`)
	}
	if first := innerStar(p); first > 0 {
		return fmt.Errorf("the pattern %s has a * inside; a * may stand only at the start, at the end, or both%s",
			quote(p), starSuggestion(p, first))
	}
	return nil
}

// innerStar finds the first * that is neither the first nor the last
// character; 0 if there is none.
func innerStar(p string) int {
	if len(p) < 3 {
		return 0
	}
	i := strings.IndexByte(p[1:len(p)-1], '*')
	return i + 1
}

// starSuggestion offers the parts before and after the inner stars as patterns
// of their own.
func starSuggestion(p string, first int) string {
	last := strings.LastIndexByte(p[:len(p)-1], '*')
	var offers []string
	for _, s := range []string{p[:first+1], p[last:]} {
		literals := strings.Trim(s, "*")
		if literals == "" || innerStar(s) > 0 || (len(offers) > 0 && offers[0] == quote(s)) {
			continue
		}
		offers = append(offers, quote(s))
	}
	if len(offers) == 0 {
		return ""
	}
	return ": write " + strings.Join(offers, " or ")
}
