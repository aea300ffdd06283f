package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/interlock-gateway/interlock/internal/admin"
	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// adminTokenEnv makes a bootstrap administrator without a configuration file.
const adminTokenEnv = "INTERLOCK_ADMIN_TOKEN"

// adminTokens resolves the admin tokens of a configuration; the environment may
// name one more.
func adminTokens(l *config.Loaded) ([]admin.Token, error) {
	var out []admin.Token
	for i, ref := range l.Config.Auth.AdminTokens {
		v, err := l.Secrets.Resolve(ref)
		if err != nil {
			return nil, fmt.Errorf("auth.adminTokens[%d]: %w", i, err)
		}
		out = append(out, admin.Token{Secret: v, Role: admin.RoleAdmin})
	}
	if v := os.Getenv(adminTokenEnv); v != "" {
		out = append(out, admin.Token{Secret: secret.New(v), Role: admin.RoleAdmin})
	}
	return out, nil
}

// adminAPI makes the admin API.
func (a *App) adminAPI() (http.Handler, error) {
	api, err := admin.New(admin.Options{
		Control: a.control, Records: a.store, Sync: a.imports.Sync, Auth: a.admins.Authenticate, SignIn: a.people, PublicURL: a.cfg.Server.PublicURL,
		Stats: a.stats, Feed: &a.feed, Explain: a.explain, Live: a.live.Current, Board: a.board, Pins: a.pins.Peek, TieResponses: a.gateway.TiesResponses,
		Audit: a.recordChange, Replica: replica(), Log: a.log, Version: version(),
		LookUp: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("build the admin API: %w", err)
	}
	return api, nil
}

// replica names this process where several share a configuration.
func replica() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// explain decides a recorded request again, under the configuration that
// decided it; nil for a request that never came to a decision.
func (a *App) explain(ctx context.Context, rec audit.Record) (*routing.Plan, error) {
	var endpoint *llm.Endpoint
	for _, e := range formats.Endpoints() {
		if string(e.ID) == rec.Endpoint {
			endpoint = e
		}
	}
	if endpoint == nil || rec.RequestedModel == "" {
		return nil, nil
	}
	live, err := a.control.CompileAt(ctx, int64(rec.ConfigVersion))
	if err != nil {
		return nil, err
	}
	trace, err := routing.ParseTrace(rec.Facts)
	if err != nil {
		return nil, err
	}
	in := &routing.Input{Query: routing.Query{Endpoint: endpoint, Model: rec.RequestedModel, Stream: rec.Stream}}
	if k, ok := live.Keys.Named(rec.Caller.Key); ok {
		caller := auth.Caller{Key: k}
		in.Query.Caller = caller.Facts()
	}
	trace.Apply(in)
	if len(rec.Facts) == 0 || trace.Now.IsZero() {
		in.Facts.Now = rec.Time.Add(-time.Duration(rec.Duration))
	}
	return routing.Decide(live.Routing, in), nil
}
