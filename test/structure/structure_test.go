// Package structure holds tests of the repository itself: import rings, sizes,
// package comments, links and reference pages of the docs. They need nothing
// but Go, so that `go test ./...` keeps what the linter keeps.
package structure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxLines is the longest file that one concept should need.
const maxLines = 500

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func TestEveryPackageHasAComment(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test || !strings.HasPrefix(f.dir, "internal/") && !strings.HasPrefix(f.dir, "cmd/") {
			continue
		}
		documented[f.dir] = documented[f.dir] || f.ast.Doc != nil && len(f.ast.Doc.Text()) > 20
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no comment that says what it owns; write doc.go", dir)
		}
	}
}

func TestNoFileIsTooLong(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || generated.Match(f.src) {
			continue
		}
		if n := bytes.Count(f.src, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines; at most %d: split it by concept", f.path, n, maxLines)
		}
	}
}

func TestOnlyTestHelpersImportTesting(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || isTestHelper(f.dir) {
			continue
		}
		if slices.Contains(f.imports, "testing") {
			t.Errorf("%s imports testing, so the flags of tests would be in the program; move it to a _test.go file or to testutil", f.path)
		}
	}
}

// isTestHelper: testutil and its parts, and contract suites such as wiretest.
func isTestHelper(dir string) bool {
	return strings.HasPrefix(dir+"/", "internal/testutil/") || strings.HasPrefix(dir, "internal/") && strings.HasSuffix(dir, "test")
}

func TestGoModHasNoReplace(t *testing.T) {
	for _, f := range committed(t) {
		if filepath.Base(f) != "go.mod" {
			continue
		}
		for i, line := range strings.Split(read(t, f), "\n") {
			if strings.HasPrefix(line, "replace") {
				t.Errorf("%s:%d: a replace breaks `go install` of this module by others", f, i+1)
			}
		}
	}
}

// TestNothingNamesTheMachineItWasMadeOn keeps paths and hosts of one machine
// out of the repository.
func TestNothingNamesTheMachineItWasMadeOn(t *testing.T) {
	// In two parts each, so that this file has none of them.
	words := []string{
		"/work" + "/", "/root" + "/", "proxy.golang" + ".org", "sum.golang" + ".org", "goproxy" + ".",
		"registry.npmjs" + ".org", "deb.debian" + ".org", "pypi" + ".org", "crates" + ".io",
	}
	for _, f := range committed(t) {
		info, err := os.Lstat(filepath.Join(root, f))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		b := []byte(read(t, f))
		if !isText(b) {
			continue
		}
		for _, w := range words {
			if before, _, found := bytes.Cut(b, []byte(w)); found {
				t.Errorf("%s:%d holds %q", f, 1+bytes.Count(before, []byte("\n")), w)
			}
		}
	}
}

// verbs are the first words of entries in CHANGELOG.md.
var changelogEntry = regexp.MustCompile(`^- (FEATURE|ENHANCEMENT|BUGFIX|CHANGE): \S`)

func TestChangelog(t *testing.T) {
	text := read(t, "CHANGELOG.md")
	if !strings.Contains(text, "\n## [Unreleased]\n") {
		t.Error("CHANGELOG.md has no section [Unreleased]")
	}
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "- ") && !changelogEntry.MatchString(line) {
			t.Errorf("CHANGELOG.md:%d: an entry starts with FEATURE, ENHANCEMENT, BUGFIX or CHANGE and a colon", i+1)
		}
	}
}

var adrName = regexp.MustCompile(`^docs/adr/(\d{4})-[a-z0-9-]+\.md$`)

func TestDecisionRecords(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "adr", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	index := read(t, "docs/adr/README.md")
	next := 1
	for _, full := range files {
		rel, err := filepath.Rel(root, full)
		if err != nil {
			t.Fatal(err)
		}
		rel = filepath.ToSlash(rel)
		if rel == "docs/adr/README.md" {
			continue
		}
		m := adrName.FindStringSubmatch(rel)
		if m == nil {
			t.Errorf("%s is not named NNNN-title.md", rel)
			continue
		}
		if want := fmt.Sprintf("%04d", next); m[1] != want {
			t.Errorf("%s: number %s is next; numbers have no gaps and are not used twice", rel, want)
		}
		next++
		text := read(t, rel)
		for _, part := range []string{"- Date: ", "- Status: ", "## Context\n", "## Decision\n", "## Consequences\n", "## Alternatives\n"} {
			if !strings.Contains(text, "\n"+part) {
				t.Errorf("%s has no %q", rel, strings.TrimSpace(part))
			}
		}
		if !strings.Contains(index, "("+filepath.Base(rel)+")") {
			t.Errorf("docs/adr/README.md does not list %s", filepath.Base(rel))
		}
	}
	if next == 1 {
		t.Error("docs/adr has no records")
	}
}
