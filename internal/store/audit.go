package store

import (
	"context"
	"encoding/json"
	"time"
)

// Position is a place in the spool of audit records: everything before it was
// imported.
type Position struct {
	Segment int64
	Offset  int64
}

// Record is one audit record as it is stored: the columns that are searched,
// and the whole record as JSON.
type Record struct {
	// Seq orders records; the store sets it.
	Seq       int64
	Time      time.Time
	RequestID string
	// Kind is request for a request on the data plane, or admin, event.
	Kind     string
	Outcome  string
	Code     string
	Status   int
	Key      string
	Team     string
	Model    string
	Route    string
	Provider string
	Data     json.RawMessage
}

// RecordFilter selects records; zero fields select all. Text fields match
// exactly.
type RecordFilter struct {
	// From is the first time that is selected, To the first that is not.
	From, To  time.Time
	RequestID string
	Kind      string
	Outcome   string
	Code      string
	Key       string
	Team      string
	Model     string
	Route     string
	Provider  string
	// Before continues a list: only records with a smaller Seq.
	Before int64
}

// Audit keeps audit records.
type Audit interface {
	// Imported is the place in the spool up to which records are stored.
	Imported(ctx context.Context, spool string) (Position, error)
	// Import stores records and moves the place in one transaction, so that
	// each record is stored exactly once whatever happens in between. The
	// place only moves forward: ErrImported, and nothing stored, if it is at
	// upTo already or beyond. It keeps neither the list nor the Data of its
	// records, whose bytes the caller uses again.
	Import(ctx context.Context, spool string, records []Record, upTo Position) error
	// Records lists at most limit records, the last stored first.
	Records(ctx context.Context, f RecordFilter, limit int) ([]Record, error)
	// DeleteBefore removes at most limit records that are older, and returns
	// how many. It is called again until it returns less than limit.
	DeleteBefore(ctx context.Context, t time.Time, limit int) (int, error)
}
