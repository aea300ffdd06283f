package yamldoc

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// field is one field of a struct as YAML sees it.
type field struct {
	name  string
	index []int
	typ   reflect.Type
	// secret values are never repeated in a message.
	secret bool
}

// known keeps what fieldsOf found: a file with a thousand documents asks for a
// few types ten thousand times.
//
//nolint:gochecknoglobals // types do not change while a program runs
var known sync.Map // of reflect.Type to []field

// fieldsOf lists the fields of a struct type, those of embedded structs
// included. The list is not changed.
func fieldsOf(t reflect.Type) []field {
	if fs, ok := known.Load(t); ok {
		return fs.([]field)
	}
	fs := listFields(t)
	known.Store(t, fs)
	return fs
}

func listFields(t reflect.Type) []field {
	var fs []field
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			for _, sub := range fieldsOf(f.Type) {
				sub.index = append([]int{f.Index[0]}, sub.index...)
				fs = append(fs, sub)
			}
		case f.IsExported() && name != "" && name != "-":
			fs = append(fs, field{name: name, index: f.Index, typ: f.Type, secret: f.Tag.Get("secret") == "true"})
		}
	}
	return fs
}

func fieldNames(fs []field) []string {
	ns := make([]string, len(fs))
	for i, f := range fs {
		ns[i] = f.name
	}
	return ns
}

func isTime(t reflect.Type) bool { return t == reflect.TypeFor[time.Time]() }

func isDoc(t reflect.Type) bool { return t == reflect.TypeFor[Doc]() }

// isSection tells a struct with fields of its own.
func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !isTime(t) && !isDoc(t)
}

// Field finds the field that a path names in a struct, by the names of YAML.
// The path goes through structs only: to change an entry of a list, its whole
// list is named. If there is no such field, suggestion is a path that may have
// been meant, or "".
func Field(root reflect.Value, path string) (v reflect.Value, secret bool, suggestion string) {
	v = root
	for name := range strings.SplitSeq(path, ".") {
		if !isSection(v.Type()) {
			return reflect.Value{}, false, suggestPath(root.Type(), path)
		}
		found := false
		for _, f := range fieldsOf(v.Type()) {
			if f.name == name {
				v, secret, found = v.FieldByIndex(f.index), f.secret, true
				break
			}
		}
		if !found {
			return reflect.Value{}, false, suggestPath(root.Type(), path)
		}
	}
	return v, secret, ""
}

// Paths lists the path of every field of a struct type that is not itself a
// section.
func Paths(t reflect.Type) []string { return appendPaths(nil, "", t, false) }

func appendPaths(out []string, at string, t reflect.Type, sections bool) []string {
	for _, f := range fieldsOf(t) {
		path, t := resource.JoinPath(at, f.name), f.typ
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if isSection(t) {
			if sections {
				out = append(out, path)
			}
			out = appendPaths(out, path, t, sections)
			continue
		}
		out = append(out, path)
	}
	return out
}

// suggestPath offers a path that ends in the same field, else one that is
// spelt almost the same.
func suggestPath(t reflect.Type, path string) string {
	all := appendPaths(nil, "", t, true)
	if s := elsewhere(all, path[strings.LastIndexByte(path, '.')+1:]); s != "" {
		return s
	}
	return Suggest(path, all)
}

// elsewhere finds the one path that ends in a field.
func elsewhere(paths []string, name string) string {
	found := ""
	for _, p := range paths {
		if p[strings.LastIndexByte(p, '.')+1:] != name {
			continue
		}
		if found != "" {
			return ""
		}
		found = p
	}
	return found
}
