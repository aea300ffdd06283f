package admin

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/control"
)

type requestIDKey struct{}

// requestID leads from an answer to the log.
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// ServeHTTP does what holds for every request, then finds its operation.
func (s *server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := &tracker{ResponseWriter: rw, chunked: r.ContentLength < 0}
	id := rand.Text()
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Interlock-Request-Id", id)
	if r.ContentLength != 0 && r.ProtoMajor == 1 {
		// Who sends half a body that nobody reads would wait for its answer and
		// hold the connection. bodyRead lifts both.
		h.Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unreadBody)) // a writer without one is a test's
	}
	r = r.WithContext(control.WithRequestID(context.WithValue(r.Context(), requestIDKey{}, id), id))
	start := s.now()
	defer func() {
		if v := recover(); v != nil {
			s.crashed(w, r, v)
		}
		s.log.DebugContext(r.Context(), "admin request", "method", r.Method, "path", r.URL.Path, "status", w.status, "requestId", id, "duration", s.now().Sub(start))
	}()
	s.route(w, r)
}

// crashed answers for a handler that panicked. What has begun is cut off, so
// that nobody takes it for whole.
func (s *server) crashed(w *tracker, r *http.Request, v any) {
	if v == http.ErrAbortHandler { //nolint:errorlint // a sentinel of net/http, compared as net/http does
		panic(v)
	}
	err := fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	if w.status != 0 {
		_ = s.internal(r.Context(), err) // it is logged; too late to answer
		panic(http.ErrAbortHandler)
	}
	s.internal(r.Context(), err).write(w)
}

func (s *server) route(w http.ResponseWriter, r *http.Request) {
	if err := s.cross.Check(r); err != nil {
		fault(http.StatusForbidden, "cross_site", "a page of another site sent this request; the API takes changes from its own console and from tools only").write(w)
		return
	}
	if !isClean(r.URL.EscapedPath()) {
		unknownPath(r).write(w)
		return
	}
	handler, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	found := probe{header: http.Header{}}
	handler.ServeHTTP(&found, r)
	if found.status != http.StatusMethodNotAllowed {
		unknownPath(r).write(w)
		return
	}
	allow := found.header.Get("Allow")
	p := fault(http.StatusMethodNotAllowed, "method_not_allowed", "%s is not possible here; this path takes %s", r.Method, allow)
	p.headers.Set("Allow", allow)
	p.write(w)
}

func unknownPath(r *http.Request) *Problem {
	return fault(http.StatusNotFound, "not_found", "there is no %s in this API; names in paths are percent-encoded, and %s/openapi.json lists all paths", r.URL.EscapedPath(), Prefix)
}

// isClean tells whether net/http would leave a path as it is. It would answer
// another one with a redirect.
func isClean(p string) bool {
	if !strings.HasPrefix(p, "/") {
		return false
	}
	c := path.Clean(p)
	return c == p || c+"/" == p
}

// tracker remembers whether an answer has begun.
type tracker struct {
	http.ResponseWriter
	status int
	// chunked: there may have been a length as well, the shape of request
	// smuggling, so no other request may follow.
	chunked bool
}

// WriteHeader implements http.ResponseWriter.
func (t *tracker) WriteHeader(status int) {
	if t.status == 0 {
		t.status = status
	}
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *tracker) Write(b []byte) (int, error) {
	if t.status == 0 {
		t.status = http.StatusOK
	}
	return t.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (t *tracker) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// probe sees what a handler of net/http would answer.
type probe struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (p *probe) Header() http.Header { return p.header }

// WriteHeader implements http.ResponseWriter.
func (p *probe) WriteHeader(status int) { p.status = status }

// Write implements http.ResponseWriter.
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
