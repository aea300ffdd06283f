// Package drivers lists the provider types that this build can dial, one line
// each. It is apart from package upstream so that a driver can import the
// descriptor it fills in.
package drivers

import (
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/upstream"
	"github.com/interlock-gateway/interlock/internal/upstream/anthropic"
	"github.com/interlock-gateway/interlock/internal/upstream/openai"
)

// All lists the drivers.
func All() []*upstream.Driver {
	return []*upstream.Driver{
		anthropic.New(),
		openai.New(),
		openai.Compatible(),
	}
}

// ByType finds the driver of a provider type.
func ByType(t resource.ProviderType) (*upstream.Driver, bool) {
	for _, d := range All() {
		if d.Type == t {
			return d, true
		}
	}
	return nil, false
}
