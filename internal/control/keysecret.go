package control

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/store"
)

// A key has secrets that were issued, which the store keeps as hashes, or its
// document names one: by a reference, or by the hash of one that was written
// out. Ending or revoking the latter makes it one of the former: its hash says
// in the store, for ever, until when it works.

// keyWrite are changes of key secrets.
type keyWrite struct {
	add []store.KeySecret
	// end is when the secrets of a key stop working, by key id.
	end map[string]time.Time
	// revoke are the ids of keys whose secrets never work again.
	revoke []string
	// renew are keys whose documents stay although their secrets change.
	renew []store.DocumentRef
	// replaced are the last characters of the issued secret in whose place the
	// document's comes, by the key's name.
	replaced map[string]string
}

// write puts the changes into what is to be written, and shows the compiler the
// secrets as they will be.
func (k *keyWrite) write(w *store.Write, s *store.State, now time.Time) {
	w.AddKeys, w.EndKeys, w.RevokeKeys, w.Renew = k.add, k.end, k.revoke, k.renew
	for i := range s.Keys {
		x := &s.Keys[i]
		if end, ok := k.end[x.KeyID]; ok && (x.EndsAt.IsZero() || end.Before(x.EndsAt)) {
			x.EndsAt = end
		}
		if x.RevokedAt.IsZero() && slices.Contains(k.revoke, x.KeyID) {
			x.RevokedAt = now
		}
	}
	s.Keys = append(s.Keys, k.add...)
}

// named gives the secret that a key's document names, as it would be kept in
// the store, unless it is kept there already.
func (c *Control) named(s *store.State, d *store.Document, k *resource.Key) (store.KeySecret, bool) {
	if k.Secret == "" {
		return store.KeySecret{}, false
	}
	now := c.opt.Now()
	named := store.KeySecret{KeyID: d.ID, CreatedAt: now}
	var err error
	if named.Hash, named.Last4, err = c.secretOf(k); err != nil {
		named = keySecret(newSecret(), d.ID, now) // a mark of the key's own, since its secret is out of reach
	}
	return named, !slices.ContainsFunc(s.Keys, func(x store.KeySecret) bool { return x.Hash == named.Hash })
}

// secretOf is what is kept of the secret that a key's document names.
func (c *Control) secretOf(k *resource.Key) (h [sha256.Size]byte, last4 string, err error) {
	if h, last4, ok := resource.SecretHash(k.Secret); ok {
		return h, last4, nil
	}
	v, err := c.resolveFor(k)(k.Secret)
	return hash(v), v.Last4(), err
}

// hashSecret leaves only a hash of a key's secret that is written out. So it
// does of one that an earlier version sealed.
func (c *Control) hashSecret(k *resource.Key) {
	_, _, hashed := resource.SecretHash(k.Secret)
	if hashed || !resource.IsLiteralSecret(k.Secret) && !resource.IsSealedSecret(k.Secret) {
		return
	}
	if v, err := c.resolveFor(k)(k.Secret); err == nil {
		k.Secret = resource.HashedSecret(hash(v), v.Last4())
	}
}

// replace ends the issued secrets of keys whose documents name one: it takes
// their place.
func (c *Control) replace(after *store.State, put []store.Document, k *keyWrite) error {
	var issued map[string][]store.KeySecret
	for i := range put {
		d := &put[i]
		if d.Kind != "Key" {
			continue
		}
		if issued == nil {
			issued = byKey(after)
		}
		last4, err := c.replaces(d, issued[d.ID])
		if err != nil {
			return err
		}
		if last4 == "" {
			continue
		}
		if k.replaced == nil {
			k.replaced = map[string]string{}
		}
		if k.end == nil {
			k.end = map[string]time.Time{}
		}
		k.replaced[d.Name], k.end[d.ID] = last4, c.opt.Now()
		k.renew = append(slices.Clone(k.renew), store.DocumentRef{Kind: d.Kind, Name: d.Name})
	}
	return nil
}

// replaces gives the last characters of the issued secret in whose place the
// one comes that a key's document names; empty for none, and where the compiler
// will refuse it.
func (c *Control) replaces(d *store.Document, issued []store.KeySecret) (last4 string, err error) {
	l := lifeOf(issued, c.opt.Now())
	if !l.live {
		return "", nil
	}
	k, err := decodeKey(d)
	if err != nil || k.Secret == "" {
		return "", err
	}
	named, _, err := c.secretOf(k)
	if err != nil || slices.ContainsFunc(issued, func(x store.KeySecret) bool { return x.Hash == named }) {
		return "", nil //nolint:nilerr // the compiler says it
	}
	return cmp.Or(l.last4, "?"), nil
}

// byKey sorts secrets by the ids of their keys.
func byKey(s *store.State) map[string][]store.KeySecret {
	out := map[string][]store.KeySecret{}
	for _, x := range s.Keys {
		out[x.KeyID] = append(out[x.KeyID], x)
	}
	return out
}

// revoke makes the delete of a key final, if the step says so.
func (c *Control) revoke(keys *keyWrite, s *store.State, at int, op *Op) error {
	d := &s.Documents[at]
	if !op.Revoke || d.Kind != "Key" {
		return nil
	}
	k, err := decodeKey(d)
	if err != nil {
		return err
	}
	keys.revoke = append(slices.Clone(keys.revoke), d.ID)
	if x, ok := c.named(s, d, k); ok {
		x.RevokedAt = x.CreatedAt
		keys.add = append(slices.Clone(keys.add), x)
	}
	return nil
}

// works tells whether an issued secret admits its holder.
func works(x store.KeySecret, now time.Time) bool {
	return x.RevokedAt.IsZero() && (x.EndsAt.IsZero() || now.Before(x.EndsAt))
}

// decodeKey reads a key that this program wrote.
func decodeKey(d *store.Document) (*resource.Key, error) {
	o, err := decodeStored(d)
	if err != nil {
		return nil, err
	}
	k, ok := o.(*resource.Key)
	if !ok {
		return nil, notFound("Key", d.Name)
	}
	return k, nil
}

// kept tells whether the store knows the secret that a document names; the
// document has no say in it any more.
func (c *Control) kept(s *store.State, k *resource.Key) bool {
	if k.Secret == "" {
		return false
	}
	h, _, err := c.secretOf(k)
	return err == nil && slices.ContainsFunc(s.Keys, func(x store.KeySecret) bool { return x.Hash == h })
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
