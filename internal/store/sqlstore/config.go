package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/interlock-gateway/interlock/internal/store"
)

// Load implements store.Config.
func (s *Store) Load(ctx context.Context) (*store.State, error) {
	var state *store.State
	err := s.inRead(ctx, func(tx *sqlx.Tx) (err error) {
		state, err = readState(ctx, tx)
		return err
	})
	if err != nil {
		return nil, s.fail("load the configuration", err)
	}
	return state, nil
}

// Update implements store.Config.
func (s *Store) Update(ctx context.Context, now time.Time, decide func(*store.State) (*store.Write, error)) (*store.State, error) {
	var state *store.State
	var refusal error
	err := s.inWrite(ctx, func(tx *sqlx.Tx) (err error) {
		if state, err = readState(ctx, tx); err != nil {
			return err
		}
		var w *store.Write
		// decide gets lists of its own: it may change them, and what is
		// compared with its answer has to be what was stored.
		if w, refusal = decide(&store.State{Revision: state.Revision, Documents: slices.Clone(state.Documents), Keys: slices.Clone(state.Keys)}); refusal != nil {
			return refusal
		}
		c, err := plan(state, w, stored(now))
		if err != nil || c.empty() {
			return err
		}
		state = c.next
		return c.write(ctx, tx)
	})
	switch {
	case refusal != nil:
		return nil, refusal
	case err != nil:
		return nil, s.fail("update the configuration", err)
	}
	return state, nil
}

// At implements store.Config.
func (s *Store) At(ctx context.Context, revision int64) ([]store.Document, error) {
	var docs []store.Document
	err := s.inRead(ctx, func(tx *sqlx.Tx) error {
		newest, err := readCurrent(ctx, tx)
		if err != nil {
			return err
		}
		if revision < 1 || revision > newest {
			return fmt.Errorf("revision %d: %w", revision, store.ErrNotFound)
		}
		docs, err = readDocuments(ctx, tx, `
			SELECT `+documentColumns+` FROM documents WHERE to_rev IS NULL AND from_rev <= $1
			UNION ALL
			SELECT `+documentColumns+` FROM documents WHERE to_rev IS NOT NULL AND to_rev > $1 AND from_rev <= $1`, revision)
		return err
	})
	if err != nil {
		return nil, s.fail("load an earlier configuration", err)
	}
	return docs, nil
}

// readState reads the whole configuration. It belongs into a transaction.
func readState(ctx context.Context, q sqlx.QueryerContext) (*store.State, error) {
	revision, err := readCurrent(ctx, q)
	if err != nil {
		return nil, err
	}
	docs, err := readDocuments(ctx, q, `SELECT `+documentColumns+` FROM documents WHERE to_rev IS NULL`)
	if err != nil {
		return nil, err
	}
	keys, err := readKeys(ctx, q)
	if err != nil {
		return nil, err
	}
	return &store.State{Revision: revision, Documents: docs, Keys: keys}, nil
}

const documentColumns = `kind, name, id, version, owner, source, spec, created_at, updated_at`

func readDocuments(ctx context.Context, q sqlx.QueryerContext, query string, args ...any) ([]store.Document, error) {
	rows, err := q.QueryxContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	defer rows.Close()
	var docs []store.Document
	for rows.Next() {
		var d store.Document
		var created, updated int64
		if err := rows.Scan(&d.Kind, &d.Name, &d.ID, &d.Version, &d.Owner, &d.Source, (*[]byte)(&d.Spec), &created, &updated); err != nil {
			return nil, fmt.Errorf("read documents: %w", err)
		}
		d.CreatedAt, d.UpdatedAt = fromMicros(&created), fromMicros(&updated)
		docs = append(docs, d)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	store.SortDocuments(docs) // here, because databases differ in how they compare text
	return docs, nil
}

// write stores a change. What is stored already is ended before anything new
// begins, so that a name can pass from one object to another.
func (c *change) write(ctx context.Context, tx *sqlx.Tx) error {
	if err := writeRevision(ctx, tx, &c.revision); err != nil {
		return err
	}
	for _, d := range c.ended {
		_, err := tx.ExecContext(ctx, `UPDATE documents SET to_rev = $1 WHERE kind = $2 AND name_key = $3 AND to_rev IS NULL`,
			c.revision.Number, d.Kind, store.NameKey(d.Kind, d.Name))
		if err != nil {
			return fmt.Errorf("end %s %q: %w", d.Kind, d.Name, err)
		}
	}
	for _, d := range c.begun {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO documents (`+documentColumns+`, name_key, from_rev)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			d.Kind, d.Name, d.ID, d.Version, d.Owner, d.Source, string(d.Spec), d.CreatedAt.UnixMicro(), d.UpdatedAt.UnixMicro(),
			store.NameKey(d.Kind, d.Name), c.revision.Number)
		if err != nil {
			return fmt.Errorf("write %s %q: %w", d.Kind, d.Name, err)
		}
	}
	return writeKeys(ctx, tx, c.changedKeys, c.newKeys)
}
