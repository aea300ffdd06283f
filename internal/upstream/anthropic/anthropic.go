// Package anthropic drives Anthropic's API and vendors that copy it.
package anthropic

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/upstream"
)

const (
	// version is added when the client sends none; what a client sends is
	// forwarded as it is.
	version = "2023-06-01"
	// oauthBeta must accompany an OAuth access token (sk-ant-oat...).
	oauthBeta = "oauth-2025-04-20"
)

// New describes the type.
func New() *upstream.Driver {
	return &upstream.Driver{
		Type:   resource.TypeAnthropic,
		Title:  "Anthropic",
		Format: llm.AnthropicMessages,
		Paths: map[llm.EndpointID]string{
			llm.Messages:    "/v1/messages",
			llm.CountTokens: "/v1/messages/count_tokens",
		},
		Forward:   []string{"anthropic-version", "anthropic-beta", "x-app", "x-claude-code-*"},
		Query:     []string{"beta"},
		Check:     check,
		Authorize: authorize,
		Complete:  complete,
	}
}

// check is RS-PROV-1.
func check(_ *resource.Provider, baseURL, apiKey string) (field, message string) {
	u, err := url.Parse(baseURL)
	if err != nil || apiKey == "" {
		return "", ""
	}
	if h := strings.ToLower(u.Hostname()); h == "api.anthropic.com" && !strings.HasPrefix(apiKey, "sk-ant-") {
		return "apiKey", "Anthropic's own API takes keys that begin with sk-ant-; use such a key, or set baseUrl to the vendor that this key belongs to"
	}
	return "", ""
}

func isOAuth(apiKey string) bool { return strings.HasPrefix(apiKey, "sk-ant-oat") }

// authorize sends an OAuth token as a bearer token instead of a key.
func authorize(h http.Header, a catalog.Auth, key string) {
	if isOAuth(key) {
		h.Set("Authorization", "Bearer "+key)
		return
	}
	h.Set(a.Header, a.Prefix+key)
}

func complete(h http.Header) {
	if h["Anthropic-Version"] == nil {
		h["Anthropic-Version"] = []string{version}
	}
	token, bearer := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if bearer && isOAuth(token) && !strings.Contains(strings.Join(h["Anthropic-Beta"], ","), oauthBeta) {
		// The client's slice is shared with its request: extend a copy.
		h["Anthropic-Beta"] = append(append([]string(nil), h["Anthropic-Beta"]...), oauthBeta)
	}
}
