// Package mock is a fake model provider for benchmarks and failure tests.
//
// It answers OpenAI chat completions and Anthropic messages, plain or as
// server-sent events, with canned content. What a request gets (latency,
// chunk count, errors) is set by the server's defaults, by an options prefix
// on the path ("/m/latency=20ms,chunks=50/v1/messages"), or by an X-Mock
// header, the later of these winning.
package mock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/wire"
)

// Server is one fake provider.
type Server struct {
	defaults atomic.Pointer[Options]
	replies  sync.Map // replyKey -> *reply
	requests atomic.Int64
	streams  atomic.Int64
	failures atomic.Int64
	bodies   atomic.Int64
}

type replyKey struct {
	api           *api
	defaults      *Options
	prefix, extra string
}

// New returns a server with these defaults.
func New(defaults Options) *Server {
	s := new(Server)
	s.SetDefaults(defaults)
	return s
}

// SetDefaults changes the options of all requests from now on.
func (s *Server) SetDefaults(o Options) { s.defaults.Store(&o) }

// Stats is what GET /stats reports: work done since the start.
type Stats struct {
	Requests  int64 `json:"requests"`
	Streams   int64 `json:"streams"`
	Failures  int64 `json:"failures"`
	BodyBytes int64 `json:"body_bytes"`
}

// Stats returns the counts so far.
func (s *Server) Stats() Stats {
	return Stats{s.requests.Load(), s.streams.Load(), s.failures.Load(), s.bodies.Load()}
}

// Serve accepts connections until the listener is closed.
func (s *Server) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		go s.serveConn(c)
	}
}

func (s *Server) serveConn(c net.Conn) {
	defer c.Close()
	r := bufio.NewReaderSize(c, wire.BufferSize)
	var (
		h    wire.Head
		body []byte
		err  error
	)
	for {
		if err = wire.ReadRequest(r, &h); err != nil {
			return
		}
		if h.Expect100 {
			if _, err = c.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n")); err != nil {
				return
			}
		}
		if body, err = wire.ReadBody(r, &h, body[:0], false); err != nil {
			return
		}
		if err = s.answer(c, &h, body); err != nil || h.Close {
			return
		}
	}
}

var errCut = errors.New("stream cut as asked")

func (s *Server) answer(c net.Conn, h *wire.Head, body []byte) error {
	path, prefix := h.Path, ""
	if rest, ok := strings.CutPrefix(path, "/m/"); ok {
		var found bool
		if prefix, path, found = strings.Cut(rest, "/"); found {
			path = "/" + path
		}
	}
	path, _, _ = strings.Cut(path, "?")

	var a *api
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		a = &openAI
	case strings.HasSuffix(path, "/messages"):
		a = &anthropic
	case strings.HasSuffix(path, "/models"):
		return write(c, response(200, "", modelList))
	case path == "/healthz":
		return write(c, response(200, "", `{"status":"ok"}`))
	case path == "/stats":
		b, _ := json.Marshal(s.Stats())
		return write(c, response(200, "", string(b)))
	case path == "/defaults" && h.Method == "PUT":
		o, err := ParseOptions(DefaultOptions(), string(body))
		if err != nil {
			return write(c, badOptions(err))
		}
		s.SetDefaults(o)
		return write(c, response(200, "", `{"status":"ok"}`))
	default:
		return write(c, response(404, "", openAI.fail(404)))
	}
	if h.Method != "POST" {
		return write(c, response(404, "", a.fail(404)))
	}

	rep, err := s.reply(replyKey{a, s.defaults.Load(), prefix, h.Mock})
	if err != nil {
		return write(c, badOptions(err))
	}
	o := &rep.options
	s.requests.Add(1)
	s.bodies.Add(int64(len(body)))
	if o.Latency > 0 {
		time.Sleep(o.Latency)
	}
	if rep.failed != nil && (o.ErrorRate >= 1 || rand.Float64() < o.ErrorRate) {
		s.failures.Add(1)
		return write(c, rep.failed)
	}
	stream := asksFor(body, "stream", "true")
	if o.Stream != nil {
		stream = *o.Stream
	}
	if !stream {
		return write(c, rep.plain)
	}
	s.streams.Add(1)
	return rep.stream(c, a, asksFor(body, "include_usage", "true"))
}

func (s *Server) reply(k replyKey) (*reply, error) {
	if r, ok := s.replies.Load(k); ok {
		return r.(*reply), nil
	}
	o, err := ParseOptions(*k.defaults, k.prefix+","+k.extra)
	if err != nil {
		return nil, err
	}
	r, _ := s.replies.LoadOrStore(k, k.api.render(o))
	return r.(*reply), nil
}

func (r *reply) stream(c net.Conn, a *api, usage bool) error {
	if err := write(c, r.head); err != nil {
		return err
	}
	o := &r.options
	var scratch [1024]byte
	for i := range o.Chunks {
		if o.Cut > 0 && i == o.Cut {
			return errCut
		}
		if o.Delay > 0 {
			time.Sleep(o.Delay)
		}
		chunk := r.chunk
		if o.Stamp {
			chunk = a.stamped(scratch[:0], time.Now().UnixNano())
		}
		if err := write(c, chunk); err != nil {
			return err
		}
	}
	if usage {
		return write(c, r.tail[1])
	}
	return write(c, r.tail[0])
}

// asksFor looks for "name":value in a request without parsing it. Message
// text cannot match by accident: inside a JSON string its quotes are escaped.
func asksFor(body []byte, name, value string) bool {
	quoted := []byte(`"` + name + `"`)
	for {
		i := bytes.Index(body, quoted)
		if i < 0 {
			return false
		}
		body = body[i+len(quoted):]
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte(":"))
		if ok && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(value)) {
			return true
		}
	}
}

func badOptions(err error) []byte {
	msg, _ := json.Marshal(err.Error())
	return response(400, "", fmt.Sprintf(`{"error":{"message":%s,"type":"mock_error"}}`, msg))
}

func write(c net.Conn, p []byte) error {
	_, err := c.Write(p)
	return err
}
