package admin

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/dryrun"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/state"
)

// upstreams is how routes and providers are now, as one process sees them.
type upstreams struct {
	Routes    []routeHealth    `json:"routes"`
	Providers []providerHealth `json:"providers"`
	// Revision is the configuration that serves requests.
	Revision uint64    `json:"revision"`
	Time     time.Time `json:"time"`
	// Replica is the process that answers: its host name, or local.
	Replica string `json:"replica"`
}

// routeHealth is how a route is.
type routeHealth struct {
	Name string `json:"name"`
	// Tag is stored, or implicit for a provider's own route and the family
	// routes.
	Tag string `json:"tag" enum:"stored,implicit"`
	// ActiveMember is the first candidate of a plain request now; null if it
	// would be refused, or if other routes serve all that this one could.
	ActiveMember   *string        `json:"activeMember"`
	Members        []memberHealth `json:"members"`
	HealthyMembers int            `json:"healthyMembers"`
	// Traffic is what the route did in the last 24 hours, to the hour, since
	// this process started.
	Traffic state.RouteTraffic `json:"traffic"`
}

// memberHealth is how a member of a route is.
type memberHealth struct {
	Provider       string `json:"provider"`
	CredentialMode string `json:"credentialMode" enum:"org-key,passthrough"`
	FallbackOnly   bool   `json:"fallbackOnly,omitempty"`
	Health
}

// providerHealth is the run-time state of a provider.
type providerHealth struct {
	Name string `json:"name"`
	state.ProviderState
	CredentialMode string `json:"credentialMode" enum:"org-key,passthrough"`
	// Drained: it takes no new requests.
	Drained bool `json:"drained"`
	// Enabled: it is in use. One that is not has no state.
	Enabled   bool   `json:"enabled"`
	Residency string `json:"residency"`
	// NoKey says why it gets no requests: the organisation's key can't be read.
	// Absent if it can.
	NoKey string `json:"noKey,omitempty"`
}

type upstreamsOut struct{ Body upstreams }

func (s *server) registerUpstreams() {
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "getUpstreams", Method: http.MethodGet, Path: "/health/upstreams", Tags: []string{"Routing"},
			Summary:     "Show how routes and providers are",
			Description: "What the process that answers learned from its own traffic: breakers, parks, cooldowns, latency and errors, with cause, begin and end. Looking changes nothing.",
		},
		role:    RoleViewer,
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(schemaOf[upstreams](s))},
	}, s.upstreams)
}

func (s *server) upstreams(ctx context.Context, _ *struct{}) (*upstreamsOut, error) {
	live := s.live()
	if live == nil {
		return nil, noConfiguration()
	}
	out := upstreams{Routes: []routeHealth{}, Providers: []providerHealth{}, Revision: live.Revision, Time: s.now().UTC(), Replica: s.replica()}
	world := s.world()
	for _, r := range live.Routing.Routes() {
		out.Routes = append(out.Routes, s.routeHealth(world, r))
	}
	for _, v := range live.Routing.Providers() {
		out.Providers = append(out.Providers, s.providerHealth(v))
	}
	out.Providers = append(out.Providers, s.unused(ctx, live)...)
	slices.SortFunc(out.Providers, func(a, b providerHealth) int { return cmp.Compare(a.Name, b.Name) })
	return &upstreamsOut{out}, nil
}

func (s *server) routeHealth(w dryrun.World, r *routing.Route) routeHealth {
	out := routeHealth{Name: string(r.ID), Tag: tagStored, Members: []memberHealth{}, Traffic: s.opt.Board.Traffic(r.ID)}
	if r.Implicit {
		out.Tag = tagImplicit
	}
	if c, ok := dryrun.First(w, r); ok {
		out.ActiveMember = new(string(c.Provider))
	}
	for _, m := range r.Members {
		h := s.healthOf(r, m.Provider)
		if h.Healthy {
			out.HealthyMembers++
		}
		out.Members = append(out.Members, memberHealth{string(m.Provider.ID), credentialMode(m.Provider), m.FallbackOnly, h})
	}
	return out
}

func (s *server) providerHealth(v *routing.Provider) providerHealth {
	out := providerHealth{Name: string(v.ID), CredentialMode: credentialMode(v), Drained: v.Drained, Enabled: true, Residency: v.Residency, NoKey: noKey(s.live(), v)}
	out.ProviderState = s.opt.Board.Provider(v.ID)
	return out
}

// unused are the providers that are stored and not in use. Without the store
// nobody knows them, and the page is needed most then.
func (s *server) unused(ctx context.Context, live *snapshot.Live) []providerHealth {
	all, err := s.opt.Control.List(ctx, "Provider")
	if err != nil {
		return nil
	}
	var out []providerHealth
	for _, o := range all {
		p, ok := o.Object.(*resource.Provider)
		if !ok || providerIn(live, p.Name) != nil {
			continue
		}
		mode, _ := o.Extra["credentialMode"].(string) // the key itself is not there any more
		h := providerHealth{Name: p.Name, CredentialMode: mode, Drained: p.Drained, Residency: cmp.Or(p.Residency, "global")}
		h.ProviderState = s.opt.Board.Provider(routing.ProviderID(p.Name))
		out = append(out, h)
	}
	return out
}
