// Package resource defines the objects that administrators write: one file per
// kind with its fields, defaults and the checks that need no other object.
//
// Checks across objects (a pattern belongs to one route, names share one name
// space) are the compiler's: see package snapshot. Field names and limits are
// public: they are the same in documents, the API, exports and the console.
// The package imports only the standard library and llm.
package resource
