package storetest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
)

func documentTests() []test {
	return []test{
		{"a new store is empty, at revision 0", func(f *fixture) {
			f.same("the state", f.load(), &store.State{})
			n, err := f.store.Current(f.Context())
			f.must(err)
			f.same("the revision", n, int64(0))
		}},
		{"a document is stored whole", storesWhole},
		{"what Update returns is what Load reads", updateReturnsState},
		{"versions count the writes of an object", versions},
		{"what is the same is not written again", dropsTheSame},
		{"what is renewed has a new version, and the same spec", renews},
		{"a put without an id keeps the id", keepsID},
		{"an object that is deleted and created again begins at version 1", newLineage},
		{"a delete and a put in one write begin the object anew", replaces},
		{"names count in their case", caseCounts},
		{"RS: names of teams, departments, users and rules do not", caseDoesNotCount},
		{"text keeps its Unicode form", unicode},
		{"text that no database takes is made valid", sanitizes},
		{"documents are ordered by kind and name, byte by byte", ordered},
		{"times have microseconds and are in UTC", microseconds},
		{"JSON keeps its numbers, order and characters", keepsJSON},
	}
}

func storesWhole(f *fixture) {
	d := store.Document{Kind: "Key", Name: "ci", ID: "01ABC", Owner: store.OwnerFile, Source: "interlock.yaml:12", Spec: []byte(`{"team": "a"}`)}
	f.write(at(1), store.Write{Put: []store.Document{d}})
	d.Version, d.CreatedAt, d.UpdatedAt, d.Spec = 1, at(1), at(1), []byte(`{"team":"a"}`)
	want := &store.State{Revision: 1, Documents: []store.Document{d}}
	f.same("the state", f.load(), want)
	f.reopen()
	f.same("the state after opening again", f.load(), want)
}

func updateReturnsState(f *fixture) {
	for i, w := range []store.Write{
		{Put: []store.Document{doc("Route", "b", `{}`), doc("Route", "a", `{}`), doc("Key", "z", `{}`)}, AddKeys: []store.KeySecret{{Hash: hash(2), KeyID: "k2"}, {Hash: hash(1), KeyID: "k1"}}},
		{Put: []store.Document{doc("Route", "a", `{"x":1}`), doc("Model", "m", `{}`)}, Delete: []store.DocumentRef{{Kind: "Route", Name: "b"}}},
		{RevokeKeys: []string{"k1"}, EndKeys: map[string]time.Time{"k2": at(9)}, AddKeys: []store.KeySecret{{Hash: hash(3), KeyID: "k1", EndsAt: at(10)}}},
		{Delete: []store.DocumentRef{{Kind: "Key", Name: "z"}}, Put: []store.Document{doc("Key", "z", `{}`)}},
	} {
		f.same("the state", f.write(at(i), w), f.load())
	}
	state, err := f.store.Update(f.Context(), at(9), func(s *store.State) (*store.Write, error) {
		f.same("the state that decide gets", s, f.load())
		return nil, nil
	})
	f.must(err)
	f.same("the state after a nil write", state, f.load())
}

func versions(f *fixture) {
	f.write(at(1), store.Write{Put: []store.Document{doc("Route", "a", `{}`), doc("Route", "b", `{}`)}})
	f.write(at(2), store.Write{Put: []store.Document{doc("Route", "a", `{"x":1}`)}})
	owned := doc("Route", "a", `{"x":1}`)
	owned.Owner = store.OwnerFile
	f.write(at(3), store.Write{Put: []store.Document{owned}})
	owned.Source = "interlock.yaml:3"
	state := f.write(at(4), store.Write{Put: []store.Document{owned}})
	a, b := f.find(state.Documents, "Route", "a"), f.find(state.Documents, "Route", "b")
	f.same("versions", []int64{a.Version, b.Version, state.Revision}, []int64{4, 1, 4})
	f.same("times", []time.Time{a.CreatedAt, a.UpdatedAt, b.UpdatedAt}, []time.Time{at(1), at(4), at(1)})
}

