package feed_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/interlock-gateway/interlock/internal/feed"
)

func TestUI_feed_reaches_everybody(t *testing.T) {
	h := &feed.Hub{}
	h.Publish(feed.Event{Kind: "nobody listens"})
	a, _ := h.Listen("a")
	b, _ := h.Listen("b")
	h.Publish(feed.Event{Kind: "x", Data: 1})
	if e := <-a.C; e.Kind != "x" || e.Data != 1 {
		t.Error(e)
	}
	<-b.C
	b.Close()
	b.Close()
	h.Publish(feed.Event{Kind: "y"})
	if len(b.C) != 0 || len(a.C) != 1 {
		t.Error("a closed reader gets news")
	}
}

// UI: a slow reader loses news, is told how many, and holds nobody up.
func TestUI_feed_slow_readers_lose(t *testing.T) {
	h := &feed.Hub{}
	slow, _ := h.Listen("slow")
	for i := range 1000 {
		h.Publish(feed.Event{Data: i})
	}
	if n := slow.Lost(); n != 1000-cap(slow.C) || slow.Lost() != 0 {
		t.Errorf("%d lost", n)
	}
	if e := <-slow.C; e.Data != 0 {
		t.Error(e)
	}
}

func TestUI_feed_limits(t *testing.T) {
	h := &feed.Hub{}
	var mine []*feed.Reader
	for range feed.MaxPerName {
		r, err := h.Listen("one")
		if err != nil {
			t.Fatal(err)
		}
		mine = append(mine, r)
	}
	if _, err := h.Listen("one"); !errors.Is(err, feed.ErrTooMany) {
		t.Error(err)
	}
	mine[0].Close()
	if _, err := h.Listen("one"); err != nil {
		t.Error(err)
	}
	for i := feed.MaxPerName; i < feed.MaxReaders; i++ {
		if _, err := h.Listen(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Listen("another"); !errors.Is(err, feed.ErrTooMany) {
		t.Error(err)
	}
	h.Close()
	h.Close()
	if _, err := h.Listen("late"); !errors.Is(err, feed.ErrClosed) {
		t.Error(err)
	}
	<-h.Done()
}

// UI: one pump works, only while somebody listens.
func TestUI_feed_pump(t *testing.T) {
	h := &feed.Hub{}
	if _, ok := h.StartPump(); ok {
		t.Error("it starts for nobody")
	}
	h.Stored(5) // nobody wants to know
	r, _ := h.Listen("a")
	p, ok := h.StartPump()
	if _, twice := h.StartPump(); !ok || twice {
		t.Error("two pumps")
	}
	h.Stored(2)
	if n, ok := p.Wait(); n != 2 || !ok {
		t.Errorf("%d %t", n, ok)
	}
	r.Close()
	if _, ok := p.Wait(); ok {
		t.Error("it goes on for nobody")
	}
	r, _ = h.Listen("a")
	p, ok = h.StartPump()
	if !ok {
		t.Error("it does not start again")
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		if _, ok := p.Wait(); ok {
			t.Error("it goes on after the end")
		}
	})
	h.Close()
	ended.Wait()
	r.Close()
}

func TestPublishing_to_nobody_costs_nothing(t *testing.T) {
	h := &feed.Hub{}
	if n := testing.AllocsPerRun(100, func() { h.Publish(feed.Event{Kind: "x"}); h.Stored(1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
