// Package upstream dials providers. A Target is one provider with its
// connection pool and the organisation's credential; a Driver describes a
// provider type: where each endpoint is, which client headers pass, and what
// is added. Adding a type is one folder here and one line in package drivers.
//
// Invariants: client headers pass by allow-list only; a Target sends the
// organisation's credential and never the client's; redirects are not
// followed; link-local addresses are never dialled.
package upstream
