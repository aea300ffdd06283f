package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/state"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// Options configure a Gateway.
type Options struct {
	// Live gives the current configuration; nil from it means that none is
	// loaded.
	Live func() *snapshot.Live
	// Issuers are the trusted issuers of tokens; nil trusts nobody's.
	Issuers auth.Issuers
	// Formats are the wire formats to serve.
	Formats []*wire.Format
	// MaxBodyBytes bounds a request body after decompression; default 32 MiB.
	MaxBodyBytes int64
	// MaxInFlight bounds running requests; default 20,000.
	MaxInFlight int64
	// BodyMemory bounds, in bytes, what bodies of requests and whole answers
	// hold at once; default 1 GiB.
	BodyMemory int64
	// ExposeRouting adds the x-interlock-* routing headers; without it only
	// the request id is added.
	ExposeRouting bool
	// KeepAlive is the longest silence towards the client of a stream;
	// default 15 s.
	KeepAlive time.Duration
	// MaxElapsed bounds the time to first content over all attempts; default
	// 600 s, negative is no bound.
	MaxElapsed time.Duration
	// Board is the run-time state of the providers; nil has none: nothing is
	// ever broken, and turns are always the first.
	Board Board
	// Pins are what sessions keep; nil keeps nothing.
	Pins Pins
	// Retry says how the last candidate is retried in place.
	Retry Retry
	// Record keeps the audit record of a request; it must not keep the
	// pointer. nil records nothing.
	Record func(*audit.Record) error
	// CanRecord tells why records can't be kept now; nil from it, or no
	// function, says that they can. Nothing is dialled for a request that
	// could not be recorded.
	CanRecord func() error
	Log       *slog.Logger
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Gateway serves the data plane. It is an http.Handler.
type Gateway struct {
	opt      Options
	mux      *http.ServeMux
	formats  map[llm.Format]*wire.Format
	guard    auth.Guard // of wrong keys and tokens
	unproven auth.Guard // of tokens that could not be verified then
	inFlight atomic.Int64
	draining atomic.Bool
	tune     atomic.Pointer[Tunables]
	bodies   *memory
}

// New makes a Gateway.
func New(o Options) *Gateway {
	if o.MaxBodyBytes == 0 {
		o.MaxBodyBytes = 32 << 20
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 20_000
	}
	if o.KeepAlive == 0 {
		o.KeepAlive = 15 * time.Second
	}
	if o.MaxElapsed == 0 {
		o.MaxElapsed = 600 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{opt: o, mux: http.NewServeMux(), formats: map[llm.Format]*wire.Format{}, bodies: newMemory(o.BodyMemory)}
	g.Tune(Tunables{ExposeRouting: o.ExposeRouting, MaxElapsed: o.MaxElapsed, Retry: o.Retry})
	for _, f := range o.Formats {
		g.formats[f.ID] = f
		for _, e := range f.Endpoints {
			for _, path := range e.Paths {
				g.mux.HandleFunc(path, g.endpoint(f, e))
			}
		}
	}
	g.mountRest()
	return g
}

func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.RequestURI == "*" { // the mux would answer with an empty 400
		g.unknown(w, r)
		return
	}
	// The mux would redirect a path that is not clean, and clients would lose
	// their body or their key on the way.
	p := r.URL.EscapedPath() // what is escaped is part of a name
	if strings.Contains(p, "//") {
		p = slashes.ReplaceAllString(p, "/")
		u, err := url.ParseRequestURI(p)
		if err != nil {
			g.unknown(w, r)
			return
		}
		u.RawQuery = r.URL.RawQuery
		clean := *r
		clean.URL = u
		r = &clean
	}
	if strings.Contains(p, "/.") && path.Clean(p) != p {
		g.unknown(w, r)
		return
	}
	boundBody(w, r)
	g.mux.ServeHTTP(w, r)
}

var slashes = regexp.MustCompile(`//+`)

// How long a request body may take: a base, and more for a large one.
const (
	bodyBase      = 30 * time.Second
	bodyPerSecond = 64 << 10 // bytes
	bodyUnknown   = 10 * time.Minute
)

// boundBody sets the time by which the body must be there. Without it anybody
// could hold a connection and a goroutine with half a body, since the server
// waits for the rest of one that no handler reads. readBody lifts the limit.
func boundBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength < 0 && r.ProtoMajor == 1 || r.ProtoMajor == 1 && r.ProtoMinor == 0 {
		// The shapes of request smuggling: chunks and a Content-Length, chunks in
		// HTTP/1.0. net/http takes the header away that would tell, so no other
		// request may follow on such a connection.
		w.Header()["Connection"] = []string{"close"}
	}
	if r.ContentLength == 0 {
		return
	}
	limit := bodyUnknown
	if r.ContentLength > 0 {
		limit = min(limit, bodyBase+time.Duration(r.ContentLength/bodyPerSecond)*time.Second)
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit)) // a writer without one is a test's
}

