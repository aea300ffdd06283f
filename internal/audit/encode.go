package audit

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// AppendJSON appends the record as one line of JSON. It is written by hand
// because it is on the path of every request: see BenchmarkAppend. A test
// holds that encoding/json reads back what it writes.
func (r *Record) AppendJSON(b []byte) []byte {
	b = append(b, `{"kind":`...)
	b = appendText(b, r.Kind)
	b = append(b, `,"time":"`...)
	b = r.Time.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	b = append(b, '"')
	b = field(b, `,"requestId":`, r.RequestID)
	b = field(b, `,"outcome":`, r.Outcome)
	b = field(b, `,"policy":`, r.Policy)
	b = field(b, `,"code":`, r.Code)
	b = number(b, `,"status":`, int64(r.Status))
	b = field(b, `,"category":`, r.Category)
	b = r.Caller.append(b)
	b = field(b, `,"sessionHash":`, r.SessionHash)
	b = field(b, `,"endpoint":`, r.Endpoint)
	b = field(b, `,"clientFormat":`, r.ClientFormat)
	b = truth(b, `,"stream":true`, r.Stream)
	b = field(b, `,"requestedModel":`, r.RequestedModel)
	b = field(b, `,"servedModel":`, r.ServedModel)
	b = field(b, `,"wireModel":`, r.WireModel)
	b = field(b, `,"routeName":`, r.RouteName)
	b = field(b, `,"provider":`, r.Provider)
	b = field(b, `,"residency":`, r.Residency)
	b = field(b, `,"routeStrategy":`, r.Strategy)
	b = field(b, `,"routeStrategyReason":`, r.StrategyReason)
	b = field(b, `,"credential":`, r.Credential)
	b = r.appendTries(b)
	b = appendUsage(b, &r.Usage)
	b = truth(b, `,"estimated":true`, r.Estimated)
	b = millis(b, `,"ttftMs":`, r.TTFT)
	b = millis(b, `,"durationMs":`, r.Duration)
	b = number(b, `,"configVersion":`, int64(r.ConfigVersion))
	if len(r.Facts) > 0 {
		b = append(append(b, `,"facts":`...), r.Facts...)
	}
	b = r.Admin.append(b)
	b = field(b, `,"message":`, r.Message)
	b = moment(b, `,"until":"`, r.Until)
	return append(b, '}')
}

func (c *Caller) append(b []byte) []byte {
	if *c == (Caller{}) {
		return b
	}
	b = append(b, `,"caller":{`...)
	at := len(b)
	b = field(b, `,"key":`, c.Key)
	b = field(b, `,"user":`, c.User)
	b = field(b, `,"team":`, c.Team)
	b = field(b, `,"department":`, c.Department)
	b = field(b, `,"source":`, c.Source)
	b = field(b, `,"workload":`, c.Workload)
	return append(dropComma(b, at), '}')
}

func (a *AdminChange) append(b []byte) []byte {
	if a == nil {
		return b
	}
	b = append(b, `,"admin":{"actor":`...)
	b = appendText(b, a.Actor)
	b = append(b, `,"summary":`...)
	b = appendText(b, a.Summary)
	b = number(b, `,"revision":`, a.Revision)
	if len(a.Changes) > 0 {
		b = append(b, `,"changes":`...)
		b = append(b, a.Changes...)
	}
	return append(b, '}')
}

