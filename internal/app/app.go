package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/interlock-gateway/interlock/internal/admin"
	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/auth/issuer"
	"github.com/interlock-gateway/interlock/internal/auth/signin"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/feed"
	"github.com/interlock-gateway/interlock/internal/gateway"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/state"
	"github.com/interlock-gateway/interlock/internal/stats"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// followEvery is how often the store is asked for a newer revision that
// another process made.
const followEvery = 2 * time.Second

// ballastSize is memory that is allocated and never touched, so that the system
// gives no page for it. The collector lets the heap double before it runs again:
// with a live heap of a few MiB that would be several times at the start and then
// every few hundred requests, and each run costs the same. With the ballast a
// small gateway collects about a third as often, and what a large one allows
// itself hardly changes.
const ballastSize = 16 << 20

// maxHeader bounds the line and the headers of a request, in bytes. Whoever can
// connect can send them, and they take some 50 times as much memory in the worst
// case; clients send 2 to 20 KB.
const maxHeader = 160 << 10

// App is one running server.
type App struct {
	cfg     *config.Config
	log     *slog.Logger
	level   *slog.LevelVar
	secrets secretResolver
	live    snapshot.Publisher
	store   *reopening
	spool   *audit.Spool
	imports *audit.Importer
	control *control.Control
	admins  *admin.Tokens
	people  *signin.Service
	stats   *stats.Stats
	feed    feed.Hub
	board   *state.Board
	pins    *state.Pins
	issuers *issuer.Set
	bodies  int64 // bytes that bodies may hold at once
	gateway *gateway.Gateway
	cut     context.CancelCauseFunc
	served  chan error

	listeners []*listener // of the data plane, then of administration if that has its own

	published chan struct{} // a configuration was, since the last look
	recounted chan struct{} // closed: earlier requests are counted
	lag       atomic.Int64  // nanoseconds, see Backdate

	filing  sync.Mutex     // one that applies the file at a time
	pending *config.Loaded // the file that could not be applied yet

	ballast []byte // see ballastSize

	halt context.CancelFunc // ends the background work
	work sync.WaitGroup
}

// New checks the configuration and builds the server: it opens the store and
// the spool and publishes the first snapshot; nothing listens yet. On error
// everything that was opened is closed again.
func New(ctx context.Context, l *config.Loaded, logTo io.Writer) (_ *App, err error) {
	a := &App{
		cfg: l.Config, served: make(chan error, 2), level: new(slog.LevelVar), published: make(chan struct{}, 1), recounted: make(chan struct{}),
		ballast: make([]byte, ballastSize),
	}
	a.log = newLogger(l.Config.Telemetry, a.level, logTo)
	a.secrets.dataDir = l.Config.Storage.DataDir
	a.secrets.set(l)
	defer func() {
		if err != nil {
			err = errors.Join(err, a.closeStorage())
		}
	}()
	if err = a.openStorage(ctx); err != nil {
		return nil, err
	}
	a.board = state.NewBoard(state.Options{Settings: breakerSettings(a.cfg), Now: time.Now, OnEvent: a.recordEvent})
	a.stats = stats.New(stats.Options{Price: (&pricer{live: a.live.Current}).price})
	a.pins = state.NewPins(time.Now, maxPins)
	if err = a.startControl(ctx, l); err != nil {
		return nil, err
	}
	tokens, err := adminTokens(l)
	if err != nil {
		return nil, err
	}
	a.admins = admin.NewTokens(tokens...)
	a.issuers = newIssuers(a.cfg.Auth, a.log)
	a.bodies = a.bodyMemory()
	a.gateway = gateway.New(gateway.Options{
		Live:         a.live.Current,
		Issuers:      a.issuers,
		Formats:      formats.All(),
		MaxBodyBytes: a.cfg.Server.MaxBodyBytes,
		MaxInFlight:  int64(a.cfg.Server.MaxInFlight),
		BodyMemory:   a.bodies,
		Board:        a.board,
		Pins:         a.pins,
		Now:          a.now,
		Record:       a.record,
		CanRecord:    a.spool.Ready,
		Log:          a.log,
	})
	a.gateway.Tune(tunables(a.cfg))
	a.newListeners(ctx)
	return a, nil
}

// openStorage opens what is kept on disk. A database that can't be opened is
// no reason not to start; a spool is.
func (a *App) openStorage(ctx context.Context) error {
	dir := a.cfg.Storage.DataDir
	a.store = &reopening{pause: time.Second, open: func(ctx context.Context) (*sqlstore.Store, error) {
		return sqlstore.Open(ctx, sqlstore.Options{URL: a.cfg.Storage.URL})
	}}
	if _, err := a.store.get(ctx); errors.Is(err, sqlstore.ErrNewerSchema) {
		return err
	}
	var err error
	if a.spool, err = audit.OpenSpool(audit.SpoolOptions{Dir: filepath.Join(dir, "spool"), Fsync: a.cfg.Audit.SpoolFsync}); err != nil {
		return err
	}
	a.imports = audit.NewImporter(audit.ImporterOptions{Spool: a.spool, Store: a.store, Log: a.log, Stored: a.feed.Stored})
	return nil
}

