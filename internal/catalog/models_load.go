package catalog

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/interlock-gateway/interlock/internal/llm"
)

//go:embed models/*.yaml
var embeddedModels embed.FS

// modelFile is a file of the table of models. Its source and observed hold for
// rows that have none of their own; family, modality and vendor for all.
type modelFile struct {
	// Vendor is set in the files of hosts: the rows are for that one only.
	Vendor string `json:"vendor"`
	// PricedFor are the vendors that charge these prices.
	PricedFor []string   `json:"pricedFor"`
	Family    llm.Family `json:"family"`
	Modality  string     `json:"modality"`
	Source    string     `json:"source"`
	Observed  string     `json:"observed"`
	Models    []modelRow `json:"models"`
}

type modelRow struct {
	Name            string     `json:"name"`
	Aliases         []string   `json:"aliases"`
	Modality        string     `json:"modality"`
	Family          llm.Family `json:"family"`
	ContextWindow   int        `json:"contextWindow"`
	MaxOutputTokens int        `json:"maxOutputTokens"`
	Prices          priceRow   `json:"prices"`
	Above           tierRow    `json:"above"`
	Source          string     `json:"source"`
	Observed        string     `json:"observed"`
}

type priceRow struct {
	Input        *float64 `json:"input"`
	Output       *float64 `json:"output"`
	CacheRead    *float64 `json:"cacheRead"`
	CacheWrite5m *float64 `json:"cacheWrite5m"`
	CacheWrite1h *float64 `json:"cacheWrite1h"`
}

type tierRow struct {
	Tokens int      `json:"tokens"`
	Prices priceRow `yaml:",inline"`
}

// LoadModels parses and checks the built-in table of models. Call it once, at
// start-up.
func LoadModels() (*Models, error) { return loadModels(embeddedModels) }

func loadModels(files fs.FS) (*Models, error) {
	names, err := fs.Glob(files, "models/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	l := newLayer(true)
	for _, name := range names {
		if err := l.addFile(files, name); err != nil {
			return nil, fmt.Errorf("catalog: %s: %w", name, err)
		}
	}
	return newModels([]*layer{l}), nil
}

func (l *layer) addFile(files fs.FS, name string) error {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	var f modelFile
	if err := yaml.UnmarshalWithOptions(b, &f, yaml.Strict()); err != nil {
		return err
	}
	for i := range f.Models {
		row := &f.Models[i]
		f.complete(row)
		if err := row.check(); err != nil {
			return fmt.Errorf("model %q: %w", row.Name, err)
		}
		m := row.model()
		m.Vendor = f.Vendor
		e := &entry{answer{model: m}}
		if !m.Prices.none() {
			if len(f.PricedFor) == 0 {
				return fmt.Errorf("model %q has prices, and the file no pricedFor", row.Name)
			}
			e.pricedFor = f.PricedFor
		}
		if taken := l.add(e, row.Aliases); taken != "" {
			return fmt.Errorf("model %q: the name %q is taken", row.Name, taken)
		}
	}
	return nil
}

// complete gives a row what holds for the whole file.
func (f *modelFile) complete(r *modelRow) {
	if r.Modality == "" {
		r.Modality = f.Modality
	}
	if r.Family == "" {
		r.Family = f.Family
	}
	if r.Source == "" {
		r.Source = f.Source
	}
	if r.Observed == "" {
		r.Observed = f.Observed
	}
}

func (r *modelRow) check() error {
	for _, n := range append([]string{r.Name}, r.Aliases...) {
		if n == "" || n != strings.ToLower(strings.TrimSpace(n)) {
			return fmt.Errorf("the name %q is empty, or not in lower case", n)
		}
	}
	if slices.ContainsFunc(r.Aliases, func(n string) bool { return strings.Contains(n, "*") }) {
		return errors.New("a pattern is no alias")
	}
	pattern := strings.Contains(r.Name, "*")
	if _, ok := parseGlob(r.Name); pattern && (!ok || strings.Contains(strings.Trim(r.Name, "*"), "*")) {
		return errors.New("a * may stand only at the start, at the end, or both")
	}
	if pattern && (len(r.Aliases) > 0 || r.Prices != priceRow{} || r.ContextWindow != 0 || r.MaxOutputTokens != 0) {
		// A pattern also matches models that do not exist yet.
		return errors.New("a pattern has modality and family only")
	}
	if !slices.Contains([]string{"", ModalityChat, ModalityEmbedding, ModalityImage, ModalityAudio, ModalityRerank}, r.Modality) {
		return fmt.Errorf("unknown modality %q", r.Modality)
	}
	if r.ContextWindow < 0 || r.MaxOutputTokens < 0 || r.Above.Tokens < 0 {
		return errors.New("tokens are not negative")
	}
	if (r.Above.Tokens > 0) != (r.Above.Prices != priceRow{}) || r.Above.Tokens > 0 && r.Prices.Input == nil {
		return errors.New("above goes with tokens, prices of its own and an input price")
	}
	if r.Source == "" {
		return errors.New("no source")
	}
	if _, err := time.Parse(time.DateOnly, r.Observed); err != nil {
		return fmt.Errorf("observed: %w", err)
	}
	return errors.Join(r.Prices.check(), r.Above.Prices.check())
}

// maxListPrice in USD for a million tokens catches a price for a single token,
// or in other units, that was taken over as it is.
const maxListPrice = 10_000

func (p *priceRow) check() error {
	for _, usd := range []*float64{p.Input, p.Output, p.CacheRead, p.CacheWrite5m, p.CacheWrite1h} {
		if usd != nil && !(*usd > 0 && *usd <= maxListPrice) { // so that NaN is refused
			return fmt.Errorf("the price %v is not in USD for a million tokens; leave out one that is not known", *usd)
		}
	}
	return nil
}

func (p *priceRow) prices() Prices {
	return Prices{
		Input: PriceOf(p.Input), Output: PriceOf(p.Output), CacheRead: PriceOf(p.CacheRead),
		CacheWrite5m: PriceOf(p.CacheWrite5m), CacheWrite1h: PriceOf(p.CacheWrite1h),
	}
}

func (r *modelRow) model() Model {
	return Model{
		Name: r.Name, Modality: r.Modality, Family: r.Family,
		ContextWindow: r.ContextWindow, MaxOutputTokens: r.MaxOutputTokens,
		Prices: r.Prices.prices(), Above: Tier{Tokens: r.Above.Tokens, Prices: r.Above.Prices.prices()},
		Source: r.Source, Observed: r.Observed,
	}
}
