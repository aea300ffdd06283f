package gateway

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const testPing = ": keep-alive\n\n"

// lockedRecorder is a recorder that a test may read while a timer writes.
type lockedRecorder struct {
	mu  sync.Mutex
	rec *httptest.ResponseRecorder
}

func (l *lockedRecorder) Header() http.Header { return l.rec.Header() }

func (l *lockedRecorder) WriteHeader(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rec.WriteHeader(status)
}

func (l *lockedRecorder) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rec.Write(p)
}

func (l *lockedRecorder) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rec.Flush()
}

func (l *lockedRecorder) body() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rec.Body.String()
}

// writerUnderTest makes a writer over a recorder; tests run in a synctest
// bubble, where time moves only when every goroutine waits.
func writerUnderTest(ping string) (*clientWriter, *lockedRecorder) {
	rec := &lockedRecorder{rec: httptest.NewRecorder()}
	var p []byte
	if ping != "" {
		p = []byte(ping)
	}
	return newClientWriter(rec, p, 15*time.Second, func(h http.Header) { h.Set("X-Early", "yes") }, func(error) {}), rec
}

func wantBody(t *testing.T, rec *lockedRecorder, status int, body string) {
	t.Helper()
	if diff := cmp.Diff(body, rec.body()); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if got := rec.rec.Code; got != status {
		t.Errorf("status %d, want %d", got, status)
	}
}

func TestClientWriter_held_failure_has_a_real_status(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, rec := writerUnderTest(testPing)
		time.Sleep(14 * time.Second)
		w.fail(func() { rec.WriteHeader(502); _, _ = rec.Write([]byte("real")) }, func() []byte { return []byte("event") })
		time.Sleep(time.Minute)
		wantBody(t, rec, 502, "real")
	})
}

func TestClientWriter_RQ_STREAM_1_silence_sends_200_and_a_ping_every_15_seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, rec := writerUnderTest(testPing)
		defer w.end()
		time.Sleep(15*time.Second - time.Nanosecond)
		synctest.Wait()
		if !w.untouched() || rec.body() != "" {
			t.Fatal("something was sent before 15 s of silence")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		wantBody(t, rec, 200, testPing)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		wantBody(t, rec, 200, testPing+testPing+testPing)
		w.end()
		if rec.Header().Get("X-Early") != "yes" || !rec.rec.Flushed {
			t.Error("the early 200 must have its headers and be flushed")
		}
	})
}

func TestClientWriter_RQ_STREAM_1_failure_behind_keep_alives_is_an_event_of_the_stream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, rec := writerUnderTest(testPing)
		time.Sleep(16 * time.Second)
		w.fail(func() { t.Error("the status is gone; there is no real answer any more") }, func() []byte { return []byte("error event") })
		time.Sleep(time.Minute)
		wantBody(t, rec, 200, testPing+"error event")
	})
}

func TestClientWriter_content_behind_keep_alives_keeps_the_early_headers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, rec := writerUnderTest(testPing)
		defer w.end()
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if w.begin(200, func(http.Header) { t.Error("headers were sent already") }) {
			t.Error("begin says that it sent the headers")
		}
		if err := w.send([]byte("content")); err != nil {
			t.Fatal(err)
		}
		wantBody(t, rec, 200, testPing+"content")
	})
}

func TestClientWriter_pings_fill_silence_after_content_and_count_from_the_last_write(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, rec := writerUnderTest(testPing)
		defer w.end()
		w.begin(201, func(h http.Header) { h.Set("X-Real", "yes") })
		for range 4 { // 40 s of traffic: no ping
			time.Sleep(10 * time.Second)
			if err := w.send([]byte("c")); err != nil {
				t.Fatal(err)
			}
		}
		wantBody(t, rec, 201, "cccc")
		time.Sleep(15 * time.Second)
		synctest.Wait()
		wantBody(t, rec, 201, "cccc"+testPing)
		if rec.Header().Get("X-Real") != "yes" || rec.Header().Get("X-Early") != "" {
			t.Error("headers of the attempt that serves are expected")
		}
	})
}

func TestClientWriter_nothing_follows_the_end(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, rec := writerUnderTest(testPing)
		w.begin(200, func(http.Header) {})
		w.end()
		if err := w.send([]byte("late")); !errors.Is(err, errEnded) {
			t.Errorf("send after the end: %v", err)
		}
		w.fail(func() { t.Error("real") }, func() []byte { t.Error("in stream"); return nil })
		time.Sleep(time.Minute)
		wantBody(t, rec, 200, "")
	})
}

func TestClientWriter_without_a_ping_is_silent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, rec := writerUnderTest("")
		defer w.end()
		time.Sleep(time.Hour)
		synctest.Wait()
		if !w.untouched() || rec.body() != "" {
			t.Error("a request that is no stream gets no keep-alive")
		}
	})
}

// brokenWriter fails every write after the first n.
type brokenWriter struct {
	http.ResponseWriter
	left int
}

