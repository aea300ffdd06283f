package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
)

func concurrencyTests() []test {
	return []test{
		{"an error of decide writes nothing and comes back as it is", refusesUpdate},
		{"a panic of decide writes nothing and blocks nobody", panics},
		{"decide may change the state that it gets", func(f *fixture) {
			f.write(at(1), store.Write{Put: []store.Document{doc("Route", "a", `{}`)}})
			state, err := f.store.Update(f.Context(), at(2), func(s *store.State) (*store.Write, error) {
				s.Documents[0].Spec = json.RawMessage(`{"x":1}`)
				return &store.Write{Put: s.Documents}, nil
			})
			f.must(err)
			f.same("the revision", state.Revision, int64(2))
			f.same("the state", state, f.load())
		}},
		{"RS-VER-1: 200 updates at once are one after the other, without gaps", updatesInTurn},
		{"RS-VER-1: readers see whole revisions while there are writes", readsWholeStates},
		{"updates and imports go on side by side", updatesAndImports},
		{"an update that gives up writes nothing", givesUp},
	}
}

func refusesUpdate(f *fixture) {
	f.write(at(1), store.Write{Put: []store.Document{doc("Route", "a", `{}`)}})
	refusal := errors.New("no")
	for range 3 {
		state, err := f.store.Update(f.Context(), at(2), func(*store.State) (*store.Write, error) {
			return &store.Write{Delete: []store.DocumentRef{{Kind: "Route", Name: "a"}}}, refusal
		})
		if err != refusal || state != nil { //nolint:errorlint // it has to be the very error
			f.Fatalf("got %v and %v", state, err)
		}
	}
	f.same("documents", names(f.load().Documents), []string{"Route/a"})
	f.same("the next revision", f.write(at(3), store.Write{Put: []store.Document{doc("Route", "b", `{}`)}}).Revision, int64(2))
}

func panics(f *fixture) {
	func() {
		defer func() { _ = recover() }()
		_, _ = f.store.Update(f.Context(), at(1), func(*store.State) (*store.Write, error) { panic("decide") })
	}()
	f.same("the next revision", f.write(at(3), store.Write{Put: []store.Document{doc("Route", "b", `{}`)}}).Revision, int64(1))
}

// count is the document that concurrent tests add to.
func count(s *store.State) int {
	var spec struct{ N int }
	for _, d := range s.Documents {
		if d.Name == "count" {
			_ = json.Unmarshal(d.Spec, &spec)
		}
	}
	return spec.N
}

// addOne is an update that reads, adds and writes.
func addOne(s *store.State) (*store.Write, error) {
	n := count(s)
	return &store.Write{Summary: fmt.Sprintf("%d after %d", n+1, s.Revision), Put: []store.Document{doc("Settings", "count", fmt.Sprintf(`{"N":%d}`, n+1))}}, nil
}

func updatesInTurn(f *fixture) {
	const updates = 200
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int64]int{}
	for i := range updates {
		wg.Go(func() {
			state, err := f.store.Update(f.Context(), at(i), addOne)
			if err != nil {
				f.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			seen[state.Revision] = count(state)
		})
	}
	wg.Wait()
	state := f.load()
	f.same("the count", []int64{int64(count(state)), state.Revision, state.Documents[0].Version}, []int64{updates, updates, updates})
	revisions, err := f.store.Revisions(f.Context(), 0, updates+1)
	f.must(err)
	f.same("revisions", len(revisions), updates)
	for i, r := range revisions {
		want := int64(updates - i)
		f.same("the revision", []any{r.Number, r.Summary, seen[want]}, []any{want, fmt.Sprintf("%d after %d", want, want-1), int(want)})
	}
}

// readsWholeStates writes the revision's number into every document, and a
// secret for each revision.
func readsWholeStates(f *fixture) {
	const documents, revisions = 10, 25
	ctx, stop := context.WithCancel(f.Context())
	defer stop()
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			last := int64(0)
			for ctx.Err() == nil {
				state, err := f.store.Load(f.Context())
				if err != nil {
					f.Error(err)
					return
				}
				if state.Revision < last || len(state.Keys) != int(state.Revision) {
					f.Errorf("revision %d after %d with %d secrets", state.Revision, last, len(state.Keys))
					return
				}
				last = state.Revision
				for _, d := range state.Documents {
					if want := fmt.Sprintf(`{"N":%d}`, state.Revision); string(d.Spec) != want || d.Version != state.Revision {
						f.Errorf("%s is %s at version %d in revision %d", d.Name, d.Spec, d.Version, state.Revision)
						return
					}
				}
			}
		})
	}
	for i := range revisions {
		var w store.Write
		for j := range documents {
			w.Put = append(w.Put, doc("Route", fmt.Sprintf("r%d", j), fmt.Sprintf(`{"N":%d}`, i+1)))
		}
		w.AddKeys = []store.KeySecret{{Hash: hash(i), KeyID: "k"}}
		f.write(at(i), w)
	}
	stop()
	readers.Wait()
}

func updatesAndImports(f *fixture) {
	var wg sync.WaitGroup
	const rounds = 30
	wg.Go(func() {
		for i := range rounds {
			if _, err := f.store.Update(f.Context(), at(i), addOne); err != nil {
				f.Error(err)
			}
		}
	})
	wg.Go(func() {
		for i := range rounds {
			if err := f.store.Import(f.Context(), "spool", records(i*10, 10), store.Position{Offset: int64(i + 1)}); err != nil {
				f.Error(err)
			}
		}
	})
	wg.Go(func() {
		for range rounds {
			if _, err := f.store.DeleteBefore(f.Context(), recordTime(20), 5); err != nil {
				f.Error(err)
			}
		}
	})
	wg.Wait()
	f.same("the count", count(f.load()), rounds)
	for {
		n, err := f.store.DeleteBefore(f.Context(), recordTime(20), 5)
		f.must(err)
		if n < 5 {
			break
		}
	}
	f.same("records", len(f.records(store.RecordFilter{}, 1000)), rounds*10-20)
}

func givesUp(f *fixture) {
	for _, w := range []*store.Write{nil, {Put: []store.Document{doc("Route", "a", `{}`)}}} {
		ctx, cancel := context.WithCancel(f.Context())
		_, err := f.store.Update(ctx, at(1), func(*store.State) (*store.Write, error) {
			cancel()
			<-time.After(20 * time.Millisecond) // the transaction ends meanwhile
			return w, nil
		})
		if !errors.Is(err, context.Canceled) || errors.Is(err, store.ErrUnavailable) {
			f.Fatalf("got %v", err)
		}
	}
	f.same("the state", f.load(), &store.State{})

	// While one update decides another one waits, no longer than it wants.
	waits, cancel := context.WithTimeout(f.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := f.store.Update(f.Context(), at(2), func(s *store.State) (*store.Write, error) {
		_, err := f.store.Update(waits, at(3), addOne)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrUnavailable) {
			f.Errorf("got %v", err)
		}
		return addOne(s)
	})
	f.must(err)
	f.same("the count", []int64{int64(count(f.load())), f.load().Revision}, []int64{1, 1})
}
