package upstream

import (
	"net/http"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// Driver describes a provider type as data.
type Driver struct {
	Type  resource.ProviderType
	Title string
	// Format is the wire format that the type speaks.
	Format llm.Format
	// Paths are appended to the base URL, by endpoint. An endpoint without a
	// path is not served.
	Paths map[llm.EndpointID]string
	// Forward names the client headers that pass besides the common ones, in
	// lower case; a "*" at the end is a prefix.
	Forward []string
	// Query names the query parameters that pass.
	Query []string
	// Check reports what is wrong with a provider of this type once its
	// secrets are known: the field and a message, empty when nothing is.
	Check func(p *resource.Provider, baseURL, apiKey string) (field, message string)
	// Prepare adds fixed headers of the type. It runs once for a Target and
	// the headers are sent with every request.
	Prepare func(h http.Header, p *resource.Provider, apiKey string)
	// Complete adjusts the headers of one request; nil if nothing is to do.
	Complete func(h http.Header, apiKey string)
}

// commonForward are the client headers that pass to every provider.
// Session headers let a provider keep its prompt cache close.
func commonForward() []string {
	return []string{
		"content-type", "accept", "user-agent", "x-stainless-*", "idempotency-key", "x-request-id",
		"traceparent", "tracestate",
		"session-id", "thread-id", "session_id", "conversation_id", "x-session-id", "x-session-affinity", "x-client-request-id",
	}
}
