package structure

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/interlock-gateway/interlock"
)

// goFile is one source file of the main module.
type goFile struct {
	dir, path string // slashes, relative to the root
	test      bool
	src       []byte
	ast       *ast.File
	imports   []string
}

// goFiles parses every Go file of the main module. Modules of their own
// (tools, bench/floor) have their own rules.
func goFiles(t *testing.T) []*goFile {
	t.Helper()
	var out []*goFile
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (ignoredDir(d.Name()) || exists(filepath.Join(path, "go.mod"))) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parseGo(fset, path)
		if err != nil {
			return err
		}
		out = append(out, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatal("no Go files found")
	}
	return out
}

func parseGo(fset *token.FileSet, path string) (*goFile, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	f := &goFile{
		path: filepath.ToSlash(rel), dir: filepath.ToSlash(filepath.Dir(rel)),
		test: strings.HasSuffix(path, "_test.go"), src: src, ast: parsed,
	}
	for _, spec := range parsed.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		f.imports = append(f.imports, p)
	}
	return f, nil
}

func ignoredDir(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"testdata", "node_modules", "bin", "data"}, name)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// committed lists the files that git knows, as paths relative to the root.
func committed(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("git ls-files: %v; this check needs a clone", err)
	}
	var files []string
	for f := range strings.SplitSeq(string(out), "\x00") {
		if f != "" && exists(filepath.Join(root, f)) { // deleted, not yet committed
			files = append(files, f)
		}
	}
	return files
}

func read(t *testing.T, rel string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, rel))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func isText(b []byte) bool { return !bytes.Contains(b[:min(len(b), 8000)], []byte{0}) }
