package catalog

import (
	"slices"
	"strings"
)

// Models is the table of models: the built-in entries with those of
// administrators before them. It is immutable and for any number of readers.
type Models struct {
	// layers are those of With, the last one first, and the built-in one.
	layers []*layer
	// known has every exact name of every layer, in lower case, with all that
	// the layers say of it put together: the path of requests only looks up.
	known map[string]*known
}

// known is the answer for one exact name.
type known struct {
	answer
	// vendors are the vendors that it differs for.
	vendors []vendorAnswer
}

type vendorAnswer struct {
	vendor string
	answer
}

// answer is a model, and for whom its prices are a list of their own.
type answer struct {
	model Model
	// pricedFor are the vendors whose list the prices are from; nil if they
	// are an administrator's, which hold for every vendor.
	pricedFor []string
}

// Find tells what is known of a model by the name that a provider of the
// vendor receives. vendor is the catalogue's id, or empty; case of the name
// does not count.
//
// Entries match in this order: for the vendor and the name as it is; for the
// vendor and the name without what says where it is served and which build it
// is; the same two without the vendor; patterns, those with more literal
// characters first. What one entry leaves out the next one adds, and every
// entry of With comes before every built-in one. Two things belong together:
// built-in prices are taken from one entry as a whole, and built-in prices of
// long prompts are dropped where an entry above has an input or output price.
//
// It is false if no entry matches.
func (t *Models) Find(vendor, name string) (Model, bool) {
	lower := strings.ToLower(name)
	if k := t.known[lower]; k != nil {
		return k.of(vendor).forVendor(vendor), true
	}
	if lower == "" {
		return Model{}, false
	}
	f := formsOf(lower)
	for _, form := range f.all()[1:] {
		k := t.known[form]
		if k == nil {
			continue
		}
		if short := formsOf(form); t.patternsAdd(vendor, &f, &short) {
			a, _ := t.resolve(vendor, &f, true)
			return a.forVendor(vendor), true
		}
		return k.of(vendor).forVendor(vendor), true
	}
	a, ok := t.resolve(vendor, &f, false)
	return a.forVendor(vendor), ok
}

// patternsAdd tells whether a pattern matches a name as it was sent and not
// without its wrapping. If none does, the answer for the one without is the
// answer, and it is at hand.
func (t *Models) patternsAdd(vendor string, sent, short *forms) bool {
	for _, l := range t.layers {
		for _, head := range sent.heads.all() {
			for _, g := range l.startingLike(head) {
				if g.isFor(vendor) && g.match(sent) && !g.match(short) {
					return true
				}
			}
		}
	}
	return false
}

// With is the table with an administrator's entries before those that it has.
// Names are unique for a vendor: of two the first counts. An empty name, and one
// with a "*" inside, match nothing.
func (t *Models) With(entries []Model) *Models {
	if len(entries) == 0 {
		return t
	}
	l := newLayer(false)
	for i := range entries {
		if entries[i].Name == "" {
			continue
		}
		l.add(&entry{answer: answer{model: entries[i]}}, nil)
	}
	return newModels(append([]*layer{l}, t.layers...))
}

// HostedBy lists the exact names of the entries that are for one vendor only,
// sorted: what is known of a host of other families' models.
func (t *Models) HostedBy(vendor string) []string {
	var names []string
	for _, l := range t.layers {
		for k := range l.exact {
			if k.vendor == vendor && vendor != "" {
				names = append(names, k.name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func newModels(layers []*layer) *Models {
	t := &Models{layers: layers, known: map[string]*known{}}
	var names, vendors []string
	for _, l := range layers {
		l.rank()
		for k := range l.exact {
			names = append(names, k.name)
			vendors = append(vendors, k.vendor)
		}
		for _, g := range l.globs {
			vendors = append(vendors, g.entry.model.Vendor)
		}
	}
	slices.Sort(vendors)
	vendors = slices.Compact(vendors)
	for _, name := range names {
		if t.known[name] == nil {
			t.known[name] = t.precompute(name, vendors)
		}
	}
	return t
}

func (t *Models) precompute(name string, vendors []string) *known {
	f := formsOf(name)
	k := &known{}
	k.answer, _ = t.resolve("", &f, true)
	for _, v := range vendors {
		if v == "" {
			continue
		}
		if a, _ := t.resolve(v, &f, true); a.model != k.model || !slices.Equal(a.pricedFor, k.pricedFor) {
			k.vendors = append(k.vendors, vendorAnswer{v, a})
		}
	}
	return k
}

// of is the answer for a vendor.
func (k *known) of(vendor string) *answer {
	for i := range k.vendors {
		if k.vendors[i].vendor == vendor {
			return &k.vendors[i].answer
		}
	}
	return &k.answer
}

// forVendor is the model with what depends on who asks.
func (a *answer) forVendor(vendor string) Model {
	m := a.model
	m.Estimated = vendor != "" && a.pricedFor != nil && !slices.Contains(a.pricedFor, vendor)
	return m
}

// resolve puts together what all layers say of a name. exact is false if no
// form of it is an exact name of any layer.
func (t *Models) resolve(vendor string, f *forms, exact bool) (answer, bool) {
	var g gathered
	for _, l := range t.layers {
		g.enter(l)
		if exact {
			l.eachExact(vendor, f, g.add)
		}
		g.patterns = true
		l.eachGlob(vendor, f, g.add)
	}
	return g.done()
}

// gathered collects what entries say of one model, from the top down.
type gathered struct {
	answer
	found bool
	// exactly: an administrator wrote an entry for just this model.
	exactly bool
	// patterns, builtIn: what the entries that come are.
	patterns, builtIn bool
	// listed: a built-in entry gave its prices.
	listed bool
}

func (g *gathered) enter(l *layer) { g.builtIn, g.patterns = l.builtIn, false }

func (g *gathered) add(e *entry) {
	m, from := &g.model, &e.model
	if !g.found {
		m.Name, m.Vendor, m.Source, m.Observed = from.Name, from.Vendor, from.Source, from.Observed
		g.found = true
	}
	g.exactly = g.exactly || !g.builtIn && !g.patterns
	if m.Modality == "" {
		m.Modality = from.Modality
	}
	if m.Family == "" {
		m.Family = from.Family
	}
	if m.ContextWindow == 0 {
		m.ContextWindow = from.ContextWindow
	}
	if m.MaxOutputTokens == 0 {
		m.MaxOutputTokens = from.MaxOutputTokens
	}
	if !from.Prices.none() && !g.listed {
		g.addPrices(e)
	}
}

func (g *gathered) addPrices(e *entry) {
	m, from := &g.model, &e.model
	if !m.Prices.main() {
		// A price for long prompts goes with the price that it raises.
		m.Above = from.Above
		if from.Prices.main() {
			m.Source, m.Observed, g.pricedFor = from.Source, from.Observed, e.pricedFor
		}
	}
	m.Prices.fill(&from.Prices)
	g.listed = g.builtIn
}

func (g *gathered) done() (answer, bool) {
	if g.exactly && g.model.Modality == "" {
		g.model.Modality = ModalityChat // the default of RS-MODEL
	}
	return g.answer, g.found
}
