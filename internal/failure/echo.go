package failure

import (
	"regexp"
	"slices"
	"strings"
)

// Vendors repeat a caller's words in their errors: "The model `x` does not
// exist", "Invalid value: 'x'", "x: Extra inputs are not permitted". If these
// could match a row, whoever holds a key could take a provider from everybody
// by sending the row's words. So:
//
//   - What the caller named (Answer.Echo) is taken out before anything is read.
//   - Rows that know an answer by its text alone and whose category touches the
//     provider's health hear, where an answer is about the request, only
//     messages that have no place for a caller's words.
//   - Such rows never hear an answer that says that a model is missing.

const (
	maxEcho     = 1 << 10 // bytes of one of a caller's words that are looked for
	maxEchoes   = 16      // words that are looked for
	minEchoPart = 12      // bytes of a part that is looked for by itself; shorter ones are in the vendor's words too
	cutEcho     = 16      // bytes after which a repetition may be cut short

	// gone stands for what was taken out. A space would let the words on both
	// sides make a new phrase.
	gone = "\x00"
)

// quotes are the marks that vendors put around a caller's words.
const quotes = "'\"`“”‘’«»「」"

// echoes lists what to take out: each word, what follows its last prefixes
// ("openai/x"), and its parts between marks that an error may escape.
func echoes(words []string) []string {
	var list []string
	put := func(s string) {
		if s = squeeze(s); s != "" && len(list) < maxEchoes && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, w := range words {
		w = strings.ToLower(w[:min(len(w), maxEcho)])
		put(w)
		for i, rest := 0, w; i < 3; i++ {
			_, after, ok := strings.Cut(rest, "/")
			if !ok {
				break
			}
			put(after)
			rest = after
		}
		for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return r < ' ' || r == '\\' || strings.ContainsRune(quotes, r) }) {
			if len(part) >= minEchoPart {
				put(part)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}

// squeeze makes all white space single blanks: errors are folded on the way.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// forget takes the caller's words out of what was read. A single word in a field
// for codes is the vendor's own, and a model that is called the same must not
// hide it; only where the vendor writes sentences there can a model be in one.
func (c *content) forget(echoes []string) {
	if len(echoes) == 0 {
		return
	}
	for i, m := range c.messages {
		c.messages[i] = without(squeeze(m), echoes)
	}
	for _, list := range []*[]string{&c.types, &c.codes, &c.words, &c.quotaIDs} {
		for i, s := range *list {
			if strings.ContainsAny(s, " :/=`'\"") {
				(*list)[i] = without(squeeze(s), echoes)
			}
		}
	}
}

// without replaces the words in s, whatever their case.
func without(s string, words []string) string {
	for _, w := range words {
		low := strings.ToLower(s)
		if len(low) != len(s) {
			s = low // rare letters change their length; only nested JSON needs the case
		}
		head := w[:min(len(w), cutEcho)]
		var b strings.Builder
		at := 0
		for {
			i := strings.Index(low[at:], head)
			if i < 0 {
				break
			}
			i += at
			n := len(head)
			for n < len(w) && i+n < len(low) && low[i+n] == w[n] {
				n++
			}
			b.WriteString(s[at:i])
			if isWord(w) && (isWordAt(low, i-1) || isWordAt(low, i+n)) {
				b.WriteString(s[i : i+n]) // "o1" is not in "too1ong"
			} else {
				b.WriteString(gone)
			}
			at = i + n
		}
		if at > 0 {
			b.WriteString(s[at:])
			s = b.String()
		}
	}
	return s
}

func isWord(s string) bool {
	for i := range len(s) {
		if !isWordAt(s, i) {
			return false
		}
	}
	return true
}

func isWordAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= '0' && s[i] <= '9')
}

