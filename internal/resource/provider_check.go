package resource

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	maxTimeoutMs      = int(24 * time.Hour / time.Millisecond)
	maxConcurrent     = 100_000
	maxContextWindow  = 1_000_000_000
	maxProbeInterval  = 86_400
	maxJurisdiction   = 64
	anthropicHost     = "anthropic.com"
	anthropicAPIHost  = "api.anthropic.com"
	anthropicKeyStart = "sk-ant-"
)

// providerTypes are the types that the specification knows.
func providerTypes() []ProviderType {
	return []ProviderType{
		TypeAnthropic, TypeOpenAI, TypeAzureOpenAI, TypeAzureFoundry, TypeVertex, TypeGemini, TypeBedrock,
		TypeOpenAICompatible, TypeChatGPT, TypeGitHubCopilot,
	}
}

// Check reports what is wrong with the provider by itself.
func (p *Provider) Check() []Problem {
	c := newChecker(&p.Meta)
	c.err("name", CheckName(p.Name))
	checkReserved(c, p.Name)
	p.checkType(c)
	p.checkNetwork(c)
	p.checkCredential(c)
	p.checkModels(c)
	if p.Residency != "" {
		c.err("residency", CheckName(p.Residency))
	}
	checkDataHandling(c, "dataHandling", p.DataHandling)
	p.checkTimeouts(c)
	staticHeaders(c, "headers", p.Headers)
	p.checkVendorData(c)
	return c.ps
}

// checkReserved refuses the names of the family routes (RT-PAT-2).
func checkReserved(c *checker, name string) {
	if name == "anthropic-family" || name == "openai-family" {
		c.code(CodeNameTaken, "name", "the name %s is reserved for the family's implicit route; choose another", name)
	}
}

func (p *Provider) checkType(c *checker) {
	if p.Type == "" {
		c.add("type", "the type is missing; write %s", orList(providerTypes()))
		return
	}
	oneOf(c, "type", p.Type, providerTypes()...)
	if p.WireFormat != "" {
		oneOf(c, "wireFormat", p.WireFormat, "anthropic-messages", "openai-chat", "openai-responses")
	}
	if p.Vendor != "" {
		c.err("vendor", CheckName(p.Vendor))
		if !slices.Contains([]ProviderType{TypeAnthropic, TypeOpenAI, TypeOpenAICompatible}, p.Type) {
			c.add("vendor", "a vendor is for the types openai-compatible, anthropic and openai, not for %s; remove it", p.Type)
		}
	}
	if p.Type == TypeOpenAICompatible && p.BaseURL == "" && p.Vendor == "" {
		c.add("baseUrl", "a provider of type openai-compatible needs a baseUrl, or a vendor whose URL is known")
	}
	blocks := []struct {
		path  string
		set   bool
		types []ProviderType
	}{
		{"aws", p.AWS != nil, []ProviderType{TypeBedrock}},
		{"google", p.Google != nil, []ProviderType{TypeVertex}},
		{"azure", p.Azure != nil, []ProviderType{TypeAzureOpenAI, TypeAzureFoundry}},
		{"openai", p.OpenAI != nil, []ProviderType{TypeOpenAI}},
	}
	for _, b := range blocks {
		if b.set && !slices.Contains(b.types, p.Type) {
			c.add(b.path, "%s settings are for type %s, not for %s; remove them", b.path, orList(b.types), quote(string(p.Type)))
		}
	}
}

func (p *Provider) checkNetwork(c *checker) {
	if p.BaseURL != "" {
		c.err("baseUrl", CheckBaseURL(p.BaseURL, p.AllowInsecure))
	}
	if p.Azure != nil && p.Azure.Endpoint != "" {
		c.err("azure.endpoint", CheckBaseURL(p.Azure.Endpoint, p.AllowInsecure))
	}
	if p.ProxyURL != "" {
		u, err := parseURL(p.ProxyURL, "http", "https", "socks5")
		c.err("proxyUrl", err)
		if err == nil {
			c.err("proxyUrl", checkProxyHost(u))
		}
	}
	if p.CAFile != "" && strings.ContainsAny(p.CAFile, "\x00\n\r") {
		c.add("caFile", "the path has a line break or a NUL character")
	}
	between(c, "maxConcurrent", p.MaxConcurrent, 0, maxConcurrent)
}

func checkProxyHost(u *url.URL) error {
	ip, isIP, err := hostAddr(u.Hostname())
	if err != nil || !isIP {
		return err
	}
	return CheckAddr(ip, false)
}

func (p *Provider) secretFields() []SecretField {
	fields := []SecretField{{"apiKey", &p.APIKey}}
	if p.AWS != nil {
		fields = append(fields, SecretField{"aws.secretAccessKey", &p.AWS.SecretAccessKey},
			SecretField{"aws.sessionToken", &p.AWS.SessionToken}, SecretField{"aws.bearerToken", &p.AWS.BearerToken})
	}
	return fields
}

