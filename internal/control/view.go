package control

import (
	"context"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

// result shows what a change came to.
func (c *Control) result(s *store.State, b *Batch, changes []store.Change) (*Result, error) {
	diffs, err := Diffs(changes)
	if err != nil {
		return nil, err
	}
	r := &Result{Revision: s.Revision, Changes: diffs}
	if b.DryRun && len(changes) == 0 {
		r.Revision-- // it would make no version
	}
	for i := range b.Ops {
		if b.Ops[i].Put == nil {
			continue
		}
		ref := b.Ops[i].ref()
		if at := slices.IndexFunc(s.Documents, func(d store.Document) bool { return d.Kind == ref.Kind && d.Name == ref.Name }); at >= 0 {
			o, err := c.view(s, &s.Documents[at])
			if err != nil {
				return nil, err
			}
			r.Objects = append(r.Objects, o)
		}
	}
	return r, nil
}

// view shows a document without its secrets.
func (c *Control) view(s *store.State, d *store.Document) (*Object, error) {
	o, err := decodeStored(d)
	if err != nil {
		return nil, err
	}
	out := &Object{Object: o, ID: d.ID, Version: d.Version, Owner: d.Owner, Source: d.Source, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, Extra: map[string]any{}}
	resolve := c.resolveFor(o)
	for _, f := range resource.SecretFields(o) {
		switch {
		case *f.Value == "":
		case f.Path == "apiKey":
			out.Extra["hasApiKey"] = true
			if v, err := resolve(*f.Value); err == nil {
				out.Extra["apiKeyLast4"] = v.Last4()
			}
		}
	}
	if p, ok := o.(*resource.Provider); ok {
		if p.APIKey == "" {
			out.Extra["hasApiKey"] = false
		}
		out.Extra["credentialMode"] = CredentialMode(p)
	}
	if r, ok := o.(*resource.Route); ok {
		out.Extra["tag"] = "stored"
		if out.Modes, err = modesOf(s, r); err != nil {
			return nil, err
		}
	}
	if _, ok := o.(*resource.Key); ok {
		c.viewKey(s, d, out)
	}
	if warnings := resource.Warnings(o); len(warnings) > 0 {
		texts := make([]string, len(warnings))
		for i, w := range warnings {
			texts[i] = w.Path + ": " + w.Message
		}
		out.Extra["warnings"] = texts
	}
	for _, f := range resource.SecretFields(o) {
		if resource.IsSealedSecret(*f.Value) {
			*f.Value = "" // write-only
		}
	}
	return out, nil
}

// modesOf are the credential modes of a route's members.
func modesOf(s *store.State, r *resource.Route) (map[string]string, error) {
	modes := make(map[string]string, len(r.Members))
	for _, m := range r.Members {
		d := find(s, "Provider", m.Provider)
		if d == nil {
			continue
		}
		o, err := decodeStored(d)
		if err != nil {
			return nil, err
		}
		if p, ok := o.(*resource.Provider); ok {
			modes[m.Provider] = CredentialMode(p)
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
	for i := range s.Documents {
		if s.Documents[i].Kind != kind {
			continue
		}
		o, err := c.view(s, &s.Documents[i])
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
	return c.view(s, d)
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
