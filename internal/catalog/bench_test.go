package catalog

import (
	"strings"
	"testing"
)

func BenchmarkClassify(b *testing.B) {
	v := vendor(b, mustLoad(b), "openai")
	for _, row := range []struct{ name, body string }{
		{"short", `{"error":{"message":"Rate limit reached. Please try again in 1.2s.","type":"tokens","code":"rate_limit_exceeded"}}`},
		{"64KiB", `{"error":{"message":"` + strings.Repeat("a quota of words ", 4000) + `"}}`},
	} {
		b.Run(row.name, func(b *testing.B) {
			x := Example{Status: 429, Body: row.body}
			a := x.Answer()
			b.ReportAllocs()
			for b.Loop() {
				v.Classifier().Classify(a)
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		mustLoad(b)
	}
}
