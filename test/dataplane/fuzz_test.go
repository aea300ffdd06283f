package dataplane

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/gateway"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// fuzzed is one request as a fuzzer makes it.
type fuzzed struct {
	method, target string
	// headers are lines "Name: value", ended by newlines.
	headers string
	// key adds a good key.
	key      bool
	encoding uint8
	body     []byte
}

// The encodings of a fuzzed body.
const (
	encNone = iota
	encGzip
	encZstd
	encTwice     // gzip in zstd
	encLie       // says gzip and is not
	encTruncated // gzip without its end
	encUnknown   // an encoding that nobody knows
	encChunked   // without a length
	encShort     // less than it says
	encKinds
)

// errNotServed is a request that Go's server answers itself, or never sees as
// a whole.
var errNotServed = errors.New("not a request for the handler")

// request builds the request as a server reads it from the wire, so that what
// the handler sees is what could be sent.
func (z *fuzzed) request() (*http.Request, error) {
	body, says := z.body, ""
	switch z.encoding % encKinds {
	case encGzip:
		body, says = packed(z.body, "gzip"), "gzip"
	case encZstd:
		body, says = packed(z.body, "zstd"), "zstd"
	case encTwice:
		body, says = packed(packed(z.body, "gzip"), "zstd"), "gzip, zstd"
	case encLie:
		says = "gzip"
	case encTruncated:
		body, says = packed(z.body, "gzip"), "gzip"
		body = body[:len(body)*3/4]
	case encUnknown:
		says = "br"
	}
	var raw bytes.Buffer
	fmt.Fprintf(&raw, "%s %s HTTP/1.1\r\nHost: gateway.test\r\n", z.method, z.target)
	if z.key {
		fmt.Fprintf(&raw, "Authorization: Bearer %s\r\n", gwtest.Key)
	}
	for line := range strings.Lines(z.headers) {
		raw.WriteString(strings.TrimRight(line, "\r\n") + "\r\n")
	}
	if says != "" {
		fmt.Fprintf(&raw, "Content-Encoding: %s\r\n", says)
	}
	switch z.encoding % encKinds {
	case encChunked:
		fmt.Fprintf(&raw, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	case encShort:
		fmt.Fprintf(&raw, "Content-Length: %d\r\n\r\n%s", len(body)+7, body)
	default:
		fmt.Fprintf(&raw, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	r, err := http.ReadRequest(bufio.NewReader(&raw))
	if err != nil || r.Host != "gateway.test" || r.RequestURI == "*" && r.Method == http.MethodOptions {
		return nil, errNotServed
	}
	for name, values := range r.Header { // as net/http's server checks them
		if !validToken(name) || slices.ContainsFunc(values, hasControls) {
			return nil, errNotServed
		}
	}
	return r, nil
}

// encoders are kept: to make one costs more than a request.
var encoders = struct{ gzip, zstd sync.Pool }{
	gzip: sync.Pool{New: func() any { return gzip.NewWriter(nil) }},
	zstd: sync.Pool{New: func() any {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			panic(err)
		}
		return z
	}},
}

type resettable interface {
	io.WriteCloser
	Reset(io.Writer)
}

func packed(b []byte, how string) []byte {
	pool := &encoders.gzip
	if how == "zstd" {
		pool = &encoders.zstd
	}
	w, _ := pool.Get().(resettable)
	defer pool.Put(w)
	var out bytes.Buffer
	w.Reset(&out)
	if _, err := w.Write(b); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func validToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c > '~' || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

func hasControls(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// panicLog counts the panics that the gateway recovered from.
type panicLog struct {
	slog.Handler
	panics atomic.Int64
	last   atomic.Pointer[string]
}

func (p *panicLog) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

func (p *panicLog) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool { text += fmt.Sprintf("\n%s: %v", a.Key, a.Value); return true })
	p.last.Store(&text)
	p.panics.Add(1)
	return nil
}

// fuzzTarget is the gateway that is fuzzed: its handler, with a provider of each
// format behind it, so that what is accepted goes all the way.
type fuzzTarget struct {
	g                            *gateway.Gateway
	log                          *panicLog
	anthropic, openai, responses *dialect
	byPath                       map[string]*dialect
}

func newFuzzTarget(tb testing.TB) *fuzzTarget {
	tb.Helper()
	log := &panicLog{Handler: slog.DiscardHandler}
	var docs []string
	for _, d := range dialects() {
		f := fakellm.New(fakellm.Options{KeepRecords: fakellm.KeepNone})
		url, err := f.Start("127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = f.Close() })
		docs = append(docs, d.provider(url, d.name), gwtest.Route(d.name+"-route", fmt.Sprintf("%q", d.pattern), d.name))
	}
	ds := dialects()
	f := &fuzzTarget{
		g:   inProcess(tb, gateway.Options{Log: slog.New(log), MaxBodyBytes: 1 << 20}, docs...),
		log: log, anthropic: ds[0], openai: ds[1], responses: ds[2], byPath: map[string]*dialect{},
	}
	for _, e := range formats.Endpoints() {
		for _, path := range e.Paths {
			f.byPath[path] = f.openai
			switch e.Format {
			case llm.AnthropicMessages:
				f.byPath[path] = f.anthropic
			case llm.OpenAIResponses:
				f.byPath[path] = f.responses
			default:
			}
		}
	}
	return f
}

// answers sends a request and checks what no request may change: no panic, no
// 500, and errors in the client's own format.
func (f *fuzzTarget) answers(z *fuzzed) (status int, code string, err error) {
	r, err := z.request()
	if err != nil {
		return 0, "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r = r.WithContext(ctx)
	// A client address for each body: the guard against guessing would answer
	// everything else.
	r.RemoteAddr = fmt.Sprintf("10.0.%d.%d:4711", len(z.body)%256, len(z.headers)%256)
	rec := httptest.NewRecorder()
	panics := f.log.panics.Load()
	f.g.ServeHTTP(rec, r)
	if f.log.panics.Load() != panics {
		return rec.Code, "", fmt.Errorf("a panic or an error of the gateway's own: %s", *f.log.last.Load())
	}
	code, err = f.check(r, rec)
	return rec.Code, code, err
}

// check returns the code of an error.
func (f *fuzzTarget) check(r *http.Request, rec *httptest.ResponseRecorder) (string, error) {
	h, body := rec.Header(), rec.Body.String()
	switch {
	case rec.Code == http.StatusInternalServerError, rec.Code < 200, rec.Code > 599:
		return "", fmt.Errorf("status %d: %s", rec.Code, clipped(body))
	case rec.Code < 300:
		return "", nil
	case rec.Code < 400: // on the way clients would lose their body or their key
		return "", fmt.Errorf("status %d to %q", rec.Code, h.Get("Location"))
	}
	d := f.dialectOf(r)
	e, err := d.parseError(body)
	switch {
	case err != nil:
		return "", fmt.Errorf("status %d, not an error of %s: %w: %q", rec.Code, d.name, err, clipped(body))
	case e.code() == "" || !strings.Contains(e.Message, e.code()):
		return "", fmt.Errorf("status %d without its code in the message: %s", rec.Code, clipped(body))
	case !utf8.ValidString(body):
		return "", fmt.Errorf("status %d with a body that is not UTF-8: %q", rec.Code, clipped(body))
	case h.Get("X-Interlock-Request-Id") == "" || h.Get(d.requestIDHeader()) != h.Get("X-Interlock-Request-Id"):
		return "", fmt.Errorf("status %d without its request id: %v", rec.Code, h)
	case h.Get("Content-Type") != "application/json" || h.Get("Content-Length") != fmt.Sprint(len(body)):
		return "", fmt.Errorf("status %d: %v for %d bytes", rec.Code, h, len(body))
	case h.Get("X-Interlock-Error") != e.code():
		return "", fmt.Errorf("x-interlock-error %q for the code %q", h.Get("X-Interlock-Error"), e.code())
	case len(body) > 4096:
		return "", fmt.Errorf("an error of %d bytes", len(body))
	case strings.Contains(body, gwtest.Key) && !strings.Contains(r.URL.String()+r.Header.Get("Content-Encoding"), gwtest.Key):
		return "", errors.New("the key is in the answer")
	}
	return e.code(), nil
}

// dialectOf is the format in which the caller of a path expects an error: its
// endpoint's, else the nearest.
func (f *fuzzTarget) dialectOf(r *http.Request) *dialect {
	escaped := r.URL.EscapedPath()
	for strings.Contains(escaped, "//") {
		escaped = strings.ReplaceAll(escaped, "//", "/")
	}
	path, err := url.PathUnescape(escaped)
	if d := f.byPath[path]; err == nil && d != nil && !strings.Contains(strings.ToUpper(escaped), "%2F") {
		return d
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(path, p) })
	}
	begins := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(path, p) })
	}
	switch {
	case r.Header.Get("Anthropic-Version") != "", has("/messages", "/publishers/anthropic/"), begins("/anthropic", "/model/", "/bedrock/"):
		return f.anthropic
	case has("/responses"):
		return f.openai // the same errors
	case begins("/v1beta/", "/v1beta1/", "/v1alpha/", "/vertex/v1beta"), has("/publishers/google/"), has(":generateContent", ":streamGenerateContent"),
		r.Header.Get("X-Goog-Api-Key") != "", r.URL.Query().Has("key"):
		return &dialect{name: "gemini", format: llm.Gemini}
	}
	return f.openai
}