// startControl publishes the first snapshot: the store's, or the last one that
// was kept. Without either the gateway refuses requests until there is one.
func (a *App) startControl(ctx context.Context, l *config.Loaded) error {
	masters, err := secret.MasterKeys(ctx, a.cfg.Storage.DataDir, nil)
	if err != nil {
		return err
	}
	box, err := secret.NewBox(masters...)
	if err != nil {
		return err
	}
	compile, err := newCompiler()
	if err != nil {
		return err
	}
	hasher := newHasher()
	if err := a.startSignIn(l, box, hasher); err != nil {
		return err
	}
	a.control = control.New(control.Options{
		Store: a.store, Box: box, Hash: hasher.Hash, Resolve: a.secrets.resolve, Log: a.log,
		Compile: compile.compile, Publish: a.publish,
		Audit:        a.recordChange,
		SnapshotPath: filepath.Join(a.cfg.Storage.DataDir, "snapshot.json"),
	})
	if err := a.control.Load(ctx); err != nil {
		a.log.Error("no valid configuration could be loaded; requests are refused until there is one", "error", err)
	}
	a.filing.Lock()
	defer a.filing.Unlock()
	err = a.applyFile(ctx, l)
	if err != nil && a.control.Degraded() != "" { // what is stored is at fault, not the file alone
		a.log.Error("the documents of the configuration file can't be applied", "error", err)
		a.pending, err = l, nil
	}
	return err
}

// Start serves in the background. It listens, unless Listen was called.
func (a *App) Start(ctx context.Context) error {
	if a.listeners[0].lis == nil {
		if err := a.Listen(ctx); err != nil {
			return err
		}
	}
	background, halt := context.WithCancel(context.WithoutCancel(ctx))
	a.halt = halt
	a.work.Go(func() { a.imports.Run(background) })
	a.work.Go(func() { a.control.Follow(background, followEvery, func() { a.applyPending(background) }) })
	a.work.Go(func() { a.retain(background) })
	a.work.Go(func() { settleMemory(background) })
	a.work.Go(func() { a.sweep(background) })
	a.work.Go(func() { a.recount(background) })
	a.serve()
	providers, routes := a.Size()
	a.log.Info("listening", "address", a.Addr(), "adminAddress", a.AdminAddr(), "providers", providers, "routes", routes,
		"maxConnections", a.listeners[0].lis.most, "bodyMemory", a.bodies, "memoryLimit", memoryLimit())
	return nil
}

// settleAfter is after the burst of a start, and before anybody looks.
const settleAfter = 200 * time.Millisecond

// settleMemory gives back to the system what starting needed, once the start
// is over.
func settleMemory(ctx context.Context) {
	select {
	case <-time.After(settleAfter):
		debug.FreeOSMemory()
	case <-ctx.Done():
	}
}

// Stop ends the server: not ready, no new connections, running requests are
// finished for up to the drain time and then cut off with an error in their
// own format; then the audit is stored and everything closed. A ctx that ends
// cuts the drain short.
func (a *App) Stop(ctx context.Context) error {
	a.gateway.Drain()
	a.feed.Close() // live pages are not waited for
	a.log.Info("stopping", "running", a.gateway.InFlight(), "drainSeconds", a.cfg.Server.DrainSeconds)
	drain, cancel := context.WithTimeout(ctx, time.Duration(a.cfg.Server.DrainSeconds)*time.Second)
	defer cancel()
	err := a.shutdown(drain)
	if err != nil {
		a.log.Warn("the drain time is over; cutting off what still runs", "running", a.gateway.InFlight())
		a.cut(gateway.ErrShutdown())
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if a.shutdown(last) != nil {
			for _, l := range a.listeners {
				_ = l.server.Close() // what did not end by itself is closed
			}
		}
	}
	a.cut(gateway.ErrShutdown())
	serr := a.ended()
	a.halt()
	a.work.Wait()
	a.issuers.Close()
	if live := a.live.Current(); live != nil {
		for _, t := range live.Targets {
			t.CloseIdle()
		}
	}
	flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := a.imports.Sync(flush); err != nil {
		a.log.Error("the last audit records stay in the spool; the next start stores them", "error", err)
	}
	return errors.Join(serr, a.closeStorage())
}

// closeStorage closes what openStorage opened.
func (a *App) closeStorage() error {
	if a.spool != nil {
		a.spool.Close()
	}
	if a.store != nil {
		return a.store.close()
	}
	return nil
}

// Wait lets a server that was started serve until ctx ends, then stops it.
// Reload is called for each value of hup. A second signal during the drain is
// the caller's to handle: drain is the context for it.
func (a *App) Wait(ctx, drain context.Context, hup <-chan *config.Loaded) error {
	for {
		select {
		case l := <-hup:
			a.Reload(ctx, l)
		case <-ctx.Done():
			return a.Stop(drain)
		case err := <-a.served:
			a.served <- err
			return errors.Join(fmt.Errorf("serve on %s: %w", a.Addr(), err), a.Stop(drain))
		}
	}
}
