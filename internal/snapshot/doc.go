// Package snapshot compiles resources into one immutable Live value and
// publishes it. Every check that involves more than one object is here, so a
// configuration file, the API and an import obey the same rules; a
// configuration that has a problem is refused whole.
//
// A request loads the current Live once and sees one revision throughout.
package snapshot