func dropsTheSame(f *fixture) {
	before := f.write(at(1), store.Write{Put: []store.Document{doc("Route", "a", `{"x":1}`)}})
	f.same("the state", f.write(at(2), store.Write{Actor: "me", Summary: "nothing"}), before)
	f.same("the state", f.write(at(2), store.Write{Put: []store.Document{doc("Route", "a", ` {"x" : 1}`)}}), before)
	f.same("the state", f.write(at(2), store.Write{RevokeKeys: []string{"none"}, EndKeys: map[string]time.Time{"none": at(5)}}), before)
	_, err := f.store.RevisionOf(f.Context(), 2)
	if !errors.Is(err, store.ErrNotFound) {
		f.Fatalf("a write that changes nothing made a revision: %v", err)
	}
	after := f.write(at(3), store.Write{Put: []store.Document{doc("Route", "a", `{"x":1}`), doc("Route", "b", `{}`)}})
	f.same("version of what is the same", f.find(after.Documents, "Route", "a").Version, int64(1))
	r, err := f.store.RevisionOf(f.Context(), 2)
	f.must(err)
	f.same("changes", len(r.Changes), 1)
}

func renews(f *fixture) {
	key := doc("Key", "ci", `{"x":1}`)
	key.ID, key.Owner, key.Source = "id-1", store.OwnerFile, "x.yaml:1"
	f.write(at(1), store.Write{Put: []store.Document{key, doc("Key", "cd", `{}`)}})
	ci := store.DocumentRef{Kind: "Key", Name: "ci"}
	state := f.write(at(2), store.Write{Renew: []store.DocumentRef{ci}})
	f.same("the state", state, f.load())
	key.Version, key.CreatedAt, key.UpdatedAt = 2, at(1), at(2)
	f.same("the object", f.find(state.Documents, "Key", "ci"), key)
	f.same("another object", f.find(state.Documents, "Key", "cd").Version, int64(1))
	// With a put it is one write.
	for i, spec := range []string{`{"x":2}`, `{"x":2}`} {
		key.Spec = []byte(spec)
		state = f.write(at(3+i), store.Write{Put: []store.Document{key}, Renew: []store.DocumentRef{ci, ci}})
		f.same("the version", f.find(state.Documents, "Key", "ci").Version, int64(3+i))
	}
	if err := f.refused(store.Write{Renew: []store.DocumentRef{{Kind: "Key", Name: "none"}}}); !errors.Is(err, store.ErrNotFound) {
		f.Errorf("renewing what is not there: %v", err)
	}
}

func keepsID(f *fixture) {
	d := doc("Key", "ci", `{}`)
	d.ID = "id-1"
	f.write(at(1), store.Write{Put: []store.Document{d}})
	state := f.write(at(2), store.Write{Put: []store.Document{doc("Key", "ci", `{"x":1}`)}})
	f.same("the id", f.find(state.Documents, "Key", "ci").ID, "id-1")

	d = doc("Key", "ci", `{"x":2}`)
	d.ID = "id-2"
	f.isConflict(f.refused(store.Write{Put: []store.Document{d}}))
	d.Name, d.ID = "other", "id-1"
	f.isConflict(f.refused(store.Write{Put: []store.Document{d}}))
	d.Kind = "RoutingRule" // ids are of a kind
	f.write(at(3), store.Write{Put: []store.Document{d}})
}

func newLineage(f *fixture) {
	f.write(at(1), store.Write{Put: []store.Document{doc("Route", "a", `{}`)}})
	f.write(at(2), store.Write{Put: []store.Document{doc("Route", "a", `{"x":1}`)}})
	f.same("documents", names(f.write(at(3), store.Write{Delete: []store.DocumentRef{{Kind: "Route", Name: "a"}}}).Documents), []string(nil))
	d := f.find(f.write(at(4), store.Write{Put: []store.Document{doc("Route", "a", `{"x":1}`)}}).Documents, "Route", "a")
	f.same("version and begin", []any{d.Version, d.CreatedAt}, []any{int64(1), at(4)})
}

