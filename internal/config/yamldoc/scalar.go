package yamldoc

import (
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// wholeNumber is a number that the YAML library leaves as text when it is too
// large.
var wholeNumber = regexp.MustCompile(`^[+-]?[0-9][0-9_]*$`)

func (d *decoder) scalar(p place, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		d.text(p, v)
	case reflect.Bool:
		if b, ok := p.node.(*ast.BoolNode); ok {
			v.SetBool(b.Value)
			return
		}
		d.problem(p, "expected true or false, found %s", found(p.node, p.secret))
	case reflect.Int, reflect.Int64:
		d.whole(p, v)
	case reflect.Float64:
		d.float(p, v)
	default:
		panic("yamldoc: no YAML for Go type " + v.Type().String())
	}
}

func (d *decoder) text(p place, v reflect.Value) {
	s, ok := text(p.node)
	if !ok {
		hint := ""
		if isPlain(p.node) {
			hint = "; put it in quotes"
		}
		d.problem(p, "expected a text, found %s%s", found(p.node, p.secret), hint)
		return
	}
	if s == "" && p.secret && d.object {
		d.problem(p, "%s", resource.EmptySecret)
		return
	}
	v.SetString(s)
}

func (d *decoder) whole(p place, v reflect.Value) {
	n, ok := p.node.(*ast.IntegerNode)
	if !ok {
		if s, plain := plainText(p.node); plain && wholeNumber.MatchString(s) {
			d.problem(p, "the number %s is too large", shown(s))
			return
		}
		d.problem(p, "expected a whole number, found %s%s", found(p.node, p.secret), unquoteHint(p.node))
		return
	}
	if written := strings.TrimLeft(n.Token.Value, "+-"); len(written) > 1 && written[0] == '0' && isDigit(written[1]) {
		d.problem(p, "the number %s begins with 0, which YAML takes for an octal number; write it without", shown(n.Token.Value))
		return
	}
	switch x := n.Value.(type) {
	case int64:
		v.SetInt(x)
	case uint64:
		if x > math.MaxInt64 {
			d.problem(p, "the number %s is too large", shown(n.Token.Value))
			return
		}
		v.SetInt(int64(x))
	}
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func (d *decoder) float(p place, v reflect.Value) {
	switch n := p.node.(type) {
	case *ast.FloatNode:
		v.SetFloat(n.Value)
		return
	case *ast.IntegerNode:
		switch x := n.Value.(type) {
		case int64:
			v.SetFloat(float64(x))
		case uint64:
			v.SetFloat(float64(x))
		}
		return
	}
	// The library leaves 1e3 as text.
	if s, plain := plainText(p.node); plain {
		if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			v.SetFloat(f)
			return
		}
	}
	d.problem(p, "expected a number, found %s%s", found(p.node, p.secret), unquoteHint(p.node))
}

// plainText gives a text that is not quoted.
func plainText(n ast.Node) (string, bool) {
	s, ok := n.(*ast.StringNode)
	if !ok || s.Token.Type != token.StringType {
		return "", false
	}
	return s.Value, true
}

// unquoteHint helps with a quoted number.
func unquoteHint(n ast.Node) string {
	s, ok := n.(*ast.StringNode)
	if !ok || s.Token.Type == token.StringType {
		return ""
	}
	if _, err := strconv.ParseFloat(s.Value, 64); err != nil {
		return ""
	}
	return "; remove the quotes"
}

// isPlain tells a scalar that quotes would make a text.
func isPlain(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return true
	}
	return false
}

// kindOf names what a node is, without its value.
func kindOf(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "key: value pairs"
	case *ast.BoolNode:
		return "true or false"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	}
	return "a text"
}

// found names what a node is, with its value if it is short and no secret.
func found(n ast.Node, secret bool) string {
	if secret {
		return kindOf(n)
	}
	switch v := n.(type) {
	case *ast.BoolNode:
		return strconv.FormatBool(v.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + shorten(n.GetToken().Value)
	}
	if s, ok := text(n); ok {
		return "the text " + shown(s)
	}
	return kindOf(n)
}

// expected names what a field takes.
func expected(t reflect.Type) string {
	if isTime(t) {
		return "a time"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return expected(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list (write [] for none)"
	}
	return "key: value pairs"
}

// shown quotes a text for a message, shortened.
func shown(s string) string { return strconv.Quote(shorten(s)) }

func shorten(s string) string {
	const limit = 40
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
