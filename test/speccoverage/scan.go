package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// findings are the ids that tests name.
type findings struct {
	named   map[string]bool
	unknown []unknown
}

// unknown is an id that a test names and the page does not have.
type unknown struct{ id, place string }

// idLike finds what looks like an id: two capitals and segments of capitals
// and digits. A word in a test's name is no segment, since it has small
// letters.
var idLike = regexp.MustCompile(`\b[A-Z]{2}(-[A-Z0-9]+[a-z]?)*\b`)

// title finds the first argument of a browser test or a group of them.
var title = regexp.MustCompile("\\b(?:test|it|describe)(?:\\.\\w+)*\\(\\s*(?:'([^']*)'|\"([^\"]*)\"|`([^`]*)`)")

func scan(root string, p *page) (*findings, error) {
	f := &findings{named: map[string]bool{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "bin") ||
				path == filepath.Join(root, "test", "speccoverage") {
				return filepath.SkipDir
			}
			return nil
		}
		switch {
		case strings.HasSuffix(name, "_test.go"):
			return f.goFile(path, p)
		case strings.HasSuffix(name, ".txtar"):
			return f.textFile(path, p, scenarioHead)
		case strings.HasSuffix(name, ".test.mjs"):
			return f.textFile(path, p, titles)
		}
		return nil
	})
	return f, err
}

// goFile reads names of tests and fuzz targets, and every string literal:
// subtests and table rows are literals, comments are not.
func (f *findings) goFile(path string, p *page) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil {
				f.text(testName(n.Name.Name), path, p)
			}
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if s, err := strconv.Unquote(n.Value); err == nil {
					f.text(s, path, p)
				}
			}
		}
		return true
	})
	return nil
}

// testName turns TestRT_PICK_1_fails_closed into RT-PICK-1-fails-closed; it is
// empty for a function that is not run as a test.
func testName(name string) string {
	for _, prefix := range []string{"Test", "Fuzz"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return strings.ReplaceAll(rest, "_", "-")
		}
	}
	return ""
}

func (f *findings) textFile(path string, p *page, part func(string) string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f.text(part(string(b)), path, p)
	return nil
}

// scenarioHead is the comment of a txtar archive: all before its first file.
func scenarioHead(s string) string {
	if strings.HasPrefix(s, "-- ") {
		return ""
	}
	head, _, _ := strings.Cut(s, "\n-- ")
	return head
}

func titles(s string) string {
	var b strings.Builder
	for _, m := range title.FindAllStringSubmatch(s, -1) {
		b.WriteString(m[1] + m[2] + m[3] + "\n")
	}
	return b.String()
}

func (f *findings) text(s, path string, p *page) {
	for _, m := range idLike.FindAllStringIndex(s, -1) {
		id, known := resolve(s[m[0]:m[1]], p)
		if len(id) == 2 && m[0] > 0 {
			continue // two capitals may be any word; as an id they come first
		}
		switch {
		case known:
			f.named[id] = true
		case id != "":
			f.unknown = append(f.unknown, unknown{id, filepath.ToSlash(path)})
		}
	}
}

// resolve finds the longest id that at starts with: in RT-PICK-1-A the last
// segment is a word of the test's name. A rest that starts with a digit is no
// such word, so RT-PICK-7 is an unknown id rather than RT-PICK; ids of two
// letters have no numbers of their own. What starts like no id gives "".
func resolve(at string, p *page) (id string, known bool) {
	for id = at; ; {
		if p.known[id] {
			rest := strings.TrimPrefix(at[len(id):], "-")
			if len(id) > 2 && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
				return at, false
			}
			return id, true
		}
		cut := strings.LastIndexByte(id, '-')
		if cut < 0 {
			return "", false
		}
		id = id[:cut]
	}
}
