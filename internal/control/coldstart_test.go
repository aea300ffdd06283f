package control_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/store"
)

// outage is a store that is away while down is set.
type outage struct {
	store.Config
	down atomic.Bool
}

func (o *outage) fail() error {
	if o.down.Load() {
		return fmt.Errorf("the database is away: %w", store.ErrUnavailable)
	}
	return nil
}

func (o *outage) Load(ctx context.Context) (*store.State, error) {
	if err := o.fail(); err != nil {
		return nil, err
	}
	return o.Config.Load(ctx)
}

func (o *outage) Current(ctx context.Context) (int64, error) {
	if err := o.fail(); err != nil {
		return 0, err
	}
	return o.Config.Current(ctx)
}

func (o *outage) Update(ctx context.Context, now time.Time, decide func(*store.State) (*store.Write, error)) (*store.State, error) {
	if err := o.fail(); err != nil {
		return nil, err
	}
	return o.Config.Update(ctx, now, decide)
}

// withOutage puts the store of an environment behind an outage and starts a
// new process.
func withOutage(e *env) *outage {
	o := &outage{Config: e.opt.Store}
	e.opt.Store = o
	e.restart()
	return o
}

// follow runs Follow in the background until the test ends.
func (e *env) follow(current func()) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	c := e.Control
	running.Go(func() { c.Follow(ctx, 2*time.Millisecond, current) })
	e.t.Cleanup(func() { stop(); running.Wait() })
}

// TestOP_4_cold_start: without its database a process starts with the last
// configuration, refuses changes, and is back when the database is.
func TestOP_4_cold_start(t *testing.T) {
	e := newEnv(t)
	secret, _ := e.createKey(`{"kind":"Key","name":"ci","type":"service"}`)
	e.put(provider("a", `"apiKey":"`+planted+`"`), route("r", "m-*", "a"))
	o := withOutage(e)
	o.down.Store(true)
	e.live = &snapshot.Publisher{}
	if err := e.Load(t.Context()); err != nil {
		t.Fatalf("a cold start: %v", err)
	}
	if live := e.live.Current(); live.Revision != 2 || live.Routing.Route("r") == nil || !e.admits(secret) {
		t.Errorf("in use is %+v", live)
	}
	if e.Degraded() == "" {
		t.Error("it does not say that the store is away")
	}
	_, err := e.try(put(t, provider("b")))
	refused(t, err, 503, "store_unavailable")
	_, err = e.Apply(t.Context(), control.Batch{Owner: store.OwnerAPI, DryRun: true, Ops: []control.Op{put(t, provider("b"))}})
	refused(t, err, 503, "store_unavailable")
	_, err = e.Get(t.Context(), "Provider", "a")
	refused(t, err, 503, "store_unavailable")
	_, _, err = e.CreateKey(t.Context(), "x", key(t, `{"kind":"Key","name":"cd","type":"service"}`), false)
	refused(t, err, 503, "store_unavailable")

	called := make(chan struct{}, 100)
	e.follow(func() {
		select {
		case called <- struct{}{}:
		default:
		}
	})
	o.down.Store(false)
	eventually(t, "the store is in use again", func() bool { return e.Degraded() == "" })
	<-called
	e.put(provider("b"))
	e.inStep()
}

// TestOP_4_cold_start_with_a_damaged_snapshot: it is refused, whole.
func TestOP_4_cold_start_with_a_damaged_snapshot(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"missing": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 100) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"a folder": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.put(provider("a"))
			o := withOutage(e)
			if err := damage(e.opt.SnapshotPath); err != nil {
				t.Fatal(err)
			}
			published := len(e.published)
			o.down.Store(true)
			err := e.Load(t.Context())
			if err == nil || !strings.Contains(err.Error(), "last configuration") || !strings.Contains(err.Error(), "away") {
				t.Errorf("load: %v", err)
			}
			if len(e.published) != published {
				t.Error("something was published")
			}
			e.follow(nil)
			o.down.Store(false)
			eventually(t, "it is in use when the store is back", func() bool { return e.Degraded() == "" })
		})
	}
}

// TestOP_4_snapshot_is_private_and_whole: it has what the store has, sealed,
// and nothing is left of its making.
func TestOP_4_snapshot_is_private_and_whole(t *testing.T) {
	e := newEnv(t)
	for i := range 5 {
		e.put(provider("a", fmt.Sprintf(`"apiKey":"%s%d"`, planted, i)))
		info, err := os.Stat(e.opt.SnapshotPath)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("mode %v: %v", info.Mode(), err)
		}
	}
	e.inStep()
	if left, err := filepath.Glob(filepath.Join(e.dir, ".snapshot-*")); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	// One that can't be kept is said, and the change is made all the same.
	if err := os.Remove(e.opt.SnapshotPath); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(e.opt.SnapshotPath, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	e.put(provider("b"))
	if !strings.Contains(e.log.String(), "can't be kept") || e.live.Current().Revision != uint64(e.revision()) {
		t.Errorf("version %d in use; the log:\n%s", e.live.Current().Revision, e.log)
	}
}

