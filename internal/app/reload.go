package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/upstream"
	"github.com/interlock-gateway/interlock/internal/upstream/drivers"
)

// compiler makes snapshots with the parts of this build.
type compiler struct {
	vendors *catalog.Catalog
	models  *catalog.Models
	drivers []*upstream.Driver
}

// newCompiler makes compilers with one catalogue: it is data of the binary, read
// only, and parsed at the first use.
//
//nolint:gochecknoglobals // it never changes
var newCompiler = sync.OnceValues(loadCompiler)

func loadCompiler() (*compiler, error) {
	vendors, err := catalog.Load()
	if err != nil {
		return nil, fmt.Errorf("load the vendor catalogue: %w", err)
	}
	models, err := catalog.LoadModels()
	if err != nil {
		return nil, fmt.Errorf("load the model catalogue: %w", err)
	}
	return &compiler{vendors: vendors, models: models, drivers: drivers.All()}, nil
}

func (c *compiler) compile(docs []resource.Document, d snapshot.Deps) (*snapshot.Live, resource.Problems) {
	d.Catalog, d.Models, d.Drivers = c.vendors, c.models, c.drivers
	return snapshot.Compile(docs, d)
}

// Compile makes a snapshot of a loaded configuration alone, without a store:
// what a check or an offline explanation needs.
func Compile(l *config.Loaded, revision uint64) (*snapshot.Live, error) {
	c, err := newCompiler()
	if err != nil {
		return nil, err
	}
	secrets := &secretResolver{dataDir: l.Config.Storage.DataDir}
	secrets.set(l)
	live, problems := c.compile(l.Documents, snapshot.Deps{Revision: revision, Resolve: func(_ resource.Object, ref string) (secret.String, error) { return secrets.resolve(ref) }})
	if len(problems) > 0 {
		return nil, problems
	}
	return live, nil
}

func newLogger(t config.Telemetry, level *slog.LevelVar, to io.Writer) *slog.Logger {
	setLevel(level, t.LogLevel)
	o := &slog.HandlerOptions{Level: level}
	if t.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(to, o))
	}
	return slog.New(slog.NewJSONHandler(to, o))
}

func setLevel(level *slog.LevelVar, name string) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(name)); err != nil {
		l = slog.LevelInfo // the configuration was checked; this is the default
	}
	level.Set(l)
}

// applyFile brings the documents of the configuration file into the store:
// once, into an empty store (seed), or at every start and reload (enforce).
// While the store can't be written they wait. The mutex filing is held.
func (a *App) applyFile(ctx context.Context, l *config.Loaded) error {
	a.pending = nil
	actor := "file"
	if l.Path != "" {
		actor = "file:" + filepath.Base(l.Path)
	}
	apply := a.seed
	if l.Config.Resources.Mode == "enforce" {
		apply = a.enforce
	}
	err := apply(ctx, actor, l)
	if ce, ok := errors.AsType[*control.Error](err); ok && ce.Status == http.StatusServiceUnavailable {
		a.pending = l
		a.log.Warn("the documents of the configuration file are applied when the store can be used again", "documents", len(l.Documents), "error", err)
		return nil
	}
	if err != nil {
		return located(err, l.Documents)
	}
	return nil
}

func (a *App) enforce(ctx context.Context, actor string, l *config.Loaded) error {
	r, err := a.control.Enforce(ctx, actor, l.Documents)
	if err == nil {
		a.log.Info("the configuration file is enforced", "documents", len(l.Documents), "changes", len(r.Changes), "version", r.Revision)
	}
	return err
}

func (a *App) seed(ctx context.Context, actor string, l *config.Loaded) error {
	seeded, err := a.control.Seed(ctx, actor, l.Documents)
	switch {
	case err != nil:
	case seeded:
		a.log.Info("the empty store was filled from the configuration file", "documents", len(l.Documents))
	case len(l.Documents) > 0:
		a.log.Warn("the documents of the configuration file are not applied, since the store has a configuration already; change it through the API, or set resources.mode: enforce to apply the file at every start", "documents", len(l.Documents))
	}
	return err
}

