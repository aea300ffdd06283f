// Package wiretest is the contract that every wire format keeps. Package
// formats runs it over all of them; each format's folder runs Streams over the
// streams that it keeps in testdata.
package wiretest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// Run checks what holds for any format, whatever its shapes are.
func Run(t *testing.T, f *wire.Format) {
	t.Run("it is described in full", func(t *testing.T) { described(t, f) })
	t.Run("each endpoint has paths of its own", func(t *testing.T) { endpoints(t, f) })
	t.Run("model and stream can not be written in another spelling", func(t *testing.T) { knownNames(t, f) })
	t.Run("its own reader passes over keep-alives", func(t *testing.T) { keepAlives(t, f) })
	for _, e := range Errors() {
		t.Run("error "+e.Name, func(t *testing.T) { rendered(t, f, e.Error) })
	}
	t.Run("a stream error of a begun stream is the last event", func(t *testing.T) { streamErrors(t, f) })
}

// NamedError is an error as the gateway makes them.
type NamedError struct {
	Name  string
	Error *wire.Error
}

// Errors are gateway-made errors of all kinds, among them what breaks careless
// rendering.
func Errors() []NamedError {
	var out []NamedError
	for _, status := range []int{400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 422, 426, 429, 451, 500, 501, 502, 503, 504, 529, 599} {
		out = append(out, NamedError{fmt.Sprint(status), &wire.Error{Status: status, Code: "SOME_CODE", Message: "what happened", RequestID: "req_1"}})
	}
	for name, message := range map[string]string{
		"with quotes":             `the route "a\b" has no member`,
		"with line ends":          "first\nsecond\r\nthird\n\nevent: message_stop\ndata: {}\n\n",
		"with control characters": "a\x00b\x1b[31mc\x7f",
		"with bad UTF-8":          "a\xff\xc0b",
		"with wide characters":    "größer 😀 \u2028\u2029",
		"with markup":             "<script>&amp;",
		"without a message":       "",
	} {
		out = append(out, NamedError{name, &wire.Error{Status: 503, Code: "NO_ROUTE", Message: message, RequestID: `req_"1"`}})
	}
	out = append(out, NamedError{"without a code", &wire.Error{Status: 500, Message: "what happened"}})
	slices.SortFunc(out, func(a, b NamedError) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func described(t *testing.T, f *wire.Format) {
	if f.ID == "" || f.Title == "" || f.RequestIDHeader == "" || len(f.Endpoints) == 0 || f.Known == nil {
		t.Errorf("a field is empty: %+v", f)
	}
	if f.NewStream == nil || f.ReadAnswer == nil || f.AppendError == nil || f.AppendStreamError == nil {
		t.Error("a function is missing")
	}
}

func endpoints(t *testing.T, f *wire.Format) {
	seen := map[string]bool{}
	for _, e := range f.Endpoints {
		if e.Format != f.ID || e.ID == "" || e.Method == "" || len(e.Paths) == 0 {
			t.Errorf("%+v", e)
		}
		for _, p := range e.Paths {
			if seen[e.Method+p] || !strings.HasPrefix(p, "/") {
				t.Errorf("%s: the path %q is taken or not absolute", e.ID, p)
			}
			seen[e.Method+p] = true
		}
	}
}

func knownNames(t *testing.T, f *wire.Format) {
	for _, body := range []string{`{"Model":"a"}`, `{"mod\u0065l":"a"}`, `{"STREAM":true}`, "{\"\u017ftream\":true}"} {
		if err := wire.ReadEnvelope(new(wire.Envelope), []byte(body), f.Known, false); err == nil {
			t.Errorf("%s passes", body)
		}
	}
}

// Reader makes the format's reader for a request body.
func Reader(t TB, f *wire.Format, request string) wire.StreamReader {
	t.Helper()
	e := new(wire.Envelope)
	if err := wire.ReadEnvelope(e, []byte(request), f.Known, false); err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	return f.NewStream(e)
}

const streamRequest = `{"model":"m","stream":true}`

func keepAlives(t *testing.T, f *wire.Format) {
	if f.KeepAlive == nil {
		t.Skip("the format has none")
	}
	if !strings.HasSuffix(string(f.KeepAlive), "\n\n") {
		t.Errorf("%q does not end with a blank line: it would run into the next event", f.KeepAlive)
	}
	got := Read(t, wire.NewEventStream(nil), Reader(t, f, streamRequest), string(f.KeepAlive), string(f.KeepAlive))
	for i, k := range got.Kinds {
		if k != wire.Preamble {
			t.Errorf("keep-alive %d is of kind %d", i, k)
		}
	}
	if got.Complete {
		t.Error("keep-alives complete the stream")
	}
}

func rendered(t *testing.T, f *wire.Format, e *wire.Error) {
	body, found := strings.CutPrefix(string(f.AppendError([]byte("before"), e)), "before")
	if !found || !json.Valid([]byte(body)) {
		t.Fatalf("not one JSON value behind what was there: %q", body)
	}
	if a, ok := f.ReadAnswer([]byte(body)); !a.Error || !ok {
		t.Errorf("the format does not take its own error %s for one", body)
	}
	text, want := findMessage(t, body), string([]rune(e.Message)) // a bad byte becomes U+FFFD
	if e.Code != "" {
		want = e.Code + ": " + want // most agents show nothing but the message
	}
	if text != want {
		t.Errorf("the message reads %q, want %q", text, want)
	}

	stream := f.AppendStreamError([]byte("data: before\n\n"), e)
	events := Read(t, wire.NewEventStream(nil), nil, string(stream)).Events
	if len(events) != 2 || !strings.HasSuffix(string(stream), "\n\n") {
		t.Fatalf("not one whole event: %q", stream)
	}
	if !json.Valid([]byte(events[1].Data)) {
		t.Errorf("not JSON: %q", events[1].Data)
	}
	if got := findMessage(t, events[1].Data); got != text {
		t.Errorf("the stream error's message is %q, the body's is %q", got, text)
	}
}

// findMessage returns the first "message" at any depth.
func findMessage(t *testing.T, body string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	var find func(v any) (string, bool)
	find = func(v any) (string, bool) {
		m, ok := v.(map[string]any)
		if !ok {
			return "", false
		}
		if s, ok := m["message"].(string); ok {
			return s, true
		}
		for _, inner := range m {
			if s, ok := find(inner); ok {
				return s, true
			}
		}
		return "", false
	}
	s, ok := find(v)
	if !ok {
		t.Fatalf("no message in %s", body)
	}
	return s
}

func streamErrors(t *testing.T, f *wire.Format) {
	for _, e := range Errors() {
		stream := string(f.AppendStreamError(nil, e.Error))
		got := Read(t, wire.NewEventStream(nil), Reader(t, f, streamRequest), stream)
		if len(got.Kinds) != 1 || got.Kinds[0] != wire.Failed {
			t.Errorf("%s: kinds %v, want only Failed", stream, got.Kinds)
		}
		if got.Complete {
			t.Errorf("%s: completes the stream (RQ-STREAM-1)", stream)
		}
	}
}

// Streams checks the format's reader on recorded streams, each cut everywhere.
// A file's name says how its stream ends: "ok-", "failed-" or "cut-".
func Streams(t *testing.T, f *wire.Format, recorded fs.FS) {
	files, err := fs.Glob(recorded, "*.sse")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded streams: %v", err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			raw, err := fs.ReadFile(recorded, file)
			if err != nil {
				t.Fatal(err)
			}
			how, _, _ := strings.Cut(file, "-")
			stream := string(raw)
			want := Read(t, wire.NewEventStream(nil), Reader(t, f, streamRequest), stream)
			if complete := how == "ok"; !slices.Contains([]string{"ok", "failed", "cut"}, how) || complete != want.Complete && how != "failed" {
				t.Errorf("complete: %v", want.Complete)
			}
			if failed := slices.Contains(want.Kinds, wire.Failed); failed != (how == "failed") {
				t.Errorf("failed: %v", failed)
			}
			buf := make([]byte, 0, 32<<10)
			Cuts(stream, func(parts ...string) {
				got := Read(t, wire.NewEventStream(buf), Reader(t, f, streamRequest), parts...)
				if !slices.Equal(got.Kinds, want.Kinds) || got.Complete != want.Complete || got.Raw != stream {
					t.Fatalf("cut as %q: kinds %v, want %v; complete %v, want %v", parts, got.Kinds, want.Kinds, got.Complete, want.Complete)
				}
			})
		})
	}
}

// Usage is what a format reads of the usage in a whole answer.
func Usage(f *wire.Format, body []byte) llm.Usage {
	a, _ := f.ReadAnswer(body)
	return a.Usage
}
