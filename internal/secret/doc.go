// Package secret keeps credentials from being printed, and resolves the
// references to them that configuration holds.
//
// A String prints as *** in every way that Go prints or encodes values; its
// value comes out only through Reveal. Errors of this package name the
// variable or the file, never the value. It imports only the standard library.
package secret
