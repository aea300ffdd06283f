package admin

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
	"github.com/interlock-gateway/interlock/internal/store"
)

// The longest that an operator parks a provider, in seconds.
const maxParkSeconds = int64(state.MaxPark / time.Second)

type (
	// operateIn is an action on a provider with a body.
	operateIn struct {
		NameParams
		RawBody []byte
	}
	drainIn struct {
		NameParams
		WriteParams
		MatchParams
		RawBody []byte
	}
	operated struct {
		// Changed: there was something to do.
		Changed  bool           `json:"changed"`
		Provider providerHealth `json:"provider"`
	}
	operatedOut struct{ Body operated }
	probeOut    struct{ Body probeResult }
)

// registerOperations declares what an operator does to a provider that is in
// use.
func (s *server) registerOperations(provider Resource) {
	s.registerDrain(provider)
	action := func(id, path, summary, description string, body *huma.Schema, optional bool) operation {
		return operation{
			Operation: huma.Operation{
				OperationID: id, Method: http.MethodPost, Path: "/providers/{name}/" + path, Tags: []string{provider.Tag}, DefaultStatus: http.StatusOK,
				Summary: summary, Description: description,
			},
			role: RoleAdmin, body: body, optionalBody: optional, errors: []int{http.StatusNotFound, http.StatusConflict},
		}
	}
	one := func(name string, field *huma.Schema) *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{name: field}}
	}
	answer := map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(schemaOf[operated](s))}

	park := action("parkProvider", "park", "Keep requests away from a provider for a time",
		"The process that answers sends no request with the organisation's key there; afterwards one request finds out whether it serves. It replaces a park that is there. It is recorded in the audit.",
		one("seconds", &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(1.0), Maximum: new(float64(maxParkSeconds)), Description: "How long."}), false)
	park.body.Required = []string{"seconds"}
	park.answers = answer
	register(s, park, s.parkProvider)

	unpark := action("unparkProvider", "unpark", "Let requests to a provider again",
		"Ends its park, its open circuit breaker, its recovery and the cooldowns of its models at the process that answers. It is recorded in the audit.", nil, false)
	unpark.answers = answer
	register(s, unpark, s.unparkProvider)

	test := action("testProvider", "test", "Call a provider once",
		"A real request for one token with the provider's key. What comes of it changes no breaker and no park. Answers within 30 seconds.",
		one("model", &huma.Schema{Type: huma.TypeString, Description: "The model to ask. Left out: healthProbe.model, the first of staticModels, an exact model pattern, or a cheap model of the vendor."}), true)
	test.answers = map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(schemaOf[probeResult](s))}
	register(s, test, s.testProvider)
}

func (s *server) registerDrain(provider Resource) {
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "drainProvider", Method: http.MethodPost, Path: "/providers/{name}/drain", Tags: []string{provider.Tag}, DefaultStatus: http.StatusOK,
			Summary:     "Send a provider no new requests",
			Description: "Sets the field drained, which is a change of the configuration: it stays, holds everywhere, and is recorded. Running requests are finished. A dry run answers with what it would change.",
		},
		role: RoleAdmin, optionalBody: true, errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed},
		body: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{
			"drained": {Type: huma.TypeBoolean, Description: "true if left out; false takes the provider back in."},
		}},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(&huma.Schema{OneOf: []*huma.Schema{ref(provider.Kind), schemaOf[changeSet](s)}})},
	}, func(ctx context.Context, in *drainIn) (*objectOut, error) { return s.drainProvider(ctx, provider, in) })
}

func (s *server) drainProvider(ctx context.Context, r Resource, in *drainIn) (*objectOut, error) {
	drained := true
	if err := readOptional(in.RawBody, map[string]any{"drained": &drained}); err != nil {
		return nil, err
	}
	cond, err := ifMatch(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	op := control.Op{Ref: resource.Ref{Kind: r.Kind, Name: in.Name}, Edit: func(o resource.Object) {
		if p, ok := o.(*resource.Provider); ok {
			p.Drained = drained
		}
	}}
	if err := cond.put(&op); err != nil {
		return nil, err
	}
	return s.write(ctx, r, op, in.DryRun, cond)
}

// operable finds a provider that is in use.
func (s *server) operable(ctx context.Context, name string) (*routing.Provider, error) {
	live := s.live()
	if live == nil {
		return nil, noConfiguration()
	}
	if v := providerIn(live, name); v != nil {
		return v, nil
	}
	if _, err := s.opt.Control.Get(ctx, "Provider", name); err != nil {
		return nil, err
	}
	return nil, fault(http.StatusConflict, "not_in_use", "Provider %q is not in use, so it gets no requests: enable it, or see its warnings", name)
}

func (s *server) parkProvider(ctx context.Context, in *operateIn) (*operatedOut, error) {
	seconds := int64(0)
	if err := readObject(in.RawBody, map[string]any{"seconds": &seconds}); err != nil {
		return nil, err
	}
	if seconds < 1 || seconds > maxParkSeconds {
		return nil, invalid("seconds", "write a whole number from 1 to %d; to keep requests away for longer, drain the provider", maxParkSeconds)
	}
	v, err := s.operable(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	if !v.OrgKey {
		return nil, fault(http.StatusConflict, "no_key", "a park keeps requests with the organisation's key away, and the provider %q has none; drain it to keep its callers away", v.ID)
	}
	if !s.opt.Board.Settings().Breaker {
		return nil, fault(http.StatusConflict, "breaker_off", "nothing is parked while llmProxy.circuitBreaker.enabled is false; switch it on, or drain the provider")
	}
	s.opt.Board.Park(v.ID, time.Duration(seconds)*time.Second, principal(ctx).Name)
	until := s.now().Add(time.Duration(seconds) * time.Second).UTC().Format(time.RFC3339)
	s.recordOperation(ctx, fmt.Sprintf("park Provider %q for %d s, until %s", v.ID, seconds, until))
	return &operatedOut{operated{true, s.providerHealth(v)}}, nil
}

func (s *server) unparkProvider(ctx context.Context, in *NameParams) (*operatedOut, error) {
	v, err := s.operable(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	found := s.opt.Board.Unpark(v.ID, principal(ctx).Name)
	summary := fmt.Sprintf("unpark Provider %q", v.ID)
	if !found {
		summary += ", which nothing kept from requests"
	}
	s.recordOperation(ctx, summary)
	return &operatedOut{operated{found, s.providerHealth(v)}}, nil
}

// recordOperation writes the audit record of what an operator did to the state
// of this process, which is no change of the configuration.
func (s *server) recordOperation(ctx context.Context, summary string) {
	if s.opt.Audit == nil {
		return
	}
	e := control.Entry{Actor: principal(ctx).Name, RequestID: requestID(ctx), Summary: summary, Changes: []store.Change{}}
	if err := s.opt.Audit(e); err != nil {
		s.log.ErrorContext(ctx, "what an operator did could not be recorded in the audit", "actor", e.Actor, "did", summary, "error", err)
	}
}
