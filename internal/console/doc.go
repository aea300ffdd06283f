// Package console serves the web application of the console below /console/.
// It holds no data and asks for nothing: the application calls the admin API.
//
// What is promised: nothing inline is ever run in its pages, no other site can
// frame them, a file whose name has a hash is kept for ever and the first page
// never. It imports only the standard library.
package console
