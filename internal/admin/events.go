package admin

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/store"
)

const (
	// recordBatch is how many records are read at a time.
	recordBatch = 500
	// maxScan is how many records one page looks through. A rare filter
	// gives pages with fewer rows than asked for, and a cursor to go on.
	maxScan = 5_000
	// syncTime is how long a read waits for records on their way.
	syncTime = 3 * time.Second
)

// eventsIn are the filters of the audit.
type eventsIn struct {
	PageParams
	Accept     string    `header:"Accept" hidden:"true"`
	Format     string    `query:"format" enum:"json,csv,ndjson" doc:"csv and ndjson export everything that matches, or the first limit rows; Accept text/csv or application/x-ndjson does the same."`
	From       time.Time `query:"from" doc:"Only what ended at this time or later. Attempts and skips are found with their request, by its end."`
	To         time.Time `query:"to" doc:"Only what ended before this time, likewise."`
	Kind       string    `query:"kind" enum:"request,attempt,skip,denial,event,admin"`
	Outcome    string    `query:"outcome" enum:"allow,deny,error,canceled"`
	Code       string    `query:"code" maxLength:"200"`
	Key        string    `query:"key" maxLength:"200" doc:"The name of the caller's key."`
	Team       string    `query:"team" maxLength:"200"`
	Model      string    `query:"model" maxLength:"300" doc:"The model that was asked for."`
	Route      string    `query:"route" maxLength:"200"`
	Provider   string    `query:"provider" maxLength:"200" doc:"The provider of the row: who served a request, or was dialed in an attempt."`
	RequestID  string    `query:"requestId" maxLength:"200"`
	User       string    `query:"user" maxLength:"300"`
	Department string    `query:"department" maxLength:"200"`
	Source     string    `query:"source" maxLength:"200" doc:"How the caller was known, such as the type of its key."`
	Policy     string    `query:"policy" maxLength:"200"`
	Category   string    `query:"category" maxLength:"200" doc:"The category of a failure, as rows have it."`
	Status     int       `query:"status" minimum:"100" maximum:"599" doc:"The HTTP status of the row: of the answer, or of an attempt."`
}

// eventCursor is where a list of rows goes on: after a row of a record; after
// all of them if that is -1.
type eventCursor struct {
	Seq int64 `json:"s"`
	Row int   `json:"r"`
}

// eventsBody is a page of audit rows.
type eventsBody struct {
	Items      []audit.Row `json:"items"`
	NextCursor string      `json:"nextCursor,omitempty"`
}

// eventsOut is written by its function: a page, or a stream.
type eventsOut struct {
	Body func(huma.Context)
}

func (s *server) registerAudit() {
	tags := []string{"Audit"}
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "listAuditEvents", Method: http.MethodGet, Path: "/audit-events", Tags: tags, Summary: "Search the audit, or export it",
			Description: "Newest first. Every row satisfies every filter; its time is that of its record. A page may hold fewer rows than the limit; the list ends where there is no nextCursor.",
		},
		role: RoleViewer, accepts: true,
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: {
			"application/json":     {Schema: listSchema(schemaOf[audit.Row](s))},
			"text/csv":             {Schema: &huma.Schema{Type: huma.TypeString}},
			"application/x-ndjson": {Schema: &huma.Schema{Type: huma.TypeString}},
		}},
	}, s.listEvents)
	s.registerDecisions(tags)
}

func (s *server) listEvents(ctx context.Context, in *eventsIn) (*eventsOut, error) {
	at := eventCursor{}
	if in.Cursor != "" {
		if err := decodeCursor(in.Cursor, &at); err != nil {
			return nil, err
		}
		if at.Seq < 1 || at.Row < -1 {
			return nil, invalid("query.cursor", "it is not a cursor of this list")
		}
	}
	if err := s.sync(ctx); err != nil {
		return nil, err
	}
	search := &search{store: s.opt.Records, log: s.log, in: in, at: at}
	if format := in.format(); format != "json" {
		return s.exportEvents(ctx, search, format)
	}
	body, err := search.page(ctx)
	if err != nil {
		return nil, err
	}
	return &eventsOut{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		ctx.SetStatus(http.StatusOK)
		if err := s.api.Marshal(ctx.BodyWriter(), "application/json", body); err != nil {
			panic(err)
		}
	}}, nil
}

// format is the form of the answer.
func (in *eventsIn) format() string {
	if in.Format != "" {
		return in.Format
	}
	switch preferred(in.Accept, "application/json", "text/csv", "application/x-ndjson") {
	case "text/csv":
		return "csv"
	case "application/x-ndjson":
		return "ndjson"
	}
	return "json"
}

