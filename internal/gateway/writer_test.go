package gateway

import (
	"errors"
	"net/http"
	"net/http/httptest"
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
