// Package stats counts requests in memory, for an overview that costs the same
// whatever the audit holds: an hour in minutes, a day in quarters of an hour, a
// week in two hours.
//
// What is promised: counting a request allocates nothing in the usual case,
// memory is bounded whatever names clients send, and a request whose price is
// not known is counted as that, not as free. It is no record: a start counts
// the newest ones again, and says since when its figures are whole.
package stats
