package resource

// ProviderType names the transport of a provider.
type ProviderType string

// The provider types. Which of them this build can dial is the list of
// drivers in package upstream.
const (
	TypeAnthropic        ProviderType = "anthropic"
	TypeOpenAI           ProviderType = "openai"
	TypeAzureOpenAI      ProviderType = "azure-openai"
	TypeAzureFoundry     ProviderType = "azure-foundry"
	TypeVertex           ProviderType = "vertex"
	TypeGemini           ProviderType = "gemini"
	TypeBedrock          ProviderType = "bedrock"
	TypeOpenAICompatible ProviderType = "openai-compatible"
	TypeChatGPT          ProviderType = "chatgpt"
	TypeGitHubCopilot    ProviderType = "github-copilot"
)

// Provider is a vendor endpoint together with a credential.
type Provider struct {
	Meta
	Type   ProviderType `json:"type"`
	Vendor string       `json:"vendor,omitempty"`
	// BaseURL overrides the vendor's default.
	BaseURL    string `json:"baseUrl,omitempty"`
	WireFormat string `json:"wireFormat,omitempty"`
	// APIKey is a secret reference: env:NAME, file:PATH or a literal.
	APIKey string `json:"apiKey,omitempty" secret:"true"`

	AWS    *AWSSettings    `json:"aws,omitempty"`
	Google *GoogleSettings `json:"google,omitempty"`
	Azure  *AzureSettings  `json:"azure,omitempty"`
	OpenAI *OpenAISettings `json:"openai,omitempty"`

	// ModelPatterns are served through the provider's own implicit route;
	// empty means its family's defaults.
	ModelPatterns []string `json:"modelPatterns,omitempty"`
	// ModelAliases maps a client's model name to the wire model.
	ModelAliases map[string]string `json:"modelAliases,omitempty"`
	StaticModels []string          `json:"staticModels,omitempty"`

	// Residency defaults to "global".
	Residency      string         `json:"residency,omitempty"`
	DataHandling   *DataHandling  `json:"dataHandling,omitempty"`
	ContextWindows map[string]int `json:"contextWindows,omitempty"`

	Timeouts *Timeouts         `json:"timeouts,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Drained  bool              `json:"drained,omitempty"`

	AllowInsecure bool   `json:"allowInsecure,omitempty"`
	CAFile        string `json:"caFile,omitempty"`
	ProxyURL      string `json:"proxyUrl,omitempty"`
	HTTP2         bool   `json:"http2,omitempty"`
	// MaxConcurrent bounds running requests; 0 means no bound.
	MaxConcurrent int `json:"maxConcurrent,omitempty"`

	Betas         map[string][]string `json:"betas,omitempty"`
	DroppedParams []string            `json:"droppedParams,omitempty"`
	HealthProbe   *HealthProbe        `json:"healthProbe,omitempty"`
}

// AWSSettings are for type bedrock.
type AWSSettings struct {
	Region          string `json:"region,omitempty"`
	AccessKeyID     string `json:"accessKeyId,omitempty"`
	SecretAccessKey string `json:"secretAccessKey,omitempty" secret:"true"`
	SessionToken    string `json:"sessionToken,omitempty" secret:"true"`
	RoleARN         string `json:"roleArn,omitempty"`
	ExternalID      string `json:"externalId,omitempty"`
	Profile         string `json:"profile,omitempty"`
	BearerToken     string `json:"bearerToken,omitempty" secret:"true"`
}

// GoogleSettings are for type vertex.
type GoogleSettings struct {
	Project         string `json:"project,omitempty"`
	Location        string `json:"location,omitempty"`
	CredentialsFile string `json:"credentialsFile,omitempty"`
}

// AzureSettings are for the azure types.
type AzureSettings struct {
	Endpoint        string            `json:"endpoint,omitempty"`
	APIVersion      string            `json:"apiVersion,omitempty"`
	Deployments     map[string]string `json:"deployments,omitempty"`
	ManagedIdentity bool              `json:"managedIdentity,omitempty"`
	TenantID        string            `json:"tenantId,omitempty"`
	ClientID        string            `json:"clientId,omitempty"`
}

// OpenAISettings are for type openai.
type OpenAISettings struct {
	Organization string `json:"organization,omitempty"`
	Project      string `json:"project,omitempty"`
}

// DataHandling is what the vendor promises about request data.
type DataHandling struct {
	ZeroDataRetention bool   `json:"zeroDataRetention,omitempty"`
	NoPromptTraining  bool   `json:"noPromptTraining,omitempty"`
	Jurisdiction      string `json:"jurisdiction,omitempty"`
}

// Timeouts are in milliseconds. A nil field takes its default.
type Timeouts struct {
	// ConnectMs bounds dialling and TLS; default 5000.
	ConnectMs *int `json:"connectMs,omitempty"`
	// ResponseHeaderMs bounds the wait for the answer's head; default 120000.
	ResponseHeaderMs *int `json:"responseHeaderMs,omitempty"`
	// StreamIdleMs bounds a silence inside an answer; default 120000.
	StreamIdleMs *int `json:"streamIdleMs,omitempty"`
	// TotalMs bounds a whole attempt; default 0, no bound.
	TotalMs *int `json:"totalMs,omitempty"`
}

// HealthProbe is an active probe for display.
type HealthProbe struct {
	Enabled         bool   `json:"enabled,omitempty"`
	IntervalSeconds int    `json:"intervalSeconds,omitempty"`
	Model           string `json:"model,omitempty"`
}
