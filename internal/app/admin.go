package app

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/interlock-gateway/interlock/internal/config"
)

// adminTokenEnv makes a bootstrap administrator without a configuration file.
const adminTokenEnv = "INTERLOCK_ADMIN_TOKEN"

// adminTokens are the tokens of administrators, by hash.
type adminTokens struct{ current atomic.Pointer[[]adminToken] }

type adminToken struct {
	hash [sha256.Size]byte
	name string
}

// check resolves the tokens of a configuration.
func (t *adminTokens) check(l *config.Loaded) error {
	_, err := readTokens(l)
	return err
}

func (t *adminTokens) set(l *config.Loaded) error {
	tokens, err := readTokens(l)
	if err != nil {
		return err
	}
	t.current.Store(&tokens)
	return nil
}

func readTokens(l *config.Loaded) ([]adminToken, error) {
	var out []adminToken
	add := func(value, last4 string) {
		name := "token"
		if last4 != "" {
			name = "token:" + last4
		}
		out = append(out, adminToken{sha256.Sum256([]byte(value)), name})
	}
	for i, ref := range l.Config.Auth.AdminTokens {
		v, err := l.Secrets.Resolve(ref)
		if err != nil {
			return nil, fmt.Errorf("auth.adminTokens[%d]: %w", i, err)
		}
		add(v.Reveal(), v.Last4())
	}
	if v := os.Getenv(adminTokenEnv); v != "" && len(l.Config.Auth.AdminTokens) == 0 {
		add(v, v[max(0, len(v)-4):])
	}
	return out, nil
}

// handler is what the server serves.
func (a *App) handler() (http.Handler, error) { return a.gateway, nil }
