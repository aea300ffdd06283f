package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"

	"github.com/interlock-gateway/interlock/internal/store"
)

// maxTail is how many rows the pack that is being filled has at most: one for
// each import. More are joined.
const maxTail = 16

// auditStatements are prepared once, because import is on the processor's
// bill of every request.
type auditStatements struct {
	imported, number, tail, pack, place *sql.Stmt
}

func (a *auditStatements) prepare(ctx context.Context, db *sqlx.DB) error {
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&a.imported, `SELECT segment, place FROM audit_imports WHERE spool = $1`},
		{&a.number, `UPDATE audit_head SET seq = seq + $1 RETURNING seq`},
		{&a.tail, `SELECT COUNT(*) FROM audit_packs WHERE seq BETWEEN $1 AND $2`},
		{&a.pack, `INSERT INTO audit_packs (seq, min_time, max_time, cols, data) VALUES ($1, $2, $3, $4, $5)`},
		{&a.place, `
			INSERT INTO audit_imports (spool, segment, place) VALUES ($1, $2, $3)
			ON CONFLICT (spool) DO UPDATE SET segment = excluded.segment, place = excluded.place`},
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
	at, err := readImported(s.db.read.QueryRowContext(ctx, `SELECT segment, place FROM audit_imports WHERE spool = $1`, clean(spool)))
	if err != nil {
		return store.Position{}, s.fail("read how far audit records are imported", err)
	}
	return at, nil
}

// Import implements store.Audit.
func (s *Store) Import(ctx context.Context, spool string, records []store.Record, upTo store.Position) error {
	err := s.inWrite(ctx, func(tx *sqlx.Tx) error {
		// The transaction ends with ctx; each statement is short. Without a
		// context to watch it takes no goroutine.
		quick := context.WithoutCancel(ctx)
		at, err := readImported(tx.StmtContext(quick, s.audit.imported).QueryRowContext(quick, clean(spool))) //nolint:sqlclosecheck // closed with the transaction
		if err != nil {
			return err
		}
		if at.Segment > upTo.Segment || at.Segment == upTo.Segment && at.Offset >= upTo.Offset {
			return fmt.Errorf("up to %d in segment %d of spool %s: %w", upTo.Offset, upTo.Segment, spool, store.ErrImported)
		}
		if err := s.writeRecords(quick, tx, records); err != nil {
			return err
		}
		_, err = tx.StmtContext(quick, s.audit.place).ExecContext(quick, clean(spool), upTo.Segment, upTo.Offset) //nolint:sqlclosecheck // closed with the transaction
		return err
	})
	return s.fail("import audit records", err)
}

// readImported is the zero Position for a spool that was never imported.
func readImported(row *sql.Row) (store.Position, error) {
	var at store.Position
	err := row.Scan(&at.Segment, &at.Offset)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return at, err
}

// writeRecords numbers records and stores them.
func (s *Store) writeRecords(ctx context.Context, tx *sqlx.Tx, records []store.Record) error {
	if len(records) == 0 {
		return nil
	}
	var last int64
	if err := tx.StmtContext(ctx, s.audit.number).QueryRowContext(ctx, len(records)).Scan(&last); err != nil { //nolint:sqlclosecheck // closed with the transaction
		return fmt.Errorf("number records: %w", err)
	}
	w := packWriter{zip: s.zip, tx: tx, insert: tx.StmtContext(ctx, s.audit.pack)}
	first := last - int64(len(records)) + 1
	for seq := first; seq <= last; {
		n := min(last+1, (packOf(seq)+1)*packSize) - seq
		if err := s.fillPack(ctx, &w, seq, records[:n]); err != nil {
			return fmt.Errorf("write the records from number %d on: %w", seq, err)
		}
		records = records[n:]
		seq += n
	}
	for g := groupOf(first); g < groupOf(last+1); g++ {
		if err := w.closeGroup(ctx, g); err != nil {
			return fmt.Errorf("write what is in the records from number %d on: %w", g*packSize*groupSize, err)
		}
	}
	return nil
}

// fillPack adds records to a pack. Those that it has in other rows are joined
// with them when it is full, or when these are many.
func (s *Store) fillPack(ctx context.Context, w *packWriter, seq int64, records []store.Record) error {
	from, key := packOf(seq)*packSize, seq
	end := seq + int64(len(records))
	rows, size := 0, len(records)
	if seq > from {
		if err := w.tx.StmtContext(ctx, s.audit.tail).QueryRowContext(ctx, from, seq-1).Scan(&rows); err != nil { //nolint:sqlclosecheck // closed with the transaction
			return err
		}
	}
	joins := rows > 0 && (end%packSize == 0 || rows >= maxTail-1)
	if joins {
		size = int(end - from)
	}
	p := newPacker(s.zip, seq, size)
	if joins {
		var err error
		if key, err = w.take(ctx, p, from, seq-1); err != nil {
			return err
		}
	}
	for i := range records {
		r := cleanRecord(&records[i])
		p.add(seq+int64(i), &r)
	}
	return w.write(ctx, key, p)
}

