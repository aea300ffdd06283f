package llm

// EndpointID names one operation that clients call, whatever path they use.
type EndpointID string

// The endpoints.
const (
	Messages        EndpointID = "messages"
	CountTokens     EndpointID = "count_tokens"
	ChatCompletions EndpointID = "chat_completions"
	Responses       EndpointID = "responses"
	Embeddings      EndpointID = "embeddings"
)

// Endpoint is one row of the endpoint table: everything that the request path,
// the checks and the generated tests need to know of an operation.
type Endpoint struct {
	ID     EndpointID
	Method string
	// Paths are the client paths, the main one first, as http.ServeMux
	// patterns without the method. A {model} wildcard says that the model is
	// in the path rather than in the body.
	Paths  []string
	Format Format
	// Stream: the request may ask for a stream.
	Stream bool
	// Failover: later candidates may serve after a failure. Without it one
	// candidate is dialled.
	Failover bool
	// OneModel: members that would get another wire model than the first can't
	// take its place (vectors of two models can't be compared).
	OneModel bool
	// Counts: the request counts for rate limits and budgets.
	Counts bool
	// ModelKind is the kind of model that the endpoint takes, in the words of
	// the model catalogue; empty means chat. Modality reads it.
	ModelKind string
}

// Modality is the kind of model that the endpoint takes, in the words of the
// model catalogue.
func (e *Endpoint) Modality() string {
	if e.ModelKind == "" {
		return "chat"
	}
	return e.ModelKind
}
