package dataplane

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// stormSet is one whole server for a storm. The first member does what the
// user's text in a request says, the second works; the lone member of the
// other route does the same as the first. Every request has a text of its own
// that the providers put into each piece of the answer.
type stormSet struct {
	*gwtest.Server
	d          *dialect
	a, b, lone *gwtest.Fake
}

// loneModel is served by the lone member.
const loneModel = "lone-model"

func newStormSet(t *testing.T, d *dialect) *stormSet {
	t.Helper()
	s := &stormSet{d: d, a: gwtest.NewFake(t), b: gwtest.NewFake(t), lone: gwtest.NewFake(t)}
	// The short limit is for the silent provider. A working one must never
	// meet it, so it is the first member's and the lone one's alone, and their
	// scenarios with an answer have it from the beginning.
	// Half of the requests break something, and each counts on its member
	// being dialled, so nothing is left alone for its failures here.
	s.Server = gwtest.StartWith(t, gwtest.Config{Settings: noBreaker, Documents: []string{
		d.provider(s.a.URL, "first", limits(3_600_000, 3_600_000)...),
		d.provider(s.a.URL, "hasty", limits(60, 3_600_000)...),
		d.provider(s.b.URL, "second"),
		d.provider(s.lone.URL, "alone"),
		d.route("first", "second"),
		gwtest.Route("silent", `"silent-model"`, "hasty", "second"),
		gwtest.Route("lone", fmt.Sprintf("%q", loneModel), "alone"),
	}})
	rules := []fakellm.Rule{
		{BodyRE: "do-cut-rst", Action: "cut", Cut: "rst", After: d.lead + 2, Reply: says("alpha")},
		{BodyRE: "do-cut-fin", Action: "cut", Cut: "fin", After: d.lead + 2, Reply: says("alpha")},
		{BodyRE: "do-cut-end", Action: "cut", Cut: "end", After: d.lead + 2, Reply: says("alpha")},
		{BodyRE: "do-error-first", Action: "preamble_error", Status: 529, Type: "overloaded_error", Message: "busy"},
		{BodyRE: "do-error-later", Action: "sse_error", After: d.lead + 2, Message: "their own words", Reply: says("alpha")},
		{BodyRE: "do-hang", Action: "hang"},
		{BodyRE: "do-silence", Action: "headers_hang"},
		{BodyRE: "do-slow", GapMS: 3, Reply: says("alpha")},
		{Reply: says("alpha")},
	}
	s.a.Rules(t, rules...)
	s.lone.Rules(t, rules...)
	s.b.Rules(t, fakellm.Rule{Reply: says("beta")})
	return s
}

// markedWords is the text of an answer of n pieces to the request with this mark.
func markedWords(mark, word string, n int) string {
	return strings.Repeat("["+mark+"] "+word+" ", n)
}

// TestStorm is a must-hold of the first step: a thousand times each a stream
// that is cut, an error event before and after content, a provider that is
// silent and a client that leaves; many at once, under the race detector. Each
// outcome is as specified, and nothing is left running.
func TestStorm(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 100
	}
	sets := make([]*stormSet, 0, len(dialects()))
	for _, d := range dialects() {
		sets = append(sets, newStormSet(t, d))
	}
	for _, c := range []struct {
		name string
		one  func(t *testing.T, s *stormSet, i int, mark string)
	}{
		{"RQ-STREAM-1_stream_cut", stormCut},
		{"RT-FO-1_error_event_before_content", stormErrorFirst},
		{"RQ-STREAM-1_error_event_after_content", stormErrorLater},
		{"RT-FO-TIME_silent_provider", stormSilence},
		{"RQ-CANCEL_client_leaves", stormLeave},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			concurrently(n, 32, func(i int) {
				c.one(t, sets[i%len(sets)], i/len(sets), fmt.Sprintf("m%06d", i))
			})
			for _, s := range sets {
				s.quiet(t)
			}
			t.Logf("%d in %v", n, time.Since(start).Round(time.Millisecond))
		})
	}
	// The server says how many requests it still runs when it stops.
	for _, s := range sets {
		if err := s.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
		stops := logged(t, s.Log, "stopping")
		if len(stops) != 1 || stops[0]["running"] != 0.0 {
			t.Errorf("at the end: %v", stops)
		}
		for _, bad := range []string{"panic while serving a request", "the drain time is over; cutting off what still runs"} {
			if lines := logged(t, s.Log, bad); len(lines) != 0 {
				t.Errorf("%d times: %v", len(lines), lines[0])
			}
		}
	}
}

// quiet waits until no provider has a request any more.
func (s *stormSet) quiet(t *testing.T) {
	t.Helper()
	eventually(t, 10*time.Second, "no provider is busy", func() bool {
		return s.a.InFlight()+s.b.InFlight()+s.lone.InFlight() == 0
	})
}

// ask sends what the first member, or the lone one, shall do.
func (s *stormSet) ask(t *testing.T, model, action, mark string) gwtest.Answer {
	t.Helper()
	return s.Post(t, s.d.path, s.d.body(model, action+" fake-echo:"+mark, true))
}

