package snapshot

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
)

func (c *compiler) keys() {
	var b auth.KeysBuilder
	issued := map[string][]KeySecret{}
	for _, k := range c.Keys {
		issued[k.Key] = append(issued[k.Key], k)
	}
	closed := map[resource.Ref][]string{} // keys by the owner that is disabled
	each(c, func(doc resource.Document, k *resource.Key) {
		c.checkCredential(doc, k)
		c.checkCeilings(doc, k)
		key := c.key(k)
		if k.IsEnabled() {
			c.checkOwners(doc, k, key, closed)
		}
		for _, s := range issued[k.Name] {
			if k.IsEnabled() {
				b.AddHash(s.Hash, ending(key, s.Ends))
			}
		}
		if k.Secret != "" { // else it has issued secrets, or admits nobody
			c.named(doc, k, key, issued[k.Name], &b)
		}
	})
	c.live.Keys = b.Build()
	c.sayClosed(closed)
}

// named adds the secret that a key's document names. issued are those that it
// has, or had, besides.
func (c *compiler) named(doc resource.Document, k *resource.Key, key *auth.Key, issued []KeySecret, b *auth.KeysBuilder) {
	hash, form, err := c.secretHash(k)
	if err == nil && c.Revoked[hash] {
		err = errors.New("the secret was revoked; " + instead(k))
	}
	why, code := err, "secret"
	if why == nil {
		why = form
	}
	if clash := clashes(k, hash, issued); why == nil && clash != "" && k.IsEnabled() {
		why, code = errors.New(clash), "conflict"
	}
	switch {
	case why != nil && (!c.written(doc) || !k.IsEnabled()): // others keep being served
		c.warn(doc, "secret", "secret", "its secret can't be used, so it admits nobody: %v", why)
		return
	case why != nil:
		c.problem(doc, code, "secret", "%v", why)
		return
	case !k.IsEnabled():
		return
	}
	if taken := b.AddHash(hash, key); taken != "" {
		c.sameSecret(doc, taken)
	}
}

// sameSecret reports that a key has the secret of another one: at the one that
// is being written. If neither is, the first keeps it, and others are served.
func (c *compiler) sameSecret(doc resource.Document, taken string) {
	at := slices.IndexFunc(c.docs, func(d resource.Document) bool {
		h := d.Object.Head()
		return h.Kind == "Key" && h.Name == taken
	})
	switch {
	case c.written(doc) || at < 0:
	case c.written(c.docs[at]):
		doc, taken = c.docs[at], doc.Object.Head().Name
	default:
		c.warn(doc, "secret", "secret", "its secret is the one of key %q, so it admits nobody; every key needs its own", taken)
		return
	}
	c.report(doc, resource.Problem{
		Code: "conflict", Path: "secret", Refs: []resource.Ref{{Kind: "Key", Name: taken}},
		Message: fmt.Sprintf("the secret is the one of key %q; every key needs its own", taken),
	})
}

// secretHash is the hash of the secret that a key's document names. form says
// what is wrong with the secret's form, err that it is out of reach.
func (c *compiler) secretHash(k *resource.Key) (hash [sha256.Size]byte, form, err error) {
	if hash, _, ok := resource.SecretHash(k.Secret); ok {
		return hash, nil, nil
	}
	s, err := c.Resolve(k, k.Secret)
	if err != nil {
		return hash, nil, err
	}
	return sha256.Sum256([]byte(s.Reveal())), resource.CheckKeySecret(s.Reveal()), nil
}

// clashes says why the secret that a key's document names can't be one that was
// issued; empty if it is none of them.
func clashes(k *resource.Key, hash [sha256.Size]byte, issued []KeySecret) string {
	for _, s := range issued {
		switch {
		case s.Hash != hash:
		case s.Ends.IsZero():
			return "it is the secret that was issued for the key; remove secret from the document to keep it, or " + instead(k)
		default:
			return fmt.Sprintf("this secret was rotated away, with its end at %s; %s, or remove secret from the document", s.Ends.UTC().Format(time.RFC3339), instead(k))
		}
	}
	return ""
}

// instead says how a key's document gets another secret.
func instead(k *resource.Key) string {
	if resource.IsSealedSecret(k.Secret) || resource.IsLiteralSecret(k.Secret) {
		return "write another secret"
	}
	return "put another secret behind " + k.Secret
}