func (r *Record) appendAttempts(b []byte) []byte {
	if len(r.Attempts) == 0 {
		return b
	}
	b = append(b, `,"attempts":[`...)
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"provider":`...)
		b = appendText(b, a.Provider)
		b = append(b, `,"wireModel":`...)
		b = appendText(b, a.WireModel)
		b = field(b, `,"residency":`, a.Residency)
		b = field(b, `,"routeStrategy":`, a.Strategy)
		b = field(b, `,"routeStrategyReason":`, a.StrategyReason)
		b = field(b, `,"credential":`, a.Credential)
		b = truth(b, `,"credentialFallback":true`, a.CredentialFallback)
		b = truth(b, `,"retry":true`, a.Retry)
		b = append(b, `,"outcome":`...)
		b = appendText(b, a.Outcome)
		b = field(b, `,"category":`, a.Category)
		b = field(b, `,"code":`, a.Code)
		b = number(b, `,"status":`, int64(a.Status))
		b = append(b, `,"startMs":`...)
		b = appendMillis(b, a.Start)
		b = append(b, `,"durationMs":`...)
		b = appendMillis(b, a.Duration)
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendTries writes what came of the candidates.
func (r *Record) appendTries(b []byte) []byte {
	b = truth(b, `,"credentialFallback":true`, r.CredentialFallback)
	b = r.appendTags(b)
	b = number(b, `,"retries":`, int64(r.Retries))
	return r.appendSkips(r.appendAttempts(b))
}

func (r *Record) appendTags(b []byte) []byte {
	if len(r.Tags) == 0 {
		return b
	}
	b = append(b, `,"tags":[`...)
	for i, tag := range r.Tags {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, tag)
	}
	return append(b, ']')
}

func (r *Record) appendSkips(b []byte) []byte {
	if len(r.Skips) == 0 {
		return b
	}
	b = append(b, `,"skips":[`...)
	for i := range r.Skips {
		s := &r.Skips[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"provider":`...)
		b = appendText(b, s.Provider)
		b = append(b, `,"wireModel":`...)
		b = appendText(b, s.WireModel)
		b = field(b, `,"residency":`, s.Residency)
		b = append(b, `,"skipReason":`...)
		b = appendText(b, s.Reason)
		b = moment(b, `,"until":"`, s.Until)
		b = field(b, `,"category":`, s.Category)
		b = number(b, `,"status":`, int64(s.Status))
		b = append(b, '}')
	}
	return append(b, ']')
}

func appendUsage(b []byte, u *llm.Usage) []byte {
	if *u == (llm.Usage{}) {
		return b
	}
	b = append(b, `,"usage":{`...)
	at := len(b)
	b = number(b, `,"input":`, u.Input)
	b = number(b, `,"cachedRead":`, u.CachedRead)
	b = number(b, `,"cachedWrite":`, u.CachedWrite)
	b = number(b, `,"output":`, u.Output)
	b = number(b, `,"reasoning":`, u.Reasoning)
	return append(dropComma(b, at), '}')
}

// dropComma removes the comma that the first field of an object begins with.
func dropComma(b []byte, at int) []byte {
	if len(b) > at && b[at] == ',' {
		return append(b[:at], b[at+1:]...)
	}
	return b
}

func field(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendText(append(b, name...), value)
}

// truth writes a member that is true, given whole.
func truth(b []byte, member string, v bool) []byte {
	if !v {
		return b
	}
	return append(b, member...)
}

// moment writes a time; the name comes with the quote before the value.
func moment(b []byte, name string, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return append(t.UTC().AppendFormat(append(b, name...), time.RFC3339Nano), '"')
}

func number(b []byte, name string, v int64) []byte {
	if v == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), v, 10)
}

func millis(b []byte, name string, m Millis) []byte {
	if m == 0 {
		return b
	}
	return appendMillis(append(b, name...), m)
}

// appendMillis writes a duration as milliseconds, to the microsecond.
func appendMillis(b []byte, m Millis) []byte {
	us := max(time.Duration(m).Microseconds(), 0)
	b = strconv.AppendInt(b, us/1000, 10)
	if frac := us % 1000; frac > 0 {
		b = append(b, '.', byte('0'+frac/100), byte('0'+frac/10%10), byte('0'+frac%10))
	}
	return b
}

// appendText writes a JSON string. What is not UTF-8, and NUL, becomes U+FFFD:
// no database column should have to refuse a record.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0 // start of a run that needs nothing
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		n := 1
		switch {
		case c >= utf8.RuneSelf:
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == 0:
			b = utf8.AppendRune(b, utf8.RuneError)
		default:
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i += n
		from = i
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}
