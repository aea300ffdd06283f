package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

func sqliteDialect() *dialect {
	return &dialect{
		goose:       goose.DialectSQLite3,
		migrations:  "migrations/sqlite",
		open:        openSQLite,
		unavailable: sqliteUnavailable,
	}
}

// openSQLite makes the file if it is not there, for its owner only, and
// connects. Readers wait for nobody: with a write-ahead log each sees the last
// commit before it began.
func openSQLite(ctx context.Context, path string, o Options) (*connections, error) {
	if path == "" || path == ":memory:" {
		return nil, errors.New("expected sqlite:PATH with the path of a file")
	}
	if err := createPrivate(path); err != nil {
		return nil, err
	}
	write, err := connect(ctx, path, 1, o, url.Values{"_txlock": {"immediate"}})
	if err != nil {
		return nil, err
	}
	var mode string
	if err := write.GetContext(ctx, &mode, "PRAGMA journal_mode"); err != nil || mode != "wal" {
		return nil, errors.Join(fmt.Errorf("%s cannot have a write-ahead log (mode %q); use a local disk", path, mode), err, write.Close())
	}
	read, err := connect(ctx, path, o.Readers, o, url.Values{"mode": {"ro"}})
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	return &connections{write: write, read: read}, nil
}

func connect(ctx context.Context, path string, conns int, o Options, params url.Values) (*sqlx.DB, error) {
	params["_pragma"] = []string{
		"busy_timeout(" + strconv.FormatInt(o.BusyTimeout.Milliseconds(), 10) + ")", // first: the others may wait
		"synchronous(NORMAL)",
		"foreign_keys(1)",
		"cache_size(-16000)",
		"wal_autocheckpoint(256)", // 1 MB: the import that writes pages to the file does so for a millisecond or two, not for thirty
		"journal_size_limit(67108864)",
	}
	if !params.Has("mode") {
		params["_pragma"] = append(params["_pragma"], "journal_mode(WAL)")
	}
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: params.Encode()}
	db, err := sqlx.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	if err := pingPatiently(ctx, db, o.BusyTimeout); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return db, nil
}

// pingPatiently connects. SQLite does not wait by itself while another process
// turns a new file's write-ahead log on.
func pingPatiently(ctx context.Context, db *sqlx.DB, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		err := db.PingContext(ctx)
		if code := sqliteCode(err); code != codes.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// createPrivate makes an empty file, and folders above it, that only their
// owner can enter. SQLite gives its other files the same mode.
func createPrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create the folder of the database: %w", err)
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create the database: %w", err)
	}
	return f.Close()
}

// sqliteCode is the primary result code of an error, 0 if it has none.
func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

func sqliteUnavailable(err error) bool {
	if errors.Is(err, driver.ErrBadConn) {
		return true
	}
	return slices.Contains([]int{
		codes.SQLITE_BUSY, codes.SQLITE_LOCKED, codes.SQLITE_NOMEM, codes.SQLITE_READONLY, codes.SQLITE_IOERR, codes.SQLITE_CORRUPT,
		codes.SQLITE_FULL, codes.SQLITE_CANTOPEN, codes.SQLITE_PROTOCOL, codes.SQLITE_NOTADB, codes.SQLITE_PERM, codes.SQLITE_AUTH,
	}, sqliteCode(err))
}
