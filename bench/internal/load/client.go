package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/hist"
	"github.com/interlock-gateway/interlock/bench/internal/wire"
)

// request is the one request that a run sends over and over.
type request struct {
	addr   string
	raw    []byte
	stream bool
	api    API
}

func newRequest(cfg *Config, body []byte) (*request, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" || u.Port() == "" {
		return nil, fmt.Errorf("the URL must be http://host:port/path, not %q", cfg.URL)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: interlock-bench\r\nAccept: */*\r\nContent-Type: application/json\r\n", u.RequestURI(), u.Host)
	for _, h := range cfg.Headers {
		fmt.Fprintf(&b, "%s\r\n", h)
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
	b.Write(body)
	return &request{addr: u.Host, raw: b.Bytes(), stream: cfg.Stream, api: cfg.API}, nil
}

// outcome is one finished request.
type outcome struct {
	sent, done time.Time
	firstByte  time.Time // of the response body
	bytes      int64
	err        error // nil for a complete 200
}

// streamStats collects what happens inside streams.
type streamStats struct {
	events  int64
	gap     hist.Histogram // between the arrivals of events
	transit hist.Histogram // from the mock's stamp to here
}

// client holds one keep-alive connection and reopens it when it must.
type client struct {
	req     *request
	timeout time.Duration
	conn    net.Conn
	r       *bufio.Reader
	opened  int

	from, to   time.Time // the measured time
	eventsSeen int64     // in it
}

var errIncomplete = errors.New("stream ended without its last event")

// statusError counts failed requests by their HTTP status.
type statusError int

func (s statusError) Error() string { return "status " + strconv.Itoa(int(s)) }

func (c *client) do(stats *streamStats) outcome {
	var o outcome
	if c.conn == nil {
		conn, err := net.DialTimeout("tcp", c.req.addr, 5*time.Second) //nolint:noctx // a run is bounded by its time
		if err != nil {
			o.sent = time.Now()
			o.done, o.err = o.sent, err
			return o
		}
		c.conn = conn
		c.opened++
		if c.r == nil {
			c.r = bufio.NewReaderSize(conn, wire.BufferSize)
		} else {
			c.r.Reset(conn)
		}
	}
	o.sent = time.Now()
	c.conn.SetDeadline(o.sent.Add(c.timeout))
	var keep bool
	keep, o.err = c.exchange(&o, stats)
	o.done = time.Now()
	if !keep {
		c.close()
	}
	return o
}

func (c *client) exchange(o *outcome, stats *streamStats) (keep bool, err error) {
	if _, err := c.conn.Write(c.req.raw); err != nil {
		return false, err
	}
	var h wire.Head
	if err := wire.ReadResponse(c.r, &h); err != nil {
		return false, err
	}
	sse := sseScanner{client: c, stats: stats}
	err = wire.EachPart(c.r, &h, true, func(p []byte) error {
		if o.bytes += int64(len(p)); o.firstByte.IsZero() {
			o.firstByte = time.Now()
		}
		if c.req.stream && h.Status == 200 {
			sse.feed(p)
		}
		return nil
	})
	switch {
	case err != nil:
		return false, err
	case h.Status != 200:
		return !h.Close, statusError(h.Status)
	case c.req.stream && !sse.finished:
		return !h.Close, errIncomplete
	}
	return !h.Close, nil
}

func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// sseScanner counts the events of one stream as its bytes arrive.
type sseScanner struct {
	client   *client
	stats    *streamStats
	line     []byte // a line that has not ended yet
	last     time.Time
	finished bool
}

func (s *sseScanner) feed(p []byte) {
	now := time.Now()
	events := 0
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.line = append(s.line, p...)
			break
		}
		line := p[:i]
		if len(s.line) > 0 {
			s.line = append(s.line, line...)
			line = s.line
		}
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			events++
			s.event(bytes.TrimSpace(data), now)
		}
		s.line = s.line[:0]
		p = p[i+1:]
	}
	if events == 0 {
		return
	}
	s.stats.events += int64(events)
	if now.After(s.client.from) && !now.After(s.client.to) {
		s.client.eventsSeen += int64(events)
	}
	if !s.last.IsZero() {
		s.stats.gap.Record(int64(now.Sub(s.last)))
	}
	s.last = now
}

func (s *sseScanner) event(data []byte, now time.Time) {
	switch s.client.req.api {
	case Anthropic:
		s.finished = s.finished || bytes.Contains(data, []byte(`"message_stop"`))
	default:
		s.finished = s.finished || bytes.Equal(data, []byte("[DONE]"))
	}
	// A stamp is "@nanoseconds;" somewhere in the content.
	if _, rest, ok := bytes.Cut(data, []byte(" @")); ok {
		if digits, _, ok := bytes.Cut(rest, []byte(";")); ok {
			if ns, err := strconv.ParseInt(string(digits), 10, 64); err == nil {
				s.stats.transit.Record(now.UnixNano() - ns)
			}
		}
	}
}
