package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// tooLong is the note of an answer above maxAnswer.
const tooLong = "the answer is larger than 64 MiB; ask for a stream"

// failed answers a request that no candidate served. A failure that would be
// the same everywhere, or the only one, is returned as it is (ER-ONE);
// several become one error that lists them (ER-POOL).
func (ex *exchange) failed(why routing.Action) {
	last := &ex.attempts[len(ex.attempts)-1]
	if why == routing.Return || !ex.plan.Failover || ex.tried() == 1 {
		ex.failedOne(last)
		return
	}
	ex.failedAll()
}

// candidatesDialled counts the candidates with a failed attempt.
func (ex *exchange) candidatesDialled() int {
	n := 0
	for i := range ex.attempts {
		if !ex.attempts[i].retry {
			n++
		}
	}
	return n
}

// tried counts the candidates that were dialled or skipped.
func (ex *exchange) tried() int {
	n := ex.candidatesDialled()
	for i := range ex.skips {
		if !ex.dialledOnce(ex.skips[i].candidate) {
			n++
		}
	}
	return n
}

// dialledOnce tells whether an attempt at a candidate failed.
func (ex *exchange) dialledOnce(c *routing.Candidate) bool {
	for i := range ex.attempts {
		if ex.attempts[i].candidate == c {
			return true
		}
	}
	return false
}

// failedOne is ER-ONE.
func (ex *exchange) failedOne(at *attempt) {
	if a := at.answer; a != nil && passesThrough(at) {
		status := clientStatus(at)
		if ex.settle(ending{outcome: audit.OutcomeError, status: status, code: at.failure.Code, category: string(at.failure.Category)}) != nil {
			ex.failUnrecorded()
			return
		}
		ex.out.fail(func() {
			h := ex.w.Header()
			copyHeaders(h, a.header, at.candidate)
			if ex.g.tune.Load().ExposeRouting {
				h["X-Interlock-Error"] = []string{headerValue(firstOf(at.failure.Code, string(at.failure.Category)))}
			}
			h["Content-Length"] = []string{strconv.Itoa(len(a.body))}
			ex.routingHeaders(h, at.candidate)
			ex.w.WriteHeader(status)
			_, _ = ex.w.Write(a.body)
		}, func() []byte { return ex.streamAnswer(at) })
		return
	}
	e := ex.attemptError(at)
	if ex.settle(ending{outcome: audit.OutcomeError, status: e.Status, code: e.Code, category: string(at.failure.Category)}) != nil {
		ex.failUnrecorded()
		return
	}
	ex.out.fail(func() {
		h := ex.w.Header()
		ex.routingHeaders(h, at.candidate)
		if at.answer != nil && e.Status == 429 {
			copyHeaders(h, at.answer.header, at.candidate)
			delete(h, "Content-Type")
		}
		h["X-Should-Retry"] = []string{strconv.FormatBool(e.Code == "upstream_timeout" || e.Code == "upstream_unreachable")}
		ex.writeError(e.Status, e)
	}, func() []byte { return ex.streamError(e) })
}

// passesThrough: the provider's own words help the client, unless they are
// about our key or credit, or send it elsewhere.
func passesThrough(at *attempt) bool {
	if at.candidate.Credential == routing.CredentialCaller {
		return at.answer.status >= 400 // it is about the caller's own credential
	}
	switch at.failure.Category {
	case failure.Auth, failure.QuotaExhausted, failure.Timeout, failure.Connection, failure.Canceled:
		return false
	case failure.ServerError, failure.Overloaded, failure.RateLimit, failure.ModelUnavailable, failure.RequestError, failure.ContentFilter:
	}
	return at.answer.status >= 400 && (!loginStatus(at.answer.status) || aboutRequest(at.failure.Category))
}

// loginStatus: a client that gets one of these asks for a sign-in, whatever the
// words are.
func loginStatus(status int) bool { return status == 401 || status == 403 }

// aboutRequest: the failure is the request's own, and the provider's words say
// what is wrong with it.
func aboutRequest(c failure.Category) bool {
	return c == failure.RequestError || c == failure.ContentFilter || c == failure.ModelUnavailable
}

// clientStatus is the status of an answer that passes. Some vendors refuse what
// a request says with 403, which is for keys.
func clientStatus(at *attempt) int {
	if loginStatus(at.answer.status) && at.candidate.Credential != routing.CredentialCaller {
		return statusOf(at.failure.Category)
	}
	return at.answer.status
}

// streamAnswer renders a provider's error as the event that ends a stream of
// which only keep-alives were sent: agents look for its words.
func (ex *exchange) streamAnswer(at *attempt) []byte {
	r := ex.format.NewStream(&ex.envelope)
	var one bytes.Buffer // an event's data is one line
	if s, ok := r.(wire.StreamErrors); ok && json.Compact(&one, at.answer.body) == nil {
		ev := wire.Event{Data: one.Bytes(), HasData: true, Raw: fmt.Appendf(nil, "data: %s\n\n", one.Bytes())}
		if r.Kind(&ev) == wire.Failed {
			return s.AppendFailed(nil, &ev)
		}
	}
	return ex.streamError(ex.attemptError(at))
}

