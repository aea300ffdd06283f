package fakellm

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
)

// framing is how frames become bytes.
type framing int

const (
	sseNamed  framing = iota // event: and data:
	sseData                  // data: only
	awsInvoke                // AWS event stream, payload {"bytes": base64}
	awsTyped                 // AWS event stream, the event's type from the frame
	jsonArray                // one JSON array, sent element by element
	bare                     // data alone; the sink has its own frames
)

func (fr framing) contentType() string {
	switch fr {
	case awsInvoke, awsTyped:
		return "application/vnd.amazon.eventstream"
	case jsonArray:
		return "application/json"
	case sseNamed, sseData, bare:
	}
	return "text/event-stream; charset=utf-8"
}

// frame is one event of a stream.
type frame struct {
	name string
	data []byte // JSON, or a literal such as [DONE]
	// With a template, the data is made when it is sent: a long stream then
	// costs one small value per frame until that moment.
	template *template
	text     string
	// preamble: comes before any content.
	preamble bool
}

func (f *frame) appendData(dst []byte) []byte {
	if f.template == nil {
		return append(dst, f.data...)
	}
	dst = append(dst, f.template.before...)
	dst = appendString(dst, f.text)
	return append(dst, f.template.after...)
}

// template is JSON with one string left open.
type template struct{ before, after []byte }

// slot is the string that newTemplate leaves open.
const slot = "\x00slot\x00"

func newTemplate(v any) *template {
	before, after, _ := bytes.Cut(mustJSON(v), mustJSON(slot))
	return &template{before, after}
}

// with makes a frame for each text.
func (t *template) with(name string, texts []string) []frame {
	out := make([]frame, len(texts))
	for i, text := range texts {
		out[i] = frame{name: name, template: t, text: text}
	}
	return out
}

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if b := s[i]; b < ' ' || b > '~' || b == '"' || b == '\\' {
			return append(dst, mustJSON(s)...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// mustJSON encodes what this package builds. A failure is a mistake in it; the
// panic ends the one request, and net/http logs it.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// encode appends the frame; first says that it is the first of its stream.
func (f *frame) encode(dst []byte, fr framing, first bool) []byte {
	switch fr {
	case sseNamed:
		dst = append(dst, "event: "...)
		dst = append(dst, f.name...)
		dst = append(dst, '\n')
		fallthrough
	case sseData:
		dst = append(dst, "data: "...)
		dst = f.appendData(dst)
		return append(dst, "\n\n"...)
	case awsInvoke:
		data := base64.StdEncoding.EncodeToString(f.appendData(nil))
		return appendAWS(dst, awsEvent("chunk"), mustJSON(map[string]string{"bytes": data}))
	case awsTyped:
		return appendAWS(dst, awsEvent(f.name), f.appendData(nil))
	case jsonArray:
		if first {
			dst = append(dst, '[')
		} else {
			dst = append(dst, ",\r\n"...)
		}
	case bare:
	}
	return f.appendData(dst)
}

// trailer ends a stream.
func (fr framing) trailer() []byte {
	if fr == jsonArray {
		return []byte("]")
	}
	return nil
}

func awsEvent(typ string) [][2]string {
	return [][2]string{{":event-type", typ}, {":content-type", "application/json"}, {":message-type", "event"}}
}

func awsException(typ string) [][2]string {
	return [][2]string{{":exception-type", typ}, {":content-type", "application/json"}, {":message-type", "exception"}}
}

// appendAWS appends one message of an AWS event stream: lengths, a checksum of
// these, headers, payload, and a checksum of it all.
func appendAWS(dst []byte, headers [][2]string, payload []byte) []byte {
	const stringType = 7
	var h []byte
	for _, kv := range headers {
		h = append(h, byte(len(kv[0])))
		h = append(h, kv[0]...)
		h = append(h, stringType)
		h = binary.BigEndian.AppendUint16(h, uint16(len(kv[1])))
		h = append(h, kv[1]...)
	}
	from := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(16+len(h)+len(payload)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(h)))
	dst = binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[from:]))
	dst = append(dst, h...)
	dst = append(dst, payload...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[from:]))
}
