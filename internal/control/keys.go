package control

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/store"
)

// defaultOverlap is how long a rotated key's old secret goes on working.
const defaultOverlap = 24 * time.Hour

// newSecret makes the secret of a key: 256 random bits.
func newSecret() secret.String {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return secret.New("ilk_" + base64.RawURLEncoding.EncodeToString(b[:]))
}

// keySecret is what is kept of a secret.
func keySecret(s secret.String, keyID string, now time.Time) store.KeySecret {
	return store.KeySecret{Hash: hash(s), KeyID: keyID, Last4: s.Last4(), CreatedAt: now}
}

// NewKey is a key with its secret, which is shown once.
type NewKey struct {
	*Object
	Secret secret.String
}

// CreateKey makes a key and its secret.
func (c *Control) CreateKey(ctx context.Context, actor string, k *resource.Key, dryRun bool) (*NewKey, *Result, error) {
	if k.Secret != "" {
		return nil, nil, &Error{
			Status: 400, Code: "invalid", Detail: fmt.Sprintf("Key %q secret: the secret is made here and shown once; only a document may name one", k.Name),
			Problems: resource.Problems{{Code: "invalid", Object: resource.Ref{Kind: "Key", Name: k.Name}, Path: "secret", Message: "the secret is made here and shown once; leave it out"}},
		}
	}
	return c.issue(ctx, actor, k, dryRun, keyWrite{})
}

// issue makes a key with a new secret. more goes into the same change.
func (c *Control) issue(ctx context.Context, actor string, k *resource.Key, dryRun bool, secrets keyWrite, more ...Op) (*NewKey, *Result, error) {
	s := newSecret()
	id := newID()
	b := Batch{Actor: actor, Owner: store.OwnerAPI, DryRun: dryRun, Ops: append([]Op{{Put: k, Create: true, id: id}}, more...), keys: secrets}
	b.keys.add = append(b.keys.add, keySecret(s, id, c.opt.Now()))
	r, err := c.Apply(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	return &NewKey{Object: r.Objects[0], Secret: s}, r, nil
}

// RotateKey makes a successor with the same rights, under a name of its own.
// The predecessor works until the overlap ends; a negative overlap is the
// default, 24 hours.
func (c *Control) RotateKey(ctx context.Context, actor, nameOrID string, overlap time.Duration, dryRun bool) (*NewKey, *Result, error) {
	s, err := c.State(ctx)
	if err != nil {
		return nil, nil, err
	}
	d := find(s, "Key", nameOrID)
	if d == nil {
		return nil, nil, notFound("Key", nameOrID)
	}
	if d.Owner == store.OwnerFile {
		return nil, nil, &Error{Status: 409, Code: "read_only", Detail: fmt.Sprintf("Key %q is managed in the configuration file (%s); change its secret there", d.Name, d.Source)}
	}
	o, err := decodeStored(d)
	if err != nil {
		return nil, nil, err
	}
	k, ok := o.(*resource.Key)
	if !ok {
		return nil, nil, notFound("Key", nameOrID)
	}
	if overlap < 0 {
		overlap = defaultOverlap
	}
	next := *k
	next.Secret = ""
	next.Name = successorName(s, d.Name)
	next.RotatedFrom = d.Name
	if next.ProviderCredential, err = c.carried(k); err != nil {
		return nil, nil, err
	}
	ends := c.opt.Now().Add(overlap)
	var secrets keyWrite
	var more []Op
	if k.Secret == "" {
		secrets.endKey(s, d.ID, ends)
	} else { // the document's secret becomes one of the store's, which ends
		if kept, ok := c.named(s, d); ok {
			kept.EndsAt = ends
			secrets.add = append(secrets.add, kept)
		}
		was := *k
		was.Secret = ""
		more = []Op{{Put: &was, restored: true, IfVersion: d.Version}}
	}
	return c.issue(ctx, actor, &next, dryRun, secrets, more...)
}

// carried is a virtual key's credential for its successor. A stored one is
// opened: it is sealed for one place.
func (c *Control) carried(k *resource.Key) (*resource.ProviderCredential, error) {
	if k.ProviderCredential == nil || !resource.IsSealedSecret(k.ProviderCredential.APIKey) {
		return k.ProviderCredential, nil
	}
	s, err := c.resolveFor(k)(k.ProviderCredential.APIKey)
	if err != nil {
		return nil, &Error{Status: 409, Code: "secret", Detail: fmt.Sprintf("Key %q can't be rotated: its stored providerCredential.apiKey can't be read (%v); write it anew, then rotate", k.Name, err)}
	}
	return &resource.ProviderCredential{Provider: k.ProviderCredential.Provider, APIKey: s.Reveal()}, nil
}

// successorName is the first free name of the form ci-r2, ci-r3.
func successorName(s *store.State, name string) string {
	base := rotationSuffix.ReplaceAllString(name, "")
	for i := 2; ; i++ {
		suffix := fmt.Sprintf("-r%d", i)
		next := base[:min(len(base), 63-len(suffix))] + suffix
		if find(s, "Key", next) == nil {
			return next
		}
	}
}

// RevokeKey ends a key at once and for ever.
func (c *Control) RevokeKey(ctx context.Context, actor, nameOrID string, ifVersion int64, dryRun bool) (*Result, error) {
	s, err := c.State(ctx)
	if err != nil {
		return nil, err
	}
	d := find(s, "Key", nameOrID)
	if d == nil {
		return nil, notFound("Key", nameOrID)
	}
	op := Op{Ref: resource.Ref{Kind: "Key", Name: d.Name}, IfVersion: ifVersion, Revoke: true}
	return c.Apply(ctx, Batch{Actor: actor, Owner: store.OwnerAPI, DryRun: dryRun, Ops: []Op{op}})
}

// key adds what is known of a key's secrets.
func (v *viewer) key(d *store.Document, out *Object) {
	now := v.c.opt.Now()
	live := false
	for _, k := range v.s.Keys {
		if k.KeyID != d.ID {
			continue
		}
		out.Extra["last4"] = k.Last4
		if !k.EndsAt.IsZero() {
			out.Extra["endsAt"] = stamp(k.EndsAt)
		}
		live = live || k.RevokedAt.IsZero() && (k.EndsAt.IsZero() || now.Before(k.EndsAt))
	}
	if k, ok := out.Object.(*resource.Key); ok {
		if pc := k.ProviderCredential; pc != nil {
			out.Credential = &Credential{HasAPIKey: pc.APIKey != ""}
			if s, err := v.c.resolveFor(k)(pc.APIKey); err == nil {
				out.Credential.APIKeyLast4 = s.Last4()
			}
		}
		live = live || k.Secret != "" // the document names one
		live = live && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
	}
	closed := slices.ContainsFunc(v.warnings[resource.Ref{Kind: d.Kind, Name: d.Name}], func(p resource.Problem) bool { return p.Code == snapshot.CodeOwnerDisabled })
	out.Extra["active"] = live && out.Head().IsEnabled() && !closed
}
