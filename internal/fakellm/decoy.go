package fakellm

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// In a private network namespace these two show where a program would go: DNS
// sends every name here, and the TLS listener notes the name it asked for.

const (
	dnsHeader      = 12
	dnsTypeA       = 1
	sniTimeout     = 5 * time.Second
	acceptBackoff  = 10 * time.Millisecond
	maxDNSQuestion = 1500
)

// StartDNS answers every A query with 127.0.0.1 and every other with nothing,
// over UDP, and notes the names.
func (s *Server) StartDNS(addr string) (net.Addr, error) {
	pc, err := (&net.ListenConfig{}).ListenPacket(context.Background(), "udp", addr)
	if err != nil {
		return nil, fmt.Errorf("fake DNS: %w", err)
	}
	if !s.onClose(pc) {
		return nil, errors.Join(errClosed, pc.Close())
	}
	s.serving.Go(func() { s.serveDNS(pc) })
	return pc.LocalAddr(), nil
}

func (s *Server) serveDNS(pc net.PacketConn) {
	b := make([]byte, maxDNSQuestion)
	for {
		n, from, err := pc.ReadFrom(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		answer, name, typ, ok := dnsAnswer(b[:n])
		if !ok {
			continue
		}
		s.note("dns %d %s", typ, name)
		if _, err := pc.WriteTo(answer, from); err != nil {
			s.note("dns: %v", err)
		}
	}
}

// dnsAnswer builds the answer to a query with one question.
func dnsAnswer(q []byte) (answer []byte, name string, typ uint16, ok bool) {
	if len(q) < dnsHeader+5 {
		return nil, "", 0, false
	}
	var labels strings.Builder
	i := dnsHeader
	for i < len(q) && q[i] != 0 {
		end := i + 1 + int(q[i])
		if end > len(q) {
			return nil, "", 0, false
		}
		labels.Write(q[i+1 : end])
		labels.WriteByte('.')
		i = end
	}
	if i+5 > len(q) {
		return nil, "", 0, false
	}
	typ = binary.BigEndian.Uint16(q[i+1:])
	answer = append([]byte(nil), q[:i+5]...)
	answer[2], answer[3] = 0x81, 0x80 // an answer, recursion available, no error
	copy(answer[4:dnsHeader], []byte{0, 1, 0, 0, 0, 0, 0, 0})
	if typ == dnsTypeA {
		answer[7] = 1
		answer = append(answer, 0xc0, dnsHeader, 0, dnsTypeA, 0, 1, 0, 0, 0, 5, 0, 4, 127, 0, 0, 1)
	}
	return answer, labels.String(), typ, true
}

// StartSNI accepts TLS connections, notes the server name that each asks for,
// and refuses it.
func (s *Server) StartSNI(addr string) (net.Addr, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("fake TLS: %w", err)
	}
	if !s.onClose(l) {
		return nil, errors.Join(errClosed, l.Close())
	}
	s.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // such as too many open files: do not spin
				select {
				case <-time.After(acceptBackoff):
				case <-s.closed:
				}
				continue
			}
			s.serving.Go(func() { s.refuseTLS(conn) })
		}
	})
	return l.Addr(), nil
}

func (s *Server) refuseTLS(conn net.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), sniTimeout)
	defer cancel()
	s.serving.Go(func() {
		select {
		case <-s.closed:
			cancel()
		case <-ctx.Done():
		}
	})
	refuse := &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			s.note("tls %s alpn=%v", h.ServerName, h.SupportedProtos)
			return nil, errors.New("refused")
		},
	}
	// The handshake always fails, which is the point.
	_ = tls.Server(conn, refuse).HandshakeContext(ctx)
	_ = conn.Close()
}
