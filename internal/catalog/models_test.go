package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/llm"
)

func find(tb testing.TB, t *Models, vendor, name string) Model {
	tb.Helper()
	m, ok := t.Find(vendor, name)
	if !ok {
		tb.Fatalf("%s, %q: not found", vendor, name)
	}
	return m
}

func TestFind_RT_FILTER_claude_ids_of_every_platform(t *testing.T) {
	const k, m = 1_000, 1_000_000
	models := mustLoadModels(t)
	for _, row := range []struct {
		first, bedrock, vertex string
		window, out            int
	}{
		{"claude-fable-5-1", "anthropic.claude-fable-5-1", "claude-fable-5-1", m, 128 * k},
		{"claude-fable-5", "anthropic.claude-fable-5", "claude-fable-5", m, 128 * k},
		{"claude-mythos-5", "", "claude-mythos-5", m, 128 * k},
		{"claude-opus-5-5", "anthropic.claude-opus-5-5", "claude-opus-5-5", m, 128 * k},
		{"claude-opus-5", "anthropic.claude-opus-5", "claude-opus-5", m, 128 * k},
		{"claude-opus-4-8", "anthropic.claude-opus-4-8", "claude-opus-4-8", m, 128 * k},
		{"claude-opus-4-7", "anthropic.claude-opus-4-7", "claude-opus-4-7", m, 128 * k},
		{"claude-opus-4-6", "anthropic.claude-opus-4-6-v1", "claude-opus-4-6", m, 128 * k},
		{"claude-opus-4-5-20251101", "anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5@20251101", 200 * k, 64 * k},
		{"claude-opus-4-1-20250805", "anthropic.claude-opus-4-1-20250805-v1:0", "claude-opus-4-1@20250805", 200 * k, 32 * k},
		{"claude-sonnet-5-5", "anthropic.claude-sonnet-5-5", "claude-sonnet-5-5", m, 128 * k},
		{"claude-sonnet-5", "anthropic.claude-sonnet-5", "claude-sonnet-5", m, 128 * k},
		{"claude-sonnet-4-6", "anthropic.claude-sonnet-4-6", "claude-sonnet-4-6", m, 128 * k},
		{"claude-sonnet-4-5-20250929", "anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5@20250929", 200 * k, 64 * k},
		{"claude-haiku-5-5", "anthropic.claude-haiku-5-5", "claude-haiku-5-5", 0, 0},
		{"claude-haiku-4-5-20251001", "anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5@20251001", 200 * k, 64 * k},
	} {
		want := find(t, models, "", row.first)
		if want.ContextWindow != row.window || want.MaxOutputTokens != row.out || want.Family != llm.FamilyAnthropic || want.Modality != ModalityChat {
			t.Errorf("%s: %+v", row.first, want)
		}
		if _, _, known := want.ListPrice(); !known {
			t.Errorf("%s has no price", row.first)
		}
		undated := cutDate(row.first)
		ids := map[string][]string{
			"anthropic": {row.first, undated, strings.ToUpper(row.first)},
			"azure":     {row.first},
			"vertex":    {row.vertex, undated + "@default", "publishers/anthropic/models/" + row.vertex},
			"copilot":   {undated},
			"litellm":   {"anthropic/" + row.first, "vertex_ai/" + row.vertex},
		}
		if row.bedrock != "" {
			for _, region := range []string{"", "us.", "eu.", "apac.", "jp.", "au.", "global.", "us-gov."} {
				ids["bedrock"] = append(ids["bedrock"], region+row.bedrock)
			}
			ids["bedrock"] = append(ids["bedrock"], "arn:aws:bedrock:eu-north-1:123456789012:inference-profile/eu."+row.bedrock)
		}
		for vendor, names := range ids {
			for _, n := range names {
				got := find(t, models, vendor, n)
				if got.Estimated != (vendor == "copilot" || vendor == "litellm") {
					t.Errorf("%s, %s: estimated %v", vendor, n, got.Estimated)
				}
				got.Estimated = false
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s, %s is not %s: %s", vendor, n, row.first, d)
				}
			}
		}
	}
}