// attemptError is the gateway's own wording of one failed attempt.
func (ex *exchange) attemptError(at *attempt) *wire.Error {
	p := at.candidate.Provider
	if at.note == tooLong {
		return ex.gatewayError(502, "upstream_answer_too_large", "the provider %q gave no usable answer%s", p, because(at.note))
	}
	switch at.failure.Category {
	case failure.Auth:
		return ex.gatewayError(502, "upstream_auth", "the provider %q refused %s (%d); an administrator must check its apiKey", p, at.candidate.Credential.Whose(), at.failure.Status)
	case failure.QuotaExhausted:
		if at.candidate.Credential == routing.CredentialVirtual {
			return ex.gatewayError(429, "upstream_quota", "the quota or credit of %s at the provider %q is used up", at.candidate.Credential.Whose(), p)
		}
		return ex.gatewayError(429, "upstream_quota", "the quota or credit of the provider %q is used up", p)
	case failure.Timeout:
		return ex.gatewayError(504, "upstream_timeout", "the provider %q did not answer in time%s", p, because(at.note))
	case failure.RateLimit, failure.Overloaded, failure.ModelUnavailable, failure.RequestError, failure.ContentFilter,
		failure.Connection, failure.ServerError, failure.Canceled:
	}
	if a := at.answer; a != nil && a.status >= 400 && a.status != 401 && a.status != 403 {
		return ex.gatewayError(a.status, "upstream_"+string(at.failure.Category), "the provider %q failed: %s", p, at.failure)
	}
	note := at.note
	if at.answer != nil && note == "" {
		note = fmt.Sprintf("it answered with status %d; check its baseUrl", at.answer.status)
		if at.answer.status < 400 {
			note = fmt.Sprintf("it answered with status %d, which is not followed; check its baseUrl", at.answer.status)
		}
	}
	return ex.gatewayError(502, "upstream_unreachable", "the provider %q gave no usable answer%s", p, because(note))
}

// failedAll is ER-POOL.
func (ex *exchange) failedAll() {
	status, limited, wait := ex.poolStatus()
	var parts []string
	for i := range ex.attempts {
		at := &ex.attempts[i]
		if i+1 < len(ex.attempts) && ex.attempts[i+1].retry {
			continue // the try after it says what came of the candidate
		}
		parts = append(parts, fmt.Sprintf("%s: %s", at.candidate.Provider, at.failure.Category))
	}
	for i := range ex.skips {
		if s := &ex.skips[i]; !ex.dialledOnce(s.candidate) {
			parts = append(parts, fmt.Sprintf("%s: %s (skipped)", s.candidate.Provider, s.blocked.State))
		}
	}
	e := ex.gatewayError(status, "UPSTREAM_POOL_EXHAUSTED", "every member of the route %q failed for the model %q: %s",
		ex.plan.Route, ex.plan.Model, strings.Join(parts, "; "))
	if ex.settle(ending{outcome: audit.OutcomeError, status: status, code: e.Code, category: string(ex.attempts[len(ex.attempts)-1].failure.Category)}) != nil {
		ex.failUnrecorded()
		return
	}
	ex.out.fail(func() {
		h := ex.w.Header()
		if limited {
			h["Retry-After"] = []string{strconv.Itoa(retrySeconds(wait))}
		} else {
			h["X-Should-Retry"] = []string{"false"}
		}
		ex.routingHeaders(h, ex.attempts[len(ex.attempts)-1].candidate)
		ex.writeError(status, e)
	}, func() []byte { return ex.streamError(e) })
}

// poolStatus is the status that all attempts share, or 503. Our own rejected
// keys count as 502 and exhausted quota as 429, as for a single failure; an
// attempt without an answer has none to share. limited says that all were
// rate limited, and wait is the shortest remaining time.
func (ex *exchange) poolStatus() (status int, limited bool, wait time.Duration) {
	limited = true
	now := ex.g.opt.Now().Sub(ex.began)
	for i := range ex.attempts {
		at := &ex.attempts[i]
		if i+1 < len(ex.attempts) && ex.attempts[i+1].retry {
			continue // the try after it says what came of the candidate
		}
		f := &at.failure
		s := f.Status
		switch {
		case f.Category == failure.Auth:
			s = 502
		case f.Category == failure.QuotaExhausted:
			s = 429
		case s < 400, s == 401, s == 403:
			s = 503
		}
		if status == 0 {
			status = s
		} else if s != status {
			status = 503
		}
		if f.Category != failure.RateLimit {
			limited = false
			continue
		}
		after := defaultWait
		if f.HasRetryAfter {
			after = f.RetryAfter
		}
		after = max(after-(now-at.start-at.duration), time.Millisecond) // what remains of it
		if wait == 0 || after < wait {
			wait = after
		}
	}
	return status, limited, wait
}

// defaultWait is how long a rate limit without a time lasts.
const defaultWait = 5 * time.Second

func (ex *exchange) gatewayError(status int, code, format string, args ...any) *wire.Error {
	return &wire.Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...), RequestID: ex.id}
}

func because(note string) string {
	if note == "" {
		return ""
	}
	return " (" + note + ")"
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