func (b *brokenWriter) Write(p []byte) (int, error) {
	if b.left--; b.left < 0 {
		return 0, errors.New("client is gone")
	}
	return b.ResponseWriter.Write(p)
}

func TestClientWriter_a_ping_that_cannot_be_written_reports_once_and_stops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &lockedRecorder{rec: httptest.NewRecorder()}
		reports := 0
		w := newClientWriter(&brokenWriter{rec, 1}, []byte(testPing), 15*time.Second, func(http.Header) {}, func(error) { reports++ })
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if reports != 1 {
			t.Errorf("%d reports of a broken client, want 1", reports)
		}
		if err := w.send([]byte("x")); err == nil {
			t.Error("a write after a failed one must fail")
		}
		w.end()
		wantBody(t, rec, 200, testPing)
	})
}

// The timer and the request's goroutine write at the same moments: whole
// pieces must come out, and the race detector must be silent.
func TestClientWriter_timer_and_relay_do_not_mix_their_bytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, rec := writerUnderTest(testPing)
		w.begin(200, func(http.Header) {})
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 200 {
				time.Sleep(15 * time.Second) // due at the same instant as the ping
				if w.send([]byte("data: x\n\n")) != nil {
					return
				}
			}
		})
		wg.Wait()
		w.end()
		rest := rec.body()
		for len(rest) > 0 {
			switch {
			case len(rest) >= len(testPing) && rest[:len(testPing)] == testPing:
				rest = rest[len(testPing):]
			case len(rest) >= 9 && rest[:9] == "data: x\n\n":
				rest = rest[9:]
			default:
				t.Fatalf("mixed bytes at %.40q", rest)
			}
		}
	})
}

// serveWriter answers one request of a raw connection, which reads only what
// the test reads, with a writer of a short limit.
func serveWriter(t *testing.T, stall time.Duration, answer func(*clientWriter) error) (net.Conn, chan error) {
	t.Helper()
	done := make(chan error, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c := newClientWriter(w, nil, time.Minute, nil, nil)
		c.stall = stall
		c.begin(200, func(http.Header) {})
		done <- answer(c)
		c.end()
	}))
	t.Cleanup(srv.Close)
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return conn, done
}

func wantSoon(t *testing.T, done chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the write blocks for ever")
		return nil
	}
}

func TestClientWriter_a_client_that_never_reads_is_cut(t *testing.T) {
	for name, size := range map[string]int{"stream": 1 << 10, "whole": 64 << 20} {
		t.Run(name, func(t *testing.T) {
			_, done := serveWriter(t, 300*time.Millisecond, func(c *clientWriter) error {
				for p := make([]byte, size); ; {
					if err := c.send(p); err != nil {
						return err
					}
				}
			})
			if err := wantSoon(t, done); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
		})
	}
}

func TestClientWriter_a_slow_client_is_served(t *testing.T) {
	conn, done := serveWriter(t, time.Second, func(c *clientWriter) error { return c.send(make([]byte, 24<<20)) })
	began := time.Now()
	for p, read := make([]byte, 512<<10), 0; read < 24<<20; {
		n, err := conn.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		read += n
		if read < 16<<20 {
			time.Sleep(time.Duration(n) * 80 * time.Millisecond / (512 << 10))
		}
	}
	if err := wantSoon(t, done); err != nil || time.Since(began) < 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestClientWriter_hurry_ends_a_blocked_write_only(t *testing.T) {
	_, done := serveWriter(t, time.Hour, func(c *clientWriter) error {
		time.AfterFunc(200*time.Millisecond, c.hurry)
		return c.send(make([]byte, 64<<20))
	})
	if err := wantSoon(t, done); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	_, done = serveWriter(t, time.Hour, func(c *clientWriter) error {
		c.hurry()
		c.fail(func() { t.Error("real") }, func() []byte { return []byte("the end") })
		return c.err
	})
	if err := wantSoon(t, done); err != nil {
		t.Error(err)
	}
}

// boundedWriter counts how often its limit is set.
type boundedWriter struct {
	http.ResponseWriter
	set int
}

func (b *boundedWriter) Write(p []byte) (int, error)      { return len(p), nil }
func (b *boundedWriter) FlushError() error                { return nil }
func (b *boundedWriter) SetWriteDeadline(time.Time) error { b.set++; return nil }

func TestClientWriter_the_limit_costs_nothing_per_event(t *testing.T) {
	b := &boundedWriter{ResponseWriter: httptest.NewRecorder()}
	c := newClientWriter(b, nil, time.Minute, nil, nil)
	c.begin(200, func(http.Header) {})
	p := []byte("data: x\n\n")
	if n := testing.AllocsPerRun(1000, func() { _ = c.send(p) }); n != 0 || b.set != 1 {
		t.Errorf("%v allocations for an event, and the limit was set %d times", n, b.set)
	}
}