func TestFind_RT_FILTER_the_long_context_marker(t *testing.T) {
	models := mustLoadModels(t)
	for name, want := range map[string]int{
		"claude-sonnet-4-5":                                       200_000,
		"claude-sonnet-4-5[1m]":                                   1_000_000,
		"claude-sonnet-4-5-20250929[1m]":                          1_000_000,
		"claude-sonnet-4-5@20250929[1m]":                          1_000_000,
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]":        1_000_000,
		"claude-opus-4-5[1m]":                                     200_000, // it has no such beta
		"claude-opus-4-8[1m]":                                     1_000_000,
		"eu.anthropic.claude-opus-4-6-v1[1m]":                     1_000_000,
		"projects/p/locations/l/publishers/x/models/gemini-3-pro": 0,
	} {
		if m := find(t, models, "", name); m.ContextWindow != want {
			t.Errorf("%s: %d, want %d", name, m.ContextWindow, want)
		}
	}
}

func TestFind_RS_MODEL_kinds_by_name(t *testing.T) {
	models := mustLoadModels(t)
	for name, want := range map[string]string{
		"claude-next-9":                 "chat anthropic",
		"text-embedding-3-small":        "embedding openai",
		"text-embedding-ada-002":        "embedding openai",
		"text-embedding-005":            "embedding google",
		"gemini-embedding-001":          "embedding google",
		"models/gemini-embedding-2":     "embedding google",
		"dall-e-3":                      "image openai",
		"gpt-image-1":                   "image openai",
		"openai/gpt-image-1-mini":       "image openai",
		"imagen-4.0-generate-001":       "image google",
		"whisper-1":                     "audio openai",
		"whisper-large-v3":              "audio openai",
		"tts-1-hd":                      "audio openai",
		"gpt-4o-transcribe":             "audio openai",
		"gpt-4o-transcribe-diarize":     "audio openai",
		"gpt-4o-mini-transcribe":        "audio openai",
		"gpt-4o-mini-tts-2025-12-15":    "audio openai",
		"gpt-4o-mini":                   "chat openai",
		"gpt-7":                         " openai", // could be any kind
		"o1":                            " openai",
		"o3-pro":                        " openai",
		"chatgpt-4o-latest":             " openai",
		"gpt-oss-120b":                  "chat gpt-oss",
		"openai.gpt-oss-120b-1:0":       "chat gpt-oss",
		"gemini-2.5-flash-image":        " google",
		"gemma-3-27b-it":                " google",
		"deepseek-v9":                   " deepseek",
		"kimi-k9":                       " moonshot",
		"glm-9":                         " zai",
		"grok-9":                        " xai",
		"magistral-small-2509":          " mistral",
		"mistral-embed":                 "embedding mistral",
		"rerank-v3.5":                   "rerank ",
		"cohere.rerank-v3-5:0":          "rerank ",
		"cohere.embed-multilingual-v3":  "embedding cohere",
		"meta.llama-3-70b-v1:0":         " meta",
		"qwen/qwen3-coder":              " qwen",
		"qwen3-embedding-8b":            "embedding qwen",
		"bge-reranker-v2-m3":            "rerank ",
		"amazon.titan-embed-text-v2:0":  "embedding amazon",
		"accounts/fireworks/models/glm": "",
		"my-company-7b":                 "",
		"":                              "",
	} {
		m, ok := models.Find("", name)
		got := strings.TrimSuffix(m.Modality+" "+string(m.Family), map[bool]string{false: " "}[ok])
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		if ok != (want != "") {
			t.Errorf("%q: found %v", name, ok)
		}
	}
}

func TestFind_RT_STRAT_COST_hosts_have_prices_of_their_own(t *testing.T) {
	models := mustLoadModels(t)
	for _, row := range []struct {
		vendor, name string
		in, out      float64
		known        bool
		estimated    bool
	}{
		{"groq", "openai/gpt-oss-120b", 0.15, 0.6, true, false},
		{"groq", "groq/openai/gpt-oss-120b", 0.15, 0.6, true, false},
		{"groq", "GPT-OSS-120B", 0.15, 0.6, true, false},
		{"cerebras", "gpt-oss-120b", 0.35, 0.75, true, false},
		{"cerebras", "openai/gpt-oss-120b", 0.35, 0.75, true, false},
		{"together", "openai/gpt-oss-120b", 0, 0, false, false},
		{"", "gpt-oss-120b", 0, 0, false, false},
		{"cerebras", "gpt-oss-20b", 0, 0, false, false},
		{"groq", "gpt-5-mini", 0.25, 2, true, true},
		{"openrouter", "deepseek/deepseek-v4-flash:free", 0.14, 0.28, true, true},
		{"ollama", "glm-4.6", 0.6, 2.2, true, true},
		{"azure", "gpt-5-mini", 0.25, 2, true, false},
		{"openai", "text-embedding-3-small", 0.02, 0, true, false},
		{"openai", "gpt-7", 0, 0, false, false},
	} {
		m := find(t, models, row.vendor, row.name)
		in, out, known := m.ListPrice()
		if in != row.in || out != row.out || known != row.known || m.Estimated != row.estimated {
			t.Errorf("%s, %s: %v/%v (%v), estimated %v", row.vendor, row.name, in, out, known, m.Estimated)
		}
	}
}

