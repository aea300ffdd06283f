package config

// Config is everything that the configuration file sets. The zero value is
// not usable: start from Default.
type Config struct {
	Server      Server      `json:"server"`
	Storage     Storage     `json:"storage"`
	SharedState SharedState `json:"sharedState"`
	Auth        Auth        `json:"auth"`
	LLMProxy    LLMProxy    `json:"llmProxy"`
	Resources   Resources   `json:"resources"`
	Audit       Audit       `json:"audit"`
	Approvals   Approvals   `json:"approvals"`
	Telemetry   Telemetry   `json:"telemetry"`
	Licensing   Licensing   `json:"licensing"`
}

// Server sets the listeners and what one process takes on.
type Server struct {
	// Listen is the address of the gateway, host:port. Port 0 takes a free
	// one. Default 127.0.0.1:8080.
	Listen string `json:"listen"`
	// AdminListen is an optional second listener for /api and the console;
	// empty means that they are on Listen.
	AdminListen string `json:"adminListen"`
	// PublicURL is how clients reach the gateway; empty when unknown.
	PublicURL string `json:"publicUrl"`
	// MaxBodyBytes bounds a decoded request body: 1 to 1 GiB, default 32 MiB.
	MaxBodyBytes int64 `json:"maxBodyBytes"`
	// MaxInFlight bounds requests at one time: 1 to 1,000,000, default 20,000.
	MaxInFlight int `json:"maxInFlight"`
	// DrainSeconds is how long a shutdown waits for running requests: 0 to
	// 86,400 seconds, default 120.
	DrainSeconds int `json:"drainSeconds"`
}

// Storage says where configuration, audit and usage are kept.
type Storage struct {
	// URL is sqlite:PATH or postgres://user@host/db. Default
	// sqlite:./data/interlock.db.
	URL string `json:"url"`
	// DataDir holds the spool, the snapshot and the generated master key.
	// Default ./data.
	DataDir string `json:"dataDir"`
}

// SharedState says where replicas share pins, cooldowns and counters.
type SharedState struct {
	// URL is "memory:" (default), redis://host:port/db or rediss://...
	URL string `json:"url"`
	// OnFailure is what a block budget does while shared state is down:
	// allow (default) or deny.
	OnFailure string `json:"onFailure"`
}

// Resources says where resource documents come from.
type Resources struct {
	// Mode is seed (default: applied to an empty store) or enforce (applied
	// at every start and SIGHUP, read-only elsewhere).
	Mode string `json:"mode"`
	// Files are globs, relative to the folder of the configuration file.
	Files []string `json:"files"`
	// Inline holds documents in the configuration file itself. They are
	// read into Loaded.Documents.
	Inline []Raw `json:"inline"`
}

// Audit sets how audit events are kept.
type Audit struct {
	// RetentionDays is 1 to 36,500 days, default 90.
	RetentionDays int `json:"retentionDays"`
	// SpoolFsync makes each spool record survive a power loss; default false.
	SpoolFsync bool `json:"spoolFsync"`
	// RecordFacts keeps what a decision read, for replay; default true.
	RecordFacts bool `json:"recordFacts"`
}

// Approvals sets what happens when an approval is asked for.
type Approvals struct {
	// WebhookURL is called when an approval is created; empty means none.
	WebhookURL string `json:"webhookUrl"`
}

// Telemetry sets logs, metrics and traces.
type Telemetry struct {
	// LogLevel is debug, info (default), warn or error.
	LogLevel string `json:"logLevel"`
	// LogFormat is json (default) or text.
	LogFormat string `json:"logFormat"`
	// Metrics serves /metrics; default true.
	Metrics bool `json:"metrics"`
	// OTLPEndpoint receives traces and metrics; empty means none.
	OTLPEndpoint string `json:"otlpEndpoint"`
}

// Licensing is for distributors who sell tiers; off in the open build.
type Licensing struct {
	Enforce       bool   `json:"enforce"`
	PublicKeyFile string `json:"publicKeyFile"`
	LicenseFile   string `json:"licenseFile"`
}
