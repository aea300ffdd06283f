package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/store"
)

// Options make a Control.
type Options struct {
	Store store.Config
	// Compile makes a snapshot of documents; see snapshot.Compile.
	Compile func(docs []resource.Document, keys []snapshot.KeySecret, revision uint64, resolve snapshot.Resolve) (*snapshot.Live, resource.Problems)
	// Publish makes a snapshot current.
	Publish func(*snapshot.Live)
	Box     *secret.Box
	// Resolve gives the value of env: and file: references.
	Resolve func(ref string) (secret.String, error)
	// Audit records a change; it must not fail silently.
	Audit func(Entry) error
	// SnapshotPath is the file of the last good configuration, for a start
	// without the store; empty keeps none.
	SnapshotPath string
	Log          *slog.Logger
	Now          func() time.Time
}

// Entry is what is recorded of a change.
type Entry struct {
	Actor    string
	Summary  string
	Revision int64
	Changes  []store.Change // secrets masked
}

// Control changes the configuration. It is safe for concurrent use.
type Control struct {
	opt Options

	mu       sync.Mutex // orders publishing
	revision int64      // published
	degraded string     // why the store is not in use; empty when it is
}

// New makes a Control; Load publishes the first snapshot.
func New(o Options) *Control {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Control{opt: o}
}

// unavailable turns a store's failure into an answer.
func unavailable(err error) error {
	if errors.Is(err, store.ErrUnavailable) {
		return &Error{Status: 503, Code: "store_unavailable", Detail: "the configuration store can't be reached; requests are served with the last configuration, changes must wait"}
	}
	return err
}

// compiled is a state with its objects and its snapshot.
type compiled struct {
	state   *store.State
	objects []resource.Object // in the order of state.Documents
	live    *snapshot.Live
}

// compile reads all objects of a state and makes the snapshot.
func (c *Control) compile(s *store.State) (*compiled, resource.Problems, error) {
	out := &compiled{state: s, objects: make([]resource.Object, len(s.Documents))}
	docs := make([]resource.Document, len(s.Documents))
	byID := map[string]*store.Document{}
	for i := range s.Documents {
		d := &s.Documents[i]
		o, err := decodeStored(d)
		if err != nil {
			return nil, nil, err
		}
		out.objects[i] = o
		docs[i] = resource.Document{Object: o}
		if d.ID != "" {
			byID[d.ID] = d
		}
	}
	keys := make([]snapshot.KeySecret, 0, len(s.Keys))
	for _, k := range s.Keys {
		if d := byID[k.KeyID]; d != nil && k.RevokedAt.IsZero() {
			keys = append(keys, snapshot.KeySecret{Hash: k.Hash, Key: d.Name, Ends: k.EndsAt})
		}
	}
	live, problems := c.opt.Compile(docs, keys, uint64(max(s.Revision, 0)), func(o resource.Object, ref string) (secret.String, error) {
		return c.resolveFor(o)(ref)
	})
	if len(problems) > 0 {
		return nil, problems, nil
	}
	out.live = live
	return out, nil, nil
}

// publish makes a state's snapshot current unless a newer one is.
func (c *Control) publish(s *store.State, live *snapshot.Live) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.degraded = ""
	if s.Revision < c.revision {
		return
	}
	c.revision = s.Revision
	c.opt.Publish(live)
	if err := c.keepSnapshot(s); err != nil {
		c.opt.Log.Error("the last configuration can't be kept for a start without the store", "path", c.opt.SnapshotPath, "error", err)
	}
}

// Load reads the newest configuration and publishes it. Without the store, or
// with a configuration that does not compile, the last good one is used; if
// there is none either, nothing is published and the error says why.
func (c *Control) Load(ctx context.Context) error {
	state, err := c.opt.Store.Load(ctx)
	if err == nil {
		var done *compiled
		var problems resource.Problems
		if done, problems, err = c.compile(state); err == nil && len(problems) == 0 {
			c.publish(state, done.live)
			return nil
		}
		if err == nil {
			err = fmt.Errorf("the stored configuration is not valid in this version: %w", problems)
		}
	}
	c.mu.Lock()
	published := c.revision > 0
	c.degraded = err.Error()
	c.mu.Unlock()
	if published {
		return err
	}
	if serr := c.coldStart(); serr != nil {
		return errors.Join(err, serr)
	}
	c.opt.Log.Error("started with the last good configuration", "reason", err)
	return nil
}

// Degraded says why the newest configuration of the store is not in use;
// empty when it is.
func (c *Control) Degraded() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.degraded
}

// Follow loads again whenever the store has a newer revision than the
// published one, or after it could not be read, until ctx ends.
func (c *Control) Follow(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		n, err := c.opt.Store.Current(ctx)
		c.mu.Lock()
		due := err == nil && (n > c.revision || c.degraded != "")
		c.mu.Unlock()
		if due {
			if err := c.Load(ctx); err != nil {
				c.opt.Log.Error("the newest configuration can't be used", "revision", n, "error", err)
			}
		}
	}
}