// A rule that strips too much would price one model as another.
func TestFind_RT_STRAT_COST_no_row_is_taken_for_another(t *testing.T) {
	models := mustLoadModels(t)
	for _, k := range builtIn(models) {
		e := models.layers[0].exact[k]
		f := formsOf(k.name)
		for _, form := range f.all()[1:] {
			for _, vendor := range []string{k.vendor, ""} {
				if o := models.layers[0].exact[vendorName{vendor, form}]; o != nil && o.model != e.model && !strings.HasSuffix(k.name, "[1m]") {
					t.Errorf("%s becomes %s, which is another model", k.name, form)
				}
			}
		}
	}
	for _, name := range []string{
		"gpt-5.2-codex", "gpt-5.1-codex-mini", "gpt-5-pro", "gpt-4o-audio-preview", "o3-mini", "glm-4.5", "grok-4",
		"mistral-medium", "mistral-large", "mistral-large-2411", "devstral-small-2512", "deepseek-v4", "kimi-k2", "claude-opus-4",
		"claude-sonnet-4-20250514", "claude-3-5-haiku-20241022", "gemini-2.0-flash-001", "gemini-3-pro-preview", "claude-haiku-5",
	} {
		if m := find(t, models, "", name); !m.Prices.none() || m.ContextWindow != 0 {
			t.Errorf("%s is taken for %s", name, m.Name)
		}
	}
}

func TestWith_RS_MODEL_an_administrators_entry_wins_field_by_field(t *testing.T) {
	builtIn := mustLoadModels(t)
	before := find(t, builtIn, "anthropic", "claude-opus-4-8")
	models := builtIn.With([]Model{
		{Name: "Claude-Opus-4-8", ContextWindow: 300_000},
		{Name: "gpt-5.5", Prices: Prices{Output: USD(20)}, Source: "our contract"},
		{Name: "glm-4.6", Vendor: "vllm", Prices: Prices{Input: USD(0), Output: USD(0)}},
		{Name: "text-embedding-3-small", Prices: Prices{Input: USD(0.01)}},
		{Name: "claude-opus-4-7", Prices: Prices{CacheRead: USD(0.4)}},
	})

	want := before
	want.Name, want.Source, want.ContextWindow = "Claude-Opus-4-8", before.Source, 300_000
	for vendor, name := range map[string]string{
		"anthropic": "claude-opus-4-8", "bedrock": "global.anthropic.claude-opus-4-8", "vertex": "CLAUDE-opus-4-8@default",
	} {
		if d := cmp.Diff(want, find(t, models, vendor, name)); d != "" {
			t.Errorf("only a window, %s: %s", vendor, d)
		}
	}

	m := find(t, models, "openrouter", "openai/gpt-5.5")
	if m.Prices.Output != USD(20) || m.Prices.Input != USD(5) || m.Prices.CacheRead != USD(0.5) {
		t.Errorf("only an output price: %+v", m.Prices)
	}
	if m.Above != (Tier{}) || m.Source != "our contract" || m.Estimated || m.ContextWindow != 1_050_000 {
		t.Errorf("the rest of it: %+v", m)
	}

	if m := find(t, models, "vllm", "glm-4.6"); m.Prices.Input != USD(0) || m.Prices.CacheRead != USD(0.11) || m.ContextWindow != 204_800 {
		t.Errorf("free: %+v", m)
	}
	if in, out, known := new(find(t, models, "vllm", "glm-4.6")).ListPrice(); in != 0 || out != 0 || !known {
		t.Errorf("free: %v/%v (%v)", in, out, known)
	}
	if m := find(t, models, "zai", "glm-4.6"); m.Prices.Input != USD(0.6) {
		t.Errorf("another vendor: %+v", m)
	}

	if m := find(t, models, "openai", "text-embedding-3-small"); m.Modality != ModalityEmbedding || m.Prices.Input != USD(0.01) {
		t.Errorf("the kind is from below: %+v", m)
	}
	if m := find(t, models, "anthropic", "claude-opus-4-7"); m.Prices.CacheRead != USD(0.4) || m.Prices.Input != USD(5) || m.Source != before.Source {
		t.Errorf("only a cache price: %+v", m)
	}
	if d := cmp.Diff(before, find(t, builtIn, "anthropic", "claude-opus-4-8")); d != "" {
		t.Errorf("the table itself changed: %s", d)
	}
}

