package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/config/yamldoc"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
)

// documentSet is everything that a list of files says, as one set.
type documentSet struct {
	// files are all that were read, those too that a configuration file names.
	files []string
	// configs are the configuration files among them.
	configs  []string
	docs     []resource.Document
	problems resource.Problems
	warnings resource.Problems
	// incomplete: something could not be read, so that what refers to it
	// would look wrong.
	incomplete bool
	// secrets resolve references as the first configuration file has it.
	secrets *secret.Resolver
	order   map[string]int
	// live is what the documents compile to; nil before that, or with problems.
	live *snapshot.Live
}

// setReader reads a documentSet.
type setReader struct {
	set *documentSet
	// resolve: references must have values; else they only have a form.
	resolve bool
	read    func(string) ([]byte, error)
	texts   map[string][]byte // by absolute path
	loaded  map[string]bool   // files that a configuration file brought in
}

// readSet reads files, each by itself: resources, and the resources that
// configuration files name. It fails if a file can't be read at all.
func (e *environment) readSet(args []string, resolve bool) (*documentSet, error) {
	files, err := listFiles(args)
	if err != nil {
		return nil, err
	}
	r := &setReader{set: &documentSet{order: map[string]int{}}, resolve: resolve, read: e.readFile, texts: map[string][]byte{}, loaded: map[string]bool{}}
	for _, name := range files {
		r.note(name)
		src, err := r.read(name)
		if err != nil {
			return nil, fmt.Errorf("read the files: %w", err)
		}
		r.texts[absolute(name)] = src
		if isConfiguration(name, src) {
			r.set.configs = append(r.set.configs, name)
		}
	}
	for _, name := range r.set.configs {
		if err := r.configuration(name); err != nil {
			return nil, err
		}
	}
	for _, name := range files {
		if !slices.Contains(r.set.configs, name) && !r.loaded[absolute(name)] {
			r.documents(name)
		}
	}
	r.set.findDuplicates()
	r.set.findWarnings()
	return r.set, nil
}

// isConfiguration tells a configuration file from one of resource documents,
// which have a kind. Without one, a name says what it was meant to be.
func isConfiguration(name string, src []byte) bool {
	docs, _ := yamldoc.Parse(name, src)
	if len(docs) == 0 || splitJSON(src) != nil {
		return false
	}
	return !slices.ContainsFunc(docs, func(d *yamldoc.Doc) bool { return has(d, "kind") }) && !has(docs[0], "name")
}

// has tells whether a document has a field with a value.
func has(d *yamldoc.Doc, field string) bool { return *d.Locate(field) != *d.Pos() }

// configuration reads a configuration file and what it names.
func (r *setReader) configuration(name string) error {
	o := newStandIns(filepath.Dir(name)).options(name, r.text, r.resolve)
	o.Glob = func(pattern string) ([]string, error) {
		found, err := filepath.Glob(pattern)
		if len(found) == 0 && strings.ContainsAny(pattern, "*?[") {
			r.unmatched(name, pattern)
		}
		return found, err
	}
	loaded, err := config.Load(o)
	var problems resource.Problems
	switch {
	case errors.As(err, &problems):
		r.set.problems = append(r.set.problems, problems...)
		r.set.incomplete = true
		return nil
	case err != nil:
		return err
	}
	if r.set.secrets == nil {
		r.set.secrets = loaded.Secrets
	}
	r.set.docs = append(r.set.docs, loaded.Documents...)
	return nil
}

// unmatched warns of a glob of a configuration file that matches no file.
func (r *setReader) unmatched(name, pattern string) {
	p := resource.Problem{Code: resource.CodeInvalid, Path: "resources.files", Message: fmt.Sprintf("no file matches %q", pattern)}
	if docs, _ := yamldoc.Parse(name, r.texts[absolute(name)]); len(docs) > 0 {
		p.Pos = docs[0].Locate(p.Path)
	}
	r.set.warnings = append(r.set.warnings, p)
}

// text reads a file for a configuration file, and notes that it did.
func (r *setReader) text(path string) ([]byte, error) {
	key := absolute(path)
	src, known := r.texts[key]
	if !known {
		var err error
		if src, err = r.read(path); err != nil {
			return nil, err
		}
		r.texts[key] = src
	}
	r.loaded[key] = true
	r.note(path)
	return src, nil
}

