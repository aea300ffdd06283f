package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/h1"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
)

// Target is one provider, ready to be dialled. It is safe for concurrent use.
type Target struct {
	// Name is the provider's name.
	Name string
	// Try is a cheap model that the vendor is known to have; empty if none is.
	Try      string
	Timeouts Timeouts

	driver     *Driver
	classifier *failure.Classifier
	apiKey     secret.String
	places     map[llm.EndpointID]place
	auth       catalog.Auth
	forward    headerSet
	forwardOwn headerSet   // with the caller's own credential
	plain      http.Header // sent with every request; wins over the client's
	fixed      http.Header // plain and the provider's own credential
	transport  transport
}

// place is where an endpoint is.
type place struct {
	url    *url.URL
	target string // the path as it goes on the wire
}

// Timeouts bound one attempt. Zero means no bound.
type Timeouts struct {
	Connect, ResponseHeader, StreamIdle, Total time.Duration
}

// Defaults of Timeouts.
const (
	defaultConnect        = 5 * time.Second
	defaultResponseHeader = 120 * time.Second
	defaultStreamIdle     = 120 * time.Second
)

// Options make a Target.
type Options struct {
	Provider *resource.Provider
	Driver   *Driver
	Vendor   *catalog.Vendor
	// APIKey is the resolved secret; empty for a provider without one.
	APIKey secret.String
	// ReadFile reads Provider.CAFile.
	ReadFile func(string) ([]byte, error)
}

// FieldError names the field of a provider that a Target cannot be built
// from.
type FieldError struct{ Field, Message string }

func (e *FieldError) Error() string { return e.Field + ": " + e.Message }

// New builds a Target. Its error is a *FieldError.
func New(o Options) (*Target, error) {
	p, d := o.Provider, o.Driver
	base := p.BaseURL
	if base == "" {
		base = o.Vendor.BaseURL(d.Format)
	}
	if base == "" {
		return nil, &FieldError{"baseUrl", fmt.Sprintf("a provider of type %s needs a baseUrl, or a vendor that has one", p.Type)}
	}
	if d.Check != nil {
		if field, msg := d.Check(p, base, o.APIKey.Reveal()); msg != "" {
			return nil, &FieldError{field, msg}
		}
	}
	t := &Target{
		Name: p.Name, Try: o.Vendor.Try, Timeouts: timeoutsOf(p.Timeouts), driver: d,
		classifier: o.Vendor.Classifier(), apiKey: o.APIKey,
		places: make(map[llm.EndpointID]place, len(d.Paths)), plain: http.Header{}, fixed: http.Header{},
		auth:       o.Vendor.Auth(d.Format),
		forward:    newHeaderSet(slices.Concat(commonForward(), d.Forward)),
		forwardOwn: newHeaderSet(slices.Concat(commonForward(), d.Forward, d.ForwardOwn)),
	}
	root, err := url.Parse(base)
	if err != nil {
		return nil, &FieldError{"baseUrl", "it is not a URL"}
	}
	for id, path := range d.Paths {
		u, err := url.Parse(join(base, path))
		if err != nil {
			return nil, &FieldError{"baseUrl", "it is not a URL"}
		}
		t.places[id] = place{u, u.RequestURI()}
	}
	t.prepare(o)
	if t.transport, err = newTransport(o, root, t.Timeouts.Connect); err != nil {
		return nil, err
	}
	return t, nil
}

// join appends an endpoint's path, but not a /v1 that the base URL ends with
// already: both forms are found in the vendors' own documentation.
func join(base, path string) string {
	base = strings.TrimRight(base, "/")
	if rest, ok := strings.CutPrefix(path, "/v1/"); ok && strings.HasSuffix(base, "/v1") {
		return base + "/" + rest
	}
	return base + path
}

func (t *Target) prepare(o Options) {
	for k, v := range o.Provider.Headers {
		t.plain.Set(k, v)
	}
	t.fixed = t.plain.Clone()
	if key := o.APIKey.Reveal(); key != "" {
		t.authorize(t.fixed, key)
	}
	if t.driver.Prepare != nil {
		t.driver.Prepare(t.fixed, o.Provider)
	}
}

