package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/interlock-gateway/interlock/internal/store"
)

// repackVersion is the migration that moves records into packs.
const repackVersion = 4

// repacker moves audit records from rows into packs.
type repacker struct {
	tx    *sqlx.Tx
	write packWriter
}

// repack is migration 4.
func repack(ctx context.Context, tx *sql.Tx, zip *zipper) error {
	// Queries have the same form with every driver here: numbered.
	x := &sqlx.Tx{Tx: tx}
	insert, err := tx.PrepareContext(ctx, `INSERT INTO audit_packs (seq, min_time, max_time, cols, data) VALUES ($1, $2, $3, $4, $5)`)
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }() // with the transaction at the latest
	m := &repacker{tx: x, write: packWriter{zip: zip, tx: x, insert: insert}}
	var last int64
	if err := tx.QueryRowContext(ctx, `SELECT seq FROM audit_head`).Scan(&last); err != nil {
		return err
	}
	group := int64(-1)
	for next := int64(0); ; {
		first, err := m.first(ctx, next)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return err
		}
		if g := groupOf(first); g != group {
			if err := m.close(ctx, group); err != nil {
				return err
			}
			group = g
		}
		next = (packOf(first) + 1) * packSize
		if err := m.pack(ctx, first, next-1); err != nil {
			return fmt.Errorf("move the audit records from number %d on: %w", first, err)
		}
	}
	if group < groupOf(last+1) {
		if err := m.close(ctx, group); err != nil {
			return err
		}
	}
	for _, table := range []string{"audit_terms", "audit_blocks", "audit"} {
		if _, err := tx.ExecContext(ctx, "DROP TABLE "+table); err != nil {
			return err
		}
	}
	return nil
}

// first is the first record from a number on.
func (m *repacker) first(ctx context.Context, from int64) (seq int64, err error) {
	err = m.tx.QueryRowContext(ctx, `SELECT seq FROM audit WHERE seq >= $1 ORDER BY seq LIMIT 1`, from).Scan(&seq)
	return seq, err
}

// close ends a group, unless there was none yet.
func (m *repacker) close(ctx context.Context, group int64) error {
	if group < 0 {
		return nil
	}
	return m.write.closeGroup(ctx, group)
}

// pack moves the records between two numbers.
func (m *repacker) pack(ctx context.Context, from, to int64) error {
	rows, err := m.tx.QueryContext(ctx, `
		SELECT seq, time, request_id, kind, outcome, code, status, key, team, model, route, provider, data
		FROM audit WHERE seq BETWEEN $1 AND $2 ORDER BY seq`, from, to)
	if err != nil {
		return err
	}
	defer rows.Close()
	p := newPacker(m.write.zip, from, packSize)
	for rows.Next() {
		var r store.Record
		var us int64
		if err := rows.Scan(&r.Seq, &us, &r.RequestID, &r.Kind, &r.Outcome, &r.Code, &r.Status,
			&r.Key, &r.Team, &r.Model, &r.Route, &r.Provider, (*[]byte)(&r.Data)); err != nil {
			return err
		}
		r.Time = fromMicros(&us)
		p.add(r.Seq, &r)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return m.write.write(ctx, from, p)
}
