package fakellm

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
)

// Record is one observed request and what became of it.
type Record struct {
	// N numbers requests from 1; ids in the answer contain it.
	N       int64   `json:"n"`
	T       float64 `json:"t"` // seconds since the Server was made
	Method  string  `json:"method"`
	Path    string  `json:"path"`
	RawPath string  `json:"raw_path,omitempty"`
	Query   string  `json:"query,omitempty"`
	Proto   string  `json:"proto"`
	Host    string  `json:"host"`
	Chunked bool    `json:"chunked,omitempty"`

	Headers http.Header `json:"headers"`
	// RawHeaders are the header lines in order and case as sent; only for
	// requests that came in through Start or Serve.
	RawHeaders []string `json:"raw_headers,omitempty"`

	WireBytes int `json:"wire_bytes"`
	BodyBytes int `json:"body_bytes"` // after Content-Encoding
	// Raw is the body as sent, before Content-Encoding is undone. The log
	// leaves it out, and so does /__fake/records without ?raw=1.
	Raw []byte `json:"raw,omitempty"`
	// Body is the decoded body if it is JSON; BodyText is the beginning of
	// any other, or the messages of a WebSocket session.
	Body     json.RawMessage `json:"body,omitempty"`
	BodyText string          `json:"body_text,omitempty"`

	Rule    string  `json:"rule,omitempty"` // name of the rule that was taken
	Status  int     `json:"status"`         // 0: no answer (yet)
	Frames  int     `json:"frames,omitempty"`
	Seconds float64 `json:"seconds"`
	Done    bool    `json:"done"` // nothing below or above will change any more

	// Gone: the client left before the answer was complete, GoneAfterMS
	// milliseconds after the request came in.
	Gone        bool   `json:"client_gone,omitempty"`
	GoneAfterMS int64  `json:"gone_after_ms,omitempty"`
	Note        string `json:"note,omitempty"`
}

// recorder keeps the newest records within its bounds. Its lock also guards
// the fields of every record in it.
type recorder struct {
	max      int
	maxBytes int64

	mu    sync.Mutex
	recs  []*Record
	bytes int64

	logMu sync.Mutex
	log   io.Writer
}

// on reports whether anyone will see a record.
func (k *recorder) on() bool { return k.max > 0 || k.log != nil }

func (k *recorder) add(rec *Record) {
	if k.max == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.recs = append(k.recs, rec)
	k.bytes += size(rec)
	for len(k.recs) > k.max || k.bytes > k.maxBytes && len(k.recs) > 1 {
		k.bytes -= size(k.recs[0])
		k.recs[0] = nil // the array lives on until append moves it
		k.recs = k.recs[1:]
	}
}

// size ignores Body, which shares memory with Raw unless it was compressed.
func size(rec *Record) int64 { return int64(max(rec.WireBytes, rec.BodyBytes)) }

func (k *recorder) edit(rec *Record, change func(*Record)) {
	k.mu.Lock()
	change(rec)
	k.mu.Unlock()
}

func (k *recorder) all() []Record {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]Record, len(k.recs))
	for i, rec := range k.recs {
		out[i] = *rec
	}
	return out
}

func (k *recorder) clear() {
	k.mu.Lock()
	k.recs, k.bytes = nil, 0
	k.mu.Unlock()
}

// write logs a finished record. A log that cannot be written must not fail
// the test that it is for, so its error is noted in the record.
func (k *recorder) write(rec *Record) {
	if k.log == nil {
		return
	}
	out := *rec
	out.Raw = nil
	b, err := json.Marshal(out)
	if err == nil {
		k.logMu.Lock()
		_, err = k.log.Write(append(b, '\n'))
		k.logMu.Unlock()
	}
	if err != nil {
		k.edit(rec, func(r *Record) { r.Note += " log: " + err.Error() })
	}
}

// withoutRaw is the records for people: bodies are in them decoded already.
func withoutRaw(recs []Record) []Record {
	recs = slices.Clone(recs)
	for i := range recs {
		recs[i].Raw = nil
	}
	return recs
}
