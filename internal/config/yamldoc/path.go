package yamldoc

import (
	"strconv"
	"strings"
)

// step is one part of a path: a field or a place in a list.
type step struct {
	field   string
	index   int
	isIndex bool
}

// splitPath reads paths as resource.JoinPath and resource.IndexPath make them.
// What is no path ends the list early.
func splitPath(path string) []step {
	var steps []step
	for path != "" {
		var s step
		var ok bool
		s, path, ok = cutStep(path)
		if !ok {
			return steps
		}
		steps = append(steps, s)
	}
	return steps
}

func cutStep(path string) (s step, rest string, ok bool) {
	if !strings.HasPrefix(path, "[") {
		path = strings.TrimPrefix(path, ".")
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		return step{field: path[:end]}, path[end:], end > 0
	}
	inside := path[1:]
	if strings.HasPrefix(inside, `"`) {
		field, rest, ok := cutQuoted(inside)
		return step{field: field}, rest, ok
	}
	digits, rest, ok := strings.Cut(inside, "]")
	i, valid := parseIndex(digits)
	return step{index: i, isIndex: true}, rest, ok && valid
}

// cutQuoted reads the rest of a step such as ["gpt-4.1"], from its first
// quote.
func cutQuoted(s string) (field, rest string, ok bool) {
	prefix, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", false
	}
	field, err = strconv.Unquote(prefix)
	if err != nil {
		return "", "", false
	}
	rest, ok = strings.CutPrefix(s[len(prefix):], "]")
	return field, rest, ok
}

func parseIndex(digits string) (int, bool) {
	i, err := strconv.Atoi(digits)
	return i, err == nil && i >= 0
}
