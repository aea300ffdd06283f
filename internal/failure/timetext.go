package failure

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The ways in which vendors write a time span or a moment. None of these
// functions ever answers a negative time; a moment that is past is no answer.

var (
	plainNumber = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+)?$`)

	// "Please try again in 6m0s", "retry after 7 seconds", "Please retry in
	// 38.2s", "try again in 58 hours". Longer unit names come first, since
	// the first alternative that fits wins.
	waitText = regexp.MustCompile(`(?:try again|retry|retrying) (?:in|after) (?:about )?((?:[0-9]+(?:\.[0-9]+)? ?` + unitName + `[ ,]*(?:and )?)+)`)
	span     = regexp.MustCompile(`([0-9]+(?:\.[0-9]+)?) ?` + unitName)
)

const unitName = `(months?|weeks?|days?|hours?|hrs?|minutes?|mins?|milliseconds?|ms|seconds?|secs?|s|m|h|d)`

// number reads a plain decimal number of a unit that time.ParseDuration knows.
// A number that is too large is MaxRetryAfter.
func number(s, unit string) (time.Duration, bool) {
	if !plainNumber.MatchString(s) {
		return 0, false
	}
	d, err := time.ParseDuration(s + unit)
	if err != nil {
		return MaxRetryAfter, true
	}
	return d, true
}

// fromText finds a wait in lower-case text.
func fromText(text string) (time.Duration, bool) {
	found := waitText.FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	var total time.Duration
	for _, part := range span.FindAllStringSubmatch(found[1], -1) {
		unit, days := goUnit(part[2])
		one, _ := number(part[1], unit)
		if days > 0 {
			one = min(one, MaxRetryAfter) * 24 * time.Duration(days)
		}
		total = min(total+min(one, MaxRetryAfter), MaxRetryAfter)
	}
	return total, total > 0
}

// goUnit gives Go's name of a unit; for one that Go does not have, hours and
// how many days it is.
func goUnit(name string) (unit string, days int) {
	switch {
	case strings.HasPrefix(name, "month"):
		return "h", 30
	case strings.HasPrefix(name, "week"):
		return "h", 7
	case strings.HasPrefix(name, "d"):
		return "h", 1
	case strings.HasPrefix(name, "h"):
		return "h", 0
	case name == "ms", strings.HasPrefix(name, "milli"):
		return "ms", 0
	case strings.HasPrefix(name, "m"):
		return "m", 0
	}
	return "s", 0
}

// unixTime reads a unix time in seconds or, if it is so large, milliseconds.
func unixTime(s string, now time.Time) (time.Duration, bool) {
	const earliest, milliseconds, latest = 1e9, 1e12, 1e14
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !plainNumber.MatchString(s) || n < earliest || n > latest {
		return 0, false
	}
	var at time.Time
	if n > milliseconds {
		at = time.UnixMilli(int64(n))
	} else {
		whole := int64(n)
		at = time.Unix(whole, int64((n-float64(whole))*1e9))
	}
	d := at.Sub(now)
	return d, d > 0
}

// anyTime reads a header that names a reset: a unix time, a number of seconds,
// a duration in Go's syntax (OpenAI, Groq) or an RFC 3339 time (Anthropic).
func anyTime(s string, now time.Time) (time.Duration, bool) {
	if plainNumber.MatchString(s) {
		const unixFrom = 1e9
		if n, err := strconv.ParseFloat(s, 64); err != nil || n >= unixFrom {
			return unixTime(s, now)
		}
		d, ok := number(s, "s")
		return d, ok && d > 0
	}
	if d, err := time.ParseDuration(s); err == nil {
		return d, d > 0
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0, false
	}
	d := at.Sub(now)
	return d, d > 0
}
