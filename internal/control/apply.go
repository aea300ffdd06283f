package control

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

// Op is one step of a change: an object to put, or one to delete.
type Op struct {
	// Put is the new object; nil deletes Ref.
	Put resource.Object
	// Edit makes Put of the object as it is stored, its secrets left out: no
	// change that is made meanwhile is lost, and none is in the way. Ref names
	// the object.
	Edit func(resource.Object)
	// Nulls are secret fields that are to be removed; other empty secret
	// fields keep their stored value.
	Nulls []string
	// Ref names the object of a delete.
	Ref resource.Ref
	// IfVersion is the version that the object must have; 0 is any.
	IfVersion int64
	// Create refuses an object that is there already; Replace one that is
	// not.
	Create, Replace bool
	// Revoke makes the delete of a key final: no restore brings its secrets
	// back.
	Revoke bool
	// Source is the file and place of an object that the file owns.
	Source string

	// id is the id of a new object.
	id string
	// restored: the object comes from the store, with its secrets sealed.
	restored bool
	// whole: the object's secrets are all there; an empty one is none.
	whole bool
	// hashed: the password is a hash already.
	hashed bool
}

func (op *Op) ref() resource.Ref {
	if op.Put != nil {
		return resource.Ref{Kind: op.Put.Head().Kind, Name: op.Put.Head().Name}
	}
	return op.Ref
}

// target finds the document that a step is about, -1 for a new one, and refuses
// a step that does not fit it.
func target(s *store.State, op *Op, b *Batch) (int, error) {
	ref := op.ref()
	at := slices.IndexFunc(s.Documents, func(d store.Document) bool { return d.Kind == ref.Kind && d.Name == ref.Name })
	if op.Edit != nil {
		if at < 0 {
			return at, notFound(ref.Kind, ref.Name)
		}
		if err := op.edit(&s.Documents[at]); err != nil {
			return at, err
		}
	}
	return at, check(s, at, op, b)
}

// edit makes what is put of what is stored.
func (op *Op) edit(d *store.Document) error {
	o, err := decodeStored(d)
	if err != nil {
		return err
	}
	for _, f := range resource.SecretFields(o) {
		*f.Value = "" // it is kept
	}
	op.Edit(o)
	op.Put = o
	return nil
}

// Batch is a change: all of it happens or nothing.
type Batch struct {
	Actor string
	Ops   []Op
	// Owner is who makes the change; an object of another owner is read-only
	// for it, unless TakeOver.
	Owner    store.Owner
	TakeOver bool
	// DryRun checks everything and writes nothing.
	DryRun bool
	// keys are the key secrets that go with it.
	keys keyWrite
	// build makes the steps and the secrets of the state that they change; nil
	// if they are there.
	build func(*store.State, *Batch) error
	// replaced is what its plan found; see keyWrite.
	replaced map[string]string
}

// written are the objects that a change makes or alters. One that it only
// gives to another owner is none of them.
func written(before, after *store.State) map[resource.Ref]bool {
	was := make(map[resource.Ref]string, len(before.Documents))
	for i := range before.Documents {
		d := &before.Documents[i]
		was[resource.Ref{Kind: d.Kind, Name: d.Name}] = string(d.Spec)
	}
	out := map[resource.Ref]bool{}
	for i := range after.Documents {
		d := &after.Documents[i]
		ref := resource.Ref{Kind: d.Kind, Name: d.Name}
		if spec, there := was[ref]; !there || spec != string(d.Spec) {
			out[ref] = true
		}
	}
	return out
}

// Result is what a change came to, or would come to.
type Result struct {
	// Revision is the configuration version now; a change that changes
	// nothing makes none.
	Revision int64
	Changes  []Diff
	// Objects are the objects that were put, in order.
	Objects []*Object
}

// errDryRun ends a dry run before anything is written.
var errDryRun = errors.New("dry run")

