package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// statsAnswer is what an overview shows of a window of time.
type statsAnswer struct {
	Window string    `json:"window" enum:"1h,24h,7d"`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	// Since is from when on the figures are whole: at a start only the newest
	// records are counted again.
	Since         time.Time `json:"since"`
	BucketSeconds int       `json:"bucketSeconds"`
	Totals        Figures   `json:"totals"`
	// Series are the figures of each bucket, oldest first, empty ones too. The
	// last bucket still runs.
	Series []bucket `json:"series"`
	// Models are those that were asked for most, and Providers those that
	// served most, at most ten.
	Models    []share `json:"models"`
	Providers []share `json:"providers"`
}

// Figures count requests of the data plane.
type Figures struct {
	Requests int64 `json:"requests"`
	// Errors ended with a failure, Refusals were denied by the configuration,
	// Canceled were left by the client.
	Errors   int64 `json:"errors"`
	Refusals int64 `json:"refusals"`
	Canceled int64 `json:"canceled"`
	// Failovers are requests that another provider than the first one dialed
	// served, or tried to.
	Failovers int64     `json:"failovers"`
	Tokens    tokenSums `json:"tokens"`
	CostUSD   float64   `json:"costUsd"`
	// Unpriced are requests with tokens whose price is not known: their cost is
	// not in costUsd.
	Unpriced int64 `json:"unpriced"`
	// P50Ms and P95Ms are percentiles of the time to the end of requests that
	// were served, in milliseconds, within 10 %; 0 without any.
	P50Ms float64 `json:"p50Ms"`
	P95Ms float64 `json:"p95Ms"`
}

// tokenSums are tokens by kind.
type tokenSums struct {
	Input       int64 `json:"input"`
	CachedRead  int64 `json:"cachedRead"`
	CachedWrite int64 `json:"cachedWrite"`
	Output      int64 `json:"output"`
}

// bucket is a part of a window.
type bucket struct {
	// Time is when it begins.
	Time time.Time `json:"time"`
	Figures
}

// share is what one model or provider had of it.
type share struct {
	Name     string  `json:"name"`
	Requests int64   `json:"requests"`
	Errors   int64   `json:"errors"`
	Tokens   int64   `json:"tokens"`
	CostUSD  float64 `json:"costUsd"`
}

type (
	statsIn struct {
		Window string `query:"window" enum:"1h,24h,7d" doc:"24h if left out."`
	}
	statsOut struct{ Body statsAnswer }
)

func (s *server) registerStats() {
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "getStats", Method: http.MethodGet, Path: "/stats", Tags: []string{"Audit"}, Summary: "Show traffic, errors, tokens and cost of a window",
			Description: "Kept in the memory of the process that answers, so it costs the same for any number of records. 1h in minutes, 24h in quarters of an hour, 7d in two hours.",
		},
		role:    RoleViewer,
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(schemaOf[statsAnswer](s))},
	}, s.stats)
}

func (s *server) stats(context.Context, *statsIn) (*statsOut, error) {
	return nil, fault(503, "not_ready", "this part is being built")
}
