package app

import (
	"context"

	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
)

// Empty tells whether the store never held a configuration.
func (a *App) Empty(ctx context.Context) bool { return a.control.Empty(ctx) }

// Begin fills an empty store before the server starts, and gives the secrets
// of the keys, in their order. The admin tokens become those of l.
func (a *App) Begin(ctx context.Context, l *config.Loaded, docs []resource.Document, keys ...*resource.Key) ([]secret.String, error) {
	tokens, err := adminTokens(l)
	if err != nil {
		return nil, err
	}
	made, err := a.control.Begin(ctx, "first start", docs, keys...)
	if err != nil {
		return nil, located(err, docs)
	}
	a.secrets.set(l)
	a.admins.Replace(tokens...)
	secrets := make([]secret.String, len(made))
	for i := range made {
		secrets[i] = made[i].Secret
	}
	return secrets, nil
}

// Size counts the providers and the routes that serve now.
func (a *App) Size() (providers, routes int) {
	if s := a.live.Current(); s != nil {
		providers, routes = len(s.Routing.Providers()), len(s.Routing.Routes())
	}
	return providers, routes
}
