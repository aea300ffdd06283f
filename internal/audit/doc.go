// Package audit keeps one record of every request: who asked for what, what
// was decided, each attempt, and what came of it. No prompt, no answer and no
// secret is ever in it.
//
// A record is appended to a local spool by one write before the last byte of
// the answer goes out, so that no answer that ended is without its record,
// even if the process is killed right after. A single goroutine imports the
// spool into the store in batches, each record exactly once. The API expands
// a record into rows: one for the request, one for each attempt, skip and
// refusal.
package audit
