// Package dataplane tests the gateway from outside: the whole server in
// process, real HTTP, the official SDKs as clients, and fake providers that
// speak the real formats and fail on demand.
package dataplane
