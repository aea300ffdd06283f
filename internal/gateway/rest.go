package gateway

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// mountRest adds what is not a model endpoint: health, model lists, probes,
// and the answer to unknown paths.
func (g *Gateway) mountRest() {
	g.bodiless("/healthz", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, map[string]any{"status": "ok"}) })
	g.bodiless("/readyz", g.ready)
	g.bodiless("GET /v1/models", g.models)
	g.bodiless("GET /v1/models/{model...}", g.models)
	g.bodiless("/v1/models", g.onlyGet)
	g.bodiless("GET /{$}", g.probe)
	g.bodiless("GET /api/hello", g.probe) // Claude Code's connectivity check
	g.bodiless("/", g.unknown)
}

// bodiless adds a path that reads no body.
func (g *Gateway) bodiless(pattern string, h http.HandlerFunc) {
	g.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		leaveBody(w, r)
		h(w, r)
	})
}

// probe answers connectivity checks, which carry no key. GET covers HEAD.
func (g *Gateway) probe(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("Interlock is running.\n"))
}

func (g *Gateway) onlyGet(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", "GET, HEAD")
	g.bare(w, r).refuse(refusal{status: 405, code: "method_not_allowed", message: "this path takes GET only"})
}

func (g *Gateway) ready(w http.ResponseWriter, _ *http.Request) {
	live := g.opt.Live()
	switch {
	case g.draining.Load():
		writeJSON(w, 503, map[string]any{"status": "draining"})
	case live == nil:
		writeJSON(w, 503, map[string]any{"status": "no configuration"})
	case g.opt.CanRecord != nil && g.opt.CanRecord() != nil:
		writeJSON(w, 503, map[string]any{"status": "requests can't be recorded"})
	default:
		writeJSON(w, 200, map[string]any{"status": "ready", "revision": live.Revision})
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}

// nearest guesses the format that the caller of an unknown path, or of a path
// that formats share, expects.
func (g *Gateway) nearest(r *http.Request) *wire.Format {
	p := r.URL.Path
	if r.Header.Get("Anthropic-Version") != "" || strings.Contains(p, "/messages") || strings.HasPrefix(p, "/anthropic") || servesClaude(p) {
		if f := g.formats[llm.AnthropicMessages]; f != nil {
			return f
		}
	}
	if f := g.formats[llm.OpenAIResponses]; f != nil && strings.Contains(p, "/responses") {
		return f
	}
	if speaksGemini(r) {
		return geminiErrors()
	}
	return g.formats[llm.OpenAIChat]
}

// servesClaude tells the paths of Anthropic's models at Vertex and Bedrock.
func servesClaude(p string) bool {
	return strings.Contains(p, "/publishers/anthropic/") || strings.HasPrefix(p, "/model/") || strings.HasPrefix(p, "/bedrock/")
}

// isUpgrade tells a request for a WebSocket of Responses.
func isUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && strings.HasSuffix(r.URL.Path, "/v1/responses")
}

// unknown answers a path that nothing serves, saying so if it is one that a
// later version will.
func (g *Gateway) unknown(w http.ResponseWriter, r *http.Request) {
	ex := g.bare(w, r)
	if isUpgrade(r) {
		// Codex goes on over HTTP at once after a 426, and after several
		// seconds of tries after anything else.
		w.Header().Set("Upgrade", "HTTP/1.1")
		ex.refuse(refusal{status: http.StatusUpgradeRequired, code: "upgrade_required", message: "WebSocket is not served here; use HTTP"})
		return
	}
	ex.refuse(refusal{status: 404, code: "not_found", message: nowhere(r.URL.Path)})
}

// nowhere says of a path that nothing serves what it is.
func nowhere(path string) string {
	under := func(prefix string) bool {
		return strings.HasPrefix(path, prefix) || path == strings.TrimSuffix(prefix, "/")
	}
	shown := clipText(hideKeys(path), 120)
	if under("/api/v1/") || under("/console/") { // it would not come here if it were on this address
		return shown + " is not at this address: the admin API and the console are at that of server.adminListen"
	}
	if slices.ContainsFunc([]string{
		"/v1/responses/", "/openai/v1/responses/", "/v1/completions", "/v1beta/", "/v1alpha/", "/model/", "/bedrock/", "/vertex/", "/v1/projects/", "/projects/",
		"/openai/deployments/", "/v1/messages/batches", "/v1/models/", "/v1beta1/", "/v1/publishers/",
	}, under) {
		return shown + " is not part of this version yet"
	}
	return "there is nothing at " + shown + "; see the endpoints in the documentation"
}

// bare makes an exchange for an answer outside the model endpoints.
func (g *Gateway) bare(w http.ResponseWriter, r *http.Request) *exchange {
	ex := &exchange{g: g, format: g.nearest(r), endpoint: &llm.Endpoint{}, w: w, r: r, id: newRequestID(g.opt.Now()), began: g.opt.Now(), settled: true}
	w.Header()["X-Interlock-Request-Id"] = []string{ex.id}
	return ex
}
