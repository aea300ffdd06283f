package admin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/store"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// record puts a request into the spool: what ended i seconds after start.
func (e *env) record(i int, change func(*audit.Record)) {
	e.t.Helper()
	r := &audit.Record{
		Kind: audit.KindRequest, Time: start.Add(time.Duration(i) * time.Second), RequestID: fmt.Sprintf("req-%03d", i), Outcome: audit.OutcomeAllow, Status: 200,
		Caller: audit.Caller{Key: "ci", Team: "platform", User: fmt.Sprintf("user-%d", i%3), Department: "IT", Source: "service"}, Endpoint: "chat_completions", RequestedModel: "gpt-5", RouteName: "chat", Provider: "b", Credential: "own",
		Attempts: []audit.Attempt{
			{Provider: "a", WireModel: "gpt-5", Outcome: audit.OutcomeError, Category: "rate_limit", Code: "slow_down", Status: 429},
			{Provider: "b", WireModel: "gpt-5", Outcome: audit.OutcomeAllow, Status: 200, Start: audit.Millis(time.Millisecond), Duration: audit.Millis(2 * time.Millisecond)},
		},
		Usage: llm.Usage{Input: 10, Output: 5}, Duration: audit.Millis(5500 * time.Microsecond), ConfigVersion: 1,
	}
	if change != nil {
		change(r)
	}
	if err := e.spool.Append(r); err != nil {
		e.t.Fatal(err)
	}
}

func denied(r *audit.Record) {
	r.Outcome, r.Code, r.Status, r.Attempts, r.Provider, r.RouteName, r.RequestedModel = audit.OutcomeDeny, "NO_ROUTE", 503, nil, "", "", "o3"
	r.Caller.Key, r.Caller.Department, r.Caller.Source, r.Policy = "other", "Sales", "pat", "no-grant"
}

func failed(r *audit.Record) {
	r.Outcome, r.Code, r.Status, r.Provider = audit.OutcomeError, "provider_failed", 502, "a"
	r.Attempts = r.Attempts[:1]
}

// rows lists rows through every page.
func (e *env) rows(query string, limit int) []audit.Row {
	e.t.Helper()
	var all []audit.Row
	cursor := ""
	for range 1000 {
		var page struct {
			Items      []audit.Row
			NextCursor string
		}
		e.get(fmt.Sprintf("/audit-events?limit=%d&cursor=%s&%s", limit, cursor, query)).into(&page)
		if len(page.Items) > limit {
			e.t.Fatalf("a page of %d rows, limit %d", len(page.Items), limit)
		}
		all = append(all, page.Items...)
		if cursor = page.NextCursor; cursor == "" {
			return all
		}
	}
	e.t.Fatal("the list does not end")
	return nil
}

// RS-AUDIT: one request row a request, which is its newest, a denial, and one
// row an attempt, newest first.
func TestRS_AUDIT_rows_newest_first(t *testing.T) {
	e := newEnv(t)
	e.record(1, nil)
	e.record(2, denied)
	e.record(3, failed)
	rows := e.rows("", 50)
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %s %s %s", r.RequestID, r.Kind, r.Outcome, r.Provider))
	}
	want := []string{
		"req-003 request error a", "req-003 attempt error a",
		"req-002 request deny ", "req-002 denial deny ",
		"req-001 request allow b", "req-001 attempt allow b", "req-001 attempt error a",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	r := rows[4]
	if !r.Failover || r.Attempts != 2 || r.PoolName != "chat" || r.Usage.Input != 10 || r.Caller.Key != "ci" || r.Credential != "own" || r.ConfigVersion != 1 || time.Duration(r.Duration) != 5500*time.Microsecond {
		t.Errorf("%+v", r)
	}
}

