package sqlstore

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/store"
)

// Exec runs a statement on the connection that writes.
func (s *Store) Exec(ctx context.Context, statement string) error {
	_, err := s.db.write.ExecContext(ctx, statement)
	return err
}

// Strings runs a query on the connection that writes and gives its rows, each
// as text.
func (s *Store) Strings(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := s.db.write.QueryxContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		row, err := rows.SliceScan()
		if err != nil {
			return nil, err
		}
		out = append(out, strings.Trim(fmt.Sprint(row...), "[]"))
	}
	return out, rows.Err()
}

// Plan is how SQLite answers the two queries of a list of records: for groups
// of packs, and for packs.
func (s *Store) Plan(ctx context.Context, f store.RecordFilter) (groups, packs string, err error) {
	q := &search{wanted: want(&f), step: 50}
	text, args := q.groupsQuery(9, 50)
	steps, err := s.Strings(ctx, "EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		return "", "", err
	}
	groups = strings.Join(steps, "\n")
	text, args = q.packsQuery(512, 9*512, 5)
	steps, err = s.Strings(ctx, "EXPLAIN QUERY PLAN "+text, args...)
	return groups, strings.Join(steps, "\n"), err
}

// Migrations are the embedded migrations by their names.
func Migrations() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(migrations, "migrations", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[strings.TrimPrefix(path, "migrations/")], err = migrations.ReadFile(path)
		}
		return err
	})
	return files, err
}

// MakeVersion makes a database of an earlier schema and runs a script in it.
func MakeVersion(ctx context.Context, path string, version int64, script string) error {
	d := sqliteDialect()
	c, err := d.open(ctx, path, Options{Readers: 1})
	if err != nil {
		return err
	}
	defer c.close()
	zip, err := newZipper()
	if err != nil {
		return err
	}
	p, err := newMigrator(d, c.write, zip)
	if err != nil {
		return err
	}
	if _, err := p.UpTo(ctx, version); err != nil {
		return err
	}
	_, err = c.write.ExecContext(ctx, script)
	return err
}

// Versions are the versions of the schema that this program knows.
func Versions() ([]int64, error) {
	d := sqliteDialect()
	entries, err := migrations.ReadDir(d.migrations)
	if err != nil {
		return nil, err
	}
	versions := []int64{repackVersion}
	for _, e := range entries {
		var v int64
		if _, err := fmt.Sscanf(e.Name(), "%d_", &v); err != nil {
			return nil, err
		}
		versions = append(versions, v)
	}
	slices.Sort(versions)
	return versions, nil
}
