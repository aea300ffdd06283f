package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/gateway"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/upstream/drivers"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// App is one running server.
type App struct {
	cfg     *config.Config
	log     *slog.Logger
	live    snapshot.Publisher
	gateway *gateway.Gateway
	server  *http.Server
	lis     net.Listener
	cut     context.CancelCauseFunc
	served  chan error
}

// New checks the configuration and builds the server; nothing listens yet.
func New(l *config.Loaded, logTo io.Writer) (*App, error) {
	a := &App{cfg: l.Config, log: newLogger(l.Config.Telemetry, logTo), served: make(chan error, 1)}
	live, err := Compile(l, 1)
	if err != nil {
		return nil, err
	}
	a.live.Publish(live)
	a.gateway = gateway.New(gateway.Options{
		Live:          a.live.Current,
		Formats:       formats.All(),
		MaxBodyBytes:  a.cfg.Server.MaxBodyBytes,
		MaxInFlight:   int64(a.cfg.Server.MaxInFlight),
		ExposeRouting: a.cfg.LLMProxy.ExposeRoutingHeaders != "id-only",
		MaxElapsed:    time.Duration(a.cfg.LLMProxy.Retry.MaxElapsedMs) * time.Millisecond,
		Log:           a.log,
	})
	// Running requests outlive the context that Run is given; they are cut
	// off only when the drain time is over.
	base, cut := context.WithCancelCause(context.Background())
	a.cut = cut
	a.server = &http.Server{
		Handler:           a.gateway,
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    1 << 20,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	return a, nil
}

// Compile makes a snapshot of a loaded configuration.
func Compile(l *config.Loaded, revision uint64) (*snapshot.Live, error) {
	vendors, err := catalog.Load()
	if err != nil {
		return nil, fmt.Errorf("load the vendor catalogue: %w", err)
	}
	live, problems := snapshot.Compile(l.Documents, snapshot.Deps{
		Catalog: vendors, Drivers: drivers.All(), Revision: revision,
		Resolve: func(_ resource.Object, ref string) (secret.String, error) { return l.Secrets.Resolve(ref) },
	})
	if len(problems) > 0 {
		return nil, problems
	}
	return live, nil
}

func newLogger(t config.Telemetry, to io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(t.LogLevel)); err != nil {
		level = slog.LevelInfo // the configuration was checked; this is the default
	}
	o := &slog.HandlerOptions{Level: level}
	if t.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(to, o))
	}
	return slog.New(slog.NewJSONHandler(to, o))
}

// Start listens and serves in the background.
func (a *App) Start(ctx context.Context) error {
	var lc net.ListenConfig
	lis, err := lc.Listen(ctx, "tcp", a.cfg.Server.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s (server.listen): %w", a.cfg.Server.Listen, err)
	}
	a.lis = lis
	go func() { a.served <- a.server.Serve(lis) }()
	s := a.live.Current()
	a.log.Info("listening", "address", lis.Addr().String(), "providers", len(s.Routing.Providers()), "routes", len(s.Routing.Routes()))
	return nil
}

// Addr is the address that the server listens on, once started.
func (a *App) Addr() string { return a.lis.Addr().String() }

// Stop ends the server: not ready, no new connections, running requests are
// finished for up to the drain time and then cut off with an error in their
// own format. A ctx that ends cuts the drain short.
func (a *App) Stop(ctx context.Context) error {
	a.gateway.Drain()
	a.log.Info("stopping", "running", a.gateway.InFlight(), "drainSeconds", a.cfg.Server.DrainSeconds)
	drain, cancel := context.WithTimeout(ctx, time.Duration(a.cfg.Server.DrainSeconds)*time.Second)
	defer cancel()
	err := a.server.Shutdown(drain)
	if err != nil {
		a.log.Warn("the drain time is over; cutting off what still runs", "running", a.gateway.InFlight())
		a.cut(gateway.ErrShutdown())
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if a.server.Shutdown(last) != nil {
			_ = a.server.Close() // what did not end by itself is closed
		}
	}
	a.cut(gateway.ErrShutdown())
	for _, t := range a.live.Current().Targets {
		t.CloseIdle()
	}
	if serr := <-a.served; !errors.Is(serr, http.ErrServerClosed) {
		return serr
	}
	return nil
}

// Run serves until ctx ends, then stops. A second signal during the drain is
// the caller's to handle: drain is the context for it.
func (a *App) Run(ctx, drain context.Context) error {
	if err := a.Start(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return a.Stop(drain)
	case err := <-a.served:
		return fmt.Errorf("serve on %s: %w", a.Addr(), err)
	}
}
