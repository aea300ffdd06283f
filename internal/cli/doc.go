// Package cli is the command line of interlock: it parses arguments, calls
// app, and turns errors into text and exit codes (0 done, 1 problems found or
// failed, 2 wrong usage).
package cli
