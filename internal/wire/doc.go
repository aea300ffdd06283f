// Package wire reads and writes what travels between clients, Interlock and
// providers: the strict request envelope, server-sent events, and a descriptor
// for each wire format (one folder each; package formats lists them).
//
// It is pure: bytes in, bytes out. Where client and provider speak the same
// format the bytes pass unchanged, so nothing here re-encodes a body: the
// envelope finds the places of a few top-level members, and only the bytes of
// the model are ever replaced.
package wire
