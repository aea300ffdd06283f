package fakellm

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStatusInEveryShape(t *testing.T) {
	for _, c := range []struct {
		name, path string
		rule       Rule
		at, want   string
	}{
		{"openai", chatPath, Rule{Status: 429, Code: "rate_limit_exceeded"}, "error.code", "rate_limit_exceeded"},
		{"openai type", chatPath, Rule{Status: 500}, "error.type", "server_error"},
		{"anthropic", messagesPath, Rule{Status: 529}, "error.type", "overloaded_error"},
		{"anthropic on vertex", vertexClaude + "rawPredict", Rule{Status: 429}, "error.type", "rate_limit_error"},
		{"google", geminiPath, Rule{Status: 429}, "error.status", "RESOURCE_EXHAUSTED"},
		{"bedrock", converse, Rule{Status: 429, Message: "Too many tokens"}, "message", "Too many tokens"},
		{"another shape than the path's", chatPath, Rule{Status: 404, Shape: "google"}, "error.status", "NOT_FOUND"},
		{"type and message", messagesPath, Rule{Status: 400, Type: "billing_error", Message: "no credit"}, "error.type", "billing_error"},
		{"a literal body", chatPath, Rule{Status: 418, Body: `{"detail":"teapot"}`}, "detail", "teapot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.rule.Action, c.rule.Headers = ActionStatus, map[string]string{"Retry-After": "7"}
			a := start(t, c.rule).post(c.path, `{}`)
			if a.status != c.rule.Status || a.header.Get("Retry-After") != "7" {
				t.Errorf("status %d, %v", a.status, a.header)
			}
			if got := at(t, string(a.body), c.at); got != c.want {
				t.Errorf("%v in %s", got, a.body)
			}
		})
	}
	f := start(t, Rule{Action: ActionStatus, Status: 429})
	if got := f.post(converse, `{}`).header.Get("X-Amzn-Errortype"); got != "ThrottlingException" {
		t.Errorf("bedrock error type %q", got)
	}
	for shape, contentType := range map[string]string{"html": "text/html", "plain": "text/plain", "empty": "text/plain"} {
		a := start(t, Rule{Action: ActionStatus, Status: 502, Shape: shape, Message: "bad gateway"}).post(chatPath, `{}`)
		if a.status != 502 || a.header.Get("Content-Type") != contentType || (len(a.body) == 0) != (shape == "empty") {
			t.Errorf("%s: %d %v %q", shape, a.status, a.header, a.body)
		}
	}
}

func TestError200(t *testing.T) {
	f := start(t, Rule{Action: ActionError200, Status: 429, Message: "upstream is busy"})
	for _, body := range []string{`{}`, `{"stream":true}`} {
		a := f.post(chatPath, body)
		if a.status != 200 || at(t, string(a.body), "error.code") != 429.0 || at(t, string(a.body), "error.message") != "upstream is busy" {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if a := f.post(messagesPath, `{}`); a.status != 200 || at(t, string(a.body), "error.type") != "rate_limit_error" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestResetComesBeforeAnyByte(t *testing.T) {
	a := start(t, Rule{Action: ActionReset}).post(chatPath, `{}`)
	if !errors.Is(a.err, syscall.ECONNRESET) && !errors.Is(a.err, io.EOF) {
		t.Errorf("got %d, %v", a.status, a.err)
	}
}

// TestCut breaks streams and plain answers in each way.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		cut, body string
		frames    int
		clean     bool
	}{
		{CutReset, `{"stream":true}`, 2, false},
		{CutClose, `{"stream":true}`, 2, false},
		{"", `{"stream":true}`, 2, false},
		{CutEnd, `{"stream":true}`, 2, true},
		{CutReset, `{}`, 0, false},
		{CutClose, `{}`, 0, false},
		{CutEnd, `{}`, 0, true},
	} {
		t.Run(c.cut+" "+c.body, func(t *testing.T) {
			f := start(t, Rule{Action: ActionCut, Cut: c.cut, After: 2})
			a := f.post(messagesPath, c.body)
			if a.status != 200 || (a.err == nil) != c.clean {
				t.Errorf("status %d, error %v", a.status, a.err)
			}
			if n := len(sseEvents(t, a.body)); n != c.frames {
				t.Errorf("%d frames in %q", n, a.body)
			}
			if c.frames == 0 && (len(a.body) == 0 || strings.HasSuffix(string(a.body), "}")) {
				t.Errorf("not half of a plain answer: %q", a.body)
			}
		})
	}
}

func TestSSEErrorInEveryFraming(t *testing.T) {
	rule := Rule{Action: ActionSSEError, After: 1, Status: 529, Message: "Overloaded"}
	for _, c := range []struct {
		name, path string
		decode     func(*testing.T, []byte) []event
		event      string
		at         string
	}{
		{"chat", chatPath, sseEvents, "", "error.message"},
		{"messages", messagesPath, sseEvents, "error", "error.message"},
		{"responses", responsesPath, sseEvents, "error", "message"},
		{"gemini sse", geminiStream + "?alt=sse", sseEvents, "", "error.message"},
		{"gemini array", geminiStream, arrayEvents, "", "error.message"},
		{"bedrock invoke", invokeStream, awsEvents, "!throttlingException", "error.message"},
		{"bedrock converse", converse + "-stream", awsEvents, "!throttlingException", "message"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.HasPrefix(c.name, "bedrock invoke") {
				c.at = "message" // the exception is AWS's, not Anthropic's
			}
			f := start(t, rule)
			a := f.post(c.path, `{"stream":true}`)
			events := c.decode(t, a.body)
			if a.err != nil || len(events) != 2 {
				t.Fatalf("%d events, %v in %s", len(events), a.err, a.body)
			}
			if e := events[1]; e.name != c.event || at(t, e.data, c.at) != "Overloaded" {
				t.Errorf("got %+v", e)
			}
		})
	}
	f := start(t, Rule{Action: ActionSSEError, After: 1, Raw: "data: {\"oops\":1}\n\n"})
	events := sseEvents(t, f.post(chatPath, `{"stream":true}`).body)
	if len(events) != 2 || events[1].data != `{"oops":1}` {
		t.Errorf("raw: %+v", events)
	}
}

