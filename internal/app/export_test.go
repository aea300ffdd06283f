package app

import (
	"context"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/store"
)

// Control is what changes the configuration.
func (a *App) Control() *control.Control { return a.control }

// Audited imports what was recorded and lists it.
func (a *App) Audited(ctx context.Context) ([]store.Record, error) {
	if err := a.imports.Sync(ctx); err != nil {
		return nil, err
	}
	return a.store.Records(ctx, store.RecordFilter{}, 1_000_000)
}