// FuzzRequest is RQ-3 and ER-BODY by any means: whatever is sent, there is no
// panic, no 500, and an error is one of the client's own format.
func FuzzRequest(f *testing.F) {
	target := newFuzzTarget(f)
	for _, d := range dialects() {
		for enc := range uint8(encKinds) {
			f.Add("POST", d.path, "Content-Type: application/json\n", true, enc, []byte(d.ask(enc%2 == 0)))
		}
		f.Add("POST", d.path+"?beta=true&key=x", "X-Api-Key: nonsense\nAnthropic-Version: 2023-06-01\n", false, uint8(0), []byte(d.ask(true)))
	}
	f.Add("GET", "/v1/models?limit=3&after_id=x", "Anthropic-Version: 1\n", true, uint8(0), []byte(nil))
	f.Add("GET", "/v1/models/claude-test", "", true, uint8(0), []byte(nil))
	f.Add("POST", "/v1/messages/count_tokens", "", true, uint8(0), []byte(`{"model":"claude-test","messages":[]}`))
	f.Add("DELETE", "/v1/responses/x", "", true, uint8(0), []byte(nil))
	f.Add("OPTIONS", "//v1/../messages/%2e", "", true, uint8(0), []byte(nil))
	f.Fuzz(func(t *testing.T, method, path, headers string, key bool, encoding uint8, body []byte) {
		if len(body) > 1<<16 || len(headers) > 1<<12 || len(path) > 1<<10 || strings.ContainsAny(method+path, "\r\n") {
			t.Skip()
		}
		z := &fuzzed{method, path, headers, key, encoding, body}
		if _, _, err := target.answers(z); errors.Is(err, errNotServed) {
			t.Skip()
		} else if err != nil {
			t.Errorf("%v\n%+v", err, z)
		}
	})
}

