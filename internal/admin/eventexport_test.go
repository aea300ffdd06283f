package admin_test

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/audit"
)

// AP: the export has every row, as CSV and as NDJSON.
func TestAP_audit_export(t *testing.T) {
	e := newEnv(t)
	for i := range 700 { // more than a batch
		e.record(i, func(r *audit.Record) {
			if i == 5 {
				r.RequestedModel = `=HYPERLINK("http://x"),"q"` + "\n2"
			}
		})
	}
	e.provider("main")
	want := e.rows("", 500)

	a := e.get("/audit-events?format=ndjson")
	if a.header.Get("Content-Type") != "application/x-ndjson" || !strings.Contains(a.header.Get("Content-Disposition"), ".ndjson") {
		t.Error(a.header)
	}
	var got []audit.Row
	lines := bufio.NewScanner(strings.NewReader(string(a.body)))
	for lines.Scan() {
		var r audit.Row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if b := e.admin("GET", "/audit-events", nil, "Accept", "application/x-ndjson").want(200).body; string(b) != string(a.body) {
		t.Error("by Accept it is something else")
	}

	a = e.admin("GET", "/audit-events", nil, "Accept", "text/csv").want(200)
	if a.header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Error(a.header)
	}
	table, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
	if err != nil || len(table) != len(want)+1 {
		t.Fatalf("%d lines, %v", len(table), err)
	}
	column := func(line int, name string) string {
		i := slices.Index(table[0], name)
		if i < 0 {
			t.Fatalf("no column %s: %v", name, table[0])
		}
		return table[line][i]
	}
	if column(1, "kind") != "admin" || column(1, "admin.actor") != "token:0a1b" || column(1, "admin.summary") != `create Provider "main"` || !strings.Contains(column(1, "admin.changes"), `"after"`) {
		t.Errorf("%v", table[1])
	}
	if column(2, "time") != "2026-11-30T12:11:39.000000Z" || column(2, "caller.key") != "ci" || column(2, "usage.input") != "10" || column(2, "durationMs") != "5.500" && column(2, "durationMs") != "5.5" || column(2, "failover") != "true" || column(2, "stream") != "" {
		t.Errorf("%v", table[2])
	}
	formula := 0
	for i := 1; i < len(table); i++ {
		if strings.HasPrefix(column(i, "requestedModel"), "'=HYPERLINK") {
			formula++
		}
		for _, c := range table[i] {
			if strings.HasPrefix(c, "=") {
				t.Errorf("a cell is a formula: %q", c)
			}
		}
	}
	if formula != 3 {
		t.Errorf("%d formulas are quoted", formula)
	}
	if n := strings.Count(string(e.get("/audit-events?format=ndjson&limit=3").body), "\n"); n != 3 {
		t.Errorf("limit 3 gives %d lines", n)
	}
	if b := string(e.get("/audit-events?format=csv&key=none").body); strings.Count(b, "\n") != 1 || !strings.HasPrefix(b, "id,time,") {
		t.Errorf("%q", b)
	}
}

// An export that breaks off does not look whole.
func TestAP_audit_export_breaks_off_visibly(t *testing.T) {
	e := newEnv(t)
	for i := range 2000 {
		e.record(i, nil)
	}
	e.get("/audit-events?limit=1")
	for _, format := range []string{"ndjson", "csv"} {
		e.reads.Store(2) // and then the store is gone
		resp, err := e.server.Client().Do(e.request("GET", "/audit-events?format="+format))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if b, err := io.ReadAll(resp.Body); err == nil {
			t.Errorf("the export looks whole: %d bytes", len(b))
		}
		e.down.Store(true)
		e.admin("GET", "/audit-events?format="+format, nil).code(503, "store_unavailable")
		e.down.Store(false)
	}
}
