package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/auth/signin"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/feed"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/state"
	"github.com/interlock-gateway/interlock/internal/stats"
	"github.com/interlock-gateway/interlock/internal/store"
)

// Prefix is where the API is.
const Prefix = "/api/v1"

// apiVersion is the version of the document, not of the program.
const apiVersion = "1.0.0"

// Options make the API.
type Options struct {
	// Control changes the configuration.
	Control *control.Control
	// Records are searched for the audit.
	Records store.Audit
	// Sync brings audit records that are still on their way into Records; nil
	// when there are none.
	Sync func(context.Context) error
	// Auth tells who calls: ErrUnauthenticated for nobody.
	Auth func(*http.Request) (Principal, error)
	// SignIn lets people in; nil takes what Auth accepts only.
	SignIn *signin.Service
	// PublicURL is how browsers reach the server; empty is as they say.
	PublicURL string
	// Stats counts requests; nil has none.
	Stats *stats.Stats
	// Feed has the news for live pages; nil has none.
	Feed *feed.Hub
	// Explain decides a recorded request again on the configuration that
	// decided it. A nil plan means that nothing was decided, a nil function
	// that this server can't explain.
	Explain func(ctx context.Context, rec audit.Record) (*routing.Plan, error)
	// Live is the configuration that serves requests, for what it derives, such
	// as implicit routes; nil shows nothing of it.
	Live func() *snapshot.Live
	// Board is the run-time state of providers and routes; nil is a calm one.
	Board *state.Board
	// TieResponses tells whether requests of /v1/responses never fail over; nil
	// is no.
	TieResponses func() bool
	// Pins shows what a session keeps, without a use of it; nil shows nothing.
	Pins func(ctx context.Context, session string) (map[routing.RouteID]routing.Pin, error)
	// Audit records what an operator did to the run-time state; nil records
	// nothing. Changes of the configuration are recorded by Control.
	Audit func(control.Entry) error
	// LookUp gives the addresses of a host name, so that a provider that leads
	// to where none may be is refused at the save; nil leaves that to the dial.
	// It ends with its context.
	LookUp func(ctx context.Context, host string) ([]netip.Addr, error)
	// Replica names this process where several share a configuration; empty is
	// "local".
	Replica string
	Log     *slog.Logger
	Now     func() time.Time
	// Version is the program's.
	Version string
}

// server is the API.
type server struct {
	opt   Options
	log   *slog.Logger
	now   func() time.Time
	api   huma.API
	mux   *http.ServeMux
	cross *http.CrossOriginProtection
	docs  fieldDocs
	// specYAML is the OpenAPI document; it is written when somebody asks.
	specYAML func() ([]byte, error)
}

// New makes the handler of everything under /api/.
func New(o Options) (http.Handler, error) {
	switch {
	case o.Control == nil:
		return nil, errors.New("admin: Options.Control is missing")
	case o.Records == nil:
		return nil, errors.New("admin: Options.Records is missing")
	case o.Auth == nil:
		return nil, errors.New("admin: Options.Auth is missing")
	}
	return build(o)
}

// OpenAPI is the OpenAPI document as YAML. It needs no running server.
func OpenAPI() ([]byte, error) {
	s, err := build(Options{})
	if err != nil {
		return nil, err
	}
	return s.specYAML()
}

func build(o Options) (*server, error) {
	s := &server{opt: o, log: o.Log, now: o.Now, mux: http.NewServeMux(), cross: http.NewCrossOriginProtection()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.opt.Board == nil {
		s.opt.Board = state.NewBoard(state.Options{Now: s.now})
	}
	if s.opt.Stats == nil {
		s.opt.Stats = stats.New(stats.Options{Now: s.now})
	}
	if s.opt.Feed == nil {
		s.opt.Feed = &feed.Hub{}
	}
	if err := json.Unmarshal(fieldDocsJSON, &s.docs); err != nil {
		return nil, fmt.Errorf("admin: read the comments of fields: %w", err)
	}
	humaOnce.Do(configureHuma)
	s.api = humago.NewWithPrefix(s.mux, Prefix, humaConfig())
	s.api.UseMiddleware(s.guard)
	s.registerAll()
	s.describe()
	if err := s.dropUnused(); err != nil {
		return nil, err
	}
	s.publishSpec()
	return s, nil
}

// registerAll declares every operation.
func (s *server) registerAll() {
	for _, r := range Resources() {
		s.registerResource(r)
		if r.Kind == "Provider" {
			s.registerOperations(r)
		}
		if r.Kind == "User" {
			s.registerPassword(r)
		}
	}
	s.registerVersions()
	s.registerDocuments()
	s.registerAudit()
	s.registerRouting()
	s.registerUpstreams()
	s.registerMe()
	s.registerAuth()
	s.registerStats()
	s.registerLive()
	s.answerEnums()
}

// publishSpec serves the document to everybody.
func (s *server) publishSpec() {
	s.specYAML = sync.OnceValues(s.api.OpenAPI().YAML)
	serve := func(contentType string, spec func() ([]byte, error)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			b, err := spec()
			if err != nil {
				s.internal(r.Context(), err).write(w)
				return
			}
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write(b) // nobody is left to tell
		}
	}
	s.mux.HandleFunc("GET "+Prefix+"/openapi.yaml", serve("application/openapi+yaml", s.specYAML))
	s.mux.HandleFunc("GET "+Prefix+"/openapi.json", serve("application/openapi+json", sync.OnceValues(func() ([]byte, error) {
		return json.Marshal(s.api.OpenAPI())
	})))
}

// humaOnce guards the settings that huma keeps in package variables.
var humaOnce sync.Once //nolint:gochecknoglobals // they are the library's and set once for the whole program

func configureHuma() {
	huma.DefaultArrayNullable = false
	huma.ValidateStrictCasing = true
	huma.NewError = newHumaError
}

func humaConfig() huma.Config {
	cfg := huma.DefaultConfig("Interlock admin API", apiVersion)
	cfg.Info.Description = "Everything that the console and the command line do. Errors are problem details (RFC 9457) with a code."
	cfg.CreateHooks = nil // no $schema in bodies
	cfg.Components.Schemas = huma.NewMapRegistry(schemaPrefix, schemaName)
	cfg.Components.Responses = map[string]*huma.Response{}
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath = "", "", ""
	cfg.RejectUnknownQueryParameters = true // ?dryrun=true must not write
	format := huma.Format{
		Marshal: func(w io.Writer, v any) error {
			enc := json.NewEncoder(w)
			enc.SetEscapeHTML(false)
			return enc.Encode(v)
		},
		Unmarshal: json.Unmarshal, // bodies are read raw
	}
	cfg.Formats = map[string]huma.Format{"application/json": format, "json": format}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer":  {Type: "http", Scheme: "bearer", Description: "An admin token."},
		"session": {Type: "apiKey", In: "cookie", Name: "interlock_session", Description: "A session of the console. Over https its name is __Host-interlock_session. A request that changes something has the Content-Type application/json or the header X-Interlock-Csrf: 1."},
	}
	cfg.Security = []map[string][]string{{"bearer": {}}, {"session": {}}}
	return cfg
}
