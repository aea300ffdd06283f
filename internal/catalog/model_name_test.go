package catalog

import (
	"strings"
	"testing"
)

func normalName(lower string) string {
	f := formsOf(lower)
	return f.list[f.n-1]
}

func TestFormsOf_RS_MODEL_rules(t *testing.T) {
	for name, want := range map[string]string{
		// In front: who offers it.
		"anthropic/claude-x":                   "claude-x",
		"openai/gpt-oss-120b":                  "gpt-oss-120b",
		"vertex_ai/claude-x":                   "claude-x",
		"bedrock/claude-x":                     "claude-x",
		"models/gemini-x":                      "gemini-x",
		"azure/gpt-x":                          "gpt-x",
		"google/gemini-x":                      "gemini-x",
		"z-ai/glm-x":                           "glm-x",
		"openrouter/anthropic/claude-x":        "claude-x",
		"publishers/anthropic/models/claude-x": "claude-x",
		"projects/p/locations/eu/publishers/google/models/gemini-x":                "gemini-x",
		"accounts/fireworks/models/glm-x":                                          "glm-x",
		"fireworks_ai/accounts/fireworks/models/glm-x":                             "glm-x",
		"arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-x-v1:0": "claude-x",
		"arn:aws-us-gov:bedrock:r::foundation-model/anthropic.claude-x":            "claude-x",
		"my-company/claude-x":  "my-company/claude-x",
		"accounts/claude-x":    "accounts/claude-x",
		"ft:gpt-4o:acme::abc1": "ft:gpt-4o:acme::abc1",
		// In front: where Bedrock serves it, and whose it is.
		"us.anthropic.claude-x":     "claude-x",
		"eu.anthropic.claude-x":     "claude-x",
		"apac.anthropic.claude-x":   "claude-x",
		"jp.anthropic.claude-x":     "claude-x",
		"au.anthropic.claude-x":     "claude-x",
		"global.anthropic.claude-x": "claude-x",
		"us-gov.anthropic.claude-x": "claude-x",
		"sa.anthropic.claude-x":     "sa.anthropic.claude-x",
		"meta.llama-x":              "llama-x",
		"mistral.mistral-x":         "mistral-x",
		"deepseek.deepseek-x":       "deepseek-x",
		"qwen.qwen3-x":              "qwen3-x",
		"zai.glm-x":                 "glm-x",
		"moonshotai.kimi-x":         "kimi-x",
		"openai.gpt-oss-20b":        "gpt-oss-20b",
		"qwen3.6-plus":              "qwen3.6-plus",
		// Behind: which build.
		"claude-x@20251101":      "claude-x",
		"claude-x@default":       "claude-x",
		"claude-x-20251101-v1:0": "claude-x",
		"claude-x-v1":            "claude-x",
		"claude-x-v2:0":          "claude-x",
		"claude-x-20251101":      "claude-x",
		"gpt-x-2026-01-31":       "gpt-x",
		"claude-x-latest":        "claude-x",
		"deepseek-v4":            "deepseek-v4",
		"embed-english-v3.0":     "embed-english-v3.0",
		"moonshot-v1-8k":         "moonshot-v1-8k",
		"claude-x-20251301":      "claude-x-20251301",
		"claude-x-20250100":      "claude-x-20250100",
		"claude-x-19991231":      "claude-x-19991231",
		"model-12345678":         "model-12345678",
		"gpt-x-2026-13-31":       "gpt-x-2026-13-31",
		"gpt-x-26-01-31":         "gpt-x-26-01-31",
		"mistral-medium-2604":    "mistral-medium-2604",
		"gemini-2.0-flash-001":   "gemini-2.0-flash-001",
		"claude-x@20251101-v1:0": "claude-x",
		"claude-x20251101":       "claude-x20251101",
		// Behind: what a client or a broker added.
		"claude-x[1m]":             "claude-x",
		"claude-x[2m]":             "claude-x[2m]",
		"deepseek/deepseek-x:free": "deepseek-x",
		"x:nitro":                  "x",
		"x:thinking":               "x",
		"x:online":                 "x",
		"llama3:70b":               "llama3:70b",
		"us.anthropic.claude-x-20251101-v1:0[1m]": "claude-x",
		// Other models, with other prices.
		"gpt-x-mini": "gpt-x-mini", "gpt-x-codex": "gpt-x-codex", "gpt-oss-x": "gpt-oss-x", "gpt-x-pro": "gpt-x-pro",
		"gemini-x-preview": "gemini-x-preview", "kimi-x-highspeed": "kimi-x-highspeed", "glm-x-flash": "glm-x-flash",
		// Nothing else is there.
		"anthropic/": "anthropic/", "us.": "us.", "us.us.": "us.", "-v1:0": "-v1:0", "[1m]": "[1m]", "-latest": "-latest",
		"@default": "@default", "-20251101": "-20251101", "@20251101": "@20251101", ":free": ":free", "/": "/", "x": "x",
		"publishers/a/models/": "publishers/a/models/", "arn:aws/": "arn:aws/",
	} {
		if got := normalName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}

func TestFormsOf_RS_MODEL_one_part_at_a_time(t *testing.T) {
	f := formsOf("bedrock/us.anthropic.claude-opus-4-5-20251101-v1:0[1m]")
	want := []string{
		"bedrock/us.anthropic.claude-opus-4-5-20251101-v1:0[1m]",
		"us.anthropic.claude-opus-4-5-20251101-v1:0[1m]",
		"anthropic.claude-opus-4-5-20251101-v1:0[1m]",
		"claude-opus-4-5-20251101-v1:0[1m]",
		"claude-opus-4-5-20251101-v1:0",
		"claude-opus-4-5-20251101",
		"claude-opus-4-5",
	}
	if got := strings.Join(f.all(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("forms:\n%s", got)
	}
	if f.heads.n != 4 || f.tails.n != 4 {
		t.Errorf("%d heads, %d tails", f.heads.n, f.tails.n)
	}
	if long := strings.Repeat("us.", 100) + "x-latest"; normalName(long) != "x" {
		t.Errorf("a name of many parts becomes %q", normalName(long))
	}
}

// FuzzFormsOf: any name has forms; the last one is its own.
func FuzzFormsOf(f *testing.F) {
	for _, name := range []string{
		"us.anthropic.claude-opus-4-5-20251101-v1:0[1m]", "projects/p/publishers/x/models/gemini@default", "gpt-4o-2024-05-13",
		"openrouter/deepseek/deepseek-v4-flash:free", "-latest-latest", "us.us.", "arn:aws:/-v1", "\xff-v1:0", "İ@20251101",
	} {
		f.Add(name)
	}
	models, err := LoadModels()
	if err != nil {
		f.Fatal(err)
	}
	models = models.With([]Model{{Name: "us.*", ContextWindow: 1}, {Name: "*-v1:0", ContextWindow: 2}, {Name: "a", ContextWindow: 3}})
	f.Fuzz(func(t *testing.T, name string) {
		m, ok := models.Find("bedrock", name)
		if !ok && m != (Model{}) {
			t.Errorf("not found, and %+v", m)
		}
		lower := strings.ToLower(name)
		if lower == "" {
			return
		}
		forms := formsOf(lower)
		for i, n := range forms.all() {
			if n == "" || i > 0 && len(n) >= len(forms.list[i-1]) || !strings.Contains(lower, n) {
				t.Fatalf("%q: form %d is %q", name, i, n)
			}
		}
		last := normalName(lower)
		if again := normalName(last); again != last {
			t.Errorf("%q becomes %q, that %q", name, last, again)
		}
		if upper, _ := models.Find("bedrock", strings.ToUpper(lower)); strings.ToLower(strings.ToUpper(lower)) == lower && upper != m {
			t.Errorf("%q in upper case is another model", name)
		}
		if short, found := models.Find("bedrock", last); found && !ok {
			t.Errorf("%q finds nothing, %q finds %s", name, last, short.Name)
		}
	})
}
