package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/tidwall/gjson"
)

const copySize = 32 << 10

// buffers holds what forwarders use again from request to request.
type buffers struct {
	bodies sync.Pool // *bytes.Buffer
	copies sync.Pool // *[copySize]byte
}

func newBuffers() *buffers {
	return &buffers{
		bodies: sync.Pool{New: func() any { return new(bytes.Buffer) }},
		copies: sync.Pool{New: func() any { return new([copySize]byte) }},
	}
}

// accept reads the body, as a gateway must to retry and to see the model. A
// false ok means that the client has been answered. The buffer goes back to
// the pool when the request is over.
func (b *buffers) accept(w http.ResponseWriter, r *http.Request) (body *bytes.Buffer, stream, ok bool) {
	body, _ = b.bodies.Get().(*bytes.Buffer)
	body.Reset()
	if r.ContentLength > 0 {
		body.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return body, false, false
	}
	stream, err := peek(body.Bytes())
	if err != nil {
		http.Error(w, `{"error":{"message":"bad request"}}`, http.StatusBadRequest)
		return body, false, false
	}
	return body, stream, true
}

// peek checks the body and finds what a gateway routes by.
func peek(body []byte) (stream bool, err error) {
	if !gjson.ValidBytes(body) {
		return false, errors.New("invalid JSON")
	}
	r := gjson.ParseBytes(body)
	if r.Get("model").String() == "" {
		return false, errors.New("no model")
	}
	return r.Get("stream").Bool(), nil
}

// forwarder uses net/http on both sides. It is the floor of the performance
// bar.
type forwarder struct {
	*buffers
	tr   *http.Transport
	base string
}

func newForwarder(upstream string) *forwarder {
	return &forwarder{newBuffers(), transport(), "http://" + upstream}
}

func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, stream, ok := f.accept(w, r)
	defer f.bodies.Put(body)
	if !ok {
		return
	}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, f.base+r.URL.Path, bytes.NewReader(body.Bytes()))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	req.Header["Content-Type"] = []string{"application/json"}
	req.Header["Authorization"] = []string{"Bearer sk-test"}
	resp, err := f.tr.RoundTrip(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	h := w.Header()
	h["Content-Type"] = resp.Header["Content-Type"]
	if resp.ContentLength >= 0 {
		h["Content-Length"] = []string{strconv.FormatInt(resp.ContentLength, 10)}
	}
	w.WriteHeader(resp.StatusCode)
	buf, _ := f.copies.Get().(*[copySize]byte)
	defer f.copies.Put(buf)
	if stream {
		relay(w, resp.Body, buf[:])
		return
	}
	// The wrapper hides ReadFrom, which would bring a buffer of its own. An
	// error is the client's leaving, or shows as a short body.
	_, _ = io.CopyBuffer(struct{ io.Writer }{w}, resp.Body, buf[:])
}

// relay passes on each piece of a stream as it comes.
func relay(w http.ResponseWriter, from io.Reader, buf []byte) {
	rc := http.NewResponseController(w)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return
			}
			if err := rc.Flush(); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
