package gateway

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// cannotCount tells whether a provider's answer says that it has no
// count_tokens (RT-FO-2), as opposed to having no such model: of that the
// vendor's own error object speaks.
func (d *dialing) cannotCount(status int, body []byte) bool {
	if d.ex.endpoint.ID != llm.CountTokens {
		return false
	}
	switch status {
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	case http.StatusNotFound:
		return !bytes.Contains(body, []byte("not_found_error")) || !bytes.Contains(body, []byte("model"))
	}
	return false
}

// warnEstimate marks a count that the gateway guessed.
const warnEstimate = "input_tokens is an estimate: the provider does not count tokens"

// estimate answers count_tokens for a provider that can't, and says so.
func (d *dialing) estimate() (bool, attempt) {
	ex := d.ex
	n := max(1, wire.GuessTokens(ex.envelope.Body()))
	body := append(strconv.AppendInt([]byte(`{"input_tokens":`), int64(n), 10), '}')
	ex.estimated = true
	if ex.settle(ending{outcome: audit.OutcomeAllow, status: 200, served: d.c}) != nil {
		ex.failUnrecorded()
		return true, attempt{}
	}
	ex.out.begin(200, func(h http.Header) {
		h["Content-Type"] = []string{"application/json"}
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
		ex.routingHeaders(h, d.c)
		h["X-Interlock-Warning"] = []string{warnEstimate} // it is about the answer, not about routing
	})
	_ = ex.out.send(body) // a client that left is nobody's error
	return true, attempt{}
}
