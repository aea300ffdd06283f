package resource

// Route maps model patterns to an ordered list of provider members.
type Route struct {
	Meta
	Description   string   `json:"description,omitempty"`
	ModelPatterns []string `json:"modelPatterns"`
	Aliases       []Alias  `json:"aliases,omitempty"`
	// Members are in try order.
	Members  []Member  `json:"members"`
	Strategy *Strategy `json:"strategy,omitempty"`

	AllowCrossProvider bool `json:"allowCrossProvider,omitempty"`
	// SwitchFamilyOnQuota defaults to true.
	SwitchFamilyOnQuota               *bool `json:"switchFamilyOnQuota,omitempty"`
	OrgKeyFallbackForCallerCredential bool  `json:"orgKeyFallbackForCallerCredentials,omitempty"`
	// OnLoss is allow (default), skip or refuse.
	OnLoss string `json:"onLoss,omitempty"`
}

// Alias is a client-facing model name of a route.
type Alias struct {
	Name string `json:"name"`
	// WireModels maps a provider to the model it receives.
	WireModels map[string]string `json:"wireModels"`
}

// Member is a provider inside a route.
type Member struct {
	Provider string `json:"provider"`
	// Weight defaults to 1; 0 to 1,000,000.
	Weight       *int `json:"weight,omitempty"`
	Priority     int  `json:"priority,omitempty"`
	FallbackOnly bool `json:"fallbackOnly,omitempty"`
}

// Strategy says where a new session starts. Type defaults to failover; the
// other fields belong to lowest-latency.
type Strategy struct {
	Type             string   `json:"type"`
	WindowMinutes    *int     `json:"windowMinutes,omitempty"`
	MinRequests      *int     `json:"minRequests,omitempty"`
	ExplorationShare *float64 `json:"explorationShare,omitempty"`
}
