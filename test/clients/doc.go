// Package clients runs real agents and SDKs, at pinned versions, against the
// real program with fake providers behind it: each gets a tool call, runs it,
// sends the result and gets an answer, and each meets refusals. What was found
// is the table of docs/reference/clients.md.
//
// The tests need what scripts/test-clients.sh installs and run only with
// INTERLOCK_CLIENTS=1: `make test-clients`. They run in a network namespace
// that has loopback only, where the machine allows one.
package clients
