package routing

import "github.com/interlock-gateway/interlock/internal/llm"

// ProviderID identifies a provider across snapshots: its name.
type ProviderID string

// RouteID identifies a route across snapshots: its name.
type RouteID string

// Provider is what the decision needs to know of a provider.
type Provider struct {
	ID     ProviderID
	Family llm.Family
	// Vendor is the catalogue's id; models can cost differently by vendor.
	Vendor string
	// Format is the wire format that the provider speaks, and Also are further
	// ones that it speaks natively.
	Format llm.Format
	Also   []llm.Format
	// OrgKey: it dials with a credential of the organisation (or needs
	// none). Otherwise only a caller's own credential could be used.
	OrgKey bool
	// NoKey: the organisation's key can't be read now.
	NoKey     bool
	Drained   bool
	Residency string
	// Data is what the provider promises.
	Data DataHandling
	// FamilyRoute is the family route that the provider is a member of; empty
	// for none.
	FamilyRoute RouteID
	// NoPassthrough: it never takes a caller's credential in place of its key
	// (global passthrough).
	NoPassthrough bool
	// Patterns are served by the provider's own implicit route while the
	// provider is in no route.
	Patterns []Pattern
	// WireModels maps a client's model name, in lower case, to the name sent
	// to the provider.
	WireModels map[string]string
	// Windows are context windows in tokens by the model's name in lower
	// case, that of the client or of the wire; they override the catalogue.
	Windows map[string]int
	// Names are model names that lists may show, as they were written.
	Names []string
}

// Member is a provider inside a route.
type Member struct {
	Provider *Provider
	// Weight is 0 to 1,000,000; 0 is never first. Build does not default it.
	Weight int
	// Priority groups members; the lowest group serves first.
	Priority     int
	FallbackOnly bool
}

// Alias is a client-facing name of a route.
type Alias struct {
	// Name is as it was written; case does not count.
	Name string
	// WireModels are the names that the members get. A member without one
	// does not serve the alias.
	WireModels map[ProviderID]string
}

// Route is a model route: stored by an administrator, or implicit.
type Route struct {
	ID       RouteID
	Patterns []Pattern
	Aliases  []Alias
	// Members are in try order.
	Members []Member
	// Disabled are the members whose provider is disabled. They serve nothing
	// and are named where nobody else does.
	Disabled []ProviderID
	// First is the provider of the first member that was configured, whether
	// it is enabled or not: global passthrough is for that one.
	First    ProviderID
	Strategy Strategy
	// OrgKeyFallback: a caller with its own credential may be served with the
	// organisation's keys after the passthrough members failed.
	OrgKeyFallback bool
	// CrossProvider: members of another family than the first may serve, if
	// they have a name for the model.
	CrossProvider bool
	// Implicit marks a provider's own route and the family routes.
	Implicit bool
	// Family marks a family route.
	Family bool
}

// The names of the family routes.
const (
	AnthropicFamily RouteID = "anthropic-family"
	OpenAIFamily    RouteID = "openai-family"
)

// FamilyRoute is a route that serves a family's default patterns for models
// that no stored route serves; its members are the providers that name it.
type FamilyRoute struct {
	ID       RouteID
	Patterns []Pattern
}

// ModelTable tells what is known of models. It is read-only.
type ModelTable interface {
	// Model looks a model up by the name that a provider of a vendor
	// receives. What is not known is zero.
	Model(vendor, name string) ModelInfo
}

// ModelInfo is what is known of a model.
type ModelInfo struct {
	// Modality is chat, embedding, image, audio or rerank; empty is unknown.
	Modality string
	// Window is the context window in tokens; 0 is unknown.
	Window int
	// Input and Output are list prices in USD per million tokens; they are
	// valid if Priced.
	Input, Output float64
	Priced        bool
}

// Config is the input of Build: enabled objects only.
type Config struct {
	Revision  uint64
	Providers []*Provider
	Routes    []*Route
	Families  []FamilyRoute
	// Models are further exact names that model lists may show when a route
	// serves them.
	Models []string
	// Table tells what models are; nil knows none.
	Table ModelTable
	// UnknownModelStatus is the HTTP status of a model that no route serves:
	// 503, or 404.
	UnknownModelStatus int
	// GlobalPassthrough is the setting of that name (RT-GP).
	GlobalPassthrough bool
	// Data is demanded of every provider.
	Data DataHandling
}

// Snapshot is one compiled routing configuration. It is immutable.
type Snapshot struct {
	Revision           uint64
	unknownModelStatus int
	globalPassthrough  bool
	data               DataHandling
	table              ModelTable
	providers          []*Provider
	routes             []*Route // stored first, then own ones, then families
	stored             index
	implicit, family   index
	aliases            map[string]aliased
	models             []string
	needsPins          bool
}

// aliased is where an alias leads.
type aliased struct {
	route *Route
	alias *Alias
}

// noModels is the table that knows nothing.
type noModels struct{}

func (noModels) Model(string, string) ModelInfo { return ModelInfo{} }
