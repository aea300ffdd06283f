package structure

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`!?\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`^#{1,6} +(.+?) *$`)
)

// TestLinksOfTheDocsResolve: relative links in Markdown point to files that
// git knows, and their anchors to headings.
func TestLinksOfTheDocsResolve(t *testing.T) {
	known := map[string]bool{}
	for _, f := range committed(t) {
		for ; f != "."; f = path.Dir(f) {
			known[f] = true
		}
	}
	for _, page := range markdown(t) {
		text := prose(read(t, page))
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // another site
			}
			file := page
			if target != "" {
				file = path.Join(path.Dir(page), target)
			}
			if !known[file] {
				t.Errorf("%s links to %s, which git does not know", page, m[1])
				continue
			}
			if anchor != "" && strings.HasSuffix(file, ".md") && !slices.Contains(anchors(read(t, file)), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
}

// TestEveryPageIsReachable: docs/README.md lists every page of the docs but
// decision records, which have an index of their own.
func TestEveryPageIsReachable(t *testing.T) {
	index := read(t, "docs/README.md")
	for _, page := range markdown(t) {
		rel, ok := strings.CutPrefix(page, "docs/")
		if !ok || rel == "README.md" || strings.HasPrefix(rel, "adr/0") {
			continue
		}
		if !strings.Contains(index, "("+rel+")") {
			t.Errorf("docs/README.md does not list %s", rel)
		}
	}
}

func markdown(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, f := range committed(t) {
		if strings.HasSuffix(f, ".md") && !strings.Contains(f, "testdata/") {
			pages = append(pages, f)
		}
	}
	return pages
}

// prose leaves code out: fenced blocks and spans in backquotes.
func prose(text string) string {
	var out []string
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			out = append(out, span.ReplaceAllString(line, ""))
		}
	}
	return strings.Join(out, "\n")
}

var span = regexp.MustCompile("`[^`]*`")

// anchors are the headings of a page the way that Git hosts name them.
func anchors(text string) []string {
	var out []string
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		m := heading.FindStringSubmatch(line)
		if fenced || m == nil {
			continue
		}
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				b.WriteRune(r)
			case r == ' ':
				b.WriteByte('-')
			}
		}
		out = append(out, b.String())
	}
	return out
}

// TestEveryDependencyHasAReason: a direct dependency is a line in the docs.
func TestEveryDependencyHasAReason(t *testing.T) {
	page := read(t, "docs/explanation/dependencies.md")
	for line := range strings.SplitSeq(read(t, "go.mod"), "\n") {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) < 2 || !strings.HasPrefix(fields[1], "v") || !strings.Contains(fields[0], ".") || strings.Contains(line, "// indirect") {
			continue
		}
		if !strings.Contains(page, "`"+fields[0]+"`") {
			t.Errorf("docs/explanation/dependencies.md does not say why we have %s", fields[0])
		}
	}
}

// TestScriptsAreExecutable: the Makefile and CI call them by name.
func TestScriptsAreExecutable(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join(root, "scripts", "*.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(scripts, filepath.Join(root, ".ci", "run")) {
		info, err := os.Stat(s)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&0o111 == 0 {
			t.Errorf("%s is not executable", s)
		}
	}
}
