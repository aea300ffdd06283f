package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/store"
)

// compare says what leads from one set of documents to another, in the very way
// of a server: the first set is applied to a store in memory, the second one
// tried there. What is not in the second one is deleted.
func (e *environment) compare(ctx context.Context, before, after *documentSet) (*plan, error) {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	box, err := secret.NewBox(key[:])
	if err != nil {
		return nil, err
	}
	c := control.New(control.Options{
		Store: &memory{}, Box: box, Log: slog.New(slog.DiscardHandler), Now: e.now,
		Resolve: func(string) (secret.String, error) { return secret.String{}, errOffline },
		Publish: func(*snapshot.Live) {},
		Compile: func([]resource.Document, snapshot.Deps) (*snapshot.Live, resource.Problems) {
			return &snapshot.Live{}, nil // the sets are checked already
		},
	})
	if _, err := c.Apply(ctx, control.Batch{Owner: store.OwnerAPI, Ops: puts(before)}); err != nil {
		return nil, err
	}
	ops := puts(after)
	for _, d := range before.docs {
		if ref := refOf(d.Object); !slices.ContainsFunc(after.docs, func(d resource.Document) bool { return refOf(d.Object) == ref }) {
			ops = append(ops, control.Op{Ref: ref})
		}
	}
	result, err := c.Apply(ctx, control.Batch{Owner: store.OwnerAPI, Ops: ops, DryRun: true})
	if err != nil {
		return nil, err
	}
	p := &plan{Changes: result.Changes}
	p.sort()
	return p, nil
}

// puts writes all documents; a secret that one leaves out is none.
func puts(set *documentSet) []control.Op {
	ops := make([]control.Op, 0, len(set.docs))
	for _, d := range set.docs {
		op := control.Op{Put: withCredential(d.Object)}
		for _, f := range resource.SecretFields(op.Put) {
			if *f.Value == "" {
				op.Nulls = append(op.Nulls, f.Path)
			}
		}
		ops = append(ops, op)
	}
	return ops
}

// withCredential is an object with a stand-in for a virtual key's credential if
// it leaves that out: what a server has of it would stay.
func withCredential(o resource.Object) resource.Object {
	k, ok := o.(*resource.Key)
	if !ok || !k.LacksCredential() {
		return o
	}
	with := *k
	with.ProviderCredential = &resource.ProviderCredential{Provider: k.ProviderCredential.Provider, APIKey: standIn}
	return &with
}

// errOffline: files have no history, and secrets are not looked up for them.
var errOffline = errors.New("not there offline")

// memory is a store of the configuration that lasts as long as a comparison.
type memory struct{ state store.State }

var _ store.Config = (*memory)(nil)

// Load gives the documents.
func (m *memory) Load(context.Context) (*store.State, error) { return m.copy(), nil }

func (m *memory) copy() *store.State {
	return &store.State{Revision: m.state.Revision, Documents: slices.Clone(m.state.Documents)}
}

// Update writes what decide wants to be written.
func (m *memory) Update(_ context.Context, _ time.Time, decide func(*store.State) (*store.Write, error)) (*store.State, error) {
	w, err := decide(m.copy())
	if err != nil || w == nil {
		return m.copy(), err
	}
	m.state.Documents = append(m.state.Documents, w.Put...) // the first write is the only one
	slices.SortFunc(m.state.Documents, func(a, b store.Document) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	m.state.Revision++
	return m.copy(), nil
}

// Current is the number of writes.
func (m *memory) Current(context.Context) (int64, error) { return m.state.Revision, nil }

// At has no history to look into.
func (*memory) At(context.Context, int64) ([]store.Document, error) { return nil, errOffline }

// Revisions has no history to look into.
func (*memory) Revisions(context.Context, int64, int) ([]store.Revision, error) {
	return nil, errOffline
}

// RevisionOf has no history to look into.
func (*memory) RevisionOf(context.Context, int64) (*store.Revision, error) { return nil, errOffline }
