package admin

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/audit"
)

// liveConfig is the data of the event config: a configuration version is in
// use.
type liveConfig struct {
	Version int64 `json:"version"`
}

// liveRecord is the data of the event request.
type liveRecord struct {
	Row audit.Row `json:"row"`
	// Dropped are the requests that were left out before this one, since there
	// were too many to show.
	Dropped int `json:"dropped,omitempty"`
}

// liveHealth is the data of the event health: the state of a provider changed.
type liveHealth struct {
	Provider string `json:"provider"`
	// Event is what happened.
	Event string `json:"event" enum:"breaker_open,breaker_closed,park,unpark"`
	// Breaker is closed, open, or half_open while a probe is under way.
	Breaker string `json:"breaker" enum:"closed,open,half_open"`
	// BreakerUntil is when the next probe may go.
	BreakerUntil time.Time `json:"breakerUntil,omitzero"`
	// ParkedUntil is when the park ends; absent without one.
	ParkedUntil time.Time `json:"parkedUntil,omitzero"`
	Time        time.Time `json:"time"`
	// State is all of it, as /health/upstreams shows it.
	State *providerHealth `json:"state,omitempty"`
}

// liveDropped is the data of the event dropped: the reader was too slow.
type liveDropped struct {
	// Count is how many events are lost since the last one.
	Count int `json:"count"`
}

func (s *server) registerLive() {
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "streamEvents", Method: http.MethodGet, Path: "/events", Tags: []string{"Session"}, Summary: "Hear of changes as server-sent events",
			Description: "Events config, request, health and dropped, each with an object as data in the form of one of these schemas, and a comment every 15 seconds. A reader that is slow loses events. The stream ends with the session.",
		},
		role: RoleViewer, errors: []int{http.StatusTooManyRequests},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: {"text/event-stream": {Schema: &huma.Schema{OneOf: []*huma.Schema{
			schemaOf[liveConfig](s), schemaOf[liveRecord](s), schemaOf[liveHealth](s), schemaOf[liveDropped](s),
		}}}}},
	}, s.streamEvents)
}
