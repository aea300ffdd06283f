package sqlstore

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
)

// change is what a Write comes to, given what is stored.
type change struct {
	revision store.Revision
	// ended are documents as they were; begun as they are from now on.
	ended, begun         []store.Document
	changedKeys, newKeys []store.KeySecret
	next                 *store.State
}

func (c *change) empty() bool {
	return len(c.ended)+len(c.begun)+len(c.changedKeys)+len(c.newKeys) == 0
}

// place is where a document is: the same for names that count as the same.
type place struct{ kind, key string }

func placeOf(kind, name string) place { return place{kind, store.NameKey(kind, name)} }

// planner works out a change. It reads only.
type planner struct {
	now     time.Time
	current map[place]*store.Document
	deleted map[place]*store.Document
	put     map[place]bool
	renewed map[place]bool
	change  change
}

// plan works out what a Write changes: which states of documents end, which
// begin, and what the state is afterwards.
func plan(state *store.State, w *store.Write, now time.Time) (*change, error) {
	if w == nil {
		return &change{}, nil
	}
	p := &planner{now: now, current: make(map[place]*store.Document, len(state.Documents)), deleted: map[place]*store.Document{}, put: map[place]bool{}, renewed: map[place]bool{}}
	for i := range state.Documents {
		d := &state.Documents[i]
		p.current[placeOf(d.Kind, d.Name)] = d
	}
	for _, ref := range w.Delete {
		if err := p.delete(ref); err != nil {
			return nil, err
		}
	}
	for _, ref := range w.Renew {
		p.renewed[placeOf(ref.Kind, clean(ref.Name))] = true
	}
	for _, d := range w.Put {
		if err := p.add(d); err != nil {
			return nil, fmt.Errorf("put %s %q: %w", d.Kind, d.Name, err)
		}
	}
	if err := p.renew(w.Renew); err != nil {
		return nil, err
	}
	if err := p.checkIDs(); err != nil {
		return nil, err
	}
	c := &p.change
	keys, err := planKeys(state.Keys, w, now, c)
	if err != nil || c.empty() {
		return c, err
	}
	c.revision = store.Revision{Number: state.Revision + 1, At: now, Actor: clean(w.Actor), Summary: clean(w.Summary), Changes: c.list()}
	c.next = &store.State{Revision: c.revision.Number, Documents: p.documents(state), Keys: keys}
	return c, nil
}

func (p *planner) delete(ref store.DocumentRef) error {
	at := placeOf(ref.Kind, clean(ref.Name))
	d := p.current[at]
	if d == nil || d.Name != clean(ref.Name) {
		return fmt.Errorf("delete %s %q: %w", ref.Kind, ref.Name, store.ErrNotFound)
	}
	delete(p.current, at)
	p.deleted[at] = d
	p.change.ended = append(p.change.ended, *d)
	return nil
}

func (p *planner) add(d store.Document) error {
	if err := normalize(&d); err != nil {
		return err
	}
	at := placeOf(d.Kind, d.Name)
	if p.put[at] {
		return fmt.Errorf("it is put twice: %w", store.ErrConflict)
	}
	p.put[at] = true
	old := p.current[at]
	d.Version, d.CreatedAt, d.UpdatedAt = 1, p.now, p.now
	if old != nil {
		if old.Name != d.Name {
			return fmt.Errorf("%q is there, and case does not count in such names: %w", old.Name, store.ErrConflict)
		}
		d.ID = cmp.Or(d.ID, old.ID)
		if old.ID != "" && old.ID != d.ID {
			return fmt.Errorf("its id is %s and cannot become %s: %w", old.ID, d.ID, store.ErrConflict)
		}
		if d.ID == old.ID && d.Owner == old.Owner && d.Source == old.Source && bytes.Equal(d.Spec, old.Spec) && !p.renewed[at] {
			return nil
		}
		d.Version, d.CreatedAt = old.Version+1, old.CreatedAt
		p.change.ended = append(p.change.ended, *old)
	}
	p.change.begun = append(p.change.begun, d)
	return nil
}

// renew begins documents anew that are not put.
func (p *planner) renew(refs []store.DocumentRef) error {
	for _, ref := range refs {
		at := placeOf(ref.Kind, clean(ref.Name))
		d := p.current[at]
		switch {
		case d == nil:
			return fmt.Errorf("renew %s %q: %w", ref.Kind, ref.Name, store.ErrNotFound)
		case p.put[at]:
			continue
		}
		if err := p.add(*d); err != nil {
			return fmt.Errorf("renew %s %q: %w", ref.Kind, ref.Name, err)
		}
	}
	return nil
}

// normalize brings a document into the form in which it is stored.
func normalize(d *store.Document) error {
	d.Kind, d.Name, d.ID, d.Source = clean(d.Kind), clean(d.Name), clean(d.ID), clean(d.Source)
	if d.Kind == "" || d.Name == "" || d.Owner == "" {
		return errors.New("a document needs a kind, a name and an owner")
	}
	var b bytes.Buffer
	if err := json.Compact(&b, bytes.ToValidUTF8(d.Spec, []byte("\uFFFD"))); err != nil {
		return fmt.Errorf("its spec is not JSON: %w", err)
	}
	d.Spec = b.Bytes()
	return nil
}

// checkIDs makes sure that no two current objects of a kind have one id.
func (p *planner) checkIDs() error {
	if !slices.ContainsFunc(p.change.begun, func(d store.Document) bool { return d.ID != "" }) {
		return nil
	}
	taken := make(map[place]string, len(p.current))
	for _, d := range p.current {
		if d.ID != "" {
			taken[place{d.Kind, d.ID}] = d.Name
		}
	}
	for _, d := range p.change.begun {
		if d.ID == "" {
			continue
		}
		if name, ok := taken[place{d.Kind, d.ID}]; ok && name != d.Name {
			return fmt.Errorf("put %s %q: its id %s is that of %q: %w", d.Kind, d.Name, d.ID, name, store.ErrConflict)
		}
		taken[place{d.Kind, d.ID}] = d.Name
	}
	return nil
}

// documents is the list after the change.
func (p *planner) documents(before *store.State) []store.Document {
	ended := make(map[place]bool, len(p.change.ended))
	for _, d := range p.change.ended {
		ended[placeOf(d.Kind, d.Name)] = true
	}
	after := make([]store.Document, 0, len(before.Documents)+len(p.change.begun))
	for _, d := range before.Documents {
		if len(ended) == 0 || !ended[placeOf(d.Kind, d.Name)] {
			after = append(after, d)
		}
	}
	after = append(after, p.change.begun...)
	store.SortDocuments(after)
	return after
}

// list puts what ended and what began beside each other, by kind and name.
func (c *change) list() []store.Change {
	type ref struct{ kind, name string }
	byRef := make(map[ref]*store.Change, len(c.begun))
	at := func(d *store.Document) *store.Change {
		r := ref{d.Kind, d.Name}
		if byRef[r] == nil {
			byRef[r] = &store.Change{Kind: d.Kind, Name: d.Name}
		}
		return byRef[r]
	}
	for i := range c.ended {
		at(&c.ended[i]).Before = c.ended[i].Spec
	}
	for i := range c.begun {
		at(&c.begun[i]).After = c.begun[i].Spec
	}
	changes := make([]store.Change, 0, len(byRef))
	for _, x := range byRef {
		changes = append(changes, *x)
	}
	slices.SortFunc(changes, func(a, b store.Change) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return changes
}
