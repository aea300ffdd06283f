package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/store"
)

// Mask stands where a secret would; it is never taken as a value.
const Mask = "***"

// Decode reads an object from JSON strictly: unknown members, members in
// another case and duplicates are refused with their path. Read-only fields of
// a GET answer are ignored. kind and name may be left out if they are given.
// The secrets that the JSON sets to null are listed by path.
func Decode(k resource.Kind, name string, raw []byte) (obj resource.Object, nulls []string, problems resource.Problems) {
	ref := resource.Ref{Kind: k.Name, Name: name}
	fail := func(path, format string, args ...any) (resource.Object, []string, resource.Problems) {
		return nil, nil, resource.Problems{{Code: "invalid", Object: ref, Path: path, Message: fmt.Sprintf(format, args...)}}
	}
	var fields map[string]jsontext.Value
	if err := jsonv2.Unmarshal(raw, &fields); err != nil {
		if TooDeep(raw) {
			return fail("", "the JSON is nested too deeply; at most %d levels are read", MaxDepth)
		}
		path, message := explain(err)
		return fail(path, "%s", message)
	}
	if fields == nil {
		return fail("", "an object is expected, not null")
	}
	if written := fields["name"]; name == "" && written.Kind() == '"' {
		_ = jsonv2.Unmarshal(written, &ref.Name) // what is wrong with it is reported below
	}
	for _, path := range k.ReadOnlyFields() {
		drop(fields, path)
	}
	obj = k.New()
	cleaned, err := jsonv2.Marshal(fields, jsonv2.Deterministic(true))
	if err != nil {
		path, message := explain(err)
		return fail(path, "%s", message)
	}
	if err := jsonv2.Unmarshal(cleaned, obj, jsonv2.RejectUnknownMembers(true)); err != nil {
		path, message := explain(err)
		return fail(path, "%s", message)
	}
	for _, f := range resource.SecretFields(obj) {
		switch v := valueAt(fields, f.Path); {
		case v.Kind() == 'n':
			nulls = append(nulls, f.Path)
		case v.Kind() == '"' && *f.Value == "":
			return fail(f.Path, resource.EmptySecret)
		}
	}
	h := obj.Head()
	if h.Kind == "" {
		h.Kind = k.Name
	}
	if h.Name == "" {
		h.Name = name
	}
	switch {
	case h.Kind != k.Name:
		return fail("kind", "it is %q; %q is expected here", h.Kind, k.Name)
	case name != "" && h.Name != name:
		return fail("name", "the name %q differs from the one in the path, %q; an object can't be renamed", h.Name, name)
	}
	return obj, nulls, nil
}

// drop removes a field. A dot in its path steps into an object, or into each
// object of a list.
func drop(fields map[string]jsontext.Value, path string) {
	head, rest, nested := strings.Cut(path, ".")
	v, there := fields[head]
	if !there || !nested {
		delete(fields, head)
		return
	}
	inside := func(v jsontext.Value) jsontext.Value {
		var inner map[string]jsontext.Value
		if v.Kind() != '{' || jsonv2.Unmarshal(v, &inner) != nil {
			return v // what is wrong with it is reported later
		}
		drop(inner, rest)
		return remarshal(inner, v)
	}
	if v.Kind() != '[' {
		fields[head] = inside(v)
		return
	}
	var list []jsontext.Value
	if jsonv2.Unmarshal(v, &list) != nil {
		return
	}
	for i := range list {
		list[i] = inside(list[i])
	}
	fields[head] = remarshal(list, v)
}

func remarshal(v any, otherwise jsontext.Value) jsontext.Value {
	b, err := jsonv2.Marshal(v, jsonv2.Deterministic(true))
	if err != nil {
		return otherwise
	}
	return b
}

// valueAt is the value of the field at a path; empty if it is not there.
func valueAt(fields map[string]jsontext.Value, path string) jsontext.Value {
	head, rest, nested := strings.Cut(path, ".")
	v := fields[head]
	if len(v) == 0 || !nested {
		return v
	}
	var inner map[string]jsontext.Value
	if jsonv2.Unmarshal(v, &inner) != nil {
		return nil
	}
	return valueAt(inner, rest)
}