// generator makes requests from real ones, each from its own number alone.
type generator struct {
	bodies [][]byte
	paths  []string
}

func newGenerator(t *testing.T) *generator {
	t.Helper()
	g := &generator{}
	for _, c := range captures(t) {
		if b := []byte(c.body(t)); len(b) > 2 && len(b) < 8<<10 {
			g.bodies = append(g.bodies, b)
		}
	}
	for _, d := range dialects() {
		for _, stream := range both() {
			// Several times, since they are the ones that reach a provider.
			for range 8 {
				g.bodies = append(g.bodies, []byte(d.ask(stream)))
			}
		}
	}
	for _, e := range formats.Endpoints() {
		for range 15 {
			g.paths = append(g.paths, e.Paths...)
		}
	}
	g.paths = append(g.paths, "/", "/v1/models", "/v1/models/claude-test", "/v1/responses", "/v1/embeddings", "/v1beta/models/gemini:generateContent",
		"/model/x/invoke", "/v1/messages/batches", "/nothing", "/v1/messages/", "//v1/messages", "/v1/%6dessages", "/v1%2Fchat/completions",
		"/V1/MESSAGES", "/v1/./messages", "/anthropic/v1", "/api/hello", "/healthz", "/v1/messages;x=1", "/v1/messages?%zz", "*", "/é", "/v1/models/%00")
	return g
}

