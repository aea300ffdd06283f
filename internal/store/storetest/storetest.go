// Package storetest is the suite that every implementation of the interfaces
// of package store passes, whatever the database.
package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/interlock-gateway/interlock/internal/store"
)

// Store is what is tested.
type Store interface {
	store.Config
	store.Audit
	store.Sessions
	Close() error
}

// Open opens a store. Calling it again after Close opens the same data.
type Open func(ctx context.Context) (Store, error)

// Run tests a store. prepare makes a new and empty database for each test.
func Run(t *testing.T, prepare func(t *testing.T) Open) {
	t.Helper()
	for _, suite := range []struct {
		name  string
		tests []test
	}{
		{"documents", documentTests()},
		{"history", historyTests()},
		{"keys", keyTests()},
		{"sessions", sessionTests()},
		{"concurrency", concurrencyTests()},
		{"audit", auditTests()},
		{"retention", retentionTests()},
		{"errors", errorTests()},
	} {
		t.Run(suite.name, func(t *testing.T) {
			for _, tc := range suite.tests {
				t.Run(tc.name, func(t *testing.T) {
					f := &fixture{T: t, open: prepare(t)}
					f.reopen()
					defer func() { f.must(f.store.Close()) }()
					tc.run(f)
				})
			}
		})
	}
}

// test is a promise and how it is checked.
type test struct {
	name string
	run  func(*fixture)
}

// fixture is an open store and what a test wants of it.
type fixture struct {
	*testing.T

	open  Open
	store Store
}

// reopen closes the store and opens its data again.
func (f *fixture) reopen() {
	f.Helper()
	if f.store != nil {
		f.must(f.store.Close())
	}
	s, err := f.open(f.Context())
	f.must(err)
	f.store = s
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// same compares values.
func (f *fixture) same(what string, got, want any) {
	f.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		f.Fatalf("%s differs (-want +got):\n%s", what, diff)
	}
}

// at is a moment of a test, n hours after its begin.
func at(n int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC).Add(time.Duration(n) * time.Hour)
}

// doc is a document as it is put.
func doc(kind, name, spec string) store.Document {
	return store.Document{Kind: kind, Name: name, Owner: store.OwnerAPI, Spec: json.RawMessage(spec)}
}

// write updates the store at a time and gives the state back.
func (f *fixture) write(now time.Time, w store.Write) *store.State {
	f.Helper()
	state, err := f.store.Update(f.Context(), now, func(*store.State) (*store.Write, error) { return &w, nil })
	f.must(err)
	return state
}

// refused is the error of an update, which has to change nothing.
func (f *fixture) refused(w store.Write) error {
	f.Helper()
	before := f.load()
	state, err := f.store.Update(f.Context(), at(100), func(*store.State) (*store.Write, error) { return &w, nil })
	if err == nil || state != nil {
		f.Fatalf("the write was accepted: %+v", state)
	}
	f.same("the state after a refused write", f.load(), before)
	return err
}

func (f *fixture) load() *store.State {
	f.Helper()
	state, err := f.store.Load(f.Context())
	f.must(err)
	return state
}

// names are the documents of a list, as Kind/name.
func names(docs []store.Document) []string {
	var out []string
	for _, d := range docs {
		out = append(out, d.Kind+"/"+d.Name)
	}
	return out
}

// find gives a document of a state.
func (f *fixture) find(docs []store.Document, kind, name string) store.Document {
	f.Helper()
	for _, d := range docs {
		if d.Kind == kind && d.Name == name {
			return d
		}
	}
	f.Fatalf("there is no %s %q in %v", kind, name, names(docs))
	return store.Document{}
}

// hash makes the hash of a secret.
func hash(n int) (h [32]byte) {
	copy(h[:], fmt.Sprintf("hash %d", n))
	h[31] = byte(n)
	return h
}
