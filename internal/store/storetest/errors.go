package storetest

import (
	"context"
	"errors"
	"strings"

	"github.com/interlock-gateway/interlock/internal/store"
)

func errorTests() []test {
	return []test{
		{"a closed store is unavailable", func(f *fixture) {
			f.must(f.store.Close())
			f.must(f.store.Close())
			for name, err := range f.everyCall(f.Context()) {
				if !errors.Is(err, store.ErrUnavailable) {
					f.Errorf("%s: %v", name, err)
				}
			}
			f.reopen()
		}},
		{"a caller that gave up gets its own error", func(f *fixture) {
			ctx, cancel := contextThatEnds(f)
			cancel()
			for name, err := range f.everyCall(ctx) {
				if !errors.Is(err, context.Canceled) || errors.Is(err, store.ErrUnavailable) {
					f.Errorf("%s: %v", name, err)
				}
			}
		}},
		{"errors name the operation", func(f *fixture) {
			f.must(f.store.Close())
			for name, err := range f.everyCall(f.Context()) {
				if err != nil && !strings.Contains(err.Error(), ": ") {
					f.Errorf("%s: %v", name, err)
				}
			}
			f.reopen()
		}},
	}
}

func contextThatEnds(f *fixture) (context.Context, context.CancelFunc) {
	return context.WithCancel(f.Context())
}

// everyCall calls every method and gives their errors.
func (f *fixture) everyCall(ctx context.Context) map[string]error {
	errs := map[string]error{}
	_, errs["Load"] = f.store.Load(ctx)
	_, errs["Update"] = f.store.Update(ctx, at(1), addOne)
	_, errs["At"] = f.store.At(ctx, 1)
	_, errs["Revisions"] = f.store.Revisions(ctx, 0, 10)
	_, errs["RevisionOf"] = f.store.RevisionOf(ctx, 1)
	_, errs["Current"] = f.store.Current(ctx)
	_, errs["Imported"] = f.store.Imported(ctx, "spool")
	errs["Import"] = f.store.Import(ctx, "spool", records(0, 1), store.Position{Offset: 1})
	_, errs["Records"] = f.store.Records(ctx, store.RecordFilter{}, 10)
	_, errs["DeleteBefore"] = f.store.DeleteBefore(ctx, at(1), 10)
	return errs
}
