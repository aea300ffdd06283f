package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Errors of a store. Compare with errors.Is.
var (
	// ErrNotFound: there is no such object, revision or record.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable: the database cannot be reached or written now.
	ErrUnavailable = errors.New("the store is unavailable")
	// ErrConflict: a write contradicts what is there, such as a name that
	// differs from another only in case where case does not count.
	ErrConflict = errors.New("conflict")
	// ErrImported: records up to this place or further are stored already.
	ErrImported = errors.New("already imported")
)

// Owner says where an object is managed.
type Owner string

// The owners. Each object has one.
const (
	// OwnerAPI: the console, the API and the command line change it.
	OwnerAPI Owner = "api"
	// OwnerFile: the configuration file owns it; elsewhere it is read-only.
	OwnerFile Owner = "file"
)

// Document is the current state of one object.
type Document struct {
	Kind string
	// Name is unique in its kind, see NameKey.
	Name string
	// ID is set for kinds that have ids; it never changes.
	ID string
	// Version counts the writes of this object, from 1. It is the ETag.
	Version int64
	Owner   Owner
	// Source is the file and place that a file-owned object comes from.
	Source string
	// Spec is the object as JSON without its read-only fields. Secrets in it
	// are references or sealed.
	Spec      json.RawMessage
	CreatedAt time.Time
	UpdatedAt time.Time
}

// KeySecret is one secret of a key, by its hash. A key that was never given
// one, or whose secrets were all revoked, admits nobody.
type KeySecret struct {
	// Hash is SHA-256 of the secret.
	Hash [32]byte
	// KeyID is the id of the Key document.
	KeyID string
	// Last4 are the last four characters of the secret, for people.
	Last4     string
	CreatedAt time.Time
	// EndsAt is when a rotated or expiring secret stops working; zero is
	// never.
	EndsAt time.Time
	// RevokedAt is zero for a secret that was not revoked. A revocation is
	// final: restoring an older configuration does not undo it.
	RevokedAt time.Time
}

// State is the whole configuration at one revision.
type State struct {
	// Revision is the number of the configuration version; 0 is empty.
	Revision int64
	// Documents are ordered by kind and name, byte by byte.
	Documents []Document
	// Keys are all secrets, ended and revoked ones too, ordered by key id,
	// then from old to new.
	Keys []KeySecret
}

// Change is what one revision did to one object.
type Change struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Before and After are specs; nil means that the object was not there.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// Revision is one accepted change of the configuration.
type Revision struct {
	Number int64
	At     time.Time
	// Actor is who made it, such as "token:1a2b" or "file:interlock.yaml".
	Actor string
	// Summary says in words what changed.
	Summary string
	Changes []Change
}

// Write is what an update wants to be written. What is deleted, ended and
// revoked is what was there before; what is put and added comes after it. So a
// Write that deletes and puts one name begins the object anew, at version 1,
// and one that ends and adds secrets of one key rotates it.
type Write struct {
	Actor   string
	Summary string
	// Put holds documents to create or replace: the store sets Version,
	// CreatedAt and UpdatedAt. An object without an ID keeps the one it has.
	// What is there already, with the same spec, owner and source, is not
	// written again.
	Put    []Document
	Delete []DocumentRef
	// Renew gives objects that are there a new version although their specs
	// stay: something else of them changes, such as their secrets.
	Renew []DocumentRef
	// AddKeys are new secrets; EndKeys ends all secrets of a key at a time, by
	// key id, those that end before it anyway as they did; RevokeKeys revokes
	// all secrets of these key ids.
	AddKeys    []KeySecret
	EndKeys    map[string]time.Time
	RevokeKeys []string
}

// DocumentRef names a document.
type DocumentRef struct{ Kind, Name string }

// Config keeps the configuration. Text is stored as valid UTF-8 without NUL;
// times have microseconds and are in UTC. The bytes of specs that it hands out
// are read-only.
type Config interface {
	// Load reads the whole configuration at its newest revision.
	Load(ctx context.Context) (*State, error)
	// Update runs decide with the newest state while nothing else can write,
	// and writes what it returns in the same transaction as a new revision,
	// whose state it gives back. If decide returns an error nothing is
	// written and Update returns that error as it is; a Write that is nil or
	// changes nothing makes no revision and gives the state back. A delete of
	// what is not there is ErrNotFound. decide must not write to the store
	// itself: it would wait for its own end.
	Update(ctx context.Context, now time.Time, decide func(*State) (*Write, error)) (*State, error)
	// At reads the documents as they were at a revision, without keys.
	// ErrNotFound if there was none.
	At(ctx context.Context, revision int64) ([]Document, error)
	// Revisions lists at most limit revisions before the given one (0: from
	// the newest), newest first.
	Revisions(ctx context.Context, before int64, limit int) ([]Revision, error)
	// RevisionOf reads one revision. ErrNotFound if there was none.
	RevisionOf(ctx context.Context, number int64) (*Revision, error)
	// Current is the number of the newest revision; it is cheap to ask.
	Current(ctx context.Context) (int64, error)
}
