package wire

import (
	"bytes"
	"cmp"
	"errors"
	"io"
)

// MaxEvent is the largest server-sent event that is read, in bytes.
const MaxEvent = 32 << 20

// readSize is the space offered to each read of a stream.
const readSize = 16 << 10

// ErrEventTooLarge means that an event does not end within MaxEvent bytes.
var ErrEventTooLarge = errors.New("an event of the stream is larger than 32 MiB")

// Event is one server-sent event, or a run of comments and blank lines. Its
// slices are valid until the next Fill.
type Event struct {
	// Raw is the event's bytes with its blank line. The Raws of all events
	// joined are the stream, byte for byte.
	Raw []byte
	// Name is the value of the last "event" line.
	Name []byte
	// Data is the value of the "data" lines, joined by newlines.
	Data []byte
	// HasData tells an empty data line from none.
	HasData bool
}

// EventStream cuts a byte stream into events in place: nothing is copied but
// the unfinished tail. It accepts LF, CRLF and CR line ends, several data
// lines, comments, a missing event line and a byte order mark.
type EventStream struct {
	buf   []byte
	r, w  int // unread bytes are buf[r:w]
	taken int // where r was after the last Fill
	line  int // start of the line that is not whole yet, from r
	seen  int // where the search for its end goes on, from r
	max   int // MaxEvent; less in tests

	begun bool // an event was returned: a byte order mark can't come any more
}

// NewEventStream makes a stream that uses buf as its first buffer.
func NewEventStream(buf []byte) *EventStream { return &EventStream{buf: buf[:cap(buf)]} }

// Buffer gives the buffer back, which may have grown.
func (s *EventStream) Buffer() []byte { return s.buf }

// Fill does one read from src. It returns src's error; ErrEventTooLarge when
// the unfinished event is too large.
func (s *EventStream) Fill(src io.Reader) (int, error) {
	switch {
	case s.r == s.w:
		s.r, s.w = 0, 0
	case s.r > 0 && len(s.buf)-s.w < readSize:
		copy(s.buf, s.buf[s.r:s.w])
		s.r, s.w = 0, s.w-s.r
	}
	s.taken = s.r
	if len(s.buf)-s.w < readSize/4 {
		limit := cmp.Or(s.max, MaxEvent)
		if s.w >= limit {
			return 0, ErrEventTooLarge
		}
		grown := make([]byte, max(readSize, min(2*len(s.buf), limit+readSize)))
		copy(grown, s.buf[:s.w])
		s.buf = grown
	}
	n, err := src.Read(s.buf[s.w:])
	s.w += n
	return n, err
}

// Next returns the next whole event.
func (s *EventStream) Next() (Event, bool) {
	l := lines{b: s.buf[s.r:s.w], at: s.seen, lf: -1}
	start := s.line
	for {
		end, next := l.end()
		// A CR that is the last byte that came may be half of a CRLF. After
		// a blank line nothing is worth waiting for: that LF will be a blank
		// line of its own.
		if end == len(l.b) || end+1 == len(l.b) && l.b[end] == '\r' && end > start {
			s.line, s.seen = start, end
			return Event{}, false
		}
		if end == start {
			ev := s.parse(l.b[:next])
			s.r += next
			s.line, s.seen, s.begun = 0, 0, true
			return ev, true
		}
		start, l.at = next, next
	}
}

// Taken is the bytes of all events that Next returned since the last Fill, in
// one piece. It is valid until the next Fill.
func (s *EventStream) Taken() []byte { return s.buf[s.taken:s.r] }

// Rest returns the unfinished tail as an event, for the end of a stream:
// some servers leave out the last blank line. Raw is empty when there is none.
func (s *EventStream) Rest() Event { return s.parse(s.buf[s.r:s.w]) }

func (s *EventStream) parse(raw []byte) Event {
	ev := Event{Raw: raw}
	joined := false
	l := lines{b: raw, lf: -1}
	if !s.begun && bytes.HasPrefix(raw, byteOrderMark) {
		l.at = len(byteOrderMark)
	}
	for l.at < len(raw) {
		end, next := l.end()
		line := raw[l.at:end]
		l.at = next
		if len(line) == 0 || line[0] == ':' {
			continue
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(name) {
		case "event":
			ev.Name = value
		case "data":
			switch {
			case !ev.HasData:
				ev.Data, ev.HasData = value, true
			case !joined:
				ev.Data = append(append(bytes.Clone(ev.Data), '\n'), value...)
				joined = true
			default:
				ev.Data = append(append(ev.Data, '\n'), value...)
			}
		}
	}
	return ev
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// lines finds the ends of lines. It remembers where the next LF is, so that a
// stream with CR line ends is not searched to its end for each line.
type lines struct {
	b  []byte
	at int // where to look from
	lf int // the first LF from at on, len(b) if there is none; stale below at
}

// end returns the place of the next line end, and the place after it. Without
// one both are len(b).
func (l *lines) end() (end, next int) {
	if l.lf < l.at {
		l.lf = len(l.b)
		if i := bytes.IndexByte(l.b[l.at:], '\n'); i >= 0 {
			l.lf = l.at + i
		}
	}
	end = l.lf
	i := bytes.IndexByte(l.b[l.at:end], '\r')
	if i < 0 {
		return end, min(end+1, len(l.b))
	}
	end = l.at + i
	if end+1 == l.lf && l.lf < len(l.b) {
		return end, end + 2
	}
	return end, end + 1
}
