package catalog

import (
	"errors"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
)

// Catalog is the parsed and checked vendor data. It is read-only.
type Catalog struct{}

// Load parses the embedded vendor files.
func Load() (*Catalog, error) { return nil, errors.New("catalog: not built yet") }

// Vendor looks up one vendor.
func (c *Catalog) Vendor(id string) (*Vendor, bool) { return nil, false }

// IDs lists all vendors, sorted.
func (c *Catalog) IDs() []string { return nil }

// Selectable lists the vendors that a provider may name in its vendor field,
// sorted.
func (c *Catalog) Selectable() []string { return nil }

// ForProvider finds the entry of a provider of this type and vendor field.
func (c *Catalog) ForProvider(typ, vendor string) (*Vendor, error) {
	return nil, errors.New("catalog: not built yet")
}

// Vendor is one entry.
type Vendor struct {
	ID     string
	Title  string
	Family llm.Family
	// DefaultPatterns are what the implicit route of a provider serves.
	DefaultPatterns []string
	// Keyless: the vendor serves without a key.
	Keyless bool
}

// Auth is how a key is sent: header name (lower case) and what stands before
// the key in its value.
type Auth struct {
	Header string
	Prefix string
}

// BaseURL is where the vendor serves a format, without the format's own path
// (/chat/completions; /v1/messages); empty if it does not, or if the URL
// depends on the provider's settings.
func (v *Vendor) BaseURL(format llm.Format) string { return "" }

// Auth is how the vendor wants its key on that format.
func (v *Vendor) Auth(format llm.Format) Auth { return Auth{} }

// FamilyFor and PatternsFor are Family and DefaultPatterns of a provider that
// is set to one format: they differ at vendors that host several families.
func (v *Vendor) FamilyFor(format llm.Format) llm.Family { return v.Family }

// PatternsFor is described at FamilyFor.
func (v *Vendor) PatternsFor(format llm.Format) []string { return v.DefaultPatterns }

// Classifier maps this vendor's answers to failures.
func (v *Vendor) Classifier() *failure.Classifier { return nil }

// ClassifierWith is Classifier with an administrator's rows before the
// vendor's own.
func (v *Vendor) ClassifierWith(extra []failure.Signal) (*failure.Classifier, error) {
	return nil, nil
}
