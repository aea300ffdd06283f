// Package h1 sends HTTP/1.1 requests whose body is in memory, from a pool of
// connections to one server.
//
// It exists because of what it does not do. net/http.Transport has two
// goroutines for each connection and copies a body through a buffer of its own,
// which takes more time than everything else that the gateway does for a small
// request (docs/adr/0031). Here the goroutine that wants the answer writes the
// request and reads the answer. Answers are parsed by net/http.
//
// It has no proxies, no HTTP/2, no redirects, no cookies, and sends no request
// twice: for the first two the gateway uses net/http.Transport.
//
// It may import the standard library only.
package h1