// stormCut: whole events, two pieces of the answer, an error event. A reset
// throws away what was not read yet: then less has come, and if it was nothing,
// the second serves.
func stormCut(t *testing.T, s *stormSet, i int, mark string) {
	t.Helper()
	how := []string{"rst", "fin", "end"}[i%3]
	got := s.ask(t, s.d.model, "do-cut-"+how, mark)
	if how == "rst" && got.Header.Get("X-Interlock-Provider") == "second" {
		s.d.wantWhole(t, got, true, markedWords(mark, "beta", 4))
		return
	}
	e := s.d.wantBroken(t, got)
	text, want := s.d.text(t, got.Body, true), markedWords(mark, "alpha", 2)
	if e.code() != "upstream_unreachable" || text != want && (how != "rst" || !strings.HasPrefix(want, text)) {
		t.Errorf("%s: code %q, text %q", how, e.code(), text)
	}
	wantHeaders(t, got.Header, "first", 1)
}

// stormErrorFirst: the second serves; alone, the client has a real status.
func stormErrorFirst(t *testing.T, s *stormSet, i int, mark string) {
	t.Helper()
	if i%2 == 0 {
		got := s.ask(t, s.d.model, "do-error-first", mark)
		s.d.wantWhole(t, got, true, markedWords(mark, "beta", 4))
		wantHeaders(t, got.Header, "second", 2)
		return
	}
	got := s.ask(t, loneModel, "do-error-first", mark)
	if got.Status < 500 || got.Err != nil || !strings.Contains(got.Body, "busy") {
		t.Errorf("%d %v %s", got.Status, got.Err, got.Body)
	}
	wantHeaders(t, got.Header, "alone", 1)
}

// stormErrorLater: the provider's event is passed on and is the last.
func stormErrorLater(t *testing.T, s *stormSet, _ int, mark string) {
	t.Helper()
	got := s.ask(t, s.d.model, "do-error-later", mark)
	events := sseEvents(t, got.Body)
	text := s.d.text(t, got.Body, true)
	if got.Status != 200 || got.Err != nil || text != markedWords(mark, "alpha", 2) ||
		!strings.Contains(events[len(events)-1].data, "their own words") || strings.Contains(got.Body, s.d.ends) {
		t.Errorf("%d %v %s", got.Status, got.Err, got.Body)
	}
	wantHeaders(t, got.Header, "first", 1)
}

// stormSilence: given up after its limit, and the second serves.
func stormSilence(t *testing.T, s *stormSet, _ int, mark string) {
	t.Helper()
	got := s.ask(t, "silent-model", "do-hang", mark)
	s.d.wantWhole(t, got, true, markedWords(mark, "beta", 4))
	wantHeaders(t, got.Header, "second", 2)
}

// stormLeave: the client leaves a silent provider, or in the middle of an
// answer; the provider sees it and nobody else is dialled.
func stormLeave(t *testing.T, s *stormSet, i int, mark string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	action := []string{"do-hang", "do-silence", "do-slow"}[i%3]
	req := s.Request(t, "POST", s.d.path, s.d.body(s.d.model, action+" fake-echo:"+mark, true)).WithContext(ctx)
	if action != "do-slow" {
		timer := time.AfterFunc(time.Duration(1+i%20)*time.Millisecond, cancel)
		defer timer.Stop()
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			t.Errorf("%s: %v", action, err)
		}
		return
	}
	defer resp.Body.Close()
	if action != "do-slow" {
		_, _ = io.Copy(io.Discard, resp.Body)
		if ctx.Err() == nil {
			t.Errorf("%s: an answer with status %d", action, resp.StatusCode)
		}
		return
	}
	b := make([]byte, 300)
	if _, err := io.ReadFull(resp.Body, b); err != nil || resp.StatusCode != 200 {
		t.Errorf("%s: %d %v", action, resp.StatusCode, err)
	}
}

// TestStorm_mixed: everything at once at one server, with plain requests
// between, and each caller gets its own answer.
func TestStorm_mixed(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 200
	}
	sets := make([]*stormSet, 0, len(dialects()))
	for _, d := range dialects() {
		sets = append(sets, newStormSet(t, d))
	}
	var left atomic.Int64
	concurrently(n, 64, func(i int) {
		s, mark := sets[i%len(sets)], fmt.Sprintf("x%06d", i)
		switch k := i / len(sets); k % 7 {
		case 0:
			stormCut(t, s, k, mark)
		case 1:
			stormErrorFirst(t, s, k, mark)
		case 2:
			stormErrorLater(t, s, k, mark)
		case 3:
			stormSilence(t, s, k, mark)
		case 4:
			stormLeave(t, s, k, mark)
			left.Add(1)
		case 5:
			s.d.wantWhole(t, s.ask(t, s.d.model, "works", mark), true, markedWords(mark, "alpha", 4))
		case 6:
			got := s.Post(t, s.d.path, s.d.body(s.d.model, "works fake-echo:"+mark, false))
			s.d.wantWhole(t, got, false, markedWords(mark, "alpha", 4))
		}
	})
	for _, s := range sets {
		s.quiet(t)
		// Each outcome was noted once, for the member that it was of.
		count := map[string]int{}
		for _, m := range movedOn(t, s.Log) {
			count[m]++
		}
		delete(count, "first:connection") // see stormCut
		if len(count) != 2 || count["first:overloaded"] == 0 || count["hasty:timeout"] == 0 {
			t.Errorf("moved on after %v", count)
		}
		var broke []string
		for _, m := range logged(t, s.Log, "a stream broke off after content was sent") {
			if p := fmt.Sprint(m["provider"]); !slices.Contains(broke, p) {
				broke = append(broke, p)
			}
		}
		if !slices.Equal(broke, []string{"first"}) {
			t.Errorf("streams of %v broke off", broke)
		}
	}
	if left.Load() == 0 {
		t.Error("no client left")
	}
}
