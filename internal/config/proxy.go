package config

// LLMProxy sets how requests to providers are made.
type LLMProxy struct {
	CircuitBreaker CircuitBreaker `json:"circuitBreaker"`
	Retry          Retry          `json:"retry"`
	// SessionPinTTLSeconds is how long a session stays pinned to a family
	// after its last use: 1 to 2,592,000 seconds, default 86,400.
	SessionPinTTLSeconds int `json:"sessionPinTTLSeconds"`
	// ExposeRoutingHeaders is all (default) or id-only.
	ExposeRoutingHeaders string `json:"exposeRoutingHeaders"`
	// DenialStatus is the HTTP status of a denial: 400 (default), 402 or 451.
	DenialStatus int `json:"denialStatus"`
	// ResponsesFailover is free (default) or never.
	ResponsesFailover string `json:"responsesFailover"`
	// RuleBalancing is the order of a rule's targets: weighted (default) or
	// least-loaded.
	RuleBalancing string `json:"ruleBalancing"`
	// LegacyPredicates is what becomes of an older configuration's
	// predicates: rules (default) or drop.
	LegacyPredicates string `json:"legacyPredicates"`

	// The keys of an older configuration.
	Upstreams []Raw `json:"upstreams,omitempty"`
	Pools     []Raw `json:"pools,omitempty"`
	Routes    []Raw `json:"routes,omitempty"`
	Providers []Raw `json:"providers,omitempty"`
}

// CircuitBreaker says when a failing provider is left alone.
type CircuitBreaker struct {
	// Enabled switches breaker and parking; default true.
	Enabled bool `json:"enabled"`
	// FailureThreshold is how many failures in a row open the breaker: 1 to
	// 1,000, default 5.
	FailureThreshold int `json:"failureThreshold"`
	// CooldownSeconds is how long it stays open: 1 to 86,400, default 30.
	CooldownSeconds int `json:"cooldownSeconds"`
	// MaxRetryAfterSeconds bounds a cooldown that a provider asks for: 0
	// (ignore it) to 3,600, default 300.
	MaxRetryAfterSeconds int `json:"maxRetryAfterSeconds"`
}

// Retry sets retries in place and the time that all attempts share.
type Retry struct {
	// MaxRetries is how often the last candidate is tried again: 0 to 3,
	// default 1.
	MaxRetries int `json:"maxRetries"`
	// BaseDelayMs is the first wait, doubled each time: 0 to 60,000
	// milliseconds, default 250.
	BaseDelayMs int `json:"baseDelayMs"`
	// MaxElapsedMs bounds the time to the first content, all attempts
	// included: 1 to 86,400,000 milliseconds, default 600,000.
	MaxElapsedMs int `json:"maxElapsedMs"`
}
