package auth

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/secret"
)

// Prefixes of the credentials that Interlock issues.
const (
	keyPrefix     = "ilk_"
	sessionPrefix = "sess_"
)

// TypeVirtual is the type of keys that may hold a provider's credential; their
// callers bring none.
const TypeVirtual = "virtual"

// IsInterlock tells whether a credential is one of ours by its form.
func IsInterlock(s string) bool {
	return strings.HasPrefix(s, keyPrefix) || strings.HasPrefix(s, sessionPrefix)
}

// Key is what is kept of a key.
type Key struct {
	Name string
	// Type is pat, virtual, service or session; it is also the caller's
	// source.
	Type string
	// Team, Department and User are whose key it is; empty if nobody's.
	Team, Department, User string
	// Admin: the key's owner is an administrator of the gateway.
	Admin bool
	// Ceilings restrict what may serve the key; nil restricts nothing.
	Ceilings *routing.Ceilings
	// Credential replaces the key of the provider Virtual; empty for none.
	Virtual    routing.ProviderID
	Credential secret.String
	// Unenforced names a restriction that this version can't enforce: the key
	// admits nobody then.
	Unenforced string
	// Off says why the key lets nobody in although it is enabled, as a part of a
	// sentence; empty if it does.
	Off string
	// Expires is zero for a key that does not.
	Expires time.Time
	// Replaced: what ends then is the secret, in whose place another one came.
	Replaced bool
}

// Away says, as the rest of a sentence about the key, why its holder is turned
// away now; empty if it is not.
func (k *Key) Away(now time.Time) string {
	switch {
	case k.Off != "":
		return "is switched off: " + k.Off + "; ask an administrator"
	case k.Expires.IsZero() || now.Before(k.Expires):
		return ""
	}
	end := k.Expires.UTC().Format(time.DateOnly)
	if k.Replaced {
		return "was given another secret, and this one ended on " + end + "; ask an administrator for the new one"
	}
	return "expired on " + end + "; ask an administrator to set a later expiresAt, or for another key"
}

// Closed says why the key admits nobody; empty if it does.
func (k *Key) Closed() string {
	if k.Unenforced == "" {
		return ""
	}
	return fmt.Sprintf("the key %q has a restriction that this version can't enforce (%s), so it admits nobody; an administrator must remove it, or upgrade", k.Name, k.Unenforced)
}

// Keys is an immutable table of keys by the hash of their secret.
type Keys struct{ byHash map[[sha256.Size]byte]*Key }

// Named finds a key by its name; of several secrets it is the one that works
// longest. It looks at all keys: it is for dry runs.
func (k *Keys) Named(name string) (*Key, bool) {
	var found *Key
	for _, key := range k.byHash {
		if !strings.EqualFold(key.Name, name) {
			continue
		}
		if found == nil || !found.Expires.IsZero() && (key.Expires.IsZero() || key.Expires.After(found.Expires)) {
			found = key
		}
	}
	return found, found != nil
}

// KeysBuilder collects keys.
type KeysBuilder struct{ byHash map[[sha256.Size]byte]*Key }

// Add puts a key in; it returns the name of the key that has the same secret
// already, and then changes nothing.
func (b *KeysBuilder) Add(secret string, k *Key) (taken string) {
	return b.AddHash(sha256.Sum256([]byte(secret)), k)
}

// AddHash is Add for a secret of which only the SHA-256 is known.
func (b *KeysBuilder) AddHash(h [sha256.Size]byte, k *Key) (taken string) {
	if other, ok := b.byHash[h]; ok {
		return other.Name
	}
	if b.byHash == nil {
		b.byHash = map[[sha256.Size]byte]*Key{}
	}
	b.byHash[h] = k
	return ""
}

// Build ends the collection.
func (b *KeysBuilder) Build() *Keys { return &Keys{b.byHash} }

// Lookup finds the key with this secret.
func (k *Keys) Lookup(secret string) (*Key, bool) {
	key, ok := k.byHash[sha256.Sum256([]byte(secret))]
	return key, ok
}
