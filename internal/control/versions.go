package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/store"
)

var rotationSuffix = regexp.MustCompile(`-r[0-9]+$`)

// Version is a configuration version as the API shows it.
type Version struct {
	*store.Revision
	Diffs []Diff
}

// Versions lists configuration versions, newest first, before the given one
// (0: from the newest).
func (c *Control) Versions(ctx context.Context, before int64, limit int) ([]store.Revision, error) {
	r, err := c.opt.Store.Revisions(ctx, before, limit)
	return r, unavailable(err)
}

// Version shows one version and all objects as they were.
func (c *Control) Version(ctx context.Context, n int64) (*Version, []*Object, error) {
	rev, err := c.opt.Store.RevisionOf(ctx, n)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil, &Error{Status: 404, Code: "not_found", Detail: fmt.Sprintf("there is no configuration version %d", n)}
	}
	if err != nil {
		return nil, nil, unavailable(err)
	}
	docs, err := c.at(ctx, n)
	if err != nil {
		return nil, nil, err
	}
	s := &store.State{Revision: n, Documents: docs}
	objects := make([]*Object, len(docs))
	v := &viewer{c: c, s: s} // another state may be published: no warnings of the whole
	for i := range docs {
		if objects[i], err = v.view(&docs[i]); err != nil {
			return nil, nil, err
		}
	}
	diffs, err := c.Compare(ctx, n-1, n)
	if err != nil {
		return nil, nil, err
	}
	return &Version{Revision: rev, Diffs: diffs}, objects, nil
}

// at reads the documents of a version; version 0 is empty.
func (c *Control) at(ctx context.Context, n int64) ([]store.Document, error) {
	if n == 0 {
		return nil, nil
	}
	docs, err := c.opt.Store.At(ctx, n)
	if errors.Is(err, store.ErrNotFound) {
		return nil, &Error{Status: 404, Code: "not_found", Detail: fmt.Sprintf("there is no configuration version %d", n)}
	}
	return docs, unavailable(err)
}

// Compare says what differs from version a to version b.
func (c *Control) Compare(ctx context.Context, a, b int64) ([]Diff, error) {
	before, err := c.at(ctx, a)
	if err != nil {
		return nil, err
	}
	after, err := c.at(ctx, b)
	if err != nil {
		return nil, err
	}
	return Diffs(c.mask(&store.State{Documents: before}, &store.State{Documents: after}))
}

// Restore makes a new version that is like an old one, checked like any
// change. Objects that a file owns stay as they are. Secrets of keys that were
// revoked or replaced since then do too: a revoked key comes back without. So
// does a user who was deleted; others keep the password that they have.
func (c *Control) Restore(ctx context.Context, actor string, n int64, dryRun bool) (*Result, error) {
	docs, err := c.at(ctx, n)
	if err != nil {
		return nil, err
	}
	now, err := c.State(ctx)
	if err != nil {
		return nil, err
	}
	b := Batch{Actor: actor, Owner: store.OwnerAPI, DryRun: dryRun}
	then := map[resource.Ref]bool{}
	for i := range docs {
		ref := resource.Ref{Kind: docs[i].Kind, Name: docs[i].Name}
		then[ref] = true
		if d := find(now, ref.Kind, ref.Name); d != nil && (d.Owner == store.OwnerFile || string(d.Spec) == string(docs[i].Spec)) {
			continue
		}
		o, err := decodeStored(&docs[i])
		if err != nil {
			return nil, err
		}
		if k, ok := o.(*resource.Key); ok && (wasRevoked(now, docs[i].ID) || c.kept(now, k)) {
			k.Secret = ""
		}
		if err := keepPassword(o, find(now, ref.Kind, ref.Name)); err != nil {
			return nil, err
		}
		b.Ops = append(b.Ops, Op{Put: o, restored: true, id: docs[i].ID})
	}
	for i := range now.Documents {
		d := &now.Documents[i]
		if ref := (resource.Ref{Kind: d.Kind, Name: d.Name}); !then[ref] && d.Owner != store.OwnerFile {
			b.Ops = append(b.Ops, Op{Ref: ref})
		}
	}
	return c.Apply(ctx, b)
}

// Export lists every object in a fixed order for documents: by kind as the
// kinds are listed, then by name, without read-only fields and without
// secrets that are not references.
func (c *Control) Export(ctx context.Context) ([]json.RawMessage, error) {
	var out []json.RawMessage
	for _, k := range resource.Kinds() {
		objects, err := c.List(ctx, k.Name)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			b, err := json.Marshal(o.Object)
			if err != nil {
				return nil, fmt.Errorf("export %s %q: %w", k.Name, o.Head().Name, err)
			}
			out = append(out, b)
		}
	}
	return out, nil
}

// CompileAt makes the snapshot of an old version, for explaining what it
// decided. Secrets are left out: what can't be opened any more, or a reference
// that is gone, stands for one that was there. Keys are there by name only, with
// their restrictions, and admit nobody.
func (c *Control) CompileAt(ctx context.Context, n int64) (*snapshot.Live, error) {
	docs, err := c.at(ctx, n)
	if err != nil {
		return nil, err
	}
	objects := make([]resource.Document, 0, len(docs))
	var keys []snapshot.KeySecret
	for i := range docs {
		o, err := decodeStored(&docs[i])
		if err != nil {
			return nil, err
		}
		if k, ok := o.(*resource.Key); ok {
			k.Secret = ""
			keys = append(keys, snapshot.KeySecret{Hash: nobodys(k.Name), Key: k.Name})
		}
		objects = append(objects, resource.Document{Object: o})
	}
	live, problems := c.opt.Compile(objects, snapshot.Deps{Revision: uint64(max(n, 0)), Keys: keys, Resolve: func(o resource.Object, ref string) (secret.String, error) {
		if ref == "" {
			return secret.String{}, nil
		}
		if v, err := c.resolveFor(o)(ref); err == nil {
			return v, nil
		}
		return secret.New("sk-ant-not-available"), nil
	}})
	if len(problems) > 0 {
		return nil, fmt.Errorf("version %d is not valid in this program: %w", n, problems)
	}
	return live, nil
}

// Recompile makes and publishes the snapshot of the newest revision again,
// since the secrets behind references may have changed.
func (c *Control) Recompile(ctx context.Context) error {
	state, err := c.State(ctx)
	if err != nil {
		return err
	}
	done, problems, err := c.compile(state, nil)
	if err != nil {
		return err
	}
	if problems = append(problems, c.lost(done.live.Warnings)...); len(problems) > 0 {
		return problems
	}
	c.publish(state, done.live)
	return nil
}

// lost are the keys that admit nobody any more, for what is behind their
// references now. A start serves everybody else; a running server has a good
// snapshot and keeps it.
func (c *Control) lost(warnings resource.Problems) (lost resource.Problems) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range warnings {
		same := func(old resource.Problem) bool { return old.Code == w.Code && old.Path == w.Path }
		if w.Object.Kind == "Key" && w.Code == "secret" && w.Path == "secret" && !slices.ContainsFunc(c.warnings[w.Object], same) {
			lost = append(lost, w)
		}
	}
	return lost
}
