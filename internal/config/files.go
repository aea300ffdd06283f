package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// resourceFiles lists the files that the globs of resources.files match, each
// once, in the order of the globs and then by name. The configuration file
// itself is left out: ./*.yaml beside it is a natural thing to write.
func (l *loader) resourceFiles() []string {
	if l.decoded.Explains("resources.files") {
		return nil
	}
	dir := filepath.Dir(l.options.Path) // "." if there is none
	var files []string
	for i, pattern := range l.config.Resources.Files {
		at := resource.IndexPath("resources.files", i)
		switch {
		case pattern == "":
			l.setting(resource.CodeInvalid, at, "the pattern is empty; write a file or a glob such as ./resources/*.yaml")
			continue
		case strings.Contains(pattern, "**"):
			l.setting(resource.CodeInvalid, at, "** is not supported; write one * for each level of folders")
			continue
		}
		matches, err := l.options.Glob(rooted(dir, pattern))
		if err != nil {
			l.setting(resource.CodeInvalid, at, "%q is no glob; check its brackets", shortened(pattern))
			continue
		}
		// A glob may wait for its first file; a path that is written out may
		// not.
		if len(matches) == 0 && !strings.ContainsAny(pattern, "*?[") {
			l.setting(resource.CodeInvalid, at, "no file matches %q in the folder %s; check the path", shortened(pattern), dir)
			continue
		}
		slices.Sort(matches)
		for _, m := range matches {
			if !slices.Contains(files, m) && filepath.Clean(m) != filepath.Clean(l.options.Path) {
				files = append(files, m)
			}
		}
	}
	return files
}

// rooted makes a glob relative to a folder, whose own name is no glob.
func rooted(dir, pattern string) string {
	if filepath.IsAbs(pattern) || dir == "." {
		return filepath.Clean(pattern)
	}
	literal := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
	return filepath.Join(literal, pattern)
}

// readProblem says why a file can't be read.
func readProblem(path string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path + " does not exist"
	case errors.Is(err, fs.ErrPermission):
		return path + " may not be read by this user"
	case errors.Is(err, syscall.EISDIR):
		return path + " is a folder, not a file"
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return path + " can't be read: " + err.Error()
}
