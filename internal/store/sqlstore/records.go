package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/interlock-gateway/interlock/internal/store"
)

// Records implements store.Audit. It goes through groups of packs from the
// newest to the oldest, by their words to the packs that may have what is
// wanted, and by the columns of these to the records.
func (s *Store) Records(ctx context.Context, f store.RecordFilter, limit int) ([]store.Record, error) {
	if limit <= 0 {
		return nil, nil
	}
	var records []store.Record
	err := s.inRead(ctx, func(tx *sqlx.Tx) error {
		var head int64
		if err := tx.GetContext(ctx, &head, `SELECT seq FROM audit_head`); err != nil {
			return err
		}
		q := &search{ctx: ctx, tx: tx, zip: s.zip, wanted: want(&f), limit: limit, open: groupOf(head + 1)}
		err := q.run()
		records = q.records
		return err
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, s.fail("list audit records", err)
	}
	return records, nil
}

// errEnough ends a search.
var errEnough = errors.New("enough records")

// wanted is a filter as packs know it.
type wanted struct {
	texts     []wantedText
	requestID string
	from, to  *int64
	before    int64
	words     []uint64
}

type wantedText struct {
	column int
	value  string
}

func want(f *store.RecordFilter) *wanted {
	w := &wanted{from: micros(f.From), to: micros(f.To), before: f.Before, requestID: clean(f.RequestID)}
	if w.before <= 0 {
		w.before = math.MaxInt64
	}
	for column, text := range []string{f.Kind, f.Outcome, f.Code, f.Key, f.Team, f.Model, f.Route, f.Provider, f.RequestID} {
		if text == "" {
			continue
		}
		if text = clean(text); column == colRequest {
			text = requestPrefix(text)
		}
		w.texts = append(w.texts, wantedText{column, text})
		if leads(column, text) {
			w.words = append(w.words, word(column, text))
		}
	}
	if f.Key != "" && f.Outcome != "" && f.Outcome != "allow" {
		w.words = append(w.words, word(failedKey, clean(f.Key)))
	}
	return w
}

// search is one list of records.
type search struct {
	*wanted

	ctx  context.Context //nolint:containedctx // of one call
	tx   *sqlx.Tx
	zip  *zipper
	open int64 // the group that is being filled
	step int   // how many packs were read at once last

	limit   int
	records []store.Record
	text    []byte
}

func (q *search) run() error {
	if err := q.packs(q.open*groupSize*packSize, math.MaxInt64, math.MaxUint64); err != nil {
		return err
	}
	group := min(q.open, groupOf(q.before)+1)
	for step := 4; ; step = min(2*step, 64) {
		groups, err := q.groups(group, step)
		if err != nil {
			return err
		}
		for _, g := range groups {
			first := g.group * groupSize * packSize
			if err := q.packs(first, first+groupSize*packSize-1, g.packs); err != nil {
				return err
			}
			group = g.group
		}
		if len(groups) < step {
			return nil
		}
	}
}

// groupRow is a group and the packs in it that may have what is wanted.
type groupRow struct {
	group int64
	packs uint64
}

// groups lists at most n groups before one.
func (q *search) groups(before int64, n int) ([]groupRow, error) {
	text, args := q.groupsQuery(before, n)
	rows, err := q.tx.QueryContext(q.ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var groups []groupRow
	parts := make([]sql.RawBytes, len(q.words)) // read before the next row
	for rows.Next() {
		var g groupRow
		into := []any{&g.group}
		for i := range parts {
			into = append(into, &parts[i])
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		found := make([][]byte, len(parts))
		for i, w := range q.words {
			found[i] = placesOf(parts[i], w)
		}
		g.packs = common(found)
		groups = append(groups, g)
	}
	return groups, rows.Err()
}

// packs looks into the packs between two numbers.
func (q *search) packs(from, to int64, packs uint64) error {
	to = min(to, q.before-1)
	for packs != 0 && from <= to {
		q.step = min(max(2, 2*q.step), groupSize)
		text, args := q.packsQuery(from, to, packs)
		rows, err := readPacks(q.ctx, q.tx, text, args...)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := q.pack(row); err != nil {
				return err
			}
			to = row.seq - 1
		}
		if len(rows) < q.step {
			return nil
		}
	}
	return nil
}

// pack takes what is wanted out of a pack.
func (q *search) pack(row packRow) error {
	v, err := q.zip.view(row.seq, row.cols)
	if err != nil {
		return err
	}
	found := v.match(q.wanted)
	if len(found) == 0 {
		return nil
	}
	if err := q.tx.GetContext(q.ctx, &row.data, `SELECT data FROM audit_packs WHERE seq = $1`, row.seq); err != nil {
		return err
	}
	if err := v.open(row.data); err != nil {
		return err
	}
	entries := v.entries()
	for _, f := range slices.Backward(v.frames) {
		n := 0
		for n < len(found) && found[n] >= f.first {
			n++
		}
		if err := q.frame(&f, entries, found[:n]); err != nil {
			return err
		}
		found = found[n:]
	}
	return nil
}

// frame takes records out of a frame of a pack.
func (q *search) frame(f *frameView, entries []entry, found []int) (err error) {
	if len(found) == 0 {
		return nil
	}
	if q.text, err = q.zip.unzip(q.text[:0], f.zipped); err != nil || len(q.text) != f.bytes {
		return damaged(entries[f.first].seq, err)
	}
	ends, end := make([]int, f.records), 0
	for i := range ends {
		e := &entries[f.first+i]
		end += e.idLen + e.dataLen
		ends[i] = end
	}
	for _, i := range found {
		e := &entries[i]
		end := ends[i-f.first]
		data := q.text[end-e.dataLen : end]
		id := string(q.text[end-e.dataLen-e.idLen : end-e.dataLen])
		if q.requestID != "" && id != q.requestID {
			continue
		}
		q.records = append(q.records, e.record(id, data))
		if len(q.records) == q.limit {
			return errEnough
		}
	}
	return nil
}

func (e *entry) record(id string, data []byte) store.Record {
	r := store.Record{
		Seq: e.seq, Time: fromMicros(&e.time), RequestID: id, Status: int(e.status),
		Kind: e.texts[colKind], Outcome: e.texts[colOutcome], Code: e.texts[colCode], Key: e.texts[colKey], Team: e.texts[colTeam],
		Model: e.texts[colModel], Route: e.texts[colRoute], Provider: e.texts[colProvider],
	}
	if len(data) > 0 {
		r.Data = json.RawMessage(bytes.Clone(data))
	}
	return r
}
