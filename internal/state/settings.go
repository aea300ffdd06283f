package state

import "time"

// MaxPark is the longest that a provider is parked at once.
const MaxPark = 24 * time.Hour

// What applies when a provider names no time.
const (
	defaultPark     = 15 * time.Minute
	defaultCooldown = 5 * time.Second
)

// Settings is llmProxy.circuitBreaker of the configuration.
type Settings struct {
	// Breaker switches breakers and parks, also those that are there already.
	// Cooldowns stay.
	Breaker bool
	// Threshold is the number of consecutive failures that opens a breaker;
	// less than 1 counts as 1.
	Threshold int
	// OpenFor is how long a breaker stays open before it lets a probe through.
	OpenFor time.Duration
	// MaxCooldown bounds cooldowns; 0 is none at all.
	MaxCooldown time.Duration
}

// DefaultSettings are those of a configuration that says nothing.
func DefaultSettings() Settings {
	return Settings{Breaker: true, Threshold: 5, OpenFor: 30 * time.Second, MaxCooldown: 300 * time.Second}
}

// Options are what a Board is made of.
type Options struct {
	Settings Settings
	// Now is the clock; nil is the one of the machine.
	Now func() time.Time
	// OnEvent hears of changes of a provider's health, from the goroutine that
	// caused it and without a lock held; nil hears nothing. Two events that
	// happen at once may come in either order: their Time tells.
	OnEvent func(Event)
}