// RS-AUDIT: every row that is shown satisfies every filter, and every row that
// does is shown, in pages of any size.
func TestRS_AUDIT_filters_and_pages(t *testing.T) {
	e := newEnv(t)
	for i := range 60 {
		switch {
		case i%7 == 3:
			e.record(i, denied)
		case i%5 == 2:
			e.record(i, failed)
		default:
			e.record(i, nil)
		}
	}
	e.provider("main") // an admin event
	all := e.rows("", 500)
	at := func(i int) string {
		return url.QueryEscape(start.Add(time.Duration(i) * time.Second).Format(time.RFC3339Nano))
	}
	number := func(r audit.Row) int {
		n := -1
		_, _ = fmt.Sscanf(r.RequestID, "req-%d", &n)
		return n
	}
	for query, keep := range map[string]func(r audit.Row) bool{
		"":                                 func(audit.Row) bool { return true },
		"kind=request":                     func(r audit.Row) bool { return r.Kind == "request" },
		"kind=attempt":                     func(r audit.Row) bool { return r.Kind == "attempt" },
		"kind=denial":                      func(r audit.Row) bool { return r.Kind == "denial" },
		"kind=admin":                       func(r audit.Row) bool { return r.Kind == "admin" },
		"kind=skip":                        func(audit.Row) bool { return false },
		"kind=event":                       func(audit.Row) bool { return false },
		"outcome=error":                    func(r audit.Row) bool { return r.Outcome == "error" },
		"outcome=deny":                     func(r audit.Row) bool { return r.Outcome == "deny" },
		"outcome=allow&kind=attempt":       func(r audit.Row) bool { return r.Outcome == "allow" && r.Kind == "attempt" },
		"outcome=error&kind=request":       func(r audit.Row) bool { return r.Outcome == "error" && r.Kind == "request" },
		"provider=a":                       func(r audit.Row) bool { return r.Provider == "a" },
		"provider=a&kind=attempt":          func(r audit.Row) bool { return r.Provider == "a" && r.Kind == "attempt" },
		"provider=a&outcome=allow":         func(audit.Row) bool { return false },
		"code=slow_down":                   func(r audit.Row) bool { return r.Code == "slow_down" },
		"code=NO_ROUTE&kind=denial":        func(r audit.Row) bool { return r.Code == "NO_ROUTE" && r.Kind == "denial" },
		"key=other":                        func(r audit.Row) bool { return r.Caller.Key == "other" },
		"key=ot":                           func(audit.Row) bool { return false },
		"team=platform&model=o3":           func(r audit.Row) bool { return r.RequestedModel == "o3" },
		"route=chat":                       func(r audit.Row) bool { return r.RouteName == "chat" },
		"requestId=req-007":                func(r audit.Row) bool { return r.RequestID == "req-007" },
		"requestId=req-007&kind=attempt":   func(r audit.Row) bool { return r.RequestID == "req-007" && r.Kind == "attempt" },
		"user=user-1":                      func(r audit.Row) bool { return r.Caller.User == "user-1" },
		"user=user-1&outcome=error":        func(r audit.Row) bool { return r.Caller.User == "user-1" && r.Outcome == "error" },
		"department=Sales":                 func(r audit.Row) bool { return r.Caller.Department == "Sales" },
		"source=pat&kind=denial":           func(r audit.Row) bool { return r.Caller.Source == "pat" && r.Kind == "denial" },
		"policy=no-grant":                  func(r audit.Row) bool { return r.Policy == "no-grant" },
		"policy=no":                        func(audit.Row) bool { return false },
		"category=rate_limit":              func(r audit.Row) bool { return r.Category == "rate_limit" },
		"category=rate_limit&kind=request": func(audit.Row) bool { return false },
		"status=429":                       func(r audit.Row) bool { return r.Status == 429 },
		"status=503&team=platform":         func(r audit.Row) bool { return r.Status == 503 },
		"from=" + at(10):                   func(r audit.Row) bool { return r.Kind == "admin" || number(r) >= 10 },
		"to=" + at(10):                     func(r audit.Row) bool { return r.Kind != "admin" && number(r) < 10 },
		"from=" + at(10) + "&to=" + at(20): func(r audit.Row) bool { return number(r) >= 10 && number(r) < 20 },
	} {
		var want []audit.Row
		for _, r := range all {
			if keep(r) {
				want = append(want, r)
			}
		}
		for _, limit := range []int{1, 3, 7, 500} {
			if limit == 1 && len(want) > 50 {
				continue
			}
			if d := cmp.Diff(want, e.rows(query, limit)); d != "" {
				t.Errorf("%s in pages of %d:\n%s", query, limit, d)
			}
		}
	}
	// The last page says so.
	if a := e.get("/audit-events?kind=admin&limit=1"); a.object()["nextCursor"] != nil || len(a.object()["items"].([]any)) != 1 {
		t.Errorf("%s", a.body)
	}
	for _, q := range []string{"kind=x", "outcome=maybe", "from=yesterday", "cursor=x", "cursor=e30", "format=xml", "to=2026", "status=x", "status=7", "kind=admin&kind=denial", "color=red&kind=admin"} {
		e.admin("GET", "/audit-events?"+q, nil).code(400, "invalid")
	}
}

