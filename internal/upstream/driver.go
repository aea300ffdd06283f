package upstream

import (
	"net/http"
	"slices"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// Driver describes a provider type as data.
type Driver struct {
	Type  resource.ProviderType
	Title string
	// Format is the wire format that the type speaks.
	Format llm.Format
	// Also are formats that it speaks besides, and Asked those that it speaks
	// instead if a provider's wireFormat says so.
	Also, Asked []llm.Format
	// Paths are appended to the base URL, by endpoint. An endpoint without a
	// path is not served.
	Paths map[llm.EndpointID]string
	// Forward names the client headers that pass besides the common ones, in
	// lower case; a "*" at the end is a prefix.
	Forward []string
	// ForwardOwn are those that pass besides with a caller's own credential:
	// they name the caller's account.
	ForwardOwn []string
	// Query names the query parameters that pass.
	Query []string
	// Check reports what is wrong with a provider of this type once its
	// secrets are known: the field and a message, empty when nothing is.
	Check func(p *resource.Provider, baseURL, apiKey string) (field, message string)
	// Prepare adds fixed headers of the type, which go with the provider's own
	// key. It runs once for a Target.
	Prepare func(h http.Header, p *resource.Provider)
	// Authorize puts a key into the headers; nil does it as the vendor's data
	// say.
	Authorize func(h http.Header, a catalog.Auth, key string)
	// Complete adjusts the headers of one request, whatever its credential;
	// nil if nothing is to do.
	Complete func(h http.Header)
}

// Speaks tells whether a provider of this type can be set to a format; an empty
// one is what the type speaks by itself.
func (d *Driver) Speaks(f llm.Format) bool {
	return f == "" || f == d.Format || slices.Contains(d.Also, f) || slices.Contains(d.Asked, f)
}

// commonForward are the client headers that pass to every provider.
// Session headers let a provider keep its prompt cache close.
func commonForward() []string {
	return []string{
		"content-type", "accept", "user-agent", "x-stainless-*", "idempotency-key", "x-request-id",
		"traceparent", "tracestate",
		"session-id", "thread-id", "session_id", "conversation_id", "x-session-id", "x-session-affinity", "x-client-request-id",
		"x-opencode-session", "x-client-session-id", "vscode-sessionid",
	}
}
