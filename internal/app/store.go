package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// reopening is a store that may not be there yet: it is opened at the first
// use and, while that fails, again at later ones, so that the gateway can
// start and serve without its database.
type reopening struct {
	open func(context.Context) (*sqlstore.Store, error)
	// pause is how long a failure is remembered before the next try.
	pause time.Duration

	mu     sync.Mutex
	store  *sqlstore.Store
	failed time.Time
	err    error
	closed bool
}

func (r *reopening) get(ctx context.Context) (*sqlstore.Store, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, fmt.Errorf("%w: it is closed", store.ErrUnavailable)
	case r.store != nil:
		return r.store, nil
	case r.err != nil && time.Since(r.failed) < r.pause:
		return nil, r.err
	}
	s, err := r.open(ctx)
	if err != nil {
		r.err, r.failed = fmt.Errorf("%w: %w", store.ErrUnavailable, err), time.Now()
		return nil, r.err
	}
	r.store, r.err = s, nil
	return s, nil
}

// drop gives up a store that could not be read: its file may be replaced, and
// an open one would not see that.
func (r *reopening) drop(s *sqlstore.Store, err error) {
	r.mu.Lock()
	mine := r.store == s
	if mine {
		r.store, r.err, r.failed = nil, err, time.Now()
	}
	r.mu.Unlock()
	if mine {
		_ = s.Close() // what still runs on it fails, as it would have
	}
}

func (r *reopening) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.store == nil {
		return nil
	}
	return r.store.Close()
}

// with calls f with the open store.
func with[T any](ctx context.Context, r *reopening, f func(*sqlstore.Store) (T, error)) (T, error) {
	s, err := r.get(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return f(s)
}

var (
	_ store.Config   = (*reopening)(nil)
	_ store.Audit    = (*reopening)(nil)
	_ store.Sessions = (*reopening)(nil)
)

func (r *reopening) Load(ctx context.Context) (*store.State, error) {
	return with(ctx, r, func(s *sqlstore.Store) (*store.State, error) {
		state, err := s.Load(ctx)
		if errors.Is(err, store.ErrUnavailable) {
			r.drop(s, err)
		}
		return state, err
	})
}

func (r *reopening) Update(ctx context.Context, now time.Time, decide func(*store.State) (*store.Write, error)) (*store.State, error) {
	return with(ctx, r, func(s *sqlstore.Store) (*store.State, error) { return s.Update(ctx, now, decide) })
}

func (r *reopening) At(ctx context.Context, revision int64) ([]store.Document, error) {
	return with(ctx, r, func(s *sqlstore.Store) ([]store.Document, error) { return s.At(ctx, revision) })
}

func (r *reopening) Revisions(ctx context.Context, before int64, limit int) ([]store.Revision, error) {
	return with(ctx, r, func(s *sqlstore.Store) ([]store.Revision, error) { return s.Revisions(ctx, before, limit) })
}

func (r *reopening) RevisionOf(ctx context.Context, number int64) (*store.Revision, error) {
	return with(ctx, r, func(s *sqlstore.Store) (*store.Revision, error) { return s.RevisionOf(ctx, number) })
}

func (r *reopening) Current(ctx context.Context) (int64, error) {
	return with(ctx, r, func(s *sqlstore.Store) (int64, error) { return s.Current(ctx) })
}

func (r *reopening) Imported(ctx context.Context, spool string) (store.Position, error) {
	return with(ctx, r, func(s *sqlstore.Store) (store.Position, error) { return s.Imported(ctx, spool) })
}

func (r *reopening) Import(ctx context.Context, spool string, records []store.Record, upTo store.Position) error {
	s, err := r.get(ctx)
	if err != nil {
		return err
	}
	return s.Import(ctx, spool, records, upTo)
}

func (r *reopening) Records(ctx context.Context, f store.RecordFilter, limit int) ([]store.Record, error) {
	return with(ctx, r, func(s *sqlstore.Store) ([]store.Record, error) { return s.Records(ctx, f, limit) })
}

func (r *reopening) DeleteBefore(ctx context.Context, t time.Time, limit int) (int, error) {
	return with(ctx, r, func(s *sqlstore.Store) (int, error) { return s.DeleteBefore(ctx, t, limit) })
}

func (r *reopening) AddSession(ctx context.Context, n store.Session) error {
	s, err := r.get(ctx)
	if err != nil {
		return err
	}
	return s.AddSession(ctx, n)
}

func (r *reopening) FindSession(ctx context.Context, hash [32]byte) (*store.Session, error) {
	return with(ctx, r, func(s *sqlstore.Store) (*store.Session, error) { return s.FindSession(ctx, hash) })
}

func (r *reopening) SeeSession(ctx context.Context, hash [32]byte, at time.Time) error {
	s, err := r.get(ctx)
	if err != nil {
		return err
	}
	return s.SeeSession(ctx, hash, at)
}

func (r *reopening) EndSession(ctx context.Context, hash [32]byte) error {
	s, err := r.get(ctx)
	if err != nil {
		return err
	}
	return s.EndSession(ctx, hash)
}

func (r *reopening) SessionsVia(ctx context.Context, via string) ([]store.Session, error) {
	return with(ctx, r, func(s *sqlstore.Store) ([]store.Session, error) { return s.SessionsVia(ctx, via) })
}

func (r *reopening) EndSessions(ctx context.Context, seenBefore, createdBefore time.Time) (int, error) {
	return with(ctx, r, func(s *sqlstore.Store) (int, error) { return s.EndSessions(ctx, seenBefore, createdBefore) })
}
