package issuer

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// maxDocument bounds what an issuer sends; real ones send a few kilobytes.
const maxDocument = 1 << 20

// isTLS tells whether a URL is fetched with TLS.
func isTLS(url string) bool { return strings.HasPrefix(strings.ToLower(url), "https://") }

// newClient makes the client for one issuer. Fetches are rare, so no
// connection is kept.
func newClient(timeout time.Duration, secure bool) *http.Client {
	return &http.Client{Timeout: timeout, Transport: &transport{secure: secure, next: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: timeout, MaxResponseHeaderBytes: 64 << 10,
	}}}
}

// transport bounds answers, and stays with TLS wherever the issuer's own
// description or a redirect leads: who is on the way could put in a key.
type transport struct {
	secure bool
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.secure && r.URL.Scheme != "https" {
		return nil, errors.New("an issuer with https leads to a URL without; correct its jwks_uri or its redirect")
	}
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", "interlock")
	r.Header.Set("Accept", "application/json")
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxDocument)
	return resp, nil
}
