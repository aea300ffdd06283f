// Package password keeps passwords as argon2id hashes, in the PHC form that
// other programs read as well. One run takes 19 MiB and some 40 ms, so only a
// few run at once and only some wait: whoever sends sign-ins by the thousand
// fills no memory. It imports secret only.
package password
