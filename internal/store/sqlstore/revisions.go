package sqlstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/jmoiron/sqlx"

	"github.com/interlock-gateway/interlock/internal/store"
)

// Current implements store.Config.
func (s *Store) Current(ctx context.Context) (int64, error) {
	n, err := readCurrent(ctx, s.db.read)
	if err != nil {
		return 0, s.fail("ask for the newest revision", err)
	}
	return n, nil
}

// Revisions implements store.Config.
func (s *Store) Revisions(ctx context.Context, before int64, limit int) ([]store.Revision, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	revisions, err := readRevisions(ctx, s.db.read, `WHERE number < $1 ORDER BY number DESC LIMIT $2`, before, max(limit, 0))
	if err != nil {
		return nil, s.fail("list revisions", err)
	}
	return revisions, nil
}

// RevisionOf implements store.Config.
func (s *Store) RevisionOf(ctx context.Context, number int64) (*store.Revision, error) {
	revisions, err := readRevisions(ctx, s.db.read, `WHERE number = $1`, number)
	if err == nil && len(revisions) == 0 {
		err = fmt.Errorf("revision %d: %w", number, store.ErrNotFound)
	}
	if err != nil {
		return nil, s.fail("read a revision", err)
	}
	return &revisions[0], nil
}

func readCurrent(ctx context.Context, q sqlx.QueryerContext) (int64, error) {
	var n int64
	if err := sqlx.GetContext(ctx, q, &n, `SELECT COALESCE(MAX(number), 0) FROM revisions`); err != nil {
		return 0, fmt.Errorf("read the newest revision: %w", err)
	}
	return n, nil
}

func readRevisions(ctx context.Context, q sqlx.QueryerContext, where string, args ...any) ([]store.Revision, error) {
	var rows []struct {
		Number  int64
		At      int64
		Actor   string
		Summary string
		Changes []byte
	}
	if err := sqlx.SelectContext(ctx, q, &rows, `SELECT number, at, actor, summary, changes FROM revisions `+where, args...); err != nil {
		return nil, err
	}
	revisions := make([]store.Revision, len(rows))
	for i, r := range rows {
		revisions[i] = store.Revision{Number: r.Number, At: fromMicros(&r.At), Actor: r.Actor, Summary: r.Summary}
		if err := json.Unmarshal(r.Changes, &revisions[i].Changes); err != nil {
			return nil, fmt.Errorf("read the changes of revision %d: %w", r.Number, err)
		}
	}
	return revisions, nil
}

func writeRevision(ctx context.Context, tx *sqlx.Tx, r *store.Revision) error {
	var changes bytes.Buffer
	enc := json.NewEncoder(&changes)
	enc.SetEscapeHTML(false) // specs stay as they are
	if err := enc.Encode(r.Changes); err != nil {
		return fmt.Errorf("write revision %d: %w", r.Number, err)
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO revisions (number, at, actor, summary, changes) VALUES ($1, $2, $3, $4, $5)`,
		r.Number, r.At.UnixMicro(), r.Actor, r.Summary, changes.String())
	if err != nil {
		return fmt.Errorf("write revision %d: %w", r.Number, err)
	}
	return nil
}
