package fakellm

import (
	"compress/gzip"
	"net"
	"net/http"
	"time"
)

// answer does what the rule wants before the dialect has its turn.
func (c *call) answer() {
	u := c.rule
	if u.DelayMS > 0 && !c.pause(time.Duration(u.DelayMS)*time.Millisecond) {
		c.note("client left during delay")
		return
	}
	gone := c.r.Context().Done()
	switch u.Action {
	case ActionStatus:
		c.sendFault(http.StatusInternalServerError)
	case ActionError200:
		c.sendError200()
	case ActionReset:
		c.cut(CutReset)
	case ActionHang:
		c.silence(gone)
		c.note("client left a hung request")
	case ActionHeadersHang:
		c.head(http.StatusOK, sseNamed.contentType())
		if c.flush() {
			c.silence(gone)
			c.note("client left a hung stream")
		}
	case ActionGzip:
		zw := &gzipWriter{ResponseWriter: c.w, gz: gzip.NewWriter(c.w)}
		c.w = zw
		c.closers = append(c.closers, zw.gz)
		c.ep.serve(c)
	default:
		c.ep.serve(c)
	}
}

// cut breaks the connection.
func (c *call) cut(how string) {
	if how == "" {
		how = CutClose
	}
	c.note("cut:" + how)
	if how == CutEnd {
		return
	}
	conn, _, err := http.NewResponseController(c.w).Hijack()
	if err != nil { // HTTP/2, where the end of the stream is all there is to break
		panic(http.ErrAbortHandler)
	}
	breakConn(conn, how)
}

// breakConn closes conn. Nobody is left to tell of a failure.
func breakConn(conn net.Conn, how string) {
	if l, ok := conn.(lingerer); ok && how == CutReset {
		_ = l.SetLinger(0)
	}
	_ = conn.Close()
}

// gzipWriter compresses an answer; each flush completes what went before, so
// that events still arrive one by one.
type gzipWriter struct {
	http.ResponseWriter
	gz *gzip.Writer
}

func (w *gzipWriter) WriteHeader(status int) {
	w.Header().Del("Content-Length")
	w.Header().Set("Content-Encoding", "gzip")
	w.ResponseWriter.WriteHeader(status)
}

func (w *gzipWriter) Write(p []byte) (int, error) { return w.gz.Write(p) }

// FlushError is what http.ResponseController calls.
func (w *gzipWriter) FlushError() error {
	if err := w.gz.Flush(); err != nil {
		return err
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (w *gzipWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
