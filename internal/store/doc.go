// Package store declares what is kept: configuration documents with their
// history, the hashes of keys, and audit records. It holds interfaces and
// plain types only; package sqlstore implements them and package storetest is
// the suite that every implementation passes.
//
// Configuration is small and always read whole. Every accepted change is one
// Revision, written in one transaction with the documents that it changes, so
// no reader ever sees half of one. A document keeps all its past states, each
// with the revisions between which it was valid: any revision can be read
// again.
package store
