package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// maxDays keeps sums of days far from the end of time.Duration.
const maxDays = 36_500

var errDuration = errors.New("write a number with a unit: 30d, 2w, 24h or 90m")

// parseDuration reads what time.ParseDuration reads, and whole days and weeks.
func parseDuration(s string) (time.Duration, error) {
	for _, u := range []struct {
		suffix string
		days   int
	}{{"d", 1}, {"w", 7}} {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n < 0 || n*u.days > maxDays {
			return 0, errDuration
		}
		return time.Duration(n*u.days) * day, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errDuration
	}
	return d, nil
}

// parseEnd reads when something ends: after a duration, on a day (which is
// over then: the end of that day, in UTC) or at a time.
func parseEnd(s string, now time.Time) (time.Time, error) {
	if d, err := parseDuration(s); err == nil {
		if d == 0 {
			return time.Time{}, errors.New("it is zero; write how long, such as 30d")
		}
		return now.Add(d).UTC().Truncate(time.Second), nil
	}
	end, err := time.Parse(time.RFC3339, s)
	if err != nil {
		if end, err = time.Parse(time.DateOnly, s); err == nil {
			end = end.Add(day - time.Second)
		}
	}
	switch {
	case err != nil:
		return time.Time{}, errors.New("write how long, such as 30d or 12h, a day such as 2027-06-30, or a time such as 2027-06-30T12:00:00Z")
	case !end.After(now):
		return time.Time{}, errors.New("it is in the past")
	}
	return end.UTC(), nil
}
