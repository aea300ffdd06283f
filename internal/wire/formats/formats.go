// Package formats lists the wire formats. Adding one is a folder under wire
// and one line here; the handlers, the strict envelope's names, the error
// shapes and the tests per path follow from its descriptor.
package formats

import (
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/anthropic"
	"github.com/interlock-gateway/interlock/internal/wire/openaichat"
	"github.com/interlock-gateway/interlock/internal/wire/openairesponses"
)

// All lists the formats.
func All() []*wire.Format {
	return []*wire.Format{
		anthropic.New(),
		openaichat.New(),
		openairesponses.New(),
	}
}

// Endpoints lists the endpoints of all formats.
func Endpoints() []*llm.Endpoint {
	var out []*llm.Endpoint
	for _, f := range All() {
		out = append(out, f.Endpoints...)
	}
	return out
}
