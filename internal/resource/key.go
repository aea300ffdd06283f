package resource

import "time"

// Key is a credential that Interlock issues to a caller.
type Key struct {
	Meta
	// Type is pat, virtual, service or session.
	Type  string    `json:"type"`
	Owner *KeyOwner `json:"owner,omitempty"`
	Team  string    `json:"team,omitempty"`
	// Secret is a reference, or the secret itself, of which a hash is kept; only
	// in documents. At least 24 characters, begins with ilk_.
	Secret    string            `json:"secret,omitempty" secret:"true"`
	ExpiresAt *time.Time        `json:"expiresAt,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Agent     string            `json:"agent,omitempty"`

	AllowedModels      []string      `json:"allowedModels,omitempty"`
	AllowedProviders   []string      `json:"allowedProviders,omitempty"`
	AllowedResidencies []string      `json:"allowedResidencies,omitempty"`
	PII                string        `json:"pii,omitempty"`
	DataHandling       *DataHandling `json:"dataHandling,omitempty"`
	RateLimits         *RateLimits   `json:"rateLimits,omitempty"`
	// RotatedFrom is the key that this one replaced; the API sets it.
	RotatedFrom string `json:"rotatedFrom,omitempty"`
	// ProviderCredential is for virtual keys only.
	ProviderCredential *ProviderCredential `json:"providerCredential,omitempty"`
}

// KeyOwner names whose key it is; exactly one field is set.
type KeyOwner struct {
	User       string `json:"user,omitempty"`
	Team       string `json:"team,omitempty"`
	Department string `json:"department,omitempty"`
	Workload   string `json:"workload,omitempty"`
}

// RateLimits bound what a key may use.
type RateLimits struct {
	RequestsPerMinute *int `json:"requestsPerMinute,omitempty"`
	TokensPerMinute   *int `json:"tokensPerMinute,omitempty"`
	Concurrent        *int `json:"concurrent,omitempty"`
}

// ProviderCredential replaces a member's key for one provider.
type ProviderCredential struct {
	Provider string `json:"provider"`
	// APIKey is required. One that is stored stays if it is left out, as long as
	// the provider is the same.
	APIKey string `json:"apiKey,omitempty" secret:"true"`
}

// LacksCredential tells a virtual key that says for which provider it has a
// credential, and leaves the credential out.
func (k *Key) LacksCredential() bool {
	return k.ProviderCredential != nil && k.ProviderCredential.APIKey == ""
}
