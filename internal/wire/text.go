package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD.
func AppendString(dst []byte, s string) []byte {
	plain := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	q, err := json.Marshal(s) // cannot fail for a string
	if err != nil {
		return append(dst, `""`...)
	}
	return append(dst, q...)
}

// unquote decodes a JSON string that scanString accepted. ok is false when it
// holds a surrogate without its other half, which has no text.
func unquote(raw []byte) (out []byte, ok bool) {
	s := raw[1 : len(raw)-1]
	first := bytes.IndexByte(s, '\\')
	if first < 0 {
		return s, true // nothing to decode: a part of raw
	}
	out, ok = append(make([]byte, 0, len(s)), s[:first]...), true
	for i := first; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, _ := hex4(s[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				low, pair := rune(0), false
				if i+2 < len(s) && s[i+1] == '\\' && s[i+2] == 'u' {
					low, pair = hex4(s[i+3:])
				}
				if d := utf16.DecodeRune(r, low); pair && d != utf8.RuneError {
					r = d
					i += 6
				} else {
					r, ok = utf8.RuneError, false
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
	return out, ok
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
