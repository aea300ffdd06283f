package fakellm

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

type wsClient struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func dialWS(f *fixture) *wsClient {
	f.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(f.t.Context(), "tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		f.t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", responsesPath)
	c := &wsClient{f.t, conn, bufio.NewReader(conn)}
	var head strings.Builder
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			f.t.Fatal(err)
		}
		if head.WriteString(line); line == "\r\n" {
			break
		}
	}
	// The key and its answer are the example of RFC 6455.
	if !strings.Contains(head.String(), "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") {
		f.t.Fatalf("got %s", head.String())
	}
	return c
}

func (c *wsClient) send(op byte, text string) {
	c.t.Helper()
	mask := []byte{1, 2, 3, 4}
	b := []byte{0x80 | op, 0x80 | 126}
	b = binary.BigEndian.AppendUint16(b, uint16(len(text)))
	b = append(b, mask...)
	for i := range len(text) {
		b = append(b, text[i]^mask[i%4])
	}
	if _, err := c.conn.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// answer reads messages up to the last of an answer.
func (c *wsClient) answer() []event {
	c.t.Helper()
	var out []event
	for {
		m, err := readWS(c.r)
		if err != nil {
			c.t.Fatal(err)
		}
		name, _ := at(c.t, string(m.data), "type").(string)
		out = append(out, event{name, string(m.data)})
		if name == "response.completed" || name == "error" {
			return out
		}
	}
}

func TestWebSocketSession(t *testing.T) {
	f := start(t)
	c := dialWS(f)
	for range 2 {
		c.send(wsText, `{"type":"response.create","model":"gpt-5.2","input":"`+strings.Repeat("x", 70_000)[:60_000]+`"}`)
		if got := joined(t, c.answer(), "delta"); got != defaultText {
			t.Errorf("text %q", got)
		}
	}
	c.send(wsPing, "are you there")
	if m, err := readWS(c.r); err != nil || m.op != wsPong || string(m.data) != "are you there" {
		t.Errorf("got %+v, %v", m, err)
	}
	c.send(wsClose, "")
	if _, err := readWS(c.r); !errors.Is(err, io.EOF) {
		t.Errorf("after close: %v", err)
	}
	eventually(t, "the session ends", func() bool { return f.InFlight() == 0 })
	r := f.Records()[0]
	if r.Status != 101 || r.Gone || r.Note != "ws:close" || strings.Count(r.BodyText, "response.create") != 2 || r.Frames == 0 {
		t.Errorf("got %d %q %+v", r.Status, r.Note, r.Gone)
	}
}

func TestWebSocketFaults(t *testing.T) {
	t.Run("error event", func(t *testing.T) {
		c := dialWS(start(t, Rule{Action: ActionSSEError, After: 2, Code: "server_is_overloaded"}))
		c.send(wsText, `{"type":"response.create"}`)
		events := c.answer()
		if len(events) != 3 || at(t, events[2].data, "code") != "server_is_overloaded" || at(t, events[2].data, "sequence_number") != 2.0 {
			t.Errorf("got %+v", events)
		}
	})
	t.Run("cut", func(t *testing.T) {
		c := dialWS(start(t, Rule{Action: ActionCut, Cut: CutReset, After: 1}))
		c.send(wsText, `{"type":"response.create"}`)
		n := 0
		for ; ; n++ {
			if _, err := readWS(c.r); err != nil {
				break
			}
		}
		if n != 1 {
			t.Errorf("%d messages before the cut", n)
		}
	})
	t.Run("client leaves a stall", func(t *testing.T) {
		f := start(t, Rule{Action: ActionStall, After: 1})
		c := dialWS(f)
		c.send(wsText, `{"type":"response.create"}`)
		if _, err := readWS(c.r); err != nil {
			t.Fatal(err)
		}
		_ = c.conn.Close()
		eventually(t, "it is noticed", func() bool { return f.Gone() == 1 && f.InFlight() == 0 })
	})
}
