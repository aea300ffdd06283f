package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/config/yamldoc"
)

// stdinName is what standard input is called in places.
const stdinName = "stdin"

// listFiles turns arguments into files, each once: a file as it is, the YAML
// files of a folder and of the folders in it, what a glob matches, and - for
// standard input.
func listFiles(args []string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	add := func(paths ...string) {
		for _, p := range paths {
			if key := absolute(p); !seen[key] {
				seen[key] = true
				out = append(out, p)
			}
		}
	}
	for _, arg := range args {
		if arg == "-" {
			add(stdinName)
			continue
		}
		info, err := os.Stat(arg)
		switch {
		case err == nil && info.IsDir():
			found, err := folderFiles(arg)
			if err != nil {
				return nil, err
			}
			add(found...)
		case err == nil:
			add(arg)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, usageError{err}
		default:
			found, err := globFiles(arg)
			if err != nil {
				return nil, err
			}
			add(found...)
		}
	}
	return out, nil
}

// folderFiles lists the YAML files in a folder, by name. What begins with a dot
// is left out: it belongs to other tools.
func folderFiles(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch hidden := path != dir && strings.HasPrefix(d.Name(), "."); {
		case err != nil:
			return err
		case d.IsDir() && hidden:
			return filepath.SkipDir
		case !d.IsDir() && !hidden && isYAML(path):
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the folder %s: %w", dir, err)
	}
	if len(out) == 0 {
		return nil, usagef("the folder %s holds no .yaml or .yml file", dir)
	}
	return out, nil
}

func isYAML(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".yaml" || ext == ".yml"
}

func globFiles(pattern string) ([]string, error) {
	found, err := filepath.Glob(pattern)
	switch {
	case err != nil:
		return nil, usagef("%q is no file and no glob; check its brackets", pattern)
	case len(found) == 0 && strings.ContainsAny(pattern, "*?["):
		return nil, usagef("no file matches %q", pattern)
	case len(found) == 0:
		return nil, usagef("%s does not exist", pattern)
	}
	slices.Sort(found)
	return slices.DeleteFunc(found, func(p string) bool {
		info, err := os.Stat(p)
		hidden := strings.HasPrefix(filepath.Base(p), ".") && !strings.HasPrefix(filepath.Base(pattern), ".")
		return hidden || err == nil && info.IsDir()
	}), nil
}

// absolute is the same for all ways to write a path.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// readFile reads a file, or standard input, up to a byte more than a file may
// have: the reader of YAML says that it is too large.
func (e *environment) readFile(name string) ([]byte, error) {
	from := e.in
	if name != stdinName {
		f, err := os.Open(name) //nolint:gosec // the user names the file
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		from = f
	}
	return io.ReadAll(io.LimitReader(from, yamldoc.MaxBytes+1))
}
