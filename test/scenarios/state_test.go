package scenarios

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
)

// noon is when the request of every scenario comes.
func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// duration is written like "30s"; negative ones are past.
type duration time.Duration

func (d *duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a duration is text: %w", err)
	}
	v, err := time.ParseDuration(s)
	*d = duration(v)
	return err //nolint:wrapcheck // it names the text
}

// until is a time from noon on; zero for none.
func (d *duration) until() time.Time {
	if d == nil {
		return time.Time{}
	}
	return noon().Add(time.Duration(*d))
}

// stateFile is what is known of the providers when the request comes.
// Deployments are written as "provider/wire model".
type stateFile struct {
	// UnreadableKeys are providers whose apiKey can't be read.
	UnreadableKeys []string                        `json:"unreadableKeys"`
	Health         map[routing.ProviderID]healthOf `json:"health"`
	Cooling        map[string]*duration            `json:"cooling"`
	Latency        map[string]latencyOf            `json:"latency"`
	Load           map[string]loadOf               `json:"load"`
	Pins           map[routing.RouteID]routing.Pin `json:"pins"`
	// Turns are the numbers of the requests that routes had, Draws random
	// numbers in the order in which they are drawn.
	Turns map[routing.RouteID]uint64 `json:"turns"`
	Draws []uint64                   `json:"draws"`
}

type healthOf struct {
	// Open and Parked say for how long.
	Open    *duration `json:"open"`
	Parked  *duration `json:"parked"`
	Probing bool      `json:"probing"`
	Limit   int       `json:"limit"`
	Running int       `json:"running"`
}

type latencyOf struct {
	P95      duration `json:"p95"`
	Requests int      `json:"requests"`
}

type loadOf struct {
	InFlight int      `json:"inFlight"`
	Latency  duration `json:"latency"`
	Success  float64  `json:"success"`
}

func (s *stateFile) view(*testing.T) routing.View { return view{s} }

// view shows a stateFile to the decision.
type view struct{ s *stateFile }

func (v view) Health(id routing.ProviderID) routing.Health {
	h := v.s.Health[id]
	return routing.Health{OpenUntil: h.Open.until(), ParkedUntil: h.Parked.until(), Probing: h.Probing, Limit: h.Limit, Running: h.Running}
}

func (v view) CoolingUntil(id routing.ProviderID, wireModel string) time.Time {
	return v.s.Cooling[string(id)+"/"+wireModel].until()
}

func (v view) Latency(id routing.ProviderID, wireModel string, _ bool, _ time.Duration) (time.Duration, int) {
	l := v.s.Latency[string(id)+"/"+wireModel]
	return time.Duration(l.P95), l.Requests
}

func (v view) Load(id routing.ProviderID, wireModel string) routing.Load {
	l := v.s.Load[string(id)+"/"+wireModel]
	return routing.Load{InFlight: l.InFlight, Latency: time.Duration(l.Latency), Success: l.Success}
}

// dice roll what a stateFile says, then 0.
type dice struct {
	draws []uint64
	turns map[routing.RouteID]uint64
}

func (d *dice) Turn(r routing.RouteID) uint64 { return d.turns[r] }

func (d *dice) Draw() uint64 {
	if len(d.draws) == 0 {
		return 0
	}
	v := d.draws[0]
	d.draws = d.draws[1:]
	return v
}

// event is an attempt that ended before the request came.
type event struct {
	// At is when, such as "-10s".
	At       duration           `json:"at"`
	Provider routing.ProviderID `json:"provider"`
	Model    string             `json:"model"`
	// Credential is own unless it says otherwise.
	Credential routing.Credential `json:"credential"`
	// Times it ended so, one after the other; 1 if it is left out.
	Times int `json:"times"`
	failing
	// Latency of an attempt without a category, which served.
	Latency duration `json:"latency"`
}

// history makes the state of a gateway that had these attempts, with the
// default settings.
func history(t *testing.T, events []event) routing.View {
	t.Helper()
	now := noon()
	b := state.NewBoard(state.Options{Settings: state.DefaultSettings(), Now: func() time.Time { return now }})
	for _, e := range events {
		now = noon().Add(time.Duration(e.At))
		for range max(e.Times, 1) {
			counts := e.Credential == "" || e.Credential == routing.CredentialOwn
			p, blocked, ok := b.Admit(e.Provider, e.Model, counts, false)
			if !ok {
				t.Fatalf("history.json: %s is %s, so it is not dialled at %v", e.Provider, blocked.State, now)
			}
			p.Done(state.Outcome{Failure: e.failure(), Latency: time.Duration(e.Latency)})
		}
	}
	now = noon()
	return b
}

// failing is how an attempt fails.
type failing struct {
	Category   failure.Category `json:"category"`
	Status     int              `json:"status"`
	RetryAfter *duration        `json:"retryAfter"`
}

func (f failing) failure() failure.Failure {
	out := failure.Failure{Category: f.Category, Status: f.Status}
	if f.RetryAfter != nil {
		out.RetryAfter, out.HasRetryAfter = time.Duration(*f.RetryAfter), true
	}
	return out
}
