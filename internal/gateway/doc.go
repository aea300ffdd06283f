// Package gateway is the data plane: it takes a client's request along the one
// path (accept, authenticate, read the envelope, decide, execute) and writes
// the answer in the client's own format.
//
// One goroutine serves a request from start to end. Nothing is written to the
// client before a provider has produced content, but for keep-alives on a
// silent stream, so failover is possible until then. One clientWriter owns the
// ResponseWriter; one watchdog bounds each attempt. Credentials, bodies and
// prompts are never logged.
package gateway
