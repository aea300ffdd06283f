package wire

import (
	"bytes"
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
	buf  []byte
	r, w int // unread bytes are buf[r:w]
	scan int // start of the line that is not whole yet, from r
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
	if len(s.buf)-s.w < readSize/4 {
		if len(s.buf) >= MaxEvent {
			return 0, ErrEventTooLarge
		}
		grown := make([]byte, max(readSize, 2*len(s.buf)))
		copy(grown, s.buf[:s.w])
		s.buf = grown
	}
	n, err := src.Read(s.buf[s.w:])
	s.w += n
	return n, err
}

// Next returns the next whole event.
func (s *EventStream) Next() (Event, bool) {
	b := s.buf[s.r:s.w]
	i := s.scan
	for {
		// Find the end of the line that starts at i.
		nl := bytes.IndexByte(b[i:], '\n')
		line := b[i:]
		if nl >= 0 {
			line = b[i : i+nl]
		}
		next := i + nl + 1
		if cr := bytes.IndexByte(line, '\r'); cr >= 0 && (cr < len(line)-1 || nl < 0) {
			// A lone CR ends the line, unless it is the last byte that came:
			// then an LF may follow. After a blank line nothing is worth
			// waiting for: that LF will be a blank line of its own.
			if i+cr+1 == len(b) && cr > 0 {
				s.scan = i
				return Event{}, false
			}
			line, next = line[:cr], i+cr+1
		} else if nl < 0 {
			s.scan = i
			return Event{}, false
		} else if cr >= 0 {
			line = line[:cr]
		}
		if len(line) == 0 {
			s.r += next
			s.scan = 0
			return parseEvent(b[:next]), true
		}
		i = next
	}
}

// Rest returns the unfinished tail as an event, for the end of a stream:
// some servers leave out the last blank line. Raw is empty when there is none.
func (s *EventStream) Rest() Event { return parseEvent(s.buf[s.r:s.w]) }

var byteOrderMark = []byte("\xef\xbb\xbf")

func parseEvent(raw []byte) Event {
	ev := Event{Raw: raw}
	joined := false
	for b := bytes.TrimPrefix(raw, byteOrderMark); len(b) > 0; {
		var line []byte
		line, b = cutLine(b)
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

// cutLine splits off the first line. A CRLF counts as one end.
func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexByte(b, '\n')
	end := i
	if i < 0 {
		i, end = len(b), len(b)
	}
	if cr := bytes.IndexByte(b[:i], '\r'); cr >= 0 {
		if cr == i-1 && end < len(b) {
			return b[:cr], b[end+1:]
		}
		return b[:cr], b[cr+1:]
	}
	if end == len(b) {
		return b, nil
	}
	return b[:i], b[end+1:]
}
