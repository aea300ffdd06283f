package failure

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// reset is a compiled Reset.
type reset struct {
	Reset
	header   []string
	text     *textTime
	midnight *time.Location
	monthly  *time.Location
}

type textTime struct {
	match  *regexp.Regexp
	layout string
	zones  []*time.Location
	within time.Duration
}

func compileReset(in Reset) (*reset, error) {
	r := &reset{Reset: in}
	for _, name := range in.Header {
		r.header = append(r.header, strings.ToLower(name))
	}
	var err error
	if in.Midnight != "" {
		if r.midnight, err = zone(in.Midnight); err != nil {
			return nil, err
		}
	}
	if in.Monthly != "" {
		if r.monthly, err = zone(in.Monthly); err != nil {
			return nil, err
		}
	}
	if in.Text != nil {
		if r.text, err = compileTextTime(*in.Text); err != nil {
			return nil, fmt.Errorf("text: %w", err)
		}
	}
	if in.Default < 0 {
		return nil, errors.New("negative default")
	}
	return r, nil
}

func compileTextTime(in TextTime) (*textTime, error) {
	match, err := compilePattern(in.Match)
	if err != nil {
		return nil, err
	}
	if match.NumSubexp() == 0 || in.Layout == "" || in.Within < 0 {
		return nil, errors.New("want a match with a group, a layout, and within not negative")
	}
	t := &textTime{match: match, layout: in.Layout, within: time.Duration(in.Within)}
	names := []string{in.Zone}
	if in.ElseZone != "" {
		names = append(names, in.ElseZone)
	}
	for _, name := range names {
		loc, err := zone(name)
		if err != nil {
			return nil, err
		}
		t.zones = append(t.zones, loc)
	}
	return t, nil
}

// zone finds a time zone by IANA name or offset ("+08:00").
func zone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("zone %q: want an IANA name or an offset", name)
	}
	if t, err := time.Parse("-07:00", name); err == nil {
		_, offset := t.Zone()
		return time.FixedZone(name, offset), nil
	}
	return time.LoadLocation(name)
}

// find reads the date out of the text. A date that is past or implausibly far
// in each of the zones is none.
func (t *textTime) find(text string, now time.Time) (time.Duration, bool) {
	groups := t.match.FindStringSubmatch(text)
	if groups == nil {
		return 0, false
	}
	date := strings.Join(groups[1:], " ")
	for _, loc := range t.zones {
		at, err := time.ParseInLocation(t.layout, date, loc)
		if err != nil {
			return 0, false
		}
		if d := at.Sub(now); d > 0 && (t.within == 0 || d <= t.within) {
			return d, true
		}
	}
	return 0, false
}

// nextMidnight is the time until the next day begins in a zone.
func nextMidnight(now time.Time, loc *time.Location) time.Duration {
	t := now.In(loc)
	return time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, loc).Sub(now)
}

// nextMonth is the time until the next month begins in a zone.
func nextMonth(now time.Time, loc *time.Location) time.Duration {
	t := now.In(loc)
	return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, loc).Sub(now)
}
