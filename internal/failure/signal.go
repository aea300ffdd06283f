package failure

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Signal is one row of vendor data: what an answer looks like, and what it
// means. All the conditions that a row has must hold; a list holds if one of
// its entries does. Rows are tried top to bottom and the first match wins.
//
// Text is compared in lower case: fragments and patterns are written so.
type Signal struct {
	// ID names the row in explanations and tests.
	ID string `json:"id"`

	// Status lists HTTP statuses. An error inside a 200 answer that stands
	// for no status passes this condition if the row has another one.
	Status []int `json:"status,omitempty"`
	// Type, Code and Word are the machine-readable fields of the error, of
	// the outer body or of one that its message quotes: error.type (or AWS's
	// exception name), error.code, and Google's status word or reason.
	Type []string `json:"type,omitempty"`
	Code []string `json:"code,omitempty"`
	Word []string `json:"word,omitempty"`
	// Name lists values of any of these three.
	Name []string `json:"name,omitempty"`
	// QuotaID lists fragments of Google's quotaId.
	QuotaID []string `json:"quotaId,omitempty"`
	// Text lists fragments of the error's text (its codes and types are part
	// of it; a message that may hold a caller's words is none: see echo.go); Match lists RE2 patterns, of which those without special
	// characters cost no more than fragments; Not lists fragments that must
	// be absent.
	Text  []string `json:"text,omitempty"`
	Match []string `json:"match,omitempty"`
	Not   []string `json:"not,omitempty"`
	// Header holds header values, compared without regard to case; "*" is
	// any value.
	Header map[string]string `json:"header,omitempty"`
	// Empty: the answer has no body.
	Empty bool `json:"empty,omitempty"`
	// LongerThan: the answer asks to wait longer than this.
	LongerThan Duration `json:"longerThan,omitempty"`

	// Category is what the row means.
	Category Category `json:"category"`
	// ContextLength goes with category request_error.
	ContextLength bool `json:"contextLength,omitempty"`
	// Reset says where this row's answers name the time of the reset,
	// besides the places that are common to all vendors.
	Reset *Reset `json:"reset,omitempty"`
}

// Reset says how to find the time at which trying again makes sense. The ways
// are tried in the order of the fields, after Retry-After and the common body
// fields.
type Reset struct {
	// Override: this beats what the answer says elsewhere.
	Override bool `json:"override,omitempty"`
	// Header names headers that hold a unix time, an RFC 3339 time or a
	// duration.
	Header []string `json:"header,omitempty"`
	// Text is a date in the error's text.
	Text *TextTime `json:"text,omitempty"`
	// Buckets: use x-ratelimit-reset-* of the buckets with nothing left, as
	// is always done for a rate limit.
	Buckets bool `json:"buckets,omitempty"`
	// Midnight and Monthly are the next midnight, and the next first of a
	// month, in a zone.
	Midnight string `json:"midnight,omitempty"`
	Monthly  string `json:"monthly,omitempty"`
	// Default is used when nothing else was found.
	Default Duration `json:"default,omitempty"`
}

// TextTime is a date inside a text.
type TextTime struct {
	// Match is an RE2 pattern on the lower-case text; its groups, joined by
	// a space, are parsed by Layout in Zone. A zone is an IANA name or an
	// offset such as "+08:00".
	Match  string `json:"match"`
	Layout string `json:"layout"`
	Zone   string `json:"zone"`
	// ElseZone is tried if the reading in Zone is past.
	ElseZone string `json:"elseZone,omitempty"`
	// Within is the furthest plausible time from now; 0 is no bound.
	Within Duration `json:"within,omitempty"`
}

// Generic is what holds for every vendor.
type Generic struct {
	// Signals follow the vendor's own rows.
	Signals []Signal `json:"signals,omitempty"`
	// StatusOf gives the HTTP status that an error type, code or status word
	// stands for, for errors inside a 200 answer.
	StatusOf map[string]int `json:"statusOf,omitempty"`
}

// Duration is a time.Duration that reads and writes as text: "15m", "31d".
type Duration time.Duration

// UnmarshalText reads Go's duration syntax, or a whole number of days ("7d").
func (d *Duration) UnmarshalText(b []byte) error {
	s := string(b)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return fmt.Errorf("duration %q: %w", s, err)
		}
		*d = Duration(time.Duration(n) * 24 * time.Hour)
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes Go's duration syntax.
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(time.Duration(d).String()), nil
}
