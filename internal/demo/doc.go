// Package demo is the world of `interlock demo`: three fake providers on
// loopback ports, an organisation with keys, routes, and traffic that has been
// made up. It makes things and sends requests; starting a gateway between them
// is the caller's.
//
// Nothing here leaves the machine, and no credential is real.
package demo