// documents reads a file of resource documents.
func (r *setReader) documents(name string) {
	docs, problems := readDocuments(name, r.texts[absolute(name)])
	r.set.docs = append(r.set.docs, docs...)
	r.set.problems = append(r.set.problems, problems...)
	for _, p := range problems {
		if p.Object.Name == "" { // nobody can tell what refers to it
			r.set.incomplete = true
		}
	}
}

// note gives a file its place in the order of problems.
func (r *setReader) note(path string) {
	key := absolute(path)
	if _, known := r.set.order[key]; !known {
		r.set.order[key] = len(r.set.order)
		r.set.files = append(r.set.files, path)
	}
}

// findDuplicates refuses a second document of the same kind and name, and takes
// it out of the set.
func (s *documentSet) findDuplicates() {
	first := map[resource.Ref]resource.Document{}
	s.docs = slices.DeleteFunc(s.docs, func(d resource.Document) bool {
		ref := refOf(d.Object)
		if ref.Name == "" {
			return false
		}
		key := resource.NameKey(ref)
		other, twice := first[key]
		if !twice {
			first[key] = d
			return false
		}
		s.problems = append(s.problems, resource.Problem{
			Code: resource.CodeNameTaken, Object: ref, Path: "name", Pos: d.Locate("name"), Refs: []resource.Ref{refOf(other.Object)},
			Message: fmt.Sprintf("there is another %s of this name at %s; rename or remove one", ref.Kind, other.Locate("name")),
		})
		return true
	})
}

// findWarnings warns of secrets that are written out, and of what is kept and
// does nothing.
func (s *documentSet) findWarnings() {
	for _, d := range s.docs {
		for _, p := range resource.Warnings(d.Object) {
			p.Object, p.Pos = refOf(d.Object), d.Locate(p.Path)
			s.warnings = append(s.warnings, p)
		}
		for _, r := range resource.SecretRefs(d.Object) {
			if resource.IsLiteralSecret(r.Ref) && resource.CheckSecretRef(r.Ref) == nil {
				s.warnings = append(s.warnings, resource.Problem{
					Code: resource.CodeSecret, Object: refOf(d.Object), Path: r.Path, Pos: d.Locate(r.Path),
					Message: "the secret itself is written here; write env:NAME or file:PATH, so that it is not in the file",
				})
			}
		}
	}
}

func refOf(o resource.Object) resource.Ref {
	return resource.Ref{Kind: o.Head().Kind, Name: o.Head().Name}
}

// compile checks the documents as a whole, as a server does.
func (s *documentSet) compile(resolve bool) error {
	if s.incomplete {
		return nil
	}
	secrets := s.secrets
	if !resolve || secrets == nil {
		secrets = secret.NewResolver(s.secretOptions(resolve))
	}
	live, err := app.Compile(&config.Loaded{Config: config.Default(), Documents: s.docs, Secrets: secrets}, 0)
	if err == nil {
		s.live = live
		s.warn(live.Warnings)
		return nil
	}
	var found resource.Problems
	if !errors.As(err, &found) {
		return err
	}
	explained := map[resource.Ref]bool{}
	for _, p := range s.problems {
		explained[p.Object] = true
	}
	for _, p := range found {
		switch {
		case explained[p.Object]: // it was checked by itself, with better words
		case !resolve && p.Path == "caFile" && s.elsewhere(p.Object):
			p.Message += "; it was not checked, since it may be on the server only"
			s.warnings = append(s.warnings, p)
		default:
			s.problems = append(s.problems, p)
		}
	}
	return nil
}

// warn adds warnings that are not there yet.
func (s *documentSet) warn(more resource.Problems) {
	for _, p := range more {
		if !slices.ContainsFunc(s.warnings, func(q resource.Problem) bool { return p.Error() == q.Error() }) {
			s.warnings = append(s.warnings, p)
		}
	}
}

// secretOptions say how the references of loose documents are resolved.
func (s *documentSet) secretOptions(resolve bool) secret.Options {
	if resolve {
		return secret.Options{}
	}
	stand := newStandIns("")
	for _, d := range s.docs {
		stand.learn(d.Object)
	}
	return secret.Options{LookupEnv: stand.lookupEnv, ReadFile: stand.readFile}
}

// elsewhere tells whether the CA file of a provider is not on this machine.
func (s *documentSet) elsewhere(ref resource.Ref) bool {
	for _, d := range s.docs {
		if p, ok := d.Object.(*resource.Provider); ok && refOf(p) == ref {
			_, err := os.Stat(p.CAFile)
			return errors.Is(err, os.ErrNotExist)
		}
	}
	return false
}
