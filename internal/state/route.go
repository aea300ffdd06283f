package state

import (
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/interlock-gateway/interlock/internal/routing"
)

const trafficHours = 24

// route is the state of one route.
type route struct {
	turns atomic.Uint64

	mu       sync.Mutex // guards what follows
	hours    [trafficHours + 1]trafficHour
	served   routing.ProviderID
	servedAt time.Time
}

type trafficHour struct {
	hour                        int64
	requests, failovers, errors int
}

// RouteTraffic is what a route did in the last 24 hours, to the hour.
type RouteTraffic struct {
	Requests int `json:"requests"`
	// Failovers are requests that more than one candidate was dialled for.
	Failovers int `json:"failovers"`
	// Errors are requests that no candidate served.
	Errors int `json:"errors"`
	// Served is the provider that served last, however long ago, and ServedAt
	// when.
	Served   routing.ProviderID `json:"served,omitempty"`
	ServedAt time.Time          `json:"servedAt,omitzero"`
}

// Draw is a random number. It chooses members, not secrets.
func (b *Board) Draw() uint64 {
	return rand.Uint64() //nolint:gosec // G404: it chooses members, not secrets
}

// Turn takes the next turn of a route; the first one is 0.
func (b *Board) Turn(r routing.RouteID) uint64 { return b.route(r).turns.Add(1) - 1 }

// Peek is the turn that the next Turn takes, for dry runs.
func (b *Board) Peek(r routing.RouteID) uint64 {
	if x, ok := b.routes.get(string(r)); ok {
		return x.turns.Load()
	}
	return 0
}

// Note counts a request of a route that ended: served by a provider, or by
// none (empty), and whether a second candidate was dialled.
func (b *Board) Note(r routing.RouteID, served routing.ProviderID, failover bool) {
	x, now := b.route(r), b.now()
	hour := b.hour(now)
	x.mu.Lock()
	defer x.mu.Unlock()
	h := &x.hours[hour%int64(len(x.hours))]
	if h.hour != hour {
		*h = trafficHour{hour: hour}
	}
	h.requests++
	if failover {
		h.failovers++
	}
	if served == "" {
		h.errors++
		return
	}
	x.served, x.servedAt = served, now
}

// Traffic is what a route did in the last 24 hours.
func (b *Board) Traffic(r routing.RouteID) RouteTraffic {
	x, ok := b.routes.get(string(r))
	if !ok {
		return RouteTraffic{}
	}
	hour := b.hour(b.now())
	x.mu.Lock()
	defer x.mu.Unlock()
	out := RouteTraffic{Served: x.served, ServedAt: x.servedAt}
	for i := range x.hours {
		if h := &x.hours[i]; h.hour <= hour && h.hour >= hour-trafficHours {
			out.Requests += h.requests
			out.Failovers += h.failovers
			out.Errors += h.errors
		}
	}
	return out
}

// RetainRoutes drops the state of routes that no longer exist.
func (b *Board) RetainRoutes(ids map[routing.RouteID]bool) {
	b.routes.drop(func(id string, _ *route) bool { return !ids[routing.RouteID(id)] })
}

// hour numbers the hours since the Board was made, from 0.
func (b *Board) hour(now time.Time) int64 { return b.minute(now) / 60 }

func (b *Board) route(r routing.RouteID) *route {
	if x, ok := b.routes.get(string(r)); ok {
		return x
	}
	return b.routes.add(strings.Clone(string(r)), &route{})
}
