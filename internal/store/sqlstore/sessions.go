package sqlstore

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/interlock-gateway/interlock/internal/store"
)

const sessionColumns = `hash, name, via, role, stamp, created_at, seen_at`

// AddSession implements store.Sessions.
func (s *Store) AddSession(ctx context.Context, n store.Session) error {
	err := s.inWrite(ctx, func(tx *sqlx.Tx) error {
		r, err := tx.ExecContext(ctx, `INSERT INTO console_sessions (`+sessionColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
			hex.EncodeToString(n.Hash[:]), clean(n.Name), clean(n.Via), clean(n.Role), clean(n.Stamp), n.CreatedAt.UnixMicro(), n.SeenAt.UnixMicro())
		if err != nil {
			return err
		}
		if added, err := r.RowsAffected(); err == nil && added == 0 {
			return fmt.Errorf("there is one with this hash: %w", store.ErrConflict)
		}
		return nil
	})
	return s.fail("store a session", err)
}

// FindSession implements store.Sessions.
func (s *Store) FindSession(ctx context.Context, hash [32]byte) (*store.Session, error) {
	row := s.db.read.QueryRowxContext(ctx, `SELECT `+sessionColumns+` FROM console_sessions WHERE hash = $1`, hex.EncodeToString(hash[:]))
	out, err := readSession(row)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, s.fail("read a session", err)
	}
	return out, nil
}

// SeeSession implements store.Sessions.
func (s *Store) SeeSession(ctx context.Context, hash [32]byte, at time.Time) error {
	return s.sessionsExec(ctx, "note that a session is used", `UPDATE console_sessions SET seen_at = $1 WHERE hash = $2 AND seen_at < $1`, at.UnixMicro(), hex.EncodeToString(hash[:]))
}

// EndSession implements store.Sessions.
func (s *Store) EndSession(ctx context.Context, hash [32]byte) error {
	return s.sessionsExec(ctx, "end a session", `DELETE FROM console_sessions WHERE hash = $1`, hex.EncodeToString(hash[:]))
}

func (s *Store) sessionsExec(ctx context.Context, op, query string, args ...any) error {
	_, err := s.db.write.ExecContext(ctx, query, args...)
	return s.fail(op, err)
}

// SessionsVia implements store.Sessions.
func (s *Store) SessionsVia(ctx context.Context, via string) ([]store.Session, error) {
	rows, err := s.db.read.QueryxContext(ctx, `SELECT `+sessionColumns+` FROM console_sessions WHERE via = $1 ORDER BY created_at, hash`, via)
	if err != nil {
		return nil, s.fail("list sessions", err)
	}
	defer rows.Close()
	var out []store.Session
	for rows.Next() {
		one, err := readSession(rows)
		if err != nil {
			return nil, s.fail("list sessions", err)
		}
		out = append(out, *one)
	}
	return out, s.fail("list sessions", rows.Err())
}

// EndSessions implements store.Sessions.
func (s *Store) EndSessions(ctx context.Context, seenBefore, createdBefore time.Time) (int, error) {
	r, err := s.db.write.ExecContext(ctx, `DELETE FROM console_sessions WHERE seen_at < $1 OR created_at < $2`, seenBefore.UnixMicro(), createdBefore.UnixMicro())
	if err != nil {
		return 0, s.fail("end old sessions", err)
	}
	n, err := r.RowsAffected()
	return int(n), s.fail("end old sessions", err)
}

func readSession(row interface{ Scan(...any) error }) (*store.Session, error) {
	var out store.Session
	var hash string
	var created, seen int64
	if err := row.Scan(&hash, &out.Name, &out.Via, &out.Role, &out.Stamp, &created, &seen); err != nil {
		return nil, err
	}
	if n, err := hex.Decode(out.Hash[:], []byte(hash[:min(len(hash), 2*len(out.Hash))])); err != nil || n != len(out.Hash) {
		return nil, errors.New("the hash of a session is damaged")
	}
	out.CreatedAt, out.SeenAt = time.UnixMicro(created).UTC(), time.UnixMicro(seen).UTC()
	return &out, nil
}
