package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/wiretest"
)

func ev(name, data string) wiretest.Event {
	return wiretest.Event{Name: name, Data: data, HasData: true}
}

// streams are the shapes that servers send, small enough to be cut anywhere.
var streams = []struct {
	name, stream string
	want         []wiretest.Event
}{
	{"nothing", "", nil},
	{"LF", "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", []wiretest.Event{ev("a", "1"), ev("b", "2")}},
	{"CRLF", "event: a\r\ndata: 1\r\n\r\nevent: b\r\ndata: 2\r\n\r\n", []wiretest.Event{ev("a", "1"), ev("b", "2")}},
	{"CR", "event: a\rdata: 1\r\revent: b\rdata: 2\r\r", []wiretest.Event{ev("a", "1"), ev("b", "2")}},
	{"mixed line ends", "event: a\rdata: 1\r\n\nevent: b\ndata: 2\r\r\ndata: 3\n\r\ndata: 4\n\r", []wiretest.Event{ev("a", "1"), ev("b", "2"), ev("", "3"), ev("", "4")}},
	{"LF then CR is two line ends", "data: 1\n\rdata: 2\n\n", []wiretest.Event{ev("", "1"), ev("", "2")}},
	{"a byte order mark", "\xef\xbb\xbfdata: 1\n\ndata: 2\n\n", []wiretest.Event{ev("", "1"), ev("", "2")}},
	{"a byte order mark before blank lines", "\xef\xbb\xbf\n\ndata: 1\n\n", []wiretest.Event{ev("", "1")}},
	{"a byte order mark later is part of a name", "data: 1\n\n\xef\xbb\xbfdata: 2\n\n", []wiretest.Event{ev("", "1")}},
	{"comments", ": hello\n\n:\ndata: 1\n: inside\n\n: OPENROUTER PROCESSING\n\n", []wiretest.Event{ev("", "1")}},
	{"only comments", ": keep-alive\n\n: keep-alive\n\n", nil},
	{"several data lines", "data: {\ndata: \"a\": 1\ndata: }\n\n", []wiretest.Event{ev("", "{\n\"a\": 1\n}")}},
	{"two data lines with CRLF", "data: a\r\ndata: b\r\n\r\n", []wiretest.Event{ev("", "a\nb")}},
	{"empty data lines are lines", "data\ndata:\ndata: \n\n", []wiretest.Event{ev("", "\n\n")}},
	{"no event line", "data: {\"type\":\"ping\"}\n\n", []wiretest.Event{ev("", `{"type":"ping"}`)}},
	{"data without a space", "data:1\n\ndata:  2\n\n", []wiretest.Event{ev("", "1"), ev("", " 2")}},
	{"a colon in the value", "event: a:b\ndata: c: d\n\n", []wiretest.Event{ev("a:b", "c: d")}},
	{"empty data", "data:\n\ndata\n\nevent: x\ndata: \n\n", []wiretest.Event{ev("", ""), ev("", ""), ev("x", "")}},
	{"an event line without data", "event: a\n\ndata: 1\n\n", []wiretest.Event{{Name: "a"}, ev("", "1")}},
	{"the last of two event lines", "event: a\nevent: b\ndata: 1\n\n", []wiretest.Event{ev("b", "1")}},
	{"the event line after the data", "data: 1\nevent: a\n\n", []wiretest.Event{ev("a", "1")}},
	{"a new event forgets the name", "event: a\ndata: 1\n\ndata: 2\n\n", []wiretest.Event{ev("a", "1"), ev("", "2")}},
	{"id, retry and unknown lines", "id: 7\nretry: 10\nfoo: bar\ndatax: 9\n data: 8\ndata: 1\n\n", []wiretest.Event{ev("", "1")}},
	{"many blank lines", "\n\n\ndata: 1\n\n\n\r\n\rdata: 2\n\n\n", []wiretest.Event{ev("", "1"), ev("", "2")}},
	{"no blank line at the end", "data: 1\n\ndata: [DONE]\n", []wiretest.Event{ev("", "1"), ev("", "[DONE]")}},
	{"no line end at the end", "data: 1\n\nevent: b\ndata: [DONE]", []wiretest.Event{ev("", "1"), ev("b", "[DONE]")}},
	{"a CR at the end", "data: 1\r\n\r\ndata: 2\r", []wiretest.Event{ev("", "1"), ev("", "2")}},
	{"one CRLF at the end", "data: 1\r\n\r\ndata: 2\r\n", []wiretest.Event{ev("", "1"), ev("", "2")}},
	{"a byte order mark and no blank line", "\xef\xbb\xbfdata: 1", []wiretest.Event{ev("", "1")}},
	{"bytes that are not UTF-8", "data: a\xff\xfe\n\n", []wiretest.Event{ev("", "a\xff\xfe")}},
	{"NUL", "data: a\x00b\n\n", []wiretest.Event{ev("", "a\x00b")}},
}

