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

// SettingsName is the name of the one Settings object.
const SettingsName = "settings"

// BuiltinResidencies are the residencies that need no setting.
func BuiltinResidencies() []string { return []string{"on-prem", "eu", "us", "global"} }

// Check reports what is wrong with the settings by themselves.
func (s *Settings) Check() []Problem {
	c := newChecker(&s.Meta)
	if s.Name != SettingsName {
		c.add("name", "the one Settings object is named settings, not %s", quote(s.Name))
	}
	if !s.IsEnabled() {
		c.add("enabled", "settings can't be switched off; remove the field, and set single settings back")
	}
	patterns(c, "globalModelAllowlist", s.GlobalModelAllowlist)
	checkDataHandling(c, "requireDataHandling", s.RequireDataHandling)
	names(c, "residencies", s.Residencies)
	if s.PIIDefault != "" {
		oneOf(c, "piiDefault", s.PIIDefault, piiActions()...)
	}
	if u := s.UnknownModelStatus; u != 0 && u != 404 && u != 503 {
		c.add("unknownModelStatus", "%d is not possible; write 503 or 404", u)
	}
	return c.ps
}
