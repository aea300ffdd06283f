package sqlstore_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
	"github.com/interlock-gateway/interlock/internal/store/storetest"
)

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		url := "sqlite:" + filepath.Join(t.TempDir(), "test.db")
		return func(ctx context.Context) (storetest.Store, error) {
			return sqlstore.Open(ctx, sqlstore.Options{URL: url})
		}
	})
}
