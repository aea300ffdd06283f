package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/interlock-gateway/interlock/internal/store"
)

// blockSize is how many neighbouring records a block has. It is in stored data
// and cannot change without a migration.
const blockSize = 512

func blockOf(seq int64) int64 { return seq / blockSize }

// auditStatements are prepared once, because import is on the processor's
// bill of every request. One statement a record is deliberate: binding the
// values of many rows to one statement costs the driver twice to seven times
// as much.
type auditStatements struct {
	record, block, term *sql.Stmt
}

func (a *auditStatements) prepare(ctx context.Context, db *sqlx.DB) error {
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&a.record, `
			INSERT INTO audit (` + recordColumns + `)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`},
		{&a.block, `
			INSERT INTO audit_blocks (block, min_time, max_time) VALUES ($1, $2, $3)
			ON CONFLICT (block) DO UPDATE SET
				min_time = CASE WHEN excluded.min_time < audit_blocks.min_time THEN excluded.min_time ELSE audit_blocks.min_time END,
				max_time = CASE WHEN excluded.max_time > audit_blocks.max_time THEN excluded.max_time ELSE audit_blocks.max_time END`},
		{&a.term, `
			INSERT INTO audit_terms (field, value, block, first_seq, last_seq) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (field, value, block) DO UPDATE SET last_seq = excluded.last_seq`},
	} {
		stmt, err := db.PrepareContext(ctx, p.text) //nolint:sqlclosecheck // closed with the connections
		if err != nil {
			return fmt.Errorf("prepare to write audit records: %w", err)
		}
		*p.stmt = stmt
	}
	return nil
}

// Imported implements store.Audit.
func (s *Store) Imported(ctx context.Context, spool string) (store.Position, error) {
	at, err := readImported(ctx, s.db.read, spool)
	if err != nil {
		return store.Position{}, s.fail("read how far audit records are imported", err)
	}
	return at, nil
}

// Import implements store.Audit.
func (s *Store) Import(ctx context.Context, spool string, records []store.Record, upTo store.Position) error {
	err := s.inWrite(ctx, func(tx *sqlx.Tx) error {
		at, err := readImported(ctx, tx, spool)
		if err != nil {
			return err
		}
		if at.Segment > upTo.Segment || at.Segment == upTo.Segment && at.Offset >= upTo.Offset {
			return fmt.Errorf("up to %d in segment %d of spool %s: %w", upTo.Offset, upTo.Segment, spool, store.ErrImported)
		}
		if err := s.writeRecords(ctx, tx, records); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO audit_imports (spool, segment, place) VALUES ($1, $2, $3)
			ON CONFLICT (spool) DO UPDATE SET segment = excluded.segment, place = excluded.place`,
			clean(spool), upTo.Segment, upTo.Offset)
		return err
	})
	return s.fail("import audit records", err)
}

// readImported is the zero Position for a spool that was never imported.
func readImported(ctx context.Context, q sqlx.QueryerContext, spool string) (store.Position, error) {
	var at store.Position
	err := q.QueryRowxContext(ctx, `SELECT segment, place FROM audit_imports WHERE spool = $1`, clean(spool)).Scan(&at.Segment, &at.Offset)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return at, err
}

// column is a searched column and a text in it.
type column struct{ name, value string }

// blockColumns are the columns whose texts are kept for each block.
func blockColumns(kind, outcome, code, team, model, route, provider string) [7]column {
	return [...]column{ // a search begins with the first that it asks for: rare ones go first
		{"code", code}, {"model", model}, {"team", team}, {"route", route}, {"outcome", outcome}, {"provider", provider}, {"kind", kind},
	}
}

// leads says that looking for a text is worth while: not for what nearly every
// record has.
func (c column) leads() bool {
	return c.value != "" && c != column{"kind", "request"} && c != column{"outcome", "allow"}
}

// term is a text that a searched column has in a block of records.
type term struct {
	column
	block int64
}

// span is from the least to the greatest: of times, or of numbers of records.
type span struct{ from, to int64 }

// widen makes the span of k hold n.
func widen[K comparable](spans map[K]span, k K, n int64) {
	s, ok := spans[k]
	if !ok {
		s = span{n, n}
	}
	spans[k] = span{min(s.from, n), max(s.to, n)}
}

// writeRecords numbers records and stores them with what leads a search to
// them.
func (s *Store) writeRecords(ctx context.Context, tx *sqlx.Tx, records []store.Record) error {
	if len(records) == 0 {
		return nil
	}
	var last int64
	if err := tx.GetContext(ctx, &last, `UPDATE audit_head SET seq = seq + $1 RETURNING seq`, len(records)); err != nil {
		return fmt.Errorf("number records: %w", err)
	}
	// The transaction ends with ctx; each statement is short. Without a
	// context to watch it takes no goroutine.
	quick := context.WithoutCancel(ctx)
	insert := tx.StmtContext(quick, s.audit.record) //nolint:sqlclosecheck // closed with the transaction
	terms := make(map[term]span, 64)
	times := make(map[int64]span, 2)
	for i := range records {
		r := cleanRecord(records[i])
		r.Seq = last - int64(len(records)-1-i)
		us := r.Time.UnixMicro()
		if _, err := insert.ExecContext(quick, r.Seq, us, r.RequestID, r.Kind, r.Outcome, r.Code, r.Status,
			r.Key, r.Team, r.Model, r.Route, r.Provider, string(r.Data)); err != nil {
			return fmt.Errorf("write a record: %w", err)
		}
		block := blockOf(r.Seq)
		for _, c := range blockColumns(r.Kind, r.Outcome, r.Code, r.Team, r.Model, r.Route, r.Provider) {
			if c.leads() {
				widen(terms, term{c, block}, r.Seq)
			}
		}
		widen(times, block, us)
	}
	return s.writeBlocks(quick, tx, times, terms)
}

func (s *Store) writeBlocks(ctx context.Context, tx *sqlx.Tx, times map[int64]span, terms map[term]span) error {
	insert := tx.StmtContext(ctx, s.audit.block) //nolint:sqlclosecheck // closed with the transaction
	for block, at := range times {
		if _, err := insert.ExecContext(ctx, block, at.from, at.to); err != nil {
			return fmt.Errorf("write a block of records: %w", err)
		}
	}
	insert = tx.StmtContext(ctx, s.audit.term) //nolint:sqlclosecheck // closed with the transaction
	for t, seqs := range terms {
		if _, err := insert.ExecContext(ctx, t.name, t.value, t.block, seqs.from, seqs.to); err != nil {
			return fmt.Errorf("write a term of records: %w", err)
		}
	}
	return nil
}

// cleanRecord makes the texts of a record storable.
func cleanRecord(r store.Record) store.Record {
	for _, s := range []*string{&r.RequestID, &r.Kind, &r.Outcome, &r.Code, &r.Key, &r.Team, &r.Model, &r.Route, &r.Provider} {
		*s = clean(*s)
	}
	r.Data = json.RawMessage(clean(string(r.Data)))
	return r
}
