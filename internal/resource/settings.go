package resource

// Settings is the one object of installation-wide switches; its name is
// "settings".
type Settings struct {
	Meta
	GlobalPassthrough    bool          `json:"globalPassthrough,omitempty"`
	GlobalModelAllowlist []string      `json:"globalModelAllowlist,omitempty"`
	RequireDataHandling  *DataHandling `json:"requireDataHandling,omitempty"`
	// Residencies are allowed values in addition to the built-in four.
	Residencies []string `json:"residencies,omitempty"`
	PIIDefault  string   `json:"piiDefault,omitempty"`
	// UnknownModelStatus is 503 (default) or 404.
	UnknownModelStatus        int  `json:"unknownModelStatus,omitempty"`
	AllowAnonymousPassthrough bool `json:"allowAnonymousPassthrough,omitempty"`
}