// RS-AUDIT: pages neither repeat nor lose a row while records come in.
func TestRS_AUDIT_pages_while_records_come_in(t *testing.T) {
	e := newEnv(t)
	for i := range 20 {
		e.record(i, nil)
	}
	want := e.rows("", 500)
	var got []audit.Row
	cursor := ""
	for i := 0; ; i++ {
		var page struct {
			Items      []audit.Row
			NextCursor string
		}
		e.get("/audit-events?limit=4&cursor=" + cursor).into(&page)
		got = append(got, page.Items...)
		e.record(100+i, nil)
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A rare filter over many records gives pages that end early, and loses
// nothing.
func TestRS_AUDIT_rare_rows_among_many(t *testing.T) {
	e := newEnv(t)
	const n = 11_000
	for i := range n {
		e.record(i, func(r *audit.Record) {
			r.Attempts = r.Attempts[1:]
			if i == 3 || i == n/2 {
				r.Attempts[0].Code = "rare"
			}
		})
	}
	if err := e.importer.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	var page struct {
		Items      []audit.Row
		NextCursor string
	}
	e.get("/audit-events?code=rare").into(&page)
	if len(page.Items) != 0 && len(page.Items) != 1 || page.NextCursor == "" {
		t.Errorf("the first page has %d rows, cursor %q", len(page.Items), page.NextCursor)
	}
	if rows := e.rows("code=rare", 50); len(rows) != 2 || rows[0].RequestID != fmt.Sprintf("req-%03d", n/2) || rows[1].RequestID != "req-003" {
		t.Errorf("%+v", rows)
	}
	if got := strings.Count(string(e.get("/audit-events?code=rare&format=ndjson").body), "\n"); got != 2 {
		t.Errorf("%d lines", got)
	}
}

// One damaged record hides no others.
func TestRS_AUDIT_a_damaged_record_is_left_out(t *testing.T) {
	e := newEnv(t)
	bad := store.Record{Time: start, Kind: audit.KindRequest, RequestID: "bad", Data: json.RawMessage(`{"kind":"request","status":"x"}`)}
	if err := e.store.Import(t.Context(), "elsewhere", []store.Record{bad}, store.Position{Segment: 1, Offset: 1}); err != nil {
		t.Fatal(err)
	}
	e.record(1, nil)
	if rows := e.rows("", 2); len(rows) != 3 {
		t.Errorf("%d rows", len(rows))
	}
	if n := strings.Count(string(e.get("/audit-events?format=ndjson").body), "\n"); n != 3 {
		t.Errorf("%d lines", n)
	}
	if !strings.Contains(e.logged.String(), "can't be read") {
		t.Error("nobody is told")
	}
}

// BY-1, AP: a decision is everything that is known of one request.
func TestAP_decision(t *testing.T) {
	e := newEnv(t)
	e.record(1, nil)
	e.record(2, denied)
	e.explain = func(rec audit.Record) (*routing.Plan, error) {
		switch rec.RequestID {
		case "req-001":
			return &routing.Plan{
				Revision: rec.ConfigVersion, Model: rec.RequestedModel, Route: "chat", Steps: []routing.Step{{Stage: routing.StageRoute, Code: "picked", Subject: "chat"}},
				Candidates: []routing.Candidate{{Route: "chat", Provider: "a", Credential: routing.CredentialOwn, State: routing.Healthy, Strategy: "failover"}},
			}, nil
		case "req-002":
			return nil, nil
		case "req-003":
			return nil, &control.Error{Status: 404, Code: "not_found", Detail: "there is no configuration version 1"}
		}
		return nil, errors.New("a secret cause")
	}
	var d struct {
		RequestID string
		Record    audit.Record
		Plan      *routing.Plan
		PlanError string
	}
	e.get("/decisions/req-001").into(&d)
	if d.RequestID != "req-001" || len(d.Record.Attempts) != 2 || d.Plan == nil || d.Plan.Route != "chat" || d.PlanError != "" {
		t.Errorf("%+v", d)
	}
	if a := e.get("/decisions/req-002"); a.object()["plan"] != nil || a.field("planError") == "" {
		t.Errorf("%s", a.body)
	}
	e.record(3, nil)
	if a := e.get("/decisions/req-003"); a.field("planError") != "there is no configuration version 1" {
		t.Errorf("%s", a.body)
	}
	e.record(4, nil)
	if a := e.get("/decisions/req-004"); strings.Contains(string(a.body), "a secret cause") || !strings.Contains(e.logged.String(), "a secret cause") {
		t.Errorf("%s", a.body)
	}
	e.admin("GET", "/decisions/none", nil).code(404, "not_found")
	// The newest of two with one id.
	e.record(1, func(r *audit.Record) { r.RequestedModel = "again" })
	e.get("/decisions/req-001").into(&d)
	if d.Record.RequestedModel != "again" {
		t.Errorf("%+v", d.Record)
	}
	// An event about a request is not the request.
	e.record(1, func(r *audit.Record) { r.Kind, r.RequestedModel = audit.KindEvent, "an event" })
	e.get("/decisions/req-001").into(&d)
	if d.Record.RequestedModel != "again" {
		t.Errorf("%+v", d.Record)
	}
}
