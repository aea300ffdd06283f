package sqlstore

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/interlock-gateway/interlock/internal/store"
)

// planKeys adds what a Write does to secrets to a change and returns all
// secrets as they are afterwards. What is ended or revoked is what was there
// before; what is revoked stays so.
func planKeys(before []store.KeySecret, w *store.Write, now time.Time, c *change) ([]store.KeySecret, error) {
	after := slices.Clone(before)
	taken := make(map[[32]byte]bool, len(after))
	for i := range after {
		k := &after[i]
		taken[k.Hash] = true
		if !k.RevokedAt.IsZero() {
			continue
		}
		if ends, ok := w.EndKeys[k.KeyID]; ok && (k.EndsAt.IsZero() || ends.Before(k.EndsAt)) {
			k.EndsAt = stored(ends)
		}
		if slices.Contains(w.RevokeKeys, k.KeyID) {
			k.RevokedAt = now
		}
		if *k != before[i] {
			c.changedKeys = append(c.changedKeys, *k)
		}
	}
	for _, k := range w.AddKeys {
		if taken[k.Hash] {
			return nil, fmt.Errorf("add a secret of the key %s: it is there already: %w", k.KeyID, store.ErrConflict)
		}
		taken[k.Hash] = true
		if k.CreatedAt.IsZero() {
			k.CreatedAt = now
		}
		k.KeyID, k.Last4 = clean(k.KeyID), clean(k.Last4)
		k.CreatedAt, k.EndsAt, k.RevokedAt = stored(k.CreatedAt), stored(k.EndsAt), stored(k.RevokedAt)
		c.newKeys = append(c.newKeys, k)
	}
	after = append(after, c.newKeys...)
	store.SortKeys(after)
	return after, nil
}

func readKeys(ctx context.Context, q sqlx.QueryerContext) ([]store.KeySecret, error) {
	rows, err := q.QueryxContext(ctx, `SELECT hash, key_id, last4, created_at, ends_at, revoked_at FROM key_secrets`)
	if err != nil {
		return nil, fmt.Errorf("read key secrets: %w", err)
	}
	defer rows.Close()
	var keys []store.KeySecret
	for rows.Next() {
		var k store.KeySecret
		var hash []byte
		var created, ends, revoked *int64
		if err := rows.Scan(&hash, &k.KeyID, &k.Last4, &created, &ends, &revoked); err != nil {
			return nil, fmt.Errorf("read key secrets: %w", err)
		}
		if n, err := hex.Decode(k.Hash[:], hash[:min(len(hash), 2*len(k.Hash))]); err != nil || n != len(k.Hash) {
			return nil, fmt.Errorf("read key secrets: the hash of a secret of the key %s is damaged", k.KeyID)
		}
		k.CreatedAt, k.EndsAt, k.RevokedAt = fromMicros(created), fromMicros(ends), fromMicros(revoked)
		keys = append(keys, k)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read key secrets: %w", err)
	}
	store.SortKeys(keys)
	return keys, nil
}

func writeKeys(ctx context.Context, tx *sqlx.Tx, changed, added []store.KeySecret) error {
	for _, k := range changed {
		_, err := tx.ExecContext(ctx, `UPDATE key_secrets SET ends_at = $1, revoked_at = $2 WHERE hash = $3`,
			micros(k.EndsAt), micros(k.RevokedAt), hex.EncodeToString(k.Hash[:]))
		if err != nil {
			return fmt.Errorf("change a secret of the key %s: %w", k.KeyID, err)
		}
	}
	for _, k := range added {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO key_secrets (hash, key_id, last4, created_at, ends_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6)`,
			hex.EncodeToString(k.Hash[:]), k.KeyID, k.Last4, micros(k.CreatedAt), micros(k.EndsAt), micros(k.RevokedAt))
		if err != nil {
			return fmt.Errorf("add a secret of the key %s: %w", k.KeyID, err)
		}
	}
	return nil
}
