package app

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/auth/password"
	"github.com/interlock-gateway/interlock/internal/auth/signin"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/secret"
)

// Passwords that are hashed at once, 19 MiB each, and that wait for it.
const (
	hashAtOnce  = 2
	hashWaiting = 32
)

// setupActor is who makes the first administrator, in the audit.
const setupActor = "set-up link"

// newHasher makes the one hasher of a process.
func newHasher() *password.Hasher { return password.New(hashAtOnce, hashWaiting) }

// startSignIn makes what lets people into the console.
func (a *App) startSignIn(l *config.Loaded, box *secret.Box, hasher *password.Hasher) error {
	o := signin.Options{
		Users: func() *auth.Users {
			if live := a.live.Current(); live != nil {
				return live.Users
			}
			return nil
		},
		Sessions: a.store, Hasher: hasher, Box: box, Log: a.log,
		MakeAdmin: func(ctx context.Context, name string, value secret.String) error {
			return a.control.SetPassword(ctx, setupActor, name, value, auth.RoleAdmin)
		},
	}
	if c := l.Config.Auth.OIDC; c.Issuer != "" {
		o.OIDC = &signin.OIDC{Issuer: c.Issuer, ClientID: c.ClientID, RoleClaim: c.RoleClaim, AdminValues: c.AdminValues, ViewerValues: c.ViewerValues}
		if c.ClientSecret != "" {
			v, err := l.Secrets.Resolve(c.ClientSecret)
			if err != nil {
				return fmt.Errorf("auth.oidc.clientSecret: %w", err)
			}
			o.OIDC.ClientSecret = v
		}
	}
	a.people = signin.New(o)
	return nil
}

// sweep ends sessions whenever a configuration was published.
func (a *App) sweep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.published:
			a.people.Sweep(ctx)
		}
	}
}

// SetupToken is the token of the link with which somebody makes the first
// administrator; ok is false if there is one, or another way to sign in.
func (a *App) SetupToken() (token secret.String, ok bool) { return a.people.NewSetupToken() }

// SetPassword gives a user a password and a role.
func (a *App) SetPassword(ctx context.Context, actor, name string, value secret.String, role string) error {
	return a.control.SetPassword(ctx, actor, name, value, role)
}

// version is what the build recorded.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}
