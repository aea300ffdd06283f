package config

// Default is the configuration of an empty file.
func Default() *Config {
	return &Config{
		Server: Server{
			Listen:       "127.0.0.1:8080",
			MaxBodyBytes: 32 << 20,
			MaxInFlight:  20_000,
			DrainSeconds: 120,
		},
		Storage:     Storage{URL: "sqlite:./data/interlock.db", DataDir: "./data"},
		SharedState: SharedState{URL: "memory:", OnFailure: "allow"},
		Auth:        Auth{OIDC: OIDC{RoleClaim: "groups"}},
		LLMProxy: LLMProxy{
			CircuitBreaker:       CircuitBreaker{Enabled: true, FailureThreshold: 5, CooldownSeconds: 30, MaxRetryAfterSeconds: 300},
			Retry:                Retry{MaxRetries: 1, BaseDelayMs: 250, MaxElapsedMs: 600_000},
			SessionPinTTLSeconds: 86_400,
			ExposeRoutingHeaders: "all",
			DenialStatus:         400,
			ResponsesFailover:    "free",
			RuleBalancing:        "weighted",
			LegacyPredicates:     "rules",
		},
		Resources: Resources{Mode: "seed"},
		Audit:     Audit{RetentionDays: 90, RecordFacts: true},
		Telemetry: Telemetry{LogLevel: "info", LogFormat: "json", Metrics: true},
	}
}
