package catalog

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
)

// Vendor is one entry of the catalogue. It is read-only.
type Vendor struct {
	ID    string
	Title string
	// Types are the provider types that the entry serves by itself.
	Types []string
	// Family is empty for a host of many families.
	Family llm.Family
	// DefaultPatterns are what the implicit route of a provider serves.
	DefaultPatterns []string
	// Keyless: the vendor serves without a key.
	Keyless bool
	// Env are the environment variables in which the vendor's own tools look
	// for its key, the usual one first.
	Env []string
	// Try is a cheap model for a first request; a vendor with Env has one.
	Try string
	// Signals are the vendor's own rows, without the generic ones.
	Signals []Signal

	formats    map[llm.Format]formatSpec
	classifier *failure.Classifier
	examples   []byte // YAML
}

// Auth is how a key is sent: the header's name in lower case, and what stands
// before the key in its value.
type Auth struct {
	Header string
	Prefix string
}

// Serves says whether the vendor speaks the format.
func (v *Vendor) Serves(format llm.Format) bool {
	_, ok := v.formats[format]
	return ok
}

// Formats lists the formats that the vendor speaks, sorted.
func (v *Vendor) Formats() []llm.Format {
	list := make([]llm.Format, 0, len(v.formats))
	for f := range v.formats {
		list = append(list, f)
	}
	slices.Sort(list)
	return list
}

// BaseURL is where the vendor serves a format, without the format's own path:
// openai-chat appends /chat/completions, openai-responses /responses,
// anthropic-messages /v1/messages, gemini /models/.... It is empty if the
// vendor does not speak the format, or if the URL depends on the provider's
// settings.
func (v *Vendor) BaseURL(format llm.Format) string { return v.formats[format].BaseURL }

// Auth is how the vendor wants its key on that format; zero if it does not
// speak it or if requests are signed in another way.
func (v *Vendor) Auth(format llm.Format) Auth {
	f := v.formats[format]
	return Auth{Header: f.Header, Prefix: f.Prefix}
}

// FamilyFor is the family of a provider that is set to one format. It differs
// from Family at vendors that host one family for each format.
func (v *Vendor) FamilyFor(format llm.Format) llm.Family {
	if f := v.formats[format].Family; f != llm.FamilyNone {
		return f
	}
	return v.Family
}

// PatternsFor is DefaultPatterns of a provider that is set to one format.
func (v *Vendor) PatternsFor(format llm.Format) []string {
	if p := v.formats[format].Patterns; len(p) > 0 {
		return p
	}
	return v.DefaultPatterns
}

// Classifier maps this vendor's answers to failures.
func (v *Vendor) Classifier() *failure.Classifier { return v.classifier }

// ClassifierWith is Classifier with an administrator's rows before the
// vendor's own (BY-8).
func (v *Vendor) ClassifierWith(extra []failure.Signal) (*failure.Classifier, error) {
	return v.classifier.Before(extra)
}

// Examples are the file's example answers: each of its signals has one.
func (v *Vendor) Examples() ([]Example, error) {
	var doc examples
	if err := yaml.UnmarshalWithOptions(v.examples, &doc, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("catalog: examples of %s: %w", v.ID, err)
	}
	return doc.Tests, nil
}
