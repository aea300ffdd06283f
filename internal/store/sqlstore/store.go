package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/interlock-gateway/interlock/internal/store"
)

// Options of a Store.
type Options struct {
	// URL is where the data is: sqlite:PATH.
	URL string
	// Readers is how many queries may run at once; default 4.
	Readers int
	// BusyTimeout is how long to wait for another process that writes;
	// default 5 s.
	BusyTimeout time.Duration
}

// Store implements store.Config, store.Audit and store.Sessions.
type Store struct {
	dialect *dialect
	db      *connections
	audit   auditStatements
	zip     *zipper
	closed  atomic.Bool
}

var (
	_ store.Config   = (*Store)(nil)
	_ store.Audit    = (*Store)(nil)
	_ store.Sessions = (*Store)(nil)
)

// Open opens the database, creates it if it is not there, and migrates it to
// this program's schema. It refuses one with a newer schema: ErrNewerSchema.
func Open(ctx context.Context, o Options) (*Store, error) {
	o.Readers = cmp.Or(o.Readers, 4)
	o.BusyTimeout = cmp.Or(o.BusyTimeout, 5*time.Second)
	path, ok := strings.CutPrefix(o.URL, "sqlite:")
	if !ok {
		return nil, errors.New("open the store: expected the URL sqlite:PATH")
	}
	s := &Store{dialect: sqliteDialect()}
	var err error
	if s.zip, err = newZipper(); err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	if s.db, err = s.dialect.open(ctx, path, o); err != nil {
		return nil, s.fail("open the store", err)
	}
	if err = migrate(ctx, s.dialect, s.db.write, s.zip); err == nil {
		err = s.audit.prepare(ctx, s.db.write)
	}
	if err != nil {
		return nil, errors.Join(s.fail("open the store", err), s.db.close())
	}
	return s, nil
}

// Close ends all connections. What is called afterwards returns
// store.ErrUnavailable.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	if err := s.db.close(); err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}

// fail adds the operation to an error, and store.ErrUnavailable if the
// database is at fault. A caller that gave up is not the database's fault.
func (s *Store) fail(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, store.ErrUnavailable):
	case s.closed.Load(), s.dialect.unavailable(err):
		return fmt.Errorf("%s: %w: %w", op, store.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// inWrite runs f in a transaction that holds the write lock from its begin, and
// commits if f returns no error.
func (s *Store) inWrite(ctx context.Context, f func(*sqlx.Tx) error) error {
	tx, err := s.db.write.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back, and else the first error counts
	if err := f(tx); err != nil {
		return gaveUp(ctx, err)
	}
	return gaveUp(ctx, tx.Commit())
}

// inRead runs f in a transaction that sees one state of the database.
func (s *Store) inRead(ctx context.Context, f func(*sqlx.Tx) error) error {
	tx, err := s.db.read.BeginTxx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	return gaveUp(ctx, f(tx))
}

// gaveUp is why a transaction ended under its user: its context did.
func gaveUp(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
