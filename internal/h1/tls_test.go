package h1_test

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// bunch holds what is written back, so that several records leave in one
// segment.
type bunch struct {
	net.Conn
	mu   sync.Mutex
	on   bool
	held []byte
}

func (b *bunch) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.on {
		b.held = append(b.held, p...)
		return len(p), nil
	}
	return b.Conn.Write(p)
}

func (b *bunch) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.on = true
}

func (b *bunch) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.Conn.SetWriteDeadline(time.Time{}) // CloseWrite leaves one that has passed
	_, _ = b.Conn.Write(b.held)
	b.on, b.held = false, nil
}

// What follows an answer in the same segment is in no buffer that the system
// knows of: TLS has read it. It must not become the next request's answer.
func TestBehindTheAnswerInTLS(t *testing.T) {
	for name, last := range map[string]func(c *tls.Conn){
		"another answer": func(c *tls.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen")
		},
		"a goodbye": func(c *tls.Conn) { _ = c.CloseWrite() },
	} {
		for version, max := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
			t.Run(name+" "+version, func(t *testing.T) {
				ours, theirs := certificates(t)
				ours.MaxVersion = max
				s := serve(t, func(nc net.Conn, _ *bufio.Reader) {
					b := &bunch{Conn: nc}
					c := tls.Server(b, ours)
					br := bufio.NewReader(c)
					if _, ok := take(br); !ok {
						return
					}
					b.hold()
					_, _ = io.WriteString(c, fine)
					last(c)
					b.flush()
					_, _ = io.Copy(io.Discard, br) // it stays open
				})
				p := s.pool(t, theirs)
				wants(t, p)
				wants(t, p)
				if n := s.dials.Load(); n != 2 {
					t.Errorf("%d connections, want another one for the second request", n)
				}
			})
		}
	}
}

// Connections over TLS are used again, whatever the version.
func TestReuseOverTLS(t *testing.T) {
	for name, max := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := certificates(t)
			ours.MaxVersion = max
			theirs.ClientSessionCache = tls.NewLRUClientSessionCache(4)
			s := serve(t, func(nc net.Conn, _ *bufio.Reader) {
				c := tls.Server(nc, ours)
				for br := bufio.NewReader(c); ; {
					if _, ok := take(br); !ok {
						return
					}
					_, _ = io.WriteString(c, fine)
				}
			})
			p := s.pool(t, theirs)
			for range 5 {
				wants(t, p)
			}
			if n := s.dials.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// recorder writes TLS 1.3 records of a server, beside its tls.Conn.
type recorder struct {
	c    net.Conn
	aead cipher.AEAD
	iv   []byte
	seq  uint64
}

// newRecorder takes the keys from a line of the server's key log; the
// server has sent no record with them yet.
func newRecorder(t *testing.T, c net.Conn, log string) *recorder {
	t.Helper()
	_, rest, _ := strings.Cut(log, "SERVER_TRAFFIC_SECRET_0 ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		t.Error("no key in the log")
		return nil
	}
	secret, err := hex.DecodeString(fields[1])
	if err != nil {
		t.Error(err)
	}
	derive := func(label string, n int) []byte {
		label = "tls13 " + label
		info := append([]byte{0, byte(n), byte(len(label))}, label...)
		key, err := hkdf.Expand(sha256.New, secret, string(append(info, 0)), n)
		if err != nil {
			t.Error(err)
		}
		return key
	}
	block, err := aes.NewCipher(derive("key", 16))
	if err != nil {
		t.Error(err)
		return nil
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Error(err)
	}
	return &recorder{c: c, aead: aead, iv: derive("iv", 12)}
}

func (r *recorder) write(kind byte, payload []byte) {
	head := binary.BigEndian.AppendUint16([]byte{23, 3, 3}, uint16(len(payload)+1+r.aead.Overhead()))
	nonce := bytes.Clone(r.iv)
	for i, b := range binary.BigEndian.AppendUint64(nil, r.seq) {
		nonce[4+i] ^= b
	}
	r.seq++
	_, _ = r.c.Write(r.aead.Seal(head, nonce, append(bytes.Clone(payload), kind), head))
}

// A server may send a session ticket whenever it likes, also after its answer:
// that is not speaking without being asked.
func TestTicketAfterTheAnswer(t *testing.T) {
	ours, theirs := certificates(t)
	ours.MinVersion, ours.SessionTicketsDisabled = tls.VersionTLS13, true
	read, sent := make(chan struct{}), make(chan struct{})
	s := serve(t, func(nc net.Conn, _ *bufio.Reader) {
		config, log := ours.Clone(), bytes.Buffer{}
		config.KeyLogWriter = &log
		c := tls.Server(nc, config)
		br := bufio.NewReader(c)
		if _, ok := take(br); !ok {
			return
		}
		for r := newRecorder(t, nc, log.String()); ; {
			r.write(23, []byte(fine))
			select {
			case <-read:
			case <-t.Context().Done():
				return
			}
			// lifetime, age, nonce, ticket, no extensions
			ticket := []byte{0, 0, 0, 60, 1, 2, 3, 4, 1, 7, 0, 4, 't', 'i', 'c', 'k', 0, 0}
			r.write(22, append([]byte{4, 0, 0, byte(len(ticket))}, ticket...))
			sent <- struct{}{}
			if _, ok := take(br); !ok {
				return
			}
		}
	})
	p := s.pool(t, theirs)
	for range 3 {
		wants(t, p)
		read <- struct{}{}
		<-sent
	}
	if n := s.dials.Load(); n != 1 {
		t.Errorf("%d connections: a ticket made one look dead", n)
	}
}
