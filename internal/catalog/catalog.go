package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// Catalog is the parsed and checked vendor data. It is read-only.
type Catalog struct {
	vendors map[string]*Vendor
	byType  map[string]*Vendor
	// vendorTypes are the provider types that may name a vendor.
	vendorTypes map[string]bool
	selectable  []string
	// typed are vendors without a family under a type that has one.
	typed map[typedID]*Vendor
}

type typedID struct{ typ, vendor string }

// Vendor looks up one vendor.
func (c *Catalog) Vendor(id string) (*Vendor, bool) {
	v, ok := c.vendors[id]
	return v, ok
}

// IDs lists all vendors, sorted. The generic entry is not one of them.
func (c *Catalog) IDs() []string { return slices.Sorted(maps.Keys(c.vendors)) }

// Selectable lists the vendors that Provider.vendor may name, sorted.
func (c *Catalog) Selectable() []string { return slices.Clone(c.selectable) }

// ForProvider finds the entry of a provider, given its type and vendor field.
//
// A vendor without a family takes over the family and patterns of the type:
// an anthropic provider that points at a proxy still serves claude-* (RT-IMPL).
func (c *Catalog) ForProvider(typ, vendor string) (*Vendor, error) {
	own, ok := c.byType[typ]
	switch {
	case !ok:
		return nil, fmt.Errorf("catalog: unknown provider type %q", typ)
	case vendor == "" || vendor == own.ID && own.ID != genericID:
		return own, nil
	case !c.vendorTypes[typ]:
		return nil, fmt.Errorf("catalog: a provider of type %s takes no vendor", typ)
	case !slices.Contains(c.selectable, vendor):
		return nil, fmt.Errorf("catalog: unknown vendor %q; known are %s", vendor, strings.Join(c.selectable, ", "))
	}
	if v, ok := c.typed[typedID{typ, vendor}]; ok {
		return v, nil
	}
	return c.vendors[vendor], nil
}

// index fills the look-ups once all vendors are known.
func (c *Catalog) index() {
	for _, id := range c.IDs() {
		if !c.servesType(id) {
			c.selectable = append(c.selectable, id)
		}
	}
	for typ := range c.vendorTypes {
		own := c.byType[typ]
		if own.Family == llm.FamilyNone {
			continue
		}
		for _, id := range c.selectable {
			if v := c.vendors[id]; v.Family == llm.FamilyNone {
				under := *v
				under.Family, under.DefaultPatterns = own.Family, own.DefaultPatterns
				c.typed[typedID{typ, id}] = &under
			}
		}
	}
}

func (c *Catalog) servesType(id string) bool {
	for _, v := range c.byType {
		if v.ID == id {
			return true
		}
	}
	return false
}
