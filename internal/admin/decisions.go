package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/store"
)

// decision is everything that is known of one request.
type decision struct {
	RequestID string `json:"requestId"`
	// Record is what was recorded, with its attempts.
	Record audit.Record `json:"record"`
	// Plan is the decision, made again from the recorded request on the
	// configuration that made it; absent if that can't be done.
	Plan *routing.Plan `json:"plan,omitempty"`
	// PlanError says why there is no plan.
	PlanError string `json:"planError,omitempty"`
}

type (
	decisionIn struct {
		RequestID string `path:"requestId" maxLength:"200" doc:"The id of a request, as in the answer's X-Interlock-Request-Id."`
	}
	decisionOut struct{ Body decision }
)

func (s *server) registerDecisions(tags []string) {
	register(s, operation{
		Operation: huma.Operation{OperationID: "getDecision", Method: http.MethodGet, Path: "/decisions/{requestId}", Tags: tags, Summary: "Explain one request", Description: "What was recorded, each attempt, and the decision with its reasons."},
		role:      RoleViewer, errors: []int{http.StatusNotFound},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(schemaOf[decision](s))},
	}, s.getDecision)
}

func (s *server) getDecision(ctx context.Context, in *decisionIn) (*decisionOut, error) {
	if err := s.sync(ctx); err != nil {
		return nil, err
	}
	records, err := s.opt.Records.Records(ctx, store.RecordFilter{RequestID: in.RequestID, Kind: audit.KindRequest}, 1)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, fault(http.StatusNotFound, "not_found", "no request with the id %q is recorded; it may be older than the audit is kept", in.RequestID)
	}
	out := decision{RequestID: in.RequestID}
	if err := json.Unmarshal(records[0].Data, &out.Record); err != nil {
		return nil, err
	}
	out.Plan, out.PlanError = s.explain(ctx, out.Record)
	return &decisionOut{out}, nil
}

// explain decides again. A failure must not hide what is recorded.
func (s *server) explain(ctx context.Context, rec audit.Record) (*routing.Plan, string) {
	if s.opt.Explain == nil {
		return nil, "this server does not explain decisions"
	}
	plan, err := s.opt.Explain(ctx, rec)
	var known *control.Error
	switch {
	case err == nil && plan != nil:
		return plan, ""
	case err == nil:
		return nil, "the request was refused before anything was decided"
	case errors.As(err, &known):
		return nil, known.Detail
	}
	return nil, s.internal(ctx, err).Detail
}