func TestWith_RS_MODEL_which_entry_comes_first(t *testing.T) {
	entries := []Model{
		{Name: "*", ContextWindow: 1, MaxOutputTokens: 1},
		{Name: "*", Vendor: "vllm", ContextWindow: 2},
		{Name: "acme-*", ContextWindow: 3},
		{Name: "*-LARGE", ContextWindow: 4},
		{Name: "*large*", ContextWindow: 5},
		{Name: "acme-large", ContextWindow: 6},
		{Name: "acme-large", ContextWindow: 99},
		{Name: "acme-large-20260101", ContextWindow: 7},
		{Name: "eu.acme-large", ContextWindow: 8},
		{Name: "acme-large", Vendor: "vllm", ContextWindow: 9},
		{Name: "openai/acme-tiny", ContextWindow: 10},
		{Name: "us.*", ContextWindow: 11},
		{Name: "in*side", ContextWindow: 12},
		{Name: "", ContextWindow: 13},
	}
	models := mustLoadModels(t).With(entries)
	for _, row := range []struct {
		vendor, name string
		want         int
	}{
		{"", "anything", 1},
		{"vllm", "anything", 2},
		{"", "acme-small", 3},
		{"", "other-large", 4},
		{"", "x-larger", 5},
		{"", "acme-larger", 3},         // two of five characters: by the alphabet
		{"", "xacme-large", 4},         // more literal characters
		{"", "acme-large", 6},          // an exact name
		{"", "ACME-Large", 6},          // in any case
		{"", "openai/acme-large", 6},   // in any wrapping
		{"", "acme-large-latest", 6},   //
		{"", "acme-large-20260101", 7}, // of two, the one that says more
		{"", "acme-large@20260101", 7},
		{"", "acme-large-20260102", 6},
		{"", "eu.acme-large", 8},
		{"", "jp.acme-large", 6},
		{"vllm", "acme-large", 9},
		{"vllm", "acme-large-20260101", 9}, // the vendor first
		{"", "acme-tiny", 3},               // not the entry for the wrapped name
		{"", "openai/acme-tiny", 10},
		{"", "azure/openai/acme-tiny", 10},
		{"", "us.acme-small", 3},
		{"", "us.x", 11}, // a pattern sees the name as it was sent
		{"", "inside", 1},
		{"", "in*side", 12},
	} {
		if m := find(t, models, row.vendor, row.name); m.ContextWindow != row.want {
			t.Errorf("%s, %s: entry %d, want %d", row.vendor, row.name, m.ContextWindow, row.want)
		}
	}
	if m := find(t, models, "", "acme-large"); m.MaxOutputTokens != 1 || m.Name != "acme-large" {
		t.Errorf("what it leaves out is from the pattern below: %+v", m)
	}
	if m := find(t, models, "anthropic", "claude-opus-4-8"); m.ContextWindow != 1 || m.Prices.Input != USD(5) {
		t.Errorf("an administrator's pattern comes before a built-in name: %+v", m)
	}
}

// BY-2: which of two patterns that match equally well holds does not depend on
// the order in which they were entered.
func TestWith_BY_2_the_order_of_entries_does_not_matter(t *testing.T) {
	entries := []Model{{Name: "mm-*", ContextWindow: 10}, {Name: "*-xx", ContextWindow: 20}, {Name: "*mm-", ContextWindow: 30}}
	builtIn := mustLoadModels(t)
	for range 6 {
		entries = append(entries[1:], entries[0])
		for _, models := range []*Models{builtIn.With(entries), builtIn.With([]Model{entries[1], entries[0], entries[2]})} {
			if m := find(t, models, "", "mm-xx"); m.ContextWindow != 20 {
				t.Errorf("%v: entry %d", entries, m.ContextWindow)
			}
		}
	}
}

