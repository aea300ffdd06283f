package statetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/routing"
)

// Pins is what the gateway uses of a store of pins.
type Pins interface {
	Load(ctx context.Context, session string) (map[routing.RouteID]routing.Pin, error)
	Save(ctx context.Context, session string, r routing.RouteID, p routing.Pin, ttl time.Duration) error
}

// PinsHarness makes stores and moves their time.
type PinsHarness struct {
	Open func(t *testing.T) Pins
	// Advance lets time pass for the store that was opened last.
	Advance func(time.Duration)
	// Unit is a time that the store can tell from half of it.
	Unit time.Duration
}

// RunPins runs the contract of a store of pins.
func RunPins(t *testing.T, h PinsHarness) {
	load := func(t *testing.T, p Pins, session string) map[routing.RouteID]routing.Pin {
		t.Helper()
		got, err := p.Load(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	save := func(t *testing.T, p Pins, session string, r routing.RouteID, start routing.ProviderID, ttl time.Duration) {
		t.Helper()
		if err := p.Save(t.Context(), session, r, routing.Pin{Start: start}, ttl); err != nil {
			t.Fatal(err)
		}
	}

	t.Run("what is saved is loaded, per session and route", func(t *testing.T) {
		p := h.Open(t)
		isZero(t, load(t, p, "s"))
		save(t, p, "s", "r1", "north", h.Unit)
		save(t, p, "s", "r2", "south", h.Unit)
		save(t, p, "s", "r1", "east", h.Unit)
		isEqual(t, map[routing.RouteID]routing.Pin{"r1": {Start: "east"}, "r2": {Start: "south"}}, load(t, p, "s"))
		isZero(t, load(t, p, "other"))
	})
	t.Run("RT-XP-7 a pin lives for its time after its last use", func(t *testing.T) {
		p := h.Open(t)
		save(t, p, "s", "r", "north", 2*h.Unit)
		for range 4 {
			h.Advance(h.Unit)
			isEqual(t, 1, len(load(t, p, "s")))
		}
		h.Advance(2 * h.Unit)
		isZero(t, load(t, p, "s"))
	})
	t.Run("a later time replaces the earlier one", func(t *testing.T) {
		p := h.Open(t)
		save(t, p, "s", "r", "north", 8*h.Unit)
		save(t, p, "s", "r", "north", h.Unit)
		h.Advance(2 * h.Unit)
		isZero(t, load(t, p, "s"))
	})
	t.Run("no time removes", func(t *testing.T) {
		p := h.Open(t)
		save(t, p, "s", "r", "north", h.Unit)
		save(t, p, "s", "r", "north", 0)
		save(t, p, "none", "r", "north", 0)
		isZero(t, load(t, p, "s"))
		isZero(t, load(t, p, "none"))
	})
	t.Run("what was loaded does not change", func(t *testing.T) {
		p := h.Open(t)
		save(t, p, "s", "r", "north", h.Unit)
		before := load(t, p, "s")
		save(t, p, "s", "r", "south", h.Unit)
		isEqual(t, routing.ProviderID("north"), before["r"].Start)
	})
	t.Run("many at once", func(t *testing.T) {
		p := h.Open(t)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 50 {
					session := fmt.Sprint(j % 10)
					if err := p.Save(t.Context(), session, "r", routing.Pin{Start: "north"}, h.Unit); err != nil {
						t.Errorf("%d: %v", i, err)
					}
					if _, err := p.Load(t.Context(), session); err != nil {
						t.Errorf("%d: %v", i, err)
					}
				}
			})
		}
		wg.Wait()
		isEqual(t, 1, len(load(t, p, "3")))
	})
}
