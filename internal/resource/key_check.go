package resource

import "strings"

const (
	maxRate       = 1_000_000_000
	maxTextName   = 120
	maxLabels     = 64
	maxLabelKey   = 63
	maxLabelValue = 256
)

// Check reports what is wrong with the key by itself.
func (k *Key) Check() []Problem {
	c := newChecker(&k.Meta)
	c.err("name", CheckName(k.Name))
	if k.Type == "" {
		c.add("type", "the type is missing; write pat, virtual, service or session")
	} else {
		oneOf(c, "type", k.Type, "pat", "virtual", "service", "session")
	}
	k.checkIdentity(c)
	k.checkSecrets(c)
	patterns(c, "allowedModels", k.AllowedModels)
	names(c, "allowedProviders", k.AllowedProviders)
	names(c, "allowedResidencies", k.AllowedResidencies)
	if k.PII != "" {
		oneOf(c, "pii", k.PII, piiActions()...)
	}
	checkDataHandling(c, "dataHandling", k.DataHandling)
	k.checkRates(c)
	return c.ps
}

// piiActions are what may be done with personal data in a request.
func piiActions() []string { return []string{"off", "allow", "redact", "block", "reroute"} }

// checkIdentity checks who the key speaks for.
func (k *Key) checkIdentity(c *checker) {
	if k.Owner != nil {
		k.checkOwner(c)
	}
	textName(c, "team", k.Team)
	textName(c, "agent", k.Agent)
	if len(k.Labels) > maxLabels {
		c.add("labels", "%d labels are too many; write at most %d", len(k.Labels), maxLabels)
		return
	}
	for _, name := range orderedKeys(k.Labels) {
		at := JoinPath("labels", name)
		if err := CheckText(name, maxLabelKey); err != nil {
			c.add(at, "the label's name %s", err)
		} else if strings.Contains(name, "=") {
			c.add(at, "the label's name %s has a =; subjects write labels as name=value", quote(name))
		}
		if strings.EqualFold(name, "source") {
			c.add(at, "the label source is set by the gateway; choose another name")
		}
		if v := k.Labels[name]; v != "" {
			if err := CheckText(v, maxLabelValue); err != nil {
				c.add(at, "the label's value %s", err)
			}
		}
	}
}

func (k *Key) checkOwner(c *checker) {
	owners := []struct{ field, name string }{
		{"user", k.Owner.User}, {"team", k.Owner.Team}, {"department", k.Owner.Department}, {"workload", k.Owner.Workload},
	}
	set := 0
	for _, o := range owners {
		if o.name != "" {
			set++
		}
		textName(c, JoinPath("owner", o.field), o.name)
	}
	if set != 1 {
		c.add("owner", "an owner is one of user, team, department or workload; here are %d", set)
	}
}

// textName checks the name of something whose names are free text; empty
// means that there is none.
func textName(c *checker, path, name string) {
	if name == "" {
		return
	}
	if err := CheckText(name, maxTextName); err != nil {
		c.add(path, "the name %s", err)
	}
}

func (k *Key) secretFields() []SecretField {
	fields := []SecretField{{"secret", &k.Secret}}
	if k.ProviderCredential != nil {
		fields = append(fields, SecretField{"providerCredential.apiKey", &k.ProviderCredential.APIKey})
	}
	return fields
}

func (k *Key) checkSecrets(c *checker) {
	for _, r := range SecretRefs(k) {
		c.err(r.Path, CheckSecretRef(r.Ref))
	}
	if IsLiteralSecret(k.Secret) && CheckSecretRef(k.Secret) == nil {
		c.err("secret", CheckKeySecret(k.Secret))
	}
	pc := k.ProviderCredential
	if pc == nil {
		return
	}
	if k.Type != "virtual" {
		c.add("providerCredential", "a provider credential is for virtual keys; remove it, or make the type virtual")
	}
	if pc.Provider == "" {
		c.add("providerCredential.provider", "the provider is missing; name the one that the credential is for")
	} else {
		c.err("providerCredential.provider", CheckName(pc.Provider))
	}
}

func (k *Key) checkRates(c *checker) {
	if k.RateLimits == nil {
		return
	}
	for _, r := range []struct {
		path string
		n    *int
	}{
		{"rateLimits.requestsPerMinute", k.RateLimits.RequestsPerMinute},
		{"rateLimits.tokensPerMinute", k.RateLimits.TokensPerMinute},
		{"rateLimits.concurrent", k.RateLimits.Concurrent},
	} {
		if r.n != nil && (*r.n < 1 || *r.n > maxRate) {
			c.add(r.path, "%d is out of range; write 1 to 1,000,000,000, or remove it for no limit", *r.n)
		}
	}
}