// sync imports what is on its way, so that who has just done something sees
// it. A spool that can't be imported in time must not hide what is stored.
func (s *server) sync(ctx context.Context) error {
	if s.opt.Sync == nil {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, syncTime)
	defer cancel()
	err := s.opt.Sync(short)
	switch {
	case err == nil, errors.Is(err, store.ErrUnavailable), ctx.Err() != nil:
		return err
	}
	s.log.WarnContext(ctx, "the audit is shown without its newest records", "error", err)
	return nil
}

// search walks through rows, newest first.
type search struct {
	store store.Audit
	log   *slog.Logger
	in    *eventsIn
	// at is the last row that was looked at.
	at eventCursor
}

// page is the next page. It looks for one row more than it holds, so that the
// last page has no cursor.
func (q *search) page(ctx context.Context) (*eventsBody, error) {
	body := &eventsBody{Items: []audit.Row{}}
	var last eventCursor
	more, err := q.rows(ctx, maxScan, func(r *audit.Row) (bool, error) {
		if len(body.Items) == q.in.limit() {
			return false, nil
		}
		body.Items = append(body.Items, *r)
		last = q.at
		return true, nil
	})
	if err != nil || !more {
		return body, err
	}
	if len(body.Items) < q.in.limit() { // the budget is spent
		last = q.at
	}
	body.NextCursor, err = encodeCursor(last)
	return body, err
}

// rows gives every row that matches to see until that wants no more, or budget
// records were read (0: without end). more says that the list may go on after
// at.
func (q *search) rows(ctx context.Context, budget int, see func(*audit.Row) (bool, error)) (more bool, err error) {
	filter := q.filter()
	for read := 0; ; {
		filter.Before = 0
		if q.at.Seq > 0 {
			filter.Before = q.at.Seq + 1 // this record again: some of its rows may be left
			if q.at.Row < 0 {
				filter.Before = q.at.Seq
			}
		}
		records, err := q.store.Records(ctx, filter, recordBatch)
		if err != nil {
			return false, err
		}
		for i := range records {
			if more, err := q.record(ctx, &records[i], see); err != nil || !more {
				return true, err
			}
		}
		if read += len(records); len(records) < recordBatch {
			return false, nil
		}
		if budget > 0 && read >= budget {
			return true, nil
		}
	}
}

// record looks at the rows of a record that come after the cursor.
func (q *search) record(ctx context.Context, rec *store.Record, see func(*audit.Row) (bool, error)) (more bool, err error) {
	rows, err := audit.Rows(*rec)
	if err != nil { // one damaged record must not hide all others
		q.log.ErrorContext(ctx, "an audit record can't be read and is left out", "seq", rec.Seq, "error", err)
	}
	from := 0
	if q.at.Seq == rec.Seq {
		from = q.at.Row + 1
	}
	for i := from; i < len(rows); i++ {
		q.at = eventCursor{Seq: rec.Seq, Row: i}
		if !q.matches(&rows[i]) {
			continue
		}
		if more, err := see(&rows[i]); err != nil || !more {
			return false, err
		}
	}
	q.at = eventCursor{Seq: rec.Seq, Row: -1} // done with it
	return true, nil
}

// filter is what the store can search for: what all rows of a record share,
// and what a request's own row has when only those are asked for.
func (q *search) filter() store.RecordFilter {
	in := q.in
	f := store.RecordFilter{
		From: in.From, To: in.To, RequestID: in.RequestID,
		Key: in.Key, Team: in.Team, Model: in.Model, Route: in.Route,
	}
	switch in.Kind {
	case "request", "event", "admin":
		f.Kind, f.Outcome, f.Code, f.Provider = in.Kind, in.Outcome, in.Code, in.Provider
	case "denial":
		f.Kind, f.Outcome, f.Code, f.Provider = audit.KindRequest, audit.OutcomeDeny, in.Code, in.Provider
	case "attempt", "skip":
		f.Kind = audit.KindRequest
	}
	if in.Kind == "" && in.Outcome == audit.OutcomeDeny {
		f.Outcome = in.Outcome // no attempt is denied
	}
	return f
}

// matches tells whether a row satisfies the filters that its record alone does
// not decide.
func (q *search) matches(r *audit.Row) bool {
	in := q.in
	if in.Status != 0 && in.Status != r.Status {
		return false
	}
	for _, f := range [][2]string{
		{in.Kind, r.Kind},
		{in.Outcome, r.Outcome},
		{in.Code, r.Code},
		{in.Provider, r.Provider},
		{in.Policy, r.Policy},
		{in.Category, r.Category},
		{in.User, r.Caller.User},
		{in.Department, r.Caller.Department},
		{in.Source, r.Caller.Source},
	} {
		if f[0] != "" && f[0] != f[1] {
			return false
		}
	}
	return true
}

// limitOrAll is how many rows an export has at most.
func (in *eventsIn) limitOrAll() int { return cmp.Or(in.Limit, int(^uint(0)>>1)) }

// spreadsheetSafe keeps a text of a client from being a formula where a file
// is opened.
func spreadsheetSafe(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
