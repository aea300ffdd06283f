package wiretest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/wire"
)

// Event is a wire.Event whose bytes are copied.
type Event struct {
	Name, Data string
	HasData    bool
}

// Result is what was read of a stream.
type Result struct {
	// Events are those that are not only comments and blank lines.
	Events []Event
	// Raw is the stream, put together from the events.
	Raw string
	// Kinds is what the format's reader said of Events, and Complete what it
	// said at the end. They are empty without a reader.
	Kinds    []wire.EventKind
	Complete bool
}

// Letters writes the kinds as P, C and F, for tables.
func (r Result) Letters() string {
	var b strings.Builder
	for _, k := range r.Kinds {
		b.WriteByte("PCF"[k])
	}
	return b.String()
}

// TB is what this package needs of a test.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Read reads a stream that arrives in the given parts, as the relay does. A
// reader is optional.
func Read(t TB, s *wire.EventStream, r wire.StreamReader, parts ...string) Result {
	t.Helper()
	var res Result
	var raw []byte
	take := func(ev wire.Event) {
		raw = append(raw, ev.Raw...)
		kind := wire.Preamble
		if r != nil {
			kind = r.Kind(&ev)
		}
		if len(ev.Name) == 0 && !ev.HasData {
			if kind != wire.Preamble {
				t.Errorf("a comment or blank line %q is of kind %d", ev.Raw, kind)
			}
			return
		}
		res.Events = append(res.Events, Event{string(ev.Name), string(ev.Data), ev.HasData})
		if r != nil {
			res.Kinds = append(res.Kinds, kind)
		}
	}
	src := &partReader{parts: slices.Clone(parts)}
	for {
		_, err := s.Fill(src)
		before := len(raw)
		for {
			ev, ok := s.Next()
			if !ok {
				break
			}
			take(ev)
		}
		if taken := s.Taken(); !bytes.Equal(taken, raw[before:]) {
			t.Fatalf("Taken is %q, the events since the last Fill are %q", taken, raw[before:])
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("after %d bytes: %v", len(raw), err)
		}
	}
	if ev := s.Rest(); len(ev.Raw) > 0 {
		take(ev)
	}
	res.Raw = string(raw)
	if r != nil {
		res.Complete = r.Complete()
	}
	return res
}

// partReader gives one part, or what fits of it, with each Read.
type partReader struct{ parts []string }

func (r *partReader) Read(p []byte) (int, error) {
	if len(r.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.parts[0])
	if r.parts[0] = r.parts[0][n:]; r.parts[0] == "" {
		r.parts = r.parts[1:]
	}
	return n, nil
}

// Cuts calls f with every way to cut s in two, with all its bytes apart, and,
// if s is short, with every way to cut it in three. The uncut s comes first.
func Cuts(s string, f func(parts ...string)) {
	f(s)
	for i := 1; i < len(s); i++ {
		f(s[:i], s[i:])
	}
	f(strings.Split(s, "")...)
	if len(s) > 160 {
		return
	}
	for i := 1; i < len(s); i++ {
		for j := i + 1; j < len(s); j++ {
			f(s[:i], s[i:j], s[j:])
		}
	}
}

// FailedReader is a reader that can render the provider's error event.
type FailedReader interface {
	wire.StreamReader
	wire.StreamErrors
}

// Fail reads a stream up to the provider's error event. The event and the
// reader that took it for one are returned.
func Fail(t TB, f *wire.Format, stream string) (FailedReader, wire.Event) {
	t.Helper()
	r, ok := Reader(t, f, streamRequest).(FailedReader)
	if !ok {
		t.Fatalf("the reader of %s renders no error events", f.ID)
	}
	s := wire.NewEventStream(nil)
	if _, err := s.Fill(strings.NewReader(stream)); err != nil {
		t.Fatalf("%v", err)
	}
	for {
		ev, more := s.Next()
		if !more {
			t.Fatalf("no event of %q is a failure", stream)
		}
		if r.Kind(&ev) == wire.Failed {
			return r, ev
		}
	}
}
