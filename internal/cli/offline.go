package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

// compare says what leads from one set of documents to another. What is not in
// the second one is deleted.
func compare(before, after *documentSet) (*plan, error) {
	old, next := byRef(before), byRef(after)
	refs := slices.Collect(maps.Keys(old))
	for ref := range next {
		if old[ref] == nil {
			refs = append(refs, ref)
		}
	}
	var changes []store.Change
	for _, ref := range refs {
		c, err := change(ref, old[ref], next[ref])
		if err != nil {
			return nil, err
		}
		if c != nil {
			changes = append(changes, *c)
		}
	}
	diffs, err := control.Diffs(changes)
	if err != nil {
		return nil, err
	}
	p := &plan{Changes: diffs}
	p.sort()
	return p, nil
}

func byRef(s *documentSet) map[resource.Ref]resource.Object {
	out := map[resource.Ref]resource.Object{}
	for _, d := range s.docs {
		out[refOf(d.Object)] = d.Object
	}
	return out
}

// change says what happens to one object, with its secrets masked; nil if it
// stays the same.
func change(ref resource.Ref, before, after resource.Object) (*store.Change, error) {
	c := &store.Change{Kind: ref.Kind, Name: ref.Name}
	if before != nil && after != nil {
		a, err := json.Marshal(before)
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", ref, err)
		}
		b, err := json.Marshal(after)
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", ref, err)
		}
		if bytes.Equal(a, b) {
			return nil, nil
		}
	}
	var err error
	if before != nil {
		if c.Before, err = masked(before, nil); err != nil {
			return nil, err
		}
	}
	if after != nil {
		c.After, err = masked(after, before)
	}
	return c, err
}

// masked is an object as JSON in which masks stand for written-out secrets; the
// mask of one that differs from was says so.
func masked(o, was resource.Object) (json.RawMessage, error) {
	ref := refOf(o)
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", ref, err)
	}
	kind, ok := resource.FindKind(ref.Kind)
	if !ok {
		return nil, fmt.Errorf("compare %s: the kind is not known", ref)
	}
	shown := kind.New()
	if err := json.Unmarshal(raw, shown); err != nil {
		return nil, fmt.Errorf("compare %s: %w", ref, err)
	}
	for _, f := range resource.SecretFields(shown) {
		if !resource.IsLiteralSecret(*f.Value) {
			continue
		}
		before := secretAt(was, f.Path)
		same := before == *f.Value
		*f.Value = control.Mask
		if !same && resource.IsLiteralSecret(before) {
			*f.Value += " (changed)"
		}
	}
	return json.Marshal(shown)
}

// secretAt is the secret reference in a field of an object; empty if there is
// none.
func secretAt(o resource.Object, path string) string {
	if o == nil {
		return ""
	}
	for _, f := range resource.SecretFields(o) {
		if f.Path == path {
			return *f.Value
		}
	}
	return ""
}
