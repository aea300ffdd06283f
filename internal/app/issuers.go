package app

import (
	"log/slog"

	"github.com/interlock-gateway/interlock/internal/auth/issuer"
	"github.com/interlock-gateway/interlock/internal/config"
)

// newIssuers makes the trusted issuers of a configuration. None is asked for
// its keys before a token comes: the gateway starts while they are away.
func newIssuers(a config.Auth, log *slog.Logger) *issuer.Set {
	o := issuer.Options{Log: log}
	for _, t := range a.TrustedIssuers {
		o.Issuers = append(o.Issuers, issuer.Config{
			Name: t.Name, Issuer: t.Issuer, Audience: t.Audience, Require: t.Require, Claims: issuer.Claims(t.Claims),
		})
	}
	return issuer.New(o)
}
