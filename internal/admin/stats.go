package admin

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/stats"
)

type (
	statsIn struct {
		Window string `query:"window" enum:"1h,24h,7d" doc:"24h if left out."`
	}
	statsOut struct{ Body *stats.Answer }
)

func (s *server) registerStats() {
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "getStats", Method: http.MethodGet, Path: "/stats", Tags: []string{"Audit"}, Summary: "Show traffic, errors, tokens and cost of a window",
			Description: "Kept in the memory of the process that answers, so it costs the same for any number of records. 1h in minutes, 24h in quarters of an hour, 7d in two hours.",
		},
		role:    RoleViewer,
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(schemaOf[stats.Answer](s))},
	}, s.stats)
}

func (s *server) stats(_ context.Context, in *statsIn) (*statsOut, error) {
	return &statsOut{s.opt.Stats.Answer(cmp.Or(in.Window, "24h"))}, nil
}
