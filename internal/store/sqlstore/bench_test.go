package sqlstore_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// withDocuments opens a store with n documents of a common size.
func withDocuments(b *testing.B, n int) *sqlstore.Store {
	b.Helper()
	s := open(b, sqlstore.Options{URL: "sqlite:" + filepath.Join(b.TempDir(), "x.db")})
	w := &store.Write{Actor: "benchmark"}
	for i := range n {
		spec := fmt.Sprintf(`{"n":%d,"models":["claude-*"],"filler":"%s"}`, i, strings.Repeat("x", 500))
		w.Put = append(w.Put, store.Document{Kind: "Route", Name: fmt.Sprintf("route-%d", i), Owner: store.OwnerAPI, Spec: []byte(spec)})
		w.AddKeys = append(w.AddKeys, store.KeySecret{Hash: [32]byte{byte(i), byte(i >> 8)}, KeyID: fmt.Sprintf("key-%d", i)})
	}
	if _, err := s.Update(b.Context(), time.Now(), func(*store.State) (*store.Write, error) { return w, nil }); err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := withDocuments(b, n)
			b.ReportAllocs()
			for b.Loop() {
				state, err := s.Load(b.Context())
				if err != nil || len(state.Documents) != n {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUpdate changes one of 1000 documents, which have secrets.
func BenchmarkUpdate(b *testing.B) {
	s := withDocuments(b, 1000)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		_, err := s.Update(b.Context(), time.Now(), func(state *store.State) (*store.Write, error) {
			d := state.Documents[i%1000]
			d.Spec = fmt.Appendf(nil, `{"update":%d}`, i)
			return &store.Write{Put: []store.Document{d}}, nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCurrent is the question that replicas ask again and again.
func BenchmarkCurrent(b *testing.B) {
	s := withDocuments(b, 100)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Current(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkImport imports 200 records at once: a part of what each request
// costs.
func BenchmarkImport(b *testing.B) {
	s := open(b, sqlstore.Options{URL: "sqlite:" + filepath.Join(b.TempDir(), "x.db")})
	const batch = 200
	r := rand.New(rand.NewPCG(1, 2))
	records := make([]store.Record, 100*batch)
	for i := range records {
		records[i] = someRecord(r, i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		from := i % 100 * batch
		i++
		if err := s.Import(b.Context(), "spool", records[from:from+batch], store.Position{Segment: 1, Offset: int64(i)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(i)/batch, "µs/record")
}
