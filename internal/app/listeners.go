package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/interlock-gateway/interlock/internal/console"
	"github.com/interlock-gateway/interlock/ui"
)

// listener is one address with what is served there.
type listener struct {
	setting string // where the address comes from
	address string
	server  *http.Server
	lis     *bounded
}

// newListeners puts the data plane, the admin API and the console on one
// address, or administration on one of its own.
func (a *App) newListeners(ctx context.Context) {
	api := &later{log: a.log, build: a.adminAPI}
	pages := console.New(console.Options{Files: ui.Files(), HTTPS: strings.HasPrefix(strings.ToLower(a.cfg.Server.PublicURL), "https://")})
	// Running requests outlive the context that Run is given; they are cut
	// off only when the drain time is over.
	base, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	a.cut = cut
	own := a.cfg.Server.AdminListen
	if own == "" {
		a.listeners = []*listener{a.newListener(base, "server.listen", a.cfg.Server.Listen, administration(api, pages, a.gateway))}
		return
	}
	a.listeners = []*listener{
		a.newListener(base, "server.listen", a.cfg.Server.Listen, a.gateway),
		a.newListener(base, "server.adminListen", own, administration(api, pages, probes(a.gateway))),
	}
}

// later is a handler that is built by the first request: describing the admin
// API takes longer than opening the store, and a gateway that starts to serve
// models does not wait for it.
type later struct {
	log   *slog.Logger
	build func() (http.Handler, error)
	once  sync.Once
	h     http.Handler // nil if it can't be built
}

func (l *later) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.once.Do(func() {
		h, err := l.build()
		if err != nil { // a fault of the program: what it is built from is checked at the start
			l.log.Error("the admin API is not available", "error", err)
			return
		}
		l.h = h
	})
	if l.h == nil {
		http.Error(w, "the admin API could not be built; the log says why", http.StatusInternalServerError)
		return
	}
	l.h.ServeHTTP(w, r)
}

func (a *App) newListener(base context.Context, setting, address string, h http.Handler) *listener {
	l := &listener{setting: setting, address: address, server: &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}}
	return l
}

// administration is the admin API and the console before everything else. Who
// opens the address in a browser sees the console; programs see what they always
// did.
func administration(api, pages, rest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch p := r.URL.Path; {
		case strings.HasPrefix(p, "/api/v1/") || p == "/api/v1":
			api.ServeHTTP(w, r)
		case strings.HasPrefix(p, console.Prefix) || p+"/" == console.Prefix:
			pages.ServeHTTP(w, r)
		case p == "/" && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html"):
			w.Header().Set("Vary", "Accept")
			http.Redirect(w, r, console.Prefix, http.StatusFound)
		default:
			rest.ServeHTTP(w, r)
		}
	})
}

// probes lets only health checks through: a listener for administration serves
// no models.
func probes(gateway http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path.Clean(r.URL.Path) {
		case "/healthz", "/readyz", "/":
			gateway.ServeHTTP(w, r)
		default:
			http.Error(w, "this address is for administration: the console is at /console/, the admin API at /api/v1/; models are served at server.listen", http.StatusNotFound)
		}
	})
}

// Listen takes the addresses; connections wait until Start serves them. On error
// everything is closed.
func (a *App) Listen(ctx context.Context) error {
	var lc net.ListenConfig
	for _, l := range a.listeners {
		lis, err := lc.Listen(ctx, "tcp", l.address)
		if errors.Is(err, syscall.EADDRINUSE) {
			hint := "choose another address with --listen HOST:PORT"
			if l.setting != "server.listen" {
				hint = "choose another one"
			}
			err = fmt.Errorf("%w; end the program that listens there, or %s", err, hint)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("listen on %s (%s): %w", l.address, l.setting, err), a.closeListeners(), a.closeStorage())
		}
		l.lis = &bounded{Listener: lis, most: maxConnections(a.cfg.Server.MaxInFlight, maxFiles()), keep: l.server.SetKeepAlivesEnabled}
		l.server.ConnState = l.lis.state
	}
	return nil
}

// closeListeners closes the addresses that were taken and are not served.
func (a *App) closeListeners() error {
	var errs []error
	for _, l := range a.listeners {
		if l.lis != nil {
			errs = append(errs, l.lis.Close())
			l.lis = nil
		}
	}
	return errors.Join(errs...)
}

// Discard closes a server that listens and was not started.
func (a *App) Discard() error { return errors.Join(a.closeListeners(), a.closeStorage()) }

// Addr is the address that the server listens on, once it does.
func (a *App) Addr() string { return a.listeners[0].lis.Addr().String() }

// AdminAddr is the address of the admin API and the console.
func (a *App) AdminAddr() string { return a.listeners[len(a.listeners)-1].lis.Addr().String() }

// serve serves all addresses in the background.
func (a *App) serve() {
	for _, l := range a.listeners {
		go func() { a.served <- l.server.Serve(l.lis) }()
	}
}

// shutdown ends all addresses: no new connections, and running requests are
// waited for.
func (a *App) shutdown(ctx context.Context) error {
	done := make(chan error, len(a.listeners))
	for _, l := range a.listeners {
		go func() { done <- l.server.Shutdown(ctx) }()
	}
	var errs []error
	for range a.listeners {
		errs = append(errs, <-done)
	}
	return errors.Join(errs...)
}

// ended waits until no address is served any more. Its error is one that is
// not the end that was asked for.
func (a *App) ended() error {
	var errs []error
	for range a.listeners {
		if err := <-a.served; !errors.Is(err, http.ErrServerClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
