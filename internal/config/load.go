package config

import (
	"errors"

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
	// ReadFile reads a file; nil means os.ReadFile.
	ReadFile func(path string) ([]byte, error)
	// Glob lists files; nil means filepath.Glob.
	Glob func(pattern string) ([]string, error)
}

// Loaded is a configuration that can be used.
type Loaded struct {
	Config *Config
	// Path is the file that was read; empty if there was none.
	Path string
	// Documents are the resources of resources.files and resources.inline,
	// in the order in which they were read.
	Documents []resource.Document
	// Secrets resolves the references in Config and Documents; each has been
	// resolved once during Load.
	Secrets *secret.Resolver
}

// Raw is a part of the file that is kept as it was written.
type Raw struct{}

// Load reads the configuration. Its error is resource.Problems, with places,
// unless the main file can't be read at all.
func Load(o Options) (*Loaded, error) { return nil, errors.New("config: not written yet") }
