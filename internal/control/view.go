package control

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/store"
)

// viewer shows the objects of one state.
type viewer struct {
	c *Control
	s *store.State
	// warnings are the compiler's, by object; nil if nobody asked the compiler
	// about this state.
	warnings map[resource.Ref]resource.Problems
	// users are what uses each provider; nil until they are needed.
	users map[string][]resource.Ref
	// modes are the credential modes of providers; nil until they are needed.
	modes map[string]string
	// issued are the secrets of keys by their ids; nil until they are needed.
	issued map[string][]store.KeySecret
}

// viewer shows a state. live is its snapshot; nil is the published one, if that
// is of this state.
func (c *Control) viewer(s *store.State, live *snapshot.Live) *viewer {
	v := &viewer{c: c, s: s}
	if live != nil {
		v.warnings = byObject(live.Warnings)
		return v
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started && s.Revision == c.revision {
		v.warnings = c.warnings
	}
	return v
}

// byObject sorts warnings by the object that they are about.
func byObject(all resource.Problems) map[resource.Ref]resource.Problems {
	out := map[resource.Ref]resource.Problems{}
	for _, p := range all {
		out[p.Object] = append(out[p.Object], p)
	}
	return out
}

// result shows what a change came to. live is the snapshot of the state; nil is
// the published one.
func (c *Control) result(s *store.State, live *snapshot.Live, b *Batch, changes []store.Change) (*Result, error) {
	diffs, err := Diffs(changes)
	if err != nil {
		return nil, err
	}
	diffs = withReplaced(diffs, b.replaced, s)
	r := &Result{Revision: s.Revision, Changes: diffs}
	if b.DryRun && len(diffs) == 0 {
		r.Revision-- // it would make no version
	}
	v := c.viewer(s, live)
	for i := range b.Ops {
		if b.Ops[i].Put == nil {
			continue
		}
		ref := b.Ops[i].ref()
		if at := slices.IndexFunc(s.Documents, func(d store.Document) bool { return d.Kind == ref.Kind && d.Name == ref.Name }); at >= 0 {
			o, err := v.view(&s.Documents[at])
			if err != nil {
				return nil, err
			}
			r.Objects = append(r.Objects, o)
		}
	}
	return r, nil
}

// view shows a document without its secrets.
func (v *viewer) view(d *store.Document) (*Object, error) {
	o, err := decodeStored(d)
	if err != nil {
		return nil, err
	}
	out := &Object{Object: o, ID: d.ID, Version: d.Version, Owner: d.Owner, Source: d.Source, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, Extra: map[string]any{}}
	switch o := o.(type) {
	case *resource.Provider:
		err = v.provider(o, out)
	case *resource.Route:
		out.Extra["tag"] = "stored"
		out.Modes, err = v.modesOf(o)
	case *resource.Key:
		v.key(d, o, out)
	case *resource.User:
		out.Extra["hasPassword"] = o.Password != ""
	}
	if err != nil {
		return nil, err
	}
	if texts := v.warningsOf(o); len(texts) > 0 {
		out.Extra["warnings"] = texts
	}
	for _, f := range resource.SecretFields(o) {
		if resource.IsSealedSecret(*f.Value) {
			*f.Value = "" // write-only
		}
	}
	return out, nil
}

// provider adds what is known of a provider's key, and who uses the provider.
func (v *viewer) provider(p *resource.Provider, out *Object) error {
	out.Extra["credentialMode"], out.Extra["hasApiKey"] = CredentialMode(p), p.APIKey != ""
	if p.APIKey != "" {
		if key, err := v.c.resolveFor(p)(p.APIKey); err == nil {
			out.Extra["apiKeyLast4"] = key.Last4()
		}
	}
	if v.users == nil {
		var err error
		if v.users, err = providerUsers(v.s); err != nil {
			return err
		}
	}
	out.Extra["usedBy"] = append([]resource.Ref{}, v.users[p.Name]...)
	return nil
}

// providerUsers finds the routes and keys that name each provider, whether they
// are switched on or not: none of them lets the provider be deleted.
func providerUsers(s *store.State) (map[string][]resource.Ref, error) {
	out := map[string][]resource.Ref{}
	for i := range s.Documents {
		d := &s.Documents[i]
		if d.Kind != "Route" && d.Kind != "Key" {
			continue
		}
		o, err := decodeStored(d)
		if err != nil {
			return nil, err
		}
		user := resource.Ref{Kind: d.Kind, Name: d.Name}
		for _, r := range resource.Refs(o) {
			known := out[r.Ref.Name]
			if r.Ref.Kind == "Provider" && (len(known) == 0 || known[len(known)-1] != user) { // a user's references are together
				out[r.Ref.Name] = append(known, user)
			}
		}
	}
	for _, users := range out {
		slices.SortFunc(users, func(a, b resource.Ref) int {
			return cmp.Or(strings.Compare(b.Kind, a.Kind), strings.Compare(a.Name, b.Name)) // routes first
		})
	}
	return out, nil
}

// warningsOf are the warnings of an object in the whole configuration, or, if
// those are not known, of the object by itself.
func (v *viewer) warningsOf(o resource.Object) []string {
	list := v.warnings[resource.Ref{Kind: o.Head().Kind, Name: o.Head().Name}]
	if v.warnings == nil {
		list = resource.Warnings(o)
	}
	texts := make([]string, 0, len(list))
	for _, w := range list {
		text := w.Message
		if w.Path != "" {
			text = w.Path + ": " + text
		}
		texts = append(texts, text)
	}
	return texts
}

// modesOf are the credential modes of a route's members. Those of all providers
// are read once for a whole list.
func (v *viewer) modesOf(r *resource.Route) (map[string]string, error) {
	if v.modes == nil {
		v.modes = map[string]string{}
		for i := range v.s.Documents {
			d := &v.s.Documents[i]
			if d.Kind != "Provider" {
				continue
			}
			o, err := decodeStored(d)
			if err != nil {
				return nil, err
			}
			if p, ok := o.(*resource.Provider); ok {
				v.modes[p.Name] = CredentialMode(p)
			}
		}
	}
	modes := make(map[string]string, len(r.Members))
	for _, m := range r.Members {
		if mode, ok := v.modes[m.Provider]; ok {
			modes[m.Provider] = mode
		}
	}
	return modes, nil
}

// CredentialMode is RS-PROV-2: org-key with a key or for a keyless local
// vendor, else passthrough.
func CredentialMode(p *resource.Provider) string {
	if p.APIKey != "" || p.Vendor == "ollama" || p.Vendor == "vllm" {
		return "org-key"
	}
	return "passthrough"
}

// State reads the newest configuration.
func (c *Control) State(ctx context.Context) (*store.State, error) {
	s, err := c.opt.Store.Load(ctx)
	return s, unavailable(err)
}

// List shows the objects of a kind, by name.
func (c *Control) List(ctx context.Context, kind string) ([]*Object, error) {
	s, err := c.State(ctx)
	if err != nil {
		return nil, err
	}
	var out []*Object
	v := c.viewer(s, nil)
	for i := range s.Documents {
		if s.Documents[i].Kind != kind {
			continue
		}
		o, err := v.view(&s.Documents[i])
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b *Object) int { return strings.Compare(a.Head().Name, b.Head().Name) })
	return out, nil
}

// Get shows one object by name, or by id for a kind that has ids.
func (c *Control) Get(ctx context.Context, kind, name string) (*Object, error) {
	s, err := c.State(ctx)
	if err != nil {
		return nil, err
	}
	d := find(s, kind, name)
	if d == nil {
		return nil, notFound(kind, name)
	}
	return c.viewer(s, nil).view(d)
}

// find looks a document up by id or name. An id comes first, or a key that is
// named like the id of another would stand in front of it.
func find(s *store.State, kind, name string) *store.Document {
	var named *store.Document
	for i := range s.Documents {
		d := &s.Documents[i]
		switch {
		case d.Kind != kind:
		case d.ID != "" && d.ID == name:
			return d
		case d.Name == name:
			named = d
		}
	}
	return named
}
