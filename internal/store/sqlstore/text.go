package sqlstore

import (
	"strings"
	"time"
	"unicode/utf8"
)

// clean makes text that every database takes: valid UTF-8 without NUL.
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\x00", "")
}

// micros is how a time is stored; nil stands for the zero time.
func micros(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMicro())
}

// fromMicros reads a stored time.
func fromMicros(us *int64) time.Time {
	if us == nil {
		return time.Time{}
	}
	return time.UnixMicro(*us).UTC()
}

// stored is a time as it is after it was stored.
func stored(t time.Time) time.Time { return fromMicros(micros(t)) }
