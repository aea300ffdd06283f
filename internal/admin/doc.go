// Package admin is the admin API under /api/v1: every kind of resource, the
// history of the configuration, documents in and out, and the audit. The
// OpenAPI document comes from the same declarations that serve requests, and
// the console's client is generated from it.
//
// Nothing here changes the configuration by itself: package control decides
// and records. Nor does anything here decide: the dry run asks package dryrun. What is promised here is the surface: who may call what (each
// operation declares its role and a test calls all of them), strict requests,
// one form of error, and no answer that holds a secret, but for a new key's
// own, once.
package admin

//go:generate go run ./gen fields ../resource ../control ../audit ../llm ../routing ../dryrun ../state ../stats
//go:generate go run ./gen openapi ../../api/openapi.yaml
