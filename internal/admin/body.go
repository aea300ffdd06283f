package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/interlock-gateway/interlock/internal/control"
)

// errNotAKey cannot happen: a Key decodes to a Key.
var errNotAKey = errors.New("a key is not a key")

// readObject reads a JSON object into the targets of its members: nothing
// else, nothing twice, nothing in another case, nothing after it.
func readObject(raw []byte, targets map[string]any) error {
	if !utf8.Valid(raw) {
		return invalid("", "the body is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return invalid("", "the body is not a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return invalid("", "the JSON is malformed at byte %d", dec.InputOffset())
		}
		target := targets[name]
		switch {
		case target == nil:
			known := slices.Sorted(maps.Keys(targets))
			return invalid(name, "this field is not known; there is %s", strings.Join(known, ", "))
		case seen[name]:
			return invalid(name, "this field appears twice")
		}
		seen[name] = true
		if err := dec.Decode(target); err != nil {
			if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				return invalid(name, "the value has the wrong form")
			}
			if control.TooDeep(raw) {
				return invalid(name, "it is nested too deeply; at most %d levels are read", control.MaxDepth)
			}
			return invalid("", "the JSON is malformed at byte %d", dec.InputOffset())
		}
	}
	if _, err := dec.Token(); err != nil {
		return invalid("", "the JSON is malformed at byte %d", dec.InputOffset())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return invalid("", "the JSON goes on after its end, at byte %d", dec.InputOffset())
	}
	return nil
}
