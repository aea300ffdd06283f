package resource

import "slices"

// NotBuiltKinds are kinds of the specification that this version does not
// have. A step that builds one deletes its name here and adds it to Kinds.
func NotBuiltKinds() []string {
	return []string{
		"AccessBinding", "RoutingRule", "Workload", "WorkloadBlueprint",
		"Budget", "Policy", "MutatingPolicy",
	}
}

// unbuilt is one field whose part is not built, and whether it is in use.
type unbuilt struct {
	path string
	used bool
	// message replaces the usual one.
	message string
}

// NotBuilt reports the fields of an object that ask for something this version
// does not do. They are refused rather than ignored: a restriction that nobody
// enforces would give more access than was written. A step that builds a part
// deletes its line.
func NotBuilt(o Object) []Problem {
	c := newChecker(o.Head())
	var fields []unbuilt
	switch o := o.(type) {
	case *Provider:
		fields = o.unbuilt()
	case *Route:
		fields = o.unbuilt()
	case *Key:
		fields = o.unbuilt()
	case *Team:
		fields = o.unbuilt()
	case *User:
		fields = o.unbuilt()
	case *Settings:
		fields = o.unbuilt()
	}
	for _, f := range fields {
		switch {
		case f.used && f.message != "":
			c.code(CodeNotBuilt, f.path, "%s", f.message)
		case f.used:
			c.code(CodeNotBuilt, f.path, "not part of this version yet; remove it")
		}
	}
	return c.ps
}

func (p *Provider) unbuilt() []unbuilt {
	known := slices.Contains(providerTypes(), p.Type)
	built := slices.Contains([]ProviderType{TypeAnthropic, TypeOpenAI, TypeOpenAICompatible}, p.Type)
	return []unbuilt{
		{"type", known && !built, "providers of type " + string(p.Type) + " are not part of this version yet; it has anthropic, openai and openai-compatible"},
		{
			"wireFormat", p.WireFormat != "" && built && p.WireFormat != nativeFormat(p.Type),
			"a provider of type " + string(p.Type) + " speaks only " + nativeFormat(p.Type) + " in this version; remove it",
		},
		{"aws", p.AWS != nil, ""},
		{"google", p.Google != nil, ""},
		{"azure", p.Azure != nil, ""},
		{"contextWindows", len(p.ContextWindows) > 0, ""},
		{"maxConcurrent", p.MaxConcurrent != 0, ""},
		{"betas", len(p.Betas) > 0, ""},
		{"droppedParams", len(p.DroppedParams) > 0, ""},
		{"healthProbe.enabled", p.HealthProbe != nil && p.HealthProbe.Enabled, ""},
	}
}

// nativeFormat is the wire format that a built type speaks by itself.
func nativeFormat(t ProviderType) string {
	if t == TypeAnthropic {
		return "anthropic-messages"
	}
	return "openai-chat"
}

func (r *Route) unbuilt() []unbuilt {
	strategy := ""
	if r.Strategy != nil {
		strategy = r.Strategy.Type
	}
	fields := []unbuilt{
		{"aliases", len(r.Aliases) > 0, ""},
		{
			"strategy.type", slices.Contains(strategyTypes(), strategy) && strategy != "failover",
			"the strategy " + strategy + " is not part of this version yet; it has failover",
		},
		{"allowCrossProvider", r.AllowCrossProvider, ""},
		{"orgKeyFallbackForCallerCredentials", r.OrgKeyFallbackForCallerCredential, ""},
		{"onLoss", r.OnLoss != "" && r.OnLoss != "allow", ""},
	}
	for i, m := range r.Members {
		fields = append(fields, unbuilt{JoinPath(IndexPath("members", i), "priority"), m.Priority != 0, ""})
	}
	return fields
}

func (k *Key) unbuilt() []unbuilt {
	return []unbuilt{
		{"owner.workload", k.Owner != nil && k.Owner.Workload != "", ""},
		{"type", k.Type == "virtual", "virtual keys are not part of this version yet; it has pat, service and session"},
		{"allowedModels", len(k.AllowedModels) > 0, ""},
		{"allowedProviders", len(k.AllowedProviders) > 0, ""},
		{"allowedResidencies", len(k.AllowedResidencies) > 0, ""},
		{"pii", k.PII != "" && k.PII != "off", ""},
		{"dataHandling", isDemand(k.DataHandling), ""},
		{"rateLimits", k.RateLimits != nil && *k.RateLimits != RateLimits{}, ""},
		{"providerCredential", k.ProviderCredential != nil, ""},
	}
}

func (s *Settings) unbuilt() []unbuilt {
	return []unbuilt{
		{"globalPassthrough", s.GlobalPassthrough, ""},
		{"globalModelAllowlist", len(s.GlobalModelAllowlist) > 0, ""},
		{"requireDataHandling", isDemand(s.RequireDataHandling), ""},
		{"piiDefault", s.PIIDefault != "" && s.PIIDefault != "off", ""},
		{"allowAnonymousPassthrough", s.AllowAnonymousPassthrough, ""},
	}
}

// isDemand tells whether a demand on data handling asks for anything.
func isDemand(d *DataHandling) bool { return d != nil && *d != DataHandling{} }