func TestPreambleErrorHasNoContent(t *testing.T) {
	f := start(t, Rule{Action: ActionPreambleError, Status: 529})
	for _, c := range []struct{ path, order string }{
		{messagesPath, "message_start ping error"},
		{responsesPath, "response.created response.in_progress error"},
	} {
		if got := names(sseEvents(t, f.post(c.path, `{"stream":true}`).body)); got != c.order {
			t.Errorf("%s: %s", c.path, got)
		}
	}
	events := sseEvents(t, f.post(chatPath, `{"stream":true}`).body)
	if len(events) != 2 || at(t, events[0].data, "choices.0.delta.role") != "assistant" || at(t, events[1].data, "error.type") != "server_error" {
		t.Errorf("chat: %+v", events)
	}
	if events := arrayEvents(t, f.post(geminiStream, `{}`).body); len(events) != 1 {
		t.Errorf("gemini: %+v", events)
	}
}

func TestInject(t *testing.T) {
	f := start(t, Rule{Action: ActionInject, After: 1, Raw: ": comment\n\nevent: new_thing\ndata: {\"type\":\"new_thing\"}\n\n"})
	a := f.post(messagesPath, `{"stream":true}`)
	if got := names(sseEvents(t, a.body)); !strings.HasPrefix(got, "message_start new_thing content_block_start") || !strings.HasSuffix(got, "message_stop") {
		t.Errorf("got %s", got)
	}
	if !bytes.Contains(a.body, []byte(": comment\n")) {
		t.Error("no comment")
	}
}

func TestGzipWithoutBeingAsked(t *testing.T) {
	f := start(t, Rule{Action: ActionGzip})
	plain := f.post(chatPath, `{}`)
	if plain.header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("got %v", plain.header)
	}
	if got := at(t, string(gunzip(t, bytes.NewReader(plain.body))), "choices.0.message.content"); got != defaultText {
		t.Errorf("text %v", got)
	}
	stream := f.post(messagesPath, `{"stream":true}`)
	if got := joined(t, sseEvents(t, gunzip(t, bytes.NewReader(stream.body))), "delta.text"); got != defaultText {
		t.Errorf("text %q", got)
	}
}

