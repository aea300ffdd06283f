package resource_test

import (
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/resource"
)

func provider(change func(*resource.Provider)) *resource.Provider {
	p := &resource.Provider{Meta: meta("Provider", "p"), Type: resource.TypeOpenAI}
	change(p)
	return p
}

func TestProviderCheck(t *testing.T) {
	type P = resource.Provider
	runChecks(t, []checkCase{
		{"takes the least", provider(func(*P) {}), nil},
		{"takes a full one", provider(func(p *P) {
			p.APIKey, p.BaseURL, p.Residency = "env:KEY", "https://api.example/v1", "eu"
			p.ModelPatterns, p.ModelAliases = []string{"gpt-*"}, map[string]string{"fast": "gpt-5-mini"}
			p.Timeouts = &resource.Timeouts{ConnectMs: new(0), TotalMs: new(86_400_000)}
			p.Headers = map[string]string{"x-team": "platform", "OpenAI-Organization": "org"}
			p.OpenAI = &resource.OpenAISettings{Organization: "org"}
			p.ProxyURL = "http://proxy.example:3128"
		}), nil},
		{"needs name and type", &P{Meta: meta("Provider", "")}, [][2]string{{"name", "missing"}, {"type", "write anthropic, openai"}}},
		{"refuses reserved names", provider(func(p *P) { p.Name = "openai-family" }), [][2]string{{"name", "reserved"}}},
		{"refuses unknown types and formats", provider(func(p *P) { p.Type, p.WireFormat = "opnai", "soap" }), [][2]string{
			{"type", `"opnai" is not known`}, {"wireFormat", "anthropic-messages, openai-chat or openai-responses"},
		}},
		{"wants a URL for an unknown vendor", provider(func(p *P) { p.Type = resource.TypeOpenAICompatible }), [][2]string{{"baseUrl", "needs a baseUrl"}}},
		{"takes a vendor instead", provider(func(p *P) { p.Type, p.Vendor = resource.TypeOpenAICompatible, "groq" }), nil},
		{"refuses a vendor of another transport", provider(func(p *P) { p.Type, p.Vendor = resource.TypeBedrock, "groq" }), [][2]string{{"vendor", "not for bedrock"}}},
		{"refuses settings of another type", provider(func(p *P) { p.AWS, p.Azure = &resource.AWSSettings{}, &resource.AzureSettings{} }), [][2]string{
			{"aws", "for type bedrock"}, {"azure", "azure-openai or azure-foundry"},
		}},
		{"RS-PROV-5 refuses a metadata address", provider(func(p *P) { p.BaseURL = "http://169.254.169.254/" }), [][2]string{{"baseUrl", "link-local"}}},
		{"RS-PROV-5 refuses it for a proxy, too", provider(func(p *P) { p.ProxyURL = "http://169.254.169.254:80" }), [][2]string{{"proxyUrl", "link-local"}}},
		{"refuses a password in a proxy's URL", provider(func(p *P) { p.ProxyURL = "http://u:hunter2@proxy" }), [][2]string{{"proxyUrl", "password"}}},
		{"refuses times out of range", provider(func(p *P) {
			p.Timeouts = &resource.Timeouts{ConnectMs: new(-1), ResponseHeaderMs: new(86_400_001), StreamIdleMs: new(-5), TotalMs: new(1 << 40)}
		}), [][2]string{
			{"timeouts.connectMs", "-1 is out of range; write 0 to 86400000 milliseconds (24 hours)"},
			{"timeouts.responseHeaderMs", "86400001"},
			{"timeouts.streamIdleMs", "-5"},
			{"timeouts.totalMs", "24 hours"},
		}},
		{"refuses bad models", provider(func(p *P) {
			p.ModelPatterns = []string{"gpt-*-x", "A", "a"}
			p.ModelAliases = map[string]string{"a*": "x", "ok": "", "Fast": "x", "fast": "y"}
			p.StaticModels = []string{"gpt-*"}
			p.ContextWindows = map[string]int{"gpt-4.1": 0, "o3": 1, "O3": 2}
		}), [][2]string{
			{"modelPatterns[0]", "inside"},
			{`modelAliases["a*"]`, "has a *"},
			{"modelAliases.ok", "is empty"},
			{"modelAliases.fast", "repeats"},
			{"staticModels[0]", "has a *"},
			{`contextWindows["gpt-4.1"]`, "out of range"},
			{"contextWindows.o3", `"o3" repeats "O3"`},
		}},
		{"refuses odd residency and limits", provider(func(p *P) {
			p.Residency, p.MaxConcurrent, p.HealthProbe = "Sweden!", -1, &resource.HealthProbe{IntervalSeconds: -1}
			p.Betas = map[string][]string{"messages": {"ok-1", "not ok"}}
			p.DataHandling = &resource.DataHandling{Jurisdiction: strings.Repeat("x", 65)}
		}), [][2]string{
			{"maxConcurrent", "-1"},
			{"residency", "is no name"},
			{"dataHandling.jurisdiction", "65 characters"},
			{"betas.messages[1]", "anthropic-beta"},
			{"healthProbe.intervalSeconds", "-1"},
		}},
	})
}

