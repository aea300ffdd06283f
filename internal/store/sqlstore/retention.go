package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/interlock-gateway/interlock/internal/store"
)

// DeleteBefore implements store.Audit. It goes block by block, each in a
// transaction of its own, so that nobody waits for it for long.
func (s *Store) DeleteBefore(ctx context.Context, t time.Time, limit int) (int, error) {
	deleted := 0
	for deleted < limit {
		n := 0
		err := s.inWrite(ctx, func(tx *sqlx.Tx) (err error) {
			n, err = deleteFromBlock(ctx, tx, t.UnixMicro(), min(limit-deleted, blockSize))
			return err
		})
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return deleted, s.fail("delete audit records", err)
		}
		deleted += n
	}
	return deleted, nil
}

// deleteFromBlock removes at most limit old records of the first block that
// has any. It returns store.ErrNotFound if no block has.
func deleteFromBlock(ctx context.Context, tx *sqlx.Tx, before int64, limit int) (int, error) {
	var block int64
	err := tx.GetContext(ctx, &block, `SELECT block FROM audit_blocks WHERE min_time < $1 ORDER BY block LIMIT 1`, before)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, store.ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("find a block: %w", err)
	}
	first, last := block*blockSize, (block+1)*blockSize-1
	result, err := tx.ExecContext(ctx, `
		DELETE FROM audit WHERE seq IN (
			SELECT seq FROM audit WHERE seq BETWEEN $1 AND $2 AND time < $3 ORDER BY seq LIMIT $4)`, first, last, before, limit)
	if err != nil {
		return 0, fmt.Errorf("delete from block %d: %w", block, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("delete from block %d: %w", block, err)
	}
	if err := shrinkBlock(ctx, tx, block, first, last); err != nil {
		return 0, fmt.Errorf("shrink block %d: %w", block, err)
	}
	return int(n), nil
}

// shrinkBlock makes a block tell the times that are left in it, and removes
// an empty one. Texts that are gone from a block cost a look into it, no more.
func shrinkBlock(ctx context.Context, tx *sqlx.Tx, block, first, last int64) error {
	var from, to *int64
	if err := tx.QueryRowxContext(ctx, `SELECT MIN(time), MAX(time) FROM audit WHERE seq BETWEEN $1 AND $2`, first, last).Scan(&from, &to); err != nil {
		return err
	}
	if from != nil {
		_, err := tx.ExecContext(ctx, `UPDATE audit_blocks SET min_time = $1, max_time = $2 WHERE block = $3`, from, to, block)
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM audit_terms WHERE block = $1`, block); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM audit_blocks WHERE block = $1`, block)
	return err
}