// authorize puts a key where the vendor wants it.
func (t *Target) authorize(h http.Header, key string) {
	if t.driver.Authorize != nil {
		t.driver.Authorize(h, t.auth, key)
		return
	}
	h.Set(t.auth.Header, t.auth.Prefix+key)
}

func timeoutsOf(r *resource.Timeouts) Timeouts {
	t := Timeouts{Connect: defaultConnect, ResponseHeader: defaultResponseHeader, StreamIdle: defaultStreamIdle}
	if r == nil {
		return t
	}
	for _, f := range []struct {
		ms *int
		d  *time.Duration
	}{{r.ConnectMs, &t.Connect}, {r.ResponseHeaderMs, &t.ResponseHeader}, {r.StreamIdleMs, &t.StreamIdle}, {r.TotalMs, &t.Total}} {
		if f.ms != nil {
			*f.d = time.Duration(*f.ms) * time.Millisecond
		}
	}
	return t
}

// Call is one attempt's request.
type Call struct {
	Endpoint *llm.Endpoint
	// Header and Query are the client's.
	Header http.Header
	Query  url.Values
	// Body is what the provider receives.
	Body   *Payload
	Stream bool
	// Caller is the caller's own credential, as its request had it, and
	// Virtual that of its virtual key: either takes the place of the
	// provider's. At most one is set.
	Caller  http.Header
	Virtual secret.String
}

// Serves tells whether the target has a place for an endpoint.
func (t *Target) Serves(id llm.EndpointID) bool { return t.places[id].url != nil }

// Send dials the provider and returns its answer with any compression taken
// off the body. The caller closes the body. The error is the transport's.
func (t *Target) Send(ctx context.Context, c *Call) (*http.Response, error) {
	at := t.places[c.Endpoint.ID]
	if at.url == nil {
		return nil, fmt.Errorf("provider %s has no endpoint %s", t.Name, c.Endpoint.ID)
	}
	if q := t.query(c.Query); q != "" {
		u := *at.url
		u.RawQuery = q
		at = place{&u, u.RequestURI()}
	}
	resp, err := t.roundTrip(ctx, c, at)
	if err != nil {
		return nil, err
	}
	return resp, decodeBody(resp)
}

func (t *Target) roundTrip(ctx context.Context, c *Call, at place) (*http.Response, error) {
	if t.transport.direct != nil {
		h := headers.get()
		defer headers.put(h) // it was written, or will not be
		t.fill(h, c)
		return t.transport.direct.Do(ctx, &h1.Request{
			Method: c.Endpoint.Method, Target: at.target, Host: at.url.Host, Header: h, Body: c.Body.b, Held: c.Body,
		})
	}
	h := make(http.Header, 16)
	t.fill(h, c)
	return t.transport.std.RoundTrip((&http.Request{
		Method: c.Endpoint.Method, URL: at.url, Host: at.url.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, ContentLength: int64(len(c.Body.b)),
		Body:    c.Body.open(),
		GetBody: func() (io.ReadCloser, error) { return c.Body.open(), nil }, // for a kept connection that had died
	}).WithContext(ctx))
}

func (t *Target) query(q url.Values) string {
	if len(q) == 0 || len(t.driver.Query) == 0 {
		return ""
	}
	out := url.Values{}
	for _, name := range t.driver.Query {
		if v, ok := q[name]; ok && !holdsOurs(v) {
			out[name] = v
		}
	}
	return out.Encode()
}