// explain gives the place and reason of a decoding error in plain words.
func explain(err error) (path, message string) {
	var sem *jsonv2.SemanticError
	var syn *jsontext.SyntacticError
	switch {
	case errors.As(err, &sem):
		path = pointerPath(string(sem.JSONPointer))
		switch {
		case strings.Contains(err.Error(), "unknown object member"):
			return path, "this field is not known; check its spelling"
		case sem.GoType == reflect.TypeFor[time.Time]():
			return path, "a time such as 2026-12-31T23:59:59Z is expected, not " + what(sem.JSONKind)
		case sem.JSONKind != 0 && sem.GoType != nil:
			return path, fmt.Sprintf("%s is expected, not %s", kindOfType(sem.GoType.Kind().String()), kindOfJSON(sem.JSONKind))
		}
		return path, "the value has the wrong form"
	case errors.As(err, &syn):
		path = pointerPath(string(syn.JSONPointer))
		if strings.Contains(err.Error(), "duplicate") {
			return path, "this field appears twice"
		}
		return path, fmt.Sprintf("the JSON is malformed at byte %d", syn.ByteOffset)
	}
	return "", "the JSON can't be read"
}

// what is kindOfJSON where a text of another form could stand.
func what(k jsontext.Kind) string {
	if k == '"' {
		return "this text"
	}
	return kindOfJSON(k)
}

func kindOfType(k string) string {
	switch {
	case strings.HasPrefix(k, "int"), strings.HasPrefix(k, "uint"):
		return "a whole number"
	case strings.HasPrefix(k, "float"):
		return "a number"
	case k == "string":
		return "text"
	case k == "bool":
		return "true or false"
	case k == "slice":
		return "a list"
	}
	return "an object"
}

func kindOfJSON(k jsontext.Kind) string {
	switch k {
	case '"':
		return "text"
	case '0':
		return "a number"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	case '[':
		return "a list"
	default:
		return "an object"
	}
}

// pointerPath writes "/members/0/weight" as "members[0].weight".
func pointerPath(p string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(p, "/"), "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		switch {
		case part == "":
		case strings.Trim(part, "0123456789") == "":
			b.WriteString("[" + part + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(part)
		}
	}
	return b.String()
}

// showLists makes lists and maps that JSON always shows empty ones: null is no
// list for who reads it.
func showLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			showLists(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			showLists(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f, tag := v.Field(i), v.Type().Field(i).Tag.Get("json")
			switch {
			case !f.CanSet():
			case strings.HasSuffix(tag, ",omitempty"):
				showLists(f)
			case f.Kind() == reflect.Slice && f.IsNil():
				f.Set(reflect.MakeSlice(f.Type(), 0, 0))
			case f.Kind() == reflect.Map && f.IsNil():
				f.Set(reflect.MakeMap(f.Type()))
			default:
				showLists(f)
			}
		}
	}
}

// Object is one object as the API shows it: without secrets.
type Object struct {
	resource.Object
	ID        string
	Version   int64
	Owner     store.Owner
	Source    string
	CreatedAt time.Time
	UpdatedAt time.Time
	// Extra are read-only fields of the kind, such as hasApiKey.
	Extra map[string]any
	// Modes are the credential modes of a route's members by provider.
	Modes map[string]string
	// States are how a route's members are now, by provider. Nothing here sets
	// it.
	States map[string]MemberState
	// Credential is what may be known of a virtual key's provider credential;
	// nil without one.
	Credential *Credential
}

// Credential is what is shown of a secret.
type Credential struct {
	HasAPIKey   bool   `json:"hasApiKey"`
	APIKeyLast4 string `json:"apiKeyLast4,omitempty"`
}

// MemberState is how a member of a route is.
type MemberState struct {
	State string `json:"state"`
	// Until is when the state ends; zero is not known.
	Until time.Time `json:"until,omitzero"`
}

