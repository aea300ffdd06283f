package resource

import (
	"fmt"
	"strings"
)

// Object is one resource of any kind.
type Object interface {
	// Head gives the fields that all kinds share.
	Head() *Meta
	// Check reports what is wrong with the object by itself. Paths are
	// relative to the object, such as "members[1].weight".
	Check() []Problem
}

// Meta is embedded in every resource.
type Meta struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Enabled defaults to true.
	Enabled *bool `json:"enabled,omitempty"`
}

// IsEnabled tells whether the object takes effect.
func (m *Meta) IsEnabled() bool { return m.Enabled == nil || *m.Enabled }

// Head makes every struct that embeds Meta an Object once it has Check.
func (m *Meta) Head() *Meta { return m }

// Ref names another object.
type Ref struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

func (r Ref) String() string { return r.Kind + " " + fmt.Sprintf("%q", r.Name) }

// Problem is one reason why a configuration is refused.
type Problem struct {
	// Code is stable and machine-readable: "invalid", "conflict",
	// "name_taken", "missing_reference", "not_built", "secret".
	Code string `json:"code"`
	// Object is the object the problem is in; zero before it has a name.
	Object Ref `json:"object"`
	// Path is the field, relative to the object, such as
	// "members[0].provider"; empty for the object as a whole.
	Path string `json:"path,omitempty"`
	// Message says what happened, to what, and what to change.
	Message string `json:"message"`
	// Refs are the other objects that take part in a conflict.
	Refs []Ref `json:"refs,omitempty"`
	// Pos is where the field stands in a file, when it came from one.
	Pos *Position `json:"pos,omitempty"`
	// Kept: an earlier version took it, so what is stored is only warned of; it
	// is refused where it is written.
	Kept bool `json:"-"`
}

// Position is a place in a file. Line and Column start at 1; Column counts
// characters.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Error renders the problem on one line: place, object and field, message.
func (p Problem) Error() string {
	var b strings.Builder
	if p.Pos != nil {
		b.WriteString(p.Pos.String() + ": ")
	}
	if p.Object.Kind != "" {
		b.WriteString(p.Object.String())
		if p.Path != "" {
			b.WriteString(" " + p.Path)
		}
		b.WriteString(": ")
	} else if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems is a list of problems as one error.
type Problems []Problem

// Error renders one problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Document is an object together with where it was written.
type Document struct {
	Object Object
	// Locate finds a field in the source file; nil when the object did not
	// come from a file. An unknown path gives the nearest enclosing place.
	Locate func(path string) *Position
	// Nulls are the secrets that it sets to null, by path: none, rather than
	// what is stored.
	Nulls []string
}

// RefAt is a field that names another object.
type RefAt struct {
	Path string
	Ref  Ref
	// Weak: nothing has to have that name, but what has it is in use.
	Weak bool
}

// refHolder is an object that names others.
type refHolder interface{ refs() []RefAt }

// Refs gives the fields of an object that name other objects: what is named
// is in use and can't be deleted.
func Refs(o Object) []RefAt {
	if h, ok := o.(refHolder); ok {
		return h.refs()
	}
	return nil
}
