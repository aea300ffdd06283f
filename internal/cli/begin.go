package cli

import (
	"context"
	"errors"
	"os"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/firststart"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/upstream/drivers"
)

// firstKey is the name of the key that the first start makes.
const firstKey = "first"

// welcome is what a first start made.
type welcome struct {
	found   firststart.Found
	unset   []string // variables that would have made a provider
	key     secret.String
	token   secret.String // zero: whoever started the server named one
	dataDir string
	// tokenPath is the file of the token.
	tokenPath string
}

// begin fills the empty store of a server without a configuration file: with
// what the environment offers, a key, and an admin token unless one is named
// already. The options change so that a reload knows the token.
func (e *environment) begin(ctx context.Context, a *app.App, o *config.Options) (*welcome, error) {
	vendors, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	models, err := catalog.LoadModels()
	if err != nil {
		return nil, err
	}
	loaded, err := config.Load(*o)
	if err != nil {
		return nil, err
	}
	w := &welcome{dataDir: loaded.Config.Storage.DataDir, unset: firststart.Variables(vendors, drivers.All())}
	if len(loaded.Config.Auth.AdminTokens) == 0 && e.variable(adminTokenEnv) == "" {
		path, token, err := makeAdminToken(w.dataDir)
		if err != nil {
			return nil, err
		}
		w.tokenPath, w.token = path, secret.New(token)
		o.Sets = append([]string{adminTokenSet(path)}, o.Sets...)
		if loaded, err = config.Load(*o); err != nil {
			return nil, err
		}
	}
	w.found = firststart.Find(firststart.Options{
		Vendors: vendors, Models: models, Drivers: drivers.All(), Resolve: loaded.Secrets.Resolve,
		Set: func(name string) bool { return e.variable(name) != "" },
	})
	for { // one wrong variable must not keep the gateway from starting
		secrets, err := a.Begin(ctx, loaded, w.found.Documents(), &resource.Key{
			Meta: resource.Meta{Kind: "Key", Name: firstKey}, Type: "pat",
		})
		if err == nil {
			w.key = secrets[0]
			return w, nil
		}
		if problems, ok := errors.AsType[resource.Problems](err); ok && w.found.LeaveOut(problems) {
			continue
		}
		if w.tokenPath != "" {
			err = errors.Join(err, os.Remove(w.tokenPath)) // the next first start shows its own
		}
		return nil, err
	}
}
