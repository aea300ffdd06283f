package dataplane

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// crowded sends requests without an end until the test does, wide at once.
func crowded(t *testing.T, wide int, ask func(ctx context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range wide {
		wg.Go(func() {
			for ctx.Err() == nil {
				ask(ctx)
			}
		})
	}
	t.Cleanup(func() { cancel(); wg.Wait() })
}

// TestRT_CB_impatient_callers_keep_nobody_out: they may come as often as they
// like; a provider that works again is found by the others.
func TestRT_CB_impatient_callers_keep_nobody_out(t *testing.T) {
	w := ways()[3]
	r := newRig(t, w, breakerAt(1, 1), w.org("a"), w.org("b"), w.pool("", "a", "b"))
	r.open(t, 1, fakellm.Rule{Action: "status", Status: 500})
	r.script(t, at("a", fakellm.Rule{DelayMS: 400, Reply: says("a")}))
	crowded(t, 10, func(ctx context.Context) {
		req := r.Request(t, "POST", w.path, w.ask(false), "X-Stainless-Timeout: 0.2").WithContext(ctx)
		if resp, err := r.Client.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	})
	eventually(t, 5*time.Second, "a patient caller reaches it", func() bool { return r.ask(t).Header.Get("X-Interlock-Provider") == "a" })
}

// TestRT_CB_a_slow_request_does_not_hold_the_only_probe: it may take minutes.
func TestRT_CB_a_slow_request_does_not_hold_the_only_probe(t *testing.T) {
	w := ways()[3]
	r := newRig(t, w, breakerAt(1, 1), w.org("a"), w.org("b"), w.pool("", "a", "b"))
	r.open(t, 1, fakellm.Rule{Action: "status", Status: 500})
	opened := time.Now()
	r.script(t, at("a", fakellm.Rule{Action: "hang", Times: 1}))
	eventually(t, 10*time.Second, "the time is over", func() bool { return time.Since(opened) > 1050*time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if resp, err := r.Client.Do(r.Request(t, "POST", w.path, w.ask(false)).WithContext(ctx)); err == nil {
			resp.Body.Close()
		}
	}()
	defer func() { cancel(); <-gone }()
	eventually(t, 10*time.Second, "it is the probe", func() bool { return r.fake.InFlight() == 1 })
	r.wantServed(t, r.ask(t), "b", 1)
	eventually(t, 5*time.Second, "another goes beside it", func() bool { return r.ask(t).Header.Get("X-Interlock-Provider") == "a" })
}

// TestRT_CB_totalMs_after_content_blames_nobody: it measures how much was asked
// for and how fast the client reads.
func TestRT_CB_totalMs_after_content_blames_nobody(t *testing.T) {
	for _, w := range []*way{ways()[1], ways()[4]} {
		t.Run(w.name, func(t *testing.T) {
			r := newRig(t, w, breakerAt(2, 60), w.org("a", "timeouts: {totalMs: 200}"), w.org("b"), w.pool("", "a", "b"))
			r.script(t, at("a", fakellm.Rule{Action: "stall", After: w.lead + 1, Reply: says("a"), Times: 3}))
			for range 3 {
				if got := r.ask(t); got.Status != 200 || !strings.Contains(got.Body, "totalMs") {
					t.Fatalf("%d %s", got.Status, got.Body)
				}
			}
			r.wantServed(t, r.ask(t), "a", 1)
		})
	}
}

// TestRT_CB_totalMs_before_content_is_a_failure: the provider said nothing.
func TestRT_CB_totalMs_before_content_is_a_failure(t *testing.T) {
	eachChat(t, func(t *testing.T, w *way) {
		r := newRig(t, w, breakerAt(2, 60), w.org("a", "timeouts: {totalMs: 200}"), w.org("b"), w.pool("", "a", "b"))
		r.open(t, 2, fakellm.Rule{Action: "hang"})
		r.script(t)
		r.wantServed(t, r.ask(t), "b", 1)
	})
}

// TestRT_FO_4_a_time_of_nothing_is_no_way_out: rounded to 0 it would be no
// bound at all.
func TestRT_FO_4_a_time_of_nothing_is_no_way_out(t *testing.T) {
	fake := gwtest.NewFake(t)
	fake.Rules(t, fakellm.Rule{Action: fakellm.ActionHang})
	s := gwtest.StartWith(t, gwtest.Config{
		Settings:  "llmProxy: {retry: {maxRetries: 0, maxElapsedMs: 1000}}",
		Documents: []string{fake.OpenAI("slow"), gwtest.Route("r", "m", "slow")},
	})
	for _, limit := range []string{"1e-10", "0.0000001", "1e-300", "-1", "NaN"} {
		began := time.Now()
		if got := s.Post(t, "/v1/chat/completions", gwtest.Chat("m", false), "X-Stainless-Timeout: "+limit); got.Status != 504 || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %d after %v", limit, got.Status, time.Since(began))
		}
	}
}

// openAIAt is a Provider at an address.
func openAIAt(name, url string, more ...string) string {
	return strings.Join(append([]string{
		"kind: Provider", "name: " + name, "type: openai", "baseUrl: " + url + "/v1", "apiKey: sk-key-of-" + name, "allowInsecure: true",
	}, more...), "\n")
}

// TestRT_FO_an_answer_that_is_too_large_is_asked_for_once: the next member would
// give the same and be paid for it.
func TestRT_FO_an_answer_that_is_too_large_is_asked_for_once(t *testing.T) {
	var asked atomic.Int64
	big := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"`)
		for p := bytes.Repeat([]byte("x"), 1<<20); ; {
			if _, err := w.Write(p); err != nil {
				return
			}
		}
	}))
	defer big.Close()
	s := gwtest.StartWith(t, gwtest.Config{
		Settings:  breakerAt(1, 60),
		Documents: []string{openAIAt("a", big.URL), openAIAt("b", big.URL), gwtest.Route("r", "m", "a", "b")},
	})
	for i := range 2 {
		got := s.Post(t, "/v1/chat/completions", gwtest.Chat("m", false))
		if got.Status != 502 || got.Header.Get("X-Interlock-Error") != "upstream_answer_too_large" || got.Header.Get("X-Should-Retry") != "false" ||
			got.Header.Get("X-Interlock-Provider") != "a" || !strings.Contains(got.Body, "ask for a stream") {
			t.Errorf("%d %v %s", got.Status, got.Header, got.Body)
		}
		if n := asked.Load(); n != int64(i+1) {
			t.Errorf("%d dials for %d requests", n, i+1)
		}
	}
}

// TestRQ_CANCEL_limits_a_client_that_never_reads: totalMs ends its attempt also
// while the write to it blocks, and that is the client's own doing.
func TestRQ_CANCEL_limits_a_client_that_never_reads(t *testing.T) {
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		event := []byte(`data: {"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("x", 32<<10) + `"}}]}` + "\n\n")
		for {
			if _, err := w.Write(event); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	s := gwtest.StartWith(t, gwtest.Config{
		Settings: breakerAt(1, 60), Admin: true,
		Documents: []string{openAIAt("a", endless.URL, "timeouts: {totalMs: 500}"), gwtest.Route("r", "m", "a")},
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := gwtest.Chat("m", true)
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		gwtest.Key, len(body), body)
	eventually(t, 15*time.Second, "the request ends", func() bool {
		events := s.Admin(t, "GET", "/audit-events?kind=request", "").Body
		return strings.Contains(events, `"canceled"`)
	})
	if got := s.Admin(t, "GET", "/audit-events?kind=event&provider=a", "").Body; strings.Contains(got, "breaker_open") {
		t.Error("it opened the breaker: " + got)
	}
}
