// Command gen writes the generated files of package admin:
//
//	gen fields DIR…   the comments of structs, for the OpenAPI document
//	gen openapi FILE  the OpenAPI document
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/interlock-gateway/interlock/internal/admin"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("expected fields DIR… or openapi FILE")
	}
	switch args[0] {
	case "fields":
		return writeFields(args[1:])
	case "openapi":
		b, err := admin.OpenAPI()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(args[1]), 0o755); err != nil { //nolint:gosec // a folder of the repository
			return err
		}
		return os.WriteFile(args[1], b, 0o644) //nolint:gosec // a file of the repository
	}
	return fmt.Errorf("%q is no command", args[0])
}

// writeFields collects the comments of all structs in some folders.
func writeFields(dirs []string) error {
	docs := map[string]string{}
	for _, dir := range append(dirs, ".") {
		notTests := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
		packages, err := parser.ParseDir(token.NewFileSet(), dir, notTests, parser.ParseComments|parser.SkipObjectResolution) //nolint:staticcheck // comments need no types
		if err != nil {
			return err
		}
		for _, p := range packages {
			for _, f := range p.Files {
				collect(docs, p.Name, f)
			}
		}
	}
	b, err := json.MarshalIndent(docs, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile("fielddocs.json", append(b, '\n'), 0o644) //nolint:gosec // a file of the repository
}

func collect(docs map[string]string, pkg string, f *ast.File) {
	for _, d := range f.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, spec := range gen.Specs {
			t, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			s, ok := t.Type.(*ast.StructType)
			if !ok {
				continue
			}
			doc := t.Doc
			if doc == nil {
				doc = gen.Doc
			}
			id := pkg + "." + t.Name.Name
			if fields(docs, id, s) && doc != nil {
				docs[id] = sentence(t.Name.Name, doc.Text())
			}
		}
	}
}

// fields collects the comments of the fields that JSON shows.
func fields(docs map[string]string, id string, s *ast.StructType) (shown bool) {
	for _, f := range s.Fields.List {
		if f.Tag == nil || len(f.Names) != 1 {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			continue
		}
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		shown = true
		text := f.Doc.Text()
		if text == "" {
			text = f.Comment.Text()
		}
		if text != "" {
			docs[id+"."+name] = sentence(f.Names[0].Name, text)
		}
	}
	return shown
}

// sentence makes a comment's first paragraph a description: one line, without
// the Go name in front.
func sentence(goName, text string) string {
	text, _, _ = strings.Cut(text, "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	rest, ok := strings.CutPrefix(text, goName+" ")
	if !ok || strings.HasPrefix(rest, "and ") {
		return text
	}
	for _, verb := range []string{"is ", "are "} {
		rest = strings.TrimPrefix(rest, verb)
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}
