package control

import (
	"context"
	"crypto/sha256"
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
	Compile func(docs []resource.Document, d snapshot.Deps) (*snapshot.Live, resource.Problems)
	// Publish makes a snapshot current.
	Publish func(*snapshot.Live)
	Box     *secret.Box
	// Hash makes the hash of a password; nil takes no passwords.
	Hash func(ctx context.Context, password secret.String) (string, error)
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
	Actor string
	// RequestID names the API call that made the change; empty for any other
	// way.
	RequestID string
	Summary   string
	Revision  int64
	Changes   []store.Change // secrets masked
}

type requestIDKey struct{}

// WithRequestID makes the changes of a context those of an API call.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// Control changes the configuration. It is safe for concurrent use.
type Control struct {
	opt Options

	mu       sync.Mutex // orders publishing
	started  bool       // something was published
	revision int64      // published
	degraded string     // why the store is not in use; empty when it is
	// warnings are those of the published configuration, by object; replaced,
	// never changed.
	warnings map[resource.Ref]resource.Problems
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

// compile reads all objects of a state and makes the snapshot. A secret that
// can't be read is a problem for the objects of strict only: one variable that
// is gone must not darken every other provider.
func (c *Control) compile(s *store.State, strict map[resource.Ref]bool) (*compiled, resource.Problems, error) {
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
	revoked := map[[sha256.Size]byte]bool{}
	for _, k := range s.Keys {
		if d := byID[k.KeyID]; d != nil && k.RevokedAt.IsZero() {
			keys = append(keys, snapshot.KeySecret{Hash: k.Hash, Key: d.Name, Ends: k.EndsAt})
		}
		if !k.RevokedAt.IsZero() {
			revoked[k.Hash] = true
		}
	}
	resolve := func(o resource.Object, ref string) (secret.String, error) { return c.resolveFor(o)(ref) }
	live, problems := c.opt.Compile(docs, snapshot.Deps{
		Revision: uint64(max(s.Revision, 0)), Keys: keys, Revoked: revoked, Resolve: resolve,
		Tolerate: func(o resource.Object) bool { return !strict[resource.Ref{Kind: o.Head().Kind, Name: o.Head().Name}] },
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
	c.started, c.revision, c.warnings = true, s.Revision, byObject(live.Warnings)
	c.opt.Publish(live)
	for _, w := range live.Warnings {
		if w.Code == snapshot.CodeOwnerDisabled && w.Object.Kind == "Key" {
			continue // the one about who is disabled counts them
		}
		c.opt.Log.Warn("the configuration has a part that does not take effect", "kind", w.Object.Kind, "name", w.Object.Name, "field", w.Path, "why", w.Message)
	}
	if err := c.keepSnapshot(s); err != nil {
		c.opt.Log.Error("the last configuration can't be kept for a start without the store", "path", c.opt.SnapshotPath, "error", err)
	}
}

// published is the revision that is in use.
func (c *Control) published() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.revision
}

// behind is what to say of a store that was put back to an older state, such
// as a backup, while a newer one is in use. Its versions would be made again
// with other contents.
func behind(stored, used int64) error {
	return fmt.Errorf("the store has configuration version %d, and the newer version %d is in use; restart to use what the store has", stored, used)
}

// Load reads the newest configuration and publishes it. Without the store, or
// with a configuration that does not compile, the last good one is used; if
// there is none either, nothing is published and the error says why.
func (c *Control) Load(ctx context.Context) error {
	used := c.published() // first: what is published was stored before
	state, err := c.opt.Store.Load(ctx)
	if err == nil && state.Revision < used {
		err = behind(state.Revision, used)
	}
	if err == nil {
		var done *compiled
		var problems resource.Problems
		if done, problems, err = c.compile(state, nil); err == nil && len(problems) == 0 {
			c.publish(state, done.live)
			return nil
		}
		if err == nil {
			err = fmt.Errorf("the stored configuration is not valid in this version: %w", problems)
		}
	}
	c.mu.Lock()
	if c.started && c.revision > used {
		// A change that was made meanwhile mended what this load found.
		c.mu.Unlock()
		return nil
	}
	started := c.started
	c.degraded = err.Error()
	c.mu.Unlock()
	if started {
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

// Follow loads again whenever the store has another revision than the
// published one, or after it could not be read, until ctx ends. Each time that
// it finds the newest one in use it calls current, which may be nil.
func (c *Control) Follow(ctx context.Context, every time.Duration, current func()) {
	t := time.NewTicker(every)
	defer t.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		n, err := c.opt.Store.Current(ctx)
		if err != nil {
			continue
		}
		if n != c.published() || c.Degraded() != "" {
			if err := c.Load(ctx); err != nil && err.Error() != said {
				said = err.Error()
				c.opt.Log.Error("the newest configuration can't be used", "revision", n, "error", err)
			}
		}
		if c.Degraded() == "" {
			said = ""
			if current != nil {
				current()
			}
		}
	}
}
