package yamldoc

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// Decoded says how decoding went.
type Decoded struct {
	Problems resource.Problems
	// Doubtful are paths whose value is not what was written, or was meant to
	// be: there is a problem that explains it, so further ones about the same
	// path, or one above or below, only repeat it.
	Doubtful []string
	// Nulls are secrets of an object that are null in so many words.
	Nulls []string
}

// Explains tells whether a problem at path follows from one that is reported.
func (d *Decoded) Explains(path string) bool {
	return slices.ContainsFunc(d.Doubtful, func(doubt string) bool {
		return Within(path, doubt) || Within(doubt, path)
	})
}

// Within tells whether path is outer or inside it.
func Within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (outer == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Decode reads the document into a struct, which keeps its values for fields
// that the document does not have. Fields of ignore, given as paths without
// places in lists, may be there and are not read. All problems are located;
// their paths begin with at.
func (d *Doc) Decode(into any, at string, ignore []string) *Decoded {
	v := reflect.ValueOf(into).Elem()
	dec := &decoder{src: d.src, root: v.Type(), ignore: ignore}
	_, dec.object = into.(resource.Object)
	return dec.run(d.body, at, v, false)
}

// DecodeValue is Decode for one field of a larger struct, as Field finds it.
func (d *Doc) DecodeValue(v reflect.Value, at string, secret bool) *Decoded {
	dec := &decoder{src: d.src, root: v.Type()}
	return dec.run(d.body, at, v, secret)
}

type decoder struct {
	src    *source
	root   reflect.Type
	ignore []string
	// object: what is decoded is a resource.
	object bool
	out    Decoded
}

func (d *decoder) run(body ast.Node, at string, v reflect.Value, secret bool) *Decoded {
	if body != nil {
		d.value(place{path: at, node: body, secret: secret}, v)
	}
	return &d.out
}

// place is a node together with its path. key is that of its mapping, if it
// is in one.
type place struct {
	path      string
	key, node ast.Node
	secret    bool
}

// problem notes a problem at a place: at its key if the value has no place of
// its own.
func (d *decoder) problem(p place, format string, args ...any) {
	tk := startToken(p.node)
	if _, null := p.node.(*ast.NullNode); null && p.key != nil {
		tk = startToken(p.key)
	}
	d.out.Problems = append(d.out.Problems, resource.Problem{
		Code: resource.CodeInvalid, Path: p.path, Message: fmt.Sprintf(format, args...), Pos: d.src.token(tk),
	})
	d.out.Doubtful = append(d.out.Doubtful, p.path)
}

// value decodes one node.
func (d *decoder) value(p place, v reflect.Value) {
	if isDoc(v.Type()) {
		v.Set(reflect.ValueOf(Doc{src: d.src, body: p.node}))
		return
	}
	if _, null := p.node.(*ast.NullNode); null {
		d.null(p, v)
		return
	}
	if isTime(v.Type()) {
		d.time(p, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		d.value(p, fresh.Elem())
		v.Set(fresh)
	case reflect.Struct:
		d.section(p, v)
	case reflect.Slice:
		d.list(p, v)
	case reflect.Map:
		d.mapping(p, v)
	default:
		d.scalar(p, v)
	}
}

// null accepts a section whose lines are all commented out, the word null for
// a secret of an object, and nothing else: a value that somebody forgot must not
// silently mean "none".
func (d *decoder) null(p place, v reflect.Value) {
	if isSection(v.Type()) && p.key != nil {
		return
	}
	if d.object && p.secret && p.node.GetToken().Type == token.NullType {
		d.out.Nulls = append(d.out.Nulls, p.path)
		return
	}
	d.problem(p, "expected %s, found nothing; write a value or remove the line", expected(v.Type()))
}

func (d *decoder) section(p place, v reflect.Value) {
	entries := mapping(p.node)
	if entries == nil {
		d.problem(p, "expected key: value pairs, found %s", kindOf(p.node))
		return
	}
	fields := fieldsOf(v.Type())
	seen := make(map[string]ast.Node, len(entries))
	for _, kv := range entries {
		name, ok := d.key(p, kv, seen)
		if !ok {
			continue
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i >= 0 {
			f := fields[i]
			d.value(place{resource.JoinPath(p.path, name), kv.Key, kv.Value, f.secret}, v.FieldByIndex(f.index))
			continue
		}
		if path := resource.JoinPath(p.path, name); !slices.Contains(d.ignore, generic(path)) {
			d.unknown(p, kv, name, fieldNames(fields))
		}
	}
}

// key reads the key of an entry, and refuses one that is no text or occurs
// twice.
func (d *decoder) key(p place, kv *ast.MappingValueNode, seen map[string]ast.Node) (string, bool) {
	name, ok := text(kv.Key)
	at := place{path: p.path, node: kv.Key}
	if !ok {
		d.problem(at, "expected a text as key, found %s; put it in quotes", found(kv.Key, false))
		return "", false
	}
	if first, twice := seen[name]; twice {
		at.path = resource.JoinPath(p.path, name)
		d.problem(at, "this key occurs twice, first at line %d; remove one of them", d.src.token(startToken(first)).Line)
		return "", false
	}
	seen[name] = kv.Key
	return name, true
}

func (d *decoder) unknown(p place, kv *ast.MappingValueNode, name string, known []string) {
	at := place{path: resource.JoinPath(p.path, name), node: kv.Key}
	switch s, other := Suggest(name, known), elsewhere(appendPaths(nil, "", d.root, true), name); {
	case s != "":
		d.problem(at, "unknown key %s; did you mean %s?", shown(name), s)
		d.out.Doubtful = append(d.out.Doubtful, resource.JoinPath(p.path, s))
	case other != "":
		d.problem(at, "unknown key %s; did you mean %s?", shown(name), other)
	default:
		d.problem(at, "unknown key %s; known here are %s", shown(name), strings.Join(known, ", "))
	}
}

func (d *decoder) list(p place, v reflect.Value) {
	seq, ok := p.node.(*ast.SequenceNode)
	if !ok {
		d.problem(p, "expected a list, found %s; write [ … ], or one entry a line after \"- \"", kindOf(p.node))
		return
	}
	out := reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values))
	for i, n := range seq.Values {
		d.value(place{resource.IndexPath(p.path, i), nil, n, p.secret}, out.Index(i))
	}
	v.Set(out)
}

func (d *decoder) mapping(p place, v reflect.Value) {
	entries := mapping(p.node)
	if entries == nil {
		d.problem(p, "expected key: value pairs, found %s", kindOf(p.node))
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(entries))
	seen := make(map[string]ast.Node, len(entries))
	for _, kv := range entries {
		name, ok := d.key(p, kv, seen)
		if !ok {
			continue
		}
		elem := reflect.New(v.Type().Elem()).Elem()
		d.value(place{resource.JoinPath(p.path, name), kv.Key, kv.Value, p.secret}, elem)
		out.SetMapIndex(reflect.ValueOf(name), elem)
	}
	v.Set(out)
}

func (d *decoder) time(p place, v reflect.Value) {
	s, ok := text(p.node)
	if ok {
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			v.Set(reflect.ValueOf(t))
			return
		}
	}
	d.problem(p, "expected a time such as 2026-12-31T23:59:59Z, found %s", found(p.node, p.secret))
}

// generic takes the places in lists out of a path.
func generic(path string) string {
	var b strings.Builder
	for _, s := range splitPath(path) {
		if s.isIndex {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.field)
	}
	return b.String()
}
