//go:build linux

package ops

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// cpu is the processor time that the process has used.
func (p *process) cpu() time.Duration {
	p.t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/stat")
	if err != nil {
		p.t.Fatal(err)
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')'):]))
	ticks := 0
	for _, f := range fields[12:14] { // user and system
		n, err := strconv.Atoi(f)
		if err != nil {
			p.t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// connect opens a connection and sends text; nil if it can't.
func (p *process) connect(text string) net.Conn {
	p.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(p.t.Context(), "tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		return nil
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.WriteString(conn, text) // it may be refused already
	return conn
}

// files is how many descriptors this test may have.
func files(t *testing.T) int {
	t.Helper()
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		t.Fatal(err)
	}
	return int(min(l.Cur, 1<<20))
}

// TestOP_5_idle_connections: ten thousand cost little memory and nobody anything
// else.
func TestOP_5_idle_connections(t *testing.T) {
	most := min(10_000, files(t)/2-600) // the process keeps a half for providers
	provider := newHeld(t)
	p := newSite(t, provider.provider(), gwtest.Route("r", `"gpt-*"`, "a")).start()
	p.chat(200)
	before := p.status("VmRSS")
	for range most {
		if p.connect("") == nil {
			t.Fatal("no connection")
		}
	}
	var slowest time.Duration
	for range 200 {
		began := time.Now()
		p.chat(200)
		slowest = max(slowest, time.Since(began))
	}
	each := (p.status("VmRSS") - before) << 10 / int64(most)
	busy := p.cpu()
	t.Logf("%d connections, %d bytes each; the slowest of 200 requests took %v", most, each, slowest)
	if each > 20<<10 {
		t.Errorf("%d bytes for each connection", each)
	}
	if busy > 10*time.Second {
		t.Errorf("%v of processor time", busy)
	}
}

// TestOP_5_descriptors_run_out: more clients than the process may have open
// files. It goes on, tells who is one too many, dials providers all the same,
// writes its records, and does not spin.
func TestOP_5_descriptors_run_out(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a limit of ten seconds")
	}
	t.Parallel()
	provider := newHeld(t)
	s := newSite(t, provider.provider(), gwtest.Route("r", `"gpt-*"`, "a"))
	s.files = 400 // 72 connections
	p := s.start()
	p.chat(200)
	p.client.CloseIdleConnections()
	var refused, silent int
	for range 600 {
		conn := p.connect("POST " + chatPath + " HTTP/1.1\r\nHost: x\r\n")
		if conn == nil {
			silent++
			continue
		}
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		b := make([]byte, 12)
		if n, err := io.ReadFull(conn, b); n > 0 {
			if refused++; string(b[:n]) != "HTTP/1.1 503" {
				t.Errorf("%q", b[:n])
			}
		} else if err != nil && !os.IsTimeout(err) {
			silent++
		}
	}
	before := p.cpu()
	began := time.Now()
	poll(t, "slow headers are given up and there is room", func() bool {
		a := p.do(t.Context(), "POST", chatPath, gwtest.Chat("gpt-5", false), key)
		return a.err == nil && a.status == 200
	})
	used, took := p.cpu()-before, time.Since(began)
	t.Logf("of 600, %d were refused and %d closed; a request was served after %v, for %v of processor time", refused, silent, took, used)
	if refused == 0 {
		t.Error("nobody was told")
	}
	if used > took/2+500*time.Millisecond {
		t.Errorf("%v of processor time in %v", used, took)
	}
	poll(t, "all of them are given up", func() bool { // each has a time of its own
		for range 20 {
			if a := p.do(t.Context(), "POST", chatPath, gwtest.Chat("gpt-5", false), key); a.err != nil || a.status != 200 {
				return false
			}
		}
		return true
	})
	if strings.Contains(p.log.String(), "too many open files") {
		t.Error("it ran out of descriptors:\n" + p.log.String())
	}
	p.stop()
}

// TestOP_5_header_flood: many who send headers without an end, before anybody
// knows who they are.
func TestOP_5_header_flood(t *testing.T) {
	const limit = 256 << 20
	t.Setenv("GOMEMLIMIT", strconv.Itoa(limit))
	var tiny strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&tiny, "%x:\n", i)
	}
	long := "X-A: " + strings.Repeat("a", 150_000)
	for name, headers := range map[string]string{"tiny": tiny.String(), "long": long} {
		t.Run(name, func(t *testing.T) {
			provider := newHeld(t)
			p := newSite(t, provider.provider(), gwtest.Route("r", `"gpt-*"`, "a")).start()
			var wg sync.WaitGroup
			var opened atomic.Int64
			for range 8 {
				wg.Go(func() {
					for range 250 {
						if p.connect("POST "+chatPath+" HTTP/1.1\r\nHost: x\r\n"+headers) != nil {
							opened.Add(1)
						}
					}
				})
			}
			wg.Wait()
			for range 50 {
				p.chat(200)
			}
			peak := p.status("VmHWM") - p.status("RssFile")
			t.Logf("%d connections; RSS at most %d MiB", opened.Load(), peak>>10)
			if peak<<10 > limit {
				t.Errorf("%d MiB", peak>>10)
			}
		})
	}
}

