package dataplane

import (
	"context"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/gateway"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// draining is a gateway with two members and a drain time in seconds.
func draining(t *testing.T, d *dialect, seconds string) *pair {
	t.Helper()
	p := &pair{d: d, a: gwtest.NewFake(t), b: gwtest.NewFake(t)}
	p.Server = gwtest.StartWith(t, gwtest.Config{
		Settings:  "server: {listen: 127.0.0.1:0, drainSeconds: " + seconds + "}",
		Documents: []string{d.provider(p.a.URL, "first"), d.provider(p.b.URL, "second"), d.route("first", "second")},
	})
	p.b.Rules(t, fakellm.Rule{Reply: says("beta")})
	return p
}

// running is a request that is under way.
type running struct {
	head chan gwtest.Answer // status and headers
	done chan gwtest.Answer
}

// start sends a request and waits until the first member has it; with a
// stream that has content also until some of it has come.
func (p *pair) start(t *testing.T, body string, content bool) *running {
	t.Helper()
	r := &running{make(chan gwtest.Answer, 1), make(chan gwtest.Answer, 1)}
	dialled := p.a.Requests()
	req := p.Request(t, "POST", p.d.path, body)
	go func() {
		var got gwtest.Answer
		resp, err := p.Client.Do(req)
		if err != nil {
			got.Err = err
		} else {
			defer resp.Body.Close()
			got.Status, got.Header = resp.StatusCode, resp.Header
			r.head <- got
			b, err := io.ReadAll(resp.Body)
			got.Body, got.Err = string(b), err
		}
		r.done <- got
	}()
	if content {
		<-r.head
		return r
	}
	eventually(t, 10*time.Second, "the provider has the request", func() bool { return p.a.Requests() > dialled })
	return r
}

// stopping stops the server in the background.
func stopping(t *testing.T, s *gwtest.Server) <-chan error {
	t.Helper()
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop() }()
	eventually(t, 5*time.Second, "nothing listens any more", func() bool {
		c, err := net.DialTimeout("tcp", strings.TrimPrefix(s.URL, "http://"), time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	return stopped
}

func within[T any](t *testing.T, limit time.Duration, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(limit):
		t.Fatalf("not within %v: %s", limit, what)
		panic("unreachable")
	}
}

// TestOP_6_running_requests_finish: a stop waits for what runs, and takes
// nothing new.
func TestOP_6_running_requests_finish(t *testing.T) {
	dialectsAtOnce(t, func(t *testing.T, d *dialect) {
		for _, stream := range both() {
			t.Run(kindOf(stream), func(t *testing.T) {
				p := draining(t, d, "60")
				p.a.Rules(t, fakellm.Rule{GapMS: 30, Reply: &fakellm.Reply{Chunks: 20, ChunkText: "alpha "}})
				if !stream {
					p.a.Rules(t, fakellm.Rule{DelayMS: 500, Reply: says("alpha")})
				}
				r := p.start(t, d.ask(stream), stream)
				begin := time.Now()
				stopped := stopping(t, p.Server)
				select {
				case err := <-stopped:
					t.Fatalf("stopped while a request ran: %v", err)
				case got := <-r.done:
					n := 4
					if stream {
						n = 20
					}
					d.wantWhole(t, got, stream, words(n))
					wantHeaders(t, got.Header, "first", 1)
				}
				if err := within(t, 10*time.Second, "stopped", stopped); err != nil {
					t.Errorf("stop: %v", err)
				}
				if took := time.Since(begin); took > 20*time.Second {
					t.Errorf("stopped %v after the last request, as if the drain time counted", took)
				}
			})
		}
	})
}

// TestOP_6_readiness: while requests are drained, readiness is gone, liveness
// is not, and who comes all the same is served. A stopping server takes no
// connection, so the gateway is asked without one.
func TestOP_6_readiness(t *testing.T) {
	d := dialects()[0]
	p := newPair(t, d)
	for _, c := range []struct {
		drain  bool
		status int
	}{{false, 200}, {true, 503}} {
		if c.drain {
			p.g.Drain()
		}
		if got := p.Do(t, "GET", "/readyz", ""); got.Status != c.status || c.drain && !strings.Contains(got.Body, "draining") {
			t.Errorf("/readyz, draining %t: %d %s", c.drain, got.Status, got.Body)
		}
		if got := p.Do(t, "GET", "/healthz", ""); got.Status != 200 {
			t.Errorf("/healthz, draining %t: %d %s", c.drain, got.Status, got.Body)
		}
		got, _, _ := p.ask(t, true)
		d.wantWhole(t, got, true, words(4))
	}
}

// TestOP_6_the_drain_time_is_over: what still runs ends with an error of its
// format, nothing more is dialled for it, and the process ends.
func TestOP_6_the_drain_time_is_over(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		for _, c := range []struct {
			name            string
			rule            fakellm.Rule
			stream, content bool
		}{
			{"ER-LOAD_RQ-STREAM-1_a_silent_stream_after_content", fakellm.Rule{Action: "stall", After: d.lead + 2, Reply: says("alpha")}, true, true},
			{"ER-LOAD_RQ-STREAM-1_a_busy_stream", fakellm.Rule{GapMS: 3, Reply: &fakellm.Reply{Chunks: 50_000, ChunkText: "alpha "}}, true, true},
			{"ER-LOAD_a_stream_before_its_headers", fakellm.Rule{Action: "hang"}, true, false},
			{"ER-LOAD_a_stream_before_content", fakellm.Rule{Action: "headers_hang"}, true, false},
			{"ER-LOAD_a_plain_request", fakellm.Rule{Action: "hang"}, false, false},
			{"ER-LOAD_a_plain_request_in_its_body", fakellm.Rule{Action: "stall"}, false, false},
		} {
			t.Run(c.name, func(t *testing.T) {
				p := draining(t, d, "0")
				p.a.Rules(t, c.rule)
				r := p.start(t, d.ask(c.stream), c.content)
				begin := time.Now()
				stopped := stopping(t, p.Server)
				got := within(t, 10*time.Second, "the request ends", r.done)
				if got.Err != nil {
					t.Fatalf("the connection broke: %v", got.Err)
				}
				var e *wireError
				if c.content {
					e = d.wantBroken(t, got)
				} else {
					if e = d.mustError(t, got.Body); got.Status != 503 || got.Header.Get("Retry-After") != "1" {
						t.Errorf("%d, Retry-After %q", got.Status, got.Header.Get("Retry-After"))
					}
				}
				if e.code() != "gateway_unavailable" {
					t.Errorf("code %q: %s", e.code(), e.Message)
				}
				if err := within(t, 10*time.Second, "stopped", stopped); err != nil {
					t.Errorf("stop: %v", err)
				}
				if took := time.Since(begin); took > 5*time.Second {
					t.Errorf("the process ended after %v without a drain time", took)
				}
				eventually(t, 5*time.Second, "the provider sees that the gateway left", func() bool { return p.a.Gone() == 1 })
				if p.b.Requests() != 0 {
					t.Error("another member was dialled for a request that was cut off")
				}
				if got := movedOn(t, p.Log); len(got) != 0 {
					t.Errorf("a shutdown counts against %v", got)
				}
			})
		}
	})
}