// Apply makes a change. Its error is an *Error, or a failure of ours.
func (c *Control) Apply(ctx context.Context, b Batch) (*Result, error) {
	var next *compiled
	var changes []store.Change
	var summary string
	if err := c.hashPasswords(ctx, &b); err != nil {
		return nil, err
	}
	state, err := c.opt.Store.Update(ctx, c.opt.Now(), func(s *store.State) (*store.Write, error) {
		if used := c.published(); s.Revision < used {
			return nil, &Error{Status: 503, Code: "store_unavailable", Detail: "the configuration can't be changed now: " + behind(s.Revision, used).Error()}
		}
		w, after, err := c.plan(s, &b)
		if err != nil {
			return nil, err
		}
		done, problems, err := c.compile(after, written(s, after))
		if err != nil {
			return nil, err
		}
		if len(problems) > 0 {
			return nil, refused(problems)
		}
		next = done
		changes = c.mask(s, after)
		summary = summarize(s, after, changes) + sayReplaced(b.replaced)
		w.Summary = summary
		if b.DryRun {
			return nil, errDryRun
		}
		return w, nil
	})
	if errors.Is(err, errDryRun) {
		return c.result(next.state, next.live, &b, changes)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	if next == nil || state.Revision != next.state.Revision {
		return c.result(state, nil, &b, changes) // nothing changed
	}
	c.publish(state, next.live)
	if c.opt.Audit != nil {
		if err := c.opt.Audit(Entry{Actor: b.Actor, RequestID: requestID(ctx), Summary: summary, Revision: state.Revision, Changes: changes}); err != nil {
			c.opt.Log.Error("a change of the configuration was made and could not be recorded in the audit", "revision", state.Revision, "error", err)
		}
	}
	return c.result(state, next.live, &b, changes)
}

// ready makes the steps of a batch that depend on the state.
func (b *Batch) ready(s *store.State) error {
	if b.build == nil {
		return nil
	}
	return b.build(s, b)
}

// plan applies the steps to a copy of the state and says what is to be
// written.
func (c *Control) plan(s *store.State, b *Batch) (*store.Write, *store.State, error) {
	if err := b.ready(s); err != nil {
		return nil, nil, err
	}
	keys := b.keys // the batch may be planned again
	after := &store.State{Revision: s.Revision + 1, Documents: slices.Clone(s.Documents), Keys: slices.Clone(s.Keys)}
	w := &store.Write{Actor: b.Actor}
	var problems resource.Problems
	put := map[resource.Ref]bool{}
	for i := range b.Ops {
		op := &b.Ops[i]
		ref := op.ref()
		if put[resource.NameKey(ref)] {
			return nil, nil, twice(ref)
		}
		put[resource.NameKey(ref)] = op.Put != nil || op.Edit != nil
		problems = append(problems, wrongSecrets(op)...)
		at, err := target(after, op, b)
		if err != nil {
			return nil, nil, err
		}
		if op.Put == nil {
			if err := c.revoke(&keys, after, at, op); err != nil {
				return nil, nil, err
			}
			after.Documents = slices.Delete(after.Documents, at, at+1)
			w.Delete = append(w.Delete, store.DocumentRef{Kind: ref.Kind, Name: ref.Name})
			continue
		}
		doc, err := c.document(after, at, op, b)
		if err != nil {
			return nil, nil, err
		}
		if at >= 0 {
			after.Documents[at] = doc
		} else {
			after.Documents = append(after.Documents, doc)
		}
		w.Put = append(w.Put, doc)
	}
	if len(problems) > 0 {
		return nil, nil, refused(problems)
	}
	if err := inUse(after, w.Delete); err != nil {
		return nil, nil, err
	}
	if err := c.replace(after, w.Put, &keys); err != nil {
		return nil, nil, err
	}
	b.replaced = keys.replaced
	keys.write(w, after, c.opt.Now())
	store.SortDocuments(after.Documents) // as a load gives them: a restart decides the same
	store.SortKeys(after.Keys)
	return w, after, nil
}

func twice(ref resource.Ref) *Error {
	message := fmt.Sprintf("%s appears twice in one change; leave one of them out", ref)
	if resource.FoldsCase(ref.Kind) {
		message += " (case does not count)"
	}
	return &Error{Status: 400, Code: "invalid", Detail: message, Problems: resource.Problems{{Code: "invalid", Object: ref, Path: "name", Message: message}}}
}

// check refuses a step that does not fit what is there.
func check(s *store.State, at int, op *Op, b *Batch) error {
	ref := op.ref()
	if at < 0 {
		switch {
		case op.Put == nil, op.Replace:
			return notFound(ref.Kind, ref.Name)
		case op.IfVersion > 0:
			return &Error{Status: 412, Code: "stale", Detail: fmt.Sprintf("%s does not exist any more; load it again", ref)}
		}
		return nil
	}
	d := &s.Documents[at]
	switch {
	case op.Create:
		return &Error{Status: 409, Code: "name_taken", Detail: fmt.Sprintf("%s exists already; choose another name, or change that one", ref)}
	case op.IfVersion > 0 && op.IfVersion != d.Version:
		return stale(d, op.IfVersion)
	case d.Owner != b.Owner && !b.TakeOver:
		where := "through the API"
		if d.Owner == store.OwnerFile {
			where = "in the configuration file (" + d.Source + ")"
		}
		return &Error{Status: 409, Code: "read_only", Detail: fmt.Sprintf("%s is managed %s and read-only here; change it there", ref, where)}
	}
	return nil
}

// document makes the stored form of an object: secrets kept, removed or
// sealed, read-only fields left out.
func (c *Control) document(s *store.State, at int, op *Op, b *Batch) (store.Document, error) {
	ref := op.ref()
	o, err := clone(op.Put) // the caller's stays as it is
	if err != nil {
		return store.Document{}, err
	}
	doc := store.Document{Kind: ref.Kind, Name: ref.Name, Owner: b.Owner, Source: op.Source, Version: 1, CreatedAt: c.opt.Now(), UpdatedAt: c.opt.Now()}
	var old resource.Object
	if at >= 0 {
		was := &s.Documents[at]
		doc.ID, doc.Version, doc.CreatedAt = was.ID, was.Version+1, was.CreatedAt
		if old, err = decodeStored(was); err != nil {
			return doc, err
		}
	}
	if doc.ID == "" {
		doc.ID = op.id
	}
	if doc.ID == "" && ref.Kind == "Key" {
		doc.ID = newID()
	}
	if err := inherit(o, old, op, ref); err != nil {
		return doc, err
	}
	if b.Owner == store.OwnerAPI && !op.restored {
		leaveOutDefaults(o)
	}
	c.seal(o, old)
	showLists(reflect.ValueOf(o))
	spec, err := json.Marshal(o)
	if err != nil {
		return doc, fmt.Errorf("store %s: %w", ref, err)
	}
	doc.Spec = spec
	if at >= 0 && b.Owner == store.OwnerAPI && !op.restored && sameButDefaults(o, old) {
		doc.Spec = s.Documents[at].Spec
	}
	if at >= 0 && bytes.Equal(doc.Spec, s.Documents[at].Spec) && doc.Owner == s.Documents[at].Owner {
		doc.Version, doc.UpdatedAt = s.Documents[at].Version, s.Documents[at].UpdatedAt
	}
	return doc, nil
}

// inherit gives an object what a PUT leaves out and keeps: its stored secrets,
// and the key that it was rotated from. It refuses a mask in place of a secret.
func inherit(o, old resource.Object, op *Op, ref resource.Ref) error {
	for _, f := range resource.SecretFields(o) {
		switch {
		case op.restored:
		case strings.HasPrefix(*f.Value, Mask) || resource.IsSealedSecret(*f.Value):
			return &Error{
				Status: 400, Code: "secret",
				Detail:   fmt.Sprintf("%s %s holds a mask, not a secret; leave the field out to keep the stored value, or send null to remove it", ref, f.Path),
				Problems: resource.Problems{{Code: "secret", Object: ref, Path: f.Path, Message: "this is a mask, not a secret; leave the field out to keep the stored value"}},
			}
		case *f.Value == "" && old != nil && (!op.whole || isPassword(o)) && !slices.Contains(op.Nulls, f.Path):
			*f.Value = storedSecret(old, f.Path)
		}
	}
	if k, ok := o.(*resource.Key); ok {
		was, _ := old.(*resource.Key)
		return inheritKey(k, was, op, ref)
	}
	return nil
}

// wrongSecrets checks secrets that are written out. Once they are sealed the
// check of the whole object can't see them any more.
func wrongSecrets(op *Op) resource.Problems {
	if op.Put == nil || op.restored {
		return nil
	}
	literal := map[string]bool{}
	for _, f := range resource.SecretFields(op.Put) {
		literal[f.Path] = resource.IsLiteralSecret(*f.Value)
	}
	return slices.DeleteFunc(op.Put.Check(), func(p resource.Problem) bool { return !literal[p.Path] })
}

func storedSecret(o resource.Object, path string) string {
	for _, f := range resource.SecretFields(o) {
		if f.Path == path {
			return *f.Value
		}
	}
	return ""
}

// inUse refuses to delete what another object names.
func inUse(after *store.State, deleted []store.DocumentRef) error {
	if len(deleted) == 0 {
		return nil
	}
	gone := map[resource.Ref]bool{}
	for _, d := range deleted {
		gone[resource.NameKey(resource.Ref{Kind: d.Kind, Name: d.Name})] = true
	}
	for i := range after.Documents { // deleted and made again in one change
		d := &after.Documents[i]
		delete(gone, resource.NameKey(resource.Ref{Kind: d.Kind, Name: d.Name}))
	}
	var problems resource.Problems
	for i := range after.Documents {
		o, err := decodeStored(&after.Documents[i])
		if err != nil {
			return err
		}
		for _, r := range resource.Refs(o) {
			if gone[resource.NameKey(r.Ref)] {
				user := resource.Ref{Kind: o.Head().Kind, Name: o.Head().Name}
				problems = append(problems, resource.Problem{
					Code: "in_use", Object: user, Path: r.Path, Refs: []resource.Ref{r.Ref},
					Message: fmt.Sprintf("it uses %s; change it first", r.Ref),
				})
			}
		}
	}
	if len(problems) == 0 {
		return nil
	}
	e := refused(problems)
	e.Detail = usesOf(problems)
	return e
}

// maxUsers is how many users of an object a message names.
const maxUsers = 20

// usesOf says who uses what was to be deleted. The problems name all of them.
func usesOf(problems resource.Problems) string {
	var order []resource.Ref
	users := map[resource.Ref]map[string]bool{}
	for _, p := range problems {
		used := p.Refs[0]
		if users[used] == nil {
			users[used] = map[string]bool{}
			order = append(order, used)
		}
		users[used][p.Object.String()] = true
	}
	said := make([]string, 0, len(order))
	for _, used := range order {
		names := slices.Sorted(maps.Keys(users[used]))
		more := ""
		if n := len(names) - maxUsers; n > 0 {
			names, more = names[:maxUsers], fmt.Sprintf(" and %d more", n)
		}
		said = append(said, fmt.Sprintf("%s is used by %s%s", used, strings.Join(names, ", "), more))
	}
	return strings.Join(said, "; ")
}

// newID makes the id of an object that has one: a random UUID (version 4).
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
