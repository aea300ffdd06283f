package fakellm

import (
	"bufio"
	"crypto/sha1" //nolint:gosec // RFC 6455 wants it; nothing is secret here
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// The opcodes of RFC 6455 that a session needs.
const (
	wsText  = 1
	wsClose = 8
	wsPing  = 9
	wsPong  = 10
)

const maxWSMessage = 64 << 20

type wsMessage struct {
	op   byte
	data []byte
}

// wsSink sends each frame of a stream as one text message.
type wsSink struct {
	c    *call
	conn net.Conn
	left <-chan struct{}
}

func (s wsSink) gone() <-chan struct{} { return s.left }

func (s wsSink) cut(how string) {
	s.c.note("cut:" + how)
	breakConn(s.conn, how)
}

func (s wsSink) write(p []byte) bool {
	if len(p) == 0 {
		return true
	}
	if err := writeWS(s.conn, wsText, p); err != nil {
		s.c.left = true
		s.c.note("ws: " + err.Error())
		return false
	}
	return true
}

// websocket is a Responses session over a WebSocket: each text message is
// answered with the event sequence, one message an event. Frames are counted
// anew for each answer.
func (c *call) websocket() {
	conn, rw, err := http.NewResponseController(c.w).Hijack()
	if err != nil {
		c.sendError(http.StatusNotImplemented, "no WebSocket on this connection")
		return
	}
	messages, left := make(chan wsMessage), make(chan struct{})
	readerDone := make(chan struct{})
	quit := make(chan struct{})
	defer func() {
		close(quit)
		_ = conn.Close() // ends the reader
		<-readerDone
	}()
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		wsAccept(c.r.Header.Get("Sec-WebSocket-Key"))); err != nil {
		close(readerDone)
		return
	}
	c.edit(func(r *Record) { r.Status = http.StatusSwitchingProtocols })
	c.complete = true // between answers a client may leave
	go func() {
		defer close(readerDone)
		defer close(left)
		for {
			m, err := readWS(rw.Reader)
			if err != nil {
				return
			}
			select {
			case messages <- m:
			case <-quit:
				return
			}
		}
	}()
	c.wsSession(wsSink{c, conn, left}, messages)
}

func (c *call) wsSession(out wsSink, messages <-chan wsMessage) {
	for {
		select {
		case <-out.left:
			return
		case <-c.s.closed:
			return
		case m := <-messages:
			switch m.op {
			case wsClose:
				c.note("ws:close")
				return
			case wsPing:
				if err := writeWS(out.conn, wsPong, m.data); err != nil {
					return
				}
			case wsText:
				c.edit(func(r *Record) { r.BodyText += string(m.data) + "\n" })
				c.body = m.data
				c.req = parseRequest(m.data)
				_, frames := c.responseEvents()
				c.complete = false
				if !c.play(out, bare, frames) {
					c.left = c.left || closed(out.left)
					return
				}
			}
		}
	}
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func wsAccept(key string) string {
	h := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // see the import
	return base64.StdEncoding.EncodeToString(h[:])
}

// readWS reads one message; clients in tests do not fragment.
func readWS(r *bufio.Reader) (wsMessage, error) {
	var h [2]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return wsMessage{}, err
	}
	n := uint64(h[1] & 0x7f)
	if ext := map[uint64]int{126: 2, 127: 8}[n]; ext > 0 {
		var b [8]byte
		if _, err := io.ReadFull(r, b[8-ext:]); err != nil {
			return wsMessage{}, err
		}
		n = binary.BigEndian.Uint64(b[:])
	}
	if n > maxWSMessage {
		return wsMessage{}, errors.New("message too large")
	}
	var mask [4]byte
	if h[1]&0x80 != 0 {
		if _, err := io.ReadFull(r, mask[:]); err != nil {
			return wsMessage{}, err
		}
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return wsMessage{}, err
	}
	for i := range b {
		b[i] ^= mask[i%4]
	}
	return wsMessage{h[0] & 0x0f, b}, nil
}

func writeWS(w io.Writer, op byte, data []byte) error {
	h := []byte{0x80 | op}
	switch n := len(data); {
	case n < 126:
		h = append(h, byte(n))
	case n < 1<<16:
		h = append(h, 126)
		h = binary.BigEndian.AppendUint16(h, uint16(n))
	default:
		h = append(h, 127)
		h = binary.BigEndian.AppendUint64(h, uint64(n))
	}
	_, err := w.Write(append(h, data...))
	return err
}
