package h1

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

var errRequest = errors.New("the request has a method, a target or a host that can't be sent")

// Request is what is sent. Its body is used until Do fails, or the answer's body
// was closed or read to its end.
type Request struct {
	Method string
	// Target is the path with its query, as it goes on the wire.
	Target string
	Host   string
	// Header is sent besides Host, Content-Length and Connection, which are not
	// taken from it.
	Header http.Header
	Body   []byte
	// Held, if not nil, is told who uses Body besides the caller: a server may
	// answer before it has taken all of it.
	Held Holder
}

// Holder counts those who use the bytes of a body. Release may be called from
// any goroutine.
type Holder interface {
	Hold()
	Release()
}

// heads are buffers for the heads of requests, and short bodies.
var heads = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// head writes the request's head.
func (r *Request) head() (*[]byte, error) {
	if !token(r.Method) || !plain(r.Target) || !plain(r.Host) {
		return nil, errRequest
	}
	buf, _ := heads.Get().(*[]byte)
	b := append((*buf)[:0], r.Method...)
	b = append(append(append(b, ' '), r.Target...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, r.Host...), "\r\n"...)
	for k, values := range r.Header {
		if framing(k) {
			continue
		}
		for _, v := range values {
			if !sound(k, v) {
				heads.Put(buf)
				return nil, fmt.Errorf("the header %q has a name or a value that can't be sent", clip(k))
			}
			b = append(append(b, k...), ": "...)
			b = append(append(b, v...), "\r\n"...)
		}
	}
	if len(r.Body) > 0 || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		b = append(b, "Content-Length: "...)
		b = append(strconv.AppendInt(b, int64(len(r.Body)), 10), "\r\n"...)
	}
	*buf = append(b, "\r\n"...)
	return buf, nil
}

// framing tells the headers that say where a request ends, and what becomes of
// its connection: they are not the caller's to set, in any spelling.
func framing(name string) bool {
	switch len(name) {
	case len("Host"):
		return strings.EqualFold(name, "Host")
	case len("Trailer"):
		return strings.EqualFold(name, "Trailer")
	case len("Connection"):
		return strings.EqualFold(name, "Connection")
	case len("Content-Length"):
		return strings.EqualFold(name, "Content-Length")
	case len("Transfer-Encoding"):
		return strings.EqualFold(name, "Transfer-Encoding")
	}
	return false
}

// sound tells whether a header field ends where it should: nothing in it can
// make another one.
func sound(name, value string) bool {
	if !token(name) {
		return false
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// token tells whether s can be a method, or a header's name.
func token(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	return s != ""
}

// plain tells whether s ends with the next space, and not before.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == 0x7f {
			return false
		}
	}
	return s != ""
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
