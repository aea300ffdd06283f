// Package openai drives OpenAI's API and the many vendors that speak Chat
// Completions.
package openai

import (
	"net/http"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/upstream"
)

// New describes OpenAI itself.
func New() *upstream.Driver {
	d := Compatible()
	d.Type, d.Title = resource.TypeOpenAI, "OpenAI"
	d.Also = []llm.Format{llm.OpenAIResponses}
	d.Prepare = func(h http.Header, p *resource.Provider) {
		if p.OpenAI == nil {
			return
		}
		if p.OpenAI.Organization != "" {
			h.Set("OpenAI-Organization", p.OpenAI.Organization)
		}
		if p.OpenAI.Project != "" {
			h.Set("OpenAI-Project", p.OpenAI.Project)
		}
	}
	return d
}

// Compatible describes any vendor that speaks Chat Completions.
func Compatible() *upstream.Driver {
	return &upstream.Driver{
		Type:   resource.TypeOpenAICompatible,
		Title:  "OpenAI-compatible",
		Format: llm.OpenAIChat,
		Asked:  []llm.Format{llm.OpenAIResponses}, // several vendors have it
		Paths: map[llm.EndpointID]string{
			llm.ChatCompletions: "/chat/completions",
			llm.Embeddings:      "/embeddings",
			llm.Responses:       "/responses",
		},
		Forward: []string{"openai-beta"},
		ForwardOwn: []string{
			"openai-organization", "openai-project", "chatgpt-account-id", "originator", "version", "x-codex-*",
		},
	}
}
