package control

import (
	"context"
	"fmt"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

// Seed applies documents to a store that never held a configuration. It
// reports whether it did; afterwards the objects are managed through the API.
func (c *Control) Seed(ctx context.Context, actor string, docs []resource.Document) (bool, error) {
	n, err := c.opt.Store.Current(ctx)
	if err != nil {
		return false, unavailable(err)
	}
	if n > 0 || len(docs) == 0 {
		return false, c.release(ctx, actor)
	}
	b := Batch{Actor: actor, Owner: store.OwnerAPI}
	for _, d := range docs {
		b.Ops = append(b.Ops, Op{Put: d.Object})
	}
	_, err = c.Apply(ctx, b)
	return err == nil, err
}

// Empty tells whether the store can be used and never held a configuration.
func (c *Control) Empty(ctx context.Context) bool {
	n, err := c.opt.Store.Current(ctx)
	return err == nil && n == 0 && c.Degraded() == ""
}

// Begin fills a store that never held a configuration with documents and with
// keys whose secrets are made here. It is one change, so that a first start
// that breaks off leaves either nothing or a configuration with a way in.
func (c *Control) Begin(ctx context.Context, actor string, docs []resource.Document, keys ...*resource.Key) ([]*NewKey, error) {
	b := Batch{Actor: actor, Owner: store.OwnerAPI}
	out := make([]*NewKey, len(keys))
	for i, k := range keys {
		id, s := newID(), newSecret()
		out[i] = &NewKey{Secret: s}
		b.Ops = append(b.Ops, Op{Put: k, Create: true, id: id})
		b.keys.add = append(b.keys.add, keySecret(s, id, c.opt.Now()))
	}
	for _, d := range docs {
		b.Ops = append(b.Ops, Op{Put: d.Object, Create: true})
	}
	r, err := c.Apply(ctx, b)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Object = r.Objects[i]
	}
	return out, nil
}

// release gives objects that a file owned to the API: the file does not
// enforce them any more.
func (c *Control) release(ctx context.Context, actor string) error {
	s, err := c.State(ctx)
	if err != nil {
		return err
	}
	b := Batch{Actor: actor, Owner: store.OwnerAPI, TakeOver: true}
	for i := range s.Documents {
		if s.Documents[i].Owner == store.OwnerFile {
			o, err := decodeStored(&s.Documents[i])
			if err != nil {
				return err
			}
			b.Ops = append(b.Ops, Op{Put: o, restored: true})
		}
	}
	if len(b.Ops) == 0 {
		return nil
	}
	_, err = c.Apply(ctx, b)
	return err
}

// Enforce makes the documents of the file what they say, takes them over from
// the API if need be, and deletes what the file owned and no longer has.
func (c *Control) Enforce(ctx context.Context, actor string, docs []resource.Document) (*Result, error) {
	s, err := c.State(ctx)
	if err != nil {
		return nil, err
	}
	b := Batch{Actor: actor, Owner: store.OwnerFile, TakeOver: true}
	listed := map[resource.Ref]bool{}
	for _, d := range docs {
		h := d.Object.Head()
		listed[resource.Ref{Kind: h.Kind, Name: h.Name}] = true
		source := "the configuration file"
		if d.Locate != nil {
			if p := d.Locate(""); p != nil {
				source = fmt.Sprintf("%s:%d", p.File, p.Line)
			}
		}
		b.Ops = append(b.Ops, Op{Put: d.Object, Source: source, whole: true})
	}
	for i := range s.Documents {
		d := &s.Documents[i]
		if ref := (resource.Ref{Kind: d.Kind, Name: d.Name}); d.Owner == store.OwnerFile && !listed[ref] {
			b.Ops = append(b.Ops, Op{Ref: ref})
		}
	}
	return c.Apply(ctx, b)
}
