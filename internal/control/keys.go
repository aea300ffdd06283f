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
	secret, id := newSecret(), newID()
	b := Batch{Actor: actor, Owner: store.OwnerAPI, DryRun: dryRun, Ops: []Op{{Put: k, Create: true, id: id}}}
	b.keys.add = []store.KeySecret{keySecret(secret, id, c.opt.Now())}
	return c.issue(ctx, b, secret)
}

// issue makes the change whose first step puts a key with a new secret.
func (c *Control) issue(ctx context.Context, b Batch, secret secret.String) (*NewKey, *Result, error) {
	r, err := c.Apply(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	return &NewKey{Object: r.Objects[0], Secret: secret}, r, nil
}

// RotateKey makes a successor with the same rights, under a name of its own.
// Every secret that the predecessor has works until the overlap ends, and none
// longer; a negative overlap is the default, 24 hours. The predecessor has a new
// version then. Unless ifVersion is 0, that must be the one it has now.
func (c *Control) RotateKey(ctx context.Context, actor, nameOrID string, overlap time.Duration, ifVersion int64, dryRun bool) (*NewKey, *Result, error) {
	if overlap < 0 {
		overlap = defaultOverlap
	}
	secret, id := newSecret(), newID()
	b := Batch{Actor: actor, Owner: store.OwnerAPI, DryRun: dryRun}
	b.build = func(s *store.State, b *Batch) error {
		d := find(s, "Key", nameOrID)
		if d == nil {
			return notFound("Key", nameOrID)
		}
		if ifVersion > 0 && ifVersion != d.Version {
			return stale(d, ifVersion)
		}
		return c.rotate(s, d, b, overlap, keySecret(secret, id, c.opt.Now()))
	}
	return c.issue(ctx, b, secret)
}

// rotate makes the steps that replace a key.
func (c *Control) rotate(s *store.State, d *store.Document, b *Batch, overlap time.Duration, secret store.KeySecret) error {
	k, err := decodeKey(d)
	if err != nil {
		return err
	}
	if err := c.rotatable(s, d, k); err != nil {
		return err
	}
	next := *k
	next.Secret = ""
	next.Name = successorName(s, d.Name)
	next.RotatedFrom = d.Name
	if next.ProviderCredential, err = c.carried(k); err != nil {
		return err
	}
	ends := c.opt.Now().Add(overlap)
	b.Ops = []Op{{Put: &next, Create: true, id: secret.KeyID}}
	b.keys = keyWrite{
		add: []store.KeySecret{secret}, end: map[string]time.Time{d.ID: ends},
		renew: []store.DocumentRef{{Kind: d.Kind, Name: d.Name}},
	}
	if k.Secret == "" {
		return nil
	}
	// The document's secret becomes one of the store's, which ends.
	if kept, ok := c.named(s, d, k); ok {
		kept.EndsAt = ends
		b.keys.add = append(b.keys.add, kept)
	}
	was := *k
	was.Secret = ""
	b.Ops = append(b.Ops, Op{Put: &was, restored: true, IfVersion: d.Version})
	return nil
}

// rotatable refuses to rotate a key with a secret that can't be ended here, and
// one that is at its end: its successor would open what was closed, or be closed
// itself.
func (c *Control) rotatable(s *store.State, d *store.Document, k *resource.Key) error {
	now := c.opt.Now()
	wrong := func(code, format string, args ...any) error {
		return &Error{Status: 409, Code: code, Detail: fmt.Sprintf("Key %q ", d.Name) + fmt.Sprintf(format, args...)}
	}
	if d.Owner == store.OwnerFile && k.Secret != "" {
		return wrong("read_only", "has its secret in the configuration file (%s), so it can't be ended here; change it there", d.Source)
	}
	if k.ExpiresAt != nil && !now.Before(*k.ExpiresAt) {
		return wrong("ended", "expired on %s, and its successor would have, too; set a later expiresAt or remove it, then rotate, or make a new key", k.ExpiresAt.UTC().Format(time.DateOnly))
	}
	l := lifeOf(byKey(s)[d.ID], now)
	if k.Secret != "" || l.live || l.ends.IsZero() {
		return nil // it works, or it never had a secret and is given one
	}
	instead := "make a new key"
	if next := successor(s, d.Name); next != "" {
		instead = fmt.Sprintf("rotate its successor %q, or %s", next, instead)
	}
	if l.revoked {
		return wrong("ended", "was revoked; %s", instead)
	}
	return wrong("ended", "was replaced and ended on %s; %s", l.ends.UTC().Format(time.DateOnly), instead)
}

// life is how long a key works, by its issued secrets.
type life struct {
	live    bool // one works
	revoked bool // one was revoked
	// ends is when the last one stops working, or stopped; zero for one that
	// does not, or for none at all.
	ends  time.Time
	last4 string // of the one that works longest
}

// lifeOf looks at the issued secrets of one key.
func lifeOf(issued []store.KeySecret, now time.Time) life {
	var l life
	for _, x := range issued {
		ends := x.EndsAt
		if !x.RevokedAt.IsZero() {
			l.revoked = true
			if ends.IsZero() || x.RevokedAt.Before(ends) {
				ends = x.RevokedAt
			}
		}
		live := works(x, now)
		switch {
		case l.last4 == "", live && !l.live:
		case l.live && !live, l.live && l.ends.IsZero(), !ends.IsZero() && ends.Before(l.ends):
			continue
		}
		l.live, l.ends, l.last4 = live, ends, x.Last4
	}
	return l
}

// successor is the key that replaced another; empty if none did.
func successor(s *store.State, name string) string {
	for i := range s.Documents {
		if d := &s.Documents[i]; d.Kind == "Key" {
			if k, err := decodeKey(d); err == nil && k.RotatedFrom == name {
				return d.Name
			}
		}
	}
	return ""
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

// RevokeKey ends a key with all its secrets at once and for ever.
func (c *Control) RevokeKey(ctx context.Context, actor, nameOrID string, ifVersion int64, dryRun bool) (*Result, error) {
	b := Batch{Actor: actor, Owner: store.OwnerAPI, DryRun: dryRun}
	b.build = func(s *store.State, b *Batch) error {
		d := find(s, "Key", nameOrID)
		if d == nil {
			return notFound("Key", nameOrID)
		}
		b.Ops = []Op{{Ref: resource.Ref{Kind: "Key", Name: d.Name}, IfVersion: ifVersion, Revoke: true}}
		return nil
	}
	return c.Apply(ctx, b)
}

// key adds what is known of a key's secrets.
func (v *viewer) key(d *store.Document, k *resource.Key, out *Object) {
	if v.issued == nil {
		v.issued = byKey(v.s)
	}
	if pc := k.ProviderCredential; pc != nil {
		out.Credential = &Credential{HasAPIKey: pc.APIKey != ""}
		if s, err := v.c.resolveFor(k)(pc.APIKey); err == nil {
			out.Credential.APIKeyLast4 = s.Last4()
		}
	}
	warned := v.warnings[resource.Ref{Kind: d.Kind, Name: d.Name}]
	now := v.c.opt.Now()
	l := lifeOf(v.issued[d.ID], now)
	if k.Secret != "" && !slices.ContainsFunc(warned, func(p resource.Problem) bool { return p.Path == "secret" }) {
		_, last4, _ := resource.SecretHash(k.Secret)
		l = life{live: true, last4: last4}
	}
	if l.last4 != "" {
		out.Extra["last4"] = l.last4
	}
	if !l.ends.IsZero() {
		out.Extra["endsAt"] = stamp(l.ends)
	}
	closed := k.ExpiresAt != nil && !now.Before(*k.ExpiresAt) ||
		slices.ContainsFunc(warned, func(p resource.Problem) bool { return p.Code == snapshot.CodeOwnerDisabled })
	out.Extra["active"] = l.live && k.IsEnabled() && !closed
}
