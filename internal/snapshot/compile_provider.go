package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/upstream"
)

func (c *compiler) compileProviders() {
	known := c.residencies()
	each(c, func(doc resource.Document, p *resource.Provider) {
		if p.Residency != "" && !slices.Contains(known, p.Residency) {
			c.problem(doc, "invalid", "residency", "%q is not a known residency; use one of %s, or add it to the settings' residencies",
				p.Residency, strings.Join(known, ", "))
		}
		i := slices.IndexFunc(c.Drivers, func(d *upstream.Driver) bool { return d.Type == p.Type })
		if i < 0 {
			return // no route uses it: a type that is not built, with a warning
		}
		if !c.Drivers[i].Speaks(llm.Format(p.WireFormat)) {
			return // likewise
		}
		vendor, err := c.Catalog.ForProvider(string(p.Type), p.Vendor)
		if err != nil {
			c.problem(doc, "invalid", "vendor", "%v", err)
			return
		}
		c.provider(doc, p, c.Drivers[i], vendor)
	})
}

func (c *compiler) provider(doc resource.Document, p *resource.Provider, d *upstream.Driver, v *catalog.Vendor) {
	key, err := c.Resolve(p, p.APIKey)
	if err == nil {
		err = resource.CheckProviderKey(p, key.Reveal())
	}
	unreadable := err != nil && (!c.written(doc) || resource.IsOff(p))
	switch {
	case unreadable:
		c.warn(doc, "secret", "apiKey", "its key can't be read, so requests are not sent to it: %v", err)
		key = secret.String{}
	case err != nil:
		c.problem(doc, "secret", "apiKey", "%v", err)
		return
	}
	t, err := c.target(upstream.Options{Provider: p, Driver: d, Vendor: v, APIKey: key})
	if err != nil {
		if field, ok := errors.AsType[*upstream.FieldError](err); ok {
			c.problem(doc, "invalid", field.Field, "%s", field.Message)
		} else {
			c.problem(doc, "invalid", "", "%v", err)
		}
		return
	}
	if !p.IsEnabled() {
		return
	}
	c.enabled(p, t, &routing.Provider{
		ID: routing.ProviderID(p.Name), Family: v.FamilyFor(d.Format), Vendor: v.ID, Format: d.Format, Also: d.Also,
		OrgKey: !key.IsZero() || v.Keyless || unreadable, NoKey: unreadable,
		Drained: p.Drained, Residency: p.Residency, Data: dataHandling(p.DataHandling), Names: slices.Clone(p.StaticModels),
		Patterns: c.implicitPatterns(p, d.Format, v), FamilyRoute: familyRoute(p.Type, v.FamilyFor(d.Format)),
	})
}

// target builds what a provider is dialled with.
func (c *compiler) target(o upstream.Options) (*upstream.Target, error) {
	o.ReadFile = func(string) ([]byte, error) { return nil, nil }
	if path := o.Provider.CAFile; path != "" {
		pem, err := c.ReadFile(path)
		if err != nil { // its reason is what to change
			if pe, ok := errors.AsType[*fs.PathError](err); ok {
				err = pe.Err
			}
			return nil, &upstream.FieldError{Field: "caFile", Message: fmt.Sprintf("the file %s can't be read: %v", path, err)}
		}
		o.ReadFile = func(string) ([]byte, error) { return pem, nil }
	}
	return upstream.New(o)
}

// enabled adds a provider that routes can use.
func (c *compiler) enabled(p *resource.Provider, t *upstream.Target, rp *routing.Provider) {
	if p.WireFormat != "" { // that one and no other
		rp.Format, rp.Also = llm.Format(p.WireFormat), nil
	}
	if rp.Residency == "" {
		rp.Residency = "global"
	}
	if len(p.ModelAliases) > 0 {
		rp.WireModels = make(map[string]string, len(p.ModelAliases))
		for _, name := range slices.Sorted(maps.Keys(p.ModelAliases)) { // an order that repeats
			rp.WireModels[strings.ToLower(name)] = p.ModelAliases[name]
			rp.Names = append(rp.Names, name)
		}
	}
	if len(p.ContextWindows) > 0 {
		rp.Windows = make(map[string]int, len(p.ContextWindows))
		for name, tokens := range p.ContextWindows {
			rp.Windows[strings.ToLower(name)] = tokens
		}
	}
	c.providers[p.Name] = rp
	c.config.Providers = append(c.config.Providers, rp)
	c.live.Targets[rp.ID] = t
}

// implicitPatterns are the provider's own, or its family's defaults.
func (c *compiler) implicitPatterns(p *resource.Provider, f llm.Format, v *catalog.Vendor) []routing.Pattern {
	texts := p.ModelPatterns
	if len(texts) == 0 {
		texts = v.PatternsFor(f)
	}
	return parsePatterns(texts)
}

func parsePatterns(texts []string) []routing.Pattern {
	out := make([]routing.Pattern, 0, len(texts))
	for _, text := range texts {
		if pat, err := routing.ParsePattern(text); err == nil { // Check reported the others
			out = append(out, pat)
		}
	}
	return out
}

// familyRoute is the family route that a provider of a type is a member of.
func familyRoute(t resource.ProviderType, f llm.Family) routing.RouteID {
	switch {
	case t == resource.TypeAnthropic && f == llm.FamilyAnthropic:
		return routing.AnthropicFamily
	case t == resource.TypeOpenAI && f == llm.FamilyOpenAI:
		return routing.OpenAIFamily
	}
	return ""
}

// families are the family routes with their vendors' patterns.
func (c *compiler) families() []routing.FamilyRoute {
	var out []routing.FamilyRoute
	for _, f := range []struct {
		id     routing.RouteID
		typ    resource.ProviderType
		format llm.Format
	}{
		{routing.AnthropicFamily, resource.TypeAnthropic, llm.AnthropicMessages},
		{routing.OpenAIFamily, resource.TypeOpenAI, llm.OpenAIChat},
	} {
		v, err := c.Catalog.ForProvider(string(f.typ), "")
		if err != nil {
			continue // the catalogue of a test
		}
		out = append(out, routing.FamilyRoute{ID: f.id, Patterns: parsePatterns(v.PatternsFor(f.format))})
	}
	return out
}

func dataHandling(d *resource.DataHandling) routing.DataHandling {
	if d == nil {
		return routing.DataHandling{}
	}
	return routing.DataHandling{ZeroDataRetention: d.ZeroDataRetention, NoPromptTraining: d.NoPromptTraining, Jurisdiction: d.Jurisdiction}
}
