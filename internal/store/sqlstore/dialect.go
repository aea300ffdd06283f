package sqlstore

import (
	"context"
	"embed"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrations embed.FS

// dialect is all that differs between databases.
type dialect struct {
	goose goose.Dialect
	// migrations is the folder of the embedded migrations.
	migrations string
	// open connects: one connection that writes and several that read.
	open func(ctx context.Context, path string, o Options) (*connections, error)
	// unavailable says that an error is the database's condition and not
	// the statement's.
	unavailable func(error) bool
}

// connections are the two pools of one database.
type connections struct {
	write, read *sqlx.DB
}

// close ends the readers first, so that the writer is the last and leaves a
// single file.
func (c *connections) close() error {
	err := c.read.Close()
	if e := c.write.Close(); e != nil {
		err = e
	}
	return err
}
