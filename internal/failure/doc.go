// Package failure says what went wrong with one attempt: it maps a provider's
// status, headers, error body or stream event, or a transport error, to one
// Category of a small public enum, and finds when trying again makes sense.
//
// A Classifier reads an answer in this order (spec chapter 60, section 3.2,
// with the categories of chapter 30):
//
//  1. A page of HTML with 403 or 503 is a proxy speaking: server_error.
//  2. The vendor's rows, then the generic ones; the first match decides.
//  3. The HTTP status: chapter 30's failover table.
//
// A caller's own words decide nothing: what an answer may repeat of them is taken
// out or not listened to (echo.go).
//
// Rows go first since the text knows better than the status whether credit is
// exhausted. Vendor quirks are rows of data (package catalog), not conditions
// in code.
//
// The package is pure: it does no I/O and takes the time as an argument. A
// Failure holds nothing that a user or a model wrote. It reads a bounded part
// of an answer, and any bytes are an answer: it does not panic.
package failure