// referenceEvents reads a whole stream as the HTML standard says, one step
// after the other, but takes the end of the stream for a blank line.
func referenceEvents(stream string) (events []wiretest.Event) {
	stream = strings.TrimPrefix(stream, "\ufeff")
	var cur wiretest.Event
	var data []string
	for _, line := range append(regexp.MustCompile("\r\n|\n|\r").Split(stream, -1), "") {
		if line == "" {
			cur.Data, cur.HasData = strings.Join(data, "\n"), data != nil
			if cur.Name != "" || cur.HasData {
				events = append(events, cur)
			}
			cur, data = wiretest.Event{}, nil
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			cur.Name = value
		case "data":
			data = append(data, value)
		}
	}
	return events
}

func TestEventStream(t *testing.T) {
	for _, c := range streams {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, referenceEvents(c.stream)); diff != "" {
				t.Fatalf("the standard reads something else (-test +standard)\n%s", diff)
			}
			checkCuts(t, c.stream, c.want)
		})
	}
}

// checkCuts cuts a stream everywhere. Wherever a cut falls, the events and the
// bytes are the same.
func checkCuts(t *testing.T, stream string, want []wiretest.Event) {
	t.Helper()
	buf := make([]byte, 0, 32<<10)
	wiretest.Cuts(stream, func(parts ...string) {
		got := wiretest.Read(t, wire.NewEventStream(buf), nil, parts...)
		if !slices.Equal(want, got.Events) {
			t.Fatalf("cut as %q (-want +got)\n%s", parts, cmp.Diff(want, got.Events))
		}
		if got.Raw != stream {
			t.Fatalf("cut as %q the bytes became %q", parts, got.Raw)
		}
	})
}

func TestEventStream_real_streams_read_the_same_wherever_they_are_cut(t *testing.T) {
	files, err := filepath.Glob("*/testdata/*.sse")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded streams: %v", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
			t.Run(file+" with "+name, func(t *testing.T) {
				t.Parallel()
				stream := strings.ReplaceAll(string(raw), "\n", end)
				checkCuts(t, stream, referenceEvents(stream))
			})
		}
	}
}

func TestEventStream_agrees_with_the_standard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream, parts := genStream(t)
		got := wiretest.Read(t, wire.NewEventStream(make([]byte, 0, 64)), nil, parts...)
		if diff := cmp.Diff(referenceEvents(stream), got.Events); diff != "" {
			t.Fatalf("%q (-standard +ours)\n%s", parts, diff)
		}
		if got.Raw != stream {
			t.Fatalf("%q became %q", stream, got.Raw)
		}
	})
}

func genStream(t *rapid.T) (stream string, parts []string) {
	piece := rapid.SampledFrom([]string{
		"data", "data", "event", ":", ":", " ", "\n", "\n", "\n", "\r", "\r", "\r\n", "\r\n\r\n", "\n\n", "\ufeff", "x", "é", "[DONE]", "{\"a\":1}", "id",
	})
	for _, p := range rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces") {
		stream += p
	}
	for rest := stream; rest != ""; {
		n := rapid.IntRange(1, len(rest)).Draw(t, "part")
		parts, rest = append(parts, rest[:n]), rest[n:]
	}
	return stream, parts
}

