package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/interlock-gateway/interlock/internal/store"
)

func historyTests() []test {
	return []test{
		{"RS-VER: a revision says who, when and what changed", revisionSays},
		{"RS-VER: any revision can be read again", readsAgain},
		{"RS-VER: restoring is a new revision with the old documents", restores},
		{"a revision that never was is not found", func(f *fixture) {
			f.write(at(1), store.Write{Put: []store.Document{doc("Route", "a", `{}`)}})
			for _, n := range []int64{-1, 0, 2, 1 << 62} {
				_, err := f.store.At(f.Context(), n)
				f.isNotFound(err)
				_, err = f.store.RevisionOf(f.Context(), n)
				f.isNotFound(err)
			}
		}},
		{"revisions are listed newest first, in pages", pagesRevisions},
		{"history is there after opening again", func(f *fixture) {
			f.write(at(1), store.Write{Actor: "me", Put: []store.Document{doc("Route", "a", `{}`)}})
			f.write(at(2), store.Write{Actor: "you", Delete: []store.DocumentRef{{Kind: "Route", Name: "a"}}})
			f.reopen()
			f.same("documents at 1", names(f.at(1)), []string{"Route/a"})
			f.same("documents at 2", names(f.at(2)), []string(nil))
			f.same("next revision", f.write(at(3), store.Write{Put: []store.Document{doc("Route", "b", `{}`)}}).Revision, int64(3))
		}},
	}
}

func revisionSays(f *fixture) {
	f.write(at(1), store.Write{Actor: "token:1a2b", Summary: "first", Put: []store.Document{doc("Route", "b", `{}`), doc("Route", "a", `{}`), doc("Key", "k", `{}`)}})
	f.write(at(2), store.Write{
		Actor: "file:interlock.yaml", Summary: "second",
		Put:    []store.Document{doc("Route", "a", `{"x":1}`), doc("Route", "c", `{"y":2}`)},
		Delete: []store.DocumentRef{{Kind: "Route", Name: "b"}},
	})
	r, err := f.store.RevisionOf(f.Context(), 2)
	f.must(err)
	f.same("the revision", r, &store.Revision{
		Number: 2, At: at(2), Actor: "file:interlock.yaml", Summary: "second",
		Changes: []store.Change{
			{Kind: "Route", Name: "a", Before: []byte(`{}`), After: []byte(`{"x":1}`)},
			{Kind: "Route", Name: "b", Before: []byte(`{}`)},
			{Kind: "Route", Name: "c", After: []byte(`{"y":2}`)},
		},
	})
	f.write(at(3), store.Write{Actor: "me", AddKeys: []store.KeySecret{{Hash: hash(1), KeyID: "k"}}})
	r, err = f.store.RevisionOf(f.Context(), 3)
	f.must(err)
	f.same("changes of documents by a new secret", len(r.Changes), 0)
}

// readsAgain makes many changes and compares every revision with what was
// returned when it was made.
func readsAgain(f *fixture) {
	r := rand.New(rand.NewPCG(7, 7))
	were := [][]store.Document{nil}
	for i := range 60 {
		var w store.Write
		for _, n := range r.Perm(8)[:1+r.IntN(3)] {
			name := fmt.Sprintf("r%d", n)
			has := slices.ContainsFunc(were[len(were)-1], func(d store.Document) bool { return d.Name == name })
			if has && r.IntN(3) == 0 {
				w.Delete = append(w.Delete, store.DocumentRef{Kind: "Route", Name: name})
				if r.IntN(2) == 0 {
					continue
				}
			}
			w.Put = append(w.Put, doc("Route", name, fmt.Sprintf(`{"at":%d}`, i)))
		}
		were = append(were, f.write(at(i), w).Documents)
	}
	f.same("the newest revision", f.load().Revision, int64(len(were)-1))
	for n, want := range were[1:] {
		f.same(fmt.Sprintf("revision %d", n+1), f.at(int64(n+1)), want)
	}
}

func restores(f *fixture) {
	f.write(at(1), store.Write{Put: []store.Document{doc("Route", "a", `{"v":1}`), doc("Route", "b", `{}`)}})
	f.write(at(2), store.Write{Put: []store.Document{doc("Route", "a", `{"v":2}`), doc("Route", "c", `{}`)}, Delete: []store.DocumentRef{{Kind: "Route", Name: "b"}}})
	old := f.at(1)
	state := f.write(at(3), store.Write{Put: old, Delete: []store.DocumentRef{{Kind: "Route", Name: "c"}}})
	f.same("documents", names(state.Documents), []string{"Route/a", "Route/b"})
	a, b := f.find(state.Documents, "Route", "a"), f.find(state.Documents, "Route", "b")
	f.same("the restored one counts on", []any{a.Version, string(a.Spec), a.CreatedAt}, []any{int64(3), `{"v":1}`, at(1)})
	f.same("the one that was deleted begins anew", []any{b.Version, b.CreatedAt}, []any{int64(1), at(3)})
	f.same("revision 1 is as it was", f.at(1), old)
}

func pagesRevisions(f *fixture) {
	for i := range 12 {
		f.write(at(i), store.Write{Summary: fmt.Sprint(i + 1), Put: []store.Document{doc("Route", "a", fmt.Sprintf(`{"v":%d}`, i))}})
	}
	var got []int64
	for before := int64(0); ; {
		page, err := f.store.Revisions(f.Context(), before, 5)
		f.must(err)
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			f.same("the summary", r.Summary, fmt.Sprint(r.Number))
			got = append(got, r.Number)
			before = r.Number
		}
		// A revision that comes meanwhile moves nothing.
		f.write(at(50), store.Write{Put: []store.Document{doc("Route", "b", fmt.Sprintf(`{"v":%d}`, before))}})
	}
	f.same("revisions", got, []int64{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1})
	for _, limit := range []int{0, -1} {
		page, err := f.store.Revisions(f.Context(), 0, limit)
		f.must(err)
		f.same("revisions without room", len(page), 0)
	}
}
