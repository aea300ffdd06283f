package catalog

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
)

func mustLoad(tb testing.TB) *Catalog {
	tb.Helper()
	c, err := Load()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func vendor(tb testing.TB, c *Catalog, id string) *Vendor {
	tb.Helper()
	v, ok := c.Vendor(id)
	if !ok {
		tb.Fatalf("no vendor %s", id)
	}
	return v
}

func generic(tb testing.TB, c *Catalog) *Vendor {
	tb.Helper()
	v, err := c.ForProvider("openai-compatible", "")
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func TestForProvider_RT_IMPL_default_patterns(t *testing.T) {
	claude := []string{"claude-*", "anthropic*", "*.anthropic.*", "anthropic/*"}
	gpt := []string{"gpt-*", "o1-*", "o3-*", "o4-*", "chatgpt-*", "openai/*", "o1", "o3", "o4"}
	gemini := []string{"gemini-*", "google/*"}
	anything := []string{"*"}
	for _, row := range []struct {
		typ, vendor string
		format      llm.Format
		family      llm.Family
		patterns    []string
	}{
		{"anthropic", "", "", "anthropic", claude},
		{"bedrock", "", "", "anthropic", claude},
		{"vertex", "", llm.AnthropicMessages, "anthropic", claude},
		{"vertex", "", llm.Gemini, "google", gemini},
		{"vertex", "", "", "", slices.Concat(claude, gemini)},
		{"azure-foundry", "", llm.AnthropicMessages, "anthropic", claude},
		{"openai", "", "", "openai", gpt},
		{"chatgpt", "", "", "openai", gpt},
		{"gemini", "", "", "google", gemini},
		{"azure-openai", "", llm.OpenAIChat, "", anything},
		{"azure-foundry", "", llm.OpenAIChat, "", anything},
		{"openai-compatible", "", "", "", anything},
		{"github-copilot", "", "", "", anything},
		{"openai-compatible", "deepseek", "", "deepseek", []string{"deepseek-*"}},
		{"openai-compatible", "zai", "", "zai", []string{"glm-*", "chatglm*", "codegeex*"}},
		{"openai-compatible", "kimi", "", "moonshot", []string{"kimi-*", "moonshot-*"}},
		{"openai-compatible", "groq", "", "", anything},
		// A vendor that names another family, and one that names none.
		{"anthropic", "deepseek", "", "deepseek", []string{"deepseek-*"}},
		{"anthropic", "litellm", llm.AnthropicMessages, "anthropic", claude},
		{"openai", "openrouter", "", "openai", gpt},
	} {
		v, err := mustLoad(t).ForProvider(row.typ, row.vendor)
		if err != nil {
			t.Errorf("%s, %s: %v", row.typ, row.vendor, err)
			continue
		}
		if got := v.FamilyFor(row.format); got != row.family {
			t.Errorf("%s, %s, %s: family %q, want %q", row.typ, row.vendor, row.format, got, row.family)
		}
		if diff := cmp.Diff(row.patterns, v.PatternsFor(row.format)); diff != "" {
			t.Errorf("%s, %s, %s: %s", row.typ, row.vendor, row.format, diff)
		}
	}
}

func TestForProvider_keeps_the_vendor_under_a_type_with_a_family(t *testing.T) {
	c := mustLoad(t)
	v, err := c.ForProvider("anthropic", "litellm")
	if err != nil {
		t.Fatal(err)
	}
	if v.ID != "litellm" || v.Classifier() != vendor(t, c, "litellm").Classifier() {
		t.Errorf("got %s", v.ID)
	}
	if plain := vendor(t, c, "litellm"); plain.Family != llm.FamilyNone {
		t.Errorf("the entry itself changed: family %q", plain.Family)
	}
}

func TestForProvider_refuses(t *testing.T) {
	c := mustLoad(t)
	for _, row := range [][2]string{
		{"smtp", ""},
		{"openai-compatible", "nobody"},
		{"openai-compatible", "generic"},
		{"openai-compatible", "bedrock"},
		{"gemini", "deepseek"},
	} {
		if v, err := c.ForProvider(row[0], row[1]); err == nil {
			t.Errorf("type %s, vendor %s: got %s, want an error", row[0], row[1], v.ID)
		}
	}
}

func TestSelectable_is_the_list_of_chapter_10(t *testing.T) {
	want := []string{"cerebras", "deepseek", "fireworks", "groq", "kimi", "litellm", "mistral", "ollama", "openrouter", "together", "vllm", "xai", "zai"}
	if diff := cmp.Diff(want, mustLoad(t).Selectable()); diff != "" {
		t.Error(diff)
	}
}

func TestVendor_base_url_and_auth(t *testing.T) {
	c := mustLoad(t)
	for _, row := range []struct {
		id     string
		format llm.Format
		url    string
		auth   Auth
	}{
		{"anthropic", llm.AnthropicMessages, "https://api.anthropic.com", Auth{"x-api-key", ""}},
		{"openai", llm.OpenAIChat, "https://api.openai.com/v1", Auth{"authorization", "Bearer "}},
		{"deepseek", llm.AnthropicMessages, "https://api.deepseek.com/anthropic", Auth{"authorization", "Bearer "}},
		{"zai", llm.OpenAIChat, "https://api.z.ai/api/paas/v4", Auth{"authorization", "Bearer "}},
		{"gemini", llm.Gemini, "https://generativelanguage.googleapis.com/v1beta", Auth{"x-goog-api-key", ""}},
		{"azure", llm.OpenAIChat, "", Auth{"api-key", ""}},
		{"groq", llm.AnthropicMessages, "", Auth{}},
	} {
		v := vendor(t, c, row.id)
		if v.BaseURL(row.format) != row.url || v.Auth(row.format) != row.auth {
			t.Errorf("%s, %s: %q %+v", row.id, row.format, v.BaseURL(row.format), v.Auth(row.format))
		}
	}
	for _, id := range c.IDs() {
		if v := vendor(t, c, id); v.Keyless != (id == "ollama" || id == "vllm") {
			t.Errorf("%s: keyless %v", id, v.Keyless)
		}
	}
	if v := vendor(t, c, "kimi"); !v.Serves(llm.AnthropicMessages) || v.Serves(llm.Gemini) || len(v.Formats()) != 2 {
		t.Errorf("kimi serves %v", v.Formats())
	}
}

func TestClassifierWith_BY_8_an_administrators_row_goes_first(t *testing.T) {
	row := failure.Signal{ID: "ours", Status: []int{429}, Text: []string{"Fair Share"}, Category: failure.QuotaExhausted}
	v := generic(t, mustLoad(t))
	x := Example{Status: 429, Body: `{"error":{"message":"over your fair share"}}`}
	if f := v.Classifier().Classify(x.Answer()); f.Category != failure.RateLimit {
		t.Errorf("without the row: %s", f)
	}
	c, err := v.ClassifierWith([]failure.Signal{row})
	if err != nil {
		t.Fatal(err)
	}
	if f, why := c.Explain(x.Answer()); f.Category != failure.QuotaExhausted || why != "ours" {
		t.Errorf("with the row: %s by %s", f, why)
	}
	row.ID = "generic/credit-text"
	if _, err := v.ClassifierWith([]failure.Signal{row}); err == nil {
		t.Error("a taken id is accepted")
	}
}
