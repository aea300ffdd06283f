package failure

import (
	"strings"
	"time"
)

// MaxRetryAfter is the longest time that is believed.
const MaxRetryAfter = 24 * time.Hour

// waits says whether a failure of this category ends by waiting alone.
func waits(c Category) bool {
	return c == RateLimit || c == QuotaExhausted || c == Overloaded
}

// retryAfter finds how long the provider asks to wait: spec chapter 60,
// section 3.5, with chapter 30's rules (RT-FO-429, RT-FO-6, RT-PARK). Vendor
// times are taken exactly, without rounding or jitter.
//
// There is no default for a whole category: an answer without a usable time
// has none, and the callers know what to do then.
func (e *evidence) retryAfter(c Category, r *reset) (time.Duration, bool) {
	var d time.Duration
	var ok bool
	switch c {
	case RateLimit, QuotaExhausted, Overloaded:
		d, ok = e.findReset(c, r)
	case ServerError, Timeout:
		d, ok = e.retryAfterHeader(true)
	default: // waiting does not help
	}
	return min(d, MaxRetryAfter), ok
}

func (e *evidence) findReset(c Category, r *reset) (time.Duration, bool) {
	if r != nil && r.Override {
		if d, ok := e.fromRow(r); ok {
			return d, ok
		}
	}
	// A rate limit that has ended already, or ends now, is no usable time;
	// for quota it means that the next request may try (RT-PARK).
	if d, ok := e.retryAfterHeader(c != RateLimit); ok {
		return d, ok
	}
	if d, ok := e.fromBody(); ok {
		return d, ok
	}
	if r != nil && !r.Override {
		if d, ok := e.fromRow(r); ok {
			return d, ok
		}
	}
	if d, ok := fromText(e.text); ok {
		return d, ok
	}
	if c == RateLimit || c == Overloaded || (r != nil && r.Buckets) {
		if d, ok := e.fromBuckets(); ok {
			return d, ok
		}
	}
	return r.fallback(e.now)
}

// asksLongerThan compares with the time that the answer itself names.
func (e *evidence) asksLongerThan(limit Duration) bool {
	d, ok := e.findReset(RateLimit, nil)
	return ok && d > time.Duration(limit)
}

// retryAfterHeader reads retry-after-ms and Retry-After. zero: no wait, or a
// time that is past, counts as an answer.
func (e *evidence) retryAfterHeader(zero bool) (time.Duration, bool) {
	for _, h := range []struct{ name, unit string }{{"retry-after-ms", "ms"}, {"retry-after", "s"}} {
		value := e.header[h.name]
		d, ok := number(value, h.unit)
		if !ok && h.unit == "s" {
			d, ok = e.sinceDate(value)
		}
		if ok && (d > 0 || zero) {
			return max(d, 0), true
		}
	}
	return 0, false
}

// sinceDate reads an HTTP date. The provider's own clock, if it sent it, says
// what time it was then.
func (e *evidence) sinceDate(value string) (time.Duration, bool) {
	at, ok := httpDate(value)
	if !ok {
		return 0, false
	}
	if date, ok := httpDate(e.header["date"]); ok {
		return at.Sub(date), true
	}
	return at.Sub(e.now), true
}

// httpDate reads the three forms of RFC 9110, section 5.6.7.
func httpDate(s string) (time.Time, bool) {
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// fromBody reads the fields of the body that name a time to come.
func (e *evidence) fromBody() (time.Duration, bool) {
	if d, ok := unixTime(e.resetsAt, e.now); ok {
		return d, true
	}
	if d, ok := number(e.resetsIn, "s"); ok && d > 0 {
		return d, true
	}
	if seconds, ok := strings.CutSuffix(e.retryDelay, "s"); ok {
		if d, ok := number(seconds, "s"); ok && d > 0 {
			return d, true
		}
	}
	return unixTime(e.resetHeader, e.now)
}

// fromRow looks where the row says.
func (e *evidence) fromRow(r *reset) (time.Duration, bool) {
	for _, name := range r.header {
		if d, ok := anyTime(e.header[name], e.now); ok {
			return d, true
		}
	}
	if r.text != nil {
		if d, ok := r.text.find(e.text, e.now); ok {
			return d, true
		}
	}
	if r.Override {
		return r.fallback(e.now)
	}
	return 0, false
}

// fallback is the row's time for answers that name none.
func (r *reset) fallback(now time.Time) (time.Duration, bool) {
	switch {
	case r == nil:
		return 0, false
	case r.midnight != nil:
		return nextMidnight(now, r.midnight), true
	case r.monthly != nil:
		return nextMonth(now, r.monthly), true
	}
	return time.Duration(r.Default), r.Default > 0
}

// fromBuckets reads x-ratelimit-reset-* and anthropic-ratelimit-*-reset of the
// buckets that have nothing left; the last of them to fill counts.
func (e *evidence) fromBuckets() (longest time.Duration, ok bool) {
	for name, value := range e.header {
		left, isBucket := remainingName(name)
		if !isBucket {
			continue
		}
		if n, isNumber := number(e.header[left], "s"); !isNumber || n != 0 {
			continue
		}
		if d, usable := anyTime(value, e.now); usable {
			longest, ok = max(longest, d), true
		}
	}
	return longest, ok
}

// remainingName names the header that says what is left of a bucket, given
// the one that says when it is full again.
func remainingName(name string) (string, bool) {
	if rest, ok := strings.CutPrefix(name, "x-ratelimit-reset"); ok {
		return "x-ratelimit-remaining" + rest, true
	}
	if rest, ok := strings.CutSuffix(name, "-reset"); ok && strings.HasPrefix(name, "anthropic-ratelimit-") {
		return rest + "-remaining", true
	}
	return "", false
}