// TestOP_6_cut_off_behind_keep_alives: the status is gone, so the end is an
// event.
func TestOP_6_cut_off_behind_keep_alives(t *testing.T) {
	eachDialect(t, func(t *testing.T, d *dialect) {
		f := gwtest.NewFake(t)
		f.Rules(t, fakellm.Rule{Action: "hang"})
		g := inProcess(t, gateway.Options{KeepAlive: 10 * time.Millisecond}, d.provider(f.URL, "first"), d.route("first"))
		base, cut := context.WithCancelCause(t.Context())
		defer cut(nil)
		s := httptest.NewUnstartedServer(g)
		s.Config.BaseContext = func(net.Listener) context.Context { return base }
		s.Start()
		defer s.Close()
		gw := &gwtest.Server{URL: s.URL, Client: s.Client()}
		resp, err := gw.Client.Do(gw.Request(t, "POST", d.path, d.ask(true)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		cut(gateway.ErrShutdown())
		body, err := io.ReadAll(resp.Body)
		e := d.wantBroken(t, gwtest.Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(body), Err: err})
		if e.code() != "gateway_unavailable" {
			t.Errorf("code %q", e.code())
		}
		if n, _ := d.leadingPings(string(body)); n == 0 {
			t.Error("no keep-alive came")
		}
	})
}
