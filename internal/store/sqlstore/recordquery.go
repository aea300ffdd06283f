package sqlstore

import (
	"strconv"
	"strings"

	"github.com/interlock-gateway/interlock/internal/store"
)

const recordColumns = `seq, time, request_id, kind, outcome, code, status, key, team, model, route, provider, data`

// recordsQuery writes the query of a filter. Request ids, keys, codes and
// failures have indexes. Times and texts of other columns are looked up in the
// blocks of records first, and only where they all are records are read; a
// direct query does without. The tables are nested loops in the order in which
// they are written, CROSS JOIN keeps SQLite to it, so records come newest first
// without sorting and the search ends with the page.
func (d *dialect) recordsQuery(f *store.RecordFilter, limit int, direct bool) (string, []any) {
	q := &query{}
	q.filter(f)
	index, implied := recordIndex(f)
	if implied != "" {
		q.and(implied)
	}
	order := "a.seq DESC"
	if !direct {
		if lead := q.addBlocks(f); lead != "" {
			order = lead + ".block DESC, a.seq DESC"
		}
	}
	text := "SELECT a." + strings.ReplaceAll(recordColumns, ", ", ", a.") +
		" FROM " + strings.Join(append(q.tables, "audit a"+d.useIndex(index)), " CROSS JOIN ") +
		q.where() + " ORDER BY " + order + " LIMIT " + q.bind(limit)
	return text, q.args
}

// recordIndex chooses the index that leads to records, "" for none, and says
// what it holds in the words of the index.
func recordIndex(f *store.RecordFilter) (name, implied string) {
	failed := f.Outcome != "" && f.Outcome != "allow"
	switch {
	case f.RequestID != "":
		return "audit_request", "a.request_id <> ''"
	case f.Key != "" && failed:
		return "audit_key_failed", "a.key <> '' AND a.outcome <> 'allow'"
	case f.Key != "":
		return "audit_key", "a.key <> ''"
	case f.Code != "":
		return "audit_code", "a.code <> ''"
	case failed:
		return "audit_failed", "a.outcome <> 'allow'"
	}
	return "", ""
}

// query collects the parts of a query and the values that they bind.
type query struct {
	tables     []string
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

// addBlocks adds the tables that lead to the blocks that have what a filter asks
// for, and ties the records to them. It returns the first table, "" if there
// is none.
func (q *query) addBlocks(f *store.RecordFilter) (lead string) {
	for _, c := range blockColumns(f.Kind, f.Outcome, f.Code, f.Team, f.Model, f.Route, f.Provider) {
		if !c.leads() {
			continue
		}
		t := "t" + strconv.Itoa(len(q.tables))
		q.addBlockTable("audit_terms", t, &lead, f)
		q.and(t + ".field = '" + c.name + "'")
		q.and(t + ".value = " + q.bind(clean(c.value)))
		q.and("a.seq BETWEEN " + t + ".first_seq AND " + t + ".last_seq")
		if t != lead {
			q.and(t + ".first_seq <= " + lead + ".last_seq")
			q.and(t + ".last_seq >= " + lead + ".first_seq")
		}
	}
	if f.From.IsZero() && f.To.IsZero() {
		return lead
	}
	q.addBlockTable("audit_blocks", "b", &lead, f)
	q.and("a.seq >= b.block * " + strconv.Itoa(blockSize))
	q.and("a.seq < (b.block + 1) * " + strconv.Itoa(blockSize))
	if !f.From.IsZero() {
		q.and("b.max_time >= " + q.bind(f.From.UnixMicro()))
	}
	if !f.To.IsZero() {
		q.and("b.min_time < " + q.bind(f.To.UnixMicro()))
	}
	return lead
}

// addBlockTable adds a table that has blocks: the same ones as the first table.
func (q *query) addBlockTable(table, alias string, lead *string, f *store.RecordFilter) {
	q.tables = append(q.tables, table+" "+alias)
	switch {
	case *lead != "":
		q.and(alias + ".block = " + *lead + ".block")
	case f.Before > 0:
		q.and(alias + ".block <= " + q.bind(blockOf(f.Before)))
	}
	if *lead == "" {
		*lead = alias
	}
}