// TestOP_5_overload: above server.maxInFlight each is refused at once, memory
// does not grow, and all is well when the load has gone.
func TestOP_5_overload(t *testing.T) {
	provider := newHeld(t)
	s := newSite(t, provider.provider(), gwtest.Route("r", `"gpt-*"`, "a"))
	s.server = ", maxInFlight: 50"
	p := s.start()
	answers := make(chan answer, 50)
	for range 50 {
		go func() { answers <- p.do(t.Context(), "POST", chatPath, gwtest.Chat("gpt-held", false), key) }()
	}
	poll(t, "50 run", func() bool { return provider.waiting.Load() == 50 })
	refused := func(n int) (slowest time.Duration) {
		for range n {
			began := time.Now()
			a := p.do(t.Context(), "POST", chatPath, gwtest.Chat("gpt-5", false), key)
			slowest = max(slowest, time.Since(began))
			if a.err != nil || a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") != "1" || !strings.Contains(a.body, "gateway_overloaded") {
				t.Fatalf("%d %v %v %s", a.status, a.err, a.header, a.body)
			}
		}
		return slowest
	}
	refused(2_000)
	before := p.status("VmRSS")
	slowest := refused(5_000)
	after := p.status("VmRSS")
	t.Logf("RSS %d → %d MiB over 5,000 refusals, the slowest after %v", before>>10, after>>10, slowest)
	if after > before+16<<10 {
		t.Errorf("memory grew from %d to %d MiB", before>>10, after>>10)
	}
	for range 50 {
		provider.release <- struct{}{}
	}
	for range 50 {
		if a := <-answers; a.status != 200 {
			t.Errorf("one that ran: %d %v %s", a.status, a.err, a.body)
		}
	}
	for range 100 {
		p.chat(200)
	}
	p.stop()
}

// TestOP_5_slow_headers end with their time, also one byte at a time.
func TestOP_5_slow_headers(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a limit of ten seconds")
	}
	t.Parallel()
	provider := newHeld(t)
	p := newSite(t, provider.provider(), gwtest.Route("r", `"gpt-*"`, "a")).start()
	began := time.Now()
	drip, silent := p.connect("GET /healthz HTTP/1.1\r\n"), p.connect("")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, drip)
	}()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-tick.C:
			_, _ = io.WriteString(drip, "a") // it is closed at some point
		case <-ended:
			open = false
		}
	}
	_, _ = io.Copy(io.Discard, silent)
	if took := time.Since(began); took < 5*time.Second || took > 15*time.Second {
		t.Errorf("they were given up after %v", took)
	}
	// Half a body of a caller without a key holds nothing once it has its answer.
	began = time.Now()
	slow := p.connect("POST " + chatPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{")
	resp, err := http.ReadResponse(bufio.NewReader(slow), nil)
	if err != nil || resp.StatusCode != 401 {
		t.Fatalf("%v %v", resp, err)
	}
	_, _ = io.Copy(io.Discard, slow)
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it was closed after %v", took)
	}
}
