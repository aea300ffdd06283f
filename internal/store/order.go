package store

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// SortDocuments brings documents into the order that State promises. What is
// made of them may depend on it, so whoever changes the list by hand sorts it
// again.
func SortDocuments(docs []Document) {
	slices.SortFunc(docs, func(a, b Document) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
}

// SortKeys brings the secrets of keys into the order that State promises.
func SortKeys(keys []KeySecret) {
	slices.SortFunc(keys, func(a, b KeySecret) int {
		return cmp.Or(strings.Compare(a.KeyID, b.KeyID), a.CreatedAt.Compare(b.CreatedAt), bytes.Compare(a.Hash[:], b.Hash[:]))
	})
}
