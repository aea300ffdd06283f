package audit

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/interlock-gateway/interlock/internal/store"
)

// searched are the fields of a Record that have columns of their own; the rest
// is not decoded.
type searched struct {
	Kind      string    `json:"kind"`
	Time      time.Time `json:"time"`
	RequestID string    `json:"requestId"`
	Outcome   string    `json:"outcome"`
	Code      string    `json:"code"`
	Status    int       `json:"status"`
	Caller    struct {
		Key  string `json:"key"`
		Team string `json:"team"`
	} `json:"caller"`
	RequestedModel string `json:"requestedModel"`
	RouteName      string `json:"routeName"`
	Provider       string `json:"provider"`
}

// decode takes the searched columns out of a record.
func decode(data []byte) (store.Record, bool) {
	var r searched
	if json.Unmarshal(data, &r) != nil {
		return store.Record{}, false
	}
	return store.Record{
		Time: r.Time, RequestID: r.RequestID, Kind: r.Kind, Outcome: r.Outcome, Code: r.Code, Status: r.Status,
		Key: r.Caller.Key, Team: r.Caller.Team, Model: r.RequestedModel, Route: r.RouteName, Provider: r.Provider,
		Data: data,
	}, true
}

// scanner does what decode does, for records as AppendJSON writes them: the
// fields are in its order and the searched ones in front, so it looks at a
// quarter of a record and takes a twentieth of the time. It gives up, ok is
// false, on whatever is different or has an escape in a searched text. Tests
// hold that it agrees with decode.
type scanner struct {
	rest []byte
	bad  bool
	// known are the texts that come again and again.
	known map[string]string
}

// maxKnown bounds known.
const maxKnown = 4096

func (s *scanner) scan(data []byte) (r store.Record, ok bool) {
	s.rest, s.bad = data, false
	if !s.skip(`{"kind":`) {
		return r, false
	}
	r.Kind = s.again(s.text())
	if !s.skip(`,"time":`) {
		return r, false
	}
	r.Time = s.time(s.text())
	r.RequestID = string(s.field(`,"requestId":`))
	r.Outcome = s.again(s.field(`,"outcome":`))
	s.field(`,"policy":`)
	r.Code = s.again(s.field(`,"code":`))
	if s.skip(`,"status":`) {
		r.Status = s.number()
	}
	s.field(`,"category":`)
	s.caller(&r)
	s.field(`,"sessionHash":`)
	s.field(`,"endpoint":`)
	s.field(`,"clientFormat":`)
	s.skip(`,"stream":true`)
	r.Model = s.again(s.field(`,"requestedModel":`))
	s.field(`,"servedModel":`)
	s.field(`,"wireModel":`)
	r.Route = s.again(s.field(`,"routeName":`))
	r.Provider = s.again(s.field(`,"provider":`))
	r.Data = data
	return r, !s.bad && s.others()
}

func (s *scanner) caller(r *store.Record) {
	if !s.skip(`,"caller":{`) {
		return
	}
	for i, name := range [...]string{`"key":`, `"user":`, `"team":`, `"department":`, `"source":`, `"workload":`} {
		text := s.field(name)
		switch i {
		case 0:
			r.Key = s.again(text)
		case 2:
			r.Team = s.again(text)
		}
		if text != nil && !s.skip(`,`) {
			break
		}
	}
	if !s.skip(`}`) {
		s.bad = true
	}
}

// others says that the record ends, or goes on with a field that is not
// searched and comes behind those that are.
func (s *scanner) others() bool {
	if len(s.rest) == 1 {
		return s.rest[0] == '}'
	}
	if !s.skip(`,`) || s.rest[len(s.rest)-1] != '}' {
		return false
	}
	name := s.text()
	if s.bad {
		return false
	}
	switch string(name) {
	case "residency", "routeStrategy", "routeStrategyReason", "credential", "credentialFallback", "tags", "retries", "attempts", "skips", "usage",
		"estimated", "ttftMs", "durationMs", "configVersion", "facts", "admin", "message":
		return true
	}
	return false
}

func (s *scanner) skip(text string) bool {
	if len(s.rest) >= len(text) && string(s.rest[:len(text)]) == text {
		s.rest = s.rest[len(text):]
		return true
	}
	return false
}

// field reads the text of a field; nil if it is not there.
func (s *scanner) field(name string) []byte {
	if s.skip(name) {
		return s.text()
	}
	return nil
}

// text reads a text that has no escapes.
func (s *scanner) text() []byte {
	if len(s.rest) < 2 || s.rest[0] != '"' {
		s.bad = true
		return nil
	}
	n := bytes.IndexByte(s.rest[1:], '"')
	if n < 0 {
		s.bad = true
		return nil
	}
	text := s.rest[1 : n+1]
	s.rest = s.rest[n+2:]
	ascii := true
	for _, c := range text {
		if c < ' ' || c == '\\' {
			s.bad = true
			return nil
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if !ascii && !utf8.Valid(text) {
		s.bad = true
	}
	return text
}

// number reads a status.
func (s *scanner) number() (n int) {
	digits := 0
	for digits < len(s.rest) && s.rest[digits] >= '0' && s.rest[digits] <= '9' {
		n = n*10 + int(s.rest[digits]-'0')
		digits++
	}
	s.bad = s.bad || digits == 0 || digits > 9 || s.rest[0] == '0'
	s.rest = s.rest[digits:]
	return n
}

// again gives a text that was given before, without a new one in memory.
func (s *scanner) again(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	if known, ok := s.known[string(text)]; ok {
		return known
	}
	if s.known == nil || len(s.known) >= maxKnown {
		s.known = make(map[string]string, 256)
	}
	fresh := string(text)
	s.known[fresh] = fresh
	return fresh
}

// time reads a time as AppendJSON writes it.
func (s *scanner) time(text []byte) time.Time {
	const form = "0000-00-00T00:00:00.000000Z"
	if len(text) != len(form) {
		s.bad = true
		return time.Time{}
	}
	for i := range len(form) {
		if form[i] == '0' && (text[i] < '0' || text[i] > '9') || form[i] != '0' && text[i] != form[i] {
			s.bad = true
			return time.Time{}
		}
	}
	n := func(from, to int) (n int) {
		for _, c := range text[from:to] {
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day, hour, minute, second := n(0, 4), n(5, 7), n(8, 10), n(11, 13), n(14, 16), n(17, 19)
	t := time.Date(year, time.Month(month), day, hour, minute, second, n(20, 26)*1000, time.UTC)
	// A day that a month does not have, and so on, is not taken for another.
	s.bad = s.bad || t.Day() != day || t.Month() != time.Month(month) || hour > 23 || minute > 59 || second > 59
	return t
}
