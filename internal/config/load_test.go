package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// sameConfig compares configurations; documents are compared elsewhere.
func sameConfig(a, b *config.Config) string {
	return cmp.Diff(a, b, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(config.Resources{}, "Inline"))
}

func TestLoad_without_a_file_gives_the_defaults(t *testing.T) {
	got, err := config.Load(config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := sameConfig(config.Default(), got.Config); diff != "" {
		t.Error(diff)
	}
	if got.Path != "" || len(got.Documents) > 0 || got.Secrets == nil {
		t.Errorf("got %+v", got)
	}
}

func TestCF1_main_file(t *testing.T) {
	t.Run("CF-1 a file that is not there", func(t *testing.T) {
		_, err := config.Load(fakeOS{}.options("conf/none.yaml"))
		if got := err.Error(); got != "the configuration file conf/none.yaml does not exist" {
			t.Error(got)
		}
		problemsOf(t, err)
	})
	t.Run("CF-1 a file that may not be read", func(t *testing.T) {
		o := fakeOS{}.options("x.yaml")
		o.ReadFile = func(string) ([]byte, error) {
			return nil, &fs.PathError{Op: "open", Path: "x.yaml", Err: fs.ErrPermission}
		}
		if _, err := config.Load(o); err == nil || !strings.Contains(err.Error(), "may not be read") {
			t.Error(err)
		}
	})
	for name, src := range map[string]string{
		"empty": "", "comments": "# a\n", "null": "null\n", "a separator": "---\n", "a byte order mark": "\ufeff", "braces": "{}", "spaces": "  \n\n",
	} {
		t.Run("CF-1 "+name+" means the defaults", func(t *testing.T) {
			got, err := loadText(t, src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := sameConfig(config.Default(), got.Config); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, c := range []struct{ name, src, want string }{
		{"a tab", "server:\n\tlisten: x\n", "interlock.yaml:2:1: the line is indented with a tab"},
		{"Latin-1", "# \xe5\n", "interlock.yaml:1:3: the file is not UTF-8"},
		{"columns count characters after a byte order mark", "\ufeffserver: {å: 1}\n", `interlock.yaml:1:10: server["å"]: unknown key "å"`},
		{"windows line ends", "# x\r\nserver:\r\n  # y\r\n  drainSeconds: x\r\n", "interlock.yaml:4:17: server.drainSeconds: expected a whole number"},
		{"an anchor bomb", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", `interlock.yaml:1:4: "&a" begins with &`},
	} {
		t.Run("CF-1 "+c.name, func(t *testing.T) {
			_, err := loadText(t, c.src)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestCF1_addresses(t *testing.T) {
	for _, addr := range []string{":8080", "127.0.0.1:0", "localhost:80", "[::1]:8080", "[fe80::1%eth0]:1", "0.0.0.0:65535", "my-host.example:443"} {
		if _, err := loadText(t, "server: {listen: '"+addr+"'}"); err != nil {
			t.Errorf("CF-1 %s: %v", addr, err)
		}
	}
	for addr, say := range map[string]string{
		"": "host:port", "8080": "write 127.0.0.1:8080", "localhost": "host:port", "localhost:": "0 to 65535", "::1:80": "in brackets",
		"http://localhost:80": "a URL", "localhost:http": "0 to 65535", "localhost:65536": "0 to 65535", "localhost:-1": "0 to 65535",
		"localhost:+1": "0 to 65535", "ho st:80": "host name", "-x:80": "host name", "[zz]:80": "host name",
	} {
		_, err := loadText(t, "server: {listen: '"+addr+"'}")
		if err == nil || !strings.Contains(err.Error(), "interlock.yaml:1:18: server.listen: ") || !strings.Contains(err.Error(), say) {
			t.Errorf("CF-1 %q: got %v; want %q", addr, err, say)
		}
	}
}

func TestLoad_reports_the_problems_of_all_files_in_order(t *testing.T) {
	_, err := config.Load(fakeOS{files: map[string]string{
		"c/interlock.yaml": "resources: {files: [z.yaml, a.yaml]}\nserver: {nope: 1}\n",
		"c/z.yaml":         "kind: Nope\n---\nkind: Nope\n",
		"c/a.yaml":         "kind: Nope\n",
	}}.options("c/interlock.yaml", "server.maxInFlight=0", "server.drainSeconds=-1"))
	var places []string
	for _, p := range problemsOf(t, err) {
		places = append(places, p.Pos.String())
	}
	want := []string{"c/interlock.yaml:2:10", "--set:1:20", "--set:2:21", "c/z.yaml:1:7", "c/z.yaml:3:7", "c/a.yaml:1:7"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Error(diff)
	}
}

func TestLoad_bounds_its_report(t *testing.T) {
	_, err := loadText(t, strings.Repeat("server: 1\n", 500))
	ps := problemsOf(t, err)
	if len(ps) != 101 || !strings.Contains(ps[100].Message, "400 more problems") {
		t.Errorf("%d problems, the last %v", len(ps), ps[len(ps)-1])
	}
}

func TestLoad_documents(t *testing.T) {
	l, err := config.Load(fakeOS{
		env: map[string]string{"KEY": "sk-x"},
		files: map[string]string{
			"interlock.yaml": "resources:\n  files: [res.yaml]\n  inline:\n    - kind: Route\n      name: r\n      modelPatterns: [x]\n      members:\n        - {provider: p, weight: 2}\n",
			"res.yaml":       "# providers\nkind: Provider\nname: p\ntype: openai\napiKey: env:KEY\n",
		},
	}.options("interlock.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Documents) != 2 {
		t.Fatalf("%d documents", len(l.Documents))
	}
	r, ok := l.Documents[0].Object.(*resource.Route)
	if !ok || *r.Members[0].Weight != 2 || r.Kind != "Route" {
		t.Errorf("got %+v", l.Documents[0].Object)
	}
	for path, want := range map[string]string{
		"members[0].weight": "interlock.yaml:8:33", "members[0].priority": "interlock.yaml:8:11", "onLoss": "interlock.yaml:4:7",
	} {
		if got := l.Documents[0].Locate(path).String(); got != want {
			t.Errorf("%s is at %s, want %s", path, got, want)
		}
	}
	p, ok := l.Documents[1].Object.(*resource.Provider)
	if !ok || p.APIKey != "env:KEY" {
		t.Errorf("the object must keep the reference: %+v", l.Documents[1].Object)
	}
	if got := l.Documents[1].Locate("apiKey").String(); got != "res.yaml:5:9" {
		t.Errorf("apiKey is at %s", got)
	}
	if v, err := l.Secrets.Resolve(p.APIKey); err != nil || v.Reveal() != "sk-x" {
		t.Errorf("resolve: %v", err)
	}
}

// TestLoad_the_checks_of_resources_stop_the_start names the rules of other
// chapters that a file must not get past.
func TestLoad_the_checks_of_resources_stop_the_start(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"RT-PAT-3 a route without a pattern", "{kind: Route, name: r, members: [{provider: a}]}", `1:25: Route "r" modelPatterns: a route needs at least one`},
		{"RT-PAT-3 a bad pattern", "{kind: Route, name: r, modelPatterns: [x, 'a*b'], members: []}", `1:67: Route "r" modelPatterns[1]: the pattern "a*b" has a * inside`},
		{"RT-PAT-3 an unknown strategy", "{kind: Route, name: r, modelPatterns: [x], strategy: {type: random}}", `1:85: Route "r" strategy.type: "random" is not known`},
		{"RT-PAT-3 an unknown option", "{kind: Route, name: r, modelPatterns: [x], strategy: {window: 5}}", `1:79: Route "r" strategy.window: unknown key`},
		{"RT-PAT-3 a negative weight", "{kind: Route, name: r, modelPatterns: [x], members: [{provider: a, weight: -1}]}", `1:100: Route "r" members[0].weight: the weight -1`},
		{"RS-PROV-1 a key of another vendor", "{kind: Provider, name: p, type: anthropic, apiKey: env:KEY}", `1:76: Provider "p" apiKey: the value of env:KEY is refused`},
		{"RS-PROV-5 a metadata address", "{kind: Provider, name: p, type: openai, baseUrl: 'http://[::ffff:169.254.169.254]'}", `1:74: Provider "p" baseUrl: ::ffff:169.254.169.254 is a link-local`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.Load(fakeOS{
				env:   map[string]string{"KEY": "sk-proj-1234567890"},
				files: map[string]string{"interlock.yaml": "resources: {inline: [   " + c.doc + "]}"},
			}.options("interlock.yaml"))
			if err == nil || !strings.HasPrefix(err.Error(), "interlock.yaml:"+c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	var src strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&src, "---\nkind: Provider\nname: p%d\ntype: openai\napiKey: env:KEY\n---\nkind: Route\nname: r%d\nmodelPatterns: [\"m%d-*\"]\nmembers: [{provider: p%d}]\n", i, i, i, i)
	}
	o := fakeOS{
		env:   map[string]string{"KEY": "sk-x"},
		files: map[string]string{"interlock.yaml": "resources: {files: [r.yaml]}", "r.yaml": src.String()},
	}.options("interlock.yaml")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := config.Load(o); err != nil {
			b.Fatal(err)
		}
	}
}

func TestReadDocuments(t *testing.T) {
	docs, ps := config.ReadDocuments("x.yaml", []byte("kind: Provider\nname: a\ntype: openai\napiKey: env:NOT_LOOKED_UP\n---\nkind: Route\nname: r\n"))
	if len(docs) != 2 || len(ps) != 1 || ps[0].Error() != `x.yaml:6:1: Route "r" modelPatterns: a route needs at least one model pattern; add one such as "claude-*"` {
		t.Errorf("%d documents, %v", len(docs), ps)
	}
}

func TestLoad_from_the_disk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[odd]* {dir}")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("interlock.yaml", "resources: {files: [./*.yaml, res/*.yaml, res/b.yaml]}\nauth: {adminTokens: [file:secrets/admin]}\n")
	write("res/b.yaml", "kind: Provider\nname: b\ntype: openai\napiKey: file:secrets/b\n")
	write("res/a.yaml", "kind: Provider\nname: a\ntype: openai\n")
	write("secrets/b", "sk-b\n")
	write("secrets/admin", "admin\n")
	l, err := config.Load(config.Options{Path: filepath.Join(dir, "interlock.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range l.Documents {
		names = append(names, d.Object.Head().Name)
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("got %v", names)
	}

	write("folder.yaml/x", "")
	_, err = config.Load(config.Options{Path: filepath.Join(dir, "interlock.yaml")})
	if err == nil || !strings.Contains(err.Error(), "folder.yaml is a folder, not a file") {
		t.Errorf("got %v", err)
	}
	_, err = config.Load(config.Options{Path: dir})
	if err == nil || !strings.Contains(err.Error(), "is a folder, not a file") {
		t.Errorf("got %v", err)
	}
	_, err = config.Load(config.Options{Path: "/dev/zero"})
	if ps := problemsOf(t, err); !strings.Contains(ps[0].Message, "more than 8 MiB") {
		t.Errorf("got %v", err)
	}
}

// TestLoad_never_shows_a_secret plants secrets where somebody may have put
// them by mistake.
func TestLoad_never_shows_a_secret(t *testing.T) {
	const planted = "hunter2hunter2hunter2"
	for _, src := range []string{
		"auth: {adminTokens: [" + planted + "]}",
		"auth: {adminTokens: " + planted + "}",
		"auth: " + planted,
		"auth: {oidc: {clientSecret: " + planted + "}}",
		"auth: {adminTokens: ['env:" + planted + "-x']}",
		"auth: {adminTokens: [{token: " + planted + "}]}",
		"storage: {url: 'mysql://u:" + planted + "@h/db'}",
		"storage: {url: 'postgres://u:" + planted + "@h/db'}",
		"sharedState: {url: 'redis://:" + planted + "@h'}",
		"server: {publicUrl: 'https://u:" + planted + "@h'}",
		"approvals: {webhookUrl: 'https://u:" + planted + "@h#'}",
		"resources: {inline: [{kind: Provider, name: a, type: openai, apiKey: '" + planted + " '}]}",
		"resources: {inline: [{kind: Provider, name: a, type: anthropic, apiKey: " + planted + "}]}",
		"resources: {inline: [{kind: Provider, name: a, type: openai, apiKey: [" + planted + "]}]}",
		"resources: {inline: [{kind: Provider, name: a, type: openai, aws: " + planted + "}]}",
		"resources: {inline: [{kind: Provider, name: a, type: openai, baseUrl: 'https://u:" + planted + "@h'}]}",
		"resources: {inline: [{kind: Provider, name: a, type: openai, baseUrl: 'https://h?key=" + planted + "'}]}",
		"resources: {inline: [{kind: Provider, name: a, type: openai, proxyUrl: 'http://u:" + planted + "@h'}]}",
		"resources: {inline: [{kind: Provider, name: a, type: openai, headers: {authorization: " + planted + "}}]}",
		"resources: {inline: [{kind: Key, name: a, type: pat, secret: " + planted + "}]}",
		"resources: {inline: [{kind: Key, name: a, type: pat, secret: 'ilk " + planted + "'}]}",
		"auth:\n  adminTokens: [\"" + planted + "]\n",
		"auth:\n  x: y: " + planted + "\n",
		"auth:\n  - " + planted + "\n b: 1\n",
	} {
		_, err := loadText(t, src)
		if err == nil {
			t.Errorf("accepted: %s", src)
			continue
		}
		if strings.Contains(err.Error(), planted) {
			t.Errorf("shows the secret: %v", err)
		}
	}
	_, err := loadText(t, "", "auth.adminTokens=["+planted+"]", "auth.oidc.clientSecret="+planted, "storage.url=x:"+planted, "nothing="+planted)
	if err == nil || strings.Contains(err.Error(), planted) {
		t.Errorf("shows the secret of an override: %v", err)
	}
}

func TestNeedsRestart(t *testing.T) {
	next := config.Default()
	if got := config.NeedsRestart(config.Default(), next); len(got) > 0 {
		t.Errorf("nothing changed, got %v", got)
	}
	next.LLMProxy.ExposeRoutingHeaders = "id-only"
	next.Resources.Files = []string{"x"}
	next.Auth.AdminTokens = []string{"env:X"}
	next.Telemetry.LogLevel = "debug"
	if got := config.NeedsRestart(config.Default(), next); len(got) > 0 {
		t.Errorf("a reload changes these, got %v", got)
	}
	next.Server.Listen = ":1"
	next.Telemetry.LogFormat = "text"
	next.Auth.OIDC.AdminValues = []string{"x"}
	want := []string{"server.listen", "auth.oidc.adminValues", "telemetry.logFormat"}
	if got := config.NeedsRestart(config.Default(), next); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// FuzzLoad looks for files that end the process, and for problems that help
// nobody.
func FuzzLoad(f *testing.F) {
	archives, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range archives {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(b), "-- ") {
			if _, text, ok := strings.Cut(part, " --\n"); ok {
				f.Add(text, "server.drainSeconds=1")
			}
		}
	}
	f.Add("\ufeff", "=")
	f.Add("server: {listen: ':0'}\r\n", "llmProxy.retry={}")
	f.Fuzz(func(t *testing.T, src, set string) {
		o := fakeOS{files: map[string]string{"interlock.yaml": src, "r.yaml": src}}.options("interlock.yaml", set)
		l, err := config.Load(o)
		if err == nil {
			if l.Config.Server.MaxInFlight < 1 || l.Config.Server.Listen == "" {
				t.Errorf("accepted %+v", l.Config)
			}
			return
		}
		ps, ok := errors.AsType[resource.Problems](err)
		if !ok || len(ps) == 0 {
			t.Fatalf("no problems but %v", err)
		}
		for _, p := range ps {
			if p.Message == "" || p.Code == "" || (strings.Contains(p.Message, "%!") && !strings.Contains(src+set, "%")) || strings.Contains(p.Message, "reflect") {
				t.Errorf("%+v", p)
			}
			if p.Pos != nil && (p.Pos.Line < 1 || p.Pos.Column < 1 || p.Pos.File == "") {
				t.Errorf("%+v", p.Pos)
			}
		}
	})
}
