package structure

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// rings says which of our packages a package may import: docs/explanation/
// architecture.md draws it. A package below one of the table follows its rule
// and may import the ones above and below it. "*" is everything; "x/*" what is below x.
// The linter's depguard says the same in .golangci.yml; change both.
var rings = map[string][]string{
	// ring 0: vocabulary
	"internal/llm":      {},
	"internal/resource": {"llm"},
	// ring 1: pure
	"internal/failure":      {"llm"},
	"internal/catalog":      {"failure", "llm"},
	"internal/routing":      {"failure", "llm"},
	"internal/wire":         {"llm"},
	"internal/wire/formats": {"llm", "wire", "wire/*"},
	// ring 2: effects
	"internal/secret":           {},
	"internal/config":           {"resource", "secret"},
	"internal/auth":             {"resource", "routing", "secret"},
	"internal/auth/issuer":      {"auth"},
	"internal/auth/password":    {"secret"},
	"internal/auth/signin":      {"auth", "auth/issuer", "auth/password", "secret", "store"},
	"internal/feed":             {},
	"internal/stats":            {"audit", "llm"},
	"internal/state":            {"failure", "llm", "routing"},
	"internal/state/statetest":  {"failure", "llm", "routing", "state"},
	"internal/h1":               {},
	"internal/upstream":         {"catalog", "failure", "h1", "llm", "resource", "secret"},
	"internal/upstream/drivers": {"resource", "upstream", "upstream/*"},
	"internal/store":            {"llm", "resource"},
	"internal/store/sqlstore":   {"llm", "resource", "store"},
	"internal/store/storetest":  {"llm", "resource", "store"},
	"internal/audit":            {"failure", "llm", "store"},
	"internal/snapshot":         {"auth", "catalog", "failure", "llm", "resource", "routing", "secret", "upstream", "upstream/*"},
	"internal/control":          {"auth", "catalog", "failure", "llm", "resource", "routing", "secret", "snapshot", "store", "upstream", "upstream/*"},
	"internal/dryrun":           {"auth", "catalog", "failure", "llm", "resource", "routing", "secret", "snapshot", "upstream", "wire", "wire/*"},
	// ring 3: surfaces
	"internal/gateway":    {"audit", "auth", "catalog", "failure", "llm", "resource", "routing", "secret", "snapshot", "state", "upstream", "wire", "wire/*"},
	"internal/admin":      {"audit", "auth/password", "auth/signin", "config", "control", "dryrun", "failure", "feed", "llm", "resource", "routing", "secret", "snapshot", "state", "stats", "store", "upstream"},
	"internal/console":    {},
	"internal/firststart": {"catalog", "llm", "resource", "secret", "upstream"},
	// ring 4: wiring
	"internal/app": {"*"},
	"ui":           {},
	"internal/cli": {"*"},
	"cmd":          {"*"},
	// beside the rings
	"internal/fakellm":  {},
	"internal/demo":     {"fakellm", "resource", "secret"},
	"internal/testutil": {"*"},
	"test":              {"*"},
	"bench":             {"*"},
}

// external says which packages may import a module that is not ours. What is
// not listed is for tests only. docs/explanation/dependencies.md says why we
// have each.
var external = map[string][]string{
	"github.com/coreos/go-oidc/v3":       {"internal/auth/issuer", "internal/auth/signin"},
	"golang.org/x/crypto":                {"internal/auth/password"},
	"golang.org/x/oauth2":                {"internal/auth/signin"},
	"golang.org/x/sys":                   {"internal/h1"},
	"golang.org/x/term":                  {"internal/cli"},
	"github.com/go-jose/go-jose/v4":      {"internal/auth/issuer"},
	"github.com/danielgtaylor/huma/v2":   {"internal/admin"},
	"github.com/jmoiron/sqlx":            {"internal/store"},
	"github.com/pressly/goose/v3":        {"internal/store"},
	"modernc.org/sqlite":                 {"internal/store"},
	"github.com/go-json-experiment/json": {"internal/control"},
	"github.com/goccy/go-yaml":           {"internal/config", "internal/catalog"},
	"github.com/klauspost/compress":      {"internal/gateway", "internal/upstream", "internal/fakellm", "internal/store"},
	"github.com/cespare/xxhash/v2":       {"internal/routing"},
	"github.com/spf13/cobra":             {"internal/cli"},
	"github.com/tidwall/gjson":           {"internal/fakellm"},
}

// core packages are pure: no clock, no chance, no input or output.
var core = []string{"internal/routing", "internal/wire", "internal/failure", "internal/catalog"}

// coreForbids are packages that have effects.
var coreForbids = []string{
	"crypto/rand", "database/sql", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec", "plugin", "syscall", "unsafe",
}

// routingStd is all of the standard library that routing imports; anything
// new must be argued for.
var routingStd = []string{
	"cmp", "encoding/json", "errors", "fmt", "hash/fnv", "maps", "math", "slices", "strconv", "strings", "time", "unicode", "unicode/utf8",
}

