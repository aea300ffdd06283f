package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/interlock-gateway/interlock/internal/config/yamldoc"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
)

// Options say what to read and how to look outside. Only Path and Sets matter
// in production; the functions are for tests.
type Options struct {
	// Path is the configuration file; empty means none, which gives the
	// defaults.
	Path string
	// Sets are overrides such as "llmProxy.retry.maxRetries=0", the later
	// ones winning.
	Sets []string
	// LookupEnv looks up an environment variable; nil means os.LookupEnv.
	LookupEnv func(name string) (string, bool)
	// ReadFile reads a file; nil means from the disk, up to a limit.
	ReadFile func(path string) ([]byte, error)
	// Glob lists files; nil means filepath.Glob.
	Glob func(pattern string) ([]string, error)
}

// Loaded is a configuration that can be used.
type Loaded struct {
	Config *Config
	// Path is the file that was read; empty if there was none.
	Path string
	// Documents are the resources of resources.inline and resources.files,
	// in the order in which they were read. Each can locate its fields.
	Documents []resource.Document
	// Secrets resolves the references in Config and Documents; each has been
	// resolved once during Load.
	Secrets *secret.Resolver
}

// Raw is a part of the file that is kept as it was written.
type Raw = yamldoc.Doc

// Load reads the configuration. Its error is resource.Problems: all that could
// be found, with places, in the order of the files. The place of an override
// has "--set" as its file, the number of the override as its line, and the
// column inside it.
func Load(o Options) (*Loaded, error) {
	l := newLoader(o)
	if l.readMain() {
		l.applySets()
		l.checkSettings()
		l.checkNotBuilt()
		l.readDocuments()
		l.checkDuplicates()
		l.resolveSecrets()
	}
	if len(l.problems) > 0 {
		return nil, l.sorted()
	}
	loaded := &Loaded{Config: l.config, Path: o.Path, Secrets: l.secrets}
	for _, d := range l.docs {
		loaded.Documents = append(loaded.Documents, d.Document)
	}
	return loaded, nil
}

// loader is one run of Load.
type loader struct {
	options  Options
	config   *Config
	secrets  *secret.Resolver
	main     *yamldoc.Doc // nil if there is no file, or an empty one
	decoded  *yamldoc.Decoded
	sets     []override
	docs     []*document
	problems resource.Problems
	// order is the place of each file in the report.
	order map[string]int
}

func newLoader(o Options) *loader {
	if o.Glob == nil {
		o.Glob = filepath.Glob
	}
	dir := ""
	if o.Path != "" {
		dir = filepath.Dir(o.Path)
	}
	l := &loader{
		options: o,
		config:  Default(),
		secrets: secret.NewResolver(secret.Options{LookupEnv: o.LookupEnv, ReadFile: o.ReadFile, Dir: dir}),
		decoded: &yamldoc.Decoded{},
		order:   map[string]int{},
	}
	if l.options.ReadFile == nil {
		l.options.ReadFile = readLimited
	}
	l.noteFile(o.Path)
	l.noteFile(SetsFile)
	return l
}

// readLimited reads one byte more than a file may have, so that a device or a
// huge file is refused without being read whole.
func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the administrator names the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, yamldoc.MaxBytes+1))
}

// readMain reads the configuration file, and tells whether it makes sense to
// go on.
func (l *loader) readMain() bool {
	if l.options.Path == "" {
		return true
	}
	src, err := l.options.ReadFile(l.options.Path)
	if err != nil {
		l.problem(resource.Problem{Code: resource.CodeInvalid, Message: "the configuration file " + readProblem(l.options.Path, err)})
		return false
	}
	docs, ps := yamldoc.Parse(l.options.Path, src)
	l.problem(ps...)
	if len(ps) > 0 {
		return false
	}
	if len(docs) == 0 {
		return true
	}
	if kind, ok := docs[0].Text("kind"); ok {
		l.problem(resource.Problem{
			Code: resource.CodeInvalid, Pos: docs[0].Locate("kind"),
			Message: fmt.Sprintf("this is a resource document (kind %s), not a configuration file; name its file in resources.files of one", kind),
		})
		return false
	}
	if len(docs) > 1 {
		l.problem(resource.Problem{
			Code: resource.CodeInvalid, Pos: docs[1].Pos(),
			Message: "a second YAML document begins here, and a configuration file is one; put resource documents in files of their own" +
				" (resources.files) or in the list resources.inline",
		})
	}
	l.main = docs[0]
	l.decoded = l.main.Decode(l.config, "", nil)
	l.problem(l.decoded.Problems...)
	return true
}

// problem notes problems.
func (l *loader) problem(ps ...resource.Problem) { l.problems = append(l.problems, ps...) }

// setting notes what is wrong with a setting, at the place that gave it its
// value, unless a problem that is known explains it.
func (l *loader) setting(code, path, format string, args ...any) {
	if l.decoded.Explains(path) {
		return
	}
	l.problem(resource.Problem{Code: code, Path: path, Message: fmt.Sprintf(format, args...), Pos: l.locate(path)})
}

// locate finds the place that gave a setting its value; nil if that is the
// default and there is no file.
func (l *loader) locate(path string) *resource.Position {
	for _, s := range slices.Backward(l.sets) {
		if yamldoc.Within(path, s.path) {
			return s.locate(path)
		}
	}
	if l.main == nil {
		return nil
	}
	return l.main.Locate(path)
}

// lookUp gives the value of a setting.
func lookUp(c *Config, path string) reflect.Value {
	v, _, _ := yamldoc.Field(reflect.ValueOf(c).Elem(), path)
	return v
}
