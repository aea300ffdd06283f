// Package control changes the configuration: every change, whether it comes
// from the API, a file or the command line, goes through Apply, which checks
// the whole configuration that would result, writes it as one revision in one
// transaction, and publishes the compiled snapshot.
//
// Conflicts are refused when they are saved: the check and the write are one
// transaction, so of two changes that conflict one is refused and names the
// other's object. Secrets are sealed before they reach the store and are never
// given out again.
package control