// packWriter writes packs in a transaction.
type packWriter struct {
	zip    *zipper
	tx     *sqlx.Tx
	insert *sql.Stmt
}

// take moves what is stored between two numbers to a pack, and gives the number
// of the first row that it was in.
func (w *packWriter) take(ctx context.Context, p *packer, from, to int64) (first int64, err error) {
	packs, err := readPacks(ctx, w.tx, `SELECT seq, cols, data FROM audit_packs WHERE seq BETWEEN $1 AND $2 ORDER BY seq`, from, to)
	if err != nil {
		return 0, err
	}
	for _, row := range packs {
		v, err := w.zip.viewAll(row)
		if err != nil {
			return 0, err
		}
		if err := p.take(v, nil); err != nil {
			return 0, err
		}
	}
	_, err = w.tx.ExecContext(ctx, `DELETE FROM audit_packs WHERE seq BETWEEN $1 AND $2`, from, to)
	return packs[0].seq, err
}

func (w *packWriter) write(ctx context.Context, key int64, p *packer) error {
	cols, data := p.done()
	_, err := w.insert.ExecContext(ctx, key, p.minTime, p.maxTime, cols, data)
	return err
}

// closeGroup writes the words of a group whose packs are full.
func (w *packWriter) closeGroup(ctx context.Context, group int64) error {
	g, found := make(groupWords, 1024), false
	for from := group * groupSize * packSize; from < (group+1)*groupSize*packSize; from += 4 * packSize {
		packs, err := readPacks(ctx, w.tx, `SELECT seq, cols, NULL FROM audit_packs WHERE seq BETWEEN $1 AND $2`, from, from+4*packSize-1)
		if err != nil {
			return err
		}
		for _, row := range packs {
			v, err := w.zip.view(row.seq, row.cols)
			if err != nil {
				return err
			}
			g.add(v)
			found = true
			runtime.Gosched() // requests go first
		}
	}
	if !found {
		return nil
	}
	insert, err := w.tx.PrepareContext(ctx, `INSERT INTO audit_words (grp, part, words) VALUES ($1, $2, $3)`)
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }() // with the transaction at the latest
	for i, part := range g.parts() {
		if _, err := insert.ExecContext(ctx, group, i, part); err != nil {
			return err
		}
		runtime.Gosched()
	}
	return refreshGroup(ctx, w.tx, group)
}

// refreshGroup makes a group tell the times that are in it, and removes one
// that has no packs.
func refreshGroup(ctx context.Context, tx *sqlx.Tx, group int64) error {
	var from, to *int64
	first := group * groupSize * packSize
	if err := tx.QueryRowxContext(ctx, `SELECT MIN(min_time), MAX(max_time) FROM audit_packs WHERE seq BETWEEN $1 AND $2`,
		first, first+groupSize*packSize-1).Scan(&from, &to); err != nil {
		return err
	}
	if from != nil {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO audit_groups (grp, min_time, max_time) VALUES ($1, $2, $3)
			ON CONFLICT (grp) DO UPDATE SET min_time = excluded.min_time, max_time = excluded.max_time`, group, from, to)
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM audit_words WHERE grp = $1`, group); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM audit_groups WHERE grp = $1`, group)
	return err
}

// packRow is a row of packs.
type packRow struct {
	seq        int64
	cols, data []byte
}

// readPacks runs a query of packs.
func readPacks(ctx context.Context, tx *sqlx.Tx, text string, args ...any) ([]packRow, error) {
	rows, err := tx.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var packs []packRow
	for rows.Next() {
		var p packRow
		if err := rows.Scan(&p.seq, &p.cols, &p.data); err != nil {
			return nil, err
		}
		packs = append(packs, p)
	}
	return packs, rows.Err()
}

// cleanRecord makes the texts of a record storable.
func cleanRecord(in *store.Record) store.Record {
	r := *in
	for _, s := range []*string{&r.RequestID, &r.Kind, &r.Outcome, &r.Code, &r.Key, &r.Team, &r.Model, &r.Route, &r.Provider} {
		*s = clean(*s)
	}
	if !utf8.Valid(r.Data) || bytes.IndexByte(r.Data, 0) >= 0 {
		r.Data = json.RawMessage(clean(string(r.Data)))
	}
	return r
}
