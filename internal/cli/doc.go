// Package cli is the command line of interlock: it parses arguments, calls
// app or a running server's API, and turns what comes back into text or JSON
// and an exit code (0 done, 1 differences or problems found or failed, 2 wrong
// usage).
//
// What a command was asked for goes to standard output; what it says about its
// work, questions and errors go to standard error. A secret is written in one
// place only: where a key that was just made is shown, once.
package cli
