package catalog

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"time"
	_ "time/tzdata" // resets at midnight in a zone; a container may have no zone files

	"github.com/goccy/go-yaml"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
)

//go:embed generic.yaml vendors/*.yaml
var embedded embed.FS

// Load parses and checks the embedded files. Call it once, at start-up.
func Load() (*Catalog, error) { return load(embedded) }

func load(files fs.FS) (*Catalog, error) {
	names, err := fs.Glob(files, "vendors/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	c := &Catalog{
		vendors: map[string]*Vendor{}, byType: map[string]*Vendor{},
		vendorTypes: map[string]bool{}, typed: map[typedID]*Vendor{},
	}
	generic, err := c.addGeneric(files)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f, err := readFile(files, name)
		if err != nil {
			return nil, err
		}
		if want := strings.TrimSuffix(path.Base(name), ".yaml"); f.ID != want || f.ID == genericID || len(f.StatusOf) > 0 {
			return nil, fmt.Errorf("catalog: %s: want id %q and no statusOf", name, want)
		}
		classifier, err := generic.Before(f.rows())
		if err != nil {
			return nil, fmt.Errorf("catalog: %s: %w", name, err)
		}
		v, err := c.add(f, classifier)
		if err != nil {
			return nil, fmt.Errorf("catalog: %s: %w", name, err)
		}
		c.vendors[f.ID] = v
	}
	c.index()
	return c, nil
}

// genericID is the entry for providers without a vendor.
const genericID = "generic"

func (c *Catalog) addGeneric(files fs.FS) (*failure.Classifier, error) {
	f, err := readFile(files, "generic.yaml")
	if err != nil {
		return nil, err
	}
	if f.ID != genericID {
		return nil, fmt.Errorf("catalog: generic.yaml: want id %q", genericID)
	}
	classifier, err := failure.Compile(nil, failure.Generic{Signals: f.rows(), StatusOf: f.StatusOf})
	if err != nil {
		return nil, fmt.Errorf("catalog: generic.yaml: %w", err)
	}
	_, err = c.add(f, classifier)
	if err != nil {
		return nil, fmt.Errorf("catalog: generic.yaml: %w", err)
	}
	return classifier, nil
}

// readFile reads the first document of a file and keeps the second, the
// examples, as it is: they are a third of the work and only tests want them.
func readFile(files fs.FS, name string) (*file, error) {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	data, tests, _ := bytes.Cut(b, []byte("\n---\n"))
	f := file{examples: tests}
	if err := yaml.UnmarshalWithOptions(data, &f, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("catalog: %s: %w", name, err)
	}
	return &f, nil
}

// rows are the file's signals under their full names, such as zai/balance.
func (f *file) rows() []failure.Signal {
	rows := make([]failure.Signal, len(f.Signals))
	for i := range f.Signals {
		rows[i] = f.Signals[i].Signal
		rows[i].ID = f.ID + "/" + rows[i].ID
	}
	return rows
}

// add checks one file and takes its provider types.
func (c *Catalog) add(f *file, classifier *failure.Classifier) (*Vendor, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	v := &Vendor{
		ID: f.ID, Title: f.Title, Family: f.Family, DefaultPatterns: f.Patterns, Keyless: f.Keyless,
		Types: f.Types, Env: f.Env, Try: f.Try,
		Signals: f.Signals, formats: f.Formats, classifier: classifier, examples: f.examples,
	}
	for _, typ := range f.Types {
		if _, taken := c.byType[typ]; taken {
			return nil, fmt.Errorf("type %q is taken", typ)
		}
		c.byType[typ] = v
		if f.TakesVendor {
			c.vendorTypes[typ] = true
		}
	}
	return v, nil
}

func (f *file) check() error {
	if f.ID == "" || f.Title == "" || len(f.Formats) == 0 {
		return errors.New("id, title and formats are required")
	}
	if f.TakesVendor && len(f.Types) == 0 {
		return errors.New("takesVendor goes with types")
	}
	if (len(f.Env) > 0) != (f.Try != "") {
		return errors.New("env and try go together")
	}
	if len(f.Patterns) == 0 {
		f.Patterns = []string{"*"}
	}
	for name, spec := range f.Formats {
		if err := spec.check(name); err != nil {
			return fmt.Errorf("format %q: %w", name, err)
		}
	}
	for i := range f.Signals {
		if err := f.checkSignal(&f.Signals[i]); err != nil {
			return fmt.Errorf("signal %q: %w", f.Signals[i].ID, err)
		}
	}
	return nil
}

func (s formatSpec) check(name llm.Format) error {
	switch name {
	case llm.OpenAIChat, llm.OpenAIResponses, llm.AnthropicMessages, llm.Gemini:
	default:
		return errors.New("unknown")
	}
	if s.Header != strings.ToLower(s.Header) {
		return fmt.Errorf("header %q is not lower case", s.Header)
	}
	if s.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(s.BaseURL)
	if err != nil {
		return err
	}
	if u.Host == "" || strings.HasSuffix(s.BaseURL, "/") || (u.Scheme != "https" && u.Hostname() != "localhost") {
		return fmt.Errorf("baseUrl %q: want https (http on localhost only) and no slash at the end", s.BaseURL)
	}
	return nil
}

// checkSignal gives a signal the file's source unless it names its own. Its
// conditions are checked when it is compiled.
func (f *file) checkSignal(s *Signal) error {
	if s.ID == "" || strings.Contains(s.ID, "/") {
		return errors.New("want an id without a slash")
	}
	if s.Source == "" {
		s.Source = f.Source
	}
	if s.Observed == "" {
		s.Observed = f.Observed
	}
	if s.Source == "" {
		return errors.New("no source")
	}
	if _, err := time.Parse(time.DateOnly, s.Observed); err != nil {
		return fmt.Errorf("observed: %w", err)
	}
	return nil
}