func replaces(f *fixture) {
	d := doc("Key", "a", `{"x":1}`)
	d.ID = "id-1"
	f.write(at(1), store.Write{Put: []store.Document{d}})
	d.ID = "id-2"
	state := f.write(at(2), store.Write{Delete: []store.DocumentRef{{Kind: "Key", Name: "a"}}, Put: []store.Document{d}})
	got := f.find(state.Documents, "Key", "a")
	f.same("the new object", []any{got.ID, got.Version, got.CreatedAt}, []any{"id-2", int64(1), at(2)})
	r, err := f.store.RevisionOf(f.Context(), 2)
	f.must(err)
	f.same("changes", r.Changes, []store.Change{{Kind: "Key", Name: "a", Before: []byte(`{"x":1}`), After: []byte(`{"x":1}`)}})
	f.same("documents before", len(f.at(1)), 1)
}

func caseCounts(f *fixture) {
	state := f.write(at(1), store.Write{Put: []store.Document{doc("Route", "a", `{}`), doc("Route", "A", `{}`), doc("route", "a", `{}`), doc("Route", "ä", `{}`), doc("Route", "Ä", `{}`)}})
	f.same("documents", names(state.Documents), []string{"Route/A", "Route/a", "Route/Ä", "Route/ä", "route/a"})
	state = f.write(at(2), store.Write{Delete: []store.DocumentRef{{Kind: "Route", Name: "A"}}})
	f.same("documents", names(state.Documents), []string{"Route/a", "Route/Ä", "Route/ä", "route/a"})
	f.isNotFound(f.refused(store.Write{Delete: []store.DocumentRef{{Kind: "ROUTE", Name: "a"}}}))
}

func caseDoesNotCount(f *fixture) {
	for _, kind := range []string{"Team", "Department", "User", "RoutingRule"} {
		f.write(at(1), store.Write{Put: []store.Document{doc(kind, "Ärzte A", `{}`)}})
		f.isConflict(f.refused(store.Write{Put: []store.Document{doc(kind, "ärzte a", `{}`)}}))
		f.isConflict(f.refused(store.Write{Put: []store.Document{doc(kind, "b", `{}`), doc(kind, "B", `{}`)}}))
		f.isNotFound(f.refused(store.Write{Delete: []store.DocumentRef{{Kind: kind, Name: "ärzte a"}}}))
		state := f.write(at(2), store.Write{Delete: []store.DocumentRef{{Kind: kind, Name: "Ärzte A"}}, Put: []store.Document{doc(kind, "ärzte a", `{}`)}})
		f.same("the new spelling begins anew", f.find(state.Documents, kind, "ärzte a").Version, int64(1))
	}
}

