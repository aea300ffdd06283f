package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainText is text that every YAML reader takes for text without quotes: a
// letter first, and no colon before a space.
var plainText = regexp.MustCompile(`^[A-Za-z](?:[A-Za-z0-9_./-]|:[A-Za-z0-9_./-])*$`)

// yamlWords are texts that some YAML reader takes for something else.
var yamlWords = regexp.MustCompile(`(?i)^(?:true|false|null|yes|no|on|off|y|n|nan|inf|infinity)$`)

// writeYAML writes JSON as a YAML document in block style. The order of fields
// stays, and the same JSON gives the same bytes.
func writeYAML(w *bytes.Buffer, raw json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	y := yamlWriter{w: w, dec: dec}
	if err := y.value(0, false); err != nil && err != io.EOF { //nolint:errorlint // a decoder gives it as it is
		return fmt.Errorf("write YAML: %w", err)
	}
	return nil
}

type yamlWriter struct {
	w   *bytes.Buffer
	dec *json.Decoder
}

// value writes the next value and the end of its line. inline says that
// something is on the line already, such as a key.
func (y *yamlWriter) value(depth int, inline bool) error {
	t, err := y.dec.Token()
	if err != nil {
		return err
	}
	d, isDelim := t.(json.Delim)
	if !isDelim {
		if inline {
			y.w.WriteByte(' ')
		}
		y.scalar(t)
		y.w.WriteByte('\n')
		return nil
	}
	if !y.dec.More() {
		if inline {
			y.w.WriteByte(' ')
		}
		y.w.WriteString(map[json.Delim]string{'{': "{}\n", '[': "[]\n"}[d])
		_, err = y.dec.Token()
		return err
	}
	if d == '[' {
		return y.list(depth, inline)
	}
	return y.object(depth, inline)
}

// object writes the fields of an object, each on a line. After a dash, which
// is inline too, the first field stands beside it.
func (y *yamlWriter) object(depth int, inline bool) error {
	beside := inline && bytes.HasSuffix(y.w.Bytes(), []byte("-"))
	if inline && !beside {
		y.w.WriteByte('\n')
	}
	for first := true; y.dec.More(); first = false {
		switch {
		case first && beside:
			y.w.WriteByte(' ')
		default:
			y.indent(depth)
		}
		key, err := y.dec.Token()
		if err != nil {
			return err
		}
		y.scalar(key)
		y.w.WriteByte(':')
		if err := y.value(depth+1, true); err != nil {
			return err
		}
	}
	_, err := y.dec.Token()
	return err
}

func (y *yamlWriter) list(depth int, inline bool) error {
	if inline {
		y.w.WriteByte('\n')
	}
	for y.dec.More() {
		y.indent(depth)
		y.w.WriteByte('-')
		if err := y.value(depth+1, true); err != nil {
			return err
		}
	}
	_, err := y.dec.Token()
	return err
}

func (y *yamlWriter) indent(depth int) { y.w.WriteString(strings.Repeat("  ", depth)) }

func (y *yamlWriter) scalar(t json.Token) {
	switch t := t.(type) {
	case nil:
		y.w.WriteString("null")
	case string:
		y.text(t)
	default:
		fmt.Fprint(y.w, t)
	}
}

// text writes a text, in double quotes unless it is beyond doubt.
func (y *yamlWriter) text(s string) {
	if plainText.MatchString(s) && !yamlWords.MatchString(s) {
		y.w.WriteString(s)
		return
	}
	y.w.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			y.w.WriteByte('\\')
			y.w.WriteRune(r)
		case r == '\n':
			y.w.WriteString(`\n`)
		case r == '\t':
			y.w.WriteString(`\t`)
		case r == utf8.RuneError, r == ' ', unicode.IsPrint(r):
			y.w.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(y.w, `\U%08x`, r)
		default:
			fmt.Fprintf(y.w, `\u%04x`, r)
		}
	}
	y.w.WriteByte('"')
}