// TestAC_GRANT_6_invalid_configuration_keeps_the_last_good_one: such as after
// an upgrade, or when a secret is gone; a change that mends it is taken.
func TestAC_GRANT_6_invalid_configuration_keeps_the_last_good_one(t *testing.T) {
	e := newEnv(t)
	e.setenv("KEY", "sk-from-the-environment-1234")
	e.put(provider("a", `"apiKey":"env:KEY"`))
	// Another process, of another version, writes what this one refuses.
	_, err := e.store.Update(t.Context(), time.Now(), func(*store.State) (*store.Write, error) {
		return &store.Write{Put: []store.Document{{Kind: "Route", Name: "r", Owner: store.OwnerAPI, Spec: []byte(`{"kind":"Route","name":"r","modelPatterns":["m"],"members":[{"provider":"nobody"}]}`)}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	e.follow(nil)
	eventually(t, "it is noticed", func() bool { return e.Degraded() != "" })
	if live := e.live.Current(); live.Revision != 1 || !strings.Contains(e.Degraded(), `"nobody"`) {
		t.Errorf("version %d is in use; degraded: %s", live.Revision, e.Degraded())
	}
	eventually(t, "it is tried again", func() bool { return strings.Contains(e.log.String(), "can't be used") })
	<-time.After(50 * time.Millisecond) // many more tries
	if n := strings.Count(e.log.String(), "can't be used"); n != 1 {
		t.Errorf("the log says it %d times", n)
	}
	// A start takes the last good one, too.
	other := control.New(e.opt)
	if err := other.Load(t.Context()); err != nil || other.Degraded() == "" {
		t.Errorf("a start: %v, %q", err, other.Degraded())
	}
	_, err = e.try(put(t, provider("b")))
	refused(t, err, 400, "missing_reference", `Route "r"`)
	e.apply(remove("Route", "r"))
	if e.Degraded() != "" || e.live.Current().Revision != 3 {
		t.Errorf("mended: %q, version %d in use", e.Degraded(), e.live.Current().Revision)
	}
	e.inStep()
}

// TestAC_GRANT_6_enforced_file_mends: a reference changed in the file while
// the stored one is gone.
func TestAC_GRANT_6_enforced_file_mends(t *testing.T) {
	e := newEnv(t)
	e.setenv("OLD", "sk-from-the-environment-1234")
	e.enforce(provider("a", `"apiKey":"env:OLD"`))
	e.setenv("OLD", "")
	e.setenv("NEW", "sk-from-the-environment-5678")
	e.restart()
	if err := e.Load(t.Context()); err != nil || !strings.Contains(e.live.Current().Warnings.Error(), "OLD") {
		t.Fatalf("load: %v", err)
	}
	e.enforce(provider("a", `"apiKey":"env:NEW"`))
	if e.Degraded() != "" {
		t.Errorf("degraded: %s", e.Degraded())
	}
}

// TestOP_4_store_put_back: the database was replaced by an older one while
// this process ran on a newer configuration. It goes on with that and refuses
// changes, which would have no effect; a restart takes what the store has.
func TestOP_4_store_put_back(t *testing.T) {
	e := newEnv(t)
	e.put(provider("old"))
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := e.store.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(e.dir, "interlock.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(backup, b, 0o600); err != nil {
		t.Fatal(err)
	}
	e.store = e.openStore()
	e.opt.Store = e.store
	e.reload()
	e.put(provider("new"))
	e.put(provider("newer"))
	o := withOutage(e)
	o.down.Store(true)
	if err := e.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(backup, filepath.Join(e.dir, "interlock.db")); err != nil {
		t.Fatal(err)
	}
	e.store = e.openStore()
	o.Config = e.store
	o.down.Store(false)
	err = e.Load(t.Context())
	if err == nil || !strings.Contains(err.Error(), "version 1") || !strings.Contains(err.Error(), "version 3") {
		t.Errorf("load: %v", err)
	}
	_, err = e.try(put(t, provider("x")))
	refused(t, err, 503, "store_unavailable", "version 1", "version 3")
	if e.revision() != 1 || e.live.Current().Revision != 3 {
		t.Errorf("stored %d, in use %d", e.revision(), e.live.Current().Revision)
	}
	e.restart()
	if err := e.Load(t.Context()); err != nil || e.Degraded() != "" {
		t.Errorf("after a restart: %v, %s", err, e.Degraded())
	}
}

// TestOP_4_another_process: a change that another process made is in use
// soon.
func TestOP_4_another_process(t *testing.T) {
	e := newEnv(t)
	e.follow(nil)
	opt := e.opt
	opt.SnapshotPath, opt.Publish = "", func(*snapshot.Live) {}
	other := control.New(opt)
	if err := other.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Apply(t.Context(), control.Batch{Actor: "x", Owner: store.OwnerAPI, Ops: []control.Op{put(t, provider("a"))}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is in use here", func() bool { return e.live.Current().Revision == 1 })
}
