package cli

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// loadConfig reads the configuration that a command line names. What is wrong
// with the command line itself, a file that is not there or an override, is a
// usageError.
func loadConfig(o config.Options) (*config.Loaded, error) {
	if o.Path != "" {
		if _, err := os.Stat(o.Path); errors.Is(err, fs.ErrNotExist) {
			return nil, usagef("the configuration file %s does not exist", o.Path)
		}
	}
	loaded, err := config.Load(o)
	if problems, ok := errors.AsType[resource.Problems](err); ok && !slices.ContainsFunc(problems, func(p resource.Problem) bool {
		return p.Pos == nil || p.Pos.File != config.SetsFile
	}) {
		return nil, usageError{err}
	}
	return loaded, err
}
