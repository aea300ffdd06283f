package fakellm

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// call is the state of one request. It belongs to the request's goroutine; only
// rec is seen by others, and changed through edit.
type call struct {
	s     *Server
	w     http.ResponseWriter
	r     *http.Request
	begin time.Time
	n     int64
	body  []byte // decoded
	req   request
	ep    endpoint
	rule  *compiled
	reply Reply
	rec   *Record // nil when nobody will see it

	buf      []byte // of the frame being written
	complete bool   // the whole answer was written: a client that leaves now has it
	left     bool   // a write failed
	closers  []io.Closer
}

func (s *Server) newCall(w http.ResponseWriter, r *http.Request) *call {
	c := &call{s: s, w: w, r: r, begin: time.Now(), n: s.seq.Add(1), ep: route(r)}
	raw, readErr := readBody(r)
	var decodeErr error
	c.body, decodeErr = decode(r.Header.Get("Content-Encoding"), raw)
	c.req = parseRequest(c.body)
	c.reply = s.opts.Reply
	if c.rule = s.rules.take(r, c.body); c.rule == nil {
		c.rule = s.noRule
	} else if c.rule.Reply != nil {
		c.reply = *c.rule.Reply
	}
	if s.records.on() {
		c.rec = c.newRecord(raw, errors.Join(readErr, decodeErr))
		s.records.add(c.rec)
	}
	return c
}

func (c *call) newRecord(raw []byte, bodyErr error) *Record {
	r := c.r
	rec := &Record{
		N: c.n, T: c.begin.Sub(c.s.start).Seconds(),
		Method: r.Method, Path: r.URL.Path, RawPath: r.URL.RawPath, Query: r.URL.RawQuery, Proto: r.Proto, Host: r.Host,
		Chunked: len(r.TransferEncoding) > 0,
		Headers: r.Header.Clone(), RawHeaders: rawHeaders(r.Context()),
		WireBytes: len(raw), BodyBytes: len(c.body), Raw: raw, Rule: c.rule.Name,
	}
	switch {
	case json.Valid(c.body):
		rec.Body = c.body
	case len(c.body) > 0:
		rec.BodyText = string(c.body[:min(len(c.body), maxBodyText)])
	}
	if bodyErr != nil {
		rec.Note = "body: " + bodyErr.Error()
	}
	return rec
}

const maxBodyText = 4000

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	var b bytes.Buffer
	if r.ContentLength > 0 {
		b.Grow(int(min(r.ContentLength, 64<<20)) + bytes.MinRead)
	}
	_, err := b.ReadFrom(r.Body)
	return b.Bytes(), err
}

// decode undoes a Content-Encoding. What cannot be decoded is recorded as sent.
func decode(encoding string, raw []byte) ([]byte, error) {
	var zr io.Reader
	switch strings.ToLower(encoding) {
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return raw, err
		}
		zr = r
	case "zstd":
		// One goroutine: the reader is closed before this returns.
		r, err := zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return raw, err
		}
		defer r.Close()
		zr = r
	default:
		return raw, nil
	}
	b, err := io.ReadAll(zr)
	if err != nil {
		return raw, err
	}
	return b, nil
}

// edit changes the record, if there is one.
func (c *call) edit(change func(*Record)) {
	if c.rec != nil {
		c.s.records.edit(c.rec, change)
	}
}

func (c *call) note(text string) {
	c.edit(func(r *Record) {
		if r.Note != "" {
			r.Note += "; "
		}
		r.Note += text
	})
}

// finish completes the record.
func (c *call) finish() {
	for _, cl := range c.closers {
		if err := cl.Close(); err != nil {
			c.left = true
		}
	}
	gone := !c.complete && (c.left || c.r.Context().Err() != nil)
	if gone {
		c.s.gone.Add(1)
	}
	if c.rec == nil {
		return
	}
	took := time.Since(c.begin)
	c.edit(func(r *Record) {
		r.Seconds, r.Gone, r.Done = took.Seconds(), gone, true
		if gone {
			r.GoneAfterMS = took.Milliseconds()
		}
	})
	c.s.records.write(c.rec)
}

// pause waits for d; false means that the client left or the Server closed.
func (c *call) pause(d time.Duration) bool { return c.pauseUntil(c.r.Context().Done(), d) }

func (c *call) pauseUntil(gone <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-gone:
	case <-c.s.closed:
	}
	return false
}

// silence waits until the client leaves or the Server closes.
func (c *call) silence(gone <-chan struct{}) {
	select {
	case <-gone:
	case <-c.s.closed:
	}
}

// head sends the response head.
func (c *call) head(status int, contentType string) {
	h := c.w.Header()
	h.Set("Content-Type", contentType)
	name, prefix := "X-Request-Id", "req_fake"
	switch c.shape() {
	case shapeAnthropic:
		name = "Request-Id"
	case shapeBedrock:
		name, prefix = "X-Amzn-Requestid", "fake-"
	}
	h.Set(name, c.id(prefix))
	for k, v := range c.rule.Headers {
		h.Set(k, v)
	}
	c.edit(func(r *Record) { r.Status = status })
	c.w.WriteHeader(status)
}

// send writes a whole body after the head.
func (c *call) send(status int, contentType string, body []byte) {
	c.w.Header().Set("Content-Length", intText(len(body)))
	c.head(status, contentType)
	if c.write(body) {
		c.complete = true
	}
}

func (c *call) write(p []byte) bool {
	if _, err := c.w.Write(p); err != nil {
		c.left = true
		c.note("write: " + err.Error())
		return false
	}
	return true
}

func (c *call) flush() bool {
	if err := http.NewResponseController(c.w).Flush(); err != nil {
		c.left = true
		c.note("flush: " + err.Error())
		return false
	}
	return true
}

// id makes an id that shows which request it belongs to.
func (c *call) id(prefix string) string { return fmt.Sprintf("%s%06d", prefix, c.n) }

// partID is an id for the i-th part of the answer.
func (c *call) partID(prefix string, i int) string { return fmt.Sprintf("%s%06d%02d", prefix, c.n, i) }

func intText(n int) string { return strconv.Itoa(n) }
