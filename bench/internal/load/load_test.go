package load

import (
	"encoding/json"
	"net"
	"os"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/mock"
)

func TestChatBodyHasTheSizeAskedFor(t *testing.T) {
	for _, api := range []API{OpenAI, Anthropic} {
		for _, size := range []int{512, 10_000, 200_000} {
			for _, stream := range []bool{false, true} {
				b, err := ChatBody(api, "openai/gpt-4o-mini", size, stream)
				if err != nil {
					t.Fatal(err)
				}
				if len(b) != size {
					t.Errorf("%s %d: got %d bytes", api, size, len(b))
				}
				var req struct {
					Stream   bool
					Messages []message
				}
				if err := json.Unmarshal(b, &req); err != nil {
					t.Fatal(err)
				}
				if n := len(req.Messages); req.Stream != stream || req.Messages[n-1].Role != "user" {
					t.Errorf("%s %d: stream %v, ends with %q", api, size, req.Stream, req.Messages[n-1].Role)
				}
			}
		}
	}
	if _, err := ChatBody("soap", "m", 512, false); err == nil {
		t.Error("an unknown API was accepted")
	}
}

func startMock(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go mock.New(mock.DefaultOptions()).Serve(l)
	return "http://" + l.Addr().String()
}

func run(t *testing.T, cfg Config) *Result {
	t.Helper()
	if cfg.API == "" {
		cfg.API = OpenAI
	}
	var err error
	if cfg.Body, err = ChatBody(cfg.API, "m", 512, cfg.Stream); err != nil {
		t.Fatal(err)
	}
	if cfg.Duration == 0 {
		cfg.Duration = 300 * time.Millisecond
	}
	cfg.Timeout = 5 * time.Second
	res, err := Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(res); err != nil {
		t.Error(err)
	}
	return res
}

func TestClosedLoop(t *testing.T) {
	res := run(t, Config{
		URL: startMock(t) + "/v1/chat/completions", Concurrency: 4, Warmup: 50 * time.Millisecond,
		Watch: map[string]int{"target": os.Getpid()},
	})
	if res.Errors != 0 || res.Requests < 50 || res.Connections != 4 {
		t.Errorf("got %+v", res)
	}
	if p := res.Processes["target"]; p.CPUPerRequest <= 0 || p.RSSMax <= 0 {
		t.Errorf("got %+v", p)
	}
	if res.Latency.P50 <= 0 || res.Latency.P99 < res.Latency.P50 || res.Latency.Max < res.Latency.P999 {
		t.Errorf("got %+v", res.Latency)
	}
}

func TestOpenLoopChargesAStallToEveryRequestItDelayed(t *testing.T) {
	// 20 requests a second on one connection that takes 100 ms for each: the
	// queue grows, and only the time since each was due shows it.
	res := run(t, Config{
		URL: startMock(t) + "/m/latency=100ms/v1/messages", API: Anthropic,
		Concurrency: 1, Rate: 20, Duration: time.Second,
	})
	if res.Errors != 0 || res.Latency.Count != 20 {
		t.Fatalf("%d errors, %d measured", res.Errors, res.Latency.Count)
	}
	if res.Service.Max > 300_000 || res.Latency.Max < 800_000 {
		t.Errorf("service up to %v us, latency up to %v us", res.Service.Max, res.Latency.Max)
	}
}

func TestOpenLoopGivesUpOnAHopelessBacklog(t *testing.T) {
	res := run(t, Config{
		URL: startMock(t) + "/m/latency=500ms/v1/chat/completions", Concurrency: 1, Rate: 50, Duration: 500 * time.Millisecond,
		Grace: time.Second,
	})
	if n := res.ErrorKinds["not sent: too far behind"]; n == 0 || n+int64(res.Latency.Count) != 25 {
		t.Errorf("%d not sent, %d measured", n, res.Latency.Count)
	}
}

func TestOpenLoopKeepsTheRate(t *testing.T) {
	res := run(t, Config{URL: startMock(t) + "/v1/chat/completions", Concurrency: 16, Rate: 500, Duration: time.Second})
	if res.Errors != 0 || res.Latency.Count != 500 {
		t.Errorf("%d errors, %d measured", res.Errors, res.Latency.Count)
	}
}

func TestStreams(t *testing.T) {
	for _, api := range []API{OpenAI, Anthropic} {
		path := map[API]string{OpenAI: "/v1/chat/completions", Anthropic: "/v1/messages"}[api]
		res := run(t, Config{
			URL: startMock(t) + "/m/chunks=10,delay=2ms,stamp=1" + path, API: api, Stream: true, Concurrency: 2,
		})
		if res.Errors != 0 || res.Events == 0 || res.TTFB == nil {
			t.Fatalf("%s: %+v", api, res)
		}
		if res.EventsSeen < 10 || res.EventsSeen > res.Events {
			t.Errorf("%s: %d events seen of %d", api, res.EventsSeen, res.Events)
		}
		if res.Gap.P50 < 1000 {
			t.Errorf("%s: gaps of %v us between chunks sent 2 ms apart", api, res.Gap.P50)
		}
		if want := uint64(10) * res.Latency.Count; res.Transit == nil || res.Transit.Count != want {
			t.Errorf("%s: transit %+v, want %d", api, res.Transit, want)
		}
	}
}

func TestFailuresAreCounted(t *testing.T) {
	base := startMock(t)
	res := run(t, Config{URL: base + "/m/error=429/v1/messages", Concurrency: 1})
	if res.Errors == 0 || res.ErrorKinds["status 429"] != res.Errors || res.Latency != nil {
		t.Errorf("got %+v", res)
	}
	res = run(t, Config{URL: base + "/m/cut=2/v1/chat/completions", Stream: true, Concurrency: 1})
	if res.Errors == 0 {
		t.Error("cut streams passed for good ones")
	}
	if _, err := Run(Config{URL: "https://127.0.0.1:1/", Concurrency: 1, Duration: 1}); err == nil {
		t.Error("an https URL was accepted")
	}
}