// applyPending applies a file that had to wait for the store.
func (a *App) applyPending(ctx context.Context) {
	a.filing.Lock()
	defer a.filing.Unlock()
	if l := a.pending; l != nil {
		if err := a.applyFile(ctx, l); err != nil {
			a.log.Error("the documents of the configuration file can't be applied", "error", err)
		}
	}
}

// located gives problems the places of the documents they are in.
func located(err error, docs []resource.Document) error {
	ce, ok := errors.AsType[*control.Error](err)
	if !ok || len(ce.Problems) == 0 {
		return err
	}
	if ce.Code == "in_use" { // what the file leaves out is in no place of it
		return fmt.Errorf("what the configuration file no longer has can't be deleted: %w", ce)
	}
	for i, p := range ce.Problems {
		for _, d := range docs {
			if h := d.Object.Head(); d.Locate != nil && h.Kind == p.Object.Kind && h.Name == p.Object.Name {
				ce.Problems[i].Pos = d.Locate(p.Path)
			}
		}
	}
	return ce.Problems
}

// RefuseReload logs a configuration file that could not be read for a reload.
func (a *App) RefuseReload(err error) {
	a.log.Error("the configuration file was not reloaded and everything stays as it was", "error", err)
}

// Reload takes over what a running process can change: resources, llmProxy,
// admin tokens and the log level. What is wrong is logged, and everything
// stays as it was.
func (a *App) Reload(ctx context.Context, l *config.Loaded) {
	before := a.secrets.current.Load()
	a.secrets.set(l)
	tokens, err := adminTokens(l)
	if err != nil {
		a.secrets.current.Store(before)
		a.log.Error("the configuration file was not reloaded", "error", err)
		return
	}
	a.filing.Lock()
	defer a.filing.Unlock()
	if err := a.applyFile(ctx, l); err != nil {
		a.secrets.current.Store(before)
		a.log.Error("the configuration file was not reloaded", "error", err)
		return
	}
	if err := a.control.Recompile(ctx); err != nil { // secrets behind references may have changed
		a.log.Error("the configuration can't be compiled again with the secrets as they are now; the last good one stays", "error", err)
	}
	a.admins.Replace(tokens...)
	setLevel(a.level, l.Config.Telemetry.LogLevel)
	a.gateway.Tune(tunables(l.Config))
	a.board.Tune(breakerSettings(l.Config))
	if paths := config.NeedsRestart(a.cfg, l.Config); len(paths) > 0 {
		a.log.Warn("the configuration file was reloaded; some settings take effect at the next start only", "settings", strings.Join(paths, ", "))
		return
	}
	a.log.Info("the configuration file was reloaded")
}

// recordChange writes the audit record of a change of the configuration.
func (a *App) recordChange(e control.Entry) error {
	changes, err := json.Marshal(e.Changes)
	if err != nil {
		return err
	}
	return a.spool.Append(&audit.Record{
		Kind: audit.KindAdmin, Time: time.Now(), RequestID: e.RequestID, Outcome: audit.OutcomeAllow,
		Admin: &audit.AdminChange{Actor: e.Actor, Summary: e.Summary, Revision: e.Revision, Changes: changes},
	})
}

// Retention works in steps of this many records, this far apart, so that it
// holds up neither readers nor the import.
const (
	retainEvery = time.Hour
	retainBatch = 1000
	retainPause = 50 * time.Millisecond
)

// retain deletes audit records that are older than audit.retentionDays.
func (a *App) retain(ctx context.Context) {
	next := time.NewTimer(time.Minute)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		n, err := a.store.DeleteBefore(ctx, time.Now().AddDate(0, 0, -a.cfg.Audit.RetentionDays), retainBatch)
		switch {
		case err != nil:
			a.log.Warn("old audit records could not be deleted; it is tried again", "error", err)
			next.Reset(retainEvery)
		case n == retainBatch:
			next.Reset(retainPause)
		default:
			next.Reset(retainEvery)
		}
	}
}