// fill makes the provider's request header: allowed client headers, then the
// target's own, which win, and exactly one credential.
func (t *Target) fill(h http.Header, c *Call) {
	forward := &t.forward
	if c.Caller != nil {
		forward = &t.forwardOwn
	}
	for k, v := range c.Header {
		if forward.has(k) && !holdsOurs(v) {
			h[k] = v
		}
	}
	for _, line := range c.Header["Connection"] { // what it names is for this hop only
		for name := range strings.SplitSeq(line, ",") {
			delete(h, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	if h["Content-Type"] == nil {
		h["Content-Type"] = []string{"application/json"}
	}
	if c.Stream {
		// A compressed event stream would arrive in lumps.
		h["Accept-Encoding"] = []string{"identity"}
	}
	if h["User-Agent"] == nil {
		h["User-Agent"] = []string{"interlock"}
	}
	switch {
	case c.Caller != nil:
		maps.Copy(h, t.plain)
		t.asCaller(h, c.Caller)
	case !c.Virtual.IsZero():
		maps.Copy(h, t.plain)
		t.authorize(h, c.Virtual.Reveal())
	default:
		maps.Copy(h, t.fixed)
	}
	if t.driver.Complete != nil {
		t.driver.Complete(h)
	}
}

// holdsOurs tells whether a header holds an Interlock credential, which a client
// can have put anywhere.
func holdsOurs(values []string) bool {
	for _, v := range values {
		if strings.Contains(v, "ilk_") || strings.Contains(v, "sess_") {
			return true
		}
	}
	return false
}

// asCaller passes the caller's own credential on. Where a vendor has one header
// for keys, a client of another vendor's habits may have used another one.
func (t *Target) asCaller(h, own http.Header) {
	for name, v := range own {
		switch {
		case name == "Authorization", strings.EqualFold(name, t.auth.Header):
			h[name] = v
		case len(own) == 1:
			h.Set(t.auth.Header, t.auth.Prefix+v[0])
		}
	}
}

// Classify maps an answer of this provider to a failure. The failure's code, the
// provider's own word, goes into records and logs: what was sent, besides the
// organisation's key, is what it may not hold. It is looked at in the code and
// not in the body, where it can be written in many ways, and where a caller
// could choose a credential that makes another failure of it.
func (t *Target) Classify(a *failure.Answer, sent ...secret.String) failure.Failure {
	f := t.classifier.Classify(a)
	if f.Code != "" {
		f.Code = scrubCode(f.Code, t.apiKey.Reveal())
		for _, s := range sent {
			f.Code = scrubCode(f.Code, s.Reveal())
		}
	}
	return f
}

// hidden takes the place of a key.
const hidden = "***"

// minKey is the least that is taken for a key where other things are short too.
const minKey = 8

// scrubCode takes a key out of a code, also one that the code's limit cut off.
func scrubCode(code, key string) string {
	if key == "" {
		return code
	}
	code = strings.ReplaceAll(code, key, hidden)
	for n := min(len(key), len(code)); n >= minKey; n-- {
		if begin, ok := strings.CutSuffix(code, key[:n]); ok {
			return begin + hidden
		}
	}
	return code
}

// Scrub replaces the organisation's key, and a virtual key's, in text that a
// provider sent.
func (t *Target) Scrub(b []byte, virtual secret.String) []byte {
	for _, key := range t.keys(virtual) {
		for _, s := range spellings(key) {
			if key != "" && bytes.Contains(b, []byte(s)) {
				b = bytes.ReplaceAll(b, []byte(s), []byte(hidden))
			}
		}
	}
	return b
}

// ScrubHeader is Scrub for the headers of an answer, in place. It runs on every
// answer, most of whose values are shorter than a key.
func (t *Target) ScrubHeader(h http.Header, virtual secret.String) {
	for _, key := range t.keys(virtual) {
		if len(key) < minKey {
			continue // that would break content types before it kept a secret
		}
		for _, values := range h {
			for i, v := range values {
				if len(v) >= len(key) && strings.Contains(v, key) {
					values[i] = strings.ReplaceAll(v, key, hidden)
				}
			}
		}
	}
}

// keys are those that may have been sent and that the caller may not see; an
// empty one is none.
func (t *Target) keys(virtual secret.String) [2]string {
	return [...]string{t.apiKey.Reveal(), virtual.Reveal()}
}

// spellings are a key as it is and as JSON has it, in which some servers escape
// slashes, and others what HTML would take for a tag.
func spellings(key string) []string {
	out := []string{key}
	if strings.Contains(key, "/") {
		out = append(out, strings.ReplaceAll(key, "/", `\/`))
	}
	if b, err := json.Marshal(key); err == nil && len(b) != len(key)+2 {
		out = append(out, string(b[1:len(b)-1]))
	}
	return out
}

// SameCredential tells whether another target dials with the same key of the
// organisation.
func (t *Target) SameCredential(o *Target) bool { return t.apiKey.Reveal() == o.apiKey.Reveal() }

// CloseIdle closes connections that no request uses.
func (t *Target) CloseIdle() { t.transport.closeIdle() }
