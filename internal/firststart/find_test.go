package firststart_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/firststart"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/upstream/drivers"
)

func load(t *testing.T) (*catalog.Catalog, *catalog.Models) {
	t.Helper()
	vendors, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	models, err := catalog.LoadModels()
	if err != nil {
		t.Fatal(err)
	}
	return vendors, models
}

func find(t *testing.T, vars map[string]string) firststart.Found {
	t.Helper()
	vendors, models := load(t)
	return firststart.Find(firststart.Options{
		Vendors: vendors, Models: models, Drivers: drivers.All(),
		Resolve: func(ref string) (secret.String, error) {
			v := vars[strings.TrimPrefix(ref, "env:")]
			if v == "" {
				return secret.String{}, errors.New("it is not set")
			}
			return secret.New(v), nil
		},
		Set: func(name string) bool { return vars[name] != "" },
	})
}

func TestOP_1_each_variable_makes_its_provider(t *testing.T) {
	for env, want := range map[string]struct {
		name, vendor string
		typ          resource.ProviderType
	}{
		"ANTHROPIC_API_KEY":  {"anthropic", "", resource.TypeAnthropic},
		"OPENAI_API_KEY":     {"openai", "", resource.TypeOpenAI},
		"DEEPSEEK_API_KEY":   {"deepseek", "deepseek", resource.TypeOpenAICompatible},
		"GROQ_API_KEY":       {"groq", "groq", resource.TypeOpenAICompatible},
		"XAI_API_KEY":        {"xai", "xai", resource.TypeOpenAICompatible},
		"MISTRAL_API_KEY":    {"mistral", "mistral", resource.TypeOpenAICompatible},
		"TOGETHER_API_KEY":   {"together", "together", resource.TypeOpenAICompatible},
		"FIREWORKS_API_KEY":  {"fireworks", "fireworks", resource.TypeOpenAICompatible},
		"OPENROUTER_API_KEY": {"openrouter", "openrouter", resource.TypeOpenAICompatible},
		"CEREBRAS_API_KEY":   {"cerebras", "cerebras", resource.TypeOpenAICompatible},
		"ZAI_API_KEY":        {"zai", "zai", resource.TypeOpenAICompatible},
		"ZHIPUAI_API_KEY":    {"zai", "zai", resource.TypeOpenAICompatible},
		"MOONSHOT_API_KEY":   {"kimi", "kimi", resource.TypeOpenAICompatible},
	} {
		found := find(t, map[string]string{env: "sk-some-key", "HOME": "/home/anna"})
		if len(found.Providers) != 1 || len(found.Skipped) > 0 {
			t.Errorf("%s: %d providers, left out %v", env, len(found.Providers), found.Skipped)
			continue
		}
		p := found.Providers[0]
		if p.Name != want.name || p.Type != want.typ || p.Provider.Vendor != want.vendor {
			t.Errorf("%s: provider %q of type %s, vendor %q", env, p.Name, p.Type, p.Provider.Vendor)
		}
		if p.APIKey != "env:"+env { // a reference, not a copy
			t.Errorf("%s: the key is another reference", env)
		}
	}
}

func TestOP_1_what_makes_no_provider_has_a_reason(t *testing.T) {
	found := find(t, map[string]string{"GEMINI_API_KEY": "k", "OPENAI_API_KEY": "ilk_abc", "XAI_API_KEY": "two words"})
	if len(found.Providers) > 0 {
		t.Fatalf("providers: %v", found.Providers)
	}
	var got []string
	for _, s := range found.Skipped {
		got = append(got, s.Env+": "+s.Why)
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		"GEMINI_API_KEY: this version has no providers of type gemini yet",
		"OPENAI_API_KEY: it holds a key of Interlock",
		"XAI_API_KEY: its value is no key: the secret has a space",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in:\n%s", want, all)
		}
	}
	if strings.Contains(all, "words") || strings.Contains(all, "abc") {
		t.Errorf("a value is repeated:\n%s", all)
	}
}

// TestOP_1_everything_at_once: whatever is set, each provider serves the model
// that is tried first, and no model is served equally well by two.
func TestOP_1_everything_at_once(t *testing.T) {
	vendors, models := load(t)
	vars := map[string]string{}
	for _, name := range firststart.Variables(vendors, drivers.All()) {
		vars[name] = "sk-some-key"
	}
	found := find(t, vars)
	if len(found.Providers) != len(vars) || len(vars) < 12 {
		t.Fatalf("%d providers of %d variables", len(found.Providers), len(vars))
	}
	if found.Providers[0].Name != "anthropic" || found.Providers[1].Name != "openai" {
		t.Errorf("%s and %s come first", found.Providers[0].Name, found.Providers[1].Name)
	}
	live, problems := snapshot.Compile(found.Documents(), snapshot.Deps{
		Revision: 1, Catalog: vendors, Models: models, Drivers: drivers.All(),
		Resolve: func(resource.Object, string) (secret.String, error) { return secret.New("sk-ant-x"), nil },
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(live.Warnings) > 0 {
		t.Errorf("warnings: %v", live.Warnings)
	}
	owner := map[string]string{}
	for _, p := range found.Providers {
		if !p.Vendor.Serves(p.Format) || p.Model == "" {
			t.Errorf("%s has nothing to try", p.Name)
		}
		for _, pattern := range p.Serves {
			if by := owner[strings.ToLower(pattern)]; by != "" {
				t.Errorf("%s and %s both serve %s", by, p.Name, pattern)
			}
			owner[strings.ToLower(pattern)] = p.Name
		}
	}
	if owner["*"] != "fireworks" { // the first host whose models nobody lists
		t.Errorf("%q serves everything else", owner["*"])
	}
	for _, p := range found.Providers {
		if len(p.ModelPatterns) > 0 && !slices.Contains(p.Serves, p.Model) {
			t.Errorf("%s does not serve %s", p.Name, p.Model)
		}
	}
}
