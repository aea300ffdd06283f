package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/interlock-gateway/interlock/internal/store"
)

// DeleteBefore implements store.Audit. It goes pack by pack, each in a
// transaction of its own, so that nobody waits for it for long.
func (s *Store) DeleteBefore(ctx context.Context, t time.Time, limit int) (int, error) {
	deleted := 0
	for deleted < limit {
		n := 0
		err := s.inWrite(ctx, func(tx *sqlx.Tx) (err error) {
			n, err = s.deleteFromPack(ctx, tx, t.UnixMicro(), limit-deleted)
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

// deleteFromPack removes at most limit old records of the first pack that has
// any. It returns store.ErrNotFound if no pack has.
func (s *Store) deleteFromPack(ctx context.Context, tx *sqlx.Tx, before int64, limit int) (int, error) {
	row, err := oldPack(ctx, tx, before)
	if err != nil {
		return 0, err
	}
	v, err := s.zip.viewAll(row)
	if err != nil {
		return 0, err
	}
	drop, deleted := make([]bool, v.n), 0
	for i, e := range v.entries() {
		if drop[i] = e.time < before && deleted < limit; drop[i] {
			deleted++
		}
	}
	if deleted == v.n {
		_, err = tx.ExecContext(ctx, `DELETE FROM audit_packs WHERE seq = $1`, row.seq)
	} else {
		err = rewritePack(ctx, tx, s.zip, v, row.seq, drop)
	}
	if err != nil {
		return 0, fmt.Errorf("delete from the records from number %d on: %w", row.seq, err)
	}
	var closed int
	group := groupOf(row.seq)
	if err := tx.GetContext(ctx, &closed, `SELECT COUNT(*) FROM audit_groups WHERE grp = $1`, group); err != nil || closed == 0 {
		return deleted, err
	}
	return deleted, refreshGroup(ctx, tx, group)
}

// rewritePack takes records out of a pack.
func rewritePack(ctx context.Context, tx *sqlx.Tx, zip *zipper, v *packView, key int64, drop []bool) error {
	rest := newPacker(zip, key, v.n)
	if err := rest.take(v, drop); err != nil {
		return err
	}
	cols, data := rest.done()
	_, err := tx.ExecContext(ctx, `UPDATE audit_packs SET min_time = $1, max_time = $2, cols = $3, data = $4 WHERE seq = $5`,
		rest.minTime, rest.maxTime, cols, data, key)
	return err
}

// oldPack is the first pack with a record before a time: of the groups, which
// know their times, or of the one that is being filled.
func oldPack(ctx context.Context, tx *sqlx.Tx, before int64) (packRow, error) {
	const first = `SELECT seq, cols, data FROM audit_packs WHERE seq BETWEEN $1 AND $2 AND min_time < $3 ORDER BY seq LIMIT 1`
	var from, to int64
	err := tx.GetContext(ctx, &from, `SELECT grp FROM audit_groups WHERE min_time < $1 ORDER BY grp LIMIT 1`, before)
	switch {
	case err == nil:
		from *= groupSize * packSize
		to = from + groupSize*packSize - 1
	case errors.Is(err, sql.ErrNoRows):
		if err := tx.GetContext(ctx, &from, `SELECT seq FROM audit_head`); err != nil {
			return packRow{}, err
		}
		from, to = groupOf(from+1)*groupSize*packSize, math.MaxInt64
	default:
		return packRow{}, err
	}
	rows, err := readPacks(ctx, tx, first, from, to, before)
	if err != nil {
		return packRow{}, fmt.Errorf("find old records: %w", err)
	}
	if len(rows) == 0 {
		return packRow{}, store.ErrNotFound
	}
	return rows[0], nil
}
