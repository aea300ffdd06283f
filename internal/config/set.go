package config

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/interlock-gateway/interlock/internal/config/yamldoc"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// SetsFile stands for a file in the places of overrides.
const SetsFile = "--set"

// override is one --set that was understood.
type override struct {
	path string
	// doc is the value; nil for a text that was taken as it is.
	doc *yamldoc.Doc
	pos *resource.Position
}

// locate finds the place of a setting inside the override's value.
func (o override) locate(path string) *resource.Position {
	if o.doc == nil {
		return o.pos
	}
	return o.doc.Locate(strings.TrimPrefix(strings.TrimPrefix(path, o.path), "."))
}

// applySets puts the overrides over what the file says.
func (l *loader) applySets() {
	for i, arg := range l.options.Sets {
		l.applySet(i+1, arg)
	}
}

func (l *loader) applySet(number int, arg string) {
	path, value, ok := strings.Cut(arg, "=")
	refuse := func(format string, args ...any) {
		l.problem(resource.Problem{
			Code: resource.CodeInvalid, Message: fmt.Sprintf(format, args...),
			Pos: &resource.Position{File: SetsFile, Line: number, Column: 1},
		})
	}
	if !ok {
		refuse("%q has no =; write PATH=VALUE, such as llmProxy.retry.maxRetries=0", shortened(path))
		return
	}
	root := reflect.ValueOf(l.config).Elem()
	field, secret, suggestion := yamldoc.Field(root, path)
	if !field.IsValid() {
		l.unknownSet(path, suggestion, refuse)
		return
	}
	column := utf8.RuneCountInString(path) + 1
	set := override{path: path, pos: &resource.Position{File: SetsFile, Line: number, Column: column + 1}}
	if field.Kind() == reflect.String && !strings.HasPrefix(value, `"`) && !strings.HasPrefix(value, "'") {
		// A text needs no quotes here: in YAML, "memory:" would be a mapping.
		field.SetString(value)
		l.accept(set, &yamldoc.Decoded{})
		return
	}
	doc, ps := yamldoc.ParseValue(SetsFile, number, column, value)
	for _, p := range ps {
		p.Path = path
		l.problem(p)
	}
	if len(ps) > 0 {
		return
	}
	if doc.Empty() {
		refuse("%s has no value after =; write one ([] for an empty list)", path)
		return
	}
	set.doc = doc
	l.accept(set, doc.DecodeValue(field, path, secret))
}

// accept keeps an override that was decoded, well or not.
func (l *loader) accept(set override, d *yamldoc.Decoded) {
	l.sets = append(l.sets, set)
	l.problem(d.Problems...)
	l.decoded.Doubtful = append(l.decoded.Doubtful, d.Doubtful...)
}

func (l *loader) unknownSet(path, suggestion string, refuse func(string, ...any)) {
	hint := ""
	switch {
	case suggestion == path: // a field inside a list or below a value
	case strings.ContainsAny(path, "[]"):
		hint = "; a list is set as a whole, such as resources.files=[a.yaml, b.yaml]"
	case suggestion != "":
		hint = "; did you mean " + suggestion + "?"
	}
	refuse("there is no setting %q%s", shortened(path), hint)
}

// shortened keeps what is not an override from filling the screen. Only what
// is before the = is ever shown.
func shortened(s string) string {
	const limit = 80
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