func TestProviderHeaders(t *testing.T) {
	refused := map[string]string{
		"Authorization": "credential", "x-api-key": "credential", "API-Key": "credential", "x-goog-api-key": "credential",
		"Cookie": "credential", "Proxy-Authorization": "credential", "cf-aig-authorization": "credential", "x-auth-token": "credential",
		"x-client-secret": "credential", "ocp-apim-subscription-key": "credential", "Helicone-Auth": "credential", "x-functions-key": "credential",
		"x-subscription-key": "credential", "x_api_key": "credential", "x.session.token": "credential", "x-apikey": "credential", "X-MySecret": "credential",
		"x-user-password": "credential", "x-aws-credentials": "credential", "set-cookie": "credential", "x-bearer": "credential", "Host": "set by the gateway", "Content-Length": "set by the gateway",
		"content-type": "set by the gateway", "Connection": "set by the gateway", "TE": "set by the gateway",
		"Transfer-Encoding": "set by the gateway", "Upgrade": "set by the gateway", "Keep-Alive": "set by the gateway",
		"Trailer": "set by the gateway", "accept-encoding": "set by the gateway",
		"X-Interlock-Key": "Interlock's own", "bad header": "no name", "": "no name", "x\n": "no name", "é": "no name",
	}
	for name, say := range refused {
		t.Run("refuses "+name, func(t *testing.T) {
			ps := provider(func(p *resource.Provider) { p.Headers = map[string]string{name: "v"} }).Check()
			if len(ps) != 1 || !strings.Contains(ps[0].Message, say) || ps[0].Path != resource.JoinPath("headers", name) {
				t.Errorf("got %v", resource.Problems(ps))
			}
		})
	}
	for _, name := range []string{
		"x-tokens-per-minute", "openai-beta", "anthropic-beta", "http-referer", "HTTP-Referer", "x-title", "X-Title", "anthropic-version", "openai-organization",
		"x-goog-user-project", "cf-aig-cache-ttl", "helicone-cache-enabled", "x-author", "x-monkey", "x-keyboard", "x-cache-keys", "x-max-tokens", "user-agent", "accept",
	} {
		if ps := provider(func(p *resource.Provider) { p.Headers = map[string]string{name: "v"} }).Check(); len(ps) > 0 {
			t.Errorf("RS-PROV %s: %v", name, resource.Problems(ps))
		}
	}
	for _, value := range []string{"a\r\nX-Evil: 1", "a\nb", "a\x00", "smörgås", strings.Repeat("x", 4097)} {
		ps := provider(func(p *resource.Provider) { p.Headers = map[string]string{"x-a": value} }).Check()
		if len(ps) != 1 || ps[0].Path != "headers.x-a" {
			t.Errorf("value %.20q: got %v", value, resource.Problems(ps))
		}
	}
	ps := provider(func(p *resource.Provider) { p.Headers = map[string]string{"X-A": "1", "x-a": "2"} }).Check()
	if len(ps) != 1 || !strings.Contains(ps[0].Message, "ignore case") {
		t.Errorf("got %v", resource.Problems(ps))
	}
}

