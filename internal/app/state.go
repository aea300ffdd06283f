package app

import (
	"fmt"
	"time"

	"github.com/interlock-gateway/interlock/internal/admin"
	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/gateway"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/state"
)

// maxPins bounds the sessions that are remembered.
const maxPins = 100_000

// tunables are the gateway's part of the settings that a reload may change.
func tunables(c *config.Config) gateway.Tunables {
	return gateway.Tunables{
		ExposeRouting: c.LLMProxy.ExposeRoutingHeaders != "id-only",
		TieResponses:  c.LLMProxy.ResponsesFailover == "never",
		MaxElapsed:    time.Duration(c.LLMProxy.Retry.MaxElapsedMs) * time.Millisecond,
		Retry: gateway.Retry{
			Max:       c.LLMProxy.Retry.MaxRetries,
			BaseDelay: time.Duration(c.LLMProxy.Retry.BaseDelayMs) * time.Millisecond,
		},
	}
}

// breakerSettings are the board's part.
func breakerSettings(c *config.Config) state.Settings {
	b := c.LLMProxy.CircuitBreaker
	return state.Settings{
		Breaker: b.Enabled, Threshold: b.FailureThreshold,
		OpenFor: time.Duration(b.CooldownSeconds) * time.Second, MaxCooldown: time.Duration(b.MaxRetryAfterSeconds) * time.Second,
	}
}

// publish makes a snapshot current and drops the state of what is gone.
func (a *App) publish(next *snapshot.Live) {
	old := a.live.Current()
	if !a.live.Publish(next) {
		return
	}
	select {
	case a.published <- struct{}{}:
	default: // it will be looked at anyway
	}
	a.feed.Publish(admin.ConfigEvent(next.Revision))
	providers, routes := map[routing.ProviderID]bool{}, map[routing.RouteID]bool{}
	for _, p := range next.Routing.Providers() {
		providers[p.ID] = true
	}
	for _, r := range next.Routing.Routes() {
		routes[r.ID] = true
	}
	a.board.Retain(providers)
	a.board.RetainRoutes(routes)
	if old == nil {
		return
	}
	for id, t := range next.Targets {
		before := old.Targets[id]
		switch {
		case before == nil:
		case !before.SameCredential(t):
			a.board.Unpark(id, "a new key") // the old key's quota and limits are not the new one's
		case !before.SameAddress(t):
			a.board.Unpark(id, "a new baseUrl") // what was wrong at the old address says nothing about the new one
		}
	}
}

// recordEvent writes the audit event of a breaker or a park. A provider's state
// must not depend on the disk, so that it could not be kept is only logged.
func (a *App) recordEvent(e state.Event) {
	a.feed.Publish(admin.HealthEvent(e))
	by := ""
	if e.By != "" {
		by = " by " + e.By
	}
	message := fmt.Sprintf("%s%s", eventText(e.Kind), by)
	if !e.Until.IsZero() {
		message += " until " + e.Until.UTC().Format(time.RFC3339)
	}
	a.log.Warn("the state of a provider changed", "provider", e.Provider, "event", e.Kind, "until", e.Until, "category", e.Category, "status", e.Status, "by", e.By)
	outcome := audit.OutcomeError
	if e.Kind == "breaker_closed" || e.Kind == "unpark" {
		outcome = audit.OutcomeAllow
	}
	err := a.spool.Append(&audit.Record{
		Kind: audit.KindEvent, Time: e.Time, Outcome: outcome, Provider: string(e.Provider), Code: e.Kind,
		Category: string(e.Category), Status: e.Status, Message: message, Until: e.Until,
	})
	if err != nil {
		a.log.Error("an audit event could not be kept", "error", err)
	}
}

func eventText(kind string) string {
	switch kind {
	case "breaker_open":
		return "the circuit breaker of the provider opened"
	case "breaker_closed":
		return "the circuit breaker of the provider closed"
	case "park":
		return "the provider is parked"
	case "unpark":
		return "the provider is no longer parked"
	}
	return kind
}
