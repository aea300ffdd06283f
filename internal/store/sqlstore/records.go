package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/interlock-gateway/interlock/internal/store"
)

const recordColumns = `seq, time, request_id, kind, outcome, code, status, key, team, model, route, provider, data`

// Records implements store.Audit.
func (s *Store) Records(ctx context.Context, f store.RecordFilter, limit int) ([]store.Record, error) {
	text, args := recordsQuery(&f, max(limit, 0))
	records, err := s.readRecords(ctx, text, args)
	if err != nil {
		return nil, s.fail("list audit records", err)
	}
	return records, nil
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

// recordsQuery writes the query of a filter. Request ids, keys, codes
// and failures have indexes. Times and texts of other columns are looked up in the blocks of
// records first, and only blocks that have them all are read. The tables are
// nested loops in the order in which they are written, CROSS JOIN keeps SQLite
// to it, so records come newest first without sorting and the search ends with
// the page.
func recordsQuery(f *store.RecordFilter, limit int) (string, []any) {
	q := &query{}
	q.filter(f)
	loops := q.blockLoops(f)
	order := " ORDER BY a.seq DESC"
	if len(loops) > 0 {
		block := blockColumn(loops[0])
		q.and("a.seq >= " + block + " * " + strconv.Itoa(blockSize))
		q.and("a.seq < (" + block + " + 1) * " + strconv.Itoa(blockSize))
		order = " ORDER BY " + block + " DESC, a.seq DESC"
	}
	loops = append(loops, "audit a")
	text := "SELECT a." + strings.ReplaceAll(recordColumns, ", ", ", a.") + " FROM " + strings.Join(loops, " CROSS JOIN ") + q.where() + order +
		" LIMIT " + q.bind(limit)
	return text, q.args
}

// query collects conditions and the values that they bind.
type query struct {
	conditions []string
	args       []any
}

// bind adds a value and gives its placeholder.
func (q *query) bind(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

func (q *query) and(condition string) { q.conditions = append(q.conditions, condition) }

func (q *query) where() string {
	if len(q.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(q.conditions, " AND ")
}

// filter adds what each record has to meet.
func (q *query) filter(f *store.RecordFilter) {
	columns := blockColumns(f.Kind, f.Outcome, f.Code, f.Team, f.Model, f.Route, f.Provider)
	for _, c := range append(columns[:], column{"request_id", f.RequestID}, column{"key", f.Key}) {
		if c.value != "" {
			q.and("a." + c.name + " = " + q.bind(clean(c.value)))
		}
	}
	// These repeat the conditions of partial indexes, which are not used else.
	if f.RequestID != "" {
		q.and("a.request_id <> ''")
	}
	if f.Key != "" {
		q.and("a.key <> ''")
	}
	if f.Code != "" {
		q.and("a.code <> ''")
	}
	if f.Outcome != "" && f.Outcome != "allow" {
		q.and("a.outcome <> 'allow'")
	}
	if !f.From.IsZero() {
		q.and("a.time >= " + q.bind(f.From.UnixMicro()))
	}
	if !f.To.IsZero() {
		q.and("a.time < " + q.bind(f.To.UnixMicro()))
	}
	if f.Before > 0 {
		q.and("a.seq < " + q.bind(f.Before))
	}
}

// blockLoops are the tables that lead to the blocks that have what a filter
// asks for, none if it asks for nothing that is kept by block.
func (q *query) blockLoops(f *store.RecordFilter) []string {
	if f.RequestID != "" {
		return nil // its index leads to a handful of records
	}
	var loops []string
	add := func(table, alias string) {
		loops = append(loops, table+" "+alias)
		if len(loops) > 1 {
			q.and(alias + ".block = " + blockColumn(loops[0]))
		} else if f.Before > 0 {
			q.and(alias + ".block <= " + q.bind(blockOf(f.Before)))
		}
	}
	for _, c := range blockColumns(f.Kind, f.Outcome, f.Code, f.Team, f.Model, f.Route, f.Provider) {
		if c.value == "" {
			continue
		}
		alias := "t" + strconv.Itoa(len(loops))
		add("audit_terms", alias)
		q.and(fmt.Sprintf("%s.field = '%s' AND %s.value = %s", alias, c.name, alias, q.bind(clean(c.value))))
	}
	if f.From.IsZero() && f.To.IsZero() {
		return loops
	}
	add("audit_blocks", "b")
	if !f.From.IsZero() {
		q.and("b.max_time >= " + q.bind(f.From.UnixMicro()))
	}
	if !f.To.IsZero() {
		q.and("b.min_time < " + q.bind(f.To.UnixMicro()))
	}
	return loops
}

// blockColumn is the column with the block in a table "name alias".
func blockColumn(loop string) string {
	_, alias, _ := strings.Cut(loop, " ")
	return alias + ".block"
}
