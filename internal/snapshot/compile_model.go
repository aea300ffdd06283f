package snapshot

import (
	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
)

// models puts the administrators' entries before the built-in table.
func (c *compiler) models() {
	var entries []catalog.Model
	each(c, func(_ resource.Document, m *resource.Model) {
		if !m.IsEnabled() {
			return
		}
		if p, err := routing.ParsePattern(m.Name); err == nil && p.IsExact() {
			c.config.Models = append(c.config.Models, m.Name)
		}
		entries = append(entries, modelEntry(m))
	})
	if c.Models != nil {
		c.live.Models = c.Models.With(entries)
		c.config.Table = modelTable{c.live.Models}
	}
}

func modelEntry(m *resource.Model) catalog.Model {
	out := catalog.Model{
		Name: m.Name, Modality: m.Modality, Family: llm.Family(m.Family), ContextWindow: m.ContextWindow, MaxOutputTokens: m.MaxOutputTokens,
	}
	if p := m.Prices; p != nil {
		out.Prices = catalog.Prices{
			Input: catalog.PriceOf(p.Input), Output: catalog.PriceOf(p.Output), CacheRead: catalog.PriceOf(p.CacheRead),
			CacheWrite5m: catalog.PriceOf(p.CacheWrite5m), CacheWrite1h: catalog.PriceOf(p.CacheWrite1h),
		}
	}
	return out
}

// modelTable shows the catalogue to the decision.
type modelTable struct{ models *catalog.Models }

// Model implements routing.ModelTable.
func (t modelTable) Model(vendor, name string) routing.ModelInfo {
	m, ok := t.models.Find(vendor, name)
	if !ok {
		return routing.ModelInfo{}
	}
	info := routing.ModelInfo{Modality: m.Modality, Window: m.ContextWindow}
	info.Input, info.Output, info.Priced = m.ListPrice()
	return info
}
