package fakellm

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkAnswer is what an answer costs beside net/http, in a load test
// that keeps no records.
func BenchmarkAnswer(b *testing.B) {
	pad := strings.Repeat(`{"role":"user","content":"some \"text\" of a chat"},`, 200)
	for _, c := range []struct{ name, path, body string }{
		{"chat", chatPath, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`},
		{"chat_10KB", chatPath, `{"model":"m","messages":[` + pad[:len(pad)-1] + `]}`},
		{"chat_stream_50", chatPath, `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`},
		{"messages", messagesPath, `{"model":"m"}`},
		{"messages_stream_50", messagesPath, `{"model":"m","stream":true}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := New(Options{KeepRecords: KeepNone, Reply: Reply{Chunks: 50, TextLen: 500}})
			r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, c.path, http.NoBody)
			if err != nil {
				b.Fatal(err)
			}
			r.ContentLength = int64(len(c.body))
			b.SetBytes(r.ContentLength)
			b.ReportAllocs()
			for b.Loop() {
				r.Body = io.NopCloser(strings.NewReader(c.body))
				s.ServeHTTP(discard{http.Header{}}, r)
			}
		})
	}
}

type discard struct{ header http.Header }

func (w discard) Header() http.Header         { return w.header }
func (w discard) Write(p []byte) (int, error) { return len(p), nil }
func (w discard) WriteHeader(int)             {}
func (w discard) Flush()                      {}
