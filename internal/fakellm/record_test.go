package fakellm

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

func TestRecordsKeepTheRequestAsSent(t *testing.T) {
	f := start(t)
	body := "{ \"model\" : \"gpt-5.2\",\n \"stream\":false }"
	raw := "POST /v1/chat/completions?a=b HTTP/1.1\r\nHost: example.test\r\nx-lower: 1\r\nX-UPPER:  two\r\nx-lower: 3\r\n" +
		"content-type: application/json\r\nConnection: close\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, raw); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the record is complete", func() bool { return f.Records()[0].Done })
	r := f.Records()[0]
	if r.N != 1 || r.Path != chatPath || r.Query != "a=b" || r.Host != "example.test" || r.Status != 200 || r.Gone || r.Method != "POST" {
		t.Errorf("got %+v", r)
	}
	if string(r.Raw) != body || string(r.Body) != body || r.WireBytes != len(body) || r.BodyBytes != len(body) {
		t.Errorf("body %q, %q", r.Raw, r.Body)
	}
	want := []string{
		"Host: example.test", "x-lower: 1", "X-UPPER:  two", "x-lower: 3", "content-type: application/json", "Connection: close",
		"Content-Length: " + strconv.Itoa(len(body)),
	}
	if !slices.Equal(r.RawHeaders, want) {
		t.Errorf("raw headers %q", r.RawHeaders)
	}
	if got := r.Headers["X-Lower"]; !slices.Equal(got, []string{"1", "3"}) {
		t.Errorf("headers %v", r.Headers)
	}
}

func TestRawHeadersOfEachRequestOnAConnection(t *testing.T) {
	f := start(t)
	long := strings.Repeat("x", 10_000) // more than one read of the head, and of the body
	for _, id := range []string{"one", "two", "three"} {
		if a := f.post(messagesPath, `{"stream":true,"pad":"`+long+`"}`, "X-Id", id, "X-Long", long); a.status != 200 {
			t.Fatal(a.status)
		}
	}
	for i, id := range []string{"one", "two", "three"} {
		if r := f.Records()[i]; !slices.Contains(r.RawHeaders, "X-Id: "+id) || !slices.Contains(r.RawHeaders, "X-Long: "+long) {
			t.Errorf("%s: %.100q", id, r.RawHeaders)
		}
	}
}

func TestBodiesAreDecoded(t *testing.T) {
	f := start(t, Rule{BodyRE: "gpt", Action: ActionStatus, Status: 418})
	const body = `{"model":"gpt"}`
	var gz bytes.Buffer
	zw := gzip.NewWriter(&gz)
	if _, err := io.WriteString(zw, body); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	zs := enc.EncodeAll([]byte(body), nil)
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	for encoding, sent := range map[string]string{"gzip": gz.String(), "zstd": string(zs)} {
		f.Reset()
		if err := f.AddRule(Rule{BodyRE: "gpt", Action: ActionStatus, Status: 418}); err != nil {
			t.Fatal(err)
		}
		a := f.post(chatPath, sent, "Content-Encoding", encoding)
		r := f.Records()[0]
		if a.status != 418 || string(r.Raw) != sent || string(r.Body) != body || r.BodyBytes != len(body) {
			t.Errorf("%s: %d %+v", encoding, a.status, r)
		}
	}
	for _, encoding := range []string{"gzip", "zstd"} {
		f.post(chatPath, "not compressed", "Content-Encoding", encoding)
		r := f.Records()
		if last := r[len(r)-1]; last.BodyText != "not compressed" || !strings.HasPrefix(last.Note, "body: ") {
			t.Errorf("%s: %+v", encoding, last)
		}
	}
}

func TestOldRecordsMakeRoom(t *testing.T) {
	f := startWith(t, Options{KeepRecords: 3})
	for range 5 {
		f.post(chatPath, `{}`)
	}
	recs := f.Records()
	if len(recs) != 3 || recs[0].N != 3 || recs[2].N != 5 {
		t.Errorf("got %+v", recs)
	}
	f = startWith(t, Options{KeepBytes: 100})
	for range 5 {
		f.post(chatPath, `{"pad":"`+strings.Repeat("x", 40)+`"}`)
	}
	if n := len(f.Records()); n != 2 {
		t.Errorf("%d records within 100 bytes", n)
	}
	f = startWith(t, Options{KeepRecords: KeepNone})
	if a := f.post(chatPath, `{}`); a.status != 200 || len(f.Records()) != 0 || f.Requests() != 1 {
		t.Errorf("%d, %d records", a.status, len(f.Records()))
	}
}

func TestLogIsOneLineForEachRequest(t *testing.T) {
	var log lockedBuffer
	f := startWith(t, Options{Log: &log, KeepRecords: KeepNone})
	f.post(chatPath, `{"model":"m"}`)
	f.post(messagesPath, `not JSON`)
	eventually(t, "both are logged", func() bool { return strings.Count(log.String(), "\n") == 2 })
	for line := range strings.Lines(log.String()) {
		var r Record
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Status != 200 || r.Raw != nil || !r.Done {
			t.Errorf("%v in %s", err, line)
		}
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestRecordsWhileRequestsRun(t *testing.T) {
	f := start(t, Rule{GapMS: 1})
	ctx, stop := context.WithCancel(t.Context())
	var readers, writers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				for _, r := range f.Records() {
					if len(r.Raw) == 0 || r.Headers == nil {
						t.Error("a record without its request")
					}
				}
			}
		})
	}
	for range 8 {
		writers.Go(func() {
			for range 5 {
				f.post(messagesPath, `{"stream":true}`)
			}
		})
	}
	writers.Wait()
	stop()
	readers.Wait()
	if n := len(f.Records()); n != 40 {
		t.Errorf("%d records", n)
	}
}

func TestAsAHandlerUnderHTTPTest(t *testing.T) {
	s := New(Options{})
	srv := httptest.NewServer(s)
	f := &fixture{Server: s, t: t, url: srv.URL, client: srv.Client()}
	if a := f.post(chatPath, `{"stream":true}`); a.status != 200 {
		t.Errorf("status %d", a.status)
	}
	srv.Close()
	if r := s.Records(); len(r) != 1 || r[0].RawHeaders != nil || r[0].Frames == 0 {
		t.Errorf("got %+v", r)
	}
}