func TestProviderKey(t *testing.T) {
	anthropic := func(change func(*resource.Provider)) *resource.Provider {
		return provider(func(p *resource.Provider) { p.Type = resource.TypeAnthropic; change(p) })
	}
	cases := []struct {
		name     string
		provider *resource.Provider
		key      string
		ok       bool
	}{
		{"RS-PROV-1 takes sk-ant-", anthropic(func(*resource.Provider) {}), "sk-ant-api03-x", true},
		{"RS-PROV-1 takes an OAuth token", anthropic(func(*resource.Provider) {}), "sk-ant-oat01-x", true},
		{"RS-PROV-1 takes none", anthropic(func(*resource.Provider) {}), "", true},
		{"RS-PROV-1 refuses another vendor's key", anthropic(func(*resource.Provider) {}), "sk-proj-x", false},
		{"RS-PROV-1 refuses it on Anthropic's URL", anthropic(func(p *resource.Provider) { p.BaseURL = "https://API.anthropic.com./v1" }), "x", false},
		{"RS-PROV-1 takes any key on a custom URL", anthropic(func(p *resource.Provider) { p.BaseURL = "https://llm.example" }), "x", true},
		{"RS-PROV-1 is not fooled by a similar host", anthropic(func(p *resource.Provider) { p.BaseURL = "https://notanthropic.com" }), "x", true},
		{"RS-PROV-1 takes any key for another vendor's URL", anthropic(func(p *resource.Provider) { p.Vendor = "deepseek" }), "x", true},
		{"RS-PROV-1 is about anthropic providers", provider(func(*resource.Provider) {}), "x", true},
		{"refuses a line break", provider(func(*resource.Provider) {}), "sk-x\n", false},
		{"refuses what does not fit in a header", provider(func(*resource.Provider) {}), "nyckel-å", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := resource.CheckProviderKey(c.provider, c.key)
			if (err == nil) != c.ok {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), c.key) {
				t.Errorf("the message shows the key: %v", err)
			}
		})
	}
	t.Run("RS-PROV-1 holds for a literal", func(t *testing.T) {
		runChecks(t, []checkCase{{
			"literal", anthropic(func(p *resource.Provider) { p.APIKey = "sk-proj-1234" }), [][2]string{{"apiKey", "sk-ant-"}},
		}})
	})
}

func TestCheckSecretRef(t *testing.T) {
	for _, ref := range []string{"env:A", "env:_a1", "file:/run/x", "file:relative path", "sk-ant-literal"} {
		if err := resource.CheckSecretRef(ref); err != nil {
			t.Errorf("CheckSecretRef(%q) = %v", ref, err)
		}
	}
	for ref, say := range map[string]string{
		"env:": "name of an environment variable", "env:MY-KEY": "letters, digits and _", "env: KEY": "letters", "env:1A": "letters",
		"ENV:KEY": "lower case", " env:KEY": "lower case", "file:": "path", "File:/x": "lower case", "${KEY}": "not expanded",
		"$KEY": "not expanded", "sk-${KEY}": "not expanded", "***": "mask", "••••": "mask", "two words": "space", "å": "ASCII",
	} {
		err := resource.CheckSecretRef(ref)
		if err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("CheckSecretRef(%q) = %v; want %q in it", ref, err, say)
		}
	}
	for _, leak := range []string{"env:sk-ant-hunter2", "ENV:sk-ant-hunter2", "${sk-ant-hunter2}", "hunter2 space"} {
		if err := resource.CheckSecretRef(leak); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("CheckSecretRef(%q) shows it: %v", leak, err)
		}
	}
}