// Drain makes /readyz answer 503, so that balancers send nothing more.
// Running and late requests are still served.
func (g *Gateway) Drain() { g.draining.Store(true) }

// Tune changes what a reload may change; running requests keep what they
// began with.
func (g *Gateway) Tune(t Tunables) { g.tune.Store(&t) }

// TiesResponses tells whether requests of /v1/responses never fail over.
func (g *Gateway) TiesResponses() bool { return g.tune.Load().TieResponses }

// Tunables are the settings that can change while the gateway runs.
type Tunables struct {
	// ExposeRouting adds the x-interlock-* routing headers.
	ExposeRouting bool
	// MaxElapsed bounds the time to first content; not positive is no bound.
	MaxElapsed time.Duration
	Retry      Retry
	// TieResponses: requests of /v1/responses never fail over.
	TieResponses bool
}

// Retry says how the last candidate is retried in place (RT-FO-3).
type Retry struct {
	// Max is how often: 0 to 3.
	Max int
	// BaseDelay bounds the random wait before the first retry; it doubles for
	// each further one.
	BaseDelay time.Duration
}

// Board is the run-time state of the providers. See package state.
type Board interface {
	routing.View
	routing.Dice
	// AdmitFor asks to dial a candidate; ok is false if its state forbids it and
	// force is not set. counts is false for a credential that is not the
	// organisation's. patience is how long the request waits for content; 0 is
	// for as long as it takes.
	AdmitFor(id routing.ProviderID, wireModel string, counts, force bool, patience time.Duration) (p state.Permit, why state.Blocked, ok bool)
	// Blocked tells why a provider would not be dialled; it changes nothing.
	Blocked(id routing.ProviderID) (why state.Blocked, ok bool)
	// Note counts a request of a route and who served it; empty if nobody.
	Note(route routing.RouteID, served routing.ProviderID, failover bool)
}

// Pins are what sessions keep in routes.
type Pins interface {
	Load(ctx context.Context, session string) (map[routing.RouteID]routing.Pin, error)
	Save(ctx context.Context, session string, r routing.RouteID, p routing.Pin, ttl time.Duration) error
}

// pinTTL is how long a session's start is remembered after its last use.
const pinTTL = 24 * time.Hour

// InFlight is the number of requests that are being served.
func (g *Gateway) InFlight() int64 { return g.inFlight.Load() }

// shutdownError is the cause of a request context that ends because the process
// does, as opposed to a client that left.
type shutdownError struct{}

func (shutdownError) Error() string { return "the gateway is shutting down" }

// ErrShutdown cancels the base context of a server whose drain time is over:
// the streams that still run end with an error event.
func ErrShutdown() error { return shutdownError{} }

// endpoint makes the handler of one endpoint.
func (g *Gateway) endpoint(f *wire.Format, e *llm.Endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ex := exchanges.get()
		now := g.opt.Now()
		ex.g, ex.format, ex.endpoint, ex.w, ex.r, ex.id, ex.began = g, f, e, w, r, newRequestID(now), now
		w.Header()["X-Interlock-Request-Id"] = []string{ex.id}
		defer ex.over()
		if isUpgrade(r) {
			g.unknown(w, r)
			return
		}
		if r.Method != e.Method {
			w.Header().Set("Allow", e.Method)
			ex.refuse(refusal{status: 405, code: "method_not_allowed", message: "this path takes " + e.Method + " only"})
			return
		}
		ex.serve()
	}
}

// cause tells a client that left from a gateway that stops.
func cause(ctx context.Context) error { return context.Cause(ctx) }
