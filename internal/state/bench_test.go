package state_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
)

func admitAndDone(b *state.Board, id routing.ProviderID) {
	p, _, _ := b.Admit(id, model, true, false)
	p.Done(state.Outcome{Stream: true, Latency: 300 * time.Millisecond})
}

func BenchmarkAdmitDone(b *testing.B) {
	board := state.NewBoard(state.Options{Settings: state.DefaultSettings()})
	b.ReportAllocs()
	for b.Loop() {
		admitAndDone(board, north)
	}
}

func BenchmarkAdmitDone_parallel_on_one_provider(b *testing.B) {
	board := state.NewBoard(state.Options{Settings: state.DefaultSettings()})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			admitAndDone(board, north)
		}
	})
}

func BenchmarkView(b *testing.B) {
	board := state.NewBoard(state.Options{Settings: state.DefaultSettings()})
	for range 1000 {
		admitAndDone(board, north)
	}
	b.ReportAllocs()
	for b.Loop() {
		board.Health(north)
		board.CoolingUntil(north, model)
	}
}

func BenchmarkLoad(b *testing.B) {
	board := state.NewBoard(state.Options{Settings: state.DefaultSettings()})
	admitAndDone(board, north)
	b.ReportAllocs()
	for b.Loop() {
		board.Load(north, model)
	}
}

func BenchmarkLatency_of_a_day(b *testing.B) {
	w := newBenchWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		w.Latency(north, model, true, 24*time.Hour)
	}
}

func newBenchWorld(b *testing.B) *state.Board {
	b.Helper()
	now := time.Unix(1_800_000_000, 0)
	board := state.NewBoard(state.Options{Settings: state.DefaultSettings(), Now: func() time.Time { return now }})
	board.Latency(north, model, true, 24*time.Hour)
	for i := range 1440 {
		for j := range 40 {
			p, _, _ := board.Admit(north, model, true, false)
			p.Done(state.Outcome{Stream: true, Latency: time.Duration(1+i%7) * time.Duration(100+j*j) * time.Millisecond})
		}
		now = now.Add(time.Minute)
	}
	return board
}

func BenchmarkProviders(b *testing.B) {
	board := newBenchWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		board.Providers()
	}
}

func BenchmarkPinsLoad(b *testing.B) {
	p := state.NewPins(nil, 100_000)
	for i := range 50_000 {
		_ = p.Save(b.Context(), fmt.Sprint(i), "r", routing.Pin{Start: north}, time.Hour)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := p.Load(b.Context(), "777"); err != nil {
				b.Error(err)
			}
		}
	})
}
