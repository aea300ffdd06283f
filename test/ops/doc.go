// Package ops tests how the program runs, with the real binary as a process:
// kills, shutdowns, reloads and starts without what it needs. Fake providers
// are in the test's own process.
package ops
