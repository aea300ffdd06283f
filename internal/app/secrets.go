package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/secret"
)

// masterFileEnv names the file of the master key.
const masterFileEnv = "INTERLOCK_MASTER_KEY_FILE"

// secretResolver resolves references as the newest configuration file does. A
// reference in an object can come from anybody who may use the admin API, and
// what it names is sent to a provider: the gateway's own secrets are left out.
type secretResolver struct {
	current atomic.Pointer[guardedSecrets]
	// dataDir is the folder that no reference may lead into.
	dataDir string
}

// guardedSecrets are those of one configuration file.
type guardedSecrets struct {
	*secret.Resolver
	// own are the references of the gateway's own secrets.
	own []string
}

func (s *secretResolver) set(l *config.Loaded) {
	g := &guardedSecrets{Resolver: l.Secrets, own: append([]string{"env:" + adminTokenEnv}, l.Config.Auth.AdminTokens...)}
	if ref := l.Config.Auth.OIDC.ClientSecret; ref != "" {
		g.own = append(g.own, ref)
	}
	if path := os.Getenv(masterFileEnv); path != "" {
		if abs, err := filepath.Abs(path); err == nil { // it starts elsewhere than a reference
			path = abs
		}
		g.own = append(g.own, "file:"+path)
	}
	s.current.Store(g)
}

func (s *secretResolver) resolve(ref string) (secret.String, error) {
	g := s.current.Load()
	if name, ok := strings.CutPrefix(ref, "env:"); ok && strings.HasPrefix(name, "INTERLOCK_MASTER_KEY") {
		return secret.String{}, ownSecret(ref)
	}
	path, isFile := g.Path(ref)
	if isFile && s.dataDir != "" && inside(path, s.dataDir) {
		return secret.String{}, fmt.Errorf("%s is in the gateway's own data directory and can't be used here; name a file elsewhere", path)
	}
	for _, own := range g.own {
		if ref == own {
			return secret.String{}, ownSecret(ref)
		}
		if other, ok := g.Path(own); ok && isFile && sameFile(path, other) {
			return secret.String{}, ownSecret(ref)
		}
	}
	return g.Resolve(ref)
}

func ownSecret(ref string) error {
	return fmt.Errorf("%s is a secret of the gateway itself, such as an admin token, and can't be used here; name a secret of its own", ref)
}

// sameFile tells whether two paths lead to one file, through links as well.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// inside tells whether a path leads into a folder, through links as well.
func inside(path, dir string) bool {
	real := func(p string) string {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			p = r
		}
		if a, err := filepath.Abs(p); err == nil {
			p = a
		}
		return p
	}
	rel, err := filepath.Rel(real(dir), real(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
