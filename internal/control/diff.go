package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

// Diff is what happens to one object.
type Diff struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Action is create, update or delete.
	Action string      `json:"action" enum:"create,update,delete"`
	Fields []FieldDiff `json:"fields,omitempty"`
}

// FieldDiff is what happens to one field.
type FieldDiff struct {
	// Path is the field, such as "members[1].weight".
	Path   string `json:"path"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
}

// String says the difference in words, a line for the object and one for each
// field.
func (d Diff) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %q", d.Action, d.Kind, d.Name)
	for _, f := range d.Fields {
		fmt.Fprintf(&b, "\n  %s: %s -> %s", f.Path, show(f.Before), show(f.After))
	}
	return b.String()
}

func show(v any) string {
	if v == nil {
		return "(not set)"
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read it
	if enc.Encode(v) != nil {
		return "?"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Diffs lists field by field what changes do.
func Diffs(changes []store.Change) ([]Diff, error) {
	out := make([]Diff, 0, len(changes))
	for _, c := range changes {
		d := Diff{Kind: c.Kind, Name: c.Name, Action: "update"}
		before, err := flatten(c.Before)
		if err != nil {
			return nil, err
		}
		after, err := flatten(c.After)
		if err != nil {
			return nil, err
		}
		switch {
		case c.Before == nil:
			d.Action = "create"
		case c.After == nil:
			d.Action = "delete"
		}
		paths := make([]string, 0, len(before)+len(after))
		for p := range before {
			paths = append(paths, p)
		}
		for p := range after {
			if _, both := before[p]; !both {
				paths = append(paths, p)
			}
		}
		slices.Sort(paths)
		for _, p := range paths {
			if !reflect.DeepEqual(before[p], after[p]) {
				d.Fields = append(d.Fields, FieldDiff{Path: p, Before: before[p], After: after[p]})
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// flatten lists the leaves of a spec by path.
func flatten(spec json.RawMessage) (map[string]any, error) {
	out := map[string]any{}
	if spec == nil {
		return out, nil
	}
	dec := json.NewDecoder(bytes.NewReader(spec))
	dec.UseNumber()
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("compare specs: %w", err)
	}
	delete(v, "kind")
	delete(v, "name")
	leaves(out, "", v)
	return out, nil
}

func leaves(out map[string]any, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			leaves(out, resource.JoinPath(path, k), e)
		}
	case []any:
		for i, e := range v {
			leaves(out, path+"["+strconv.Itoa(i)+"]", e)
		}
	default:
		out[path] = v
	}
}

// Summary says changes in one line: "create Route \"chat\", update Provider
// \"main\" and 3 more".
func Summary(changes []store.Change) string {
	if len(changes) == 0 {
		return "no change"
	}
	parts := make([]string, 0, 3)
	for i, c := range changes {
		if i == 3 && len(changes) > 4 {
			return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", len(changes)-3)
		}
		action := "update"
		switch {
		case c.Before == nil:
			action = "create"
		case c.After == nil:
			action = "delete"
		}
		parts = append(parts, fmt.Sprintf("%s %s %q", action, c.Kind, c.Name))
	}
	return strings.Join(parts, ", ")
}

// summarize says in one line what a change does, also to who manages what.
func summarize(before, after *store.State, changes []store.Change) string {
	type key struct{ kind, name string }
	old := make(map[key]*store.Document, len(before.Documents))
	for i := range before.Documents {
		d := &before.Documents[i]
		old[key{d.Kind, d.Name}] = d
	}
	moved := map[store.Owner]int{}
	places := 0
	for i := range after.Documents {
		d := &after.Documents[i]
		switch was := old[key{d.Kind, d.Name}]; {
		case was == nil:
		case was.Owner != d.Owner:
			moved[d.Owner]++
		case was.Source != d.Source:
			places++
		}
	}
	var parts []string
	if len(changes) > 0 {
		parts = append(parts, Summary(changes))
	}
	if n := moved[store.OwnerFile]; n > 0 {
		parts = append(parts, objects(n)+" managed in the configuration file from now on")
	}
	if n := moved[store.OwnerAPI]; n > 0 {
		parts = append(parts, objects(n)+" managed through the API from now on")
	}
	if len(parts) == 0 && places > 0 {
		parts = append(parts, objects(places)+" at another place in the configuration file")
	}
	if len(parts) == 0 {
		return Summary(nil)
	}
	return strings.Join(parts, "; ")
}

func objects(n int) string {
	if n == 1 {
		return "1 object is"
	}
	return strconv.Itoa(n) + " objects are"
}

// mask lists what differs between two states, with every secret masked. A
// changed secret shows as a changed mask.
func (c *Control) mask(before, after *store.State) []store.Change {
	type key struct{ kind, name string }
	old := make(map[key]*store.Document, len(before.Documents))
	for i := range before.Documents {
		d := &before.Documents[i]
		old[key{d.Kind, d.Name}] = d
	}
	var out []store.Change
	for i := range after.Documents {
		d := &after.Documents[i]
		was := old[key{d.Kind, d.Name}]
		delete(old, key{d.Kind, d.Name})
		switch {
		case was == nil:
			out = append(out, store.Change{Kind: d.Kind, Name: d.Name, After: maskSpec(d, nil)})
		case !bytes.Equal(was.Spec, d.Spec):
			out = append(out, store.Change{Kind: d.Kind, Name: d.Name, Before: maskSpec(was, nil), After: maskSpec(d, was)})
		}
	}
	for i := range before.Documents { // in the store's order
		d := &before.Documents[i]
		if old[key{d.Kind, d.Name}] != nil {
			out = append(out, store.Change{Kind: d.Kind, Name: d.Name, Before: maskSpec(d, nil)})
		}
	}
	return out
}

// maskSpec hides the sealed secrets of a document; one that replaces another is
// marked.
func maskSpec(d, was *store.Document) json.RawMessage {
	o, err := decodeStored(d)
	if err != nil {
		return json.RawMessage(`{}`) // rather nothing than a secret
	}
	var old resource.Object
	if was != nil {
		if old, err = decodeStored(was); err != nil {
			old = nil
		}
	}
	for _, f := range resource.SecretFields(o) {
		if !resource.IsSealedSecret(*f.Value) {
			continue
		}
		before := stored(old, f.Path)
		if resource.IsSealedSecret(before) && before != *f.Value {
			*f.Value = Mask + " (changed)"
		} else {
			*f.Value = Mask
		}
	}
	b, err := json.Marshal(o)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return b
}

// replacedWords say of the issued secret of a key, by its last characters, that
// the document's takes its place.
func replacedWords(last4 string) string {
	return "the issued secret …" + last4 + ", which stops working"
}

// withReplaced says in the changes of keys which secrets end because the
// documents name others.
func withReplaced(diffs []Diff, replaced map[string]string, after *store.State) []Diff {
	for _, name := range slices.Sorted(maps.Keys(replaced)) {
		at := slices.IndexFunc(diffs, func(d Diff) bool { return d.Kind == "Key" && d.Name == name })
		if at < 0 {
			at = len(diffs)
			diffs = append(diffs, Diff{Kind: "Key", Name: name, Action: "update"})
		}
		d := &diffs[at]
		field := slices.IndexFunc(d.Fields, func(f FieldDiff) bool { return f.Path == "secret" })
		if field < 0 {
			field = len(d.Fields)
			d.Fields = append(d.Fields, FieldDiff{Path: "secret", After: shownSecret(after, name)})
		}
		d.Fields[field].Before = replacedWords(replaced[name])
	}
	return diffs
}

// shownSecret is the secret that a key's document names, as it may be shown.
func shownSecret(s *store.State, name string) any {
	d := find(s, "Key", name)
	if d == nil {
		return Mask
	}
	k, err := decodeKey(d)
	if err != nil || resource.IsSealedSecret(k.Secret) {
		return Mask
	}
	return k.Secret
}

// sayReplaced is withReplaced for the summary of a change.
func sayReplaced(replaced map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(replaced)) {
		fmt.Fprintf(&b, "; the document's secret of Key %q takes the issued one's place", name)
	}
	return b.String()
}
