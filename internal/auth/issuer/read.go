package issuer

import (
	"encoding/json"
	"net/http"
	"time"
)

// Object is a JSON object of claims with exact names: a claim AUD is not the
// audience.
type Object map[string]json.RawMessage

// Text reads a claim that is one text, by its name or path; empty if it is not
// there.
func (o Object) Text(claim string) (string, error) { return object(o).text(claim) }

// Texts reads a claim that is a text or a list of texts, by its name or path.
func (o Object) Texts(claim string) ([]string, error) { return object(o).texts(claim) }

// IsFor tells whether the audience, one or a list, has this one.
func (o Object) IsFor(audience string) bool { return object(o).isFor(audience) }

// Client is an HTTP client for one issuer: it bounds answers, and stays with TLS
// if the issuer has it.
func Client(issuerURL string, timeout time.Duration) *http.Client {
	return newClient(timeout, isTLS(issuerURL))
}