// aboutRequest says whether an answer of this status may be about what the
// caller wrote, and so repeat it. 0 is an error in a stream that stands for no
// status; 500 is sent for exceptions, with their text.
func aboutRequest(status int) bool {
	switch status {
	case unauthorized, paymentRequired, requestTimeout, conflict, preconditionFailed, tooManyRequests:
		return false
	case 0, internalError:
		return true
	}
	return status >= 400 && status <= 499
}

// touchesHealth says whether a failure of this category parks, cools or breaks
// a provider, so that it is not served to others.
func touchesHealth(c Category) bool {
	switch c {
	case RateLimit, QuotaExhausted, Overloaded, ServerError, Timeout, Connection:
		return true
	case Auth, ModelUnavailable, RequestError, ContentFilter, Canceled:
	}
	return false
}

var (
	// place finds marks behind, or in, which a caller's words may stand. An
	// apostrophe and a time of day are none.
	place = regexp.MustCompile("[\"`“”‘«»「」{}\\[\\]<>]|(?:^|[^\\pL])['’]|['’](?:[^\\pL]|$)|:(?:\\s|$)|：")
	// blame finds the words of an answer that refuses a part of a request;
	// some name it without any mark.
	blame = regexp.MustCompile(`\b(?:invalid|unknown|unexpected|unsupported|unrecogni[sz]ed|extraneous|malformed|expected|missing|no such|` +
		`must (?:be|have|match|not)|should (?:be|have|match)|field required|` +
		`(?:not|n't) (?:be |been )?(?:supported|permitted|allowed|found|exist|match|recogni[sz]ed|valid|a valid|one of))\b`)
	// proxied is what LiteLLM puts before a provider's message.
	proxied = regexp.MustCompile(`^(?:litellm\.[a-z]+: )+(?:[a-z]+exception - )?`)
	// beforeBody is what proxies put before a provider's body.
	beforeBody = regexp.MustCompile(`^(?:litellm\.[a-z]+: )*(?:[a-z]+exception - |provider returned error:? ?|error code: )?(?:\d{3}(?:: | - | ))?$`)
	// afterBody is what may follow a body that a proxy quotes.
	afterBody = regexp.MustCompile(`^[\s.)]*(?:received model group=[^{}]*)?$`)
)

// vendorsOwn says whether no part of a message, in lower case, can be a
// caller's: it names nothing and quotes nothing.
func vendorsOwn(message string) bool {
	message = proxied.ReplaceAllLiteralString(message, "")
	return !place.MatchString(message) && !blame.MatchString(message)
}

// quotesBody says whether what stands before and after the JSON in a message is
// a proxy's, not that of a vendor which repeats a field of the request.
func quotesBody(before, after string) bool {
	before, after = strings.ToLower(before), strings.ToLower(after)
	return beforeBody.MatchString(before) && afterBody.MatchString(after) && !blame.MatchString(after)
}

// hears gives the text in which a row may look for its words; false if in none.
func (r *rule) hears(e *evidence) (string, bool) {
	switch {
	case r.structured():
		return e.text, true
	case e.status == notFound && !slices.Contains(r.Status, notFound):
		return "", !r.textual()
	case !touchesHealth(r.Category):
		if touchesHealth(e.byStatus()) {
			return e.raw, true // a model called like the vendor's words must not hide them
		}
		return e.text, true
	case e.missing:
		return "", !r.textual()
	case aboutRequest(e.status):
		return e.own, true
	}
	return e.text, true
}

// excludesIn is where the words that rule a row out are looked for: what is ruled
// out for a row that touches health stays so, whatever the model is called.
func (r *rule) excludesIn(e *evidence) string {
	if touchesHealth(r.Category) {
		return e.raw
	}
	return e.text
}

// structured says whether a field of the vendor's own is among the conditions.
// A quotaId is none, since it is looked for in the text as well.
func (r *rule) structured() bool {
	return len(r.Type)+len(r.Code)+len(r.Word)+len(r.Name)+len(r.Header) > 0
}

// textual says whether the error's text is among the conditions.
func (r *rule) textual() bool { return len(r.Text)+len(r.Match)+len(r.QuotaID) > 0 }
