package state_test

import (
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/state"
	"github.com/interlock-gateway/interlock/internal/state/statetest"
)

func TestBoard_contract(t *testing.T) {
	statetest.RunBoard(t, func(_ *testing.T, o state.Options) statetest.Board { return state.NewBoard(o) })
}

func TestPins_contract(t *testing.T) {
	for name, sessions := range map[string]int{"small": 100, "divided": 100_000} {
		t.Run(name, func(t *testing.T) {
			clock := statetest.NewClock()
			statetest.RunPins(t, statetest.PinsHarness{
				Open:    func(*testing.T) statetest.Pins { return state.NewPins(clock.Now, sessions) },
				Advance: clock.Advance,
				Unit:    time.Hour,
			})
		})
	}
}
