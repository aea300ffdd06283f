package resource

import (
	"slices"
	"strings"
)

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
	// effect is what using it comes to.
	effect effect
}

// effect of a field whose part is not built.
type effect uint8

const (
	// refuse: the object is not taken.
	refuse effect = iota
	// ignore: the object is taken and the field kept, with a warning. Nobody
	// gets more than was written: what can't be served that way is not served.
	ignore
	// deny: the object is taken with a warning, and admits nobody. It is for
	// restrictions: to leave one out would give more access than was written.
	deny
)

// NotBuilt reports the fields of an object that ask for something this version
// does not do and that would mislead if they were kept. A step that builds a
// part deletes its line.
func NotBuilt(o Object) []Problem { return unbuiltFields(o, refuse) }

// Warnings reports the fields of an object that are kept and do nothing yet.
func Warnings(o Object) []Problem { return append(unbuiltFields(o, ignore), unbuiltFields(o, deny)...) }

// Unenforced reports the restrictions of an object that this version can't
// enforce: until they are, it must admit nobody.
func Unenforced(o Object) []Problem { return unbuiltFields(o, deny) }

// unbuiltFields reports the fields in use with an effect.
func unbuiltFields(o Object, e effect) []Problem {
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
	case *Settings:
		fields = o.unbuilt()
	}
	for _, f := range fields {
		if !f.used || f.effect != e {
			continue
		}
		message := f.message
		switch {
		case message != "":
		case e == refuse:
			message = "not part of this version yet; remove it"
		case e == ignore:
			message = "not part of this version yet: it is kept and does nothing"
		case e == deny:
			message = "not part of this version yet: it can't be enforced, so nobody is admitted; remove it to admit its holders"
		}
		c.code(CodeNotBuilt, f.path, "%s", message)
	}
	return c.ps
}

func (p *Provider) unbuilt() []unbuilt {
	known := slices.Contains(providerTypes(), p.Type)
	built := slices.Contains([]ProviderType{TypeAnthropic, TypeOpenAI, TypeOpenAICompatible}, p.Type)
	return []unbuilt{
		{"type", known && !built, "providers of type " + string(p.Type) + " are not part of this version yet: it is kept, and no route uses it", ignore},
		{
			"wireFormat", p.WireFormat != "" && built && !slices.Contains(builtFormats(p.Type), p.WireFormat),
			"a provider of type " + string(p.Type) + " speaks only " + strings.Join(builtFormats(p.Type), " and ") + ": it is kept, and no route uses it", ignore,
		},
		{"aws", p.AWS != nil, "", ignore},
		{"google", p.Google != nil, "", ignore},
		{"azure", p.Azure != nil, "", ignore},
		{"maxConcurrent", p.MaxConcurrent != 0, "", ignore},
		{"betas", len(p.Betas) > 0, "", ignore},
		{"droppedParams", len(p.DroppedParams) > 0, "", ignore},
		{"healthProbe.enabled", p.HealthProbe != nil && p.HealthProbe.Enabled, "", ignore},
	}
}

// builtFormats are the wire formats that a built type can speak.
func builtFormats(t ProviderType) []string {
	if t == TypeAnthropic {
		return []string{"anthropic-messages"}
	}
	return []string{"openai-chat", "openai-responses"}
}

func (r *Route) unbuilt() []unbuilt {
	return []unbuilt{
		{
			"allowCrossProvider", r.AllowCrossProvider,
			"requests are not translated and sessions not pinned to a family in this version yet: a member of another family serves only clients of its own wire format", ignore,
		},
		{"onLoss", r.OnLoss != "" && r.OnLoss != "allow", "", ignore},
	}
}

func (k *Key) unbuilt() []unbuilt {
	return []unbuilt{
		{"owner.workload", k.Owner != nil && k.Owner.Workload != "", "", refuse},
		{"allowedModels", len(k.AllowedModels) > 0, "", deny},
		{"pii", k.PII != "" && k.PII != "off", "", deny},
		{"rateLimits", k.RateLimits != nil && *k.RateLimits != RateLimits{}, "", deny},
	}
}

func (s *Settings) unbuilt() []unbuilt {
	return []unbuilt{
		{"globalModelAllowlist", len(s.GlobalModelAllowlist) > 0, "", refuse},
		{"piiDefault", s.PIIDefault != "" && s.PIIDefault != "off", "", refuse},
	}
}
