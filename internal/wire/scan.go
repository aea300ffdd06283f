package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// This scanner exists beside the JSON libraries because it is on the path of
// every request and the libraries decode what we only skip: see
// BenchmarkEnvelope, which compares it with jsontext.

// scanObject reads one JSON object: the top level strictly, nested values
// only for balance. escaped says that the name was written with escapes.
func scanObject(b []byte, visit func(m Member, escaped bool) error) error { //nolint:gocognit // the grammar of an object, top to bottom
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return expected(b, i, "a JSON object")
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return atEnd(b, i+1)
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return expected(b, i, "a member name in quotes")
		}
		end, escaped, err := scanString(b, i)
		if err != nil {
			return err
		}
		m := Member{name: b[i+1 : end-1], at: i}
		if escaped {
			m.name, _ = unquote(b[i:end])
		}
		i = skipSpace(b, end)
		if i >= len(b) || b[i] != ':' {
			return expected(b, i, `":"`)
		}
		m.start = skipSpace(b, i+1)
		if m.end, err = scanValue(b, m.start); err != nil {
			return err
		}
		if err := visit(m, escaped); err != nil {
			return err
		}
		i = skipSpace(b, m.end)
		switch {
		case i < len(b) && b[i] == ',':
			i = skipSpace(b, i+1)
		case i < len(b) && b[i] == '}':
			return atEnd(b, i+1)
		default:
			return expected(b, i, `"," or "}"`)
		}
	}
}

func atEnd(b []byte, i int) error {
	if i = skipSpace(b, i); i < len(b) {
		return &BodyError{i, "there is text after the JSON object"}
	}
	return nil
}

// scanValue returns the end of the value that starts at i.
func scanValue(b []byte, i int) (int, error) {
	if i >= len(b) {
		return 0, expected(b, i, "a value")
	}
	switch c := b[i]; {
	case c == '"':
		end, _, err := scanString(b, i)
		return end, err
	case c == '{' || c == '[':
		return skipNested(b, i)
	case c == 't':
		return scanWord(b, i, "true")
	case c == 'f':
		return scanWord(b, i, "false")
	case c == 'n':
		return scanWord(b, i, "null")
	case c == '-' || '0' <= c && c <= '9':
		return scanNumber(b, i)
	}
	return 0, expected(b, i, "a value")
}

func scanWord(b []byte, i int, word string) (int, error) {
	if !bytes.HasPrefix(b[i:], []byte(word)) {
		return 0, expected(b, i, word)
	}
	return i + len(word), nil
}

func scanNumber(b []byte, i int) (int, error) { //nolint:gocognit // the grammar of a number, left to right
	start := i
	digits := func() bool {
		from := i
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if b[i] == '-' {
		i++
	}
	zero := i < len(b) && b[i] == '0'
	from := i
	if !digits() || zero && i > from+1 {
		return 0, &BodyError{start, "a number is malformed"}
	}
	if i < len(b) && b[i] == '.' {
		if i++; !digits() {
			return 0, &BodyError{start, "a number is malformed"}
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return 0, &BodyError{start, "a number is malformed"}
		}
	}
	return i, nil
}

// scanString reads a string strictly and returns the place after its closing
// quote. A surrogate escape without its other half passes: JavaScript clients
// send them.
func scanString(b []byte, i int) (end int, escaped bool, err error) {
	start := i
	for i++; i < len(b); i++ {
		if i = plainEnd(b, i); i == len(b) {
			break
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped, nil
		case c < ' ':
			return 0, false, &BodyError{i, "a string holds a control character; write it as an escape"}
		case c == '\\':
			escaped = true
			if i++; i >= len(b) {
				break
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if _, ok := hex4(b[i+1:]); !ok {
					return 0, false, &BodyError{i - 1, `"\u" needs four hexadecimal digits`}
				}
				i += 4
			default:
				return 0, false, &BodyError{i - 1, "a string holds an unknown escape"}
			}
		}
	}
	return 0, false, &BodyError{start, "a string does not end"}
}

// plainEnd returns the place of the first byte from i on that means something
// in a string: a quote, a backslash or a control character. It looks at eight
// bytes at once: a prompt can be one long string of the top level.
func plainEnd(b []byte, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^('"'*ones), w^('\\'*ones)
		// A byte's high bit is set if the byte is below ' ', or equal to the
		// other two. Above the lowest such byte a bit may be set wrongly.
		m := ((w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
		if m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// skipNested passes over an object or array, checking only that its brackets
// and strings are balanced.
func skipNested(b []byte, i int) (int, error) {
	var buf [128]byte
	open := buf[:0]
	start := i
	for ; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			j := stringEnd(b, i+1)
			if j < 0 {
				return 0, &BodyError{i, "a string does not end"}
			}
			i = j
		case '{', '[':
			if len(open) >= maxDepth {
				return 0, &BodyError{i, fmt.Sprintf("values are nested more than %d deep", maxDepth)}
			}
			open = append(open, c)
		case '}', ']':
			if o := open[len(open)-1]; (o == '{') != (c == '}') {
				return 0, &BodyError{i, fmt.Sprintf("%q closes a %q", c, o)}
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1, nil
			}
		}
	}
	return 0, &BodyError{start, "an object or array does not end"}
}

// stringEnd finds the closing quote of a string whose content starts at i. It
// jumps from quote to quote and looks back over backslashes, so that long
// texts cost what bytes.IndexByte costs.
func stringEnd(b []byte, i int) int {
	from := i
	for {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return -1
		}
		j += i
		k := j
		for k > from && b[k-1] == '\\' {
			k--
		}
		if (j-k)%2 == 0 {
			return j
		}
		i = j + 1
		from = i
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

func expected(b []byte, i int, what string) error {
	if i >= len(b) {
		return &BodyError{len(b), "it ends where " + what + " is expected"}
	}
	return &BodyError{i, what + " is expected"}
}
