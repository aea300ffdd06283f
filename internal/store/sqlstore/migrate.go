package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
)

// ErrNewerSchema says that a newer version of the program has written the
// database.
var ErrNewerSchema = errors.New("the database is newer than this program")

// migrateAttempts bounds how often a migration is tried that another process
// makes at the same time.
const migrateAttempts = 20

// migrate brings the schema to the newest version. Migrations only go forward
// and each is one transaction. Of two processes that start at once one gets
// through and the other fails on what is there by then: it looks again.
func migrate(ctx context.Context, d *dialect, db *sqlx.DB, zip *zipper) error {
	p, err := newMigrator(d, db, zip)
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := migrateOnce(ctx, p)
		if err == nil || errors.Is(err, ErrNewerSchema) || ctx.Err() != nil || attempt == migrateAttempts {
			return err
		}
	}
}

func newMigrator(d *dialect, db *sqlx.DB, zip *zipper) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, d.migrations)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	repacks := goose.NewGoMigration(repackVersion, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error { return repack(ctx, tx, zip) }}, nil)
	p, err := goose.NewProvider(d.goose, db.DB, files, goose.WithDisableGlobalRegistry(true), goose.WithTableName("schema_versions"), goose.WithGoMigrations(repacks))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, nil
}

func migrateOnce(ctx context.Context, p *goose.Provider) error {
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the version of the schema: %w", err)
	}
	if have > want {
		return fmt.Errorf("%w: its schema is version %d, this program knows up to %d; run the version that wrote it or a later one, or restore a backup",
			ErrNewerSchema, have, want)
	}
	if have == want {
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the schema from version %d: %w", have, err)
	}
	return nil
}
