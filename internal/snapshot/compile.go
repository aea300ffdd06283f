package snapshot

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/upstream"
)

// Deps are what compiling needs besides the documents.
type Deps struct {
	Catalog *catalog.Catalog
	// Models is the built-in table of models; nil knows none.
	Models  *catalog.Models
	Drivers []*upstream.Driver
	// Resolve turns a secret reference of an object into its value.
	Resolve  Resolve
	Revision uint64
	// Keys are secrets that are not in the documents.
	Keys []KeySecret
	// Revoked are the hashes of secrets that admit nobody, ever.
	Revoked map[[sha256.Size]byte]bool
	// Tolerate says which objects are there already and not part of what is
	// being written. A secret of theirs that can't be read is no problem: the
	// provider is not dialled then. nil: none are.
	Tolerate func(o resource.Object) bool
	// ReadFile reads CA files; nil reads regular files of up to 1 MiB.
	ReadFile func(string) ([]byte, error)
}

// maxCAFile bounds a file of CA certificates; those of a whole operating system
// take a quarter of it.
const maxCAFile = 1 << 20

// Resolve turns a secret reference of an object into its value.
type Resolve func(o resource.Object, ref string) (secret.String, error)

// KeySecret is a secret of a key by its hash.
type KeySecret struct {
	// Hash is SHA-256 of the secret.
	Hash [32]byte
	// Key is the name of the key.
	Key string
	// Ends is when the secret stops working; zero is never.
	Ends time.Time
}

// compiler carries one compilation.
type compiler struct {
	Deps
	docs      []resource.Document
	problems  resource.Problems
	known     map[resource.Ref]resource.Object // every object there is
	providers map[string]*routing.Provider     // enabled ones
	live      *Live
	config    routing.Config
}

// Compile makes a Live from all documents, or says everything that is wrong
// with them.
func Compile(docs []resource.Document, d Deps) (*Live, resource.Problems) {
	if d.ReadFile == nil {
		d.ReadFile = func(path string) ([]byte, error) { return secret.ReadFile(path, maxCAFile) }
	}
	c := &compiler{
		Deps: d, docs: docs, known: map[resource.Ref]resource.Object{}, providers: map[string]*routing.Provider{},
		live:   &Live{Revision: d.Revision, Targets: map[routing.ProviderID]*upstream.Target{}},
		config: routing.Config{Revision: d.Revision, UnknownModelStatus: 503},
	}
	for _, doc := range docs {
		for _, p := range slices.Concat(doc.Object.Check(), resource.NotBuilt(doc.Object)) {
			if p.Kept && !c.written(doc) {
				c.live.Warnings = append(c.live.Warnings, c.place(doc, p))
				continue
			}
			c.report(doc, p)
		}
		for _, p := range resource.Warnings(doc.Object) {
			c.live.Warnings = append(c.live.Warnings, c.place(doc, p))
		}
	}
	c.names()
	c.references()
	c.settings()
	c.compileProviders()
	c.compileRoutes()
	c.config.Families = c.families()
	c.models()
	c.keys()
	c.users()
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	c.live.Routing = routing.Build(c.config)
	return c.live, nil
}

// report adds a problem with its object and place filled in.
func (c *compiler) report(doc resource.Document, p resource.Problem) {
	c.problems = append(c.problems, c.place(doc, p))
}

// warn adds a warning.
func (c *compiler) warn(doc resource.Document, code, path, format string, args ...any) {
	c.live.Warnings = append(c.live.Warnings, c.place(doc, resource.Problem{Code: code, Path: path, Message: fmt.Sprintf(format, args...)}))
}

// place fills in the object and place of a problem.
func (c *compiler) place(doc resource.Document, p resource.Problem) resource.Problem {
	if p.Object.Name == "" {
		p.Object = refOf(doc.Object)
	}
	if p.Pos == nil && doc.Locate != nil {
		p.Pos = doc.Locate(p.Path)
	}
	return p
}

