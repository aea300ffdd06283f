// Package failure says what went wrong with one attempt: it maps a provider's
// status, headers, error body or stream event, or a transport error, to one
// Category of a small public enum, and finds when trying again makes sense.
//
// Vendor quirks are rows of data (package catalog), not conditions in code.
// The package is pure: it does no I/O and takes the time as an argument.
package failure
