package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/store"
)

// A password comes written out, and what is kept is its hash, sealed as any
// secret. Unlike other secrets it is no part of a document: a file that owns a
// user says nothing of it, and restoring a version does not bring one back.

// unhashed stands for the hash in a dry run, which is to be cheap.
const unhashed = "$argon2id$dry-run"

func isPassword(o resource.Object) bool {
	_, ok := o.(*resource.User)
	return ok
}

// hashPasswords replaces passwords that are written out by their hashes, before
// the store is locked: a hash takes a while. The caller's objects stay.
func (c *Control) hashPasswords(ctx context.Context, b *Batch) error {
	for i := range b.Ops {
		op := &b.Ops[i]
		u, ok := op.Put.(*resource.User)
		if !ok || op.restored || op.hashed || !resource.IsWrittenPassword(u.Password) {
			continue
		}
		hash, err := c.hashPassword(ctx, u.Name, u.Password, b.DryRun)
		if err != nil {
			return err
		}
		next := *u
		next.Password = hash
		op.Put = &next
	}
	return nil
}

func (c *Control) hashPassword(ctx context.Context, user, value string, dryRun bool) (string, error) {
	err := resource.CheckPassword(value)
	if err == nil && c.opt.Hash == nil {
		err = errors.New("passwords can't be set here")
	}
	if err != nil {
		return "", refused(resource.Problems{{Code: resource.CodeInvalid, Object: resource.Ref{Kind: "User", Name: user}, Path: "password", Message: err.Error()}})
	}
	if dryRun {
		return unhashed, nil
	}
	return c.opt.Hash(ctx, secret.New(value))
}

// keepPassword gives a user who is restored the password that they have now.
func keepPassword(o resource.Object, now *store.Document) error {
	u, ok := o.(*resource.User)
	if !ok {
		return nil
	}
	u.Password = ""
	if now == nil {
		return nil
	}
	is, err := decodeStored(now)
	if err != nil {
		return err
	}
	u.Password = storedSecret(is, "password")
	return nil
}

// SetPassword gives a user another password, and a role unless that is empty. A
// user who is not there is made if there is a role. Also a user that a file
// owns has a password, and only that can be set here.
func (c *Control) SetPassword(ctx context.Context, actor, name string, password secret.String, role string) error {
	hash, err := c.hashPassword(ctx, name, password.Reveal(), false)
	if err != nil {
		return err
	}
	s, err := c.State(ctx)
	if err != nil {
		return err
	}
	d := findUser(s, name)
	if d == nil && role == "" {
		return notFound("User", name)
	}
	b := Batch{Actor: actor, Owner: store.OwnerAPI}
	if d == nil {
		u := &resource.User{Meta: resource.Meta{Kind: "User", Name: name}, Role: role, Password: hash}
		b.Ops = []Op{{Put: u, Create: true, hashed: true}}
		_, err := c.Apply(ctx, b)
		return err
	}
	o, err := decodeStored(d)
	if err != nil {
		return err
	}
	if u, ok := o.(*resource.User); ok && d.Owner == store.OwnerFile && role != "" && u.Role != role {
		return &Error{Status: 409, Code: "read_only", Detail: fmt.Sprintf("User %q is managed in the configuration file (%s); change the role there", d.Name, d.Source)}
	}
	b.Owner = d.Owner
	b.Ops = []Op{{Ref: resource.Ref{Kind: "User", Name: d.Name}, Source: d.Source, Edit: func(o resource.Object) {
		if u, ok := o.(*resource.User); ok {
			u.Password = hash
			if role != "" {
				u.Role = role
			}
		}
	}}}
	_, err = c.Apply(ctx, b)
	return err
}

// findUser looks a user up; case does not count.
func findUser(s *store.State, name string) *store.Document {
	key := store.NameKey("User", name)
	for i := range s.Documents {
		if d := &s.Documents[i]; d.Kind == "User" && store.NameKey("User", d.Name) == key {
			return d
		}
	}
	return nil
}
