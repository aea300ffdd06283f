package gateway

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// hasGoogleKey tells a client of Gemini's API, which has its key in a place of
// its own.
func hasGoogleKey(r *http.Request) bool {
	return r.Header.Get("X-Goog-Api-Key") != "" || r.URL.RawQuery != "" && r.URL.Query().Has("key")
}

// geminiList has one page: the vendor's are of 50 models, but may be longer.
func geminiList(known *catalog.Models, names []string, _ *http.Request) any {
	list := make([]any, len(names))
	for i, n := range names {
		list[i] = geminiModel(known, n)
	}
	return map[string]any{"models": list}
}

func geminiModel(known *catalog.Models, id string) any {
	m := knownModel(known, id)
	methods := []string{"generateContent", "countTokens"}
	if m.Modality == catalog.ModalityEmbedding {
		methods = []string{"embedContent"}
	}
	out := map[string]any{"name": "models/" + id, "displayName": id, "supportedGenerationMethods": methods}
	if m.ContextWindow > 0 {
		out["inputTokenLimit"] = m.ContextWindow
	}
	if m.MaxOutputTokens > 0 {
		out["outputTokenLimit"] = m.MaxOutputTokens
	}
	return out
}

// speaksGemini tells paths of Gemini's API, and its callers. Nothing but lists
// and errors is in its format yet.
func speaksGemini(r *http.Request) bool {
	p := r.URL.Path
	for _, start := range []string{"/v1beta/", "/v1beta1/", "/v1alpha/", "/vertex/v1beta"} {
		if strings.HasPrefix(p, start) {
			return true
		}
	}
	_, verb, _ := strings.Cut(p[strings.LastIndexByte(p, '/')+1:], ":")
	switch verb {
	case "generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents":
		return true
	}
	return strings.Contains(p, "/publishers/google/") || hasGoogleKey(r)
}

// geminiErrors is as much of the format as an error needs.
func geminiErrors() *wire.Format {
	return &wire.Format{ID: llm.Gemini, AppendError: appendGeminiError, RequestIDHeader: "X-Request-Id"}
}

func appendGeminiError(b []byte, e *wire.Error) []byte {
	b = append(b, `{"error":{"code":`...)
	b = strconv.AppendInt(b, int64(e.Status), 10)
	b = wire.AppendString(append(b, `,"status":`...), geminiStatus(e.Status))
	b = wire.AppendString(append(b, `,"message":`...), e.Text())
	b = wire.AppendString(append(b, `,"details":[{"reason":`...), e.Code)
	return append(b, "}]}}"...)
}

// geminiStatus is the vendor's name of a status.
func geminiStatus(status int) string {
	switch status {
	case 401:
		return "UNAUTHENTICATED"
	case 403:
		return "PERMISSION_DENIED"
	case 404:
		return "NOT_FOUND"
	case 429:
		return "RESOURCE_EXHAUSTED"
	case 503:
		return "UNAVAILABLE"
	case 504:
		return "DEADLINE_EXCEEDED"
	}
	if status < 500 {
		return "INVALID_ARGUMENT"
	}
	return "INTERNAL"
}