func TestWith_RS_MODEL_chat_is_the_default(t *testing.T) {
	models := mustLoadModels(t).With([]Model{
		{Name: "acme", ContextWindow: 1},
		{Name: "acme-*", ContextWindow: 1},
		{Name: "rerank-acme", ContextWindow: 1},
		{Name: "gpt-7", ContextWindow: 1},
	})
	for name, want := range map[string]string{
		"acme": "chat", "openai/acme": "chat", "gpt-7": "chat", "rerank-acme": "rerank",
		"acme-embedder": "", // a pattern also matches what its writer did not think of
	} {
		if m := find(t, models, "", name); m.Modality != want {
			t.Errorf("%s: %q, want %q", name, m.Modality, want)
		}
	}
}

func TestWith_RS_MODEL_layers(t *testing.T) {
	builtIn := mustLoadModels(t)
	if builtIn.With(nil) != builtIn {
		t.Error("nothing added: another table")
	}
	// Imported entries, then those of an administrator.
	models := builtIn.With([]Model{
		{Name: "gpt-5", ContextWindow: 1, Prices: Prices{Input: USD(1), Output: USD(2)}},
	}).With([]Model{
		{Name: "gpt-*", ContextWindow: 2},
	})
	m := find(t, models, "openai", "gpt-5-2025-08-07")
	if m.ContextWindow != 2 || m.Prices.Input != USD(1) || m.Prices.CacheRead != USD(0.125) {
		t.Errorf("%+v", m)
	}
}

// The short cuts of Find give what a look through all entries gives.
func TestFind_RS_MODEL_short_cuts(t *testing.T) {
	models := mustLoadModels(t).With([]Model{
		{Name: "us.*", MaxOutputTokens: 5},
		{Name: "*-v1:0", MaxOutputTokens: 6},
		{Name: "*[1m]*", Family: "long"},
		{Name: "foo", Prices: Prices{Input: USD(1)}},
		{Name: "claude-*", Vendor: "groq", ContextWindow: 7},
		{Name: "gpt-oss-20b", Vendor: "groq", ContextWindow: 8},
		{Name: "claude-opus-4-5", MaxOutputTokens: 9},
	})
	n := 0
	for _, k := range append(builtIn(models), vendorName{"", "foo"}, vendorName{"", "bar"}) {
		for _, front := range []string{"", "us.", "qwen/", "openai/", "eu.anthropic.", "azure/eu.", "publishers/x/models/", "nobody/"} {
			for _, back := range []string{"", "-v1:0", "@20260101", "-2026-01-01", "[1m]", "-latest:free", "-20260101-v1:0[1m]"} {
				for _, vendor := range []string{"", "groq", "vllm"} {
					name := front + k.name + back
					f := formsOf(name)
					want, wantOK := models.resolve(vendor, &f, true)
					got, ok := models.Find(vendor, name)
					if d := cmp.Diff(want.forVendor(vendor), got); d != "" || ok != wantOK {
						t.Fatalf("%s, %s: %s", vendor, name, d)
					}
					n++
				}
			}
		}
	}
	if n < 10_000 {
		t.Errorf("only %d names", n)
	}
}

func TestFind_RT_FILTER_allocates_nothing(t *testing.T) {
	models := mustLoadModels(t).With([]Model{{Name: "us.*", MaxOutputTokens: 5}})
	for _, name := range []string{"claude-opus-4-8", "us.anthropic.claude-opus-4-5-20251101-v1:0", "my-company/custom-7b", "claude-next"} {
		if n := testing.AllocsPerRun(100, func() { models.Find("bedrock", name) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestPriceOf(t *testing.T) {
	if PriceOf(nil) != (Price{}) || PriceOf(new(0.0)) != USD(0) || USD(0) == (Price{}) {
		t.Error("a price that is not known is not 0")
	}
}

func TestModels_RS_MODEL_vendors_exist(t *testing.T) {
	c, models := mustLoad(t), mustLoadModels(t)
	for _, k := range builtIn(models) {
		e := models.layers[0].exact[k]
		for _, id := range append([]string{k.vendor}, e.pricedFor...) {
			if _, ok := c.Vendor(id); id != "" && !ok {
				t.Errorf("%s: no vendor %s", k.name, id)
			}
		}
	}
}
