package fakellm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test; nothing should come near it.
const patience = 10 * time.Second

type fixture struct {
	*Server
	t      *testing.T
	url    string
	client *http.Client
}

func start(t *testing.T, rules ...Rule) *fixture { return startWith(t, Options{}, rules...) }

func startWith(t *testing.T, opts Options, rules ...Rule) *fixture {
	t.Helper()
	s := New(opts)
	url, err := s.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.SetRules(rules); err != nil {
		t.Fatal(err)
	}
	return &fixture{Server: s, t: t, url: url, client: &http.Client{Transport: tr}}
}

// open sends a POST; the body of the answer is still to be read.
func (f *fixture) open(ctx context.Context, path, body string, headers ...string) (*http.Response, error) {
	f.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return f.client.Do(req)
}

type answer struct {
	status int
	header http.Header
	body   []byte
	err    error // of reading the body
}

func (f *fixture) post(path, body string, headers ...string) answer {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	resp, err := f.open(ctx, path, body, headers...)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, b, err}
}

func (f *fixture) get(path string, headers ...string) answer {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.url+path, http.NoBody)
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := f.client.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, b, err}
}

// eventually waits for a condition that another goroutine brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for tick := time.NewTicker(time.Millisecond); !ok(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("not in time: " + what)
		}
	}
}

// event is one frame as a client sees it.
type event struct{ name, data string }

func sseEvents(t *testing.T, body []byte) []event {
	t.Helper()
	var out []event
	var e event
	sc := bufio.NewScanner(bytes.NewReader(body))
	for sc.Scan() {
		line := sc.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			e.name = name
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			e.data = data
		}
		if line == "" && e.data != "" {
			out = append(out, e)
			e = event{}
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// awsEvents decodes an AWS event stream and checks its sums. An exception has
// its type as the name, after an exclamation mark.
func awsEvents(t *testing.T, body []byte) []event {
	t.Helper()
	var out []event
	for len(body) > 0 {
		total, headers := binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
		msg := body[:total]
		body = body[total:]
		if crc32.ChecksumIEEE(msg[:8]) != binary.BigEndian.Uint32(msg[8:]) ||
			crc32.ChecksumIEEE(msg[:total-4]) != binary.BigEndian.Uint32(msg[total-4:]) {
			t.Fatal("wrong checksum")
		}
		e := event{data: string(msg[12+headers : total-4])}
		for h := msg[12 : 12+headers]; len(h) > 0; {
			name := string(h[1 : 1+h[0]])
			h = h[1+len(name)+1:]
			n := int(binary.BigEndian.Uint16(h))
			value := string(h[2 : 2+n])
			h = h[2+n:]
			switch name {
			case ":event-type":
				e.name = value
			case ":exception-type":
				e.name = "!" + value
			}
		}
		if e.name == "chunk" {
			var p struct{ Bytes []byte } // base64 in JSON
			if err := json.Unmarshal([]byte(e.data), &p); err != nil {
				t.Fatal(err)
			}
			e.data = string(p.Bytes)
			e.name, _ = at(t, e.data, "type").(string)
		}
		out = append(out, e)
	}
	return out
}

func arrayEvents(t *testing.T, body []byte) []event {
	t.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	out := make([]event, len(list))
	for i, e := range list {
		out[i] = event{data: string(e)}
	}
	return out
}

// at finds a value by a path such as choices.0.delta.content; nil if absent.
func at(t *testing.T, doc, path string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatalf("%v in %s", err, doc)
	}
	for key := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// joined is the text at path in all events, in order.
func joined(t *testing.T, events []event, path string) string {
	t.Helper()
	var b strings.Builder
	for _, e := range events {
		if e.data == "[DONE]" {
			continue
		}
		if s, ok := at(t, e.data, path).(string); ok {
			b.WriteString(s)
		}
	}
	return b.String()
}

func names(events []event) string {
	out := make([]string, 0, len(events))
	for _, e := range events {
		if len(out) == 0 || out[len(out)-1] != e.name { // runs of deltas count once
			out = append(out, e.name)
		}
	}
	return strings.Join(out, " ")
}

func decodeBase64(t *testing.T, s string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
