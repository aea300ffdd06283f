package firststart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/upstream"
)

// Provider is one that can be made, with what to try first.
type Provider struct {
	*resource.Provider
	Vendor *catalog.Vendor
	// Env is the variable with its key.
	Env string
	// Model is a cheap model of it, and Format how to ask for it.
	Model  string
	Format llm.Format
	// Serves are the patterns of its own route.
	Serves []string
}

// Skipped is a variable that is set and made no provider.
type Skipped struct{ Env, Why string }

// Found is what the environment has.
type Found struct {
	Providers []Provider
	Skipped   []Skipped
}

// Options are what Find needs to know.
type Options struct {
	Vendors *catalog.Catalog
	Models  *catalog.Models
	Drivers []*upstream.Driver
	// Resolve looks up a reference.
	Resolve func(ref string) (secret.String, error)
	// Set tells whether a variable is there and not empty.
	Set func(name string) bool
}

// Find looks for the key of each vendor of the catalogue. Vendors that serve
// one family come first: what they serve is clear.
func Find(o Options) Found {
	var out Found
	for _, id := range o.Vendors.IDs() {
		v, _ := o.Vendors.Vendor(id)
		i := slices.IndexFunc(v.Env, o.Set)
		if i < 0 {
			continue
		}
		p, why := o.provider(v, v.Env[i])
		if why != "" {
			out.Skipped = append(out.Skipped, Skipped{v.Env[i], why})
			continue
		}
		out.Providers = append(out.Providers, p)
	}
	slices.SortStableFunc(out.Providers, func(a, b Provider) int { return cmp.Compare(rank(&a), rank(&b)) })
	o.share(out.Providers)
	return out
}

// rank puts vendors with a type of their own first: they have every endpoint
// that clients of their family use.
func rank(p *Provider) int {
	switch {
	case p.Type != resource.TypeOpenAICompatible:
		return 0
	case !servesAll(p):
		return 1
	}
	return 2
}

// provider is the provider of a vendor, or the reason why there is none.
func (o *Options) provider(v *catalog.Vendor, env string) (Provider, string) {
	typ, vendor := resource.TypeOpenAICompatible, v.ID
	if len(v.Types) > 0 {
		typ, vendor = resource.ProviderType(v.Types[0]), ""
	}
	i := slices.IndexFunc(o.Drivers, func(d *upstream.Driver) bool { return d.Type == typ })
	if i < 0 {
		return Provider{}, fmt.Sprintf("this version has no providers of type %s yet", typ)
	}
	format := o.Drivers[i].Format
	if !v.Serves(format) {
		return Provider{}, fmt.Sprintf("%s does not speak %s", v.Title, format)
	}
	key, err := o.Resolve("env:" + env)
	if err == nil {
		err = resource.CheckSecretText(key.Reveal())
	}
	if err != nil {
		return Provider{}, fmt.Sprintf("its value is no key: %v", err)
	}
	if strings.HasPrefix(key.Reveal(), "ilk_") {
		// The variable is often set for clients of the gateway.
		return Provider{}, "it holds a key of Interlock, not one of " + v.Title
	}
	return Provider{
		Provider: &resource.Provider{
			Meta: resource.Meta{Kind: "Provider", Name: v.ID}, Type: typ, Vendor: vendor, APIKey: "env:" + env,
			StaticModels: []string{v.Try}, // GET /v1/models has something to show
		},
		Vendor: v, Env: env, Model: v.Try, Format: format, Serves: v.PatternsFor(format),
	}, ""
}

// servesAll tells whether a provider is a host of any family.
func servesAll(p *Provider) bool { return slices.Contains(p.Vendor.PatternsFor(p.Format), "*") }

// share divides names among hosts of many families. Each has "*" by itself,
// and a model that two routes serve equally well is refused: so one keeps it,
// and each serves by exact name what the table of models says it hosts. The
// one that keeps it is the first that the table knows nothing of.
func (o *Options) share(all []Provider) {
	rest := -1
	taken := map[string]bool{}
	for i := range all {
		p := &all[i]
		if !servesAll(p) {
			continue
		}
		hosted := o.Models.HostedBy(p.Vendor.ID)
		if rest < 0 || len(hosted) == 0 && len(o.Models.HostedBy(all[rest].Vendor.ID)) > 0 {
			rest = i
		}
		p.Serves = nil
		for _, name := range append([]string{p.Model}, hosted...) {
			if lower := strings.ToLower(name); !taken[lower] {
				taken[lower] = true
				p.Serves = append(p.Serves, name)
			}
		}
	}
	if rest >= 0 {
		all[rest].Serves = append([]string{"*"}, all[rest].Serves...)
	}
	for i := range all {
		if servesAll(&all[i]) {
			all[i].ModelPatterns = all[i].Serves
		}
	}
}

// LeaveOut takes out the providers that problems are in. It tells whether there
// were any: then what is left can be tried again.
func (f *Found) LeaveOut(problems resource.Problems) bool {
	before := len(f.Providers)
	for _, problem := range problems {
		i := slices.IndexFunc(f.Providers, func(p Provider) bool {
			return problem.Object == resource.Ref{Kind: "Provider", Name: p.Name}
		})
		if i >= 0 {
			f.Skipped = append(f.Skipped, Skipped{f.Providers[i].Env, problem.Message})
			f.Providers = slices.Delete(f.Providers, i, i+1)
		}
	}
	return len(f.Providers) < before
}

// Documents are the providers as resources.
func (f *Found) Documents() []resource.Document {
	docs := make([]resource.Document, len(f.Providers))
	for i := range f.Providers {
		docs[i] = resource.Document{Object: f.Providers[i].Provider}
	}
	return docs
}

// Variables lists what to set to get a provider at the first start.
func Variables(c *catalog.Catalog, drivers []*upstream.Driver) []string {
	o := Options{Drivers: drivers, Resolve: func(string) (secret.String, error) { return secret.New("x"), nil }}
	var names []string
	for _, id := range c.IDs() {
		v, _ := c.Vendor(id)
		if len(v.Env) == 0 {
			continue
		}
		if _, why := o.provider(v, v.Env[0]); why == "" {
			names = append(names, v.Env[0])
		}
	}
	return names
}
