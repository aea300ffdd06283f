package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

// Resealed says what Reseal came to.
type Resealed struct {
	// Secrets is how many stored secrets there are; Changed how many of them
	// were sealed with another master key, and are sealed anew.
	Secrets int `json:"secrets"`
	Changed int `json:"changed"`
	// Snapshot is how many were sealed anew in the last good configuration
	// that is kept for a start without the store.
	Snapshot int `json:"snapshot"`
	// KeyID names the master key that seals now.
	KeyID string `json:"keyId"`
	// Revision is the configuration version now.
	Revision int64 `json:"revision"`
}

// Reseal seals with the first master key what another one sealed: all of it in
// one new version, or nothing. Every secret is opened, and what was sealed anew
// is opened again and compared. What can't be opened is an error that names all
// such fields. A dry run opens everything and writes nothing. The secrets of
// earlier versions stay as they are.
func (c *Control) Reseal(ctx context.Context, actor string, dryRun bool) (*Resealed, error) {
	out := &Resealed{KeyID: c.opt.Box.KeyID()}
	summary := ""
	state, err := c.opt.Store.Update(ctx, c.opt.Now(), func(s *store.State) (*store.Write, error) {
		changed, err := c.reseal(s.Documents, &out.Secrets, &out.Changed)
		if err != nil {
			return nil, err
		}
		out.Revision = s.Revision
		if dryRun || len(changed) == 0 {
			return nil, nil
		}
		summary = fmt.Sprintf("seal %d secrets anew with the master key %s", out.Changed, out.KeyID)
		return &store.Write{Actor: actor, Summary: summary, Put: changed}, nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	out.Revision = state.Revision
	var failed []error
	if err := c.resealSnapshot(out, dryRun); err != nil {
		failed = append(failed, fmt.Errorf("the last good configuration in %s keeps its secrets as they are; the next start of the server replaces it: %w", c.opt.SnapshotPath, err))
	}
	if summary != "" && c.opt.Audit != nil {
		if err := c.opt.Audit(Entry{Actor: actor, Summary: summary, Revision: state.Revision, Changes: []store.Change{}}); err != nil {
			failed = append(failed, fmt.Errorf("the secrets are sealed anew, and the audit does not know of it: %w", err))
		}
	}
	return out, errors.Join(failed...)
}

// reseal gives the documents that change, and counts secrets.
func (c *Control) reseal(docs []store.Document, secrets, resealed *int) ([]store.Document, error) {
	var changed []store.Document
	var failed []error
	for i := range docs {
		o, err := decodeStored(&docs[i])
		if err != nil {
			return nil, err
		}
		n := 0
		for _, f := range resource.SecretFields(o) {
			if _, _, hashed := resource.SecretHash(*f.Value); hashed || !resource.IsSealedSecret(*f.Value) {
				continue
			}
			*secrets++
			next, err := c.resealed(*f.Value, place(docs[i].Kind, docs[i].Name, f.Path))
			if err != nil {
				failed = append(failed, fmt.Errorf("%s %q %s: %w", docs[i].Kind, docs[i].Name, f.Path, err))
				continue
			}
			if next != *f.Value {
				*f.Value = next
				n++
			}
		}
		if n == 0 {
			continue
		}
		*resealed += n
		d := docs[i]
		if d.Spec, err = json.Marshal(o); err != nil {
			return nil, fmt.Errorf("store %s %q: %w", d.Kind, d.Name, err)
		}
		changed = append(changed, d)
	}
	return changed, errors.Join(failed...)
}

// resealed is a sealed text under the first master key; the same text if that
// sealed it.
func (c *Control) resealed(sealed, at string) (string, error) {
	value, err := c.opt.Box.Open(sealed, at)
	if err != nil || !c.opt.Box.Stale(sealed) {
		return sealed, err
	}
	next := c.opt.Box.Seal(value, at)
	again, err := c.opt.Box.Open(next, at)
	if err != nil {
		return "", err
	}
	if !again.Equal(value) {
		return "", errors.New("what was sealed anew is not what it was; nothing is written")
	}
	return next, nil
}

// resealSnapshot does the same for the kept configuration, if there is one.
func (c *Control) resealSnapshot(out *Resealed, dryRun bool) error {
	if c.opt.SnapshotPath == "" {
		return nil
	}
	b, err := os.ReadFile(c.opt.SnapshotPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var s store.State
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	seen := 0
	changed, err := c.reseal(s.Documents, &seen, &out.Snapshot)
	if err != nil || dryRun || len(changed) == 0 {
		return err
	}
	for _, d := range changed {
		at := slices.IndexFunc(s.Documents, func(x store.Document) bool { return x.Kind == d.Kind && x.Name == d.Name })
		s.Documents[at] = d
	}
	return c.keepSnapshot(&s)
}
