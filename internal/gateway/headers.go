package gateway

import (
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// passHeaders are the provider's response headers that reach the client:
// content type, request ids and the wish to be retried. Rate limits are the
// organisation's own affair, and set-cookie, server, alt-svc and organisation
// ids are nobody's.
func passHeaders() [7]string {
	return [7]string{"Content-Type", "Request-Id", "X-Request-Id", "X-Amzn-Requestid", "Apim-Request-Id", "X-Oai-Request-Id", "X-Should-Retry"}
}

// copyHeaders copies what passes. Retry-After is capped: some clients sleep
// for any time they are told. Rate limits are for the holder of the credential
// that they are about.
func copyHeaders(dst, src http.Header, c *routing.Candidate) {
	if c != nil && c.Credential == routing.CredentialCaller {
		for name, v := range src {
			if strings.HasPrefix(name, "Anthropic-Ratelimit-") || strings.HasPrefix(name, "X-Ratelimit-") {
				dst[name] = v[:1]
			}
		}
	}
	for _, name := range passHeaders() {
		if v := src[name]; len(v) > 0 {
			dst[name] = v[:1]
		}
	}
	if s, ok := readRetryAfter(src.Get("Retry-After")); ok {
		dst["Retry-After"] = []string{strconv.Itoa(int(math.Ceil(min(s, 59))))}
	}
	v := src.Get("Retry-After-Ms")
	if v == "" {
		return
	}
	if ms, err := strconv.ParseFloat(v, 64); err == nil && ms >= 0 {
		dst["Retry-After-Ms"] = []string{strconv.Itoa(int(min(ms, 59_000)))}
	}
}

// readRetryAfter reads seconds, or a date and time.
func readRetryAfter(v string) (seconds float64, ok bool) {
	if v == "" { // nearly always; a parser would make an error of it
		return 0, false
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(t).Seconds()), true
	}
	s, err := strconv.ParseFloat(v, 64)
	return s, err == nil && s >= 0
}

// routingHeaders adds what the decision came to. c is the candidate that
// served, or whose failure is returned; nil if none was dialled.
func (ex *exchange) routingHeaders(h http.Header, c *routing.Candidate) {
	if k := ex.caller.Key; k != nil && k.Admin && ex.plan != nil && wire.WantsExplanation(ex.r.Header) {
		h["X-Interlock-Decision"] = []string{headerValue(ex.plan.Line())} // it was asked for
	}
	if !ex.g.tune.Load().ExposeRouting {
		return
	}
	dials := ex.dials
	// One array for all: each value has a place of its own and no room behind.
	v := [...]string{strconv.Itoa(dials), strconv.Itoa(max(0, dials-1)), "", "", "", ""}
	h["X-Interlock-Attempts"] = v[0:1:1]
	h["X-Interlock-Fallbacks"] = v[1:2:2]
	if ex.plan != nil && ex.plan.Route != "" {
		v[2] = headerValue(string(ex.plan.Route))
		h["X-Interlock-Route"] = v[2:3:3]
	}
	if c == nil {
		return
	}
	v[3], v[4], v[5] = headerValue(string(c.Provider)), headerValue(c.WireModel), headerValue(c.Residency)
	h["X-Interlock-Provider"] = v[3:4:4]
	h["X-Interlock-Model"] = v[4:5:5]
	h["X-Interlock-Residency"] = v[5:6:6]
}

// headerValue makes text safe in a header: anything but printable ASCII is
// percent-encoded UTF-8, and so is the percent sign then.
func headerValue(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '%' {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// logLevel: what an administrator should look at is at warn.
func (ex *exchange) logLevel(status int) slog.Level {
	switch {
	case status >= 500:
		return slog.LevelWarn
	case status >= 400:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}