// ending is a key with a secret that ends at a time, if that is not zero.
func ending(k *auth.Key, at time.Time) *auth.Key {
	if at.IsZero() || !k.Expires.IsZero() && k.Expires.Before(at) {
		return k
	}
	out := *k
	out.Expires, out.Replaced = at, true
	return &out
}

// key is the run-time form of a key.
func (c *compiler) key(k *resource.Key) *auth.Key {
	out := &auth.Key{Name: k.Name, Type: k.Type, Team: k.Team}
	for _, p := range resource.Unenforced(k) {
		out.Unenforced = p.Path
	}
	out.Ceilings = ceilings(k)
	c.credential(k, out)
	if o := k.Owner; o != nil {
		out.User, out.Department = o.User, o.Department
		if out.Team == "" {
			out.Team = o.Team
		}
		if u, ok := lookUp[*resource.User](c, "User", o.User); ok {
			out.User = u.Name // as the user spells it
			out.Admin = u.Role == roleAdmin
			if out.Team == "" {
				out.Team = u.Team
			}
		}
	}
	if t, ok := lookUp[*resource.Team](c, "Team", out.Team); ok {
		out.Team = t.Name // as the team spells it
		for _, p := range resource.Unenforced(t) {
			out.Unenforced = p.Path + " of its team"
		}
		if out.Department == "" {
			out.Department = t.Department
		}
	}
	if d, ok := lookUp[*resource.Department](c, "Department", out.Department); ok {
		out.Department = d.Name
	}
	if k.ExpiresAt != nil {
		out.Expires = *k.ExpiresAt
	}
	return out
}

// roleAdmin is the role of users who may see how decisions are made.
const roleAdmin = "gateway-admin"

// ceilings of a key; nil if it has none.
func ceilings(k *resource.Key) *routing.Ceilings {
	out := &routing.Ceilings{Residencies: k.AllowedResidencies, Data: dataHandling(k.DataHandling)}
	for _, p := range k.AllowedProviders {
		out.Providers = append(out.Providers, routing.ProviderID(p))
	}
	if len(out.Providers) == 0 && len(out.Residencies) == 0 && out.Data == (routing.DataHandling{}) {
		return nil
	}
	return out
}

// credential adds what a virtual key holds. One that can't be read keeps the
// key from admitting anybody: the organisation's key must not stand in for it.
func (c *compiler) credential(k *resource.Key, out *auth.Key) {
	pc := k.ProviderCredential
	if pc == nil {
		return
	}
	out.Virtual = routing.ProviderID(pc.Provider)
	if k.LacksCredential() {
		out.Unenforced = "providerCredential.apiKey is not known here"
		return
	}
	s, err := c.Resolve(k, pc.APIKey)
	out.Credential = s
	if err != nil {
		out.Unenforced = "providerCredential.apiKey can't be read"
	}
}

// checkCredential reports a provider credential that can't be read, once for a
// key.
func (c *compiler) checkCredential(doc resource.Document, k *resource.Key) {
	switch {
	case k.ProviderCredential == nil:
		return
	case k.LacksCredential(): // documents only: what is stored has one
		c.warn(doc, "secret", "providerCredential.apiKey", "the key is left out: a server that has one keeps it; elsewhere write env:NAME or file:PATH")
		return
	}
	_, err := c.Resolve(k, k.ProviderCredential.APIKey)
	switch {
	case err == nil:
	case !c.written(doc), !k.IsEnabled():
		c.warn(doc, "secret", "providerCredential.apiKey", "it can't be read, so the key admits nobody: %v", err)
	default:
		c.problem(doc, "secret", "providerCredential.apiKey", "%v", err)
	}
}

// checkCeilings warns of names in a key's ceilings that nothing has: they allow
// nothing.
func (c *compiler) checkCeilings(doc resource.Document, k *resource.Key) {
	for i, name := range k.AllowedProviders {
		if _, ok := lookUp[*resource.Provider](c, "Provider", name); !ok {
			c.warn(doc, "unknown_name", resource.IndexPath("allowedProviders", i), "there is no provider %q, so this allows nothing", name)
		}
	}
	known := c.residencies()
	for i, name := range k.AllowedResidencies {
		if !slices.Contains(known, name) {
			c.warn(doc, "unknown_name", resource.IndexPath("allowedResidencies", i), "there is no residency %q, so this allows nothing; known are %s", name, strings.Join(known, ", "))
		}
	}
}
