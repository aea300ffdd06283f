package admin

import (
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// Resource says how a kind appears in the API.
type Resource struct {
	// Kind is its name in package resource.
	Kind string
	// Plural is its path: providers.
	Plural string
	// Tag groups its operations in the document.
	Tag string
	// ByID: paths name an object by its id or its name.
	ByID bool
	// Single: there is one object, and the path names none.
	Single bool
	// readOnly are the fields of an answer that no request sets, besides
	// those of every kind. A dot steps into each object of a list.
	readOnly map[string]*huma.Schema
	// enums are the values of fields that have a fixed choice.
	enums map[string][]string
	// nullable are the secret fields; null removes them.
	nullable []string
}

// Resources is the table of kinds in the order of the document. A kind of
// package resource without a row here fails a test.
func Resources() []Resource {
	text := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	flag := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeBoolean, Description: doc} }
	mode := func() *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Enum: []any{"org-key", "passthrough"}, Description: "Whose credential reaches the provider."}
	}
	return []Resource{
		{
			Kind: "Provider", Plural: "providers", Tag: "Providers",
			readOnly: map[string]*huma.Schema{
				"hasApiKey": storedKey(), "apiKeyLast4": keyLast4(), "credentialMode": mode(),
				"usedBy": {Type: huma.TypeArray, Items: ref("Ref"), Description: "The routes that have it as a member, and the keys whose providerCredential is for it or that name it in allowedProviders. It can't be deleted while there are any."},
			},
			enums: map[string][]string{
				"type":       {"anthropic", "openai", "azure-openai", "azure-foundry", "vertex", "gemini", "bedrock", "openai-compatible", "chatgpt", "github-copilot"},
				"wireFormat": {"anthropic-messages", "openai-chat", "openai-responses"},
			},
			nullable: []string{"apiKey"},
		},
		{
			Kind: "Route", Plural: "routes", Tag: "Routes",
			readOnly: map[string]*huma.Schema{
				"tag":                    {Type: huma.TypeString, Enum: []any{tagStored, tagImplicit, tagReserved}, Description: "stored: an administrator made it. implicit: a route that Interlock makes: a provider's own, for as long as no route uses the provider, or a family's. reserved: the name is kept for one that has no member now. Only stored ones can be changed."},
				"members.credentialMode": mode(),
				"members.state":          {Type: huma.TypeString, Enum: memberStates(), Description: "How the member is now, at the process that answers."},
				"members.until":          {Type: huma.TypeString, Format: "date-time", Description: "When that ends, or the next request may probe; absent where that is not known."},
			},
			enums: map[string][]string{"onLoss": {"allow", "skip", "refuse"}},
		},
		{
			Kind: "Key", Plural: "keys", Tag: "Keys", ByID: true,
			readOnly: map[string]*huma.Schema{
				"last4":                        text("The last characters of the secret, for people."),
				"active":                       flag("The key admits its holder now: it has a secret that works, and neither it nor whose it is is disabled."),
				"endsAt":                       {Type: huma.TypeString, Format: "date-time", Description: "When the last secret of the key stops working, or stopped. Absent: it does not."},
				"providerCredential.hasApiKey": storedKey(), "providerCredential.apiKeyLast4": keyLast4(),
			},
			enums: map[string][]string{
				"type": {"pat", "virtual", "service", "session"},
				"pii":  {"off", "allow", "redact", "block", "reroute"},
			},
			nullable: []string{"secret"},
		},
		{
			Kind: "Model", Plural: "models", Tag: "Models",
			enums: map[string][]string{"modality": {"chat", "embedding", "image", "audio", "rerank"}},
		},
		{Kind: "Department", Plural: "departments", Tag: "Organisation"},
		{Kind: "Team", Plural: "teams", Tag: "Organisation"},
		{
			Kind: "User", Plural: "users", Tag: "Organisation",
			readOnly: map[string]*huma.Schema{"hasPassword": flag("The user has a password, which nobody can read.")},
			enums:    map[string][]string{"role": {"gateway-admin", "viewer"}},
			nullable: []string{"password"},
		},
		{
			Kind: "Settings", Plural: "settings", Tag: "Settings", Single: true,
			enums: map[string][]string{"piiDefault": {"off", "allow", "redact", "block", "reroute"}},
		},
	}
}

// storedKey and keyLast4 describe what is shown of a key that nobody can read.
func storedKey() *huma.Schema {
	return &huma.Schema{Type: huma.TypeBoolean, Description: "A key is stored, or referred to."}
}

func keyLast4() *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Description: "The last characters of the key, for people."}
}

// kind is the descriptor of the resource.
func (r Resource) kind() resource.Kind {
	k, _ := resource.FindKind(r.Kind) // a test holds that every row has one
	return k
}

// path is where an object is.
func (r Resource) path(name string) string {
	if r.Single {
		return Prefix + "/" + r.Plural
	}
	escaped := url.PathEscape(name)
	if strings.Trim(name, ".") == "" { // "." and ".." are names of models, too
		escaped = strings.Repeat("%2E", len(name))
	}
	return Prefix + "/" + r.Plural + "/" + escaped
}
