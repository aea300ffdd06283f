package sqlstore

import (
	"context"

	"github.com/interlock-gateway/interlock/internal/store"
)

// few is how many records are looked at one by one rather than looked up in
// blocks.
const few = 2000

// Records implements store.Audit.
func (s *Store) Records(ctx context.Context, f store.RecordFilter, limit int) ([]store.Record, error) {
	direct, err := s.isFew(ctx, &f)
	if err != nil {
		return nil, s.fail("list audit records", err)
	}
	text, args := s.dialect.recordsQuery(&f, max(limit, 0), direct)
	records, err := s.readRecords(ctx, text, args)
	if err != nil {
		return nil, s.fail("list audit records", err)
	}
	return records, nil
}

// isFew says whether the request id or the key of a filter leaves few records.
func (s *Store) isFew(ctx context.Context, f *store.RecordFilter) (bool, error) {
	if f.RequestID != "" {
		return true, nil
	}
	if f.Key == "" {
		return false, nil
	}
	var n int
	err := s.db.read.GetContext(ctx, &n, `SELECT COUNT(*) FROM (SELECT 1 FROM audit WHERE key = $1 AND key <> '' LIMIT $2) AS x`, clean(f.Key), few)
	return n < few, err
}

func (s *Store) readRecords(ctx context.Context, text string, args []any) ([]store.Record, error) {
	rows, err := s.db.read.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var records []store.Record
	for rows.Next() {
		var r store.Record
		var us int64
		if err := rows.Scan(&r.Seq, &us, &r.RequestID, &r.Kind, &r.Outcome, &r.Code, &r.Status,
			&r.Key, &r.Team, &r.Model, &r.Route, &r.Provider, (*[]byte)(&r.Data)); err != nil {
			return nil, err
		}
		r.Time = fromMicros(&us)
		if len(r.Data) == 0 {
			r.Data = nil
		}
		records = append(records, r)
	}
	return records, rows.Err()
}
