package structure

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/upstream/drivers"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

// The reference pages are written by hand. These tests keep them whole: what
// the code has, the page names in backquotes.

// demoKey is a key for tests of examples.
const demoKey = "ilk_key_of_the_structure_tests"

func TestEverySettingIsDocumented(t *testing.T) {
	page := newPage(t, "docs/reference/configuration.md")
	for _, path := range leaves(reflect.TypeFor[config.Config](), "") {
		page.names(t, path)
	}
}

func TestEveryFieldIsDocumented(t *testing.T) {
	page := newPage(t, "docs/reference/resources.md")
	for _, k := range resource.Kinds() {
		typ := reflect.TypeOf(k.New()).Elem()
		if !strings.Contains(page.text, "\n## "+typ.Name()+"\n") {
			t.Errorf("%s has no section %s", page.path, typ.Name())
			continue
		}
		section := page.section(typ.Name())
		for _, path := range leaves(typ, "") {
			field := path[strings.LastIndexByte(path, '.')+1:]
			if field != "kind" && field != "name" && field != "enabled" {
				section.names(t, field)
			}
		}
	}
}

func TestEveryEndpointIsDocumented(t *testing.T) {
	page := newPage(t, "docs/reference/endpoints.md")
	for _, f := range formats.All() {
		for _, e := range f.Endpoints {
			for _, path := range e.Paths {
				page.names(t, path)
			}
		}
	}
}

func TestEveryCategoryIsDocumented(t *testing.T) {
	page := newPage(t, "docs/reference/failure-categories.md")
	for _, c := range failure.Categories() {
		page.names(t, string(c))
	}
}

func TestEveryVendorIsDocumented(t *testing.T) {
	vendors, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	page := newPage(t, "docs/reference/resources.md").section("Provider")
	for _, id := range vendors.Selectable() {
		page.names(t, id)
	}
}

func TestForwardedHeadersAreDocumented(t *testing.T) {
	page := newPage(t, "docs/reference/headers.md")
	for _, d := range drivers.All() {
		page.names(t, string(d.Type))
		for _, h := range append(d.Forward, d.Query...) {
			page.names(t, h)
		}
	}
}

// TestEveryErrorCodeIsDocumented looks for codes where refusals and errors
// are made: the field of that name, and the second value of a refusal.
func TestEveryErrorCodeIsDocumented(t *testing.T) {
	page := newPage(t, "docs/reference/errors.md")
	found := 0
	for _, f := range goFiles(t) {
		if f.test || !within(f.dir, "internal/gateway") && f.path != "internal/routing/refusal.go" {
			continue
		}
		for _, code := range codes(f.ast) {
			found++
			page.names(t, code)
		}
	}
	if found < 10 {
		t.Errorf("found only %d codes in the code; the search no longer sees them", found)
	}
}

func codes(file *ast.File) []string {
	var out []string
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil && s != "" && !strings.HasSuffix(s, "_") {
				out = append(out, s)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if name, ok := n.Type.(*ast.Ident); ok && name.Name == "refusal" && len(n.Elts) > 1 {
				add(n.Elts[1])
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "code" || key.Name == "Code") {
				add(n.Value)
			}
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "gatewayError" && len(n.Args) > 1 {
				add(n.Args[1])
			}
		}
		return true
	})
	return out
}

// page is a reference page, or a section of one.
type page struct{ path, text string }

func newPage(t *testing.T, path string) page { return page{path, read(t, path)} }

// section is a page from a heading of the second level to the next.
func (p page) section(title string) page {
	_, rest, _ := strings.Cut(p.text, "\n## "+title+"\n")
	text, _, _ := strings.Cut(rest, "\n## ")
	return page{p.path + ", section " + title, text}
}

func (p page) names(t *testing.T, word string) {
	t.Helper()
	for _, form := range []string{"`" + word + "`", "." + word + "`", "[]." + word + "`"} {
		if strings.Contains(p.text, form) {
			return
		}
	}
	t.Errorf("%s does not name `%s`", p.path, word)
}

// leaves lists the JSON paths of a struct's fields. A list or map of structs
// counts as one field and its own fields.
func leaves(typ reflect.Type, prefix string) []string {
	var out []string
	for f := range typ.Fields() {
		ft := f.Type
		for ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			out = append(out, leaves(ft, prefix)...)
		case name == "" || name == "-" || !f.IsExported():
		case ft.Kind() == reflect.Struct && ft.NumField() > 0 && ft.PkgPath() == typ.PkgPath():
			out = append(out, leaves(ft, prefix+name+".")...)
		default:
			out = append(out, prefix+name)
		}
	}
	return out
}

// TestExamplesStart: every configuration under examples, and every one in the
// docs, is one that the program takes.
func TestExamplesStart(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "examples", "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples found (%v)", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(filepath.Dir(f)), func(t *testing.T) { compiles(t, f) })
	}
	for _, md := range markdown(t) {
		for i, block := range yamlBlocks(read(t, md)) {
			text, ok := asConfig(block)
			if !ok {
				continue
			}
			t.Run(md+"#"+strconv.Itoa(i+1), func(t *testing.T) {
				f := filepath.Join(t.TempDir(), "interlock.yaml")
				if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				compiles(t, f)
			})
		}
	}
}

// compiles loads a configuration the way that serve does. Every variable it
// names is set: to a key for keys, to a text that any vendor takes elsewhere.
func compiles(t *testing.T, path string) {
	t.Helper()
	loaded, err := config.Load(config.Options{Path: path, LookupEnv: func(name string) (string, bool) {
		if strings.Contains(name, "INTERLOCK") {
			return demoKey, true
		}
		return "sk-ant-not-a-secret", true
	}})
	if err != nil {
		t.Fatalf("it does not load:\n%v", err)
	}
	if _, err := app.Compile(loaded, 1); err != nil {
		t.Fatalf("it does not compile:\n%v", err)
	}
}

func yamlBlocks(text string) []string {
	var blocks []string
	for _, part := range strings.Split(text, "\n```yaml\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		blocks = append(blocks, block+"\n")
	}
	return blocks
}

// asConfig makes a configuration of a block: one as it is, documents or items
// of resources.inline with what is around them. Other blocks show a part that
// means nothing by itself.
func asConfig(block string) (string, bool) {
	switch {
	case strings.HasPrefix(block, "resources:"), strings.HasPrefix(block, "server:"):
		return block, true
	case strings.HasPrefix(block, "    - kind: Provider"):
		return "resources:\n  inline:\n" + block, true
	}
	return "", false
}
