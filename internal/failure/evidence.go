package failure

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// evidence is an answer in the form that rows are compared with: lower case,
// bounded, with the status that it stands for.
type evidence struct {
	*content
	status int // HTTP status, or what an error inside a 200 stands for; 0 unknown
	header map[string]string
	text   string // types, codes, words and messages, lower case, a line each
	raw    string // text, before a caller's words were taken out
	own    string // text, with the messages that are all the vendor's own; see hears
	now    time.Time

	missing bool // the vendor says that a model or deployment is missing

	lowTypes, lowCodes, lowWords, lowQuotaIDs []string
}

func (c *Classifier) evidence(a *Answer) *evidence {
	e := &evidence{header: lowerHeader(a.Header), now: a.Now.Round(0)}
	e.content = readBody(a.Body, e.header["content-type"])
	if name := e.header["x-amzn-errortype"]; name != "" {
		// AWS: "ThrottlingException:http://internal.amazon.com/...".
		name, _, _ = strings.Cut(name, ":")
		e.types = append([]string{name[strings.LastIndexByte(name, '#')+1:]}, e.types...)
	}
	words := echoes(a.Echo)
	c.lower(e, a)
	if len(words) > 0 {
		e.raw = e.joinText(nil)
		e.forget(words)
		c.lower(e, a)
	}
	e.readQuoted(aboutRequest(e.status))
	e.forget(words) // JSON may have spelled them differently
	c.lower(e, a)
	e.text = e.joinText(nil)
	if len(words) == 0 {
		e.raw = e.text
	}
	if aboutRequest(e.status) {
		e.own = e.joinText(vendorsOwn)
	}
	e.missing = slices.ContainsFunc(slices.Concat(e.lowCodes, e.lowTypes, e.lowWords), func(s string) bool { return c.statusOf[s] == notFound })
	return e
}

// lower makes the names comparable and finds the status that they stand for.
func (c *Classifier) lower(e *evidence, a *Answer) {
	e.lowTypes, e.lowCodes = lower(e.types), lower(e.codes)
	e.lowWords, e.lowQuotaIDs = lower(e.words), lower(e.quotaIDs)
	e.status = a.Status
	if a.Status < 300 || a.Stream {
		e.status = c.standsFor(e)
	}
}

// lowerHeader maps lower-case names to the first value. Of two spellings of a
// name, which net/http never makes, the first in byte order counts.
func lowerHeader(h map[string][]string) map[string]string {
	m := make(map[string]string, len(h))
	spelling := make(map[string]string, len(h))
	for name, values := range h {
		low := strings.ToLower(name)
		if was, taken := spelling[low]; len(values) == 0 || (taken && was < name) {
			continue
		}
		spelling[low], m[low] = name, strings.TrimSpace(values[0])
	}
	return m
}

func lower(list []string) []string {
	low := make([]string, len(list))
	for i, s := range list {
		low[i] = strings.ToLower(s[:min(len(s), maxMessage)])
	}
	return low
}

// joinText joins what rows look for words in; of the messages, those that keep
// lets pass.
func (e *evidence) joinText(keep func(string) bool) string {
	var b strings.Builder
	for _, list := range [][]string{e.lowTypes, e.lowCodes, e.lowWords} {
		for _, s := range list {
			b.WriteString(s)
			b.WriteByte('\n')
		}
	}
	for _, s := range e.messages {
		s = strings.ToLower(s[:min(len(s), maxMessage)])
		if keep != nil && !keep(s) {
			continue
		}
		b.WriteString(s)
		b.WriteByte('\n')
		if b.Len() > maxText {
			break
		}
	}
	s := b.String()
	return s[:min(len(s), maxText)]
}

// standsFor gives the status of an error inside a 200 answer: a code that is
// an HTTP status (OpenRouter, Google), else the status of a known name.
func (c *Classifier) standsFor(e *evidence) int {
	for _, code := range e.lowCodes {
		if n, err := strconv.Atoi(code); err == nil && n >= 400 && n <= 599 {
			return n
		}
	}
	for _, list := range [][]string{e.lowCodes, e.lowTypes, e.lowWords} {
		for _, name := range list {
			if n := c.statusOf[name]; n != 0 {
				return n
			}
		}
	}
	return 0
}

// maxCode is the length of Failure.Code.
const maxCode = 64

// publicCode picks the name that the provider itself gives the failure. A code
// that only repeats the HTTP status is none.
func (e *evidence) publicCode() string {
	for _, list := range [][]string{e.codes, e.types, e.words} {
		for _, s := range list {
			if n, err := strconv.Atoi(s); err == nil && n >= 100 && n <= 599 {
				continue
			}
			if s = plain(s); s != "" {
				return s
			}
		}
	}
	return ""
}

// plain keeps the printable ASCII of s, at most maxCode characters.
func plain(s string) string {
	b := make([]byte, 0, maxCode)
	for i := 0; i < len(s) && len(b) < maxCode; i++ {
		if s[i] >= ' ' && s[i] <= '~' {
			b = append(b, s[i])
		}
	}
	return strings.TrimSpace(string(b))
}