// make is the i-th request.
func (g *generator) make(i int) *fuzzed {
	r := rand.New(rand.NewPCG(20261130, uint64(i)))
	z := &fuzzed{method: "POST", target: g.paths[r.IntN(len(g.paths))], key: r.IntN(12) != 0, headers: "Content-Type: application/json\n"}
	if r.IntN(25) == 0 {
		z.method = []string{"GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "post", "X", "TRACE"}[r.IntN(9)]
	}
	if r.IntN(8) == 0 {
		z.target += []string{"?beta=true", "?key=AIza", "?x=%zz", "?a=1&a=2&%C3%28", "?;;", "?" + strings.Repeat("q", 300)}[r.IntN(6)]
	}
	if r.IntN(6) == 0 {
		z.encoding = uint8(r.IntN(encKinds))
	}
	for range r.IntN(4) {
		z.headers += randomHeader(r) + "\n"
	}
	z.body = slices.Clone(g.bodies[r.IntN(len(g.bodies))])
	for range r.IntN(5) { // one in five stays as it is
		z.body = g.mutate(r, z.body)
	}
	return z
}

func randomHeader(r *rand.Rand) string {
	names := []string{
		"Anthropic-Version", "Anthropic-Beta", "Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "X-Interlock-Key", "X-Interlock-Session",
		"X-Interlock-Anything", "Content-Type", "Accept", "Accept-Encoding", "Content-Encoding", "User-Agent", "Cookie", "Connection", "Te", "Trailer",
		"Upgrade", "Expect", "X-Stainless-Timeout", "X-Request-Id", "Traceparent", "Idempotency-Key", "X-Forwarded-For", "Range", "If-None-Match",
	}
	values := []string{
		"", "x", "Bearer ilk_unknown_0123456789abcdef", "Bearer", "Basic eDp5", "sk-ant-foreign", "2023-06-01", "gzip",
		"gzip, zstd", "zstd,zstd,zstd", "identity", "text/plain", "application/json; charset=latin1", "keep-alive, authorization", "100-continue", "websocket",
		"a,b,,c", "\"quoted\"", "héllo", "\xff\xfe", strings.Repeat("long", 200), "-1", "1e9", "0", "true", "null", "{\"a\":1}", "${jndi:x}", "../..",
	}
	if r.IntN(8) == 0 { // a good key, where one may be
		return []string{"X-Api-Key: ", "X-Interlock-Key: ", "Api-Key: ", "X-Goog-Api-Key: ", "Authorization: bearer "}[r.IntN(5)] + gwtest.Key
	}
	return names[r.IntN(len(names))] + ": " + values[r.IntN(len(values))]
}

// mutate changes a body in one of the ways in which bodies are wrong, or odd.
func (g *generator) mutate(r *rand.Rand, b []byte) []byte {
	at := func() int { return r.IntN(len(b) + 1) }
	insert := func(i int, s string) []byte { return slices.Concat(b[:i], []byte(s), b[i:]) }
	replace := func(old, now string) []byte { return bytes.Replace(b, []byte(old), []byte(now), 1) }
	switch r.IntN(20) {
	case 0: // another byte
		if len(b) > 0 {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
	case 1: // a bit
		if len(b) > 0 {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
	case 2: // cut off
		return b[:at()]
	case 3: // a part twice
		i := at()
		j := min(len(b), i+r.IntN(60))
		return insert(j, string(b[i:j]))
	case 4: // a part gone
		i := at()
		return slices.Delete(b, i, min(len(b), i+r.IntN(20)))
	case 5: // the end of another body
		other := g.bodies[r.IntN(len(g.bodies))]
		return slices.Concat(b[:at()], other[r.IntN(len(other)):])
	case 6: // structure where it does not belong
		return insert(at(), []string{"{", "}", "[", "]", ",", ":", "\"", "\\", "null", "true", "1e999", "-", "\\u", "\\ud800", "//", "/**/", "'"}[r.IntN(17)])
	case 7: // bytes that are no text
		return insert(at(), []string{"\x00", "\xff", "\xc0\x80", "\xed\xa0\x80", "\xef\xbb\xbf", "\u2028", "\x1f"}[r.IntN(7)])
	case 8: // the model twice, or under another spelling
		return replace("{", []string{`{"model":"other",`, `{"MODEL":"other",`, `{"\u006dodel":"other",`, `{"model":1,`, `{"model":null,`, `{"model":"",`}[r.IntN(6)])
	case 9: // another type for a member
		return replace([]string{`"stream":true`, `"stream":false`}[r.IntN(2)], `"stream":`+[]string{"1", `"true"`, "null", "[]", "TRUE", "true,"}[r.IntN(6)])
	case 10: // models that are no names
		return replace("-test\"", []string{`\n"`, `\u0000"`, `\ud83d"`, `*"`, strings.Repeat("x", 300) + `"`, `é"`, `\"'<>"`, `/../x"`, `%00"`}[r.IntN(9)])
	case 11: // deep, or many
		n := r.IntN(40)
		if r.IntN(20) == 0 {
			n = 11_000
		}
		return replace("{", `{"deep":`+strings.Repeat("[", n)+strings.Repeat("]", n)+",")
	case 12: // many members
		var m strings.Builder
		for i := range r.IntN(40) {
			fmt.Fprintf(&m, `"k%d":%d,`, i, i)
		}
		return replace("{", "{"+m.String())
	case 13: // something before or after
		return slices.Concat([]byte([]string{" ", "\n\t", "\ufeff", "x", "{}"}[r.IntN(5)]), b)
	case 14:
		return slices.Concat(b, []byte([]string{" ", "\n", "x", "{}", "\x00", ","}[r.IntN(6)]))
	case 15: // not an object
		return []byte([]string{"", "null", "[]", "\"x\"", "1", "{}", "{", "[{}]", "true", `{"model":"claude-test"}`}[r.IntN(10)])
	case 16: // white space that is allowed
		return bytes.ReplaceAll(b, []byte(`,"`), []byte(" ,\r\n\t\""))
	case 17: // an unknown member, which is allowed
		return replace("{", `{"x_unknown":{"a":[1,2,{"b":null}]},`)
	case 18: // a member in another case
		return replace(`"messages"`, []string{`"Messages"`, `"messageſ"`, `"mess\u0061ges"`, `"messages2"`}[r.IntN(4)])
	case 19: // large
		return replace(`"hi"`, `"`+strings.Repeat("large ", r.IntN(3000))+`"`)
	}
	return b
}

// TestER_BODY_fuzzed_requests is a must-hold of the first step: generated bodies
// and headers, no panic, no 500, errors in the client's own format. The same
// ones at each run. INTERLOCK_FUZZ says how many: 100,000, which the step asks for,
// take a minute and more under the race detector.
func TestER_BODY_fuzzed_requests(t *testing.T) {
	n := 30_000
	if text := os.Getenv("INTERLOCK_FUZZ"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	if testing.Short() {
		n = 5_000
	}
	target, g := newFuzzTarget(t), newGenerator(t)
	var served, valid, notServed, failed atomic.Int64
	var codes [600]atomic.Int64
	concurrently(n, 8, func(i int) {
		if failed.Load() > 10 {
			return
		}
		z := g.make(i)
		if json.Valid(z.body) {
			valid.Add(1)
		}
		status, _, err := target.answers(z)
		switch {
		case errors.Is(err, errNotServed):
			notServed.Add(1)
			return
		case err != nil:
			failed.Add(1)
			t.Errorf("request %d: %v\n%s %s\n%s\n%q", i, err, z.method, z.target, z.headers, clipped(string(z.body)))
		case status == 200 && z.method == "POST":
			served.Add(1)
		}
		codes[status].Add(1)
	})
	if failed.Load() > 0 {
		t.FailNow()
	}
	seen := map[int]int64{}
	for status := range codes {
		if k := codes[status].Load(); k > 0 {
			seen[status] = k
		}
	}
	t.Logf("%d requests: %d valid JSON, %d served, %d for net/http alone, by status %v", n, valid.Load(), served.Load(), notServed.Load(), seen)
	// The generator must be neither all good nor all bad.
	for what, share := range map[string][3]float64{
		"valid JSON":       {float64(valid.Load()), 0.2, 0.8},
		"served":           {float64(served.Load()), 0.05, 0.5},
		"for net/http":     {float64(notServed.Load()), 0, 0.1},
		"refused with 400": {float64(seen[400]), 0.2, 0.8},
		"refused with 401": {float64(seen[401]), 0.02, 0.3},
		"refused with 404": {float64(seen[404]), 0.01, 0.5},
		"refused with 405": {float64(seen[405]), 0.005, 0.2},
		"without a route":  {float64(seen[503]), 0.01, 0.5},
	} {
		if p := share[0] / float64(n); p < share[1] || p > share[2] {
			t.Errorf("%s: %.3f of all, want %.3f to %.3f", what, p, share[1], share[2])
		}
	}
	if target.g.InFlight() != 0 {
		t.Errorf("%d in flight at the end", target.g.InFlight())
	}
}
