package fakellm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// closeGrace is how long Close waits for answers that are being written.
const closeGrace = 2 * time.Second

// Start serves on addr (such as 127.0.0.1:0) in the background and returns the
// base URL. Close ends it.
func (s *Server) Start(addr string) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return "", fmt.Errorf("fake provider: %w", err)
	}
	if closed(s.closed) {
		return "", errors.Join(errClosed, l.Close())
	}
	// What Serve could return is a broken listener; requests then fail visibly.
	s.serving.Go(func() { _ = s.Serve(l) })
	return "http://" + l.Addr().String(), nil
}

// Serve answers on l until Close. Records of requests that arrive here have
// RawHeaders, which a handler under another server cannot see.
func (s *Server) Serve(l net.Listener) error {
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	if s.records.max > 0 {
		l = captureListener{l}
		srv.ConnContext = withCapture
	}
	if !s.onClose(gracefully{srv}) {
		return errors.Join(errClosed, l.Close())
	}
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("fake provider: %w", err)
	}
	return nil
}

var errClosed = errors.New("fake provider: closed")

// Close ends scripted silences and everything that Start, Serve, StartDNS and
// StartSNI began, and waits for it. Under httptest it ends the silences only.
func (s *Server) Close() error {
	s.closeOnce.Do(func() { close(s.closed) })
	s.closersMu.Lock()
	closers := s.closers
	s.closers = nil
	s.closersMu.Unlock()
	var errs []error
	for _, c := range closers {
		errs = append(errs, c.Close())
	}
	s.serving.Wait()
	return errors.Join(errs...)
}

// onClose registers c; false means that the Server is closed already.
func (s *Server) onClose(c io.Closer) bool {
	s.closersMu.Lock()
	defer s.closersMu.Unlock()
	if closed(s.closed) {
		return false
	}
	s.closers = append(s.closers, c)
	return true
}

// gracefully lets running answers end before it closes their connections.
type gracefully struct{ *http.Server }

func (g gracefully) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := g.Shutdown(ctx); err != nil {
		return g.Server.Close()
	}
	return nil
}
