// Package signin lets people into the console: by a password, through an OpenID
// issuer, and at first with a one-time token.
//
// What is promised: a session is 256 random bits, of which only the hash is
// stored; it is new at every sign-in, ends after 12 hours without use and after
// 7 days in any case, and ends at once with the password, the role or the user
// that it came of. Names that nobody has take as long as wrong passwords and
// get the same answer. Guessing is limited by name and by address in a fixed
// amount of memory. What can't be decided because a part of ours is down is an
// error, never a yes and never "wrong".
package signin
