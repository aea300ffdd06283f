package sqlstore

import (
	"strconv"
	"strings"
)

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

// times adds the times that what is in a table has to overlap.
func (q *query) times(table string, w *wanted) {
	if w.from != nil {
		q.and(table + ".max_time >= " + q.bind(*w.from))
	}
	if w.to != nil {
		q.and(table + ".min_time < " + q.bind(*w.to))
	}
}

// text is the query. The tables are nested loops in the order in which they are
// written, CROSS JOIN keeps SQLite to it, so rows come in the order of the
// first table's key without sorting.
func (q *query) text(columns, order string, limit int) string {
	return "SELECT " + columns + " FROM " + strings.Join(q.tables, " CROSS JOIN ") + " WHERE " + strings.Join(q.conditions, " AND ") +
		" ORDER BY " + order + " DESC LIMIT " + q.bind(limit)
}

// groupsQuery lists groups before one with the parts of their words that the
// wanted ones are in.
func (w *wanted) groupsQuery(before int64, limit int) (string, []any) {
	q := &query{tables: []string{"audit_groups g"}}
	columns := []string{"g.grp"}
	q.and("g.grp < " + q.bind(before))
	q.times("g", w)
	for i, word := range w.words {
		t := "w" + strconv.Itoa(i)
		q.tables = append(q.tables, "audit_words "+t)
		q.and(t + ".grp = g.grp")
		q.and(t + ".part = " + q.bind(wordPart(word)))
		columns = append(columns, t+".words")
	}
	text := q.text(strings.Join(columns, ", "), "g.grp", limit)
	return text, q.args
}

// packsQuery lists packs between two numbers, if their bits are set, without
// their texts.
func (q *search) packsQuery(from, to int64, packs uint64) (string, []any) {
	b := &query{tables: []string{"audit_packs p"}}
	b.and("p.seq BETWEEN " + b.bind(from) + " AND " + b.bind(to))
	if packs != ^uint64(0) {
		b.and("(" + b.bind(int64(packs)) + " >> ((p.seq / " + strconv.Itoa(packSize) + ") % " + strconv.Itoa(groupSize) + ")) & 1 = 1")
	}
	b.times("p", q.wanted)
	text := b.text("p.seq, p.cols, NULL", "p.seq", q.step)
	return text, b.args
}