// JSON renders the object for a GET answer: its fields, the defaults of what it
// leaves out, then the read-only fields.
func (o *Object) JSON() (json.RawMessage, error) {
	h := o.Head()
	spec, err := json.Marshal(o.Object)
	if err != nil {
		return nil, fmt.Errorf("render %s %q: %w", h.Kind, h.Name, err)
	}
	all, err := o.withDefaults(h.Kind, spec)
	if err != nil {
		return nil, fmt.Errorf("render %s %q: %w", h.Kind, h.Name, err)
	}
	extra := map[string]any{"version": o.Version, "managedBy": o.Owner}
	if !o.CreatedAt.IsZero() {
		extra["createdAt"], extra["updatedAt"] = stamp(o.CreatedAt), stamp(o.UpdatedAt)
	}
	if o.ID != "" {
		extra["id"] = o.ID
	}
	if o.Source != "" {
		extra["managedIn"] = o.Source
	}
	maps.Copy(extra, o.Extra)
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		v, err := json.Marshal(extra[name])
		if err != nil {
			return nil, fmt.Errorf("render %s %q: %w", h.Kind, h.Name, err)
		}
		all = append(all, member{name, v})
	}
	return all.json(), nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// decodeStored reads an object that this program wrote.
func decodeStored(d *store.Document) (resource.Object, error) {
	k, ok := resource.FindKind(d.Kind)
	if !ok {
		return nil, fmt.Errorf("the store holds a %s, which this version does not know", d.Kind)
	}
	o := k.New()
	if err := json.Unmarshal(d.Spec, o); err != nil {
		return nil, fmt.Errorf("read %s %q from the store: %w", d.Kind, d.Name, err)
	}
	o.Head().Kind, o.Head().Name = d.Kind, d.Name
	return o, nil
}

// place is what a sealed secret is bound to.
func place(kind, name, path string) string { return kind + "/" + name + "/" + path }

// clone copies an object.
func clone(o resource.Object) (resource.Object, error) {
	h := o.Head()
	k, ok := resource.FindKind(h.Kind)
	if !ok {
		return nil, fmt.Errorf("copy %s %q: the kind is not known", h.Kind, h.Name)
	}
	b, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("copy %s %q: %w", h.Kind, h.Name, err)
	}
	out := k.New()
	if err := json.Unmarshal(b, out); err != nil {
		return nil, fmt.Errorf("copy %s %q: %w", h.Kind, h.Name, err)
	}
	return out, nil
}

// seal replaces literal secrets of an object by sealed ones. References stay.
// One that is the stored one keeps its sealed form: nothing changed.
func (c *Control) seal(o, old resource.Object) {
	h := o.Head()
	if k, ok := o.(*resource.Key); ok {
		c.hashSecret(k)
	}
	for _, r := range resource.SecretFields(o) {
		if !resource.IsLiteralSecret(*r.Value) {
			continue
		}
		value, at := secret.New(*r.Value), place(h.Kind, h.Name, r.Path)
		if was := stored(old, r.Path); secret.IsSealed(was) && !c.opt.Box.Stale(was) {
			if v, err := c.opt.Box.Open(was, at); err == nil && v.Equal(value) {
				*r.Value = was
				continue
			}
		}
		*r.Value = c.opt.Box.Seal(value, at)
	}
}

// stored is storedSecret of an object that may not be there.
func stored(o resource.Object, path string) string {
	if o == nil {
		return ""
	}
	return storedSecret(o, path)
}

// resolveFor gives the value of any secret reference of an object.
func (c *Control) resolveFor(o resource.Object) func(ref string) (secret.String, error) {
	h := o.Head()
	return func(ref string) (secret.String, error) {
		if !secret.IsSealed(ref) {
			return c.opt.Resolve(ref)
		}
		for _, r := range resource.SecretRefs(o) {
			if r.Ref == ref {
				return c.opt.Box.Open(ref, place(h.Kind, h.Name, r.Path))
			}
		}
		return secret.String{}, secret.ErrUnsealed
	}
}
