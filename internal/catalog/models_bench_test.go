package catalog

import "testing"

// RT-FILTER and RT-STRAT-COST ask for every member of every request.
func BenchmarkFind_RT_FILTER(b *testing.B) {
	builtIn := mustLoadModels(b)
	entries := []Model{
		{Name: "claude-opus-4-8", ContextWindow: 1},
		{Name: "acme-*", Modality: ModalityChat},
		{Name: "*-internal", Modality: ModalityChat},
	}
	for _, table := range []struct {
		name   string
		models *Models
	}{{"builtIn", builtIn}, {"withPatterns", builtIn.With(entries)}} {
		for _, row := range []struct{ name, vendor, model string }{
			{"exact", "anthropic", "claude-opus-4-8"},
			{"exactOfVendor", "groq", "openai/gpt-oss-120b"},
			{"upperCase", "openai", "GPT-5-mini"},
			{"bedrock", "bedrock", "eu.anthropic.claude-opus-4-5-20251101-v1:0"},
			{"family", "anthropic", "claude-next-9"},
			{"miss", "vllm", "my-company-7b-chat"},
			{"missWithPath", "vllm", "my-company/custom-7b-chat-20260101"},
		} {
			b.Run(table.name+"/"+row.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					table.models.Find(row.vendor, row.model)
				}
			})
		}
	}
}

func BenchmarkLoadModels(b *testing.B) {
	for b.Loop() {
		mustLoadModels(b)
	}
}

func BenchmarkWith(b *testing.B) {
	t := mustLoadModels(b)
	entries := []Model{{Name: "claude-opus-4-8", ContextWindow: 1}, {Name: "acme-*", Modality: ModalityChat}}
	b.ReportAllocs()
	for b.Loop() {
		t.With(entries)
	}
}

func mustLoadModels(tb testing.TB) *Models {
	tb.Helper()
	t, err := LoadModels()
	if err != nil {
		tb.Fatal(err)
	}
	return t
}