func (c *compiler) problem(doc resource.Document, code, path, format string, args ...any) {
	c.report(doc, resource.Problem{Code: code, Path: path, Message: fmt.Sprintf(format, args...)})
}

func refOf(o resource.Object) resource.Ref {
	return resource.Ref{Kind: o.Head().Kind, Name: o.Head().Name}
}

// each calls f for every document of a kind.
func each[T resource.Object](c *compiler, f func(doc resource.Document, o T)) {
	for _, doc := range c.docs {
		if o, ok := doc.Object.(T); ok {
			f(doc, o)
		}
	}
}

// names checks that names are unique: by kind, and providers and routes in
// one space (RS-PROV-3).
func (c *compiler) names() {
	seen := map[string]resource.Document{}
	for _, doc := range c.docs {
		ref := refOf(doc.Object)
		c.known[resource.NameKey(ref)] = doc.Object
		space := ref.Kind
		if space == "Provider" || space == "Route" {
			space = "upstream"
			if ref.Name == "anthropic-family" || ref.Name == "openai-family" {
				c.problem(doc, "name_taken", "name", "the name %q is reserved for a route that Interlock adds itself; choose another", ref.Name)
			}
		}
		key := space + "\x00" + resource.NameKey(ref).Name
		other, taken := seen[key]
		if !taken {
			seen[key] = doc
			continue
		}
		c.nameTaken(other, doc, space)
	}
}

// nameTaken reports that two documents have one name, at the one that is being
// written.
func (c *compiler) nameTaken(first, doc resource.Document, space string) {
	if c.written(first) && !c.written(doc) {
		first, doc = doc, first
	}
	ref, other := refOf(doc.Object), refOf(first.Object)
	if ref.Kind == "Model" && !c.written(doc) { // of a database that is older than the rule
		c.warn(doc, "no_effect", "name", "it does nothing: %s has the same name, and case does not count in names of models; delete one of them", other)
		return
	}
	c.report(doc, resource.Problem{
		Code: "name_taken", Path: "name", Refs: []resource.Ref{other},
		Message: fmt.Sprintf("the name %q is taken by %s%s; choose another", ref.Name, other, shared(space)),
	})
}

func shared(space string) string {
	switch {
	case space == "upstream":
		return " (providers and routes share one name space)"
	case resource.FoldsCase(space):
		return " (case does not count)"
	}
	return ""
}

// written tells whether a document is one that the change makes or alters. What
// is wrong between two objects is reported at the one that is being written.
func (c *compiler) written(doc resource.Document) bool {
	return c.Tolerate == nil || !c.Tolerate(doc.Object)
}

// references checks that what an object names is there.
func (c *compiler) references() {
	for _, doc := range c.docs {
		for _, r := range resource.Refs(doc.Object) {
			if c.known[resource.NameKey(r.Ref)] == nil && !r.Weak {
				c.problem(doc, "missing_reference", r.Path, "there is no %s %q; create it, or take it out here", strings.ToLower(r.Ref.Kind), r.Ref.Name)
			}
		}
	}
}

func (c *compiler) settings() {
	each(c, func(_ resource.Document, s *resource.Settings) {
		if s.UnknownModelStatus != 0 {
			c.config.UnknownModelStatus = s.UnknownModelStatus
		}
		c.config.GlobalPassthrough = s.GlobalPassthrough
		c.config.Data = dataHandling(s.RequireDataHandling)
		c.live.Callers.Anonymous = s.AllowAnonymousPassthrough
	})
}

// residencies are the values that providers may name.
func (c *compiler) residencies() []string {
	known := []string{"on-prem", "eu", "us", "global"}
	each(c, func(_ resource.Document, s *resource.Settings) { known = append(known, s.Residencies...) })
	return known
}

// lookUp finds an object by kind and name.
func lookUp[T resource.Object](c *compiler, kind, name string) (T, bool) {
	o, ok := c.known[resource.NameKey(resource.Ref{Kind: kind, Name: name})].(T)
	return o, ok
}