func (p *Provider) checkCredential(c *checker) {
	for _, r := range SecretRefs(p) {
		c.err(r.Path, CheckSecretRef(r.Ref))
	}
	if IsLiteralSecret(p.APIKey) {
		c.err("apiKey", CheckProviderKey(p, p.APIKey))
	}
}

// CheckProviderKey tells what is wrong with the value of a provider's key, so
// with a resolved reference: an anthropic provider on Anthropic's own host
// needs an sk-ant- key (RS-PROV-1). No key at all is fine: the provider is then
// a passthrough one. The message never holds the value.
func CheckProviderKey(p *Provider, value string) error {
	if value == "" {
		return nil
	}
	if err := CheckSecretText(value); err != nil {
		return err
	}
	if p.Type == TypeAnthropic && onAnthropicHost(p) && !strings.HasPrefix(value, anthropicKeyStart) {
		return errors.New("Anthropic's own host takes keys that begin with sk-ant-, and this one does not;" + //nolint:staticcheck // a name
			" check which key it is, remove it for a passthrough provider, or set the baseUrl that it belongs to")
	}
	return nil
}

// onAnthropicHost tells whether requests go to Anthropic itself.
func onAnthropicHost(p *Provider) bool {
	if p.BaseURL == "" {
		return p.Vendor == "" || p.Vendor == "anthropic"
	}
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	return host == anthropicAPIHost || host == anthropicHost || strings.HasSuffix(host, "."+anthropicHost)
}

func (p *Provider) checkModels(c *checker) {
	routePatterns(c, "modelPatterns", p.ModelPatterns)
	for _, from := range orderedKeys(p.ModelAliases) {
		at := JoinPath("modelAliases", from)
		c.err(at, CheckModelName(from))
		c.err(at, CheckModelName(p.ModelAliases[from]))
	}
	uniqueModels(c, "modelAliases", p.ModelAliases)
	for i, m := range p.StaticModels {
		c.err(IndexPath("staticModels", i), CheckModelName(m))
	}
	uniqueFold(c, "staticModels", p.StaticModels)
	for _, m := range orderedKeys(p.ContextWindows) {
		at := JoinPath("contextWindows", m)
		c.err(at, CheckModelName(m))
		between(c, at, p.ContextWindows[m], 1, maxContextWindow)
	}
	uniqueModels(c, "contextWindows", p.ContextWindows)
}

// uniqueModels notes models that a map names twice, in different case: which of
// them counts would be left to chance.
func uniqueModels[V any](c *checker, path string, m map[string]V) {
	first := make(map[string]string, len(m))
	for _, name := range orderedKeys(m) {
		lower := strings.ToLower(name)
		if other, ok := first[lower]; ok {
			c.add(JoinPath(path, name), "%s repeats %s, since names of models ignore case; remove one of them", quote(name), quote(other))
		}
		first[lower] = name
	}
}

func (p *Provider) checkTimeouts(c *checker) {
	if p.Timeouts == nil {
		return
	}
	for _, t := range []struct {
		path string
		ms   *int
	}{
		{"timeouts.connectMs", p.Timeouts.ConnectMs},
		{"timeouts.responseHeaderMs", p.Timeouts.ResponseHeaderMs},
		{"timeouts.streamIdleMs", p.Timeouts.StreamIdleMs},
		{"timeouts.totalMs", p.Timeouts.TotalMs},
	} {
		if t.ms != nil && (*t.ms < 0 || *t.ms > maxTimeoutMs) {
			c.add(t.path, "%d is out of range; write 0 to %d milliseconds (24 hours)", *t.ms, maxTimeoutMs)
		}
	}
}

// checkVendorData checks what overrides the vendor's own data.
func (p *Provider) checkVendorData(c *checker) {
	for _, endpoint := range orderedKeys(p.Betas) {
		at := JoinPath("betas", endpoint)
		for i, b := range p.Betas[endpoint] {
			if !isToken(b) {
				c.add(IndexPath(at, i), "%s is no anthropic-beta value", quote(b))
			}
		}
		uniqueFold(c, at, p.Betas[endpoint])
	}
	for i, d := range p.DroppedParams {
		if err := CheckText(d, maxNameChars); err != nil {
			c.add(IndexPath("droppedParams", i), "the parameter's name %s", err)
		}
	}
	if p.HealthProbe == nil {
		return
	}
	between(c, "healthProbe.intervalSeconds", p.HealthProbe.IntervalSeconds, 0, maxProbeInterval)
	if p.HealthProbe.Model != "" {
		c.err("healthProbe.model", CheckModelName(p.HealthProbe.Model))
	}
}

func checkDataHandling(c *checker, path string, d *DataHandling) {
	if d == nil || d.Jurisdiction == "" {
		return
	}
	if err := CheckText(d.Jurisdiction, maxJurisdiction); err != nil {
		c.add(JoinPath(path, "jurisdiction"), "the jurisdiction %s", err)
	}
}
