// Package yamldoc reads YAML strictly and remembers where everything stands.
//
// It decodes into Go structs by their json tags. Unlike the decoder of the
// YAML library it goes on after a problem, so that one run shows all of them,
// and it words problems for people: place, what was expected, what was found.
// Values of fields that are tagged secret:"true" are never repeated.
//
// YAML is kept to what configuration needs: anchors, aliases, merge keys, tags
// and directives are refused, and nesting and size are bounded, so a small
// file can't grow large in memory. Keys occur once.
package yamldoc

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// Doc is one document of a file, or a part of one. The zero value is an empty
// document.
type Doc struct {
	src  *source
	body ast.Node // nil if there is nothing but comments
}

// source is what the places in a file are made from.
type source struct {
	name string
	// line, when positive, is shown instead of the line in the text, and
	// column is added to columns: for a text that is itself a part of another.
	line, column int
}

// pos makes a Position.
func (s *source) pos(line, column int) *resource.Position {
	if s == nil {
		return nil
	}
	if s.line > 0 {
		return &resource.Position{File: s.name, Line: s.line, Column: column + s.column}
	}
	return &resource.Position{File: s.name, Line: line, Column: column}
}

func (s *source) token(tk *token.Token) *resource.Position {
	if tk == nil || tk.Position == nil {
		return s.pos(1, 1)
	}
	return s.pos(tk.Position.Line, tk.Position.Column)
}

// Empty tells a document without content, or with null as its content.
func (d *Doc) Empty() bool {
	if d.body == nil {
		return true
	}
	_, null := d.body.(*ast.NullNode)
	return null
}

// Pos is where the document begins.
func (d *Doc) Pos() *resource.Position {
	if d.body == nil {
		return d.src.pos(1, 1)
	}
	return d.src.token(startToken(d.body))
}

// Text gives the text of a field of the document, if it has one.
func (d *Doc) Text(field string) (string, bool) {
	_, value := member(d.body, field)
	return text(value)
}

// Describe names what the document is, such as "a list".
func (d *Doc) Describe() string { return kindOf(d.body) }

// IsMapping tells whether the document has fields.
func (d *Doc) IsMapping() bool { return mapping(d.body) != nil }

// MarshalYAML writes the document as it was read.
func (d Doc) MarshalYAML() ([]byte, error) {
	if d.body == nil {
		return []byte("null"), nil
	}
	return []byte(d.body.String()), nil
}

// Locate finds a field by its path, such as "members[1].weight": the place of
// its value, or, for a value of several lines, of its key. A field that is not
// there gives the nearest enclosing one.
func (d *Doc) Locate(path string) *resource.Position {
	at := d.Pos()
	node := d.body
	for _, s := range splitPath(path) {
		var key, value ast.Node
		if s.isIndex {
			value = element(node, s.index)
		} else {
			key, value = member(node, s.field)
		}
		if value == nil && key == nil {
			break
		}
		at, node = d.place(key, value), value
	}
	return at
}

// place chooses between the key and the value: the value, unless it begins on
// a line of its own or there is none.
func (d *Doc) place(key, value ast.Node) *resource.Position {
	if key == nil {
		return d.src.token(startToken(value))
	}
	switch v := value.(type) {
	case nil, *ast.NullNode:
		return d.src.token(key.GetToken())
	case *ast.MappingNode:
		if !v.IsFlowStyle {
			return d.src.token(key.GetToken())
		}
	case *ast.MappingValueNode:
		return d.src.token(key.GetToken())
	case *ast.SequenceNode:
		if !v.IsFlowStyle {
			return d.src.token(key.GetToken())
		}
	}
	return d.src.token(startToken(value))
}

// startToken is the first token of a node: the library gives that of the colon
// for a mapping in block style.
func startToken(n ast.Node) *token.Token {
	switch v := n.(type) {
	case *ast.MappingNode:
		if !v.IsFlowStyle && len(v.Values) > 0 {
			return startToken(v.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return startToken(v.Key)
	case *ast.MappingKeyNode:
		return v.Start
	}
	return n.GetToken()
}

// mapping gives the entries of a node that is a mapping, else nil.
func mapping(n ast.Node) []*ast.MappingValueNode {
	switch v := n.(type) {
	case *ast.MappingNode:
		if v.Values == nil {
			return []*ast.MappingValueNode{}
		}
		return v.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{v}
	}
	return nil
}

// member finds an entry of a mapping.
func member(n ast.Node, field string) (key, value ast.Node) {
	for _, kv := range mapping(n) {
		if k, ok := text(kv.Key); ok && k == field {
			return kv.Key, kv.Value
		}
	}
	return nil, nil
}

// element finds an entry of a list.
func element(n ast.Node, i int) ast.Node {
	if s, ok := n.(*ast.SequenceNode); ok && i < len(s.Values) {
		return s.Values[i]
	}
	return nil
}

// text gives the text of a node that is one.
func text(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		if v.Value == nil {
			return "", true
		}
		return v.Value.Value, true
	case *ast.MappingKeyNode:
		return text(v.Value)
	}
	return "", false
}
