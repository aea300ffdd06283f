package wire

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of the envelope.
const (
	// MaxModelChars is the longest model name, in characters.
	MaxModelChars = 256
	// maxDepth bounds nesting, as encoding/json does.
	maxDepth = 10_000
	// maxMembers bounds the top level, where members are compared with each
	// other; real requests have about a dozen.
	maxMembers = 1000
)

// BodyError says where a body is not what the envelope requires.
type BodyError struct {
	// Offset counts bytes from 0.
	Offset  int
	Message string
}

func (e *BodyError) Error() string {
	return fmt.Sprintf("the request body is not valid at byte %d: %s", e.Offset, e.Message)
}

// Names are the top-level members that a format knows. A member that differs
// from one only by case or escapes is refused: some parsers would take it for
// the known one, and gateway and provider would read different requests.
type Names struct{ exact map[string]string }

// NewNames makes the set of a format.
func NewNames(names ...string) *Names {
	n := &Names{exact: make(map[string]string, len(names))}
	for _, s := range names {
		n.exact[fold(s)] = s
	}
	return n
}

// Member is one top-level member of the body.
type Member struct {
	name       []byte // decoded
	at         int    // where the name starts
	start, end int    // range of the value in the body
}

// Envelope is what the gateway reads of a request body: top-level members by
// place. It refers to the body's bytes and is valid as long as they are.
type Envelope struct {
	Model  string
	Stream bool

	body    []byte
	members []Member
	model   int // index of the model in members, -1 without one
	buf     [24]Member
}

// ReadEnvelope reads a request body strictly, in one pass: one JSON object in
// UTF-8 whose top level is well formed and whose nested values are balanced,
// no member twice, no known name in another spelling, and stream a boolean.
// Nested values need only be balanced: their validity is the provider's to
// judge. With needModel the model must be a non-empty string of at most
// MaxModelChars characters. Every error is a *BodyError.
func ReadEnvelope(e *Envelope, body []byte, known *Names, needModel bool) error {
	e.Model, e.Stream, e.body, e.model = "", false, body, -1
	e.members = e.buf[:0]
	if !utf8.Valid(body) {
		return &BodyError{invalidUTF8At(body), "it is not UTF-8 text"}
	}
	if err := scanObject(body, func(m Member, escaped bool) error { return e.add(m, escaped, known) }); err != nil {
		return err
	}
	if !needModel {
		return nil
	}
	if e.model < 0 {
		return &BodyError{max(0, len(body)-1), `it has no "model"; name the model to use`}
	}
	return e.readModel()
}

func (e *Envelope) add(m Member, escaped bool, known *Names) error {
	if spelled, ok := known.exact[fold(string(m.name))]; ok {
		if string(m.name) != spelled || escaped {
			return &BodyError{m.at, fmt.Sprintf("the member %q is another spelling of %q; write it plainly", clip(string(m.name)), spelled)}
		}
	}
	if len(e.members) == maxMembers {
		return &BodyError{m.at, fmt.Sprintf("it has more than %d members", maxMembers)}
	}
	if e.find(m.name) >= 0 {
		return &BodyError{m.at, fmt.Sprintf("the member %q appears twice", clip(string(m.name)))}
	}
	switch string(m.name) {
	case "model":
		e.model = len(e.members)
	case "stream":
		switch string(e.body[m.start:m.end]) {
		case "true":
			e.Stream = true
		case "false":
		default:
			return &BodyError{m.start, `"stream" must be true or false`}
		}
	}
	e.members = append(e.members, m)
	return nil
}

// find looks a member up by its decoded name.
func (e *Envelope) find(name []byte) int {
	for i := range e.members {
		if bytes.Equal(e.members[i].name, name) {
			return i
		}
	}
	return -1
}

func (e *Envelope) readModel() error {
	m := e.members[e.model]
	raw := e.body[m.start:m.end]
	if raw[0] != '"' {
		return &BodyError{m.start, `"model" must be text`}
	}
	name, ok := unquote(raw)
	switch {
	case !ok:
		return &BodyError{m.start, `"model" holds half of a surrogate pair`}
	case len(name) == 0:
		return &BodyError{m.start, `"model" is empty; name the model to use`}
	case len(name) > MaxModelChars && utf8.RuneCount(name) > MaxModelChars:
		return &BodyError{m.start, fmt.Sprintf(`"model" has more than %d characters`, MaxModelChars)}
	}
	e.Model = string(name)
	return nil
}

// Value returns the raw JSON of a top-level member.
func (e *Envelope) Value(name string) ([]byte, bool) {
	i := e.find([]byte(name))
	if i < 0 {
		return nil, false
	}
	return e.body[e.members[i].start:e.members[i].end], true
}

// Body returns the client's bytes.
func (e *Envelope) Body() []byte { return e.body }

// AppendWithModel appends the body to dst with another model. All other bytes
// stay. With the model that it already has, they all do.
func (e *Envelope) AppendWithModel(dst []byte, model string) []byte {
	if e.model < 0 || model == e.Model {
		return append(dst, e.body...)
	}
	m := e.members[e.model]
	dst = append(dst, e.body[:m.start]...)
	dst = AppendString(dst, model)
	return append(dst, e.body[m.end:]...)
}

// Members calls f for each top-level member of a JSON object, with the
// decoded name and the raw value. It checks what ReadEnvelope checks but for
// names and UTF-8.
func Members(b []byte, f func(name, value []byte)) error {
	return scanObject(b, func(m Member, _ bool) error {
		f(m.name, b[m.start:m.end])
		return nil
	})
}

// Counts reads the non-negative integers of a JSON object that names asks for:
// into returns where a member's number goes, nil for one that is not wanted, and
// path is the name of the object it stands in, empty at the top. ok is false if
// something that is wanted is no such number; null is none, and leaves what is
// there. Usage is read on every answer, and a decoder takes ten times as long.
func Counts(object []byte, into func(path, name []byte) *int64) (ok bool) {
	ok = true
	if Members(object, func(name, value []byte) {
		if len(value) > 0 && value[0] == '{' {
			path := name
			_ = Members(value, func(name, value []byte) { // it was scanned already
				ok = count(value, into(path, name)) && ok
			})
			return
		}
		ok = count(value, into(nil, name)) && ok
	}) != nil {
		return false
	}
	return ok
}

func count(value []byte, to *int64) bool {
	if to == nil || string(value) == "null" {
		return true
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < 0 {
		return false
	}
	*to = n
	return true
}

// fold maps a name to the form that names equal but for case share. Lower case
// takes care of the letters, U+212A (the Kelvin sign) among them; U+017F, the
// long s, is a lower-case letter of its own and folds to s, as in encoding/json.
func fold(s string) string {
	for i := range len(s) {
		if c := s[i]; 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf {
			return strings.ReplaceAll(strings.ToLower(s), "\u017f", "s")
		}
	}
	return s
}

func invalidUTF8At(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