func TestImportRings(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test {
			continue // tests may reach further
		}
		home, allowed := rule(f.dir)
		if allowed == nil {
			t.Errorf("%s: the package is not in the table of rings; decide its ring", f.path)
			continue
		}
		for _, imp := range f.imports {
			if problem := f.judge(imp, home, allowed); problem != "" {
				t.Errorf("%s imports %s: %s", f.path, imp, problem)
			}
		}
	}
}

// rule finds the entry of a package or of the nearest folder above it.
func rule(dir string) (home string, allowed []string) {
	for home = dir; home != "."; home = path.Dir(home) {
		if allowed, ok := rings[home]; ok {
			return home, allowed
		}
	}
	return "", nil
}

func (f *goFile) judge(imp, home string, allowed []string) string {
	ours, isOurs := strings.CutPrefix(imp, module+"/")
	switch {
	case isOurs && isTestHelper(ours) && !isTestHelper(f.dir) && home != "test" && home != "bench":
		return "it is for tests only"
	case isOurs:
		// What is above and below a package belongs to it; siblings do not.
		if within(ours, f.dir) || within(f.dir, ours) || slices.ContainsFunc(allowed, func(a string) bool { return matches(ours, a) }) {
			return ""
		}
		return "it points outwards; see docs/explanation/architecture.md"
	case !strings.Contains(strings.Split(imp, "/")[0], "."):
		return f.judgeStd(imp)
	}
	for mod, users := range external {
		if within(imp, mod) {
			if slices.ContainsFunc(users, func(u string) bool { return within(f.dir, u) }) || home == "test" || home == "bench" || isTestHelper(f.dir) {
				return ""
			}
			return "only these may: " + strings.Join(users, ", ")
		}
	}
	if home == "test" || home == "bench" || isTestHelper(f.dir) {
		return ""
	}
	return "the module is not in the table of external modules"
}

func (f *goFile) judgeStd(imp string) string {
	switch {
	case within(f.dir, "internal/routing") && !slices.Contains(routingStd, imp):
		return "routing has a strict list of the standard library"
	case slices.ContainsFunc(core, func(c string) bool { return within(f.dir, c) }) && slices.Contains(coreForbids, imp):
		return "the core is pure"
	}
	return ""
}

func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

func matches(ours, allowed string) bool {
	if allowed == "*" {
		return true
	}
	if parent, ok := strings.CutSuffix(allowed, "/*"); ok {
		return strings.HasPrefix(ours, "internal/"+parent+"/")
	}
	return ours == "internal/"+allowed
}

// TestCoreHasNoClock: the time comes in as an argument.
func TestCoreHasNoClock(t *testing.T) {
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}
	for _, f := range goFiles(t) {
		if f.test || !slices.ContainsFunc(core, func(c string) bool { return within(f.dir, c) }) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clock, sel.Sel.Name) {
					t.Errorf("%s uses time.%s; the core takes the time as an argument", f.path, sel.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestRulesCanFail: the checks above would notice.
func TestRulesCanFail(t *testing.T) {
	for _, tc := range []struct{ dir, imp string }{
		{"internal/llm", module + "/internal/wire"},
		{"internal/routing", module + "/internal/resource"},
		{"internal/routing", "context"},
		{"internal/wire/anthropic", "net/http"},
		{"internal/wire/anthropic", module + "/internal/routing"},
		{"internal/wire/anthropic", module + "/internal/wire/openaichat"},
		{"internal/gateway", module + "/internal/config"},
		{"internal/gateway", module + "/internal/app"},
		{"internal/gateway", module + "/internal/testutil/gwtest"},
		{"internal/snapshot", module + "/internal/config"},
		{"internal/auth", module + "/internal/gateway"},
		{"internal/gateway", "github.com/goccy/go-yaml"},
		{"internal/app", "github.com/openai/openai-go/v3"},
	} {
		f := &goFile{dir: tc.dir}
		home, allowed := rule(tc.dir)
		if f.judge(tc.imp, home, allowed) == "" {
			t.Errorf("%s may import %s", tc.dir, tc.imp)
		}
	}
	for _, tc := range []struct{ dir, imp string }{
		{"internal/routing", module + "/internal/failure"},
		{"internal/wire/formats", module + "/internal/wire/anthropic"},
		{"internal/wire/anthropic", module + "/internal/wire"},
		{"internal/app", module + "/internal/config"},
		{"internal/config", "github.com/goccy/go-yaml/ast"},
		{"cmd/interlock", module + "/internal/app"},
	} {
		f := &goFile{dir: tc.dir}
		home, allowed := rule(tc.dir)
		if problem := f.judge(tc.imp, home, allowed); problem != "" {
			t.Errorf("%s may not import %s: %s", tc.dir, tc.imp, problem)
		}
	}
}