func unicode(f *fixture) {
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	odd := []string{composed, decomposed, "名前", "🙂", "a b", "a'b", `a"b`, "a%b", "a_b", `a\b`, "\u200b", "ﬀ", "x'; DROP TABLE documents; --", strings.Repeat("長", 400)}
	var put []store.Document
	for _, n := range odd {
		put = append(put, doc("Route", n, `{"name":"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(n)+`"}`))
	}
	f.write(at(1), store.Write{Actor: "ünï", Summary: "名前 🙂", Put: put})
	got := names(f.load().Documents)
	want := names(put)
	slices.Sort(want)
	f.same("names", got, want)
	for _, n := range odd {
		f.write(at(2), store.Write{Delete: []store.DocumentRef{{Kind: "Route", Name: n}}})
	}
	r, err := f.store.RevisionOf(f.Context(), 1)
	f.must(err)
	f.same("actor and summary", []string{r.Actor, r.Summary}, []string{"ünï", "名前 🙂"})
}

func sanitizes(f *fixture) {
	d := doc("Route", "a\xff\x00b", "{\"x\":\"\xff\",\"y\":\"\\u0000\"}")
	d.Source = "file\x00"
	w := store.Write{Actor: "\x00me", Summary: "bad\xfe", Put: []store.Document{d}}
	state := f.write(at(1), w)
	got := f.find(state.Documents, "Route", "a\uFFFDb")
	f.same("the document", []string{string(got.Spec), got.Source}, []string{"{\"x\":\"\uFFFD\",\"y\":\"\\u0000\"}", "file"})
	f.same("the same again", f.write(at(2), w).Revision, int64(1))
	f.same("the state", f.load(), state)
	f.write(at(3), store.Write{Delete: []store.DocumentRef{{Kind: "Route", Name: "a\xff\x00b"}}})
}

func ordered(f *fixture) {
	var put []store.Document
	for _, n := range []string{"b", "a", "B", "_", "10", "9", "é", "z", "a b", "a-b", "ab"} {
		put = append(put, doc("Route", n, `{}`), doc("Key", n, `{}`))
	}
	f.write(at(1), store.Write{Put: put})
	want := names(put)
	slices.Sort(want)
	f.same("the order of Load", names(f.load().Documents), want)
	f.same("the order of At", names(f.at(1)), want)
}

func microseconds(f *fixture) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 678901999, time.FixedZone("east", 7*3600))
	want := time.Date(2026, 1, 1, 20, 4, 5, 678901000, time.UTC)
	state := f.write(now, store.Write{Put: []store.Document{doc("Route", "a", `{}`)}, AddKeys: []store.KeySecret{{Hash: hash(1), KeyID: "k", EndsAt: now}}})
	f.same("the state", state, f.load())
	r, err := f.store.RevisionOf(f.Context(), 1)
	f.must(err)
	f.same("times", []time.Time{state.Documents[0].CreatedAt, state.Documents[0].UpdatedAt, state.Keys[0].CreatedAt, state.Keys[0].EndsAt, r.At}, []time.Time{want, want, want, want, want})
	if loc := f.load().Documents[0].CreatedAt.Location(); loc != time.UTC {
		f.Fatalf("the location is %v", loc)
	}
}

func keepsJSON(f *fixture) {
	const spec = `{"z":12345678901234567890.123456789,"a":"<b>&\u2028 é","n":null,"e":{},"dup":1,"dup":2}`
	state := f.write(at(1), store.Write{Put: []store.Document{doc("Route", "a", spec)}})
	f.same("the spec", string(state.Documents[0].Spec), spec)
	f.same("the spec", string(f.load().Documents[0].Spec), spec)
	r, err := f.store.RevisionOf(f.Context(), 1)
	f.must(err)
	f.same("the spec in the revision", string(r.Changes[0].After), spec)
	for _, bad := range []string{``, `{`, `{} {}`, "{\"a\":\"\x00\"}"} {
		_ = f.refused(store.Write{Put: []store.Document{doc("Route", "b", bad)}})
	}
	for _, d := range []store.Document{doc("", "a", `{}`), doc("Route", "", `{}`), {Kind: "Route", Name: "b", Spec: []byte(`{}`)}} {
		_ = f.refused(store.Write{Put: []store.Document{d}})
	}
}

func (f *fixture) isConflict(err error) {
	f.Helper()
	if !errors.Is(err, store.ErrConflict) {
		f.Fatalf("%v is no conflict", err)
	}
}

func (f *fixture) isNotFound(err error) {
	f.Helper()
	if !errors.Is(err, store.ErrNotFound) {
		f.Fatalf("%v is not: not found", err)
	}
}

// at reads the documents at a revision.
func (f *fixture) at(revision int64) []store.Document {
	f.Helper()
	docs, err := f.store.At(f.Context(), revision)
	f.must(err)
	return docs
}
