package fakellm

import (
	"net/http"
	"strings"
)

// The shapes of errors: one per dialect, and three that no API has.
const (
	shapeOpenAI         = "openai"
	shapeResponses      = "responses"       // as openai, but flat in a stream
	shapeResponseFailed = "response_failed" // a response whose status is failed
	shapeAnthropic      = "anthropic"
	shapeGoogle         = "google"
	shapeBedrock        = "bedrock"
	shapeHTML           = "html"
	shapePlain          = "plain"
	shapeEmpty          = "empty"
)

// endpoint is what a path stands for.
type endpoint struct {
	shape string
	serve func(*call)
	// model and verb are set when the path names them.
	model, verb string
}

// route matches paths by their tail, so that any base path works.
func route(r *http.Request) endpoint {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return endpoint{shape: shapeResponses, serve: (*call).websocket}
	}
	var ep endpoint
	switch r.Method {
	case http.MethodPost:
		ep = routePost(r.URL.Path)
	case http.MethodGet:
		ep = routeGet(r.URL.Path)
	}
	if ep.shape == "" {
		ep.shape = shapeOf(r)
	}
	if ep.serve == nil {
		ep.serve = (*call).notFound
	}
	return ep
}

func routePost(p string) endpoint {
	for _, e := range []struct {
		tail string
		endpoint
	}{
		{"/chat/completions", endpoint{shape: shapeOpenAI, serve: (*call).chat}},
		{"/messages", endpoint{shape: shapeAnthropic, serve: (*call).messages}},
		{"/messages/count_tokens", endpoint{shape: shapeAnthropic, serve: (*call).countMessageTokens}},
		{"/responses", endpoint{shape: shapeResponses, serve: (*call).responses}},
		{"/responses/input_tokens", endpoint{shape: shapeOpenAI, serve: (*call).countResponseTokens}},
		{"/embeddings", endpoint{shape: shapeOpenAI, serve: (*call).embeddings}},
	} {
		if strings.HasSuffix(p, e.tail) {
			return e.endpoint
		}
	}
	if model, verb, ok := bedrockPath(p); ok {
		return endpoint{shape: shapeBedrock, serve: (*call).bedrock, model: model, verb: verb}
	}
	if model, verb, ok := googlePath(p); ok {
		ep := endpoint{shape: shapeGoogle, serve: (*call).google, model: model, verb: verb}
		if strings.Contains(p, "/publishers/anthropic/") {
			ep.shape = shapeAnthropic
		}
		return ep
	}
	return endpoint{}
}

func routeGet(p string) endpoint {
	if strings.HasSuffix(p, "/models") {
		return endpoint{serve: (*call).modelList}
	}
	// A vendor's model id may contain slashes and colons.
	if _, id, ok := strings.Cut(p, "/models/"); ok && id != "" {
		return endpoint{serve: (*call).modelGet, model: id}
	}
	return endpoint{}
}

// bedrockPath reads …/model/ID/VERB; the ID may be an ARN, with slashes in it.
func bedrockPath(p string) (model, verb string, ok bool) {
	_, rest, ok := strings.Cut(p, "/model/")
	i := strings.LastIndexByte(rest, '/')
	if !ok || i <= 0 {
		return "", "", false
	}
	switch verb = rest[i+1:]; verb {
	case "invoke", "invoke-with-response-stream", "converse", "converse-stream", "count-tokens":
		return rest[:i], verb, true
	}
	return "", "", false
}

// googlePath reads …/models/ID:VERB.
func googlePath(p string) (model, verb string, ok bool) {
	i := strings.LastIndex(p, "/models/")
	if i < 0 {
		return "", "", false
	}
	rest := p[i+len("/models/"):]
	j := strings.LastIndexByte(rest, ':')
	if j <= 0 || strings.Contains(rest, "/") {
		return "", "", false
	}
	return rest[:j], rest[j+1:], true
}

// shapeOf guesses the dialect of a request that the path does not tell.
func shapeOf(r *http.Request) string {
	p := r.URL.Path
	switch {
	case strings.Contains(p, "/messages"), r.Header.Get("Anthropic-Version") != "", strings.Contains(p, "/publishers/anthropic/"):
		return shapeAnthropic
	case strings.Contains(p, "/v1beta"):
		return shapeGoogle
	}
	return shapeOpenAI
}

func (c *call) notFound() {
	c.sendError(http.StatusNotFound, "no such endpoint in the fake provider")
}