func TestEventStream_reads_lines_longer_than_its_buffer(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 20<<10) // 320 KiB
	stream := "event: a\ndata: " + long + "\n\nevent: b\r\ndata: " + long + "\r\ndata: end\r\n\r\ndata: last\n\n"
	want := []wiretest.Event{ev("a", long), ev("b", long+"\nend"), ev("", "last")}
	for _, size := range []int{1 << 10, 4<<10 + 1, 16 << 10, 100_000, len(stream)} {
		t.Run(fmt.Sprintf("in parts of %d bytes", size), func(t *testing.T) {
			var parts []string
			for s := stream; s != ""; {
				n := min(size, len(s))
				parts, s = append(parts, s[:n]), s[n:]
			}
			got := wiretest.Read(t, wire.NewEventStream(nil), nil, parts...)
			if !cmp.Equal(want, got.Events) || got.Raw != stream {
				t.Errorf("%d events, %d of %d bytes", len(got.Events), len(got.Raw), len(stream))
			}
		})
	}
}

// endless gives the same byte for ever and counts.
type endless struct{ given int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.given += len(p)
	return len(p), nil
}

func TestEventStream_refuses_an_event_that_does_not_end(t *testing.T) {
	const limit = 100_000
	s := wire.NewEventStream(nil)
	s.SetMax(limit)
	// A whole event comes first, so that the unfinished one has to move.
	if _, err := s.Fill(strings.NewReader("data: 1\n\ndata: ")); err != nil {
		t.Fatal(err)
	}
	if e, ok := s.Next(); !ok || string(s.Taken()) != string(e.Raw) {
		t.Fatalf("%q", e.Raw)
	}
	src := &endless{}
	for {
		_, err := s.Fill(src)
		if _, ok := s.Next(); ok {
			t.Fatal("an event without an end was returned")
		}
		if errors.Is(err, wire.ErrEventTooLarge) {
			break
		}
		if err != nil || src.given > 2*limit {
			t.Fatalf("no refusal after %d bytes: %v", src.given, err)
		}
	}
	if src.given < limit {
		t.Errorf("refused after %d bytes; %d are allowed", src.given, limit)
	}
	if _, err := s.Fill(src); !errors.Is(err, wire.ErrEventTooLarge) {
		t.Errorf("it goes on after the refusal: %v", err)
	}
	if got := s.Taken(); len(got) != 0 {
		t.Errorf("after the refusal %d bytes count as taken", len(got))
	}
	if wire.MaxEvent != 32<<20 {
		t.Errorf("MaxEvent is %d; the error text says 32 MiB", wire.MaxEvent)
	}
}

func TestEventStream_takes_an_event_of_the_largest_size(t *testing.T) {
	const limit = 100_000
	big := "data: " + strings.Repeat("x", limit-len("data: \n\n")) + "\n\n"
	for _, buf := range []int{0, 1 << 10, 90_000, 2 * limit} {
		t.Run(fmt.Sprintf("with a first buffer of %d bytes", buf), func(t *testing.T) {
			s := wire.NewEventStream(make([]byte, 0, buf))
			s.SetMax(limit)
			// Small events before it and the buffer's moves don't count.
			stream := strings.Repeat("data: small\n\n", 500) + big + big
			got := wiretest.Read(t, s, nil, stream)
			if len(got.Events) != 502 || got.Raw != stream {
				t.Errorf("%d events, %d of %d bytes", len(got.Events), len(got.Raw), len(stream))
			}
		})
	}
}

func TestEventStream_gives_events_as_soon_as_they_are_whole(t *testing.T) {
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		t.Run(name, func(t *testing.T) {
			s := wire.NewEventStream(nil)
			text := "event: a" + end + "data: 1" + end + end
			for i := range 3 {
				if _, err := s.Fill(strings.NewReader(text)); err != nil {
					t.Fatal(err)
				}
				e, ok := s.Next()
				for ok && len(e.Name) == 0 { // the LF of a CRLF whose CR ended the event before
					e, ok = s.Next()
				}
				if !ok || string(e.Data) != "1" {
					t.Fatalf("event %d waits for more bytes", i)
				}
			}
		})
	}
}

