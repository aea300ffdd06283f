// Package sqlstore keeps the configuration and the audit in an SQL database.
//
// There is one implementation. SQL is written by hand in the file of what it
// is for, with numbered placeholders and types that SQLite and PostgreSQL both
// have: text ids, 64-bit numbers, times as microseconds since 1970 in UTC, JSON
// and hashes as text. What differs is in a dialect and in its migrations.
//
// Invariants: a write transaction holds the database's only write lock from
// its begin, so revisions are without gaps and what Update decides on is what
// it writes over. Readers have connections of their own, see a snapshot and
// never wait for a writer. Every error names the operation and, if the
// database is at fault, is store.ErrUnavailable.
package sqlstore
