// Package auth finds out who is calling: it reads the credential headers of a
// request and looks Interlock keys up by hash. It owns the table of keys and
// the guard against guessing. It never keeps or prints a secret.
package auth
