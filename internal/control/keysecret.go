package control

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/store"
)

// A key has secrets that were issued, which the store keeps as hashes, or its
// document names one. Ending or revoking the latter makes it one of the
// former: its hash says in the store, for ever, until when it works.

// errRevoked is the answer to a document that names a revoked secret.
var errRevoked = errors.New("the secret was revoked; give the key another")

// named gives the secret that a key's document names, as it would be kept in
// the store, unless it is kept there already.
func (c *Control) named(s *store.State, d *store.Document) (store.KeySecret, bool) {
	o, err := decodeStored(d)
	if err != nil {
		return store.KeySecret{}, false
	}
	k, ok := o.(*resource.Key)
	if !ok || k.Secret == "" {
		return store.KeySecret{}, false
	}
	v, err := c.resolveFor(o)(k.Secret)
	if err != nil {
		v = newSecret() // a mark of the key's own, since its secret is out of reach
	}
	named := keySecret(v, d.ID, c.opt.Now())
	return named, !slices.ContainsFunc(s.Keys, func(x store.KeySecret) bool { return x.Hash == named.Hash })
}

// revoke makes the delete of a key final.
func (c *Control) revoke(w *store.Write, s *store.State, d *store.Document) {
	w.RevokeKeys = append(w.RevokeKeys, d.ID)
	if k, ok := c.named(s, d); ok {
		k.RevokedAt = k.CreatedAt
		w.AddKeys = append(slices.Clone(w.AddKeys), k)
	}
}

// endKey makes the secrets of a key stop working at a time. None works longer
// than before.
func (k *keyWrite) endKey(s *store.State, id string, at time.Time) {
	for _, x := range s.Keys {
		if x.KeyID == id && !x.EndsAt.IsZero() && x.EndsAt.Before(at) {
			return // it is being replaced already
		}
	}
	k.end = map[string]time.Time{id: at}
}

// kept tells whether the store knows the secret that a document names; the
// document has no say in it any more.
func (c *Control) kept(s *store.State, k *resource.Key) bool {
	if k.Secret == "" {
		return false
	}
	v, err := c.resolveFor(k)(k.Secret)
	return err == nil && slices.ContainsFunc(s.Keys, func(x store.KeySecret) bool { return x.Hash == hash(v) })
}

// wasRevoked tells whether a key with this id was revoked.
func wasRevoked(s *store.State, id string) bool {
	return slices.ContainsFunc(s.Keys, func(k store.KeySecret) bool { return k.KeyID == id && !k.RevokedAt.IsZero() })
}

func hash(v secret.String) [sha256.Size]byte { return sha256.Sum256([]byte(v.Reveal())) }

// nobodys is the hash of no secret, another one for each key.
func nobodys(key string) [sha256.Size]byte { return sha256.Sum256([]byte("the key " + key)) }

// inheritKey gives a key its lineage, and takes from it the credential of
// another provider: what one provider gave out is not for the next one's eyes.
// was is nil for a new key.
func inheritKey(k, was *resource.Key, op *Op, ref resource.Ref) error {
	if was != nil && k.RotatedFrom == "" {
		k.RotatedFrom = was.RotatedFrom
	}
	if k.ProviderCredential == nil || op.restored {
		return nil
	}
	message := "the key is missing; write env:NAME, file:PATH or the key itself"
	if was != nil && was.ProviderCredential != nil && was.ProviderCredential.Provider != k.ProviderCredential.Provider && !writtenCredential(op) {
		k.ProviderCredential.APIKey = ""
		message = fmt.Sprintf("the stored key is for the provider %q; write the one for %q", was.ProviderCredential.Provider, k.ProviderCredential.Provider)
	}
	if !k.LacksCredential() {
		return nil
	}
	return refused(resource.Problems{{Code: resource.CodeInvalid, Object: ref, Path: "providerCredential.apiKey", Message: message}})
}

// writtenCredential tells whether a step brings the credential itself.
func writtenCredential(op *Op) bool {
	k, ok := op.Put.(*resource.Key)
	return ok && !k.LacksCredential()
}