func TestEventStream_passes_errors_on_with_the_bytes_before_them(t *testing.T) {
	broken := errors.New("connection reset")
	s := wire.NewEventStream(nil)
	n, err := s.Fill(io.MultiReader(&dataAndError{"data: 1\n\ndata: 2", broken}))
	if n != 16 || !errors.Is(err, broken) {
		t.Fatalf("%d, %v", n, err)
	}
	if e, ok := s.Next(); !ok || string(e.Data) != "1" {
		t.Errorf("the whole event before the error is lost: %q, %v", e.Raw, ok)
	}
	if _, ok := s.Next(); ok {
		t.Error("half an event is returned as a whole one")
	}
	if e := s.Rest(); string(e.Raw) != "data: 2" || string(e.Data) != "2" {
		t.Errorf("the rest is %q", e.Raw)
	}
}

type dataAndError struct {
	data string
	err  error
}

func (d *dataAndError) Read(p []byte) (int, error) { return copy(p, d.data), d.err }

func TestEventStream_uses_the_buffer_it_is_given(t *testing.T) {
	buf := make([]byte, 0, 64<<10)
	s := wire.NewEventStream(buf)
	wiretest.Read(t, s, nil, strings.Repeat("data: some event\n\n", 10_000))
	if got := s.Buffer(); cap(got) != cap(buf) || &got[:1][0] != &buf[:1][0] {
		t.Errorf("the buffer was replaced by one of %d bytes though no event is large", cap(got))
	}
	if s.Rest().Raw != nil && len(s.Rest().Raw) != 0 {
		t.Errorf("the rest is %q", s.Rest().Raw)
	}
}

// An event's slices must not overlap what a later append would write to.
func TestEventStream_joining_data_lines_leaves_the_raw_bytes_alone(t *testing.T) {
	const stream = "data: a\ndata: b\nevent: x\n\ndata: c\n\n"
	s := wire.NewEventStream(nil)
	if _, err := s.Fill(strings.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
	first, _ := s.Next()
	second, _ := s.Next()
	if string(first.Raw)+string(second.Raw) != stream || string(first.Data) != "a\nb" || string(first.Name) != "x" || string(second.Data) != "c" {
		t.Errorf("%q %q", first.Raw, second.Raw)
	}
}

func FuzzEventStream(f *testing.F) {
	for _, c := range streams {
		f.Add([]byte(c.stream), uint64(1))
	}
	f.Fuzz(func(t *testing.T, raw []byte, seed uint64) {
		stream := string(raw)
		dice := rand.New(rand.NewPCG(seed, 0))
		var parts []string
		for rest := stream; rest != ""; {
			n := 1 + dice.IntN(min(len(rest), 1+dice.IntN(64)))
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		got := wiretest.Read(t, wire.NewEventStream(make([]byte, 0, dice.IntN(32))), nil, parts...)
		if diff := cmp.Diff(referenceEvents(stream), got.Events); diff != "" {
			t.Fatalf("%q (-standard +ours)\n%s", parts, diff)
		}
		if got.Raw != stream {
			t.Fatalf("%q became %q", parts, got.Raw)
		}
	})
}

func BenchmarkEventStream(b *testing.B) {
	const delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" and some words\"}}\n\n"
	events := func(b *testing.B, stream []byte, per int) {
		buf := make([]byte, 0, 64<<10)
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			s := wire.NewEventStream(buf)
			src := bytes.NewReader(stream)
			for {
				_, err := s.Fill(src)
				for {
					if _, ok := s.Next(); !ok {
						break
					}
					n++
				}
				if err != nil {
					break
				}
			}
		}
		if n != b.N*per {
			b.Fatalf("%d events in %d rounds", n, b.N)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
	}
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		b.Run(name, func(b *testing.B) {
			events(b, []byte(strings.Repeat(strings.ReplaceAll(delta, "\n", end), 1000)), 1000)
		})
	}
	b.Run("event of 8 MiB", func(b *testing.B) {
		events(b, []byte("data: "+strings.Repeat("x", 8<<20)+"\n\n"), 1)
	})
	b.Run("event of 1 MiB in CR lines", func(b *testing.B) {
		events(b, []byte(strings.Repeat("x\r", 512<<10)+"data: y\r\r"), 1)
	})
}