func gunzip(t *testing.T, r io.Reader) []byte {
	t.Helper()
	zr, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGzippedEventsArriveOneByOne(t *testing.T) {
	f := start(t, Rule{Action: ActionGzip, GapMS: 60_000})
	resp, err := f.open(t.Context(), chatPath, `{"stream":true}`)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	zr, err := gzip.NewReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, err := zr.Read(b)
	if err != nil || !bytes.HasSuffix(b[:n], []byte("\n\n")) {
		t.Errorf("first event %q, %v", b[:n], err)
	}
}

func TestJSONForStream(t *testing.T) {
	f := start(t, Rule{Action: ActionJSONForStream})
	for path, where := range map[string]string{
		chatPath: "choices.0.message.content", messagesPath: "content.0.text", responsesPath: "output.0.content.0.text",
		geminiStream: "candidates.0.content.parts.0.text", invokeStream: "content.0.text", converse + "-stream": "output.message.content.0.text",
	} {
		a := f.post(path, `{"stream":true}`)
		if got := at(t, string(a.body), where); got != defaultText || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}

func TestTricklePings(t *testing.T) {
	for _, c := range []struct{ path, body, want string }{
		{messagesPath, `{"stream":true}`, "event: ping\ndata: {\"type\":\"ping\"}\n\n"},
		{chatPath, `{"stream":true}`, ": ping\n\n"},
		{responsesPath, `{"stream":true}`, ": ping\n\n"},
		{chatPath, `{}`, "\n"},
	} {
		t.Run(c.path+c.body, func(t *testing.T) {
			f := start(t, Rule{Action: ActionTricklePings, GapMS: 2})
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			resp, err := f.open(ctx, c.path, c.body)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			want := strings.Repeat(c.want, 5)
			got := make([]byte, len(want))
			if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
				t.Errorf("got %q, %v", got, err)
			}
			leave()
			eventually(t, "the client's leaving is noticed", func() bool { return f.InFlight() == 0 })
		})
	}
}

// TestSilencesEndWhenTheClientLeaves covers the actions that wait for ever.
func TestSilencesEndWhenTheClientLeaves(t *testing.T) {
	for _, c := range []struct {
		name   string
		rule   Rule
		body   string
		head   bool // the answer begins
		frames int
	}{
		{"hang", Rule{Action: ActionHang}, `{}`, false, 0},
		{"delay", Rule{DelayMS: 60_000}, `{}`, false, 0},
		{"headers_hang", Rule{Action: ActionHeadersHang}, `{}`, true, 0},
		{"stall at once", Rule{Action: ActionStall}, `{"stream":true}`, true, 0},
		{"stall later", Rule{Action: ActionStall, After: 3, GapMS: 5}, `{"stream":true}`, true, 3},
		{"stall in a plain answer", Rule{Action: ActionStall}, `{}`, true, 0},
		{"gap", Rule{GapMS: 60_000}, `{"stream":true}`, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t, c.rule)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			done := make(chan error, 1)
			began := time.Now()
			go func() {
				resp, err := f.open(ctx, messagesPath, c.body)
				if err == nil {
					if got := resp.Header.Get("Content-Type"); strings.Contains(c.name, "headers") && !strings.HasPrefix(got, "text/event-stream") {
						t.Errorf("content type %q", got)
					}
					_, err = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				done <- err
			}()
			eventually(t, "the request is there", func() bool { return len(f.Records()) == 1 })
			seen := time.Now() // not before the provider began to count
			eventually(t, "the request is silent", func() bool {
				return (f.Records()[0].Status == 200) == c.head && time.Since(seen) > 40*time.Millisecond
			})
			if f.InFlight() != 1 {
				t.Errorf("%d in flight", f.InFlight())
			}
			left := time.Now()
			leave()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("client got %v", err)
			}
			eventually(t, "the request ends", func() bool { return f.InFlight() == 0 })
			r := f.Records()[0]
			lo, hi := left.Sub(seen).Milliseconds(), time.Since(began).Milliseconds()
			if !r.Done || !r.Gone || r.GoneAfterMS < lo || r.GoneAfterMS > hi {
				t.Errorf("gone after %d ms, want %d to %d: %+v", r.GoneAfterMS, lo, hi, r)
			}
			if r.Frames != c.frames {
				t.Errorf("%d frames, want %d", r.Frames, c.frames)
			}
			if f.Gone() != 1 {
				t.Errorf("%d gone", f.Gone())
			}
		})
	}
}

func TestCloseEndsSilences(t *testing.T) {
	f := start(t, Rule{Action: ActionHang})
	done := make(chan struct{})
	go func() {
		f.post(chatPath, `{}`)
		close(done)
	}()
	eventually(t, "the request hangs", func() bool { return f.InFlight() == 1 })
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	<-done
	if _, err := f.Start("127.0.0.1:0"); err == nil {
		t.Error("started after Close")
	}
}

func TestGapSpacesFrames(t *testing.T) {
	f := start(t, Rule{GapMS: 10, Reply: &Reply{Chunks: 5, TextLen: 50}})
	began := time.Now()
	a := f.post(chatPath, `{"stream":true}`)
	if n := len(sseEvents(t, a.body)); n != 8 || time.Since(began) < 7*10*time.Millisecond {
		t.Errorf("%d events in %v", n, time.Since(began))
	}
	if r := f.Records()[0]; r.Gone || r.Frames != 8 {
		t.Errorf("%+v", r)
	}
}

func TestHTTP2HasNoConnectionToCut(t *testing.T) {
	// A handler under another server, without Hijack: the stream is aborted.
	s := New(Options{})
	if err := s.AddRule(Rule{Action: ActionReset}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := recover(); p != http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this as well
			t.Errorf("got %v", p)
		}
		if r := s.Records(); len(r) != 1 || !r[0].Done || r[0].Note != "cut:rst" {
			t.Errorf("got %+v", r)
		}
	}()
	s.ServeHTTP(discard{http.Header{}}, httpRequest(t, chatPath, `{}`))
}

func httpRequest(t *testing.T, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
